"""Claimed tasks, one by one or as a stream."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PrivateAttr


class TaskCancelled(Exception):
    """Raised by `raise_if_cancelled`: the work on this task should stop."""


class ClaimedTask(BaseModel):
    """A task this worker has claimed, with its parameters as an instance of the registered class."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    task_id: str = Field(validation_alias=AliasChoices("id", "task_id"))
    job_name: str
    room_id: str
    payload: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    extension: Any = None
    run_kwargs: dict[str, Any] = Field(default_factory=dict)
    token: str | None = Field(default=None, repr=False)
    """The lease: reports that carry it are refused once the task has passed to another worker."""
    trace_context: dict[str, str] = Field(default_factory=dict, repr=False)
    """W3C's `traceparent` and `tracestate` of the submit, if it was in a trace."""
    _asked_to_stop: threading.Event = PrivateAttr(default_factory=threading.Event)

    @property
    def id(self) -> str:
        return self.task_id

    @property
    def cancel_requested(self) -> bool:
        """Whether somebody wants it stopped: the server says so with every heartbeat."""
        return self._asked_to_stop.is_set()

    def raise_if_cancelled(self) -> None:
        """For loops, which nobody else can stop."""
        if self.cancel_requested:
            raise TaskCancelled(f"Task {self.task_id} was cancelled")

    def ask_to_stop(self) -> None:
        self._asked_to_stop.set()

    @classmethod
    def of(
        cls,
        shown: dict[str, Any],
        model: type[BaseModel],
        run_kwargs: dict[str, Any],
        token: str | None = None,
        trace_context: dict[str, str] | None = None,
    ) -> Self:
        return cls.model_validate(
            {
                **shown,
                "extension": model.model_validate(shown["payload"]),
                "run_kwargs": run_kwargs,
                "token": token,
                "trace_context": trace_context or {},
            }
        )


class TaskStream(Iterator[ClaimedTask]):
    """Claimed tasks, until `stop()` is called or an event given at the start is set."""

    def __init__(
        self,
        next_task: Callable[[Callable[[], bool]], ClaimedTask | None],
        stop_event: threading.Event | None,
    ) -> None:
        self._next_task = next_task
        self._stop_event = stop_event
        self._stopped = threading.Event()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ClaimedTask:
        task = None if self._is_stopped() else self._next_task(self._is_stopped)
        if task is None:
            raise StopIteration
        return task

    def stop(self) -> None:
        """Ends the stream; a task that was handed out already stays claimed."""
        self._stopped.set()

    def _is_stopped(self) -> bool:
        return self._stopped.is_set() or (self._stop_event is not None and self._stop_event.is_set())
