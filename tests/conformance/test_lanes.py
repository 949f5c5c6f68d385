"""Many jobs: who may claim what."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import Forbidden, InvalidArgument, WorkerNotFound
from tests.conformance.stages import MINUTE, claim_all


async def _register(queue, *names):
    for name in names:
        await queue.register_job(*name.split(":", 2))


async def test_a_worker_claims_tasks_of_the_jobs_it_serves_only(queue, job, worker):
    await _register(queue, "@global:tests:Other")
    await queue.submit_task("@global:tests:Other")
    served = (await queue.submit_task(job)).task_id
    assert [lease.task_id for lease in await queue.claim_tasks(worker.id, quantity=10)] == [served]


async def test_a_worker_without_jobs_gets_nothing(queue, job):
    await queue.submit_task(job)
    idle = await queue.register_worker("idle")
    assert await queue.claim_tasks(idle.id) == []


async def test_a_worker_linked_later_gets_tasks_that_wait_already(queue, job):
    waiting = (await queue.submit_task(job)).task_id
    worker = await queue.register_worker()
    await queue.register_job(*job.split(":"), worker_id=worker.id)
    assert [lease.task_id for lease in await queue.claim_tasks(worker.id)] == [waiting]


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({"in_room": "@global"}, ["@global:a:X", "@global:a:Y", "@global:b:X"]),
        ({"in_room": "@global", "in_category": "a"}, ["@global:a:X", "@global:a:Y"]),
        ({"in_room": "lab", "in_category": "a"}, ["lab:a:X"]),
        ({"in_room": "lab", "in_category": "b"}, []),
        ({"in_room": "nowhere"}, []),
        ({}, []),
    ],
)
async def test_a_claim_can_name_a_room_and_a_category(queue, wish, expected):
    names = ["@global:a:X", "@global:a:Y", "@global:b:X", "lab:a:X"]
    await _register(queue, *names)
    for name in names:
        await queue.submit_task(name)
    leases = await queue.claim_tasks(holder="me", lease=MINUTE, quantity=10, **wish)
    assert sorted(lease.job for lease in leases) == expected


async def test_a_claim_can_name_jobs_by_number(queue):
    names = ["@global:a:X", "@global:a:Y", "@global:a:Z"]
    await _register(queue, *names)
    for name in names:
        await queue.submit_task(name)
    wanted = [(await queue.get_job(name)).id for name in names[1:]]
    leases = await queue.claim_tasks(holder="me", lease=MINUTE, quantity=10, job_ids=[*wanted, 999_999])
    assert sorted(lease.job for lease in leases) == names[1:]


async def test_an_empty_set_of_jobs_yields_nothing(queue, job):
    await queue.submit_task(job)
    assert await queue.claim_tasks(holder="me", lease=MINUTE, job_ids=[]) == []


@pytest.mark.parametrize(("stop", "go"), [("pause_job", "resume_job"), ("archive_job", "unarchive_job")])
async def test_a_paused_or_archived_job_yields_nothing_until_it_is_back(queue, job, worker, stop, go):
    await queue.submit_task(job)
    await getattr(queue, stop)(job)
    assert await queue.claim_tasks(worker.id) == []
    assert await claim_all(queue, job) == []
    await getattr(queue, go)(job)
    assert len(await queue.claim_tasks(worker.id)) == 1


@pytest.mark.parametrize("stop", ["pause_job", "archive_job"])
async def test_work_on_a_paused_or_archived_job_can_be_finished(queue, job, worker, stop):
    await queue.submit_task(job)
    lease = (await queue.claim_tasks(worker.id, lease=MINUTE))[0]
    await getattr(queue, stop)(job)
    await queue.start_task(lease)
    assert (await queue.renew_task(lease, 2 * MINUTE)).until > lease.until
    assert (await queue.complete_task(lease)).status == "completed"


async def test_what_waited_in_an_archived_job_goes_on_in_its_place(queue, job):
    ids = [(await queue.submit_task(job)).task_id for _ in range(3)]
    await queue.archive_job(job)
    await queue.unarchive_job(job)
    assert [lease.task_id for lease in await claim_all(queue, job)] == ids


async def test_hundred_lanes_are_emptied_each_task_once_most_urgent_first(queue):
    names = [f"@global:tests:Job {number}" for number in range(25)]
    await _register(queue, *names)
    worker = await queue.register_worker(jobs=names)
    submitted = set()
    for priority in (7, 5, 3, 1):
        for name in names:
            submitted.add((await queue.submit_task(name, priority=priority)).task_id)
    claimed = []
    while leases := await queue.claim_tasks(worker.id, quantity=7, lease=MINUTE):
        claimed += leases
    assert [lease.priority for lease in claimed] == sorted(lease.priority for lease in claimed)
    assert len(claimed) == len(submitted)
    assert {lease.task_id for lease in claimed} == submitted


async def test_an_emptied_lane_does_not_hide_the_others(queue, job):
    await queue.submit_task(job, priority=1)
    patient = (await queue.submit_task(job, priority=9)).task_id
    assert len(await claim_all(queue, job, quantity=1)) == 1
    assert [lease.task_id for lease in await claim_all(queue, job)] == [patient]


async def test_a_task_submitted_into_an_emptied_lane_is_found(queue, job):
    for _ in range(5):
        submitted = (await queue.submit_task(job)).task_id
        assert [lease.task_id for lease in await claim_all(queue, job)] == [submitted]
        assert await claim_all(queue, job) == []


async def test_remote_claimers_are_never_handed_internal_tasks(queue):
    await _register(queue, "@internal:tests:Secret", "@global:tests:Open")
    worker = await queue.register_worker(jobs=["@internal:tests:Secret", "@global:tests:Open"])
    await queue.submit_task("@internal:tests:Secret", priority=1)
    await queue.submit_task("@global:tests:Open")
    leases = await queue.claim_tasks(worker.id, quantity=10, remote=True)
    assert [lease.job for lease in leases] == ["@global:tests:Open"]
    leases = await queue.claim_tasks(worker.id, quantity=10)
    assert [lease.job for lease in leases] == ["@internal:tests:Secret"]


@pytest.mark.parametrize("form", ["in_room", "job_ids"])
async def test_remote_claimers_cannot_name_internal_jobs_either(queue, form):
    secret = await queue.register_job("@internal", "tests", "Secret")
    wish = {"in_room": "@internal"} if form == "in_room" else {"job_ids": [secret.job_id]}
    await queue.submit_task("@internal:tests:Secret")
    assert await queue.claim_tasks(holder="me", lease=MINUTE, remote=True, **wish) == []
    assert len(await queue.claim_tasks(holder="me", lease=MINUTE, **wish)) == 1


@pytest.mark.parametrize(
    "claimer",
    [
        {},
        {"holder": "me"},
        {"lease": MINUTE},
        {"holder": "", "lease": MINUTE},
        {"holder": "x" * 201, "lease": MINUTE},
    ],
    ids=["nothing", "no lease", "no holder", "empty holder", "long holder"],
)
async def test_a_claim_without_a_registered_worker_names_a_holder_and_a_lease(
    queue, job, claimer, nothing_changes
):
    await queue.submit_task(job)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.claim_tasks(in_room="@global", **claimer)


async def test_a_task_names_the_holder_that_is_not_registered(queue, job):
    submitted = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(holder="cron on box 7", lease=MINUTE, in_room="@global")
    task = await queue.get_task(submitted)
    assert (task.holder, task.worker_id, task.status) == ("cron on box 7", None, "claimed")


async def test_a_worker_that_does_not_exist_claims_nothing(queue, job, worker, nothing_changes):
    await queue.submit_task(job)
    await queue.retire_worker(worker.id)
    async with nothing_changes():
        with pytest.raises(WorkerNotFound):
            await queue.claim_tasks(worker.id)


async def test_nobody_claims_with_the_worker_of_somebody_else(queue, job, nothing_changes):
    worker = await queue.register_worker(jobs=[job], actor="ada")
    await queue.submit_task(job)
    async with nothing_changes():
        with pytest.raises(Forbidden):
            await queue.claim_tasks(worker.id, actor="eve")
    assert len(await queue.claim_tasks(worker.id, actor="ada")) == 1


@pytest.mark.parametrize(("start", "status"), [(None, "claimed"), (False, "claimed"), (True, "running")])
async def test_a_claim_may_start_the_work_at_once(queue, job, worker, start, status):
    submitted = (await queue.submit_task(job)).task_id
    lease = (await queue.claim_tasks(worker.id, start=start, lease=timedelta(seconds=30)))[0]
    task = await queue.get_task(submitted)
    assert task.status == status
    assert task.started_at == (lease.claimed_at if start else None)
