"""Finding tasks by filters, and what may be done to them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.errors import Conflict, InvalidArgument, JobNotFound, TaskNotFound
from pgjobs.queue.records import Worker
from pgjobs.queue.server import ServerQueue as Queue
from tests.conformance.homes import Clock
from tests.conformance.stages import STAGES, claim, failed, pending, retrying
from tests.releases import newest_migration

pytestmark = pytest.mark.postgres_only

OTHER = "lab:tests:Other"


async def found(queue: Queue, **filters: Any) -> list[str]:
    """Public ids of every page."""
    ids: list[str] = []
    before = None
    while True:
        page = await queue.find_tasks(**filters, before=before, page_size=2)
        ids += [task["id"] for task in page.found]
        before = page.next
        if before is None:
            return ids


async def uuid_of(queue: Queue, task_id: int) -> str:
    return str((await queue.get_task(task_id)).uuid)


async def test_all_tasks_are_found_the_newest_first(queue: Queue, job: str):
    tasks = [await pending(queue, job) for _ in range(5)]
    assert await found(queue) == [await uuid_of(queue, task.id) for task in reversed(tasks)]


async def test_each_filter_leaves_out_what_does_not_fit(queue: Queue, job: str):
    await queue.register_job(*OTHER.split(":"))
    mine = await queue.submit_task(job, owner="ada", room="lab")
    other = await queue.submit_task(OTHER, owner="bob", room="lab")
    here = await queue.submit_task(job, owner="bob", room="here")
    ids = {name: await uuid_of(queue, task.task_id) for name, task in
           {"mine": mine, "other": other, "here": here}.items()}  # fmt: skip
    assert await found(queue, room="lab") == [ids["other"], ids["mine"]]
    assert await found(queue, job=job) == [ids["here"], ids["mine"]]
    assert await found(queue, job=job, room="lab") == [ids["mine"]]
    assert await found(queue, owner="bob") == [ids["here"], ids["other"]]
    assert await found(queue, owner="bob", room="lab") == [ids["other"]]
    assert await found(queue, status="pending", job=OTHER) == [ids["other"]]
    assert await found(queue, status="failed") == []


@pytest.mark.parametrize("status", STAGES)
async def test_every_status_is_found_by_its_name(queue: Queue, job: str, status: str):
    staged = await STAGES[status](queue, job)
    task = await queue.get_task(staged.id)
    assert await found(queue, status=task.status) == [str(task.uuid)]
    assert await found(queue, status=task.status, job=job) == [str(task.uuid)]
    assert (await queue.count_found_tasks(status=task.status)).total == 1


async def test_times_are_bounds(queue: Queue, job: str, clock: Clock):
    tasks = []
    for _ in range(4):
        tasks.append(await pending(queue, job))
        await clock.advance(minutes=10)
    ids = [await uuid_of(queue, task.id) for task in tasks]
    second = (await queue.get_task(tasks[1].id)).created_at
    third = (await queue.get_task(tasks[2].id)).created_at
    assert await found(queue, since=second) == [ids[3], ids[2], ids[1]]
    assert await found(queue, until=third) == [ids[1], ids[0]]
    assert await found(queue, since=second, until=third) == [ids[1]]
    assert await found(queue, since=third + timedelta(days=1)) == []
    assert (await queue.count_found_tasks(since=second)).total == 3


async def test_a_text_is_found_in_errors_keys_tags_people_and_jobs(queue: Queue, job: str):
    await queue.register_job("lab", "tests", "Needle")
    broken = await failed(queue, job)
    named = await queue.submit_task(job, idempotency_key="order-Needle-7")
    tagged = await queue.submit_task(job, tags=["some", "needle"])
    owned = await queue.submit_task(job, owner="needle-maker")
    of_job = await queue.submit_task("lab:tests:Needle", room="lab")
    await pending(queue, job)
    ids = [await uuid_of(queue, task.task_id) for task in (of_job, owned, tagged, named)]
    assert await found(queue, matching="needle") == ids
    assert await found(queue, matching="BROKEN") == [await uuid_of(queue, broken.id)]
    assert (await queue.count_found_tasks(matching="needle")).total == 4


async def test_a_text_is_found_in_what_is_retried(queue: Queue, job: str):
    task = await retrying(queue, job)
    assert await found(queue, matching="broken") == [await uuid_of(queue, task.id)]


async def test_a_task_is_found_by_its_id_or_the_end_of_it(queue: Queue, job: str):
    [first, _] = [await pending(queue, job), await pending(queue, job)]
    uuid = await uuid_of(queue, first.id)
    assert await found(queue, matching=uuid) == [uuid]
    assert await found(queue, matching=uuid[-8:]) == [uuid]
    assert await found(queue, matching=uuid, status="failed") == []
    assert await found(queue, matching=str(uuid4())) == []


async def test_what_cannot_be_is_refused(queue: Queue, job: str):
    with pytest.raises(InvalidArgument):
        await queue.find_tasks(status="odd")
    with pytest.raises(InvalidArgument):
        await queue.find_tasks(page_size=501)
    with pytest.raises(JobNotFound):
        await queue.find_tasks(job="@global:tests:Missing")
    with pytest.raises(TaskNotFound):
        await queue.inspect_task(uuid4())


VERBS = {"retry": "retry_task", "cancel": "cancel_task", "ignore": "ignore_task", "unignore": "unignore_task"}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("status", STAGES)
async def test_a_task_allows_just_what_is_not_refused(queue: Queue, job: str, status: str, verb: str):
    staged = await STAGES[status](queue, job)
    task = await queue.get_task(staged.id)
    allows = (await queue.inspect_task(task.uuid)).document["allows"]
    [listed] = (await queue.find_tasks()).found
    assert listed["allows"] == allows
    act = getattr(queue, VERBS[verb])
    if verb in allows:
        await act(staged.id)
    else:
        with pytest.raises(Conflict):
            await act(staged.id)


async def test_an_inspected_task_shows_everything(queue: Queue, job: str, worker: Worker):
    submitted = await queue.submit_task(job, {"angle": 90}, owner="ada", tags=["red"], priority=3)
    uuid = (await queue.get_task(submitted.task_id)).uuid
    before = await queue.inspect_task(uuid)
    assert (before.payload, before.result, before.queue_position) == ({"angle": 90}, None, 1)
    assert before.document["tags"] == ["red"]
    assert (before.document["owner"], before.document["priority"]) == ("ada", 3)
    lease = await claim(queue, job, worker_id=worker.id, holder=None, start=True)
    await queue.report_progress([lease], [{"done": 1, "total": 4}])
    during = await queue.inspect_task(uuid)
    assert during.document["progress"] == {"done": 1, "total": 4}
    assert during.document["worker_id"] == str(worker.id)
    await queue.complete_task(lease, {"ok": True})
    after = await queue.inspect_task(uuid)
    assert (after.document["status"], after.result, after.queue_position) == ("completed", {"ok": True}, None)


async def test_workers_show_what_they_serve_and_hold(queue: Queue, job: str, worker: Worker, clock: Clock):
    tasks = [await pending(queue, job) for _ in range(3)]
    await queue.claim_tasks(worker.id, quantity=3)
    [shown] = await queue.show_workers(few=2)
    assert (shown.id, shown.name, shown.is_alive) == (worker.id, "tester", True)
    assert (shown.serves, shown.job_count, shown.task_count) == ([job], 1, 3)
    assert [task["id"] for task in shown.holds] == [await uuid_of(queue, task.id) for task in tasks[:2]]
    assert {task["job"] for task in shown.holds} == {job}
    await clock.advance(minutes=5)
    lively = await queue.register_worker("a lively one")
    assert [(seen.id, seen.is_alive, seen.holds) for seen in await queue.show_workers()][1:] == [
        (lively.id, True, [])
    ]


async def test_a_provider_forgets_its_own_answers_only(queue: Queue):
    providers = [
        (await queue.register_provider("lab", "files", name)).provider_id for name in ("disk", "tape")
    ]
    for provider in providers:
        for question in ("a", "b"):
            key = f"provider-result:{provider}:{question}"
            await queue.store_read(key, b"data", timedelta(minutes=5))
    assert await queue.invalidate_provider("lab:files:disk", actor="ada", is_superuser=True) == 2
    assert await queue.invalidate_provider("lab:files:disk", actor="ada", is_superuser=True) == 0
    assert await queue.invalidate_provider(str(providers[1])) == 2


async def test_the_database_tells_where_it_lives(queue: Queue):
    facts = await queue.show_database()
    dialect = facts.server.split()[0].lower()
    assert facts.version == newest_migration(dialect)
    assert facts.total_bytes > 0
