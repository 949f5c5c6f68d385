"""The verbs behind signing in with a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pgjobs.drivers import Driver
from pgjobs.queue.records import Record


@dataclass(frozen=True, slots=True)
class SignIn(Record):
    """What a one-time sign-in link holds, in clear this once."""

    sign_in: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewSession(Record):
    """A session, in clear this once."""

    session: str
    user_id: str
    is_superuser: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn(Record):
    """Whom a session stands for, and for how long."""

    user_id: str
    is_superuser: bool
    expires_at: datetime
    rooms: list[str] | None


class SessionVerbs:
    """The part of `Queue` that knows who is signed in."""

    driver: Driver

    async def create_sign_in(
        self,
        user_id: str,
        *,
        is_superuser: bool | None = None,
        lifetime: timedelta | None = None,
        rooms: Sequence[str] | None = None,
    ) -> SignIn:
        rows = await self.driver.call(
            "create_sign_in",
            user_id=user_id,
            is_superuser=is_superuser,
            lifetime=lifetime,
            rooms=rooms or None,
        )
        return SignIn.of(rows[0])

    async def open_session(
        self,
        of_user: str | None = None,
        *,
        as_superuser: bool | None = None,
        token: str | None = None,
        sign_in: str | None = None,
        lifetime: timedelta | None = None,
        of_rooms: Sequence[str] | None = None,
    ) -> NewSession:
        rows = await self.driver.call(
            "open_session",
            of_user=of_user,
            as_superuser=as_superuser,
            token=token,
            sign_in=sign_in,
            lifetime=lifetime,
            of_rooms=of_rooms or None,
        )
        return NewSession.of(rows[0])

    async def verify_session(self, session: str) -> SignedIn:
        return SignedIn.of((await self.driver.call("verify_session", session=session))[0])

    async def close_session(self, session: str) -> bool:
        return bool((await self.driver.call("close_session", session=session))[0]["is_closed"])
