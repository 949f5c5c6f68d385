"""What is broken on purpose: Postgres on a small disk, a pooler, a server, and those who work."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import asyncpg

from pgjobs import Queue
from pgjobs.drivers.transient import TRANSIENT
from pgjobs.schema.embedded import EmbeddedPostgres
from tests.chaos.http_client import CATEGORY, NAME, ROOM
from tests.postgres.pooler import Pooler, find_pgbouncer
from tests.reliability.crashes import kill, processes, revive
from tests.reliability.crew import Crew
from tests.reliability.durable_worker import begin, finish, middle, page
from tests.reliability.ledger_worker import record
from tests.reliability.nodes import copy, promote, wait_for_standby
from tests.server import new_home
from tests.surfaces.processes import Server, free_port

LEASE_SECONDS = 2.0
_Answer = TypeVar("_Answer")
_DISK_MEGABYTES = 1500
_SETTINGS = {
    "max_connections": "120",
    "max_wal_size": "128MB",
    "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1",
}
_FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")


class Ground:
    """Everything that a run starts, and ends."""

    def __init__(self, log: Path, *, seed: int) -> None:
        self._home = new_home()
        self.disk = self._home / "disk"
        self.disk.mkdir()
        self.disk.chmod(0o711)
        self.is_small_disk = _mount(self.disk)
        self._ports = [free_port(), free_port()]
        self._copies = 0
        self.postgres = EmbeddedPostgres(self.disk / "server", port=self._ports[0], options=_SETTINGS)
        self.pooler: Pooler | None = None
        self._log, self._seed = log, seed
        self.clock = self._home / "clock"

    @property
    def url(self) -> str:
        """Both places where the primary may be, in the same order wherever it is."""
        places = ",".join(f"127.0.0.1:{port}" for port in self._ports)
        password = self.postgres.password
        return f"postgresql://postgres:{password}@{places}/postgres?target_session_attrs=primary"

    @property
    def crews(self) -> tuple[Crew, ...]:
        """Who works through SQL."""
        return self.crew, self.flows

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.postgres.start)
        async with await Queue.connect(self.postgres.url) as queue:
            await queue.migrate()
            await record.register(queue)
            for job in (begin, middle, finish, page):
                await job.register(queue)
            await queue.register_job(ROOM, CATEGORY, NAME, max_attempts=1000, keep=True)
        await self.ask("update pgjobs.settings set worker_timeout = '4 s'")
        await self.ask("create table begun (number integer primary key)")
        await self.ask("create table ledger (number integer, attempt integer, pid integer, name text)")
        self.server = Server(
            self.url,
            PGJOBS_SWEEPER_INTERVAL_SECONDS="1",
            PGJOBS_WORKER_TIMEOUT_SECONDS="4",
            PGJOBS_ALLOWED_CATEGORIES="*",
        )
        self.crew = Crew(
            self.url, self._log / "workers", size=0, lease_seconds=LEASE_SECONDS, seed=self._seed
        )
        self.flows = Crew(
            self.url,
            self._log / "flows",
            size=0,
            lease_seconds=LEASE_SECONDS,
            seed=self._seed,
            worker="tests.reliability.durable_worker",
        )
        self.clients = Crew(
            self.server.base,
            self._log / "clients",
            size=0,
            lease_seconds=0,
            seed=self._seed,
            worker="tests.chaos.http_client",
        )
        try:
            await asyncio.to_thread(self._start_the_rest)
        except BaseException:
            self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._stop)

    def _start_the_rest(self) -> None:
        if find_pgbouncer():
            self.pooler = Pooler(self.postgres.url, pool_size=20)
            self.pooler.start()
        self.server.start(patience=120)
        for _ in range(3):
            self.crew.hire()
        for _ in range(2):
            self.flows.hire()
        for _ in range(3):
            self.clients.hire()
        if self.pooler:
            self.hire_pooled()

    def hire_pooled(self) -> None:
        assert self.pooler is not None
        self.crew.hire(PGJOBS_LEDGER_URL=self.pooler.url, PGJOBS_POOLED="true", PGJOBS_LISTEN_URL=self.url)

    @property
    def can_fake_time(self) -> bool:
        return _FAKETIME.exists()

    def hire_with_own_clock(self) -> subprocess.Popen[bytes]:
        """A worker whose clock says what the file `clock` says; not the one that only counts seconds."""
        self.clock.write_text("+0")
        return self.crew.hire(
            LD_PRELOAD=str(_FAKETIME),
            FAKETIME_TIMESTAMP_FILE=str(self.clock),
            FAKETIME_NO_CACHE="1",
            FAKETIME_DONT_FAKE_MONOTONIC="1",
        )

    def _stop(self) -> None:
        self.thaw()
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self._home, ignore_errors=True)
            if self.is_small_disk:
                stack.callback(subprocess.run, ["umount", "--lazy", str(self.disk)], check=False)
            stack.callback(self.postgres.stop)
            if self.pooler:
                stack.callback(self.pooler.close)
            stack.callback(self.server.kill)
            stack.push(self.clients.__exit__)
            stack.push(self.flows.__exit__)
            stack.push(self.crew.__exit__)

    async def ask(self, query: str, *arguments: Any) -> list[Any]:
        """What the database says, as soon as there is one."""

        async def once() -> list[Any]:
            connection = await asyncpg.connect(self.postgres.url, timeout=5)
            try:
                return [row[0] for row in await connection.fetch(query, *arguments, timeout=60)]
            finally:
                connection.terminate()

        return await until_there(once)

    # Postgres

    def signal_postgres(self, how: signal.Signals) -> None:
        assert self.postgres._process is not None
        os.kill(self.postgres._process.pid, how)

    def kill_postgres(self) -> None:
        kill(self.postgres)

    def revive_postgres(self) -> None:
        revive(self.postgres)

    def revive_server(self) -> None:
        """Again, and again: one that finds no database when it starts has ended, as it should."""
        deadline = time.monotonic() + 240
        while True:
            try:
                self.server.start(patience=40)
                return
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                self.server.kill()

    def freeze(self) -> None:
        for pid in reversed(processes(self.postgres)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in processes(self.postgres):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def backends(self) -> list[int]:
        return processes(self.postgres)[1:]

    async def fail_over(self, pause: float) -> None:
        """A synchronous standby is made, the primary killed, and the standby takes its place."""
        self._copies += 1
        (port,) = (port for port in self._ports if port != self.postgres.port)
        standby = EmbeddedPostgres(self.disk / f"copy {self._copies}", port=port, options=_SETTINGS)
        await asyncio.to_thread(copy, self.postgres, standby)
        await asyncio.to_thread(standby.start)
        connection = await asyncpg.connect(self.postgres.url)
        try:
            await wait_for_standby(connection)
        finally:
            connection.terminate()
        await asyncio.sleep(pause)
        self.kill_postgres()
        lost, self.postgres = self.postgres, standby
        assert lost._process is not None
        await asyncio.to_thread(lost._process.wait, 60)
        await promote(standby)
        shutil.rmtree(lost.directory, ignore_errors=True)
        if self.pooler:
            await asyncio.to_thread(self.pooler.kill)
            self.pooler.aim_at(self.postgres.url)
            await asyncio.to_thread(self.pooler.start)

    def told(self, kind: str) -> list[tuple[int, str]]:
        """Numbers and tokens of what HTTP clients were told."""
        return [
            (int(number), token)
            for number, token in re.findall(rf"^{kind} (\d+) (\S+)$", self.clients.log, re.MULTILINE)
        ]


async def until_there(ask: Callable[[], Awaitable[_Answer]], seconds: float = 120) -> _Answer:
    """The answer, once nothing that passes by itself is in its way."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await ask()
        except (*TRANSIENT, asyncpg.InsufficientResourcesError, asyncpg.PostgresSystemError):
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)


def _mount(directory: Path) -> bool:
    """A small file system, where this user may have one."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MEGABYTES}m,mode=0711", "tmpfs", str(directory)]
    with suppress(OSError):
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    return False
