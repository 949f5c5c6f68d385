"""What it costs to wake workers, and what workers cost that nobody wakes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from benchmarks.contests import turn
from benchmarks.counting import counting_proxy
from benchmarks.database import Bench
from benchmarks.peers import OURS, Peer
from benchmarks.peers.players import Unplayable
from benchmarks.scenario import Bar, Samples, Scale, Scenario
from pgjobs import Jobs, Queue, Worker

COMMITTERS, WAITERS = 16, 4
NOBODY = "no notification"


async def committers(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Sixteen clients submit single tasks; beside them workers are busy, or wait, or cannot be notified."""
    samples.modes["workers busy"] = f"{WAITERS} workers, each with as many tasks as it may run"
    samples.modes["workers waiting"] = f"{WAITERS} sessions that wait again as soon as they are woken"
    samples.modes[NOBODY] = "the same busy workers, and a submit that looks for nobody"
    contenders = {NOBODY: _busy_workers, "workers busy": _busy_workers, "workers waiting": _hungry_sessions}
    for _ in range(scale.rounds):
        for name, beside in contenders.items():
            await bench.reset()
            if name == NOBODY:
                await _notify_nobody(bench)
            await bench.settle()
            async with beside(bench):
                tps = await bench.pgbench("submit.sql", batch=1, clients=COMMITTERS, seconds=scale.seconds)
            samples.add(name, tps)


async def _notify_nobody(bench: Bench) -> None:
    """Takes the look for a waiting worker out of this database's submit."""
    arguments = await bench.connection.fetchval(
        "select pg_get_function_arguments('pgjobs._wake'::regproc)",
    )
    await bench.connection.execute(
        f"create or replace function pgjobs._wake({arguments}) returns void language plpgsql "
        "set search_path = pg_catalog, pgjobs, pg_temp as $$ begin end $$"
    )


@asynccontextmanager
async def _busy_workers(bench: Bench) -> AsyncIterator[None]:
    """Real workers of job 1 that have all they can do until the end."""
    jobs, released, started = Jobs(), asyncio.Event(), asyncio.Semaphore(0)

    async def hold() -> None:
        started.release()
        await released.wait()

    jobs.task(room="@global", category="bench", name="job1")(hold)
    async with await Queue.connect(bench.url) as queue:
        jobs.use(queue)
        workers = [Worker(queue, jobs, concurrency=1, prefetch=0, name=f"busy {n}") for n in range(WAITERS)]
        try:
            for worker in workers:
                await worker.start()
            await queue.submit_tasks("1", [{}] * WAITERS)
            async with asyncio.timeout(60):
                for _ in workers:
                    await started.acquire()
            yield
        finally:
            # Closing before they are let go: none of them may begin with what was submitted meanwhile.
            closing = [asyncio.create_task(worker.close()) for worker in workers]
            await asyncio.sleep(0)
            released.set()
            await asyncio.gather(*closing)


@asynccontextmanager
async def _hungry_sessions(bench: Bench) -> AsyncIterator[None]:
    """Sessions that always wait: woken, each marks itself at once, so that every submit has one to wake."""
    sessions = [await asyncpg.connect(bench.url) for _ in range(WAITERS)]
    waiting = [asyncio.create_task(_wait_again(session)) for session in sessions]
    try:
        yield
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for session in sessions:
            session.terminate()


async def _wait_again(session: asyncpg.Connection) -> None:
    woken = asyncio.Event()
    mark = 0

    def hear(_session: object, _pid: int, _channel: str, payload: object) -> None:
        if str(mark) in str(payload).split(","):
            woken.set()

    await session.add_listener("pgjobs._wake", hear)
    while True:
        woken.clear()
        mark = await session.fetchval("select mark from pgjobs.mark_waiting(job_ids => array[1])")
        await woken.wait()


async def idle(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Queries per second of one idle worker, counted on its way to Postgres."""
    contenders = [OURS, *(peer for peer in bench.peers if peer.has_idle_worker and peer.only is None)]
    async with asyncio.TaskGroup() as group:
        for peer in contenders:
            group.create_task(_watch(bench, peer, scale, samples))


async def _watch(bench: Bench, peer: Peer, scale: Scale, samples: Samples) -> None:
    try:
        async with counting_proxy(bench.server.url("")) as proxy, turn(bench, peer, through=proxy) as player:
            await player.ask("start")
            # What a worker asks once when it starts is not what it asks while idle.
            await asyncio.sleep(scale.idle / 3)
            before = proxy.queries
            await asyncio.sleep(scale.idle)
            samples.add(peer.name, (proxy.queries - before) / scale.idle)
            samples.modes[peer.name] = player.mode
    except Unplayable as reason:
        samples.skip(peer.name, str(reason))


SCENARIOS = [
    Scenario(
        "committers",
        "16 clients submitting single tasks",
        "tasks/s",
        committers,
        (
            Bar(
                "16 committers submitting single tasks with workers busy ÷ no notification at all",
                "workers busy",
                NOBODY,
                0.8,
                0.95,
            ),
            Bar("the same with 4 workers waiting", "workers waiting", NOBODY, 0.4, 0.7),
        ),
        minutes=1.6,
    ),
    Scenario(
        "idle",
        "idle worker",
        "queries/s",
        idle,
        (Bar("idle worker, queries per second", OURS.name, None, 1, 0.3, True),),
        minutes=1.1,
        is_contest=True,
    ),
]
