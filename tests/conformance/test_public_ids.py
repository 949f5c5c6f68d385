"""Public ids: a UUID for outsiders that leads back to its task, and nowhere else."""

from __future__ import annotations

from itertools import pairwise
from uuid import UUID, uuid4

import pytest

from pgjobs.errors import TaskNotFound
from tests.conformance.stages import STAGES


async def test_a_public_id_leads_to_its_task(queue, job):
    ids = [item.task_id for item in await queue.submit_tasks(job, [{"n": n} for n in range(50)])]
    tasks = [await queue.get_task(task_id) for task_id in ids]
    assert len({task.uuid for task in tasks}) == 50
    for task in tasks[::10]:
        assert await queue.get_task(task_uuid=task.uuid) == task


async def test_lists_and_single_looks_show_the_same_public_id(queue, job):
    submitted = (await queue.submit_task(job)).task_id
    assert (await queue.list_tasks())[0].uuid == (await queue.get_task(submitted)).uuid


@pytest.mark.parametrize("stage", STAGES)
async def test_a_public_id_never_changes(queue, job, stage):
    task = await STAGES[stage](queue, job)
    uuid = (await queue.get_task(task.id)).uuid
    await queue.register_job(*job.split(":"), max_attempts=9)
    assert (await queue.get_task(task_uuid=uuid)).id == task.id


async def test_a_public_id_is_a_well_formed_uuid_of_version_8(queue, job):
    await queue.submit_tasks(job, [{}] * 20)
    for task in await queue.list_tasks():
        assert isinstance(task.uuid, UUID)
        assert (task.uuid.version, task.uuid.variant) == (8, "specified in RFC 4122")


async def test_a_public_id_does_not_show_the_number(queue, job):
    await queue.submit_tasks(job, [{}] * 20)
    numbers = [task.uuid.int for task in await queue.list_tasks()]
    # Neighbours in number are no neighbours in public.
    assert all(abs(one - other) > 2**64 for one, other in pairwise(numbers))


async def test_a_stranger_among_uuids_is_not_found(queue, job):
    await queue.submit_task(job)
    for stranger in (uuid4(), UUID(int=0), UUID(int=2**128 - 1), UUID(int=1)):
        with pytest.raises(TaskNotFound):
            await queue.get_task(task_uuid=stranger)


async def test_a_public_id_with_any_bit_changed_is_not_found(queue, job):
    await queue.submit_tasks(job, [{}] * 20)
    uuid = (await queue.list_tasks())[0].uuid
    for bit in range(128):
        with pytest.raises(TaskNotFound):
            await queue.get_task(task_uuid=UUID(int=uuid.int ^ (1 << bit)))


async def test_no_id_at_all_finds_nothing(queue, job):
    await queue.submit_task(job)
    with pytest.raises(TaskNotFound):
        await queue.get_task()


async def test_tokens_and_public_ids_of_jobs_are_no_ids_of_tasks(queue, job):
    task = await STAGES["claimed"](queue, job)
    for uuid in (task.held.token, (await queue.get_job(job)).uuid):
        with pytest.raises(TaskNotFound):
            await queue.get_task(task_uuid=uuid)
