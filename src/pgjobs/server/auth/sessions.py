"""Signing in with a browser: a token, or a one-time link, becomes a cookie."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from pgjobs.errors import Forbidden, InvalidArgument, Unauthorized
from pgjobs.queue.records import NewSession, SignedIn
from pgjobs.queue.server import ServerQueue
from pgjobs.server.api.schemas import SessionIn, SessionOut
from pgjobs.server.auth.cookies import (
    clear_cookie,
    csrf_token,
    refuse_other_origins,
    session_of,
    set_cookie,
    signed_in,
)
from pgjobs.server.auth.credentials import API_TOKEN_PREFIX, ActorDep, bearer_of, signed_claims
from pgjobs.server.cells.routing import tell_cells
from pgjobs.server.dependencies import HomeQueueDep, SettingsDep
from pgjobs.server.openapi import headers, problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.settings import ApiSettings

NOT_STORED = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
_COOKIE = headers(Set_Cookie="The session; no script can read it and no other site can use it.")

router = APIRouter(prefix="/session", route_class=ProblemRoute, tags=["session"])
login = APIRouter(route_class=ProblemRoute, tags=["session"])


@router.post(
    "",
    status_code=201,
    responses={201: {"headers": _COOKIE}, **problems("unauthorized", "forbidden")},
)
async def sign_in(
    request: Request,
    response: Response,
    queue: HomeQueueDep,
    settings: SettingsDep,
    body: SessionIn | None = None,
) -> SessionOut:
    """Sign in with a token, as bearer or in the body, or with a sign-in link."""
    refuse_other_origins(request, settings)
    given = body or SessionIn()
    if given.sign_in is not None:
        opened = await queue.open_session(sign_in=given.sign_in, lifetime=_lifetime(settings))
    else:
        opened = await _open(given.token or bearer_of(request), queue, settings)
    set_cookie(response, request, settings, opened)
    response.headers.update(NOT_STORED)
    tell_cells(request, response)
    return SessionOut(
        id=opened.user_id,
        is_superuser=opened.is_superuser,
        expires_at=opened.expires_at,
        csrf_token=csrf_token(opened.session),
    )


@router.get("", responses=problems("unauthorized"))
async def get_session(
    request: Request, response: Response, actor: ActorDep, queue: HomeQueueDep, settings: SettingsDep
) -> SessionOut:
    """Who is signed in, and the `X-CSRF-Token` their changes need; a program with a token needs none."""
    session = session_of(request, settings)
    response.headers.update(NOT_STORED)
    tell_cells(request, response)
    # The host application may know the caller by other means.
    known = await _known(request, queue, settings)
    return SessionOut(
        id=actor.id,
        is_superuser=actor.is_superuser,
        expires_at=known and known.expires_at,
        csrf_token=csrf_token(session) if session and known else None,
    )


@router.delete("", status_code=204, responses=problems("unauthorized", "forbidden"))
async def sign_out(request: Request, response: Response, queue: HomeQueueDep, settings: SettingsDep) -> None:
    """Sign out; signing out twice is fine."""
    session = session_of(request, settings)
    if session is not None and await _known(request, queue, settings) is not None:
        await queue.close_session(session)
    clear_cookie(response, request, settings)


@login.get(
    "/login",
    status_code=303,
    response_class=RedirectResponse,
    responses={
        303: {
            "description": "Signed in; a browser whose link has expired is told so there.",
            "headers": {**_COOKIE, **headers(Location="The console.")},
        },
        **problems("unauthorized", "forbidden"),
    },
)
async def follow_link(
    request: Request,
    queue: HomeQueueDep,
    settings: SettingsDep,
    sign_in: Annotated[str, Query(max_length=200, description="What the link holds; works once.")],
) -> RedirectResponse:
    """Follow a one-time sign-in link."""
    if "prefetch" in request.headers.get("sec-purpose", ""):
        raise Forbidden("A link that counts once is not fetched ahead")
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Forbidden("Another site followed this link; copy it into the address bar")
    # Relative: the console may be mounted anywhere.
    response = RedirectResponse("./", 303, headers=NOT_STORED)
    try:
        opened = await queue.open_session(sign_in=_plain(sign_in), lifetime=_lifetime(settings))
    except Unauthorized:
        if "text/html" not in request.headers.get("accept", ""):
            raise
        is_in = await _known(request, queue, settings) is not None
        return response if is_in else RedirectResponse("./#/?link=old", 303, headers=NOT_STORED)
    set_cookie(response, request, settings, opened)
    return response


async def sign_in_link(
    queue: ServerQueue,
    user_id: str,
    *,
    base: str,
    is_superuser: bool = False,
    lifetime: timedelta | None = None,
    rooms: Sequence[str] | None = None,
) -> str:
    """A link below the console's address `base` that signs this user in, once."""
    made = await queue.create_sign_in(user_id, is_superuser=is_superuser, lifetime=lifetime, rooms=rooms)
    return f"{base.rstrip('/')}/login?sign_in={made.sign_in}"


async def _known(request: Request, queue: ServerQueue, settings: ApiSettings) -> SignedIn | None:
    try:
        return await signed_in(request, queue, settings)
    except Unauthorized:
        return None


async def _open(token: str | None, queue: ServerQueue, settings: ApiSettings) -> NewSession:
    if not token:
        raise Unauthorized("A token is needed")
    lifetime = _lifetime(settings)
    if token.startswith(API_TOKEN_PREFIX):
        return await queue.open_session(token=_plain(token), lifetime=lifetime)
    user, expires = signed_claims(token, settings)
    if expires is not None:
        # The session ends when the token would have.
        lifetime = min(lifetime, datetime.fromtimestamp(expires, UTC) - datetime.now(UTC))
    if lifetime <= timedelta(0):
        raise Unauthorized("The token is not valid")
    return await queue.open_session(
        user.id, as_superuser=user.is_superuser, lifetime=lifetime, of_rooms=user.rooms
    )


def _lifetime(settings: ApiSettings) -> timedelta:
    return timedelta(seconds=settings.session_seconds)


def _plain(secret: str) -> str:
    if "\0" in secret:
        raise InvalidArgument("A token has no NUL character")
    return secret
