"""Tells the database how tasks ended: many at a time, one flush in flight."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from pgjobs.drivers import Row
from pgjobs.drivers.documents import Encoded
from pgjobs.errors import PgJobsError, SchemaBehind, SchemaChanged
from pgjobs.jobs.context import TaskContext
from pgjobs.queue.queue import Queue
from pgjobs.worker.log_lines import LogLines

log = logging.getLogger("pgjobs.worker")

_LARGEST_FLUSH = 1000
_IN_FLUX = (SchemaBehind, SchemaChanged)


Send = Callable[[list[tuple[TaskContext, Any]]], Awaitable[Sequence[Row]]]


class Failure(NamedTuple):
    error: str
    kind: str
    retryable: bool


class Acknowledger:
    """Collects what ended while a flush is in flight; the next flush takes all of it.

    A flush that got no reply is sent again under the same tokens until the leases
    are over, which is safe: a repeated acknowledgement gets the same answer.
    `returned` is called when tasks went back, to be due again some time.
    """

    def __init__(
        self,
        queue: Queue,
        held: dict[int, TaskContext],
        returned: Callable[[], None],
        log_lines: LogLines | None = None,
    ) -> None:
        self._queue = queue
        self._log_lines = log_lines
        self._returned = returned
        self._held = held
        self._completed: list[tuple[TaskContext, Encoded | None]] = []
        self._failed: list[tuple[TaskContext, Failure]] = []
        self._released: list[tuple[TaskContext, timedelta | None]] = []
        self._wanted = asyncio.Event()
        self._is_flushed = asyncio.Event()
        self._is_flushed.set()
        self.settled = 0
        self.sent = 0
        self.on_sent: Callable[[], None] | None = None

    def complete(self, task: TaskContext, document: Encoded | None) -> None:
        self._completed.append((task, document))
        self._wanted.set()

    def fail(self, task: TaskContext, error: str, kind: str, *, retryable: bool = True) -> None:
        self._failed.append((task, Failure(_storable(error), _storable(kind)[:200], retryable)))
        self._wanted.set()

    def release(self, task: TaskContext, delay: timedelta | None = None) -> None:
        self._released.append((task, delay))
        self._wanted.set()

    def drop(self, task: TaskContext) -> None:
        """Nothing to say: the task ended otherwise, or is no longer ours."""
        # A task that went back may have been claimed here again meanwhile.
        if self._held.get(task.id) is task:
            del self._held[task.id]
        self.settled += 1

    async def flushed(self) -> None:
        """Until everything said so far has reached the database, or is past saying."""
        while self._wanted.is_set() or not self._is_flushed.is_set():
            await asyncio.sleep(0)
            await self._is_flushed.wait()

    async def run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._is_flushed.clear()
            try:
                await self._flush()
                self.sent += 1
                if self.on_sent is not None:
                    self.on_sent()
            finally:
                self._is_flushed.set()

    async def _flush(self) -> None:
        while self._completed:
            completed, self._completed = self._completed[:_LARGEST_FLUSH], self._completed[_LARGEST_FLUSH:]
            await self._settle(completed, self._send_completed)
        while self._failed:
            failed, self._failed = self._failed[:_LARGEST_FLUSH], self._failed[_LARGEST_FLUSH:]
            await self._settle(failed, self._send_failed)
            self._returned()
        released, self._released = self._released, []
        for delay in dict.fromkeys(delay for _, delay in released):
            await self._settle([item for item in released if item[1] == delay], self._send_released)
            self._returned()

    async def _settle(self, items: list[tuple[TaskContext, Any]], send: Send) -> None:
        pause = 0.05
        while items:
            try:
                if self._log_lines is not None:
                    await self._log_lines.flush([task for task, _ in items])
                rows = await send(items)
            except Exception as error:
                # What an upgrade gets in the way of says nothing about the tasks.
                if isinstance(error, PgJobsError) and not isinstance(error, _IN_FLUX):
                    await self._settle_apart(items, send, error)
                    return
                log.warning("acknowledging %d tasks: %s", len(items), brief(error))
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
                pause = min(pause * 2, 2.0)
                items = self._still_held(items)
                continue
            for row in rows:
                if row["problem"] is not None:
                    log.warning("task %s was refused: its lease is lost", row["task_id"])
            for task, _ in items:
                self.drop(task)
            return

    async def _settle_apart(
        self, items: list[tuple[TaskContext, Any]], send: Send, refusal: PgJobsError
    ) -> None:
        """One of them is refused; alone, each gets its own answer."""
        if len(items) == 1:
            self._refused(items[0][0], refusal, may_fail=send == self._send_completed)
            return
        for item in items:
            await self._settle([item], send)

    def _still_held(self, items: list[tuple[TaskContext, Any]]) -> list[tuple[TaskContext, Any]]:
        now = time.monotonic()
        for task, _ in items:
            if task.deadline < now:
                log.warning("task %s: its lease ended before it could be acknowledged", task.id)
                self.drop(task)
        return [item for item in items if item[0].deadline >= now]

    def _refused(self, task: TaskContext, refusal: PgJobsError, *, may_fail: bool) -> None:
        log.error("task %s: %s", task.id, refusal.message)
        if may_fail:
            self.fail(task, sentence(refusal), "result_invalid", retryable=False)
        else:
            self.drop(task)

    async def _send_completed(self, items: list[tuple[TaskContext, Encoded | None]]) -> Sequence[Row]:
        results = [document for _, document in items]
        return await self._queue.driver.call(
            "complete_tasks", **_held(items), results=results if any(results) else None
        )

    async def _send_failed(self, items: list[tuple[TaskContext, Failure]]) -> Sequence[Row]:
        failures = [failure for _, failure in items]
        return await self._queue.driver.call(
            "fail_tasks",
            **_held(items),
            errors=[failure.error for failure in failures],
            kinds=[failure.kind for failure in failures],
            retryable=[failure.retryable for failure in failures],
        )

    async def _send_released(self, items: list[tuple[TaskContext, timedelta | None]]) -> Sequence[Row]:
        return await self._queue.driver.call("release_tasks", **_held(items), delay=items[0][1])


def _held(items: list[tuple[TaskContext, Any]]) -> dict[str, Any]:
    return {"task_ids": [task.id for task, _ in items], "tokens": [task.token for task, _ in items]}


def sentence(error: PgJobsError) -> str:
    return f"{error.message}: {error.detail}" if error.detail else error.message


def brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def _storable(text: str) -> str:
    """Text that Postgres can hold, whatever an exception says."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
