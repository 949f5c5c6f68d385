"""Keeps the log lines of handlers with their tasks: gathered, bounded, sent by the second."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from typing import Any

from pgjobs.errors import InvalidArgument, PgJobsError
from pgjobs.jobs.context import TaskContext
from pgjobs.queue.queue import Queue

log = logging.getLogger("pgjobs.worker")

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
_PAUSE = 1.0
_MOST_LINES = 200
_MOST_CHARACTERS = 8000
_LARGEST_SEND = 200


def kept_from(level: str) -> int | None:
    """The number of a level from which on lines are kept; None for "off"."""
    if level.lower() == "off":
        return None
    try:
        return LEVELS[level.lower()]
    except KeyError:
        raise InvalidArgument(
            f"There is no log level {level!r}", hint=f"Choose one of {', '.join(LEVELS)} or off."
        ) from None


class LogLines:
    """Lines on their way. Between two sends a task keeps its newest; how many it lost is said in their place.

    Handlers in threads add lines too, so what is here changes under a lock.
    """

    def __init__(self, queue: Queue, level: int) -> None:
        self.level = level
        self._queue = queue
        self._lock = threading.Lock()
        self._waiting: dict[TaskContext, _Lines] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wanted = asyncio.Event()

    def add(self, task: TaskContext, level: int, message: str) -> None:
        with self._lock:
            is_first = not self._waiting
            self._waiting.setdefault(task, _Lines()).add(level, message)
        if is_first and self._loop is not None:
            self._loop.call_soon_threadsafe(self._wanted.set)

    async def flush(self, tasks: list[TaskContext]) -> None:
        """Sends what these tasks have said; raises only if the database cannot be reached."""
        if self._waiting:
            chosen = [task for task in tasks if task in self._waiting]
            for start in range(0, len(chosen), _LARGEST_SEND):
                await self._send(chosen[start : start + _LARGEST_SEND])

    async def run(self) -> None:
        self._loop = asyncio.get_running_loop()
        while True:
            await self._wanted.wait()
            await asyncio.sleep(_PAUSE)
            self._wanted.clear()
            try:
                await self.flush(list(self._waiting))
            finally:
                if self._waiting:
                    self._wanted.set()

    async def _send(self, tasks: list[TaskContext]) -> None:
        with self._lock:
            taken = {task: lines for task in tasks if (lines := self._waiting.pop(task, None))}
        if not taken:
            return
        try:
            answers = await self._queue.driver.call(
                "append_log",
                task_ids=[task.id for task in taken],
                tokens=[task.token for task in taken],
                lines=[lines.document() for lines in taken.values()],
            )
        except PgJobsError as error:
            log.warning("log lines of %d tasks are not kept: %s", len(taken), error.message)
        except BaseException:
            with self._lock:
                for task, lines in taken.items():
                    self._waiting[task] = lines.before(self._waiting.get(task))
            raise
        else:
            for answer in answers:
                if answer["problem"] is not None:
                    log.info("task %s: its lease is lost, its last log lines are not kept", answer["task_id"])


class _Lines:
    def __init__(self) -> None:
        self.lines: deque[tuple[float, int, str]] = deque()
        self.dropped = 0

    def add(self, level: int, message: str, at: float | None = None) -> None:
        self.lines.append((at or time.monotonic(), level, message[:_MOST_CHARACTERS].replace("\0", "\ufffd")))
        if len(self.lines) > _MOST_LINES:
            self.lines.popleft()
            self.dropped += 1

    def before(self, later: _Lines | None) -> _Lines:
        for at, level, message in later.lines if later else ():
            self.add(level, message, at)
        self.dropped += later.dropped if later else 0
        return self

    def document(self) -> list[dict[str, Any]]:
        now = time.monotonic()
        lines: list[dict[str, Any]] = [
            {
                "ago": round(min(max(now - at, 0.0), 86400.0), 3),
                "level": _name(level),
                "message": message.encode("utf-8", "replace").decode(),
            }
            for at, level, message in self.lines
        ]
        if self.dropped:
            lines[0]["dropped"] = min(self.dropped, 1_000_000)
        return lines


def _name(level: int) -> str:
    return next((name for name, number in reversed(LEVELS.items()) if level >= number), "debug")
