"""Processes that run handlers which keep a core busy; one can be killed without hurting the others."""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import pickle
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from pgjobs.errors import PgJobsError
from pgjobs.jobs.typed import TypedJob

Place = tuple[str, str]
"""Module and qualified name of a handler."""


class ProcessDied(PgJobsError):
    """The process running the handler ended without an answer: killed, out of memory, or crashed."""


class ProcessPool:
    """Starts processes when they are needed, keeps them for the next task, kills them on cancellation."""

    def __init__(self, size: int) -> None:
        self._free: list[_Process] = []
        self._slots = asyncio.Semaphore(size)
        # Only waits for answers; the work is done elsewhere.
        self._waiters = ThreadPoolExecutor(size, thread_name_prefix="pgjobs-process")

    async def run(self, place: Place, arguments: dict[str, Any]) -> Any:
        async with self._slots:
            process = self._free.pop() if self._free else _Process()
            try:
                answer = await asyncio.get_running_loop().run_in_executor(
                    self._waiters, process.ask, place, arguments
                )
            except BaseException:
                process.kill()
                raise
            self._free.append(process)
        is_result, value = answer
        if not is_result:
            raise value
        return value

    def close(self) -> None:
        for process in self._free:
            process.kill()
        self._waiters.shutdown(wait=False, cancel_futures=True)


class _Process:
    def __init__(self) -> None:
        # Not forked: this process has threads, whose locks a fork would copy in any state.
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, place: Place, arguments: dict[str, Any]) -> tuple[bool, Any]:
        try:
            self._ours.send((place, arguments))
            answer: tuple[bool, Any] = self._ours.recv()
        except (EOFError, OSError):
            self._process.join(1)
            raise ProcessDied(f"The handler's process died (exit code {self._process.exitcode})") from None
        return answer

    def kill(self) -> None:
        # The pipe is not closed here: a waiter may still be reading, and learns of the end by reading on.
        self._process.kill()
        self._process.join()


def _serve(connection: Connection) -> None:
    # Ctrl-C reaches the whole group; the worker decides what happens to its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            place, arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = (True, _handler(place)(**arguments))
        except BaseException as error:
            answer = (False, error)
        try:
            connection.send(answer)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            connection.send((False, TypeError(f"cannot be sent between processes: {error}")))


def _handler(place: Place) -> Any:
    module_name, qualified_name = place
    found: Any = sys.modules.get(module_name) or importlib.import_module(module_name)
    for part in qualified_name.split("."):
        found = getattr(found, part)
    return found.handler if isinstance(found, TypedJob) else found
