"""Workflows: shapes, how soon a child starts, what an end costs that many wait for, and kept steps."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.contests import turn
from benchmarks.database import PAYLOAD, Bench
from benchmarks.peers import OURS, PEERS
from benchmarks.peers.players import Unplayable
from benchmarks.scenario import Bar, Samples, Scale, Scenario
from pgjobs import Jobs, Queue, Worker

Entries = list[dict[str, Any]]
_JOB = "@global:bench:job1"
_MOST = 10_000
_ACKS = 5
_WARM_UP = 3
_SUBMIT_CHILDREN = """
select count(*)
from pgjobs.submit_tasks('1', array_fill($1::text::jsonb, array[$2::int]), after => array[$3::bigint])
"""
_CLAIM = """
select task_id, token
from pgjobs.claim_tasks(holder => 'bench', lease => '1 hour', job_ids => array[1], quantity => $1)
"""
_COMPLETE = "select count(*) from pgjobs.complete_tasks(array[$1::bigint], array[$2::uuid])"
_IS_LEFT = """
select exists (select from pgjobs.scheduled)
  or exists (select from pgjobs.ready) or exists (select from pgjobs.leases)
"""


def _size(scale: Scale) -> int:
    return min(_MOST, scale.tasks // 25)


def _entry(name: str, *after: str) -> dict[str, Any]:
    return {"name": name, "job": _JOB, **({"after": list(after)} if after else {})}


def _chain(size: int) -> Iterator[Entries]:
    yield [_entry(f"t{n}", *([f"t{n - 1}"] if n else [])) for n in range(size)]


def _fan(size: int) -> Iterator[Entries]:
    middle = [f"t{n}" for n in range(size - 2)]
    yield [_entry("top"), *(_entry(name, "top") for name in middle), _entry("bottom", *middle)]


def _diamonds(size: int) -> Iterator[Entries]:
    for _ in range(size // 4):
        yield [_entry("a"), _entry("b", "a"), _entry("c", "a"), _entry("d", "b", "c")]


def _three_each(size: int) -> Iterator[Entries]:
    for _ in range(size // 10):
        yield [_entry("a"), _entry("b", "a"), _entry("c", "b")]


async def shapes(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Tasks per second of one worker, from its start until all workflows have ended."""
    size = _size(scale)
    contenders = {
        "chain": _chain,
        "fan-out and fan-in": _fan,
        "diamonds": _diamonds,
        "three tasks each": _three_each,
    }
    samples.modes["chain"] = f"{size:,} tasks, one after the other"
    samples.modes["fan-out and fan-in"] = f"{size:,} tasks: one, all others after it, one after them"
    samples.modes["diamonds"] = f"{size // 4:,} workflows of four tasks at once"
    samples.modes["three tasks each"] = f"{size // 10:,} workflows at once, each a chain of three"
    for _ in range(min(scale.rounds, 3)):
        for name, shape in contenders.items():
            await bench.reset()
            flows = list(shape(size))
            for flow in flows:
                await bench.queue.submit_workflow(name, flow)
            await bench.settle()
            samples.add(name, sum(map(len, flows)) / await _drain(bench))


async def _drain(bench: Bench) -> float:
    jobs = Jobs()

    async def nothing() -> None:
        pass

    jobs.task(room="@global", category="bench", name="job1")(nothing)
    async with _working(bench, jobs):
        started = time.perf_counter()
        while await bench.connection.fetchval(_IS_LEFT):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        return time.perf_counter() - started


@asynccontextmanager
async def _working(bench: Bench, jobs: Jobs) -> AsyncIterator[Queue]:
    async with await Queue.connect(bench.url) as queue:
        jobs.use(queue)
        worker = Worker(queue, jobs)
        await worker.start()
        try:
            yield queue
        finally:
            await worker.close()


async def child_starts(bench: Bench, scale: Scale, samples: Samples) -> None:
    """From a parent's end until its child's handler runs, and from a submit until its handler runs."""
    jobs, reached, seen = Jobs(), asyncio.Event(), dict[str, float]()

    @jobs.task(category="bench")
    async def single() -> None:
        seen["single"] = time.perf_counter()
        reached.set()

    @jobs.task(category="bench")
    async def parent() -> None:
        seen["parent"] = time.perf_counter()

    @jobs.task(category="bench")
    async def child() -> None:
        seen["child"] = time.perf_counter()
        reached.set()

    await bench.reset()
    async with _working(bench, jobs):
        for _ in range(scale.rounds):
            times: dict[str, list[float]] = {"pickup": [], "child starts": []}
            for number in range(scale.pickups + _WARM_UP):
                reached.clear()
                submitted = time.perf_counter()
                await single.submit()
                await reached.wait()
                await asyncio.sleep(0.05)
                reached.clear()
                flow = jobs.workflow("two")
                flow.add(child, after=flow.add(parent))
                await flow.submit()
                await reached.wait()
                await asyncio.sleep(0.05)
                if number >= _WARM_UP:
                    times["pickup"].append((seen["single"] - submitted) * 1000)
                    times["child starts"].append((seen["child"] - seen["parent"]) * 1000)
            for name, measured in times.items():
                samples.add(name, statistics.median(measured))


async def awaited_ends(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Median acknowledgement of a task that many wait for, and of one that nobody waits for."""
    size = _size(scale)
    samples.modes["many wait"] = f"{size:,} children"
    for _ in range(scale.rounds):
        await bench.reset()
        await bench.fill(2 * (_ACKS + 1))
        leases = await bench.connection.fetch(_CLAIM, 2 * (_ACKS + 1))
        for lease in leases[::2]:
            await bench.connection.execute(_SUBMIT_CHILDREN, PAYLOAD, size, lease["task_id"])
        await bench.settle()
        times: dict[str, list[float]] = {"many wait": [], "nobody waits": []}
        for number, lease in enumerate(leases):
            started = time.perf_counter()
            await bench.connection.execute(_COMPLETE, lease["task_id"], lease["token"])
            # The first of each prepares its statement.
            if number > 1:
                times["nobody waits" if number % 2 else "many wait"].append(time.perf_counter() - started)
        for name, measured in times.items():
            samples.add(name, statistics.median(measured) * 1000)


async def workflows(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Workflows of three kept steps, submitted and finished per second."""
    contenders = [(OURS, 4_000), *((peer, peer.drained) for peer in bench.peers if peer.only == "workflows")]
    for _ in range(scale.rounds):
        for peer, most in contenders:
            if peer.name in samples.skipped:
                continue
            try:
                async with turn(bench, peer) as player:
                    rate = await player.ask("workflows", count=max(20, int(most * scale.share)))
                    samples.add(peer.name, float(rate))
                    samples.modes[peer.name] = player.mode
            except Unplayable as reason:
                samples.skip(peer.name, str(reason))


_DBOS, _ABSURD = (peer.name for peer in PEERS if peer.only == "workflows")

SCENARIOS = [
    Scenario("shapes", "workflows worked through by one worker", "tasks/s", shapes, minutes=3.0),
    Scenario(
        "child",
        "a parent's end until its child starts, p50",
        "ms",
        child_starts,
        (
            Bar(
                "a parent's end until its child starts ÷ pickup p50", "child starts", "pickup", 1.5, 1.2, True
            ),
        ),
        minutes=0.7,
    ),
    Scenario(
        "awaited",
        "acknowledgement that many wait for, p50",
        "ms",
        awaited_ends,
        (Bar("acknowledgement with 10,000 children ÷ none", "many wait", "nobody waits", 1.2, 1.1, True),),
        minutes=1.5,
    ),
    Scenario(
        "workflows",
        "workflows of three steps",
        "workflows/s",
        workflows,
        (
            Bar("finished workflows of three steps ÷ DBOS's", OURS.name, _DBOS, 5, 8),
            Bar("the same ÷ Absurd's", OURS.name, _ABSURD, 3, 5),
        ),
        minutes=2.0,
        is_contest=True,
    ),
]
