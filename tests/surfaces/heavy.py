"""Handlers for another process, which finds them by importing this module."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import timedelta
from typing import Any

from pgjobs import Jobs

jobs = Jobs()


@jobs.task(mode="process")
def add(left: int, right: int) -> dict[str, int]:
    return {"sum": left + right, "pid": os.getpid()}


@jobs.task(mode="process", max_attempts=1)
def fail(message: str) -> None:
    raise ValueError(message)


@jobs.task(mode="process", max_attempts=1)
def crash() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@jobs.task(mode="process", max_attempts=1)
def give_lock() -> Any:
    return threading.Lock()


@jobs.task(mode="process", max_attempts=1, timeout=timedelta(seconds=1.5))
def hang(path: str) -> None:
    time.sleep(60)
    with open(path, "w") as file:  # noqa: PTH123
        file.write("still alive")
