"""A step of the sweep that fails in the database: it is told, changes nothing and stops no other."""

from __future__ import annotations

import logging

from pgjobs.upkeep.steps import sweep_once

BREAK = """
create or replace function pgjobs._sweep_workers(now timestamptz, batch integer, worker_timeout interval default null)
returns integer language plpgsql as $$
begin
  delete from pgjobs.workers;
  raise exception 'the table is broken';
end
$$
"""


async def test_a_step_that_fails_is_told_and_the_others_are_taken(stage, queue, lease, worker, caplog):
    await stage.watcher.execute(BREAK)
    await stage.advance(minutes=2)
    errors = {swept.swept: swept.error for swept in await queue.sweep()}
    assert {step for step, error in errors.items() if error} == {"workers"}
    assert errors["workers"] == "the table is broken"
    assert [known.id for known in await queue.list_workers()] == [worker.id]
    assert (await queue.get_task(lease.task_id)).error == "lease_expired"
    with caplog.at_level(logging.ERROR, "pgjobs.sweeper"):
        await sweep_once(queue)
    assert [record.message for record in caplog.records] == ["sweeping workers failed: the table is broken"]
