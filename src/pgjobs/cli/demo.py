"""Jobs to play with: what `pgjobs dev` and `make demo` run."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

from pgjobs.jobs.context import Abort, Blocked, TaskContext
from pgjobs.jobs.jobs import Jobs

jobs = Jobs(category="demo")


class UpsideDown(Exception):
    """The picture is upside down; another attempt may turn it."""


@jobs.task(name="Resize", max_attempts=6, backoff_base=timedelta(seconds=0.2))
async def resize(picture: int) -> dict[str, int]:
    """A little work that fails one time in ten."""
    await asyncio.sleep(random.uniform(0.05, 0.1))  # noqa: S311
    if random.random() < 0.1:  # noqa: S311
        raise UpsideDown("the picture is upside down")
    return {"picture": picture, "width": 640}


@jobs.task(name="Report", events="full")
async def report(task: TaskContext, pages: int = 20) -> dict[str, int]:
    """Something to watch: a second for each page, with progress."""
    for page in range(1, pages + 1):
        await asyncio.sleep(1)
        await task.report({"done": page, "total": pages, "message": f"page {page}"})
    return {"pages": pages}


@jobs.task(name="Greet")
async def greet(name: str = "world") -> str:
    """Answers at once."""
    return f"Hello, {name}!"


@jobs.task(name="Deliver", max_attempts=6, backoff_base=timedelta(seconds=10))
async def deliver(letter: int) -> dict[str, int]:
    """Now and then nobody is at home; it is tried again later."""
    await asyncio.sleep(random.uniform(0.1, 1.5))  # noqa: S311
    if random.random() < 0.2:  # noqa: S311
        raise ConnectionError("nobody is at home")
    return {"letter": letter}


@jobs.task(name="Upload", max_attempts=20, backoff_base=timedelta(hours=1))
async def upload(file: str) -> None:
    """Needs a login that nobody gave it, so it is blocked."""
    raise Blocked(f"401 Unauthorized: no login for {file}", kind="auth")


@jobs.task(name="Export", max_attempts=1)
async def export(month: str) -> None:
    """Dies in the middle of writing, and leaves something behind."""
    raise Abort(f"the connection broke in the middle of {month} month", kind="network")


@jobs.task(name="Collect", events="full")
async def collect(task: TaskContext, paper: str) -> int:
    """A paper that an onboarding needs; with progress."""
    for page in range(1, 5):
        await asyncio.sleep(random.uniform(0.3, 0.9))  # noqa: S311
        await task.report({"done": page, "total": 4, "message": f"{paper}, page {page}"})
    return len(paper)


@jobs.task(name="Onboard", max_attempts=5, events="full")
async def onboard(task: TaskContext, user: str) -> str:
    """Keeps a step, sleeps, waits for an approval, calls another task; no worker is held meanwhile."""
    account = await task.step("account", _new_account, user)
    await task.sleep("trial", timedelta(seconds=8))
    approval = await task.wait_for_signal("approved", timeout=timedelta(days=1))
    if approval is None:
        raise Abort(f"nobody approved account {account}", kind="timeout")
    return await task.call("greeting", greet, user)


def _new_account(_user: str) -> int:
    return random.randint(1000, 9999)  # noqa: S311


@jobs.task(name="Announce")
async def announce(task: TaskContext) -> str:
    """Tells what became of the task it ran after."""
    return ", ".join(f"{parent.name} {parent.status}" for parent in await task.queue.list_parents(task.id))


@jobs.task(name="Explode", max_attempts=1)
async def explode() -> None:
    """Fails, for something to retry and ignore."""
    raise RuntimeError("this job always fails")
