"""Jobs to play with: what `pgjobs dev` and `make demo` run."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

from pgjobs.jobs import Jobs
from pgjobs.running import RunningTask

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
async def report(task: RunningTask, pages: int = 20) -> dict[str, int]:
    """Something to watch: a second for each page, with progress."""
    for page in range(1, pages + 1):
        await asyncio.sleep(1)
        await task.report({"page": page, "of": pages})
    return {"pages": pages}


@jobs.task(name="Greet")
async def greet(name: str = "world") -> str:
    """Answers at once."""
    return f"Hello, {name}!"


@jobs.task(name="Explode", max_attempts=1)
async def explode() -> None:
    """Fails, for something to retry and ignore."""
    raise RuntimeError("this job always fails")
