"""Every reader of durable work, of keys and of workflows survives what SQL can be brought to store there."""

from __future__ import annotations

import asyncio
import itertools
import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import asyncpg
import pytest

from pgjobs import Jobs, TaskContext, Worker
from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.cli.warm import run
from tests.surfaces.hostile.durable_rows import SHARED, DurableScene, stage_durable
from tests.surfaces.hostile.rows import CATEGORY, JOB, ROOM
from tests.surfaces.rest_server import Api, token_of


@pytest.fixture
async def durable(queue: Queue, operator: asyncpg.Connection) -> DurableScene:
    await operator.execute(
        "select pgjobs.register_job($1, $2, 'Work', max_attempts => 3, keep => true)", ROOM, CATEGORY
    )
    return await stage_durable(operator)


async def test_every_verb_reads_on(queue: Queue, durable: DurableScene):
    assert len(durable.tasks) >= 40
    for number in durable.tasks.values():
        steps, lines = await queue.list_steps(number), await queue.list_log(number)
        json.dumps([step.result for step in steps])
        assert len(steps) == len(lines)
        await queue.list_log(number, newest=True)
        await queue.list_parents(number)
        task = await queue.get_task(number)
        json.dumps(task.progress)
        await queue.why(number)
        await queue.show_why(task.uuid)
        await queue.inspect_task(task.uuid)
    seen: list[str | None] = [None]
    while page := await queue.list_keys(SHARED, after=seen[-1], page_size=3):
        seen += [row.key for row in page]
    assert len(seen) - 1 == sum(name.startswith("key: ") for name in durable.tasks)
    assert (await queue.get_sharing(SHARED)) is not None
    assert len(await queue.list_workflows(ROOM, page_size=500)) == len(durable.workflows)
    for workflow in durable.workflows:
        found = await queue.get_workflow(workflow)
        assert [w.id for w in await queue.list_workflows(name=found.name)] == [workflow]
        json.dumps(await queue.get_workflow_graph(workflow))
        assert len(await queue.list_workflow_tasks(workflow)) == 2
    for call in (queue.overview(), queue.findings(), queue.show_findings(), queue.top(), queue.find_tasks()):
        await call


async def test_a_worker_goes_on(queue: Queue, durable: DurableScene):
    jobs = Jobs(queue)
    ran: list[Any] = []

    @jobs.task(name="Work", room=ROOM, category=CATEGORY, max_attempts=2, backoff_base=timedelta(0))
    async def work(task: TaskContext, n: int | None = None) -> Any:
        task.log.info("reads what was kept")
        ran.append(await task.step("fetched", lambda: 1))
        return n

    @jobs.task(name="Shared", room=ROOM, category=CATEGORY)
    async def share() -> None:
        """Serves the keys."""

    await Worker(queue, jobs).run_until_empty()
    assert set(ran) == {1}, {(await queue.get_task(number)).error for number in durable.tasks.values()}
    ended = {name: await queue.get_task(number) for name, number in durable.tasks.items()}
    assert {name: task.error for name, task in ended.items() if task.status != "completed"} == {}
    assert [step.error for step in await queue.sweep() if step.error] == []
    await queue.prune_tasks(dry_run=True)
    assert [rule for rule in await queue.check() if rule.violations] == []


async def test_every_page_of_the_api_is_answered(ada: Api, queue: Queue, durable: DurableScene):
    root = Api(str(ada.base_url), token_of("root", is_superuser=True))
    paths = []
    for job in (SHARED, JOB):
        job_id = next(found.uuid for found in await queue.list_jobs(ROOM) if found.full_name == job)
        paths += [f"jobs/{job_id}/keys", f"jobs/{job_id}/sharing", f"jobs/{quote(job, safe='')}/details"]
    paths += [f"tasks?text={quote('second', safe='')}&limit=200", "overview", "findings", "/metrics"]
    pages = itertools.cycle(("details", "why", "events"))
    for number in durable.tasks.values():
        uuid = (await queue.get_task(number)).uuid
        paths += [f"tasks/{uuid}/log", f"tasks/{uuid}/log?newest=true", f"tasks/{uuid}/{next(pages)}"]

    def ask() -> dict[str, tuple[int, str]]:
        answers = {path: root.get(path) for path in paths}
        return {p: (a.status_code, a.text[:300]) for p, a in answers.items() if not a.is_success}

    assert await asyncio.to_thread(ask) == {}
    root.close()


async def test_every_command_answers(database_url: str, queue: Queue, durable: DurableScene):
    def pgjobs(*arguments: object) -> None:
        done = run(*arguments, PGJOBS_DATABASE_URL=database_url)
        assert "Traceback" not in done.stderr, done.stderr[-2000:]
        assert done.returncode in (0, 6), (arguments, done.returncode, done.stderr[-500:])
        assert done.stdout, arguments
        assert "\x1b" not in done.stdout, arguments

    listed: list[tuple[str, ...]] = [
        ("workflows", "list"),
        ("jobs", "keys", SHARED),
        ("jobs", "limit", SHARED),
        ("doctor",),
    ]
    listed += [("workflows", "list", "--json"), ("jobs", "keys", SHARED, "--json")]

    def ask() -> None:
        for arguments in listed:
            pgjobs(*arguments)
        for workflow in durable.workflows[::4]:
            pgjobs("workflows", "show", workflow)
        # One of the two for each other task, because there are many.
        told = [number for name, number in durable.tasks.items() if name.startswith(("said", "kept"))]
        for command, number in zip(itertools.cycle(("log", "show")), told[::2]):
            pgjobs("tasks", command, number)

    await asyncio.to_thread(ask)
