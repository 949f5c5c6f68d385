"""What goes wrong: each fault is done to a ground, and undone where that is not the ground's own business."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from pgjobs.schema.embedded import EmbeddedPostgresError
from tests.chaos.ground import LEASE_SECONDS, Ground
from tests.postgres.pooler import find_pgbouncer

Fault = Callable[[Ground, random.Random], Awaitable[None]]
_OTHERS = "pid <> pg_backend_pid() and backend_type = 'client backend'"


class Unavailable(Exception):
    """Why a fault cannot be had on this machine."""


async def kill_worker(ground: Ground, luck: random.Random) -> None:
    crew = luck.choice(ground.crews)
    crew.kill(_one_of(crew.processes, luck))
    crew.hire()


async def freeze_worker(ground: Ground, luck: random.Random) -> None:
    """Past the end of its leases, so that it acts as a zombie when it wakes."""
    process = _one_of(luck.choice(ground.crews).processes, luck)
    process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(LEASE_SECONDS * luck.uniform(1.2, 2))
    process.send_signal(signal.SIGCONT)


async def kill_http_client(ground: Ground, luck: random.Random) -> None:
    ground.clients.kill(_one_of(ground.clients.processes, luck))
    ground.clients.hire()


async def freeze_http_client(ground: Ground, luck: random.Random) -> None:
    """Past the time after which a silent worker counts as gone."""
    process = _one_of(ground.clients.processes, luck)
    process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(luck.uniform(5.5, 7))
    process.send_signal(signal.SIGCONT)


async def kill_api_server(ground: Ground, luck: random.Random) -> None:
    await asyncio.to_thread(ground.server.kill)
    await asyncio.sleep(luck.uniform(0, 1))
    await asyncio.to_thread(ground.revive_server)


async def kill_postgres(ground: Ground, luck: random.Random) -> None:
    ground.kill_postgres()
    await asyncio.sleep(luck.uniform(0, 1))
    await asyncio.to_thread(ground.revive_postgres)


async def restart_postgres(ground: Ground, luck: random.Random) -> None:
    ground.signal_postgres(signal.SIGINT)
    await asyncio.to_thread(ground.revive_postgres)


async def fail_over(ground: Ground, luck: random.Random) -> None:
    """The primary is lost for good; a standby that had all it acknowledged goes on at another address."""
    try:
        await ground.fail_over(luck.uniform(0.2, 1))
    except EmbeddedPostgresError as reason:
        raise Unavailable(str(reason)) from reason


async def kill_backend(ground: Ground, luck: random.Random) -> None:
    """One process of Postgres: it ends all sessions, and recovers by itself."""
    backends = ground.backends()
    with suppress(ProcessLookupError):
        os.kill(luck.choice(backends), signal.SIGKILL)


async def freeze_postgres(ground: Ground, luck: random.Random) -> None:
    ground.freeze()
    await asyncio.sleep(luck.uniform(0.5, LEASE_SECONDS * 1.5))
    ground.thaw()


async def cut_sessions(ground: Ground, luck: random.Random) -> None:
    await ground.ask(
        f"select pg_terminate_backend(pid) from pg_stat_activity where {_OTHERS} and pid % 3 = $1",
        luck.randrange(3),
    )


async def cut_listeners(ground: Ground, luck: random.Random) -> None:
    await ground.ask(
        f"select pg_terminate_backend(pid) from pg_stat_activity where {_OTHERS} and query ilike 'listen%'"
    )


async def cancel_statements(ground: Ground, luck: random.Random) -> None:
    for _ in range(5):
        await ground.ask(
            f"select pg_cancel_backend(pid) from pg_stat_activity where {_OTHERS} and state = 'active'"
        )


async def fill_disk(ground: Ground, luck: random.Random) -> None:
    """No room for tables or the log, which ends Postgres if it has to; then there is room again."""
    if not ground.is_small_disk:
        raise Unavailable("this user may not mount a small file system")
    ballast = ground.disk / "ballast"
    with suppress(OSError), ballast.open("wb") as file:
        while True:
            file.write(bytes(1 << 20))
    await asyncio.sleep(luck.uniform(1, 3))
    ballast.unlink()
    if ground.postgres._process is not None and ground.postgres._process.poll() is not None:
        await asyncio.to_thread(ground.revive_postgres)


async def jump_clock(ground: Ground, luck: random.Random) -> None:
    """A worker's clock, by up to a day in either direction, while it works."""
    if not ground.can_fake_time:
        raise Unavailable("faketime is not installed")
    process = ground.hire_with_own_clock()
    for _ in range(4):
        await asyncio.sleep(luck.uniform(0.5, 1.5))
        ground.clock.write_text(f"{luck.choice('+-')}{luck.randrange(86400)}")
    if process in ground.crew.processes:
        ground.crew.kill(process)


async def restart_pooler(ground: Ground, luck: random.Random) -> None:
    if ground.pooler is None or find_pgbouncer() is None:
        raise Unavailable("pgbouncer is not installed")
    await asyncio.to_thread(ground.pooler.kill)
    await asyncio.sleep(luck.uniform(0, 1))
    await asyncio.to_thread(ground.pooler.start)
    if not any(_is_pooled(process) for process in ground.crew.processes):
        ground.hire_pooled()


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        kill_worker,
        freeze_worker,
        kill_http_client,
        freeze_http_client,
        kill_api_server,
        kill_postgres,
        restart_postgres,
        fail_over,
        kill_backend,
        freeze_postgres,
        cut_sessions,
        cut_listeners,
        cancel_statements,
        fill_disk,
        jump_clock,
        restart_pooler,
    )
}


def _one_of(processes: list[subprocess.Popen[bytes]], luck: random.Random) -> subprocess.Popen[bytes]:
    return luck.choice(processes)


def _is_pooled(process: subprocess.Popen[bytes]) -> bool:
    with suppress(OSError):
        return b"PGJOBS_POOLED=true" in Path(f"/proc/{process.pid}/environ").read_bytes()
    return False
