"""The leader of a Patroni cluster is killed under load: nothing acknowledged is lost or done twice."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import ApiSettings
from tests.cluster.load import Submitters, by_http, by_sql
from tests.cluster.patroni import LEASE_SECONDS, Cluster
from tests.reliability.crew import Crew
from tests.reliability.ledger_worker import record
from tests.reliability.test_failover import recorded, tokens
from tests.surfaces.rest_server import NO_TLS, SECRET, app_on, serving, token_of

KILLS = int(os.environ.get("PGJOBS_CLUSTER_KILLS", "1"))
TASKS = int(os.environ.get("PGJOBS_CLUSTER_TASKS", "300"))
RESULT = os.environ.get("PGJOBS_CLUSTER_RESULT")
SUBMITTERS = 4 if KILLS == 1 else 16
PATIENCE = 60 + TASKS / 10
LEDGER = "create table ledger (number int, attempt int, pid int, at timestamptz default clock_timestamp())"
LONGEST_IDLE = """
select extract(epoch from max(gap))::float
from (select at - lag(at) over (order by at) as gap from ledger) as gaps
"""


async def column(url: str, query: str) -> list[Any]:
    """Asks whoever is the leader, until one answers."""
    async with asyncio.timeout(60):
        while True:
            try:
                connection = await asyncpg.connect(url, timeout=5)
                try:
                    return [row[0] for row in await connection.fetch(query)]
                finally:
                    await connection.close(timeout=5)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await asyncio.sleep(0.2)


async def ledger_has(url: str, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await column(url, "select count(*) from ledger"))[0] < count:  # noqa: ASYNC110
            await asyncio.sleep(0.3)


@asynccontextmanager
async def doors(url: str) -> AsyncIterator[tuple[Queue, httpx.AsyncClient]]:
    """The queue as programs reach it, and a server that others ask over HTTP."""
    token = token_of("load", is_superuser=True)
    with serving(
        app_on(url, ApiSettings(auth_secret=SECRET, run_schedules=False, run_cleanup=False))
    ) as address:
        async with (
            await Queue.connect(url, max_size=SUBMITTERS) as queue,
            httpx.AsyncClient(
                base_url=address, headers={"Authorization": f"Bearer {token}"}, verify=NO_TLS, timeout=20
            ) as client,
        ):
            yield queue, client


@pytest.mark.long
async def test_a_leader_killed_under_load_loses_and_repeats_nothing_acknowledged(
    cluster: Cluster, tmp_path: Path
):
    outages = []
    await column(cluster.url, LEDGER)
    async with doors(cluster.url) as (queue, client):
        await record.register(queue)
        submitters = Submitters(
            [by_sql(queue) for _ in range(SUBMITTERS)] + [by_http(client) for _ in range(SUBMITTERS)],
            pause=0.04,
        )
        with Crew(cluster.url, tmp_path / "log", size=2, lease_seconds=4, seed=1) as crew:
            async with submitters.at_work():
                for turn in range(1, KILLS + 1):
                    share = TASKS * turn // (KILLS + 1)
                    await submitters.have_acknowledged(share, PATIENCE)
                    await ledger_has(cluster.url, share // 3)
                    leader = await cluster.settled(len(cluster.nodes))
                    leader.kill()
                    killed_at = time.monotonic()
                    acknowledged, done = set(submitters.acknowledged), recorded(crew.log)
                    await submitters.have_acknowledged(len(acknowledged) + 2 * SUBMITTERS + 1, 90)
                    outages.append(round(time.monotonic() - killed_at, 1))
                    there = await column(
                        cluster.url, "select (t.payload ->> 'number')::int from pgjobs.tasks as t"
                    )
                    assert acknowledged <= set(there), "a submit was lost"
                    ledger = await column(cluster.url, "select number from ledger")
                    assert done <= set(ledger), "an outcome was lost"
                    cluster.start(leader)
                await submitters.have_acknowledged(TASKS, PATIENCE)
            await ledger_has(cluster.url, len(submitters.acknowledged))
            assert all(process.poll() is None for process in crew.processes), crew.log[-3000:]
            log = crew.log
        assert [rule for rule in await queue.check() if rule.violations] == []
    numbers = await column(cluster.url, "select number from ledger")
    lost, twice = len(set(submitters.acknowledged) - set(numbers)), len(numbers) - len(set(numbers))
    assert (lost, twice) == (0, 0)
    assert Counter(numbers) == Counter(submitters.acknowledged)
    assert len(await column(cluster.url, "select id from pgjobs.tasks")) == len(numbers)
    assert recorded(log) <= set(numbers)
    assert [token for token, times in Counter(tokens(log)).items() if times > 1] == []
    await cluster.settled(len(cluster.nodes))
    if RESULT is not None:
        [idle] = await column(cluster.url, LONGEST_IDLE)
        [server] = await column(cluster.url, "show server_version")
        found = {
            "server": f"Postgres {server}", "nodes": len(cluster.nodes), "leader_lease_seconds": LEASE_SECONDS,
            "tasks": len(numbers), "leaders_killed": KILLS, "acknowledged_lost": lost, "done_twice": twice,
            "seconds_without_a_submit": outages, "longest_seconds_without_an_outcome": round(idle, 1),
        }  # fmt: skip
        await asyncio.to_thread(Path(RESULT).write_text, json.dumps(found, indent=2) + "\n")
