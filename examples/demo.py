"""See it work: a Postgres of its own, 300 tasks, two workers, and one of them killed in the middle.

Run it with `make demo`. Nothing is left behind but the directory it names.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from pgjobs import Queue
from pgjobs.drivers.embedded import EmbeddedPostgres

JOB = "@global:demo:Resize"
TASKS = 300
console = Console()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pgjobs-demo-") as directory:
        Path(directory).chmod(0o755)
        console.print("Starting a Postgres of its own …")
        with EmbeddedPostgres(Path(directory) / "server") as server:
            asyncio.run(show(server.url))


async def show(url: str) -> None:
    async with await Queue.connect(url) as queue:
        await queue.migrate()
        await work(queue, url)


async def work(queue: Queue, url: str) -> None:
    await queue.register_job(
        "@global", "demo", "Resize", max_attempts=4, backoff_base=timedelta(seconds=0.2), jitter_share=0.5
    )
    await queue.submit_tasks(JOB, [{"picture": number} for number in range(TASKS)])
    console.print(f"Submitted {TASKS} tasks of [bold]{JOB}[/]. Starting two workers.")
    workers = [start_worker(url, name) for name in ("first", "second")]
    try:
        await watch(queue, workers)
    finally:
        for worker in workers:
            stop(worker)
    await summarise(queue)


def start_worker(url: str, name: str) -> subprocess.Popen[bytes]:
    program = Path(__file__).with_name("demo_worker.py")
    return subprocess.Popen(
        [sys.executable, str(program), name], env={**os.environ, "PGJOBS_DATABASE_URL": url}
    )


def stop(worker: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        worker.send_signal(signal.SIGTERM)
    worker.wait(timeout=10)


async def watch(queue: Queue, workers: list[subprocess.Popen[bytes]]) -> None:
    """A progress bar until all is done; at a third, the first worker is killed with its hands full."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("Working", total=TASKS)
        while (ended := await count_ended(queue)) < TASKS:
            progress.update(bar, completed=ended)
            if ended > TASKS / 3 and workers[0].poll() is None:
                workers[0].kill()
                workers[0].wait()
                progress.console.print("[red]kill -9[/] of the first worker, with its hands full.")
            await queue.sweep()
            await asyncio.sleep(0.1)
        progress.update(bar, completed=ended)


async def count_ended(queue: Queue) -> int:
    return sum(task.is_ended for task in await queue.list_tasks(job=JOB, page_size=500))


async def summarise(queue: Queue) -> None:
    tasks = await queue.list_tasks(job=JOB, page_size=500)
    events = await queue.list_events(of_job=JOB)
    table = Table("what happened", "tasks", title="Every task ended exactly once")
    for status, quantity in Counter(task.status for task in tasks).items():
        table.add_row(status, str(quantity))
    messages = Counter(event.message for event in events if event.kind == "retrying")
    for message, quantity in messages.items():
        table.add_row(f"retried after “{message}”", str(quantity))
    table.add_row("needed more than one attempt", str(sum(task.attempt > 1 for task in tasks)))
    table.add_row("broken promises (pgjobs.check)", str(sum(rule.violations for rule in await queue.check())))
    console.print(table)
    console.print("Read README.md for the Python, SQL and shell ways in.")


if __name__ == "__main__":
    main()
