"""Server, worker and browser as processes of their own: end to end, crashes and restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import socketio

from examples.filesystem_provider import Files, FilesystemRead
from pgjobs.contrib.joblib import Api as SdkApi
from pgjobs.contrib.joblib import JobManager
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.embedded import EmbeddedPostgres
from pgjobs.schema.migrate import migrate, read_release
from tests.server import new_home, stop_server
from tests.surfaces.ears import eventually, listening
from tests.surfaces.processes import Server, program, wait_until
from tests.surfaces.rest_server import Api, token_of
from tests.surfaces.sleepy_worker import Sleep

ROOT_TOKEN = token_of("root", is_superuser=True)
SLEEP = "lab:modifiers:Sleep"
HOUR = timedelta(hours=1)


@pytest.fixture
def queue_url(database_url: str) -> str:
    return database_url


@pytest.fixture
def server(database_url: str) -> Iterator[Server]:
    with Server(database_url, PGJOBS_SWEEPER_INTERVAL_SECONDS="0.3") as server:
        yield server


@pytest.fixture
def api(server: Server) -> Iterator[Api]:
    with Api(server.base, ROOT_TOKEN) as api:
        yield api


async def test_a_task_from_submit_to_result(server, api):
    with program("examples/rotate_worker.py", server.base, ROOT_TOKEN):
        async with listening(server.base, "ada", "lab") as browser:
            job = "@global:modifiers:Rotate"
            task = await asyncio.to_thread(api.submit, job, "lab", angle=180, point=[1, 2])
            answered = await asyncio.to_thread(api.get, f"tasks/{task['id']}", headers={"Prefer": "wait=20"})
            assert answered.json()["status"] == "completed"
            assert answered.json()["result"] == {"point": [-1.0, -2.0]}
            await browser.hears_status(task["id"], "completed")
            assert browser.statuses(task["id"]) == ["pending", "claimed", "running", "completed"]


async def test_a_read_from_question_to_answer(server, api, tmp_path):
    (tmp_path / "notes.md").write_text("hello")
    with program("examples/filesystem_provider.py", server.base, ROOT_TOKEN, tmp_path):
        async with listening(server.base, "ada", "@global") as browser:
            address = "rooms/lab/providers/@global:filesystem:local"
            pending = await asyncio.to_thread(api.get, address, params={"glob": "*.md"})
            assert (pending.status_code, pending.headers["retry-after"]) == (202, "2")
            await browser.hears("provider_result_ready")
            ready = browser.named("provider_result_ready")[0]
            assert ready["request_hash"] == pending.json()["request_hash"]
            answer = await asyncio.to_thread(api.get, address, params={"glob": "*.md"})
            assert (answer.status_code, answer.json()) == (200, ["/notes.md"])
            outside = {"params": {"path": "../.."}, "headers": {"Prefer": "wait=20"}}
            refused = await asyncio.to_thread(lambda: api.get(address, **outside))
            assert refused.status_code == 502
            assert "outside" in refused.json()["detail"]


@pytest.mark.parametrize(("max_attempts", "status"), [(1, "failed"), (2, "pending")])
async def test_a_killed_worker_is_noticed_by_its_connection_or_else_by_the_sweeper(
    server, api, queue, *, database_url, max_attempts, status
):
    told = []
    await queue.register_job(
        *SLEEP.split(":"), schema=Sleep.model_json_schema(), max_attempts=max_attempts, backoff_base=HOUR
    )
    for use_sockets in ("yes", "no"):
        if use_sockets == "no":
            # Not before: a sweep would do for the connection.
            connection = await asyncpg.connect(database_url)
            await connection.execute("update pgjobs.settings set worker_timeout = '1 second'")
            await connection.close()
        command = ("-m", "tests.surfaces.sleepy_worker", server.base, ROOT_TOKEN, use_sockets, "0.2")
        with program(*command) as worker:
            async with listening(server.base, "ada", "lab") as browser:
                task = await asyncio.to_thread(api.submit, SLEEP, seconds=60)
                await browser.hears_status(task["id"], "running")
                browser.heard.clear()
                worker.kill()
                ended = await browser.hears_status(task["id"], status)
                await browser.hears("jobs_invalidate", "providers_invalidate")
                assert ended["error"] == "Worker disconnected"
                told.append([(name, (data or {}).get("status")) for name, data in browser.heard])
        assert (await asyncio.to_thread(api.get, "workers")).json()["items"] == []
        assert (await asyncio.to_thread(api.get, "rooms/lab/providers")).json()["items"] == []
    assert told[0] == told[1]
    assert sorted(name for name, _ in told[0]) == [
        "jobs_invalidate",
        "providers_invalidate",
        "task_status_event",
    ]


async def test_clients_of_two_server_processes_hear_every_change_once(server, api, queue, database_url):
    worker = (await asyncio.to_thread(api.register))["worker_id"]
    job = "lab:modifiers:Rotate"
    with Server(database_url) as second, Api(second.base, ROOT_TOKEN) as elsewhere:
        async with (
            listening(server.base, "ada", "lab") as here,
            listening(second.base, "bob", "lab") as there,
            listening(second.base, "root") as working,
        ):
            ears = (here, there)
            await working.ask("join_job_room", job_name=job, worker_id=worker)
            tasks = []
            for door in (api, elsewhere) * 5:
                tasks.append(await asyncio.to_thread(door.submit))
                await asyncio.to_thread(door.claim, worker)
                other = elsewhere if door is api else api
                await asyncio.to_thread(other.update, tasks[-1], "running")
                await asyncio.to_thread(door.update, tasks[-1], "completed")
            await asyncio.to_thread(elsewhere.register, "Bend", worker_id=worker)
            for ear in ears:
                await ear.hears("jobs_invalidate")
            # Whatever was sent twice would have come before this.
            last = await asyncio.to_thread(api.submit)
            for ear in (*ears, working):
                await ear.until(lambda heard: last["id"] in str(heard))
            for ear in ears:
                for task in tasks:
                    assert ear.statuses(task["id"]) == ["pending", "claimed", "running", "completed"]
                assert len(ear.named("jobs_invalidate")) == 1
                assert ear.named("task_available") == []
            offered = [data["task_id"] for data in working.named("task_available")]
            assert offered == [task["id"] for task in (*tasks, last)]
            assert working.named("task_status_event") == []


async def test_a_worker_survives_a_deploy_and_a_crash_of_the_server(server, api):
    with program("-m", "tests.surfaces.sleepy_worker", server.base, ROOT_TOKEN, "yes", "0.5") as worker:
        before = (await asyncio.to_thread(api.get, "workers")).json()["items"]
        for go_away in (server.stop, server.kill):
            running = await asyncio.to_thread(api.submit, SLEEP, seconds=2)
            await asyncio.to_thread(wait_until, lambda: _status(api, running) == "running")  # noqa: B023
            await asyncio.to_thread(go_away)
            await asyncio.to_thread(server.start)
            task = await asyncio.to_thread(api.submit, SLEEP)
            for each in (running, task):
                ended = await asyncio.to_thread(api.get, f"tasks/{each['id']}", headers={"Prefer": "wait=20"})
                assert ended.json()["status"] == "completed"
        after = (await asyncio.to_thread(api.get, "workers")).json()["items"]
        assert [worker["id"] for worker in before] == [worker["id"] for worker in after]
        worker.terminate()
        await asyncio.to_thread(worker.wait, 20)
        assert (await asyncio.to_thread(api.get, "workers")).json()["items"] == []


async def test_a_worker_leaves_quietly_when_its_server_is_gone(server):
    with program("-m", "tests.surfaces.sleepy_worker", server.base, ROOT_TOKEN, "yes", "0.5") as worker:
        await asyncio.to_thread(server.kill)
        worker.terminate()
        assert await asyncio.to_thread(worker.wait, 20) == 0


async def test_rooms_are_entered_again_when_a_server_is_back_and_heard_from_another(
    server, api, database_url
):
    tsio = socketio.Client(reconnection_delay=0.2, reconnection_delay_max=0.5)
    sdk = SdkApi(server.base, ROOT_TOKEN)
    # It never looks by itself: what it does, it was told of.
    with (
        Server(database_url) as other,
        Api(other.base, ROOT_TOKEN) as elsewhere,
        JobManager(sdk, tsio, execute=lambda _: "done", polling_interval=600) as manager,
    ):
        tsio.connect(server.base, auth={"token": ROOT_TOKEN}, transports=["websocket"], wait_timeout=10)
        manager.register(Sleep, room="lab")
        manager.register_provider(FilesystemRead, name="local", handler=Files(Path(__file__).parent))
        for is_back in (False, True):
            if is_back:
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(wait_until, lambda: not tsio.connected)
                await asyncio.to_thread(server.start)
                await asyncio.to_thread(wait_until, lambda: tsio.connected)
            for _ in range(2):
                task = await asyncio.to_thread(elsewhere.submit, SLEEP)
                ended = await asyncio.to_thread(
                    elsewhere.get, f"tasks/{task['id']}", headers={"Prefer": "wait=20"}
                )
                assert ended.json()["result"] == "done"
            answer = await asyncio.to_thread(
                elsewhere.get,
                f"rooms/lab/providers/@global:filesystem:local?glob=ears.*&again={is_back}",
                headers={"Prefer": "wait=20"},
            )
            assert answer.json() == ["/ears.py"]
    tsio.disconnect()


def _status(api: Api, task: dict[str, Any]) -> str:
    return str(api.get(f"tasks/{task['id']}").json()["status"])


async def test_nothing_is_missed_when_postgres_is_restarted():
    home = new_home()
    postgres = EmbeddedPostgres(Path(home) / "server", options={"max_connections": "50"}).start()
    try:
        await _install(postgres.url)
        with Server(postgres.url) as server, Api(server.base, token_of("ada")) as ada:
            ada.register()
            async with listening(server.base, "ada", "lab") as ear:
                for _ in range(2):
                    await asyncio.to_thread(postgres.stop)
                    await asyncio.to_thread(postgres.start)
                    async with await Queue.connect(postgres.url) as queue:
                        task = await queue.submit_task("lab:modifiers:Rotate")
                        uuid = str((await queue.get_task(task.task_id)).uuid)
                    await ear.hears_status(uuid, "pending")
                assert len(ear.named("task_status_event")) == 2
                # And by notification again, not only by looking now and then.
                await eventually(lambda: _is_listened_to(postgres.url))
                last = await asyncio.to_thread(ada.submit)
                await ear.hears_status(last["id"], "pending")
                wait = asyncio.create_task(
                    asyncio.to_thread(ada.get, f"tasks/{last['id']}", headers={"Prefer": "wait=20"})
                )
                await asyncio.to_thread(ada.update, last, "cancelled")
                assert (await wait).json()["status"] == "cancelled"
    finally:
        await asyncio.to_thread(stop_server, postgres)


async def _is_listened_to(url: str) -> bool:
    connection = await asyncpg.connect(url)
    listeners = await connection.fetchval(
        "select count(*) from pg_stat_activity where query ilike 'listen %'"
    )
    await connection.close()
    return bool(listeners)


async def _install(url: str) -> None:
    connection = await asyncpg.connect(url)
    await migrate(connection, read_release())
    await connection.close()
