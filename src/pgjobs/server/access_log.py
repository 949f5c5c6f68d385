"""Request ids and the access log."""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("pgjobs.access")

_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)
QUIET = frozenset({"/livez", "/readyz", "/metrics"})


class RequestLog:
    """Gives every request an id, the caller's if it sent one, and logs it; health checks are not logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else secrets.token_hex(16)
        began, status = time.perf_counter(), 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            if scope["path"] not in QUIET:
                took = (time.perf_counter() - began) * 1000
                # The path as it was sent: percent-encoded, so it cannot forge a line.
                path = scope.get("raw_path", b"").decode("ascii", "replace")
                log.info("%s %s %d %.1f ms %s", scope["method"], path, status, took, request_id)
