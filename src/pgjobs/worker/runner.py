"""Runs claimed tasks: as many at once as allowed, each to an outcome."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from pgjobs.drivers.transient import is_outage
from pgjobs.errors import LeaseLost, PayloadInvalid
from pgjobs.jobs.context import Abort, Blocked, Snooze, TaskContext, set_current
from pgjobs.worker.acknowledger import Acknowledger, brief, sentence
from pgjobs.worker.calls import Call, PayloadMisfit
from pgjobs.worker.eager import Escaped, stepped

log = logging.getLogger("pgjobs.worker")

_TURN = 100
"""So many tasks that never wait are run before others get a turn of the event loop."""


class Runner:
    """Takes tasks from a buffer. Those that never wait run one after the other in one asyncio task;
    one that waits keeps the asyncio task it is in for itself, and another continues with the buffer."""

    def __init__(
        self, concurrency: int, acknowledger: Acknowledger, freed: Callable[[TaskContext], None]
    ) -> None:
        self.buffer: deque[TaskContext] = deque()
        self.active: set[TaskContext] = set()
        self.calls: dict[int, Call] = {}
        self.ended = 0
        self._concurrency = concurrency
        self._acknowledger = acknowledger
        self._freed = freed
        self._starter: asyncio.Task[None] | None = None
        self._runners: set[asyncio.Task[None]] = set()

    @property
    def load(self) -> int:
        return len(self.buffer) + len(self.active)

    def add(self, tasks: list[TaskContext]) -> None:
        self.buffer.extend(tasks)
        self._start()

    def give_back(self) -> list[TaskContext]:
        """What has not started, taken out of the buffer."""
        waiting = list(self.buffer)
        self.buffer.clear()
        return waiting

    async def finished(self) -> None:
        while self._runners:
            await asyncio.wait(self._runners)

    def _start(self) -> None:
        if self.buffer and self._starter is None and len(self.active) < self._concurrency:
            self._starter = asyncio.get_running_loop().create_task(self._work(), name="pgjobs runner")
            self._runners.add(self._starter)
            self._starter.add_done_callback(self._runner_left)

    def _runner_left(self, runner: asyncio.Task[None]) -> None:
        self._runners.discard(runner)
        if self._starter is runner:
            self._starter = None
        self._start()

    async def _work(self) -> None:
        this = asyncio.current_task()
        turns = 0
        while self.buffer and len(self.active) < self._concurrency:
            task = self.buffer.popleft()
            self.active.add(task)
            try:
                await self._run(task, this)
            finally:
                self.active.discard(task)
                self.ended += 1
                self._freed(task)
            if self._starter is not this:
                break
            turns += 1
            if turns % _TURN == 0:
                await asyncio.sleep(0)

    async def _run(self, task: TaskContext, this: asyncio.Task[None] | None) -> None:
        def suspended() -> None:
            self._starter = None
            self._start()
            task.entered(this)

        timer = None
        began_at = time.monotonic()
        try:
            if task.interruption is None:
                call = self.calls[task.row["job_id"]]
                context = copy_context()
                context.run(set_current, task)
                if task.job.timeout is not None:
                    timer = asyncio.get_running_loop().call_later(
                        task.job.timeout.total_seconds(), task.interrupt, "timed out"
                    )
                result = await stepped(lambda: call(task), context, suspended)
            else:
                raise asyncio.CancelledError
        except GeneratorExit:
            # The event loop is closing: nobody is left to be told.
            raise
        except BaseException as error:
            self._left(task, began_at)
            if task.is_suspended:
                self._acknowledger.drop(task)
            else:
                self._judge(task, error.error if isinstance(error, Escaped) else error)
        else:
            self._left(task, began_at)
            self._succeeded(task, result)
        finally:
            if timer is not None:
                timer.cancel()

    @staticmethod
    def _left(task: TaskContext, began_at: float) -> None:
        """The handler has ended; one that kept the event loop to itself has kept its timer from going off."""
        task.entered(None)
        timeout = task.job.timeout
        if (
            timeout is not None
            and task.interruption is None
            and time.monotonic() - began_at > timeout.total_seconds()
        ):
            task.interruption = "timed out"

    def _succeeded(self, task: TaskContext, result: Any) -> None:
        if task.is_suspended:
            log.warning("task %s waits, and its handler has kept that to itself", task.id)
            self._acknowledger.drop(task)
        elif task.interruption is not None:
            # It may have looked at task.cancelled and left early: nobody can tell whether it is done.
            self._judge(task, asyncio.CancelledError())
        elif task.is_settled:
            self._acknowledger.drop(task)
        elif result is None:
            self._acknowledger.complete(task, None)
        else:
            try:
                document = task.job.signature.document(result)
            except PayloadInvalid as error:
                self._acknowledger.fail(task, sentence(error), "result_invalid", retryable=False)
            except Exception as error:
                log.info("task %s: its result cannot be read", task.id, exc_info=error)
                self._acknowledger.fail(task, _described(error), "result_invalid", retryable=False)
            else:
                self._acknowledger.complete(task, document)

    def _judge(self, task: TaskContext, error: BaseException) -> None:
        acknowledger = self._acknowledger
        if task.is_settled:
            log.warning("task %s was completed, then its handler raised %r", task.id, error)
            acknowledger.drop(task)
        elif task.interruption == "lost" or isinstance(error, LeaseLost):
            log.warning("task %s: its lease is lost, nothing it did counts", task.id)
            acknowledger.drop(task)
        elif task.interruption == "cancelled":
            acknowledger.fail(task, "cancelled", "cancelled", retryable=False)
        elif task.interruption == "timed out":
            acknowledger.fail(task, f"timed out after {task.job.timeout}", "timeout")
        elif task.interruption == "stopping":
            acknowledger.release(task)
        elif isinstance(error, Snooze):
            acknowledger.release(task, error.delay)
        elif isinstance(error, PayloadMisfit):
            acknowledger.fail(task, sentence(error), "payload_invalid", retryable=False)
        elif isinstance(error, Abort | Blocked):
            acknowledger.fail(task, error.message, error.kind, retryable=isinstance(error, Blocked))
        elif is_outage(error) and not isinstance(error, task.job.permanent):
            log.warning("task %s goes back because of an outage: %s", task.id, brief(error))
            acknowledger.fail(task, _described(error), "outage")
        else:
            log.info("task %s failed", task.id, exc_info=error)
            retryable = not isinstance(error, task.job.permanent)
            acknowledger.fail(task, _described(error), type(error).__name__, retryable=retryable)


def _described(error: BaseException) -> str:
    """What the error says and where it came from, with the middle of a long trace left out."""
    lines = "".join(traceback.format_exception(error)).rstrip()
    summary = "".join(traceback.format_exception_only(error)).strip()
    trace = lines if len(lines) < 6000 else f"{lines[:3000]}\n…\n{lines[-3000:]}"
    return f"{summary}\n\n{trace}"
