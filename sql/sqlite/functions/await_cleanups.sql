-- await_cleanups(node_id text = null, previous bigint = null)
--
-- Says that a cleaner has nothing to do: whoever makes a clean-up task due
-- notifies `wake` with the mark's id. Also tells how long it is until the next
-- one is due by itself. A previous mark is taken back.
select json_group_array(j.id) as v_jobs
from jobs as j
where j.full_name = '@internal:maintenance:incomplete-cleanup' and j.paused_at is null and j.archived_at is null;
delete from waiting where id = :previous;
insert into waiting (job_ids, since) select :v_jobs, now() where :v_jobs <> '[]';
select
  iif(:v_jobs = '[]', null, (select max(w.id) from waiting as w)) as mark,
  (
    select max(0, min(t.due_at) - now())
    from json_each(:v_jobs) as j
    cross join tasks as t on t.room = '@internal' and t.job_id = j.value
    where t.status = 'pending' and (:node_id is null or t.project = :node_id)
  ) as due_in;
