"""Every list, page, command, metric and feed over the table of hostile rows, before and after it was worked off."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import asyncpg
import pytest

from pgjobs import Jobs, Worker
from pgjobs.contrib.manager import JobManager
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.sync import Queue as SyncQueue
from tests.surfaces.cli.warm import run
from tests.surfaces.ears import listening
from tests.surfaces.hostile.rows import CATEGORY, JOB, ROOM, UNREADABLE, Scene
from tests.surfaces.rest_server import Api, token_of
from tests.surfaces.test_events_stream import streaming


@pytest.fixture(params=["as it is", "worked off"])
async def staged(request: pytest.FixtureRequest, queue: Queue, scene: Scene) -> AsyncIterator[Scene]:
    """The rows, and the rows after a worker and sweeps have been at them."""
    if request.param == "worked off":
        jobs = Jobs(queue)

        @jobs.task(name="Work", room=ROOM, category=CATEGORY, max_attempts=3, backoff_base=timedelta(0))
        async def work(a: Any = None, n: int | None = None) -> Any:
            return a if n is None else n

        await Worker(queue, jobs).run_until_empty()
        assert await sweep_errors(queue) == {}
    yield scene
    assert [rule for rule in await queue.check() if rule.violations] == []


async def sweep_errors(queue: Queue) -> dict[str, str]:
    """Steps of a sweep that could not be taken."""
    return {step.swept: step.error for step in await queue.sweep() if step.error}


async def test_every_verb_reads_on(queue: Queue, staged: Scene):
    for call in (
        queue.list_jobs(include_archived=True, page_size=500),
        queue.list_workers(page_size=500),
        queue.list_schedules(page_size=500),
        queue.list_tokens(),
        JobManager(queue).list_jobs(limit=500),
        queue.overview(),
        queue.findings(),
        queue.top(),
        queue.jobs_status(),
        queue.workers_status(),
        queue.providers_status(),
        queue.throughput(),
        queue.errors(),
        queue.running(),
        queue.waiting(),
        queue.scheduled_tasks(),
        queue.failed(),
        queue.stuck(),
        queue.storage(),
        queue.blockers(),
        queue.find_tasks(page_size=200),
        queue.count_found_tasks(),
        queue.find_tasks(matching="x"),
        queue.show_workers(),
        queue.show_database(),
        queue.show_tasks(ROOM),
        queue.count_tasks(ROOM),
        queue.list_metrics(),
        queue.prune_tasks(dry_run=True),
        queue.mark_waiting(job_ids=[1]),
        queue.check(),
    ):
        await call
    seen: set[int] = set()
    before = None
    while page := await queue.list_tasks(room=ROOM, before=before, page_size=50):
        seen.update(task.id for task in page)
        before = page[-1].id
    assert seen >= {*staged.hostile.values(), *staged.neighbours}
    for name, number in staged.hostile.items():
        task = await queue.get_task(number)
        json.dumps([task.payload, task.result, task.progress]), name
        await queue.list_attempts(number)
        await queue.list_task_events(number)
        await queue.why(number)
        await queue.inspect_task(task.uuid)
        await queue.show_task(task.uuid)
        if task.is_ended:
            await queue.wait_for(number, 1)


async def test_the_feed_goes_on_behind_them(queue: Queue, staged: Scene):
    after, quantity = None, 0
    while events := await queue.list_events(after, page_size=100):
        after = events[-1].cursor
        quantity += len(events)
    assert quantity >= len(staged.hostile) // 4
    assert await sweep_errors(queue) == {}


async def test_a_synchronous_queue_reads_on(database_url: str, staged: Scene):
    def read() -> None:
        with SyncQueue.connect(database_url) as queue:
            for number in staged.hostile.values():
                queue.get_task(number)
                queue.list_attempts(number)
            assert queue.list_tasks(room=ROOM, page_size=500)
            assert queue.list_events(page_size=500)
            assert queue.list_jobs(include_archived=True, page_size=500)
            assert queue.list_workers(page_size=500)
            queue.operators.overview()

    await asyncio.to_thread(read)


async def test_claims_by_every_door_pass_them_by(queue: Queue, database_url: str, scene: Scene):
    manager = JobManager(queue)
    taken: list[int] = []
    while leases := await queue.claim_tasks(
        holder="me", lease=timedelta(minutes=5), in_room=ROOM, quantity=7
    ):
        taken += [lease.task_id for lease in leases]
        taken += [job.id for job in await manager.acquire_jobs(ROOM, CATEGORY, 60, "me too", 7)]

        def claim() -> list[int]:
            with SyncQueue.connect(database_url) as blocking:
                claimed = blocking.claim_tasks(
                    holder="me three", lease=timedelta(minutes=5), in_room=ROOM, quantity=7
                )
                return [lease.task_id for lease in claimed]

        taken += await asyncio.to_thread(claim)
    assert set(scene.neighbours) <= set(taken)


async def test_every_page_of_the_api_is_answered(
    ada: Api, queue: Queue, staged: Scene, operator: asyncpg.Connection
):
    root = Api(str(ada.base_url), token_of("root", is_superuser=True))
    paths = [
        "overview",
        "throughput",
        "findings",
        "database",
        "tasks?limit=200",
        "tasks/count",
        "jobs?limit=200",
    ]
    paths += [
        "jobs?include_archived=true&limit=200",
        "workers/status?limit=200",
        "providers/status",
        "workers?limit=200",
    ]
    paths += [
        "schedules?limit=200",
        "tasks?text=x&limit=200",
        "tasks?owner=..",
        "/metrics",
        "/readyz",
        "/v1/me",
    ]
    paths += [
        "/api/maintenance/incomplete-cleanup",
        "tasks?since=2020-01-01T00:00:00Z&until=2999-01-01T00:00:00Z",
    ]
    for room in [ROOM, *staged.rooms]:
        written = quote(room, safe="")
        paths += [f"rooms/{written}/{noun}?limit=200" for noun in ("tasks", "jobs", "workers", "providers")]
        paths += [f"tasks?room={written}"]
    for job in [JOB, *staged.jobs]:
        written = quote(job, safe="")
        room = quote(job.partition(":")[0], safe="")
        paths += [
            f"tasks?job={written}",
            f"rooms/{room}/jobs/{written}",
            f"rooms/{room}/jobs/{written}/tasks",
        ]
    for schedule in await queue.list_schedules(page_size=500):
        paths += [f"schedules/{schedule.uuid}"]
    # A page in turn for each, because there are many.
    pages = itertools.cycle(("details", "attempts", "events", "why"))
    for number in staged.hostile.values():
        task = await operator.fetchval("select pgjobs.task_uuid($1)", number)
        paths += [f"tasks/{task}", f"tasks/{task}/{next(pages)}"]

    def ask() -> dict[str, str]:
        answers = {path: root.get(path) for path in paths}
        return {p: a.text[:300] for p, a in answers.items() if a.status_code >= 500}

    assert await asyncio.to_thread(ask) == {}
    page = (await asyncio.to_thread(root.get, "tasks?limit=100")).json()
    assert len(page["items"]) == 100
    root.close()


async def test_streams_and_sockets_go_on(
    base: str, ada: Api, queue: Queue, operator: asyncpg.Connection, scene: Scene
):
    async with streaming(base) as stream, listening(base, "ada", ROOM) as ear:
        for number in scene.hostile.values():
            await operator.execute(
                "set session_replication_role = replica; "
                "insert into pgjobs.events (at, kind, task_id, job_id, room, status, message, fields) "
                "select case when random() < 0.5 then 'infinity' else '4714-11-24 BC' end::timestamptz, 'failed', t.id, "
                f"t.job_id, t.room, 'failed', 'x', jsonb_build_object('n', 1e5000) from pgjobs.tasks as t where t.id = {number}; "
                "set session_replication_role = origin"
            )
        innocent = await queue.submit_task(JOB, {"n": 1})
        await queue.cancel_task(innocent.task_id, reason="done")
        uuid = str(await operator.fetchval("select pgjobs.task_uuid($1)", innocent.task_id))
        async with asyncio.timeout(30):
            while (await stream.event())["task_id"] != uuid:
                pass
        await ear.hears_status(uuid, "cancelled")


async def test_every_command_answers(
    request: pytest.FixtureRequest,
    queue: Queue,
    database_url: str,
    staged: Scene,
    operator: asyncpg.Connection,
):
    is_worked_off = request.node.callspec.params["staged"] == "worked off"

    def pgjobs(*arguments: object) -> str:
        done = run(*arguments, PGJOBS_DATABASE_URL=database_url)
        assert "Traceback" not in done.stderr, done.stderr[-2000:]
        assert done.returncode in (0, 6), (arguments, done.returncode, done.stderr[-500:])
        return done.stdout

    def ask() -> None:
        for arguments in (
            ("tasks", "list", "--limit", "200"),
            ("tasks", "list", "--limit", "200", "--json"),
            ("jobs", "list"),
            ("jobs", "list", "--json"),
            ("workers", "list"),
            ("workers", "list", "--json"),
            ("schedules", "list"),
            ("schedules", "list", "--json"),
            ("token", "list"),
            ("cleanup", "list"),
            ("top", "--once"),
            ("sweep",),
            ("tasks", "prune", "--dry-run"),
            ("doctor",),
        ):
            assert pgjobs(*arguments)
        for name, number in staged.hostile.items():
            kind = name.partition(":")[0]
            if is_worked_off and (name in UNREADABLE or kind in ("ended", "everything", "labels")):
                shown = pgjobs("tasks", "show", number)
            elif not is_worked_off and kind in ("created", "leased"):
                shown = pgjobs("tasks", "why", number)
            else:
                continue
            assert shown, name
            assert "\x1b" not in shown, name

    await asyncio.to_thread(ask)


async def test_the_manager_lists_and_shows_them(queue: Queue, staged: Scene):
    manager = JobManager(queue)
    jobs = await manager.list_jobs(ROOM, CATEGORY, limit=500)
    assert len(jobs) >= 100
    for number in staged.hostile.values():
        json.dumps((await manager.get_job(number))["payload"])
