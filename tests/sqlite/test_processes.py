"""Several processes on one file."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

OPEN = """
import asyncio, sys
from pgjobs.queue.queue import Queue

async def main():
    async with await Queue.connect(sys.argv[1]) as queue:
        await queue.migrate()
        await queue.register_job("@global", "tests", "Work")

asyncio.run(main())
"""
DRAIN = """
import asyncio, json, sys
from datetime import timedelta
from pgjobs.queue.queue import Queue

async def main():
    done = []
    async with await Queue.connect(sys.argv[1]) as queue:
        while leases := await queue.claim_tasks(
            holder=sys.argv[2], lease=timedelta(minutes=5), in_room="@global", quantity=7
        ):
            answers = await queue.complete_tasks(leases, [{"by": sys.argv[2]}] * len(leases))
            done += [answer.task_id for answer in answers if answer.status == "completed"]
    print(json.dumps(done))

asyncio.run(main())
"""


async def _run(script: str, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        script,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def test_a_new_file_is_opened_and_migrated_by_many_at_once(path: Path):
    url = f"sqlite:///{path}"
    await asyncio.gather(*(_run(OPEN, url) for _ in range(6)))


async def test_each_task_is_claimed_and_completed_once(path, queue, job, clock):
    await queue.submit_tasks(job, [{}] * 300, available_at=clock.now().replace(year=2000))
    url = f"sqlite:///{path}"
    outputs = await asyncio.gather(*(_run(DRAIN, url, name) for name in ("ada", "ben", "cy")))
    done = Counter(task_id for output in outputs for task_id in json.loads(output))
    assert len(done) == 300
    assert set(done.values()) == {1}
