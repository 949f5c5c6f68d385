"""What retention costs the workers beside it, and how much of the disk it gives back."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from benchmarks.database import PAYLOAD, Bench
from benchmarks.scenario import Bar, Samples, Scale, Scenario
from pgjobs.upkeep.steps import catch_up

MOST = 2_000_000
CLIENTS, BATCH = 2, 10
SIZE = """
select sum(pg_total_relation_size(c.oid)) / 1048576.0
from pg_class as c
where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'r'
"""
END = """
do $$
declare
  v_tasks bigint[];
  v_tokens uuid[];
begin
  for v_batch in 1..{batches} loop
    select array_agg(c.task_id), array_agg(c.token) into v_tasks, v_tokens
    from pgjobs.claim_tasks(holder => 'bench', lease => '1 hour', quantity => 500, job_ids => array[1]) as c;
    perform count(*) from pgjobs.complete_tasks(
      v_tasks, v_tokens, array_fill('{payload}'::jsonb, array[cardinality(v_tasks)])
    );
    commit;
  end loop;
end
$$
"""


async def retention(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Two million tasks, half of them ended, with results as large as payloads.

    A quarter is removed for the sake of the disk, another one while two clients claim and
    complete, in turns with nothing being removed.
    """
    ended = min(MOST, scale.backlog) // 2
    await _fill(bench, ended * 2)
    await bench.connection.execute(END.format(batches=max(1, ended // 500), payload=PAYLOAD))
    await bench.settle()
    samples.add("disk before", float(await bench.connection.fetchval(SIZE)))
    removed = 0
    while removed < ended // 2:
        removed += len(await bench.queue.prune_tasks(older_than=timedelta(), batch=1_000))
    await bench.queue.sweep("storage")
    await bench.settle()
    samples.add("disk after", float(await bench.connection.fetchval(SIZE)))
    await _beside_workers(bench, scale, samples, ended // 2)


async def _fill(bench: Bench, quantity: int) -> None:
    """In portions, with a sweep after each, as a server would do every half minute."""
    await bench.reset()
    portion = 200_000
    for start in range(0, quantity, portion):
        await bench.fill(min(portion, quantity - start))
        await bench.queue.sweep("storage")


async def _beside_workers(bench: Bench, scale: Scale, samples: Samples, quantity: int) -> None:
    await bench.connection.execute("update pgjobs.settings set retain_completed = '1 microsecond'")
    removed = 0
    for _ in range(4 * scale.rounds):
        await _turn(bench, samples, "alone", scale.seconds)
        over = asyncio.Event()
        removing = asyncio.create_task(_remove(bench, quantity - removed, over))
        await _turn(bench, samples, "beside retention", 2 * scale.seconds)
        over.set()
        removed += await removing
        if removed >= quantity:
            break
    samples.modes["beside retention"] = f"{removed} ended tasks were removed meanwhile"


async def _turn(bench: Bench, samples: Samples, name: str, seconds: float) -> None:
    tps = await bench.pgbench("cycle.sql", batch=BATCH, clients=CLIENTS, seconds=seconds)
    samples.add(name, tps * BATCH)
    # As many as were taken, so that the line is as long in each turn.
    await bench.fill(round(tps * BATCH * seconds))


async def _remove(bench: Bench, quantity: int, over: asyncio.Event) -> int:
    """Removes at the pace of a sweeper that is behind."""
    removed = 0
    while removed < quantity and not over.is_set():
        removed += await catch_up(bench.queue, 0.5)
    await bench.queue.sweep("storage")
    return removed


SCENARIOS = [
    Scenario(
        "retention",
        "retention beside workers, and the disk",
        "tasks/s and MB",
        retention,
        (
            Bar("claim + complete, beside retention ÷ alone", "beside retention", "alone", 0.95, 0.97),
            Bar(
                "disk, half of the ended tasks removed ÷ before", "disk after", "disk before", 0.95, 0.9, True
            ),
        ),
        minutes=5.0,
    ),
]
