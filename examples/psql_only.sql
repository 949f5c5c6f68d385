-- Without any client library: a job, its tasks and a worker, in SQL.
--
--   export PGDATABASE=mydb
--   pgjobs migrate
--   psql --file examples/psql_only.sql

\set ON_ERROR_STOP on
\pset tuples_only on
\pset format unaligned

select registered from pgjobs.register_job('@global', 'mail', 'Send', max_attempts => 3);

-- In a transaction of your own: the task exists if and only if you commit.
begin;
select status, phase from pgjobs.submit_task('@global:mail:Send', '{"to": "ada@example.org"}');
commit;

-- A worker: claim, work, complete under the lease's token.
select task_id, token, payload ->> 'to' as mail_to
from pgjobs.claim_tasks(holder => 'psql', lease => '1 minute', in_room => '@global') \gset
\echo sending to :mail_to
select status from pgjobs.complete_tasks(array[:task_id], array[:'token'::uuid], array['{"sent": true}'::jsonb]);

select job, status, result from pgjobs.get_task(:task_id);
