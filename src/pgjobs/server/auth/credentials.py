"""Who is calling: a bearer of a token, signed (JWT) or stored (API token), or a signed-in browser."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from inspect import isawaitable
from typing import Annotated, Any

import jwt
from fastapi import Depends
from starlette.requests import Request

from pgjobs.errors import Forbidden, Unauthorized
from pgjobs.queue.records import Bearer, SignedIn
from pgjobs.queue.server import ServerQueue
from pgjobs.server.auth.cookies import signed_in
from pgjobs.server.auth.token_cache import verified
from pgjobs.server.dependencies import HomeQueueDep, QueueDep, SettingsDep
from pgjobs.server.settings import ApiSettings

API_TOKEN_PREFIX = "pgj_"  # noqa: S105


@dataclass(frozen=True, slots=True)
class User:
    """A caller. Hosts may bring their own class, with an `id` and `is_superuser`.

    `rooms` are those they are a member of, None for whoever sees all: it counts where rooms are closed.
    """

    id: str
    is_superuser: bool = False
    rooms: tuple[str, ...] | None = ()


RoomsOf = Callable[[Any], Any]
"""From a user, or None for a stranger, to the rooms they are a member of; None means all. May be awaited."""


def rooms_of_token(user: Any) -> Any:
    return getattr(user, "rooms", None) or ()


async def get_rooms_of() -> RoomsOf:
    """Who is a member of which rooms, as the token says; hosts override this."""
    return rooms_of_token


async def open_rooms(user: Any, settings: ApiSettings, rooms_of: RoomsOf) -> tuple[str, ...] | None:
    """The rooms a user is confined to; None for whoever sees all."""
    if not settings.is_closed or getattr(user, "is_superuser", False):
        return None
    rooms = rooms_of(user)
    rooms = await rooms if isawaitable(rooms) else rooms
    return None if rooms is None else tuple(rooms)


RoomsOfDep = Annotated[RoomsOf, Depends(get_rooms_of)]


async def current_active_user(request: Request, queue: HomeQueueDep, settings: SettingsDep) -> Any:
    """The caller; hosts override this."""
    return await authenticate(request, queue, settings)


async def current_superuser(user: Annotated[Any, Depends(current_active_user)]) -> Any:
    """The caller, who must be a superuser; hosts override this."""
    if not user.is_superuser:
        raise Forbidden("Only a superuser may do this")
    return user


async def current_reader(request: Request, queue: HomeQueueDep, settings: SettingsDep) -> Any:
    """Who reads what anybody may read: anybody, or where reads are not public a caller with a token.

    A host with its own users and without public reads overrides this too.
    """
    if settings.public_reads and not settings.is_closed:
        return None
    if current_active_user in request.app.dependency_overrides:
        raise Unauthorized("Reads are not public here, and the host application has not said who may read")
    return await authenticate(request, queue, settings)


async def acting_user(
    user: Annotated[Any, Depends(current_active_user)], settings: SettingsDep, rooms_of: RoomsOfDep
) -> User:
    rooms = await open_rooms(user, settings, rooms_of)
    return User(str(user.id), bool(getattr(user, "is_superuser", False)), rooms)


async def operating_user(user: Annotated[Any, Depends(current_superuser)]) -> User:
    return User(str(user.id), is_superuser=True, rooms=None)


ActorDep = Annotated[User, Depends(acting_user)]
OperatorDep = Annotated[User, Depends(operating_user)]
Reading = Depends(current_reader)


def confined(queue: ServerQueue, rooms: Sequence[str] | None) -> ServerQueue:
    """The queue as a member of these rooms may see it."""
    return queue if rooms is None else queue.confined_to(rooms)


async def reading_rooms(
    reader: Annotated[Any, Reading], settings: SettingsDep, rooms_of: RoomsOfDep
) -> tuple[str, ...] | None:
    """The rooms that whoever reads is confined to."""
    return await open_rooms(reader, settings, rooms_of)


ReadRoomsDep = Annotated[tuple[str, ...] | None, Depends(reading_rooms)]


async def reading_queue(rooms: ReadRoomsDep, queue: QueueDep) -> ServerQueue:
    """The queue as whoever reads may see it."""
    return confined(queue, rooms)


async def acting_queue(actor: ActorDep, queue: QueueDep) -> ServerQueue:
    """The queue as the caller may see and change it."""
    return confined(queue, actor.rooms)


ReadQueueDep = Annotated[ServerQueue, Depends(reading_queue)]
ActQueueDep = Annotated[ServerQueue, Depends(acting_queue)]


async def authenticate(request: Request, queue: ServerQueue, settings: ApiSettings) -> User:
    if (known := await session_user(request, queue, settings)) is not None:
        return known
    return await user_of_token(bearer_of(request), queue, settings)


async def session_user(request: Request, queue: ServerQueue, settings: ApiSettings) -> User | None:
    """Who is signed in by cookie, for hosts that let such users in; refuses a change from another site."""
    known = await signed_in(request, queue, settings)
    return _user(known) if known is not None else None


def bearer_of(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def authenticator(
    queue: ServerQueue, settings: ApiSettings | None = None
) -> Callable[[str | None], Awaitable[User]]:
    """Who bears a token, for doors that are not HTTP."""
    known = settings or ApiSettings()

    async def authenticated(token: str | None) -> User:
        user = await user_of_token(token, queue, known)
        return replace(user, rooms=await open_rooms(user, known, rooms_of_token))

    return authenticated


async def user_of_token(token: str | None, queue: ServerQueue, settings: ApiSettings) -> User:
    if not token:
        raise Unauthorized("A bearer token is needed")
    if token.startswith(API_TOKEN_PREFIX):
        return _user(await verified(token, queue, settings.token_cache_seconds))
    user, _ = signed_claims(token, settings)
    return user


def signed_claims(token: str, settings: ApiSettings) -> tuple[User, float | None]:
    """Whom a signed token stands for, and when it expires."""
    if settings.auth_secret is None:
        raise Unauthorized("This server accepts API tokens only")
    claims = _verified(
        token, settings.auth_secret.get_secret_value(), settings.auth_audience, settings.auth_issuer
    )
    if (expires := claims.get("exp")) is not None and expires <= time.time():
        raise Unauthorized("The token is not valid")
    user_id = claims["sub"]
    if not isinstance(user_id, str) or not user_id or len(user_id) > 200 or "\0" in user_id:
        raise Unauthorized("The token names no user")
    rooms = claims.get("rooms", [])
    if not isinstance(rooms, list) or not all(isinstance(room, str) and "\0" not in room for room in rooms):
        raise Unauthorized("The token's rooms are not a list of names")
    return User(user_id, claims.get("is_superuser") is True, tuple(rooms)), claims.get("exp")


def _user(known: Bearer | SignedIn) -> User:
    return User(known.user_id, known.is_superuser, tuple(known.rooms or ()))


@lru_cache(maxsize=1024)
def _verified(token: str, secret: str, audience: str | None, issuer: str | None) -> dict[str, Any]:
    """What a token says, remembered: a good signature stays good, only its expiry is looked at again."""
    asked = {"sub": True, "aud": audience is not None, "iss": issuer is not None}
    required = [name for name, is_required in asked.items() if is_required]
    try:
        return jwt.decode(
            token,
            secret,
            algorithms=["HS256"],
            audience=audience,
            issuer=issuer,
            options={"require": required, "verify_aud": asked["aud"]},
        )
    except jwt.PyJWTError as error:
        raise Unauthorized("The token is not valid") from error
