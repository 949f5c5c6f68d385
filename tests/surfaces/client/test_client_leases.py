"""Lost leases and lost replies, as the SDK sees them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
import pytest

from pgjobs.contrib.joblib import ClaimedTask, JobManager
from pgjobs.queue.queue import Queue
from tests.surfaces.client.rotate import ROTATE, Rotate


def test_a_worker_whose_task_passed_on_cannot_end_it(sdk, root, queue_url):
    with JobManager(sdk) as zombie, JobManager(sdk) as heir:
        zombie.register(Rotate)
        asyncio.run(_try_again_at_once(queue_url))
        task_id = zombie.submit(Rotate(angle=1), "lab")
        lost = zombie.claim()
        assert lost is not None
        zombie.start(lost)
        assert root.delete(f"workers/{zombie.worker_id}").status_code == 204
        heir.register(Rotate)
        held = heir.claim()
        assert held is not None
        assert (held.task_id, held.token != lost.token) == (task_id, True)
        for report in (zombie.start, zombie.complete, zombie.cancel, lambda task: zombie.fail(task, "oh")):
            with pytest.raises(ValueError, match="lost"):
                report(lost)
        heir.start(held)
        heir.complete(held, "mine")
        assert root.get(f"tasks/{task_id}").json()["result"] == "mine"


def test_a_start_whose_reply_was_lost_is_said_again_and_the_task_runs_once(sdk, root):
    executed: list[ClaimedTask] = []
    lost: list[httpx.Response] = []

    def lose_the_first_report(response: httpx.Response) -> None:
        if response.request.method == "PATCH" and b"running" in response.request.content and not lost:
            lost.append(response)
            raise httpx.ReadError("the reply was lost")

    sdk.http.event_hooks = {"response": [lose_the_first_report]}
    with JobManager(sdk, execute=executed.append, polling_interval=0.1) as manager:
        manager.register(Rotate)
        task = root.submit(ROTATE, angle=1)
        assert root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=15"}).json()["status"] == "completed"
    assert (len(lost), len(executed)) == (1, 1)


async def _try_again_at_once(queue_url: str) -> None:
    async with await Queue.connect(queue_url) as queue:
        await queue.register_job(
            *ROTATE.split(":"), replace_schema=True, schema=Rotate.model_json_schema(),
            max_attempts=5, backoff_base=timedelta(0),
        )  # fmt: skip
