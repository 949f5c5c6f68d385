"""The verbs of providers and of the reads they answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.records import Json, Record
from pgjobs.queue.server import Counted


@dataclass(frozen=True, slots=True)
class Provider(Record):
    """A registered answerer of reads."""

    id: UUID
    room: str
    category: str
    name: str
    full_name: str
    schema: Json
    content_type: str
    owner: str | None
    worker_id: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ProviderRegistration(Record):
    """What registering a provider came to: `registered` is created or changed."""

    provider_id: UUID
    registered: str


class ProviderVerbs:
    """The part of `Queue` about providers."""

    driver: Driver

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

    async def get_provider(
        self,
        provider: str,
        *,
        room: str | None = None,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> Provider:
        rows = await self.driver.call(
            "get_provider", provider=provider, room=room, actor=actor, is_superuser=is_superuser
        )
        return Provider.of(rows[0])

    async def list_providers(
        self, room: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[Provider]:
        rows = await self.driver.call(
            "list_providers", room=room, page_size=page_size, page_offset=page_offset
        )
        return [Provider.of(row) for row in rows]

    async def count_providers(self, room: str | None = None) -> Counted:
        return Counted.of((await self.driver.call("count_providers", room=room))[0])

    async def retire_provider(
        self, provider: str, *, actor: str | None = None, is_superuser: bool | None = None
    ) -> Provider:
        rows = await self.driver.call(
            "retire_provider", provider=provider, actor=actor, is_superuser=is_superuser
        )
        return Provider.of(rows[0])

    async def request_read(
        self, provider: str, request_hash: str, params: str, *, actor: str | None = None
    ) -> Provider:
        """Passes a question on; `params` is its canonical JSON text."""
        rows = await self.driver.call(
            "request_read", provider=provider, request_hash=request_hash, params=params, actor=actor
        )
        return Provider.of(rows[0])

    async def answer_read(
        self,
        provider: str,
        request_hash: str,
        *,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> Provider:
        rows = await self.driver.call(
            "answer_read",
            provider=provider,
            request_hash=request_hash,
            actor=actor,
            is_superuser=is_superuser,
        )
        return Provider.of(rows[0])

    async def get_reads(self, keys: Sequence[str]) -> dict[str, bytes]:
        rows = await self.driver.call("get_reads", keys=keys)
        return {row["key"]: row["data"] for row in rows}

    async def store_read(self, key: str, data: bytes, lifetime: timedelta) -> datetime:
        rows = await self.driver.call("store_read", key=key, data=data, lifetime=lifetime)
        expires_at: datetime = rows[0]["expires_at"]
        return expires_at

    async def forget_read(self, key: str) -> None:
        await self.driver.call("forget_read", key=key)

    async def lock_read(self, key: str, lifetime: timedelta) -> bool:
        """Whether the caller is the one who should pass the question on."""
        return bool((await self.driver.call("lock_read", key=key, lifetime=lifetime))[0]["is_first"])

    async def unlock_read(self, key: str) -> None:
        await self.driver.call("unlock_read", key=key)
