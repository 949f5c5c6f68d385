"""The client SDK against a real server, on every driver."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any, ClassVar

import httpx
import pytest
from pydantic import BaseModel

from pgjobs.contrib.joblib import Api, ClaimedTask, Extension, JobManager, Provider, TaskStream
from tests.surfaces.client.rotate import ROTATE, Rotate
from tests.surfaces.processes import free_port, wait_until
from tests.surfaces.rest_server import token_of

SEED = """
from typing import ClassVar
from pgjobs.contrib.joblib import Category, Extension, JobManager
from pydantic import BaseModel

# Context manager for automatic cleanup on shutdown
with JobManager(api, tsio=tsio) as manager:
    # 1. Register jobs
    @manager.register  # @global by default
    class Rotate(Extension):
        category: ClassVar[Category] = Category.MODIFIER
        angle: float = 0.0

    @manager.register(room="room_123")
    class PrivateRotate(Extension):
        category: ClassVar[Category] = Category.MODIFIER
        angle: float = 0.0

    print(len(manager))  # 2 Jobs Registered

    # 2. Consume tasks
    for task in manager.listen(stop_event=shutdown):
        manager.heartbeat()  # keep alive during processing
        task.extension.run()
# disconnect() called automatically: LeaveJobRoom emitted, DELETE /workers called
"""


def test_the_documented_example_runs_as_written(sdk, tsio, root, capsys):
    shutdown = threading.Event()
    shown: dict[str, Any] = {"api": sdk, "tsio": tsio, "shutdown": shutdown}
    worker = threading.Thread(target=exec, args=(SEED, shown))
    worker.start()
    wait_until(lambda: root.get("rooms/room_123/jobs").json()["total"] == 2)
    for job, angle in ((ROTATE, 0), ("room_123:modifiers:PrivateRotate", 90)):
        task = root.submit(job, "room_123", angle=angle)
        wait_until(lambda: root.get(f"tasks/{task['id']}").json()["status"] == "claimed")  # noqa: B023
    shutdown.set()
    worker.join(20)
    assert not worker.is_alive()
    assert capsys.readouterr().out == "2\n"
    assert shown["task"].extension.angle == 90
    assert root.get("workers").json()["items"] == []


def test_a_manager_is_a_mapping_of_its_jobs(manager, root):
    @manager.register
    class Plain(BaseModel):
        angle: float = 0.0

    @manager.register(room="lab", run_kwargs={"model": "big"})
    class Bend(Extension):
        category: ClassVar[str] = "analysis"

    assert manager.register(Rotate, room="lab") is Rotate
    names = ["@global:modifiers:Plain", "lab:analysis:Bend", "lab:modifiers:Rotate"]
    assert list(manager) == names
    assert len(manager) == 3
    assert names[0] in manager
    assert "lab:modifiers:Plain" not in manager
    assert manager[names[1]] is Bend
    assert manager.get_run_kwargs(names[1]) == {"model": "big"}
    assert manager.get_run_kwargs(names[0]) == {}
    workers = root.get("workers").json()["items"]
    assert [(worker["id"], worker["job_count"]) for worker in workers] == [(str(manager.worker_id), 3)]
    shown = root.get(f"rooms/lab/jobs/{names[2]}").json()
    assert shown["schema"] == Rotate.model_json_schema()


def test_another_schema_is_refused(manager):
    manager.register(Rotate)
    other = type("Rotate", (Extension,), {"__annotations__": {"speed": int}, "speed": 1})
    with pytest.raises(ValueError, match="schema"):
        manager.register(other)
    assert manager[ROTATE] is Rotate


def test_refusals_are_the_exceptions_they_stand_for(base, manager):
    with pytest.raises(ValueError, match="Worker ID not set"):
        manager.claim()
    with pytest.raises(PermissionError):
        JobManager(Api(base, token_of("ada"))).register(Rotate)
    with pytest.raises(PermissionError):
        JobManager(Api(base)).create_worker()
    with pytest.raises(KeyError):
        manager.submit(Rotate(), "lab")
    with pytest.raises(KeyError):
        manager.fail_by_id("00000000-0000-4000-8000-000000000000", "no such task")
    manager.register(Rotate)
    with pytest.raises(ValueError, match="odd"):
        manager.register(type("Odd", (Extension,), {"category": "odd"}))


def test_a_task_is_claimed_started_and_completed(manager, root):
    worker_id = manager.create_worker()
    manager.register(Rotate, run_kwargs={"vis": None})
    assert manager.worker_id == worker_id
    assert manager.claim() is None
    task_id = manager.submit(Rotate(angle=45), "lab")
    task = manager.claim()
    assert isinstance(task, ClaimedTask)
    assert (task.id, task.task_id, task.job_name, task.room_id) == (task_id, task_id, ROTATE, "lab")
    assert (task.payload, task.run_kwargs) == ({"angle": 45}, {"vis": None})
    assert task.extension == Rotate(angle=45)
    assert task.created_at.tzinfo is not None
    manager.start(task)
    manager.complete(task, {"ok": True})
    shown = root.get(f"tasks/{task_id}").json()
    assert (shown["status"], shown["result"]) == ("completed", {"ok": True})
    # Said again, because the reply may have been lost, it is heard once.
    manager.complete(task, {"ok": True})
    with pytest.raises(ValueError, match="lost"):
        manager.fail(task, "after all")
    with pytest.raises(ValueError, match="transition"):
        manager.fail_by_id(task_id, "after all")
    assert root.get(f"tasks/{task_id}").json()["status"] == "completed"


def test_tasks_can_be_failed_and_cancelled(manager, root):
    manager.register(Rotate)
    ids = [manager.submit(Rotate(), "lab") for _ in range(3)]
    first, second, third = (manager.claim() for _ in ids)
    manager.fail(first, "it broke")
    manager.fail_by_id(second.task_id, "it broke too")
    manager.cancel(third)
    shown = [root.get(f"tasks/{task_id}").json() for task_id in ids]
    assert [task["status"] for task in shown] == ["failed", "failed", "cancelled"]
    assert shown[1]["error"] == "it broke too"


def test_a_payload_that_does_not_fit_fails_its_task_and_the_next_is_claimed(manager, root):
    manager.register(Rotate)
    broken = root.submit(ROTATE, angle="not a number")
    sound = root.submit(ROTATE, angle=1)
    task = manager.claim()
    assert task is not None
    assert task.task_id == sound["id"]
    shown = root.get(f"tasks/{broken['id']}").json()
    assert shown["status"] == "failed"
    assert "angle" in shown["error"]


def test_a_stream_gives_tasks_until_it_is_stopped(manager):
    manager.register(Rotate)
    for angle in (1, 2):
        manager.submit(Rotate(angle=angle), "lab")
    stream = manager.listen(polling_interval=0.05)
    assert isinstance(stream, TaskStream)
    assert [next(stream).extension.angle, next(stream).extension.angle] == [1, 2]
    stopped = threading.Thread(target=lambda: list(stream))
    stopped.start()
    stream.stop()
    stopped.join(10)
    assert not stopped.is_alive()
    assert list(stream) == []


def test_without_sockets_the_server_tells_of_a_task_by_answering_late(sdk, root):
    with JobManager(sdk, polling_interval=20) as manager:
        manager.register(Rotate)
        stream = manager.listen()
        submitted = threading.Timer(0.3, lambda: root.submit(ROTATE, angle=7))
        submitted.start()
        assert next(stream).extension.angle == 7


def test_with_execute_tasks_are_served_in_the_background(sdk, tsio, root):
    def execute(task: ClaimedTask) -> Any:
        if task.extension.angle < 0:
            raise RuntimeError("cannot turn back")
        return task.extension.run(**task.run_kwargs) if task.extension.angle else object()

    with JobManager(sdk, tsio, execute=execute, polling_interval=20) as manager:
        manager.register(Rotate, run_kwargs={"by": "me"})
        # The first look of the loop is over by now: the rest is told by Socket.IO.
        for angle, status in ((90, "completed"), (-1, "failed"), (0, "completed")):
            task = root.submit(ROTATE, angle=angle)
            shown = root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=15"}).json()
            assert shown["status"] == status
            assert shown["result"] == ({"turned": 90, "by": "me"} if angle == 90 else None)
    assert shown["error"] is None


def test_a_task_that_cannot_be_started_is_not_executed(sdk, root, monkeypatch):
    executed: list[ClaimedTask] = []
    with JobManager(sdk, execute=executed.append, polling_interval=0.05) as manager:
        start = manager.start

        def start_too_late(task: ClaimedTask) -> None:
            if task.extension.angle < 0:
                assert root.update({"id": task.task_id}, "cancelled").is_success
            start(task)

        monkeypatch.setattr(manager, "start", start_too_late)
        manager.register(Rotate)
        root.submit(ROTATE, angle=-1)
        last = root.submit(ROTATE, angle=1)
        assert root.get(f"tasks/{last['id']}", headers={"Prefer": "wait=15"}).json()["status"] == "completed"
    assert [task.extension.angle for task in executed] == [1]


class Echo(Provider):
    """Answers with what its handler makes of the question."""

    category: ClassVar[str] = "echo"
    word: str = ""

    def read(self, handler: Any) -> Any:
        return handler(self.word)


class Raw(Echo):
    """The same in bytes."""

    content_type: ClassVar[str] = "application/octet-stream"


def test_a_provider_answers_reads(sdk, tsio, root):
    with JobManager(sdk, tsio) as manager:
        provider_id = manager.register_provider(Echo, name="upper", handler=str.upper)
        manager.register_provider(Raw, name="raw", handler=lambda word: word.encode() + b"\0\xff", room="lab")
        assert list(manager.handlers) == ["@global:echo:upper", "lab:echo:raw"]
        assert manager.handlers["@global:echo:upper"] is str.upper
        address, patient = "rooms/lab/providers/", {"Prefer": "wait=15"}
        answer = root.get(f"{address}@global:echo:upper?word=hi", headers=patient)
        assert (answer.status_code, answer.json()) == (200, "HI")
        answer = root.get(f"{address}lab:echo:raw?word=hi", headers=patient)
        assert answer.content == b"hi\0\xff"
        assert answer.headers["content-type"] == "application/octet-stream"
        manager.unregister_provider("@global:echo:upper")
        assert root.get(f"{address}@global:echo:upper/info").status_code == 404
        assert root.delete(f"providers/{provider_id}").status_code == 404
        assert len(root.get("workers").json()["items"]) == 1
    assert root.get("rooms/lab/providers").json()["total"] == 0


def test_a_failing_read_answers_with_its_error(sdk, tsio, root):
    def refuse(_word: str) -> str:
        raise OSError("the disk is gone")

    with JobManager(sdk, tsio) as manager:
        manager.register_provider(Echo, name="broken", handler=refuse)
        answer = root.get("rooms/lab/providers/@global:echo:broken", headers={"Prefer": "wait=15"})
        assert answer.status_code == 502
        assert answer.json()["detail"] == "OSError: the disk is gone"


def test_a_refused_worker_stops(sdk, root):
    with JobManager(sdk, execute=print, heartbeat_interval=0.05, polling_interval=20) as manager:
        manager.register(Rotate)
        assert root.delete(f"workers/{manager.worker_id}").status_code == 204
        assert manager.stopping.wait(15)
        assert list(manager.listen()) == []


def test_disconnecting_is_safe_twice_from_threads_and_without_a_server(sdk, tsio):
    manager = JobManager(sdk, tsio, execute=print)
    manager.register(Rotate)
    threads = [threading.Thread(target=manager.disconnect) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (manager.worker_id, len(manager)) == (None, 0)
    manager.disconnect()
    lost = JobManager(sdk)
    lost.register(Rotate)
    sdk.base_url = f"http://127.0.0.1:{free_port()}"
    lost.disconnect()
    assert lost.worker_id is None


def test_startup_calls_are_tried_again_and_not_for_ever(token):
    nowhere = Api(f"http://127.0.0.1:{free_port()}", token)
    with pytest.raises(httpx.ConnectError):
        JobManager(nowhere, max_startup_retries=2).create_worker()


def test_an_unreachable_server_is_tolerated_for_a_while_only(sdk):
    with JobManager(sdk, execute=print, heartbeat_interval=0.05, max_unreachable_seconds=0.3) as manager:
        manager.register(Rotate)
        sdk.base_url = f"http://127.0.0.1:{free_port()}"
        assert manager.stopping.wait(15)


def test_a_long_task_keeps_its_worker(sdk, root, queue):
    began, go_on = threading.Event(), threading.Event()

    def execute(_task: ClaimedTask) -> None:
        began.set()
        go_on.wait(20)

    with JobManager(sdk, execute=execute, heartbeat_interval=0.05, polling_interval=0.1) as manager:
        manager.register(Rotate)
        task = root.submit(ROTATE)
        assert began.wait(15)
        heard = _last_heartbeat(root)
        wait_until(lambda: _last_heartbeat(root) > heard)
        go_on.set()
        assert root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=15"}).json()["status"] == "completed"


def _last_heartbeat(root: Any) -> str:
    return str(root.get("workers").json()["items"][0]["last_heartbeat"])


def test_a_claimed_task_can_be_made_of_what_the_documents_list():
    """For tests of what is done with one, without a server."""
    created = "2024-05-01T12:00:00Z"
    told = {"id": "7", "job_name": ROTATE, "room_id": "lab", "payload": {"angle": 1}, "created_at": created}
    for task in (ClaimedTask(**told), ClaimedTask.model_validate({**told, "status": "claimed"})):
        assert (task.id, task.task_id, task.job_name, task.room_id) == ("7", "7", ROTATE, "lab")
        assert (task.payload, task.created_at) == ({"angle": 1}, datetime(2024, 5, 1, 12, tzinfo=UTC))
        assert (task.extension, task.run_kwargs, task.cancel_requested) == (None, {}, False)
    extension = Rotate(angle=2)
    task = ClaimedTask(task_id="8", job_name=ROTATE, room_id="lab", extension=extension)
    assert (task.id, task.extension) == ("8", extension)


def test_another_way_to_the_server_takes_effect_at_once(sdk, root):
    nowhere = Api(f"http://127.0.0.1:{free_port()}", token_of("ada"))
    manager = JobManager(nowhere, max_startup_retries=1)
    assert manager.api is nowhere
    with pytest.raises(httpx.HTTPError):
        manager.create_worker()
    manager.api = sdk
    assert manager.api is sdk
    with manager:
        assert str(manager.create_worker()) == root.get("workers").json()["items"][0]["id"]


@pytest.mark.parametrize("call", [JobManager.claim, JobManager.heartbeat])
def test_without_a_worker_there_is_nothing_to_claim_or_keep_alive(sdk, call):
    with pytest.raises(ValueError, match="Worker ID not set"):
        call(JobManager(sdk))
