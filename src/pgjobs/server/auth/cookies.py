"""The session cookie, and why another site cannot use it: changes need a token only our pages can read."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from pgjobs.errors import Forbidden
from pgjobs.queue.records import NewSession, SignedIn
from pgjobs.queue.server import ServerQueue
from pgjobs.server.settings import ApiSettings

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
CSRF_HEADER = "X-CSRF-Token"


async def signed_in(request: Request, queue: ServerQueue, settings: ApiSettings) -> SignedIn | None:
    """Who is signed in by cookie; refuses a change that our own pages did not ask for."""
    session = session_of(request, settings)
    if session is None:
        return None
    known = await queue.verify_session(session)
    if request.method not in SAFE_METHODS:
        refuse_other_origins(request, settings)
        given = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(given.encode(), csrf_token(session).encode()):
            raise Forbidden(f"A change by a signed-in browser needs its {CSRF_HEADER} header")
    return known


def session_of(request: Request, settings: ApiSettings) -> str | None:
    """What the cookie holds; whoever bears a token means that. Other credentials are a proxy's."""
    if request.headers.get("authorization", "").partition(" ")[0].lower() == "bearer":
        return None
    return request.cookies.get(settings.session_cookie) or None


def csrf_token(session: str) -> str:
    """What a page sends back with every change. It follows from the session, which no script can read."""
    return hmac.new(session.encode(), b"csrf", "sha256").hexdigest()


def refuse_other_origins(request: Request, settings: ApiSettings) -> None:
    """Refuses what another site's page asks for, as far as the browser says so."""
    origin = request.headers.get("origin")
    if origin is not None and origin in settings.trusted_origins:
        return
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Forbidden("Cross-site request refused")
    served_as = f"{request.url.scheme}://{request.headers.get('host')}"
    if origin is not None and origin != served_as:
        raise Forbidden(
            "Cross-site request refused",
            detail=f"The page is of {origin[:200]}, this server of {served_as[:200]}",
            hint="Behind a proxy, name the page's origin in PGJOBS_TRUSTED_ORIGINS.",
        )


def set_cookie(response: Response, request: Request, settings: ApiSettings, session: NewSession) -> None:
    response.set_cookie(
        settings.session_cookie,
        session.session,
        max_age=max(0, int((session.expires_at - datetime.now(UTC)).total_seconds())),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response, request: Request, settings: ApiSettings) -> None:
    response.delete_cookie(
        settings.session_cookie, secure=request.url.scheme == "https", httponly=True, samesite="strict"
    )
