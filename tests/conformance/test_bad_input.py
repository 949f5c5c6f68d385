"""Bad input at every verb: a clear error, and nothing left behind."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.errors import (
    InvalidArgument,
    LeaseLost,
    PayloadInvalid,
    PayloadTooLarge,
    TaskNotFound,
)
from tests.conformance.stages import ACKNOWLEDGEMENTS, MINUTE, claim, pending, running

MEBIBYTE = 1024 * 1024
NUL = "before\x00after"
LONE = "before\ud800after"
HUGE = 2**63


def nested(depth, leaf=1, *, objects=False):
    document = leaf
    for _ in range(depth):
        document = {"in": document} if objects else [document]
    return document


BAD_DOCUMENTS = {
    "larger than 1 MiB": ("x" * MEBIBYTE, PayloadTooLarge),
    "larger than 1 MiB in many pieces": (["x" * 1000] * 1200, PayloadTooLarge),
    "larger than 1 MiB in bytes": ("馬" * (MEBIBYTE // 3 + 1), PayloadTooLarge),
    "65 lists deep": (nested(65), PayloadInvalid),
    "65 objects deep": (nested(65, objects=True), PayloadInvalid),
    "a thousand deep": (nested(1000), PayloadInvalid),
    "a hundred thousand deep": (nested(100_000), PayloadInvalid),
    "a NUL character": ({"text": NUL}, PayloadInvalid),
    "a NUL character in a key": ({NUL: 1}, PayloadInvalid),
    "a NUL character after a backslash": ({"text": "\\\x00"}, PayloadInvalid),
    "a lone surrogate": ({"text": LONE}, PayloadInvalid),
    "a lone surrogate in a key": ({LONE: 1}, PayloadInvalid),
    "not a number": (float("nan"), PayloadInvalid),
    "infinity": ([float("inf")], PayloadInvalid),
    "an integer of 5000 digits": ([10**4999], PayloadInvalid),
    "not JSON": ({"set": {1, 2}}, PayloadInvalid),
    "bytes": (b"bytes", PayloadInvalid),
}
GOOD_DOCUMENTS = {
    "64 lists deep": nested(64),
    "64 objects deep": nested(64, objects=True),
    "almost 1 MiB": "x" * (MEBIBYTE - 2),
    "almost 1 MiB in bytes": "é" * (MEBIBYTE // 2 - 1),
    "wide": [0] * 100_000,
    "an integer of 4300 digits": {"number": 10**4299, "negative": -(10**4299)},
    "the text of an escape": "\\u0000 and \\ud800",
}


@pytest.mark.parametrize("what", BAD_DOCUMENTS)
async def test_a_payload_that_cannot_be_kept_is_refused(queue, job, what, nothing_changes):
    document, problem = BAD_DOCUMENTS[what]
    async with nothing_changes():
        with pytest.raises(problem):
            await queue.submit_tasks(job, [{}, document])


@pytest.mark.parametrize("what", BAD_DOCUMENTS)
async def test_a_result_that_cannot_be_kept_is_refused(queue, job, what, nothing_changes):
    document, problem = BAD_DOCUMENTS[what]
    task = await running(queue, job)
    async with nothing_changes():
        with pytest.raises(problem):
            await queue.complete_task(task.held, document)
    assert (await queue.complete_task(task.held, "smaller")).status == "completed"


@pytest.mark.parametrize("what", BAD_DOCUMENTS)
async def test_progress_that_cannot_be_kept_is_refused(queue, job, what, nothing_changes):
    document, problem = BAD_DOCUMENTS[what]
    task = await running(queue, job)
    async with nothing_changes():
        with pytest.raises(problem):
            await queue.report_progress([task.held], [document])


@pytest.mark.parametrize("what", GOOD_DOCUMENTS)
async def test_a_document_just_within_the_limits_is_kept(queue, job, what):
    submitted = (await queue.submit_tasks(job, [GOOD_DOCUMENTS[what]]))[0]
    await queue.complete_task(await claim(queue, job), GOOD_DOCUMENTS[what])
    task = await queue.get_task(submitted.task_id)
    assert task.payload == GOOD_DOCUMENTS[what]
    assert task.result == GOOD_DOCUMENTS[what]


SUBMISSIONS: dict[str, dict[str, Any]] = {
    "priority 0": {"priority": 0},
    "priority 11": {"priority": 11},
    "priority -1": {"priority": -1},
    "priority beyond integers": {"priority": HUGE},
    "no attempts": {"max_attempts": 0},
    "negative attempts": {"max_attempts": -1},
    "10,001 attempts": {"max_attempts": 10_001},
    "attempts beyond integers": {"max_attempts": HUGE},
    "negative delay": {"delay": timedelta(microseconds=-1)},
    "a long submitter": {"submitter": "s" * 201},
    "a long owner": {"owner": "o" * 201},
    "a long project": {"project": "p" * 201},
    "a long tag": {"tags": ["fine", "t" * 201]},
    "many tags": {"tags": ["t"] * 21},
    "NUL in room": {"room": NUL},
    "NUL in owner": {"owner": NUL},
    "NUL in tags": {"tags": ["fine", NUL]},
    "NUL in key": {"idempotency_keys": [NUL]},
    "lone surrogate in owner": {"owner": LONE},
    "lone surrogate in tags": {"tags": [LONE]},
    "lone surrogate in key": {"idempotency_keys": [LONE]},
}


@pytest.mark.parametrize("what", SUBMISSIONS)
async def test_a_submission_that_cannot_be_is_refused(queue, job, what, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.submit_tasks(job, [{}], **SUBMISSIONS[what])


async def test_labels_just_within_the_limits_are_kept(queue, job):
    labels = {"submitter": "s" * 200, "owner": "馬" * 200, "project": "p" * 200, "tags": ["t" * 200] * 20}
    task = await queue.get_task((await queue.submit_task(job, **labels)).task_id)
    assert {name: getattr(task, name) for name in labels} == labels


async def test_a_null_payload_is_refused(queue, job, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.submit_tasks(job, [{}, None])


async def test_more_than_ten_thousand_tasks_at_once_are_refused(queue, job, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.submit_tasks(job, [{}] * 10_001)


CLAIMS: dict[str, dict[str, Any]] = {
    "none": {"quantity": 0},
    "fewer than none": {"quantity": -1},
    "501": {"quantity": 501},
    "10,000": {"quantity": 10_000},
    "beyond integers": {"quantity": HUGE},
    "a lease of nothing": {"lease": timedelta(0)},
    "a negative lease": {"lease": timedelta(seconds=-30)},
    "NUL in room": {"in_room": NUL, "job_ids": None},
    "lone surrogate in room": {"in_room": LONE, "job_ids": None},
    "NUL in owner": {"of_owner": NUL},
    "job beyond integers": {"job_ids": [HUGE]},
}


@pytest.mark.parametrize("what", CLAIMS)
@pytest.mark.parametrize("by", ["worker", "holder"])
async def test_a_claim_that_cannot_be_is_refused(queue, job, worker, *, by, what, nothing_changes):
    await pending(queue, job)
    claimer = {"worker_id": worker.id} if by == "worker" else {"holder": "me", "lease": MINUTE}
    wish = claimer | {"job_ids": [(await queue.get_job(job)).id]} | CLAIMS[what]
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.claim_tasks(**wish)


@pytest.mark.parametrize("text", [NUL, LONE], ids=["NUL", "surrogate"])
async def test_a_holder_is_plain_text(queue, job, text, nothing_changes):
    await pending(queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.claim_tasks(holder=text, lease=MINUTE, in_room="@global")


@pytest.mark.parametrize("lease", [timedelta(0), timedelta(seconds=-1), timedelta(days=-9999)], ids=str)
async def test_a_renewal_by_nothing_or_less_is_refused(queue, job, lease, nothing_changes):
    task = await running(queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.renew_task(task.held, lease)


@pytest.mark.parametrize("text", [NUL, LONE], ids=["NUL", "surrogate"])
@pytest.mark.parametrize("what", ["error", "kind"])
async def test_an_error_is_plain_text(queue, job, text, what, nothing_changes):
    task = await running(queue, job)
    told = {"error": "broken", "kind": "network"} | {what: text}
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.fail_task(task.held, told["error"], kind=told["kind"])


@pytest.mark.parametrize("text", [NUL, LONE], ids=["NUL", "surrogate"])
@pytest.mark.parametrize("told", ["actor", "reason"])
@pytest.mark.parametrize("verb", ["cancel_task", "retry_task", "ignore_task"])
async def test_who_and_why_are_plain_text(queue, job, *, verb, told, text, nothing_changes):
    submitted = (await queue.submit_task(job, delay=MINUTE)).task_id
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await getattr(queue, verb)(submitted, **{told: text})


@pytest.mark.parametrize("text", [NUL, LONE], ids=["NUL", "surrogate"])
@pytest.mark.parametrize("part", ["room", "category", "name"])
async def test_the_name_of_a_job_is_plain_text(queue, part, text, nothing_changes):
    address = {"room": "lab", "category": "tests", "name": "Work"} | {part: text}
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.register_job(**address)


@pytest.mark.parametrize("text", [NUL, LONE], ids=["NUL", "surrogate"])
async def test_the_name_of_a_worker_is_plain_text(queue, text, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.register_worker(text)


@pytest.mark.parametrize(
    "schema", [{"text": NUL}, {LONE: 1}, {"set": {1}}], ids=["NUL", "surrogate", "not JSON"]
)
async def test_a_schema_is_plain_json(queue, schema, nothing_changes):
    async with nothing_changes():
        with pytest.raises((PayloadInvalid, InvalidArgument)):
            await queue.register_job("lab", "tests", "Work", schema=schema)


READS = {
    "get_task": lambda queue, task_id: queue.get_task(task_id),
    "list_attempts": lambda queue, task_id: queue.list_attempts(task_id),
    "list_task_events": lambda queue, task_id: queue.list_task_events(task_id),
    "cancel_task": lambda queue, task_id: queue.cancel_task(task_id),
    "retry_task": lambda queue, task_id: queue.retry_task(task_id),
    "ignore_task": lambda queue, task_id: queue.ignore_task(task_id),
    "unignore_task": lambda queue, task_id: queue.unignore_task(task_id),
    "wait_for": lambda queue, task_id: queue.wait_for(task_id, timeout=20),
}


@pytest.mark.parametrize("task_id", [0, 999_999, HUGE - 1, -HUGE])
@pytest.mark.parametrize("verb", READS)
async def test_a_task_that_does_not_exist_is_not_found(queue, job, verb, task_id, nothing_changes):
    await pending(queue, job)
    async with nothing_changes():
        with pytest.raises(TaskNotFound):
            await READS[verb](queue, task_id)


@pytest.mark.parametrize("task_id", [HUGE, 10**30])
@pytest.mark.parametrize("verb", READS)
async def test_a_number_no_task_can_have_is_refused(queue, job, verb, task_id, nothing_changes):
    async with nothing_changes():
        with pytest.raises((TaskNotFound, InvalidArgument)):
            await READS[verb](queue, task_id)


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_number_no_task_can_have_acknowledges_nothing(queue, job, verb, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await ACKNOWLEDGEMENTS[verb](queue, (HUGE, uuid4()))


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_worker_cannot_speak_for_the_lease_of_another(queue, job, verb, nothing_changes):
    """Not even of the same task: the token of an earlier attempt is worth nothing."""
    await queue.submit_task(job)
    first = await claim(queue, job, holder="first")
    await queue.release_task(first)
    second = await claim(queue, job, holder="second")
    assert second.task_id == first.task_id
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, (first.task_id, first.token)))[0]
    assert answer.problem == LeaseLost.sqlstate
