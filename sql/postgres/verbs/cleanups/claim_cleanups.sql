-- Hands due cleanup tasks to a cleaner, each under a lease of 30 minutes unless
-- said otherwise: with `node_id` those of that node, without one the hub's and the
-- WebDAV targets of every node. A directory of another node is nobody else's business:
-- here it would not be found, and seem to be gone. A task whose run
-- was retried meanwhile is not handed out: when the run is complete there is
-- nothing to do, and while it lives the task waits another hour.
create function pgjobs.claim_cleanups(
  holder text, node_id text default null, quantity integer default 1, lease interval default null
)
returns table (
  task_id bigint,
  token uuid,
  attempt smallint,
  until timestamptz,
  run_id uuid,
  job text,
  node text,
  target jsonb
)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_job integer := pgjobs._cleanup_job();
  v_lease record;
  v_run_status text;
begin
  perform pgjobs._note_cleaner(claim_cleanups.holder, claim_cleanups.node_id, pgjobs._now());
  if v_job is null then
    return;
  end if;
  for v_lease in
    select c.*
    from pgjobs.claim_tasks(
      holder => claim_cleanups.holder, quantity => claim_cleanups.quantity, job_ids => array[v_job],
      lease => coalesce(claim_cleanups.lease, interval '30 minutes'), of_project => claim_cleanups.node_id,
      of_owner => case when claim_cleanups.node_id is null then 'hub' end, start => true
    ) as c
  loop
    select t.status into v_run_status from pgjobs.task as t
    where t.id = pgjobs.task_id((v_lease.payload ->> 'run_id')::uuid);
    if v_run_status in ('pending', 'claimed', 'running') then
      perform from pgjobs.release_tasks(array[v_lease.task_id], array[v_lease.token], delay => '1 hour');
    elsif v_run_status = 'completed' then
      perform from pgjobs.complete_tasks(
        array[v_lease.task_id], array[v_lease.token], array['{"outcome": "skip_complete"}'::jsonb]
      );
    else
      task_id := v_lease.task_id;
      token := v_lease.token;
      attempt := v_lease.attempt;
      until := v_lease.until;
      run_id := v_lease.payload ->> 'run_id';
      job := v_lease.payload ->> 'job_name';
      node := v_lease.payload ->> 'node_id';
      target := v_lease.payload -> 'target';
      return next;
    end if;
  end loop;
end
$$;

comment on function pgjobs.claim_cleanups is
  'Leases due cleanup tasks. Example: select run_id, target from pgjobs.claim_cleanups(''me'')';
