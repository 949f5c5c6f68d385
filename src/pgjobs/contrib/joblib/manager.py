"""RemoteManager: a worker's registered jobs and providers, and its tasks."""

from __future__ import annotations

import logging
import math
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, Self
from uuid import UUID
from weakref import WeakValueDictionary

import httpx
from pydantic import BaseModel

from pgjobs.contrib.joblib.api import ApiManager, Calls, in_path, sendable
from pgjobs.contrib.joblib.extensions import category_of
from pgjobs.contrib.joblib.live import LiveConnection
from pgjobs.contrib.joblib.providers import answer
from pgjobs.contrib.joblib.registering import GLOBAL, Registry
from pgjobs.contrib.joblib.serving import Execute, Serving
from pgjobs.contrib.joblib.tasks import ClaimedTask, TaskStream
from pgjobs.live.models import ProviderRequest

log = logging.getLogger("pgjobs.client")

JOIN_SECONDS = 10.0
SIGNAL_SECONDS = 0.2
ANSWER_SECONDS = 15.0
TRACE_HEADERS = ("traceparent", "tracestate")


class RemoteManager(Registry):
    """A worker. As a mapping: the classes of its jobs by full name.

    Heartbeats are sent in the background as soon as there is a worker. With `execute`,
    tasks are claimed and run there too; without, take them from `listen()` or `claim()`.
    """

    def __init__(
        self,
        api: ApiManager,
        tsio: Any = None,
        *,
        execute: Execute | None = None,
        heartbeat_interval: float = 30,
        polling_interval: float = 2,
        max_unreachable_seconds: float = 120,
        max_startup_retries: int = 5,
    ) -> None:
        super().__init__()
        self.tsio = tsio
        self.stopping = threading.Event()
        self.calls = Calls(
            api, max_unreachable_seconds=max_unreachable_seconds, max_startup_retries=max_startup_retries
        )
        self._polling_interval = polling_interval
        self._disconnecting = threading.Lock()
        self._claimed: WeakValueDictionary[str, ClaimedTask] = WeakValueDictionary()
        self._serving = Serving(self, execute, heartbeat_interval)
        self._live = LiveConnection(
            tsio, on_connect=self._join_all, on_task=self._task_available.set, on_request=self._answer
        )

    @property
    def api(self) -> ApiManager:
        """How the server is reached; another one may be put in its place."""
        return self.calls.api

    @api.setter
    def api(self, api: ApiManager) -> None:
        self.calls.api = api

    # tasks

    def claim(self) -> ClaimedTask | None:
        """The oldest due task of the registered jobs, or None."""
        return self._claim(0)

    def listen(
        self, polling_interval: float | None = None, stop_event: threading.Event | None = None
    ) -> TaskStream:
        """Claimed tasks as they come, until stopped."""
        interval = self._polling_interval if polling_interval is None else polling_interval
        return TaskStream(lambda is_stopped: self._next_task(interval, is_stopped), stop_event)

    def start(self, task: ClaimedTask) -> None:
        self._update(task.task_id, "running", task.token)

    def complete(self, task: ClaimedTask, result: Any = None) -> None:
        self._update(task.task_id, "completed", task.token, result=result)

    def fail(self, task: ClaimedTask, error: str) -> None:
        self._update(task.task_id, "failed", task.token, error=error)

    def fail_by_id(self, task_id: str, error: str) -> None:
        """Fails a task by its id alone, whichever of the user's workers has it now."""
        self._update(task_id, "failed", error=error)

    def cancel(self, task: ClaimedTask) -> None:
        self._update(task.task_id, "cancelled", task.token)

    def heartbeat(self) -> None:
        """Tells the server that the worker is alive, and its tasks what the server answers."""
        shown = self.calls.call("PATCH", f"/workers/{self._required_worker()}").json()
        for task_id in shown.get("cancel_requested", ()):
            if (task := self._claimed.get(task_id)) is not None:
                task.ask_to_stop()

    def submit(self, extension: BaseModel, room: str, job_room: str = GLOBAL) -> str:
        """Submits a task from a room; returns its id."""
        job = f"{job_room}:{category_of(type(extension))}:{type(extension).__name__}"
        body = {"payload": extension.model_dump(mode="json")}
        return str(
            self.calls.call("POST", f"/rooms/{in_path(room)}/tasks/{in_path(job)}", json=body).json()["id"]
        )

    def _claim(self, patience: float) -> ClaimedTask | None:
        # Without Socket.IO the server tells of a task by answering late.
        wait = 0 if self._live.is_connected else math.floor(patience)
        # A client that gave up before the server answers would leave the task with nobody.
        patient: dict[str, Any] = {"timeout": wait + ANSWER_SECONDS} if wait else {}
        headers = {"Prefer": f"wait={wait}"} if wait else None
        body = {"worker_id": str(self._required_worker())}
        while True:
            response = self.calls.call("POST", "/tasks/claim", json=body, headers=headers, **patient)
            if (shown := response.json()["task"]) is None:
                return None
            token = response.headers.get("Lease-Token")
            trace = {name: response.headers[name] for name in TRACE_HEADERS if name in response.headers}
            if (job := self._jobs.get(shown["job_name"])) is None:
                problem = f"This worker does not serve {shown['job_name']}"
            else:
                try:
                    task = self._claimed[shown["id"]] = ClaimedTask.of(shown, *job, token, trace)
                    return task
                except Exception as error:
                    # A model's own validators may raise anything.
                    problem = f"The payload does not fit: {error}"
            self._update(shown["id"], "failed", token, error=problem)

    def _next_task(self, interval: float, is_stopped: Callable[[], bool]) -> ClaimedTask | None:
        def is_over() -> bool:
            return self.stopping.is_set() or is_stopped()

        def is_over_after(pause: float) -> bool:
            end = time.monotonic() + pause
            while not is_over() and (left := end - time.monotonic()) > 0:
                if self._task_available.wait(min(0.1, left)):
                    self._task_available.clear()
                    break
            return is_over()

        while not is_over():
            began = time.monotonic()
            try:
                task = self.calls.call_until_reached(lambda: self._claim(interval), is_over_after)
            except httpx.HTTPError:
                if is_over():
                    return None
                raise
            if task is not None:
                return task
            is_over_after(began + interval - time.monotonic())
        return None

    def _update(
        self,
        task_id: str,
        status: str,
        token: str | None = None,
        *,
        error: str | None = None,
        result: Any = None,
    ) -> None:
        body: dict[str, Any] = {"status": status}
        if error is not None:
            body["error"] = sendable(error)
        if result is not None:
            body["result"] = result
        headers = {"Lease-Token": token} if token else None
        self.calls.call("PATCH", f"/tasks/{task_id}", json=body, headers=headers)

    def _required_worker(self) -> UUID:
        if self._worker_id is None:
            raise ValueError("Worker ID not set: call create_worker() or register a job first")
        return self._worker_id

    # live

    def _join_all(self) -> None:
        if self._worker_id is not None:
            self._live.join(self._worker_id, list(self._jobs), list(self._providers))
            self._task_available.set()

    def _answer(self, request: ProviderRequest) -> None:
        if (provider := self._providers.get(request.provider_name)) is None:
            return
        try:
            answer(self.calls, provider, request)
        except (KeyError, PermissionError) as error:
            # One that was unregistered while it read is missed by nobody.
            if self._providers.get(request.provider_name) is provider:
                self.give_up(f"the server refuses this worker's answers: {error}")
        except Exception as error:
            log.warning("an answer of %s was not uploaded: %s", request.provider_name, error)

    # ending

    def give_up(self, reason: str) -> None:
        """Stops the worker where it stands."""
        if not self.stopping.is_set():
            log.error("stopping: %s", reason)
        self.stopping.set()
        self._task_available.set()

    def disconnect(self) -> None:
        """Leaves rooms and removes the worker. Safe twice, from any thread, and without a server."""
        self.stopping.set()
        self._task_available.set()
        # Whoever disconnects already waits for the thread that runs tasks.
        if not self._disconnecting.acquire(blocking=not self._serving.is_current()):
            return
        try:
            self._serving.join(JOIN_SECONDS)
            worker_id, self._worker_id = self._worker_id, None
            if worker_id is None:
                return
            self._live.leave(worker_id, list(self._jobs), list(self._providers))
            try:
                self.calls.call("DELETE", f"/workers/{worker_id}", timeout=5.0)
            except Exception as error:
                log.debug("worker %s was not removed: %s", worker_id, error)
            self._jobs.clear()
            self._providers.clear()
        finally:
            self._disconnecting.release()

    def wait(self) -> None:
        """Blocks until SIGINT, SIGTERM or `disconnect()`, and disconnects."""
        before, heard = {}, []
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                # It takes no lock: the thread it interrupts is this one, and may hold it.
                before[number] = signal.signal(number, lambda number, _: heard.append(number))
        try:
            while not heard and not self.stopping.wait(SIGNAL_SECONDS):
                pass
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self.disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()
