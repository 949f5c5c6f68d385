"""What is bounded: totals of long lists, locks and answers of providers, and how long anybody waits."""

from __future__ import annotations

from typing import Any

import pytest

from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.conftest import Serve
from tests.surfaces.ears import eventually
from tests.surfaces.rest_server import Api, problem_of, token_of
from tests.surfaces.test_rest_providers import NAME, put, requests_seen, upload
from tests.surfaces.test_rest_waiting import timed

JOB = "lab:modifiers:Rotate"
ADDRESS = f"rooms/lab/providers/{NAME}"
PAGE = {"limit": 1}


@pytest.mark.parametrize("path", ["rooms/lab/tasks", f"rooms/lab/jobs/{JOB}/tasks"])
async def test_a_total_is_exact_up_to_ten_thousand_and_a_lower_bound_above(ada: Api, queue: Queue, path: str):
    ada.register()
    for _ in range(10):
        await queue.submit_tasks(JOB, [{}] * 1000)
    exact = ada.get(path, params=PAGE).json()
    assert (exact["total"], exact["total_relation"]) == (10_000, "eq")
    last = await queue.submit_task(JOB)
    bounded = ada.get(path, params=PAGE).json()
    assert (bounded["total"], bounded["total_relation"]) == (10_000, "gte")
    assert [task["id"] for task in bounded["items"]] == [str((await queue.get_task(last.task_id)).uuid)]
    # A page beyond the bound is a page all the same, and a rarer status is counted to the end.
    beyond = ada.get(path, params={"limit": 5, "offset": 10_000}).json()
    assert len(beyond["items"]) == 1
    none = ada.get(path, params={"status": "failed", **PAGE}).json()
    assert (none["total"], none["total_relation"]) == (0, "eq")
    # Far back in line a place is not counted to the end either.
    assert bounded["items"][0]["queue_position"] == 1000


async def test_a_question_that_could_not_be_passed_on_may_be_asked_again(
    ada: Api, queue: Queue, monkeypatch: pytest.MonkeyPatch
):
    put(ada)
    request_read, failures = Queue.request_read, [ConnectionError("no route to the database")]

    async def fail_at_first(self: Queue, *arguments: Any, **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return await request_read(self, *arguments, **options)

    monkeypatch.setattr(Queue, "request_read", fail_at_first)
    failed = ada.get(ADDRESS)
    assert (failed.status_code, problem_of(failed)) == (503, "database-unavailable")
    assert await requests_seen(queue) == []
    assert ada.get(ADDRESS).status_code == 202
    assert len(await requests_seen(queue)) == 1


async def test_a_question_nobody_answers_is_passed_on_again_after_a_while(serve: Serve, queue: Queue):
    with Api(serve(provider_inflight_ttl_seconds=1), token_of("ada")) as ada:
        put(ada)
        assert {ada.get(ADDRESS).status_code for _ in range(3)} == {202}
        assert len(await requests_seen(queue)) == 1

        async def is_asked_again() -> bool:
            assert ada.get(ADDRESS).status_code == 202
            return len(await requests_seen(queue)) == 2

        await eventually(is_asked_again)


async def test_an_answer_is_kept_for_as_long_as_was_set(serve: Serve, queue: Queue):
    with Api(serve(provider_result_ttl_seconds=1), token_of("ada")) as ada:
        provider = put(ada).json()
        request_hash = ada.get(ADDRESS).json()["request_hash"]
        upload(ada, provider, request_hash, b"fresh")
        assert ada.get(ADDRESS).content == b"fresh"
        await eventually(lambda: ada.get(ADDRESS).status_code == 202)
        assert len(await requests_seen(queue)) == 2


def test_nobody_waits_longer_for_a_provider_than_was_set(serve: Serve):
    with Api(serve(provider_max_wait_seconds=1), token_of("ada")) as ada:
        put(ada)
        took, answer = timed(lambda: ada.get(ADDRESS, headers={"Prefer": "wait=600"}))
        assert (answer.status_code, problem_of(answer)) == (504, "provider-timeout")
        assert 0.9 < took < 10
