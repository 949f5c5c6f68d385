"""Everybody at work beside an upgrade: submits, HTTP clients, a reader; and who waits for whom meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg
import httpx

from pgjobs import Queue
from tests.reliability.ledger_worker import record
from tests.surfaces.rest_server import NO_TLS, token_of

SUBMIT = "select s.task_id from pgjobs.submit_tasks($1, array[$2::jsonb]) as s"


@dataclass
class Watch:
    """How long statements took, and for how long sessions were seen waiting for locks."""

    calls: int = 0
    slowest: float = 0
    waits: dict[tuple[int, object], float] = field(default_factory=dict)

    @property
    def longest_wait(self) -> float:
        return max(self.waits.values(), default=0)


async def read(url: str, watch: Watch) -> None:
    connection = await asyncpg.connect(url)
    try:
        while True:
            began = time.monotonic()
            await connection.fetch("select id, status from pgjobs.task order by id desc limit 5")
            await connection.fetch("select count(*) from pgjobs.list_tasks()")
            watch.slowest = max(watch.slowest, time.monotonic() - began)
            watch.calls += 1
            await asyncio.sleep(0.001)
    finally:
        await connection.close()


async def look(url: str, watch: Watch, migrating: int) -> None:
    """Samples who waits for a lock; the server's own account of when the waiting began, where it has one."""
    connection = await asyncpg.connect(url)
    try:
        while True:
            rows = await connection.fetch(
                "select l.pid, l.waitstart, extract(epoch from clock_timestamp() - l.waitstart)::float8 as waited"
                " from pg_locks as l where not l.granted and l.pid <> $1 and l.locktype <> 'advisory'"
                " and l.waitstart is not null",
                migrating,
            )
            for row in rows:
                watch.waits[row["pid"], row["waitstart"]] = row["waited"]
            await asyncio.sleep(0.002)
    finally:
        await connection.close()


@asynccontextmanager
async def beside(
    url: str, base: str, queue: Queue | None, watch: Watch, migrating: int
) -> AsyncIterator[list[object]]:
    """Everybody at work; answers with the tasks that were submitted meanwhile, without a queue by plain SQL."""
    stopped, submitted = asyncio.Event(), list[object]()
    watching = [asyncio.create_task(read(url, watch)), asyncio.create_task(look(url, watch, migrating))]
    submitting = [
        asyncio.create_task(submit(queue, submitted, stopped) if queue else insert(url, submitted, stopped)),
        asyncio.create_task(ask(base, submitted, stopped)),
    ]
    try:
        await asyncio.sleep(0.3)
        yield submitted
    finally:
        stopped.set()
        await asyncio.gather(*submitting)
        for task in watching:
            assert not task.done(), task.exception()
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


async def ask(base: str, counted: list[object], stopped: asyncio.Event) -> None:
    """A client of the HTTP API that submits a task, reads it back, and takes nothing but success for an answer."""
    headers = {"Authorization": f"Bearer {token_of('ada', is_superuser=True)}"}
    async with httpx.AsyncClient(
        base_url=f"{base}/v1/joblib/", headers=headers, trust_env=False, verify=NO_TLS
    ) as http:
        while not stopped.is_set():
            answer = await http.post(
                f"rooms/@global/tasks/{record.address}", json={"payload": {"number": len(counted)}}
            )
            assert answer.status_code == 202, answer.text
            counted.append(answer.json()["id"])
            read_back = await http.get(f"tasks/{answer.json()['id']}", headers={"Prefer": "wait=0"})
            assert read_back.status_code == 200, read_back.text
            await asyncio.sleep(0.005)


async def submit(queue: Queue, counted: list[object], stopped: asyncio.Event) -> None:
    while not stopped.is_set():
        counted.append((await queue.submit_task(record.address, {"number": len(counted)})).task_id)
        await asyncio.sleep(0.005)


async def insert(url: str, counted: list[object], stopped: asyncio.Event) -> None:
    connection = await asyncpg.connect(url)
    try:
        while not stopped.is_set():
            payload = f'{{"number": {len(counted)}}}'
            counted.append(await connection.fetchval(SUBMIT, record.address, payload))
            await asyncio.sleep(0.005)
    finally:
        await connection.close()


async def ended(connection: asyncpg.Connection, count: int) -> None:
    async with asyncio.timeout(120):
        while await connection.fetchval("select count(*) from pgjobs.outcomes") < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
