"""A database with very many tasks waiting, and how much of it a statement reads."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import asyncpg

Connection: TypeAlias = "asyncpg.Connection[Any]"

JOB = "@global:tests:Crowd"
# Whoever reads a table from end to end is noticed among these, too; `make soak` takes a million.
READY = int(os.environ.get("PGJOBS_SOAK_CROWD", "100000"))
CLAIM = """
select * from pgjobs.claim_tasks(holder => 'me', lease => '1 hour', in_room => '@global', quantity => 10)
"""
BIG_TABLES = ("tasks", "ready", "scheduled", "leases", "outcomes")
SUBMIT = """
do $$
begin
  for v_batch in 1..{batches} loop
    perform count(*) from pgjobs.submit_tasks(
      '@global:tests:Crowd', array(select jsonb_build_object('n', n) from generate_series(1, 10000) as n),
      room => '{room}', delay => {delay}
    );
    commit;
  end loop;
end
$$
"""
COMPLETE = """
do $$
declare
  v_tasks bigint[];
  v_tokens uuid[];
begin
  for v_batch in 1..{batches} loop
    select array_agg(c.task_id), array_agg(c.token) into v_tasks, v_tokens
    from pgjobs.claim_tasks(holder => 'me', lease => '1 hour', in_room => '@global', quantity => 500) as c;
    perform count(*) from pgjobs.complete_tasks(v_tasks, v_tokens);
    commit;
  end loop;
end
$$
"""
# What is read of a partition is read of its table.
READS = """
select
  coalesce(p.relname, s.relname) as relname, sum(coalesce(s.seq_scan, 0))::bigint as scans,
  sum(coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0))::bigint as rows
from pg_stat_xact_user_tables as s
left join pg_inherits as i on i.inhrelid = s.relid
left join pg_class as p on p.oid = i.inhparent
where s.schemaname = 'pgjobs' and coalesce(p.relname, s.relname) = any ($1)
group by 1
"""


async def fill(connection: Connection, *, ready: int, scheduled: int = 0, completed: int = 0) -> None:
    """Fills a queue by its verbs; a few tasks of a quiet room are the oldest."""
    await connection.execute(
        "select * from pgjobs.register_job('@global', 'tests', 'Crowd', max_attempts => 2)"
    )
    await connection.execute("select * from pgjobs.register_job('@global', 'tests', 'Seldom')")
    await connection.execute(
        "select pgjobs.submit_task('@global:tests:Crowd', room => 'quiet', owner => 'ann'),"
        " pgjobs.submit_task('@global:tests:Seldom', room => 'quiet')"
        " from generate_series(1, 20)"
    )
    await connection.execute(COMPLETE.format(batches=1))
    batches = (ready + completed) // 10_000
    await connection.execute(SUBMIT.format(batches=batches, room="@global", delay="null"))
    await connection.execute(SUBMIT.format(batches=scheduled // 10_000, room="@global", delay="'1 day'"))
    await connection.execute(COMPLETE.format(batches=completed // 500))
    for _ in range(4 if ready else 0):
        await connection.execute(CLAIM.replace("=> 10", "=> 500"))
    while await connection.fetchval("select sum(s.changed) from pgjobs.sweep(batch => 100000) as s"):
        pass


@dataclass
class Reads:
    """What a block read of the big tables: full scans, and rows however they were found."""

    scans: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)


@asynccontextmanager
async def reads_counted(connection: Connection) -> AsyncIterator[Reads]:
    """Inside a transaction, because only its own numbers are exact."""
    reads = Reads()
    before = {row["relname"]: row for row in await connection.fetch(READS, BIG_TABLES)}
    yield reads
    for row in await connection.fetch(READS, BIG_TABLES):
        name = row["relname"]
        if scans := row["scans"] - before[name]["scans"]:
            reads.scans[name] = scans
        if rows := row["rows"] - before[name]["rows"]:
            reads.rows[name] = rows


async def buffers_of(connection: Connection, statement: str) -> int:
    """Runs a statement; how many buffers it and the functions it calls touched."""
    explained = await connection.fetchval(f"explain (analyze, buffers, timing off, format json) {statement}")
    plan = json.loads(explained)[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
