-- Refuses :statuses that no clean-up task can have.
select refuse(
  'validation-error', 'Unknown status of a clean-up task', 'Got ' || :statuses || '.',
  'Statuses: queued, running, retrying, blocked, done, ignored, abandoned'
)
where exists (
  select 1 from json_each(:statuses) as s
  where s.value not in ('queued', 'running', 'retrying', 'blocked', 'done', 'ignored', 'abandoned')
);
