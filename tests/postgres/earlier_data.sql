-- A task in every place it can be, and something in every table, as rows of the baseline.
insert into pgjobs.jobs (room, category, name, max_attempts, created_at)
values ('@global', 'tests', 'Work', 3, now() - interval '1 day');
insert into pgjobs.lanes (job_id, priority) values (1, 5), (1, 3);
insert into pgjobs.workers (id, name, registered_at, last_heartbeat_at)
values ('00000000-0000-4000-8000-000000000001', 'old hand', now(), now());
insert into pgjobs.worker_jobs (worker_id, job_id) values ('00000000-0000-4000-8000-000000000001', 1);
insert into pgjobs.room_grants (role, room, granted_at) values ('lab_app', 'lab', now());
insert into pgjobs.tasks (id, job_id, room, payload, priority, max_attempts, created_at, owner, tags, idempotency_key)
overriding system value
select n, 1, 'lab', jsonb_build_object('n', n), case n when 2 then 3 else 5 end, 3, now() - interval '1 hour',
  'ada', array['red'], case n when 1 then 'first' end
from generate_series(1, 10) as n;
select setval('pgjobs.tasks_id_seq', 10);
insert into pgjobs.idempotency_keys (job_id, key, task_id) values (1, 'first', 1);
insert into pgjobs.ready (job_id, priority, due_at, task_id) select 1, 5, t.created_at, 1 from pgjobs.tasks as t where t.id = 1;
insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again) values (1, 3, 1, now(), 2, true);
insert into pgjobs.scheduled (task_id, run_at, job_id, priority) values (3, now() + interval '1 day', 1, 5);
insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt, error, error_kind)
values (4, now() + interval '1 hour', 1, 5, 1, 'no answer', 'network');
insert into pgjobs.attempts (task_id, attempt, status, token, holder, claimed_at, ended_at, error, error_kind)
values (4, 1, 'failed', '00000000-0000-4000-8000-0000000000a4', 'me', now(), now(), 'no answer', 'network');
insert into pgjobs.leases (task_id, job_id, token, worker_id, attempt, due_at, claimed_at)
values (5, 1, '00000000-0000-4000-8000-0000000000a5', '00000000-0000-4000-8000-000000000001', 1, now(), now());
insert into pgjobs.leases (task_id, job_id, token, holder, attempt, due_at, claimed_at, until, started_at, progress)
values (6, 1, '00000000-0000-4000-8000-0000000000a6', 'me', 2, now(), now(), now() + interval '1 hour', now(), '{"done": 0.5}');
insert into pgjobs.outcomes (task_id, job_id, status, attempt, token, holder, claimed_at, started_at, ended_at, result, error)
values
(7, 1, 'completed', 1, '00000000-0000-4000-8000-0000000000a7', 'me', now(), now(), now(), '{"angle": 90}', null),
(8, 1, 'failed', 3, '00000000-0000-4000-8000-0000000000a8', 'me', now(), now(), now(), null, 'broken');
insert into pgjobs.outcomes (task_id, job_id, status, attempt, ended_at, reason, actor)
values (9, 1, 'cancelled', 0, now(), 'not needed', 'ada');
insert into pgjobs.ignored (task_id, job_id, attempt, ignored_at, actor) values (10, 1, 0, now(), 'ada');
insert into pgjobs.events (at, kind, task_id, job_id, room, status, message)
values (now(), 'retrying', 4, 1, 'lab', 'pending', 'no answer'), (now(), 'failed', 8, 1, 'lab', 'failed', 'broken');
insert into pgjobs.providers (room, category, name, worker_id, created_at)
values ('lab', 'files', 'Disk', '00000000-0000-4000-8000-000000000001', now());
insert into pgjobs.api_tokens (token_hash, user_id, created_at) values (sha256('secret'), 'ada', now());
insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at) values (1, 'completed', now(), '{7}', array[now()]);
insert into pgjobs.rollups (
  job_id, minute, completed, failed, cancelled, retried, waits, wait_seconds, runs, run_seconds
)
values
  (1, '-infinity', 41, 0, 0, 0, array[40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 7200.2, array[0, 0, 41, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 3.5),
  (0, date_trunc('minute', now()), 0, 3, 0, 0, array[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.3, array_fill(0, array[14]), 0);
insert into pgjobs.error_counts (since, job_id, fingerprint, quantity, message, last_at, last_task_id)
values (date_trunc('hour', now()), 1, 'broken', 1, 'broken', now(), 8);
insert into pgjobs.sessions (session_hash, user_id, token_id, created_at, expires_at)
select sha256('cookie'), 'ada', a.id, now(), now() + interval '1 day' from pgjobs.api_tokens as a;
insert into pgjobs.targets (job_id, node_id, target) values (1, 'node-1', '{"type": "local_dir", "path": "/tmp"}');
insert into pgjobs.run_targets (task_id, job_id, node_id, target, taken_at)
values (8, 1, 'node-1', '{"type": "local_dir", "path": "/tmp"}', now());
insert into pgjobs.cleaners (holder, node_id, seen_at) values ('cleaner of old', 'node-1', now());
update pgjobs.jobs set keep = true;
insert into pgjobs.schedules (
  room, name, job_id, every, timezone, payload, priority, missed, overlap, created_at, next_run_at
)
values ('lab', 'hourly', 1, '1 hour', 'UTC', '{}', 5, 'once', false, now(), now() + interval '1 hour');
