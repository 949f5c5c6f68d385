"""Request bodies of limited size."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import Message

from pgjobs.errors import PayloadTooLarge


def limited(request: Request, limit: int) -> Request:
    """The same request; reading more than `limit` bytes of its body is refused."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)
    receive = request.receive
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise _too_large(limit)
        return message

    return Request(request.scope, counted)


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, if it is within the limit."""
    return await limited(request, limit).body()


def _too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"The body exceeds {limit} bytes")
