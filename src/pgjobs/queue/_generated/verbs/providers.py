"""The verbs of providers.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.jobs import Counted
from pgjobs.queue._generated.records.providers import Provider, ProviderRegistration
from pgjobs.queue.base import Json


class ProviderVerbs:
    """The verbs of providers."""

    driver: Driver

    async def answer_read(
        self, provider: str, request_hash: str, *, actor: str | None = None, is_superuser: bool | None = None
    ) -> Provider:
        """Announces an answer."""
        rows = await self.driver.call(
            "answer_read",
            provider=provider,
            request_hash=request_hash,
            actor=actor,
            is_superuser=is_superuser,
        )
        return Provider.of(rows[0])

    async def count_providers(self, room: str | None = None) -> Counted:
        """How many providers are visible from a room."""
        rows = await self.driver.call("count_providers", room=room)
        return Counted.of(rows[0])

    async def forget_read(self, key: str) -> None:
        """Forgets an answer."""
        await self.driver.call("forget_read", key=key)

    async def get_provider(
        self,
        provider: str,
        *,
        room: str | None = None,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> Provider:
        """One provider."""
        rows = await self.driver.call(
            "get_provider", provider=provider, room=room, actor=actor, is_superuser=is_superuser
        )
        return Provider.of(rows[0])

    async def invalidate_provider(
        self, provider: str, *, actor: str | None = None, is_superuser: bool | None = None
    ) -> int:
        """Forgets what a provider has answered."""
        rows = await self.driver.call(
            "invalidate_provider", provider=provider, actor=actor, is_superuser=is_superuser
        )
        forgotten: int = rows[0]["forgotten"]
        return forgotten

    async def list_providers(
        self, room: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[Provider]:
        """Providers visible from a room."""
        rows = await self.driver.call(
            "list_providers", room=room, page_size=page_size, page_offset=page_offset
        )
        return Provider.each(rows)

    async def lock_read(self, key: str, lifetime: timedelta) -> bool:
        """Marks a question as passed on."""
        rows = await self.driver.call("lock_read", key=key, lifetime=lifetime)
        is_first: bool = rows[0]["is_first"]
        return is_first

    async def register_provider(
        self,
        room: str,
        category: str,
        name: str,
        *,
        schema: Json = None,
        content_type: str | None = None,
        worker_id: UUID | None = None,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> ProviderRegistration:
        """Registers a provider."""
        rows = await self.driver.call(
            "register_provider",
            room=room,
            category=category,
            name=name,
            schema=schema,
            content_type=content_type,
            worker_id=worker_id,
            actor=actor,
            is_superuser=is_superuser,
        )
        return ProviderRegistration.of(rows[0])

    async def request_read(
        self, provider: str, request_hash: str, params: str, *, actor: str | None = None
    ) -> Provider:
        """Passes a question on to its provider."""
        rows = await self.driver.call(
            "request_read", provider=provider, request_hash=request_hash, params=params, actor=actor
        )
        return Provider.of(rows[0])

    async def retire_provider(
        self, provider: str, *, actor: str | None = None, is_superuser: bool | None = None
    ) -> Provider:
        """Removes a provider."""
        rows = await self.driver.call(
            "retire_provider", provider=provider, actor=actor, is_superuser=is_superuser
        )
        return Provider.of(rows[0])

    async def store_read(self, key: str, data: bytes, lifetime: timedelta) -> datetime:
        """Keeps an answer."""
        rows = await self.driver.call("store_read", key=key, data=data, lifetime=lifetime)
        expires_at: datetime = rows[0]["expires_at"]
        return expires_at

    async def unlock_read(self, key: str) -> None:
        """Marks a question as not passed on."""
        await self.driver.call("unlock_read", key=key)
