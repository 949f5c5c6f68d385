"""A film that is being made: scenes side by side, a contract that waits to be signed, a cut that waits for the scenes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pgjobs.queue.records import Lease
from pgjobs.queue.server import ServerQueue as Queue

FILM = "studio:films:Film"
CONTRACT = "studio:films:Contract"
SCENES = 9


def _entry(name: str, *after: str, job: str = FILM) -> dict[str, Any]:
    return {"name": name, "job": job, "after": list(after)}


async def stage_workflow(queue: Queue, time: Any) -> dict[str, str]:
    """Ids by name: the workflow's as `workflow`, those of its tasks as they are called."""
    for job in (FILM, CONTRACT):
        await queue.register_job(*job.split(":"))
    scenes = [f"scene-{number}" for number in range(1, SCENES + 1)]
    flow = await queue.submit_workflow(
        "summer film",
        [
            _entry("script"),
            *(_entry(scene, "script") for scene in scenes),
            _entry("contract", "script", job=CONTRACT),
            {**_entry("cut", *scenes), "on_failure": "hold"},
            _entry("premiere", "cut", "contract"),
        ],
        submitter="ada",
    )
    jobs = [(await queue.get_job(job)).id for job in (FILM, CONTRACT)]

    async def claim(quantity: int) -> list[Lease]:
        return await queue.claim_tasks(
            holder="studio", lease=timedelta(hours=4), job_ids=jobs, quantity=quantity, start=True
        )

    (script,) = await claim(1)
    await time.pass_by(2)
    await queue.complete_task(script, {"pages": 90})
    held = {lease.task_id: lease for lease in await claim(SCENES + 1)}
    contract = held.pop(flow.tasks["contract"])
    await queue.save_step(contract.task_id, contract.token, "draft", {"pages": 3})
    await time.pass_by(1)
    await queue.suspend_task(contract.task_id, contract.token, "signed", signal="signed")
    running = list(held.values())
    await time.pass_by(4)
    await queue.complete_tasks(running[:5], [{"seconds": 40}] * 5)
    await queue.fail_task(running[5], "TakeError: the light was gone", retryable=False)
    named = await queue.list_workflow_tasks(flow.id)
    return {"workflow": str(flow.uuid)} | {task.name: str(task.task_uuid) for task in named}
