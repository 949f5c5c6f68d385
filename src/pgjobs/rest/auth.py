"""Who is calling: a bearer of a token, signed (JWT) or stored (API token), or a signed-in browser."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import jwt
from fastapi import Depends
from starlette.requests import Request

from pgjobs.errors import Forbidden, Unauthorized
from pgjobs.queue import Queue
from pgjobs.rest.cookies import signed_in
from pgjobs.rest.dependencies import QueueDep, SettingsDep
from pgjobs.rest.settings import ApiSettings

API_TOKEN_PREFIX = "pgj_"  # noqa: S105


@dataclass(frozen=True, slots=True)
class User:
    """A caller. Hosts may bring their own class, with an `id` and `is_superuser`."""

    id: str
    is_superuser: bool = False


async def current_active_user(request: Request, queue: QueueDep, settings: SettingsDep) -> Any:
    """The caller; hosts override this."""
    return await authenticate(request, queue, settings)


async def current_superuser(user: Annotated[Any, Depends(current_active_user)]) -> Any:
    """The caller, who must be a superuser; hosts override this."""
    if not user.is_superuser:
        raise Forbidden("Only a superuser may do this")
    return user


async def current_reader(request: Request, queue: QueueDep, settings: SettingsDep) -> Any:
    """Who reads what anybody may read: anybody, or where reads are not public a caller with a token.

    A host with its own users and without public reads overrides this too.
    """
    if settings.public_reads:
        return None
    if current_active_user in request.app.dependency_overrides:
        raise Unauthorized("Reads are not public here, and the host application has not said who may read")
    return await authenticate(request, queue, settings)


async def acting_user(user: Annotated[Any, Depends(current_active_user)]) -> User:
    return User(str(user.id), bool(getattr(user, "is_superuser", False)))


async def operating_user(user: Annotated[Any, Depends(current_superuser)]) -> User:
    return User(str(user.id), is_superuser=True)


ActorDep = Annotated[User, Depends(acting_user)]
OperatorDep = Annotated[User, Depends(operating_user)]
Reading = Depends(current_reader)


async def authenticate(request: Request, queue: Queue, settings: ApiSettings) -> User:
    if (known := await session_user(request, queue, settings)) is not None:
        return known
    return await user_of_token(bearer_of(request), queue, settings)


async def session_user(request: Request, queue: Queue, settings: ApiSettings) -> User | None:
    """Who is signed in by cookie, for hosts that let such users in; refuses a change from another site."""
    known = await signed_in(request, queue, settings)
    return User(known.user_id, known.is_superuser) if known is not None else None


def bearer_of(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def authenticator(
    queue: Queue, settings: ApiSettings | None = None
) -> Callable[[str | None], Awaitable[User]]:
    """Who bears a token, for doors that are not HTTP."""
    known = settings or ApiSettings()
    return lambda token: user_of_token(token, queue, known)


async def user_of_token(token: str | None, queue: Queue, settings: ApiSettings) -> User:
    if not token:
        raise Unauthorized("A bearer token is needed")
    if token.startswith(API_TOKEN_PREFIX):
        bearer = await queue.verify_token(token)
        return User(bearer.user_id, bearer.is_superuser)
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
    return User(user_id, claims.get("is_superuser") is True), claims.get("exp")


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
