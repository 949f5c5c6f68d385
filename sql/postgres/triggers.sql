-- Guards. Partitions have their own: a statement may name one of them.
do $$
declare
  v_table text;
begin
  for v_table in
    select g.relation
    from unnest(array[
      'tasks', 'ready', 'scheduled', 'leases', 'outcomes', 'ignored', 'attempts', 'idempotency_keys', 'events',
      'targets', 'run_targets', 'schedules', 'schedule_runs', 'steps', 'kept_progress', 'signals', 'dependencies',
      'settled', 'rechecks', 'workflows', 'workflow_tasks', 'sharing', 'key_weights', 'task_log', 'quotas', 'quota_uses', 'completion_tokens', 'kept_results', 'queue_controls'
    ]) as g (relation)
    union all
    select p.partition from pgjobs._partitions() as p
  loop
    perform pgjobs._guard_table(v_table);
  end loop;
end
$$;

-- What is written once stays as it is, whoever asks.
create trigger bodies_never_change before update on pgjobs.tasks
for each row execute function pgjobs._refuse_direct_change();
create trigger outcomes_never_change before update on pgjobs.outcomes
for each row execute function pgjobs._refuse_direct_change();
create trigger history_never_changes before update on pgjobs.attempts
for each row execute function pgjobs._refuse_direct_change();
create trigger events_never_change before update on pgjobs.events
for each row execute function pgjobs._refuse_direct_change();

-- A lease keeps its task, token, attempt and holder; it is never shortened and starts once.
create trigger leases_keep_their_token before update on pgjobs.leases
for each row
when (
  (new.task_id, new.job_id, new.token, new.attempt) <> (old.task_id, old.job_id, old.token, old.attempt)
  or (new.worker_id, new.holder, new.claimed_at) is distinct from (old.worker_id, old.holder, old.claimed_at)
  or (new.until is null) <> (old.until is null)
  or new.until < old.until
  or (old.started_at is not null and new.started_at is distinct from old.started_at)
)
execute function pgjobs._refuse_direct_change();

-- Announcements: one statement-level trigger per fact, so that a batch costs one call. What is
-- submitted, claimed, put back and ended is announced by the verbs: see _tell_submitted.
create trigger backing_off after insert on pgjobs.scheduled
referencing new table as new_rows for each statement execute function pgjobs._announce_scheduled();
create trigger started after update on pgjobs.leases
referencing old table as old_rows new table as new_rows for each statement execute function pgjobs._announce_started();

-- The generic manager's view is for reading. Without the second trigger Postgres
-- itself refuses, and gives no hint.
create trigger generic_jobs_are_read_only before insert or update or delete on pgjobs.generic_jobs
for each statement execute function pgjobs._refuse_generic_change();
create trigger generic_jobs_have_verbs instead of insert or update or delete on pgjobs.generic_jobs
for each row execute function pgjobs._refuse_generic_change();

-- Where a run writes is settled when it starts; claim_tasks does the same for one that starts at once.
create trigger started_with_target after update on pgjobs.leases
referencing new table as new_rows for each statement execute function pgjobs._snapshot_targets();

-- Jobs that come into a queue that is held.
create trigger held_with_its_queue before insert on pgjobs.jobs
for each row execute function pgjobs._hold_job();

-- The registry: who came and who went.
create trigger job_came after insert on pgjobs.jobs
for each row execute function pgjobs._announce_job();
create trigger job_came_or_went after update of deleted_at on pgjobs.jobs
for each row when ((old.deleted_at is null) <> (new.deleted_at is null)) execute function pgjobs._announce_job();
create trigger worker_joined after insert on pgjobs.worker_jobs
referencing new table as changed for each statement execute function pgjobs._announce_link();
create trigger worker_left after delete on pgjobs.worker_jobs
referencing old table as changed for each statement execute function pgjobs._announce_link();
create trigger provider_came after insert on pgjobs.providers
referencing new table as changed for each statement execute function pgjobs._announce_provider();
create trigger provider_changed after update on pgjobs.providers
referencing new table as changed for each statement execute function pgjobs._announce_provider();
create trigger provider_went after delete on pgjobs.providers
referencing old table as changed for each statement execute function pgjobs._announce_provider();

-- Retries, one row per statement, for the rollups.
create trigger retries_noted after insert on pgjobs.scheduled
referencing new table as new_rows for each statement execute function pgjobs._note_retries();
create trigger announced after insert on pgjobs.events
for each statement execute function pgjobs._announce_events();

-- Jobs that share by key: a slot or a turn came free, by whatever way.
create trigger key_came_free after delete on pgjobs.leases
for each row when (old.key is not null) execute function pgjobs._free_key();
create trigger key_moved_on after delete on pgjobs.scheduled
for each row when (old.key is not null) execute function pgjobs._free_key();
