"""The console's files, under `/ui/`: as they are in the package, behind a strict content security policy."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePosixPath

from fastapi import APIRouter
from fastapi.responses import RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from pgjobs.server.problems import ProblemRoute, problem

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Asked for again each time, and answered with 304 until an upgrade.
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
_TAKES_GZIP = re.compile(r"(^|[ ,])gzip *($|,|; *q=(1|0\.0*[1-9]))", re.IGNORECASE)

router = APIRouter(prefix="/ui", route_class=ProblemRoute, include_in_schema=False)


@router.get("")
async def without_slash(request: Request) -> Response:
    # Relative: a proxy may have taken a prefix away.
    name = request.url.path.rpartition("/")[2]
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{name}/{query}", 307, headers={"Referrer-Policy": "no-referrer"})


@router.get("/{path:path}")
async def get_file(request: Request, path: str) -> Response:
    """One file of the console; the empty path is its page."""
    is_packed = _TAKES_GZIP.search(request.headers.get("accept-encoding", "")) is not None
    found = _read(path or "index.html", is_packed)
    if found is None:
        raise problem("not-found", "The console has no such file")
    content, media_type, tag = found
    headers = {**HEADERS, "ETag": tag, **({"Content-Encoding": "gzip"} if is_packed else {})}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


@lru_cache(maxsize=256)
def _read(path: str, is_packed: bool) -> tuple[bytes, str, str] | None:
    place = PurePosixPath(path)
    media_type = MEDIA_TYPES.get(place.suffix)
    if media_type is None or place.is_absolute() or ".." in place.parts or "\0" in path:
        return None
    file = files("pgjobs").joinpath("server", "console", *place.parts)
    if not file.is_file():
        return None
    content = file.read_bytes()
    if is_packed:
        content = gzip.compress(content, mtime=0)
    return content, media_type, f'"{sha256(content).hexdigest()[:32]}"'
