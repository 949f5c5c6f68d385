"""Heartbeats that keep a worker while it works, and the ways it ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from pgjobs.contrib.joblib import Api, ClaimedTask, JobManager
from tests.surfaces.client.rotate import ROTATE, Rotate
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api as Caller

TIMEOUT = 1


@pytest.fixture
def impatient(serve: Serve, token: str) -> Iterator[tuple[Api, Caller]]:
    """A server that takes workers for dead after a second of silence."""
    base = serve(worker_timeout_seconds=TIMEOUT, sweeper_interval_seconds=0.1)
    sdk = Api(base, token)
    with Caller(base, token) as root:
        yield sdk, root
    sdk.http.close()


def test_a_task_longer_than_the_timeout_keeps_its_worker(impatient: tuple[Api, Caller]):
    sdk, root = impatient

    def execute(_task: ClaimedTask) -> str:
        threading.Event().wait(3 * TIMEOUT)
        return "done"

    with JobManager(sdk, execute=execute, heartbeat_interval=0.2, polling_interval=0.1) as manager:
        manager.register(Rotate)
        task = root.submit(ROTATE)
        ended = root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=20"}).json()
        assert (ended["status"], ended["result"]) == ("completed", "done")
        assert ended["worker_id"] == str(manager.worker_id)


def test_a_worker_whose_heartbeats_stop_is_taken_away_and_told_so(impatient: tuple[Api, Caller]):
    sdk, root = impatient
    began, go_on = threading.Event(), threading.Event()

    def execute(_task: ClaimedTask) -> None:
        began.set()
        go_on.wait(20)

    with JobManager(sdk, execute=execute, heartbeat_interval=60, polling_interval=0.1) as manager:
        manager.register(Rotate)
        task = root.submit(ROTATE)
        assert began.wait(15)
        ended = root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=20"}).json()
        assert (ended["status"], ended["error"]) == ("failed", "Worker disconnected")
        go_on.set()
        assert manager.stopping.wait(15)
    assert root.get(f"tasks/{task['id']}").json() == ended


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_waiting_ends_with_a_signal_and_takes_the_worker_away(sdk, root, number):
    before = signal.getsignal(number)
    manager = JobManager(sdk, execute=lambda _task: None, polling_interval=0.1)
    manager.register(Rotate)
    threading.Timer(0.3, os.kill, (os.getpid(), number)).start()
    manager.wait()
    assert (manager.worker_id, len(manager)) == (None, 0)
    assert root.get("workers").json()["total"] == 0
    assert signal.getsignal(number) is before


def test_a_signal_that_comes_while_the_waiting_holds_its_lock_is_heard(sdk, root):
    class Interrupted(threading.Event):
        """Every wait of the main thread is interrupted where its lock is held."""

        is_held = False

        def set(self) -> None:
            assert not self.is_held, "this would wait for itself"
            super().set()

        def wait(self, timeout: float | None = None) -> bool:
            if threading.current_thread() is threading.main_thread():
                self.is_held = True
                signal.raise_signal(signal.SIGTERM)
                self.is_held = False
            return super().wait(timeout)

    manager = JobManager(sdk)
    manager.stopping = Interrupted()
    manager.register(Rotate)
    manager.wait()
    assert root.get("workers").json()["total"] == 0


def test_waiting_in_a_thread_ends_with_disconnect(sdk, root):
    manager = JobManager(sdk)
    manager.register(Rotate)
    waiting = threading.Thread(target=manager.wait)
    waiting.start()
    manager.disconnect()
    waiting.join(15)
    assert not waiting.is_alive()
    assert root.get("workers").json()["total"] == 0
