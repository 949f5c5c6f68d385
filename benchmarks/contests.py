"""Our Worker and the peers, each in its best documented mode, in turns on the same server."""

from __future__ import annotations

import statistics
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import asyncpg

from benchmarks.counting import Proxy
from benchmarks.database import Bench, settle
from benchmarks.peers import OURS, PEERS, Peer
from benchmarks.peers.players import Player, Unplayable, playing
from benchmarks.scenario import Bar, Samples, Scale, Scenario

_WARM_UP = 200


@asynccontextmanager
async def turn(bench: Bench, peer: Peer, through: Proxy | None = None) -> AsyncIterator[Player]:
    """A new process on a new database."""
    async with (
        bench.server.database(peer.environment.name) as url,
        playing(peer, through.through(url) if through else url) as player,
    ):
        player.url = url
        yield player


async def _take_turns(
    bench: Bench,
    scale: Scale,
    samples: Samples,
    contenders: list[Peer],
    measure: Callable[[Player, Peer], Awaitable[float]],
) -> None:
    for _ in range(scale.rounds):
        for peer in contenders:
            if peer.name in samples.skipped:
                continue
            try:
                async with turn(bench, peer) as player:
                    samples.add(peer.name, await measure(player, peer))
                    samples.modes[peer.name] = player.mode
            except Unplayable as reason:
                samples.skip(peer.name, str(reason))


async def enqueue_one(bench: Bench, scale: Scale, samples: Samples) -> None:
    """One client submits single tasks, each acknowledged before the next."""

    async def measure(player: Player, _peer: Peer) -> float:
        return float(await player.ask("one", seconds=min(scale.seconds, 2)))

    await _take_turns(bench, scale, samples, _workers(bench), measure)


async def enqueue_bulk(bench: Bench, scale: Scale, samples: Samples) -> None:
    """One client submits a thousand tasks a call."""

    async def measure(player: Player, peer: Peer) -> float:
        return float(await player.ask("bulk", count=_count(peer, scale)))

    contenders = [peer for peer in _workers(bench) if peer.submits_many]
    await _take_turns(bench, scale, samples, contenders, measure)


async def drain(bench: Bench, scale: Scale, samples: Samples) -> None:
    """One worker process works through no-op tasks, until its own tables say that nothing is left."""

    async def measure(player: Player, peer: Peer) -> float:
        count = _count(peer, scale)
        await player.ask("bulk", count=count)
        await _settle(player.url)
        return float(await player.ask("drain", count=count))

    await _take_turns(bench, scale, samples, _workers(bench), measure)


async def pickup(bench: Bench, scale: Scale, samples: Samples) -> None:
    """From before the submit call until the handler of an idle worker runs, median."""

    async def measure(player: Player, _peer: Peer) -> float:
        times: list[float] = await player.ask("pickup", count=scale.pickups)
        return statistics.median(times)

    await _take_turns(bench, scale, samples, _workers(bench), measure)


def _workers(bench: Bench) -> list[Peer]:
    return [OURS, *(peer for peer in bench.peers if peer.only is None)]


def _count(peer: Peer, scale: Scale) -> int:
    return max(_WARM_UP, int(peer.drained * scale.share))


async def _settle(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await settle(connection)
    finally:
        await connection.close()


_NAMES = {peer.program: peer.name for peer in PEERS}
_GRAPHILE, _PGQUEUER, _PGMQ, _SAQ = (
    _NAMES[f"play_{p}"] for p in ("graphile.mjs", "pgqueuer.py", "pgmq.py", "saq.py")
)

SCENARIOS = [
    Scenario(
        "drain",
        "drain by one worker process",
        "tasks/s",
        drain,
        (
            Bar(
                "drain of the shipped `Worker`, history and results kept ÷ Graphile's best mode",
                OURS.name,
                _GRAPHILE,
                1.3,
                1.5,
            ),
            Bar("the same ÷ PgQueuer's best mode", OURS.name, _PGQUEUER, 3, 5),
        ),
        minutes=4.6,
        is_contest=True,
    ),
    Scenario(
        "pickup",
        "pickup by an idle worker, p50",
        "ms",
        pickup,
        (
            Bar("pickup p50 on an idle queue ÷ PgQueuer's", OURS.name, _PGQUEUER, 0.7, 0.6, True),
            Bar("pickup p50 on an idle queue ÷ pgmq's, with notify", OURS.name, _PGMQ, 1.0, 0.8, True),
            Bar("pickup p50 on an idle queue ÷ SAQ's on Redis", OURS.name, _SAQ, None, 1.0, True),
        ),
        minutes=2.5,
        is_contest=True,
    ),
    Scenario(
        "one",
        "enqueue one at a time",
        "tasks/s",
        enqueue_one,
        (
            Bar("enqueue one, from Python ÷ pgmq's client", OURS.name, _PGMQ, 0.8, 1.0),
            Bar("enqueue one, from Python ÷ PgQueuer", OURS.name, _PGQUEUER, 1.0, 1.3),
        ),
        minutes=1.9,
        is_contest=True,
    ),
    Scenario(
        "bulk",
        "enqueue a thousand a call",
        "tasks/s",
        enqueue_bulk,
        (Bar("enqueue a thousand a call, from Python ÷ pgmq's client", OURS.name, _PGMQ, 0.6, 0.8),),
        minutes=1.8,
        is_contest=True,
    ),
]
