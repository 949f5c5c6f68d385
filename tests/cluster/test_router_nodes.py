"""Nodes of a cluster that die, come back, join and leave while work goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.embedded import EmbeddedPostgres
from pgjobs.schema.migrate import migrate, read_release
from pgjobs.schema.router import cluster
from tests.cluster.router import behind, has_plproxy, make_cluster, node_of
from tests.databases import Databases
from tests.server import new_home

BINARIES = Path("/usr/lib/postgresql/15/bin")
HAS_BINARIES = BINARIES.exists()
TASKS = int(os.environ.get("PGJOBS_ROUTER_TASKS", "60"))
JOB = "@global:tests:Work"
CLAIM: dict[str, Any] = {
    "holder": "me",
    "lease": timedelta(hours=1),
    "in_room": "@global",
    "in_category": "tests",
}
SMALL = {"shared_buffers": "16MB", "max_connections": "60"}


@pytest.fixture
async def servers() -> AsyncIterator[dict[int, EmbeddedPostgres]]:
    """A coordinator, under 0, and three nodes, each a server of its own."""
    if not HAS_BINARIES:
        pytest.skip("not installed: postgresql-15")
    home = new_home()
    with ExitStack() as running:
        servers = {
            number: running.enter_context(
                EmbeddedPostgres(home / str(number), options=SMALL, binaries=BINARIES)
            )
            for number in range(4)
        }
        if not await has_plproxy(servers[0].url):
            pytest.skip("the server has no PL/Proxy: apt-get install postgresql-15-plproxy")
        await make_cluster(servers[0].url, {number: servers[number].url for number in (1, 2, 3)})
        yield servers


async def completed(queue: Queue) -> list[int]:
    """Claims and completes until nothing is due."""
    done: list[int] = []
    while leases := await queue.claim_tasks(**CLAIM, quantity=20):
        rows = await queue.complete_tasks(leases)
        done += [row.task_id for row in rows if row.problem is None]
    return done


def kill(server: EmbeddedPostgres) -> None:
    """As a power cut does: nothing is written on the way out."""
    process = server._process
    assert process is not None
    process.send_signal(signal.SIGQUIT)
    process.wait(timeout=30)
    server._process = None


async def test_a_killed_node_is_named_while_work_goes_on_and_numbers_agree_when_it_is_back(servers):
    async with await Queue.connect(servers[0].url, max_size=4) as queue:
        await queue.register_job(*JOB.split(":"), max_attempts=3)
        before = [task.task_id for task in [await queue.submit_task(JOB) for _ in range(TASKS)]]
        on_two = {task_id for task_id in before if task_id >> 44 == 2}
        assert on_two
        kill(servers[2])
        # A call that was under way on a connection to it cannot know what became of it.
        with suppress(asyncpg.ConnectionFailureError):
            while (lost := await queue.submit_task(JOB)).task_id >> 44 != 2:
                before.append(lost.task_id)
        after = [(await queue.submit_task(JOB)).task_id for _ in range(TASKS)]
        assert {node_of(task_id) for task_id in after} == {1, 3}
        psql = await asyncpg.connect(servers[0].url)
        told: list[str] = []
        psql.add_log_listener(lambda _, message: told.append(message.message))
        shown = {row["id"] for row in await psql.fetch("select id from pgjobs.list_tasks(page_size => 500)")}
        assert shown == {*before, *after} - on_two
        assert told == ["Node 2 does not answer: what it has is missing here"]
        assert [f.subject for f in await queue.operators.findings() if "does not answer" in f.message] == [
            "node 2"
        ]
        with pytest.raises(asyncpg.PostgresConnectionError, match="Node 2 does not answer"):
            await queue.get_task(min(on_two))
        done = await completed(queue)
        assert set(done) == {*before, *after} - on_two
        registered = await queue.register_job("@global", "tests", "Later")
        assert [node.is_behind for node in await cluster.status(psql)] == [False, True, False]
        assert [node.answers for node in await cluster.status(psql)] == [True, False, True]

        servers[2].start()
        # Sessions remember for five seconds that a node is away; this one has just been opened.
        async with behind(servers[0].url) as fresh:
            done += await completed(fresh)
        assert Counter(done) == Counter([*before, *after])
        again = await asyncpg.connect(servers[0].url)
        assert await cluster.repair(again) == [2]
        assert all(node.answers and not node.is_behind for node in await cluster.status(again))
        for number in (1, 2, 3):
            async with behind(servers[number].url) as node:
                assert (await node.get_job("@global:tests:Later")).id == registered.job_id
                assert [rule.rule for rule in await node.check() if rule.violations] == []
        counted = await again.fetchval(
            "select total from pgjobs.count_tasks('@global', status => 'completed')"
        )
        assert counted == len(before) + len(after)
        await psql.close()
        await again.close()


async def test_a_key_of_a_killed_node_is_refused_rather_than_used_twice(servers):
    async with await Queue.connect(servers[0].url, max_size=4) as queue:
        await queue.register_job(*JOB.split(":"))
        keys = [f"order {number}" for number in range(12)]
        first = await queue.submit_tasks(JOB, [{}] * len(keys), idempotency_keys=keys)
        kill(servers[3])
        for key, task in zip(keys, first, strict=True):
            if task.task_id >> 44 == 3:
                with pytest.raises(asyncpg.PostgresConnectionError, match="Node 3 does not answer"):
                    await queue.submit_tasks(JOB, [{}], idempotency_keys=[key])
            else:
                again = (await queue.submit_tasks(JOB, [{}], idempotency_keys=[key]))[0]
                assert (again.task_id, again.is_new) == (task.task_id, False)
        await queue.register_job("@global", "tests", "Later")
        servers[3].start()
        async with behind(servers[0].url) as fresh:
            # It learns the job with the first key that belongs to it.
            tasks = [
                (await fresh.submit_tasks("@global:tests:Later", [{}], idempotency_keys=[key]))[0]
                for key in keys
            ]
            assert {node_of(task.task_id) for task in tasks} == {1, 2, 3}


@pytest.fixture
async def urls(databases: Databases) -> AsyncIterator[dict[int, str]]:
    """A coordinator, under 0, of nodes 1 and 2; node 3 is an empty database."""
    with ExitStack() as made:
        urls = {number: made.enter_context(databases.new()) for number in range(4)}
        if not await has_plproxy(urls[0]):
            pytest.skip("the server has no PL/Proxy: apt-get install postgresql-15-plproxy")
        await make_cluster(urls[0], {number: urls[number] for number in (1, 2)})
        yield urls


class Load:
    """Programs that submit the same keys, workers at the coordinator and at nodes, until both are told to stop."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.given: defaultdict[str, set[int]] = defaultdict(set)
        self.done: Counter[int] = Counter()
        self.is_over = False
        self._passed = 0
        self._round_passed = asyncio.Condition()

    async def submit(self, rounds_left: int = 2) -> None:
        """Each key again a round later, and until a while after the change."""
        async with behind(self.url) as queue:
            while rounds_left:
                rounds_left -= self.is_over
                for number in range(max(0, self._passed - 1) * 10, (self._passed + 1) * 10):
                    key = f"order {number}"
                    task = (await queue.submit_tasks(JOB, [{}], idempotency_keys=[key]))[0]
                    self.given[key].add(task.task_id)
                async with self._round_passed:
                    self._passed += 1
                    self._round_passed.notify_all()

    async def rounds(self, quantity: int) -> None:
        target = self._passed + quantity
        async with self._round_passed:
            await self._round_passed.wait_for(lambda: self._passed >= target)

    async def work(self, url: str, submitting: list[asyncio.Task[None]]) -> None:
        async with behind(url) as queue:
            leases: list[Any] = []
            while leases or not all(task.done() for task in submitting):
                leases = await queue.claim_tasks(**CLAIM, quantity=5)
                rows = await queue.complete_tasks(leases) if leases else []
                self.done.update(row.task_id for row in rows if row.problem is None)
                await asyncio.sleep(0)


async def swap_node(coordinator: Any, url: str, load: Load) -> None:
    """Node 3 joins, and node 2 is drained, with rounds of submits before, between and after."""
    node = await asyncpg.connect(url)
    await load.rounds(4)
    await migrate(node, read_release())
    await cluster.join(coordinator, node, 3, cluster.address_of(url, with_password=True))
    assert await cluster.take_slots(coordinator, 3) == 341
    await load.rounds(4)
    left = 1
    while left:
        left = await cluster.drain(coordinator, 2)
    load.is_over = True
    await node.close()


async def test_a_node_joins_and_one_is_drained_under_load_without_a_key_used_twice(urls):
    load = Load(urls[0])
    coordinator = await asyncpg.connect(urls[0])
    async with behind(urls[0]) as queue:
        await queue.register_job(*JOB.split(":"))
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            submitting = [group.create_task(load.submit()) for _ in range(2)]
            for number in (0, 1, 2):
                group.create_task(load.work(urls[number], submitting))
            await swap_node(coordinator, urls[3], load)
        async with behind(urls[3]) as node:
            await load.work(urls[3], [])
            load.done.update(await completed(node))
        load.done.update(await completed(queue))
        assert [key for key, ids in load.given.items() if len(ids) != 1] == []
        first = {key: min(ids) for key, ids in load.given.items()}
        assert {node_of(task_id) for task_id in first.values()} == {1, 2, 3}
        assert load.done == Counter(first.values())
        # Its past is still there to be asked, and its keys are known.
        assert [(node.number, node.slots) for node in await cluster.status(coordinator)][1] == (2, 0)
        old = next(key for key, task_id in first.items() if node_of(task_id) == 2)
        again = (await queue.submit_tasks(JOB, [{}], idempotency_keys=[old]))[0]
        assert (again.task_id, again.is_new) == (first[old], False)
        assert {node_of((await queue.submit_task(JOB)).task_id) for _ in range(20)} == {1, 3}
    await coordinator.close()
    for number in (1, 2, 3):
        async with behind(urls[number]) as node:
            assert [rule.rule for rule in await node.check() if rule.violations] == []


async def test_a_home_moves_off_a_drained_node_once_its_job_is_idle_and_the_limit_holds(urls):
    names = [f"@global:tests:Limited{number}" for number in range(6)]
    async with behind(urls[0]) as queue:
        for name in names:
            await queue.register_job(*name.split(":"), max_running=1)
        await queue.submit_tasks(names[0], [{}] * 2)
        homes = {name: (await queue.submit_task(name)).task_id >> 44 for name in names}
        assert set(homes.values()) == {1, 2}
        coordinator = await asyncpg.connect(urls[0])
        assert await cluster.drain(coordinator, 2) == sum(
            3 if name == names[0] else 1 for name, home in homes.items() if home == 2
        )
        for _ in range(8):
            leases = await queue.claim_tasks(**CLAIM, quantity=20)
            assert max(Counter(lease.job for lease in leases).values(), default=0) <= 1
            await queue.complete_tasks(leases)
        assert await cluster.drain(coordinator, 2) == 0
        for name in names:
            assert (await queue.submit_task(name)).task_id >> 44 == 1
        claimed = await queue.claim_tasks(**CLAIM, quantity=20)
        assert sorted(lease.job for lease in claimed) == names
        await coordinator.close()
