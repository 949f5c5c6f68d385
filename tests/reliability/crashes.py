"""A Postgres killed as a machine that loses its power kills it, and started again."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError


def processes(server: EmbeddedPostgres) -> list[int]:
    """The postmaster, then its children, which lead sessions of their own."""
    if server._process is None:
        return []
    parent = server._process.pid
    with suppress(OSError):
        return [
            parent,
            *(int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()),
        ]
    return [parent]


def kill(server: EmbeddedPostgres) -> None:
    """All of its processes at once."""
    assert server._process is not None
    for pid in processes(server):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def revive(server: EmbeddedPostgres) -> None:
    """Starts it again, and again: what it left behind may be in the way for a moment."""
    process, server._process = server._process, None
    if process is not None:
        process.wait(60)
    deadline = time.monotonic() + 60
    while True:
        try:
            server.start()
            return
        except EmbeddedPostgresError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)
