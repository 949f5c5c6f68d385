"""An answer's head and body in one write: uvicorn sends them apart, and wakes whoever asked for each."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class CoalescedTransport:
    """A transport that holds an answer's head back until more is written, or the event loop's next turn."""

    __slots__ = ("_head", "_loop", "_transport")

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head + data)
        elif data.startswith(b"HTTP/1."):
            self._head = data
            # A stream may have nothing to say for long, and its reader waits for the head.
            self._loop.call_soon(self._uncork)
        else:
            self._transport.write(data)

    def close(self) -> None:
        self._uncork()
        self._transport.close()

    def _uncork(self) -> None:
        if self._head:
            self.write(b"")


class CoalescedHttp(HttpToolsProtocol):
    """HTTP over such a transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(CoalescedTransport(transport))  # type: ignore[arg-type]
