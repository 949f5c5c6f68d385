"""How long operators wait: every view, and why(), in a queue that has seen millions of tasks."""

from __future__ import annotations

import time

from benchmarks.database import Bench
from benchmarks.scenario import Bar, Samples, Scale, Scenario

JOBS = 100
VIEWS = {
    "overview": "",
    "top": "",
    "jobs_status": "",
    "task": "where id = {task}",
    "task newest": "order by id desc limit 50",
    "list_tasks() newest": "",
    "running": "",
    "waiting": "",
    "scheduled_tasks": "",
    "failed": "",
    "stuck": "",
    "errors": "",
    "workers_status": "",
    "providers_status": "",
    "task_events": "where task_id = {task} order by at",
    "throughput": "",
    "metrics": "",
    "findings": "",
    "storage": "",
    "blockers": "",
    "generic_jobs": "where id = {task}",
    "job": "",
    "schedule": "",
    "problems": "",
}
"""What a view is asked; those that show every task are asked for some."""
MOST = 2_000_000
SUBMIT = """
do $$
begin
  for v_batch in 1..{batches} loop
    perform count(*) from pgjobs.submit_tasks(
      (1 + v_batch % {jobs})::text,
      array(select jsonb_build_object('n', n) from generate_series(1, {size}) as n),
      priority => (case v_batch % 4 when 0 then 3 else 5 end)::smallint, delay => {delay}
    );
    commit;
  end loop;
end
$$
"""
SCHEDULE = """
select pgjobs.register_schedule('schedule' || n, n::text, cron => '30 2 * * *', timezone => 'Europe/Berlin')
from generate_series(1, {jobs}) as n
"""
RUN = (
    "select pgjobs.run_schedule(s.full_name) from pgjobs.schedule as s cross join generate_series(1, {runs})"
)
FLOWS = """
do $$
declare
  v_job text;
begin
  for v_flow in 1..{flows} loop
    v_job := (1 + v_flow % {jobs})::text;
    perform count(*) from pgjobs.submit_workflow(
      'flow' || v_flow % 20,
      jsonb_build_array(
        jsonb_build_object('name', 'fetch', 'job', v_job, 'payload', jsonb_build_object('n', v_flow)),
        jsonb_build_object('name', 'merge', 'job', v_job, 'after', jsonb_build_array('fetch')),
        jsonb_build_object('name', 'tell', 'job', v_job, 'after', jsonb_build_array('merge'))
      )
    );
    if v_flow % 200 = 0 then
      commit;
    end if;
  end loop;
end
$$
"""
WIDE_FLOW = """
select count(*) from pgjobs.submit_workflow('wide', (
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'name', 'task' || n, 'job', (1 + n % {jobs})::text,
    'after', case when n > 10 then jsonb_build_array('task' || (n - 10), 'task' || (n - 9)) end
  )) order by n)
  from generate_series(1, 1000) as n
))
"""
"""A workflow of a thousand tasks in a hundred layers."""
END = """
do $$
declare
  v_tasks bigint[];
  v_tokens uuid[];
begin
  for v_batch in 1..{batches} loop
    select array_agg(c.task_id), array_agg(c.token) into v_tasks, v_tokens
    from pgjobs.claim_tasks(
      holder => 'bench', lease => '1 hour', quantity => 500,
      job_ids => array(select generate_series(1, {jobs}))
    ) as c;
    if v_batch % 50 = 1 then
      perform count(*) from pgjobs.fail_tasks(
        v_tasks, v_tokens, array(select 'host db' || t || ' did not answer' from unnest(v_tasks) as t),
        array(select 'kind' || t % 10 from unnest(v_tasks) as t)
      );
    else
      perform count(*) from pgjobs.complete_tasks(v_tasks, v_tokens);
    end if;
    commit;
  end loop;
end
$$
"""
CLEAN_UP = """
do $$
declare
  v_tasks bigint[];
  v_tokens uuid[];
begin
  perform pgjobs.set_job_target(
    n::text, jsonb_build_object('type', 'local_dir', 'base_dir', '/data/runs'), 'node' || n % 7
  )
  from generate_series(1, {jobs}) as n;
  while (select r.created from pgjobs.reconcile_cleanups(1000, after => '0') as r) > 0 loop
    commit;
  end loop;
  for v_batch in 1..{done} loop
    select array_agg(c.task_id), array_agg(c.token) into v_tasks, v_tokens
    from pgjobs.claim_tasks(
      holder => 'bench', lease => '1 hour', quantity => 500, job_ids => array[pgjobs._cleanup_job()]
    ) as c;
    perform count(*) from pgjobs.complete_tasks(v_tasks, v_tokens);
    commit;
  end loop;
end
$$
"""


A_BUSY_DAY = """
insert into pgjobs.rollups
select
  j.id, date_trunc('minute', pgjobs._now()) - m * interval '1 minute', 70, 7, 1, 2,
  '{7,7,7,7,7,7,7,7,7,7,7,0,0,0}', 777, '{0,7,7,14,14,14,7,7,0,0,0,0,0,0}', 777,
  '{7,7,7,7,7,7,7,7,7,7,7,0,0,0}', 777
from (select 0 union all select j.id from pgjobs.jobs as j) as j (id)
cross join generate_series(1, 1440) as m
on conflict do nothing
"""
"""Minutes of a day, in all of which every job was busy."""


async def fill(bench: Bench, tasks: int, *, flows: int = 0) -> int:
    """`tasks` tasks of 100 jobs, beside those of `flows` workflows of three and one of a thousand.

    Half of them ended, a tenth due later, 2,000 held, the rest in line.

    Each job has a schedule whose last runs have ended, but for two. After each task that failed there is
    something to clean up, and half of that is done.
    """
    await bench.reset(jobs=JOBS)
    size = min(10_000, max(500, tasks // 200))
    run = bench.connection.execute
    await run(SCHEDULE.format(jobs=JOBS))
    await run(RUN.format(runs=8))
    if flows:
        await run(FLOWS.format(flows=flows, jobs=JOBS))
        await run(WIDE_FLOW.format(jobs=JOBS))
    await run(SUBMIT.format(batches=tasks * 9 // 10 // size, size=size, jobs=JOBS, delay="null"))
    await run(SUBMIT.format(batches=tasks // 10 // size, size=size, jobs=JOBS, delay="'1 day'"))
    await run(END.format(batches=tasks // 2 // 500, jobs=JOBS))
    await run(RUN.format(runs=2))
    await run(CLEAN_UP.format(jobs=JOBS, done=tasks // 200_000))
    for number in range(40):
        worker = await bench.queue.register_worker(f"w{number}", jobs=[str(1 + number * 2 % JOBS)])
        await bench.queue.claim_tasks(worker.id, quantity=50)
    while any(step.changed for step in await bench.queue.sweep(batch=100_000)):
        pass
    await run(A_BUSY_DAY)
    await bench.settle()
    return tasks


async def views(bench: Bench, scale: Scale, samples: Samples) -> None:
    """95th percentile of each view, and of why() about tasks in every place."""
    tasks = await fill(bench, min(MOST, scale.backlog))
    await _views(bench, scale, samples, tasks)
    await _why(bench, scale, samples)


async def _views(bench: Bench, scale: Scale, samples: Samples, tasks: int) -> None:
    for _ in range(scale.rounds):
        slowest = 0.0
        for name, wish in VIEWS.items():
            view = name.split()[0]
            text = f"select * from pgjobs.{view} {wish.format(task=tasks // 4)}"
            p95 = await _p95(bench, text, times=scale.repeats)
            samples.add(name, p95)
            slowest = max(slowest, p95)
        samples.add("slowest view", slowest)


async def _why(bench: Bench, scale: Scale, samples: Samples) -> None:
    places = {
        "ended": "select min(task_id) from pgjobs.outcomes",
        "held": "select task_id from pgjobs.running limit 1",
        "first in line": "select task_id from pgjobs.waiting limit 1",
        "last in line": "select task_id from pgjobs.ready order by due_at desc limit 1",
        "due later": "select task_id from pgjobs.scheduled_tasks limit 1",
    }
    found = {name: await bench.connection.fetchval(text) for name, text in places.items()}
    for _ in range(scale.rounds):
        slowest = 0.0
        # A small queue has nobody in some place.
        for name, task_id in ((name, task_id) for name, task_id in found.items() if task_id):
            p95 = await _p95(bench, f"select * from pgjobs.why({task_id})", times=scale.repeats)
            samples.add(f"why, {name}", p95)
            slowest = max(slowest, p95)
        samples.add("slowest why", slowest)


async def _p95(bench: Bench, text: str, *, times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await bench.connection.fetch(text)
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)[int(times * 0.95) - 1]


SCENARIOS = [
    Scenario(
        "views",
        "p95 of each operator view, and of why() by where the task is",
        "ms",
        views,
        (
            Bar(
                "list, overview and every operator view with 2 million tasks, slowest p95 in ms",
                "slowest view",
                None,
                50,
                20,
                True,
            ),
            Bar("why() with 2 million tasks, slowest p95 in ms", "slowest why", None, 20, 10, True),
        ),
        minutes=4.5,
    ),
]
