"""The client's side of Socket.IO: being in the right rooms, and hearing what is said there."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pgjobs.live.models import (
    JoinJobRoom,
    JoinProviderRoom,
    LeaveJobRoom,
    LeaveProviderRoom,
    LiveEvent,
    ProviderRequest,
    TaskAvailable,
)

log = logging.getLogger("pgjobs.client")


class LiveConnection:
    """A `socketio.Client`, or nothing: then workers poll and nobody asks providers."""

    def __init__(
        self,
        tsio: Any,
        *,
        on_connect: Callable[[], None],
        on_task: Callable[[], None],
        on_request: Callable[[ProviderRequest], None],
    ) -> None:
        self._tsio = tsio
        self._on_task = on_task
        if tsio is None:
            return
        _also(tsio, "connect", on_connect)
        _also(tsio, TaskAvailable.event_name(), lambda _data: on_task())
        _also(
            tsio, ProviderRequest.event_name(), lambda data: on_request(ProviderRequest.model_validate(data))
        )

    @property
    def is_connected(self) -> bool:
        return self._tsio is not None and bool(getattr(self._tsio, "connected", True))

    def join(
        self, worker_id: object, jobs: Iterable[str], providers: Iterable[str], *, patience: float = 0
    ) -> None:
        """Enters rooms; with patience, waits for the server to say so, that nothing said there is missed."""
        worker = str(worker_id)
        self._say((JoinJobRoom(job_name=name, worker_id=worker) for name in jobs), patience)
        self._say((JoinProviderRoom(provider_name=name, worker_id=worker) for name in providers), patience)

    def leave(self, worker_id: object, jobs: Iterable[str], providers: Iterable[str]) -> None:
        worker = str(worker_id)
        self._say(LeaveProviderRoom(provider_name=name, worker_id=worker) for name in providers)
        self._say(LeaveJobRoom(job_name=name, worker_id=worker) for name in jobs)

    def _say(self, events: Iterable[LiveEvent], patience: float = 0) -> None:
        if self._tsio is None:
            return
        for event in events:
            answered = threading.Event()
            try:
                self._emit(event, answered)
            except Exception as error:
                # Not connected: rooms are joined when it is, and left by not being. Only trying tells,
                # for a client calls its connect handler before it says of itself that it is connected.
                log.debug("%s was not sent: %s", event.event_name(), error)
                return
            answered.wait(patience)

    def _emit(self, event: LiveEvent, answered: threading.Event) -> None:
        def hear(answer: Any = None) -> None:
            if isinstance(answer, Mapping) and answer.get("status") != "ok":
                log.warning("%s was refused: %s", event.event_name(), answer.get("detail"))
            answered.set()
            # What was said in the room before it was entered is found by looking.
            self._on_task()

        name, data = event.event_name(), event.model_dump()
        try:
            self._tsio.emit(name, data, callback=hear)
        except TypeError:
            # Something like a client that cannot say when it was heard.
            self._tsio.emit(name, data)
            hear()


def _also(tsio: Any, event: str, handle: Callable[..., None]) -> None:
    """Hears an event beside whoever hears it already: the host, or another manager on the same connection."""
    handlers = getattr(tsio, "handlers", None)
    known = handlers.get("/") if isinstance(handlers, Mapping) else None
    earlier = known.get(event) if isinstance(known, Mapping) else None

    def hear(*data: Any) -> None:
        handle(*data)
        if earlier is not None:
            earlier(*data)

    tsio.on(event, hear)
