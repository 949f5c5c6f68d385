-- mark_waiting(
--   worker_id uuid = null, job_ids integer[] = null, in_room text = null, in_category text = null,
--   previous bigint = null,
--   remote boolean = false
-- )
--
-- Says that a worker has nothing to do: the next submit of one of its jobs
-- notifies `wake` with the mark's id. Also tells when the next task is due, so
-- that the worker can sleep until then. A previous mark is taken back.
-- include claimable_jobs
delete from waiting where id = :previous;
insert into waiting (job_ids, since) values (:v_jobs, now());
select
  (select max(w.id) from waiting as w) as mark,
  (
    select min(s.due_at)
    from (
      select t.due_at, t.job_id from tasks as t
      where t.status = 'pending' and not t.is_ready
      order by t.due_at
      limit 1000
    ) as s
    where s.job_id in (select j.value from json_each(:v_jobs) as j)
  ) as next_due_at, false as has_blocked;
