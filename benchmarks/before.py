"""Plain tasks now and before: what does not use dependencies, steps or keys must not pay for them."""

from __future__ import annotations

import asyncpg

from benchmarks.contests import turn
from benchmarks.database import Bench, settle
from benchmarks.peers import BEFORE, OURS, Peer
from benchmarks.peers.players import Player, Unplayable
from benchmarks.scenario import Bar, Samples, Scale, Scenario

_CLIENTS, _BATCH = 8, 100
_WHEN = {OURS.name: "now", BEFORE.name: "before"}


async def before(bench: Bench, scale: Scale, samples: Samples) -> None:
    """A drain by the worker, claim + complete and submit by pgbench, each in its own code and schema."""
    for round_number in range(scale.rounds):
        contenders = [OURS, *(peer for peer in bench.peers if peer.only == "before")]
        # In turns, and in turn the first: who comes second finds a warmer machine.
        for peer in contenders if round_number % 2 == 0 else reversed(contenders):
            if peer.name in samples.skipped:
                continue
            try:
                async with turn(bench, peer) as player:
                    await _measure(bench, scale, samples, peer, player)
                    samples.modes[_WHEN[peer.name]] = player.mode
            except Unplayable as reason:
                samples.skip(peer.name, str(reason))


async def _measure(bench: Bench, scale: Scale, samples: Samples, peer: Peer, player: Player) -> None:
    when = _WHEN[peer.name]
    drained = max(200, int(peer.drained * scale.share))
    beside = Bench(bench.server, peer.environment.name, ())
    beside.connection = await asyncpg.connect(beside.url)
    try:
        # The first, so that it has the number that the scripts name.
        await beside.connection.execute("select pgjobs.register_job('@global', 'bench', 'job1')")
        await player.ask("bulk", count=drained)
        await settle(beside.connection)
        samples.add(f"drain, {when}", float(await player.ask("drain", count=drained)))
        await beside.fill(scale.tasks)
        await settle(beside.connection)
        transactions = scale.tasks // (_BATCH * _CLIENTS)
        tps = await beside.pgbench("cycle.sql", batch=_BATCH, clients=_CLIENTS, transactions=transactions)
        samples.add(f"claim + complete, {when}", tps * _BATCH)
        tps = await beside.pgbench("submit.sql", batch=1, clients=4, seconds=scale.seconds)
        samples.add(f"submit, {when}", tps)
    finally:
        await beside.connection.close()


SCENARIOS = [
    Scenario(
        "before",
        "plain tasks, now and before dependencies",
        "tasks/s",
        before,
        tuple(
            Bar(f"{what} of plain tasks ÷ before", f"{what}, now", f"{what}, before", 0.98, 1.0)
            for what in ("drain", "claim + complete", "submit")
        ),
        minutes=5.0,
        is_contest=True,
    )
]
