"""Requests that come too slowly: their connections are closed, lest they are held open for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import ClassVar

from pgjobs.server.coalesced_http import CoalescedHttp

_REFUSAL = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TimedHttp(CoalescedHttp):
    """HTTP whose requests have a time for their head, from the connection on, and one for their body.

    A request that is there in one piece, as nearly all are, costs no timer.
    """

    seconds: ClassVar[Mapping[str, float]]
    _awaits: str | None
    _timed: str | None = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._awaits = "head"
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._awaits = None
        self._set_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._awaits != self._timed:
            self._set_timer()

    def on_message_begin(self) -> None:
        self._awaits = "head"
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._awaits = "body"
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._awaits = None
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._awaits = None
        super().handle_websocket_upgrade()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timed = self._awaits
        self._timer = (
            self.loop.call_later(self.seconds[self._awaits], self._too_late) if self._awaits else None
        )

    def _too_late(self) -> None:
        self._timer = None
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self.pipeline or (is_answering and self._awaits == "head"):
            # The next request can wait: an earlier one of the connection is being answered.
            self._set_timer()
            return
        if self._awaits == "head" or (is_answering and not self.cycle.response_started):
            self.transport.write(_REFUSAL)
        self.transport.close()


def timed_http(header_seconds: float, body_seconds: float) -> type[TimedHttp]:
    """The protocol with these times."""
    return type("Http", (TimedHttp,), {"seconds": {"head": header_seconds, "body": body_seconds}})
