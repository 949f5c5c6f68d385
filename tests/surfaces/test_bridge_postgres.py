"""What the bridge owes to Postgres: transactions, several servers, lost connections."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest

from pgjobs.live.feed import PAGE_SIZE
from pgjobs.server import ApiSettings
from pgjobs.server.app import create_app
from pgjobs.upkeep.sweeper import cleanup_worker
from tests.surfaces.ears import eventually, listening
from tests.surfaces.rest_server import NO_TLS, SECRET, Api, serving, token_of

JOB = "lab:modifiers:Rotate"


@pytest.fixture
def queue_url(database_url: str) -> str:
    return database_url


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def test_a_rolled_back_transaction_says_nothing(base, ada, queue, connection):
    ada.register()
    async with listening(base, "ada", "lab") as ear:
        transaction = connection.transaction()
        await transaction.start()
        undone = await queue.bound_to(connection).submit_task(JOB)
        await queue.bound_to(connection).register_job("lab", "modifiers", "Never", events="full")
        await transaction.rollback()
        kept = await queue.submit_task(JOB)
        uuid = str((await queue.get_task(kept.task_id)).uuid)
        await ear.hears_status(uuid, "pending")
        assert undone.task_id != kept.task_id
        assert [data["id"] for data in ear.named("task_status_event")] == [uuid]
        assert ear.named("jobs_invalidate") == []


async def test_equal_events_of_one_transaction_are_sent_once(base, ada, queue, connection):
    ada.register()
    async with listening(base, "ada", "lab") as ear:
        async with connection.transaction():
            bound = queue.bound_to(connection)
            for name in ("A", "B", "C"):
                await bound.register_worker(name, jobs=[JOB])
            await bound.register_job("lab", "modifiers", "Second", events="full")
            task = await bound.submit_task(JOB)
        await ear.hears_status(str((await queue.get_task(task.task_id)).uuid), "pending")
        assert len(ear.named("jobs_invalidate")) == 1
        await queue.register_worker("D", jobs=[JOB])
        await ear.until(lambda heard: sum(name == "jobs_invalidate" for name, _ in heard) == 2)


async def test_a_transaction_longer_than_a_page_of_the_feed_tells_once_too(base, ada, queue, connection):
    ada.register()
    async with listening(base, "ada", "lab") as ear:
        async with connection.transaction():
            bound = queue.bound_to(connection)
            await bound.register_worker("A", jobs=[JOB])
            tasks = await bound.submit_tasks(JOB, [{}] * (PAGE_SIZE + 100))
            await bound.register_worker("B", jobs=[JOB])
        last = str((await queue.get_task(tasks[-1].task_id)).uuid)
        await ear.hears_status(last, "pending")
        after = await queue.submit_task(JOB)
        await ear.hears_status(str((await queue.get_task(after.task_id)).uuid), "pending")
        assert len(ear.named("task_status_event")) == PAGE_SIZE + 101
        assert len(ear.named("jobs_invalidate")) == 1


async def poll(base: str, asked: list[str]) -> httpx.AsyncClient:
    """A client of the polling transport that says what it has to say, and never asks again."""
    client = httpx.AsyncClient(base_url=base, timeout=30, trust_env=False, verify=NO_TLS)
    address = "/socket.io/?EIO=4&transport=polling"
    opened = json.loads((await client.get(address)).text[1:])
    for packet in asked:
        assert (await client.post(f"{address}&sid={opened['sid']}", content=packet)).text == "OK"
        await client.get(f"{address}&sid={opened['sid']}")
    return client


async def test_a_polling_worker_that_is_lost_goes_with_its_socket(queue_url, queue, monkeypatch):
    """However fresh its heartbeat: it was the last before it was lost."""
    monkeypatch.setattr(sys.modules["pgjobs.server.live"], "PING_SECONDS", 0.5)
    app = create_app(url=queue_url, settings=ApiSettings(auth_secret=SECRET, sweeper_interval_seconds=600))
    with serving(app) as base, Api(base, token_of("ada")) as ada:
        worker = ada.register()["worker_id"]
        joined = json.dumps(["join_job_room", {"job_name": JOB, "worker_id": worker}])
        client = await poll(base, ["40" + json.dumps({"token": token_of("ada")}), f"421{joined}"])
        assert [known.id for known in await queue.list_workers()] == [UUID(worker)]

        async def is_gone() -> bool:
            return not await queue.list_workers()

        await eventually(is_gone)
        await client.aclose()


async def test_a_lost_connection_leaves_a_worker_alone_that_has_joined_by_another(serve, queue, monkeypatch):
    """It came back to another server, which this one hears of by the database only."""
    dealt_with: list[Any] = []

    async def noting(*about: Any, **more: Any) -> None:
        dealt_with.append(await cleanup_worker(*about, **more))

    monkeypatch.setattr("pgjobs.live.sockets.cleanup_worker", noting)
    first, second = serve(), serve()
    with Api(first, token_of("ada")) as ada:
        worker = UUID(ada.register()["worker_id"])
    join = {"job_name": JOB, "worker_id": str(worker)}
    async with listening(second, "ada", "lab") as there:
        async with listening(first, "ada") as here:
            await here.ask("join_job_room", **join)
            await there.ask("join_job_room", **join)
        await eventually(lambda: dealt_with)
        assert [known.id for known in await queue.list_workers()] == [worker]

    async def is_gone() -> bool:
        return not await queue.list_workers()

    await eventually(is_gone)


async def test_clients_of_two_servers_hear_everything_once(serve, queue):
    first, second = serve(), serve()
    with Api(first, token_of("ada")) as ada:
        worker = ada.register()["worker_id"]
    async with listening(first, "ada", "lab") as here, listening(second, "bob", "lab") as there:
        await there.ask("join_room", room_id="lab")
        tasks = await queue.submit_tasks(JOB, [{}] * 20)
        last = str((await queue.get_task(tasks[-1].task_id)).uuid)
        for ear in (here, there):
            await ear.hears_status(last, "pending")
            assert len(ear.named("task_status_event")) == 20
            assert len({data["id"] for data in ear.named("task_status_event")}) == 20
        # A worker connected to one server hears of what was submitted through the other.
        await here.ask("join_job_room", job_name=JOB, worker_id=worker)
        with Api(second, token_of("bob")) as bob:
            task = bob.submit()
        await here.hears("task_available")
        assert here.named("task_available")[0]["task_id"] == task["id"]


async def test_one_connection_listens_for_all_of_a_server(base, ada, queue, connection):
    worker = ada.register()["worker_id"]
    task = await asyncio.to_thread(ada.submit, "lab:modifiers:Rotate")
    await asyncio.to_thread(ada.claim, worker)
    headers = {"Authorization": f"Bearer {token_of('ada')}", "Prefer": "wait=20"}
    async with (
        listening(base, "ada", "lab"),
        listening(base, "bob", "lab"),
        httpx.AsyncClient(base_url=base, headers=headers, timeout=30, trust_env=False) as client,
        client.stream("GET", "/v1/joblib/events") as stream,
    ):
        assert stream.status_code == 200
        waits = [
            asyncio.create_task(client.get(f"/v1/joblib/tasks/{task['id']}")),
            asyncio.create_task(client.post("/v1/joblib/tasks/claim", json={"worker_id": worker})),
        ]

        async def is_marked() -> bool:
            return bool(await connection.fetchval("select count(*) from pgjobs.waiting_marks"))

        await eventually(is_marked)
        listeners = await connection.fetchval(
            "select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen %'"
        )
        assert listeners == 1
        await queue.submit_task(JOB)
        assert (await waits[1]).json()["task"] is not None
        await asyncio.to_thread(ada.update, task, "cancelled")
        assert (await waits[0]).json()["status"] == "cancelled"


async def test_events_go_on_after_the_listening_connection_was_cut(base, ada, queue, connection):
    ada.register()
    async with listening(base, "ada", "lab") as ear:
        for _ in range(2):
            cut = await connection.fetchval(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )
            assert cut > 0
            async with connection.transaction():
                task = await queue.bound_to(connection).submit_task(JOB)
            uuid = await connection.fetchval("select pgjobs.task_uuid($1)", task.task_id)
            await ear.hears_status(str(uuid), "pending")
        assert len(ear.named("task_status_event")) == 2


async def test_a_swept_worker_and_a_disconnected_one_are_told_of_alike(base, ada, queue, connection):
    told = []
    for is_swept in (True, False):
        worker = (ada.register())["worker_id"]
        task = ada.submit()
        ada.claim(worker)
        ada.update(task, "running")
        async with listening(base, "bob", "lab") as browser:
            if is_swept:
                await connection.execute("update pgjobs.test_clock set shift = shift + '2 minutes'")
                await queue.sweep("workers")
            else:
                async with listening(base, "ada") as ear:
                    await ear.ask("join_job_room", job_name=JOB, worker_id=worker)
            failed = await browser.hears_status(task["id"], "failed")
            await eventually(lambda: browser.named("jobs_invalidate"))
            told.append((failed["error"], failed["worker_id"] == worker, {name for name, _ in browser.heard}))
    assert told[0] == told[1]
    assert told[0][0] == "Worker disconnected"
