"""Databases of the benchmark's own, each with a queue and the floor beside it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.binaries import find_binaries

if TYPE_CHECKING:
    from benchmarks.peers import Peer

HERE = Path(__file__).parent
PAYLOAD = (
    '{"n": 1, "text": "some payload of about one hundred bytes, '
    'which is what most people send, more or less"}'
)
_FILLING = 10_000


class Bench:
    """One database: verbs through `queue`, everything else through `connection`; `reset` makes it anew."""

    queue: Queue
    connection: asyncpg.Connection

    def __init__(self, server: Server, name: str, peers: Sequence[Peer]) -> None:
        self.server = server
        self.name = name
        self.url = server.url(name)
        self.peers = peers

    async def reset(self, *, jobs: int = 1) -> None:
        """Empty tables, `jobs` registered jobs (numbers 1 to `jobs`) and a fresh floor."""
        await self.close()
        await self.server.create(self.name, template=await self.server.template())
        self.queue = await Queue.connect(self.url)
        self.connection = await asyncpg.connect(self.url)
        await self.connection.execute(
            "select pgjobs.register_job('@global', 'bench', 'job' || n) "
            "from generate_series(1, $1::int) as n",
            jobs,
        )

    async def close(self) -> None:
        if hasattr(self, "queue"):
            await self.queue.close()
            await self.connection.close()

    async def fill(self, quantity: int, *, jobs: int = 1, ahead: str | None = None) -> None:
        """`quantity` waiting tasks, evenly over the jobs; due only after `ahead`, if given."""
        each = quantity // jobs
        batches = [
            (str(job), min(_FILLING, each - start))
            for job in range(1, jobs + 1)
            for start in range(0, each, _FILLING)
        ]
        await asyncio.gather(*(self._submit(batches[half::2], ahead) for half in (0, 1)))

    async def _submit(self, batches: list[tuple[str, int]], ahead: str | None) -> None:
        connection = await asyncpg.connect(self.url)
        try:
            for job, quantity in batches:
                await connection.execute(
                    "select count(*) from pgjobs.submit_tasks("
                    "$1, array_fill($2::text::jsonb, array[$3::int]), delay => $4::text::interval)",
                    job,
                    PAYLOAD,
                    quantity,
                    ahead,
                )
        finally:
            await connection.close()

    async def fill_floor(self, quantity: int) -> None:
        await self.connection.execute(
            "insert into floor_queue (payload) select $1 from generate_series(1, $2::int)", PAYLOAD, quantity
        )

    async def settle(self) -> None:
        """Statistics and visibility as a quiet server would have them, and no checkpoint due."""
        await settle(self.connection)

    async def pgbench(
        self,
        script: str,
        *,
        batch: int,
        clients: int,
        seconds: float | None = None,
        transactions: int | None = None,
        is_connecting: bool = False,
    ) -> float:
        """Transactions per second of one script, each on a connection of its own if `is_connecting`."""
        command = [
            str(find_pgbench()),
            "--no-vacuum",
            "--protocol=prepared",
            f"--client={clients}",
            f"--jobs={min(clients, 2)}",
            f"--define=batch={batch}",
            f"--file={HERE / 'pgbench' / script}",
        ]
        if is_connecting:
            command.append("--connect")
        if transactions is None:
            command.append(f"--time={max(1, round(seconds or 0))}")
        else:
            command.append(f"--transactions={max(1, transactions)}")
        return await asyncio.to_thread(_tps, [*command, self.url])

    @asynccontextmanager
    async def beside(self, name: str) -> AsyncIterator[Bench]:
        """Another database on the same server, for what must exist at the same time."""
        async with _bench(self.server, name, self.peers) as bench:
            yield bench


class Server:
    """A Postgres on which databases are made and dropped, named after the one in its URL."""

    def __init__(self, url: str, admin: asyncpg.Connection) -> None:
        self._parts = urlsplit(url)
        self._admin = admin
        self._turn = asyncio.Lock()
        self._template: str | None = None

    def url(self, name: str) -> str:
        return urlunsplit(self._parts._replace(path=f"/{self._full(name)}"))

    def _full(self, name: str) -> str:
        return f"{self._parts.path.lstrip('/') or 'postgres'}_{name}"

    async def create(self, name: str, template: str = "template1") -> str:
        await self.drop(name)
        await self._execute(f'create database "{self._full(name)}" template "{template}"')
        return self.url(name)

    async def drop(self, name: str) -> None:
        await self._execute(f'drop database if exists "{self._full(name)}" with (force)')

    async def _execute(self, statement: str) -> None:
        async with self._turn:
            await self._admin.execute(statement)

    async def template(self) -> str:
        """A database with empty tables, made once and copied often."""
        if self._template is None:
            url = await self.create("template")
            async with await Queue.connect(url) as queue:
                await queue.migrate()
            connection = await asyncpg.connect(url)
            await connection.execute((HERE / "pgbench" / "floor.sql").read_text())
            await connection.close()
            self._template = self._full("template")
        return self._template

    @asynccontextmanager
    async def database(self, name: str) -> AsyncIterator[str]:
        """An empty database that is dropped again."""
        try:
            yield await self.create(name)
        finally:
            await self.drop(name)


def _tps(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    line = next(line for line in done.stdout.splitlines() if line.startswith("tps = "))
    return float(line.split()[2])


def find_pgbench() -> Path:
    path = Path(find_binaries()) / "pgbench"
    if not path.exists():
        raise FileNotFoundError("pgbench is not installed beside this Postgres")
    return path


async def settle(connection: asyncpg.Connection) -> None:
    await connection.execute("vacuum analyze")
    await connection.execute("checkpoint")


@asynccontextmanager
async def _bench(server: Server, name: str, peers: Sequence[Peer]) -> AsyncIterator[Bench]:
    bench = Bench(server, name, peers)
    try:
        yield bench
    finally:
        await bench.close()
        await server.drop(name)


@asynccontextmanager
async def open_bench(url: str, peers: Sequence[Peer] = ()) -> AsyncIterator[Bench]:
    """A bench on the server of `url`, whose own database stays as it is."""
    admin = await asyncpg.connect(url)
    server = Server(url, admin)
    try:
        async with _bench(server, "bench", peers) as bench:
            yield bench
    finally:
        await server.drop("template")
        await admin.close()
