"""Workers: heartbeats, and what becomes of their work when they leave."""

from __future__ import annotations

from uuid import uuid4

import pytest

from pgjobs.errors import Forbidden, InvalidArgument, JobNotFound, LeaseLost, NotFound, WorkerNotFound
from pgjobs.queue.records import Retirement
from tests.conformance.stages import ACKNOWLEDGEMENTS, MINUTE, claim, claim_all


async def test_a_registered_worker_is_listed_alive(queue, clock, job):
    worker = await queue.register_worker("night shift", jobs=[job], actor="ada")
    shown = (await queue.list_workers())[0]
    assert (shown.id, shown.name, shown.owner) == (worker.id, "night shift", "ada")
    assert (shown.job_count, shown.is_alive) == (1, True)
    assert shown.registered_at == shown.last_heartbeat_at == worker.registered_at
    assert (await queue.get_job(job)).workers == [worker.id]


async def test_workers_have_ids_of_their_own(queue):
    assert len({(await queue.register_worker("same name")).id for _ in range(5)}) == 5


async def test_a_job_named_twice_is_linked_once(queue, job):
    worker = await queue.register_worker(jobs=[job, str((await queue.get_job(job)).uuid)])
    assert [shown.job_count for shown in await queue.list_workers()] == [1]
    assert (await queue.get_job(job)).workers == [worker.id]


async def test_a_worker_with_an_unknown_job_is_not_registered(queue, job, nothing_changes):
    async with nothing_changes():
        with pytest.raises(JobNotFound):
            await queue.register_worker(jobs=[job, "@global:tests:Nothing"])


@pytest.mark.parametrize(("length", "is_fine"), [(200, True), (201, False)])
async def test_a_worker_has_a_short_name(queue, length, is_fine, nothing_changes):
    if is_fine:
        assert (await queue.register_worker("x" * length)).name == "x" * length
        return
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.register_worker("x" * length)


async def test_a_heartbeat_is_remembered(queue, clock, worker):
    await clock.advance(seconds=30)
    beat = await queue.heartbeat_worker(worker.id)
    assert (beat.last_heartbeat_at - worker.last_heartbeat_at).total_seconds() >= 30
    assert beat.registered_at == worker.registered_at
    assert (await queue.list_workers())[0].last_heartbeat_at == beat.last_heartbeat_at


async def test_a_silent_worker_shows_as_not_alive(queue, clock, worker):
    await clock.advance(seconds=61)
    assert [shown.is_alive for shown in await queue.list_workers()] == [False]
    await queue.heartbeat_worker(worker.id)
    assert [shown.is_alive for shown in await queue.list_workers()] == [True]


async def test_a_claim_counts_as_a_sign_of_life(queue, clock, worker):
    await clock.advance(seconds=50)
    await queue.claim_tasks(worker.id)
    await clock.advance(seconds=50)
    await queue.sweep()
    assert [shown.id for shown in await queue.list_workers()] == [worker.id]


@pytest.mark.parametrize("verb", ["heartbeat_worker", "retire_worker", "claim_tasks"])
async def test_a_worker_that_was_never_registered_is_not_found(queue, verb, nothing_changes):
    async with nothing_changes():
        with pytest.raises(WorkerNotFound):
            await getattr(queue, verb)(uuid4())


@pytest.mark.parametrize("verb", ["heartbeat_worker", "retire_worker"])
async def test_nobody_speaks_for_the_worker_of_somebody_else(queue, verb, nothing_changes):
    worker = await queue.register_worker(actor="ada")
    async with nothing_changes():
        with pytest.raises(Forbidden):
            await getattr(queue, verb)(worker.id, actor="eve")
    await getattr(queue, verb)(worker.id, actor="ada")


async def test_a_superuser_retires_any_worker(queue):
    worker = await queue.register_worker(actor="ada")
    await queue.retire_worker(worker.id, actor="root", is_superuser=True)
    assert await queue.list_workers() == []


async def test_a_retired_worker_is_gone(queue, job, worker):
    assert await queue.retire_worker(worker.id) == Retirement(failed=0, retried=0, retired_jobs=1)
    assert await queue.list_workers() == []
    for verb in ("heartbeat_worker", "retire_worker", "claim_tasks"):
        with pytest.raises(NotFound):
            await getattr(queue, verb)(worker.id)


@pytest.mark.parametrize("start", [False, True])
async def test_work_of_a_retired_worker_is_retried_if_allowed(queue, clock, job, worker, start):
    ids = [(await queue.submit_task(job)).task_id for _ in range(2)]
    once = (await queue.submit_task(job, max_attempts=1)).task_id
    await queue.claim_tasks(worker.id, quantity=3, start=start)
    assert await queue.retire_worker(worker.id) == Retirement(failed=1, retried=2, retired_jobs=0)
    for task_id in ids:
        task = await queue.get_task(task_id)
        assert (task.status, task.attempt, task.error) == ("pending", 1, "Worker disconnected")
        assert task.error_kind == "worker_disconnected"
    task = await queue.get_task(once)
    assert (task.status, task.error, task.worker_id) == ("failed", "Worker disconnected", worker.id)
    await clock.advance(seconds=11)
    assert [lease.task_id for lease in await claim_all(queue, job)] == ids


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
@pytest.mark.parametrize("attempts", [1, 3])
async def test_a_retired_worker_acknowledges_nothing(queue, job, worker, *, verb, attempts, nothing_changes):
    await queue.submit_task(job, max_attempts=attempts)
    held = (await queue.claim_tasks(worker.id, start=True))[0]
    await queue.retire_worker(worker.id)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, held))[0]
    assert answer.problem == LeaseLost.sqlstate


async def test_what_a_retired_worker_had_finished_stays(queue, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    await queue.complete_task((await queue.claim_tasks(worker.id))[0], "done")
    await queue.retire_worker(worker.id)
    task = await queue.get_task(submitted)
    assert (task.status, task.result, task.worker_id) == ("completed", "done", worker.id)


async def test_work_of_other_workers_goes_on(queue, job, worker):
    other = await queue.register_worker(jobs=[job])
    await queue.submit_tasks(job, [{}] * 2)
    await queue.claim_tasks(worker.id)
    held = (await queue.claim_tasks(other.id))[0]
    await queue.retire_worker(worker.id)
    assert (await queue.complete_task(held)).status == "completed"


async def test_a_job_nobody_serves_any_more_is_retired(queue, job, worker):
    assert (await queue.retire_worker(worker.id)).retired_jobs == 1
    assert await queue.list_jobs() == []
    assert (await queue.get_job(job)).deleted_at is not None


async def test_a_job_with_another_worker_stays(queue, job, worker):
    other = await queue.register_worker(jobs=[job])
    assert (await queue.retire_worker(worker.id)).retired_jobs == 0
    assert (await queue.get_job(job)).workers == [other.id]
    assert (await queue.get_job(job)).deleted_at is None


@pytest.mark.parametrize("delay", [None, MINUTE])
async def test_a_job_with_pending_tasks_stays(queue, job, worker, delay):
    await queue.submit_task(job, delay=delay)
    assert (await queue.retire_worker(worker.id)).retired_jobs == 0
    assert (await queue.get_job(job)).deleted_at is None


async def test_a_job_whose_tasks_have_ended_is_retired_and_they_stay_readable(queue, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    await queue.complete_task((await queue.claim_tasks(worker.id))[0])
    assert (await queue.retire_worker(worker.id)).retired_jobs == 1
    assert (await queue.get_task(submitted)).job == job
    assert [task.id for task in await queue.list_tasks(job=job)] == [submitted]


async def test_an_internal_job_is_never_retired_with_its_worker(queue):
    await queue.register_job("@internal", "tests", "Secret")
    worker = await queue.register_worker(jobs=["@internal:tests:Secret"])
    assert (await queue.retire_worker(worker.id)).retired_jobs == 0
    assert (await queue.get_job("@internal:tests:Secret")).deleted_at is None


async def test_a_worker_that_serves_many_jobs_retires_those_it_leaves_alone(queue):
    names = [f"lab:tests:Job {number}" for number in range(4)]
    for name in names:
        await queue.register_job(*name.split(":"))
    worker = await queue.register_worker(jobs=names)
    await queue.register_worker(jobs=names[:1])
    await queue.submit_task(names[1])
    assert (await queue.retire_worker(worker.id)).retired_jobs == 2
    assert sorted(shown.full_name for shown in await queue.list_jobs()) == names[:2]


async def test_leases_of_holders_that_are_not_registered_need_no_heartbeats(queue, clock, job, worker):
    await queue.submit_task(job)
    held = await claim(queue, job, lease=60 * MINUTE)
    await clock.advance(minutes=30)
    await queue.sweep()
    assert (await queue.complete_task(held)).status == "completed"


@pytest.mark.parametrize(
    ("room", "expected"),
    [(None, "gil"), ("lab", "gil"), ("office", "gi"), ("@global", "gi"), ("@internal", "gi")],
)
async def test_a_room_sees_the_workers_of_its_jobs(queue, room, expected):
    for letter, scope in (("g", "@global"), ("i", "@internal"), ("l", "lab")):
        await queue.register_job(scope, "tests", "Work")
        await queue.register_worker(letter, jobs=[f"{scope}:tests:Work"])
    await queue.register_worker("idle")
    shown = {worker.name for worker in await queue.list_workers(room)}
    assert shown - {"idle"} == set(expected)
    assert ("idle" in shown) == (room is None)


async def test_a_lost_connection_takes_a_worker_along_that_has_not_joined_by_another(queue, worker):
    lost, other = uuid4(), uuid4()
    await queue.heartbeat_worker(worker.id, connection_id=lost)
    await queue.heartbeat_worker(worker.id, connection_id=other)
    # A heartbeat by no connection does not disconnect.
    await queue.heartbeat_worker(worker.id)
    await queue.retire_worker(worker.id, connection_id=lost)
    assert [left.id for left in await queue.list_workers()] == [worker.id]
    await queue.retire_worker(worker.id, connection_id=other)
    assert await queue.list_workers() == []
