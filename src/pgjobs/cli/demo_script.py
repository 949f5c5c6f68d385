"""What `make demo` shows: many tasks, two workers, one killed while it works, and nothing lost."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from pgjobs.cli.output import print_table, progress, say

if TYPE_CHECKING:
    from pgjobs.queue.records import Task
    from pgjobs.queue.server import ServerQueue

JOB = "@global:demo:Resize"
TASKS = 300
PATIENCE = 180


async def tell(queue: ServerQueue, url: str) -> None:
    from pgjobs.cli.demo import resize

    await resize.register(queue)
    submitted = await queue.submit_tasks(JOB, [{"picture": number} for number in range(TASKS)])
    numbers = {task.task_id for task in submitted}
    say(f"Submitted {TASKS} tasks of {JOB}. Starting two workers.")
    workers = [_worker(url, name) for name in ("first", "second")]
    try:
        async with asyncio.timeout(PATIENCE):
            await _watch(queue, numbers, workers)
    finally:
        for worker in workers:
            await asyncio.to_thread(_stop, worker)
    await _summarise(queue, numbers)


def _worker(url: str, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pgjobs.cli", "worker", "pgjobs.cli.demo:jobs", "--name", name]
    command += ["--concurrency", "4", "--lease", "3", "--log-level", "ERROR"]
    # In a session of its own: a Ctrl-C is for the demo, not for its workers.
    return subprocess.Popen(  # noqa: S603
        command,
        env={**os.environ, "PGJOBS_DATABASE_URL": url},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def _stop(worker: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        worker.terminate()
    try:
        worker.wait(timeout=20)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


async def _watch(queue: ServerQueue, numbers: set[int], workers: list[subprocess.Popen[bytes]]) -> None:
    """A progress bar until all is done; at a third, the first worker is killed while it works."""
    with progress("Working", TASKS) as bar:
        ended = 0
        while ended < TASKS:
            tasks = await _tasks(queue, numbers)
            ended = sum(task.is_ended for task in tasks)
            bar.reach(ended, TASKS)
            is_busy = await _holds(queue, tasks, "first")
            if ended > TASKS / 3 and is_busy and workers[0].poll() is None:
                workers[0].kill()
                workers[0].wait()
                bar.say(f"kill -9 of the first worker, while it works, after {ended} tasks.")
            if all(worker.poll() is not None for worker in workers):
                raise RuntimeError("both workers are gone")
            await asyncio.sleep(0.1)


async def _holds(queue: ServerQueue, tasks: list[Task], name: str) -> bool:
    named = {worker.id for worker in await queue.list_workers(page_size=500) if worker.name == name}
    return any(task.worker_id in named and not task.is_ended for task in tasks)


async def _tasks(queue: ServerQueue, numbers: set[int]) -> list[Task]:
    newest = await queue.list_tasks(job=JOB, before=max(numbers) + 1, page_size=TASKS)
    return [task for task in newest if task.id in numbers]


async def _summarise(queue: ServerQueue, numbers: set[int]) -> None:
    tasks = await _tasks(queue, numbers)
    again = [task for task in tasks if task.attempt > 1]
    errors: Counter[str] = Counter()
    for task in again:
        earlier = (each for each in await queue.list_attempts(task.id) if each.attempt < task.attempt)
        errors.update((each.error or each.status).splitlines()[0] for each in earlier)
    rows = list(Counter(str(task.status) for task in tasks).items())
    rows += [(f"attempts that ended with “{error}”", quantity) for error, quantity in errors.items()]
    rows.append(("needed more than one attempt", len(again)))
    rows.append(("invariant violations (pgjobs.check)", sum(rule.violations for rule in await queue.check())))
    say("Every task ended exactly once:")
    print_table(("result", "tasks"), rows)
