"""Background threads of a worker: heartbeats, and claiming and running tasks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pgjobs.contrib.joblib.api import FATAL
from pgjobs.contrib.joblib.tasks import ClaimedTask

if TYPE_CHECKING:
    from pgjobs.contrib.joblib.manager import RemoteManager

log = logging.getLogger("pgjobs.client")

Execute = Callable[[ClaimedTask], Any]


class Serving:
    """The threads of one manager. They end when it stops, or when the server refuses the worker."""

    def __init__(self, manager: RemoteManager, execute: Execute | None, heartbeat_interval: float) -> None:
        self._manager = manager
        self._execute = execute
        self._heartbeat_interval = heartbeat_interval
        self._threads: list[threading.Thread] = []
        self._starting = threading.Lock()

    def start(self) -> None:
        """Starts the threads, once."""
        with self._starting:
            if self._threads:
                return
            # Apart from the work, so that a long task never loses its worker.
            self._begin(self._send_heartbeats, "pgjobs-heartbeat")
            if self._execute is not None:
                self._begin(self._serve, "pgjobs-serving")

    def _begin(self, target: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def join(self, timeout: float) -> None:
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout)
        self._threads.clear()

    def is_current(self) -> bool:
        """Whether the caller is one of these threads."""
        return threading.current_thread() in self._threads

    def _send_heartbeats(self) -> None:
        manager = self._manager
        pause = self._heartbeat_interval
        while not manager.stopping.wait(pause):
            # Servers wait for about two heartbeats: one that fails is repeated soon, lest the worker be lost.
            pause = self._heartbeat_interval / 10
            try:
                manager.heartbeat()
                pause = self._heartbeat_interval
            except FATAL as error:
                manager.give_up(f"the server refuses heartbeats: {error}")
            except Exception as error:
                if manager.calls.is_unreachable():
                    manager.give_up(f"the server has been unreachable for too long: {type(error).__name__}")
                log.warning("a heartbeat failed: %s", type(error).__name__)

    def _serve(self) -> None:
        manager = self._manager
        try:
            for task in manager.listen():
                self._run(task)
        except FATAL as error:
            manager.give_up(f"the server refuses claims: {error}")
        except Exception as error:
            manager.give_up(f"the server has been unreachable for too long: {type(error).__name__}")

    def _run(self, task: ClaimedTask) -> None:
        manager = self._manager
        if not self._tell(task, lambda: manager.start(task)):
            return
        assert self._execute is not None
        try:
            result = self._execute(task)
        except BaseException as error:
            if task.cancel_requested:
                log.info("task %s was cancelled", task.task_id)
                self._tell(task, lambda: manager.cancel(task))
                return
            # sys.exit() too: it would end this thread and leave a worker that only sends heartbeats.
            log.exception("task %s failed", task.task_id)
            message = f"{type(error).__name__}: {error}"
            self._tell(task, lambda: manager.fail(task, message))
        else:
            self._tell(task, lambda: self._complete(task, result))

    def _complete(self, task: ClaimedTask, result: Any) -> None:
        try:
            self._manager.complete(task, result)
        except (TypeError, ValueError, RecursionError) as error:
            if result is None:
                raise
            # The work is done, and told as done; if it was the lease that was refused, this is too.
            log.warning("the result of task %s is not kept: %s", task.task_id, error)
            self._manager.complete(task)

    def _tell(self, task: ClaimedTask, tell: Callable[[], None]) -> bool:
        """Reports a step; a task that was lost or cancelled meanwhile concerns nobody here."""
        manager = self._manager
        try:
            manager.calls.call_until_reached(tell, manager.stopping.wait)
        except (KeyError, PermissionError) as error:
            manager.give_up(f"the server refuses this worker's reports: {error}")
        except Exception as error:
            log.warning("task %s is no longer ours: %s", task.task_id, error)
        else:
            return True
        return False
