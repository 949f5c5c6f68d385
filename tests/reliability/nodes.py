"""Two Postgres servers, one of them a synchronous standby of the other."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Self

import asyncpg

from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError
from tests.server import new_home
from tests.surfaces.processes import free_port


class Pair:
    """Whatever is acknowledged is on both; the primary can be killed, the standby take its place."""

    def __init__(self) -> None:
        self._home = new_home()
        self._generation = 0
        self._sender: int | None = None
        self.primary = EmbeddedPostgres(self._home / "first", port=free_port())
        self.standby: EmbeddedPostgres | None = None
        self._ports = [self.primary.port, free_port()]

    @property
    def url(self) -> str:
        """Both servers, in the same order whichever is the primary."""
        places = ",".join(f"127.0.0.1:{port}" for port in self._ports)
        password = self.primary.password
        return f"postgresql://postgres:{password}@{places}/postgres?target_session_attrs=primary"

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.primary.start)
        await self.add_standby()
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in (self.standby, self.primary):
            if server is not None:
                await asyncio.to_thread(server.stop)
        shutil.rmtree(self._home, ignore_errors=True)

    async def add_standby(self) -> None:
        """A copy of the primary, without which it acknowledges nothing from now on."""
        self._generation += 1
        (port,) = (port for port in self._ports if port != self.primary.port)
        standby = EmbeddedPostgres(self._home / f"copy {self._generation}", port=port)
        await asyncio.to_thread(copy, self.primary, standby)
        self.standby = await asyncio.to_thread(standby.start)
        connection = await asyncpg.connect(self.primary.url)
        try:
            await wait_for_standby(connection)
        finally:
            await connection.close()

    async def hold_back(self) -> None:
        """From here on the standby learns of nothing, so that nothing may be acknowledged."""
        connection = await asyncpg.connect(self.primary.url)
        try:
            self._sender = int(await connection.fetchval("select pid from pg_stat_replication"))
        finally:
            await connection.close()
        os.kill(self._sender, signal.SIGSTOP)

    async def kill_primary(self) -> None:
        """Without a word, as a machine that loses its power."""
        process, self.primary._process = self.primary._process, None
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        if self._sender is not None:
            # Left to itself it would send the rest once it is awake.
            os.kill(self._sender, signal.SIGKILL)
            self._sender = None
        await asyncio.to_thread(process.wait, 30)

    async def promote(self) -> None:
        assert self.standby is not None
        await promote(self.standby)
        self.primary, self.standby = self.standby, None


def copy(primary: EmbeddedPostgres, standby: EmbeddedPostgres) -> None:
    """Makes the directory of a standby, which may be started then."""
    standby.directory.mkdir()
    standby.directory.chmod(0o711)
    shutil.copy(primary.directory / "password", standby.directory)
    standby.data.mkdir(mode=0o700)
    standby._give_away(standby.data)
    tool = _tool(standby, "pg_basebackup")
    command = [str(tool), f"--pgdata={standby.data}", "--write-recovery-conf"]
    command += ["--checkpoint=fast", "--no-sync", f"--dbname={primary.url}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **standby._identity())
    assert done.returncode == 0, done.stderr
    # Not what the primary was told about its own standbys: alone it would wait for them for ever.
    (standby.data / "postgresql.auto.conf").write_text(_without_standbys(standby.data))


async def wait_for_standby(connection: asyncpg.Connection) -> None:
    """From now on the primary acknowledges nothing that its standby does not have."""
    await connection.execute("alter system set synchronous_standby_names = '*'")
    await connection.execute("select pg_reload_conf()")
    await _until(connection, "select exists (select from pg_stat_replication where sync_state = 'sync')")


async def promote(standby: EmbeddedPostgres) -> None:
    connection = await asyncpg.connect(standby.url)
    try:
        assert await connection.fetchval("select pg_promote(true, 60)")
    finally:
        await connection.close()


def _tool(server: EmbeddedPostgres, name: str) -> Path:
    tool = server._binaries() / name
    if not tool.exists():
        raise EmbeddedPostgresError(f"These Postgres binaries come without {name}")
    return tool


def _without_standbys(data: Path) -> str:
    lines = (data / "postgresql.auto.conf").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("synchronous_standby_names"))


async def _until(connection: asyncpg.Connection, claim: str) -> None:
    async with asyncio.timeout(30):
        while not await connection.fetchval(claim):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
