-- Wakes up to `quantity` idle workers of a job, if any wait.
--
-- NOTIFY takes a cluster-wide lock until commit, so nobody is notified who does
-- not wait. The mark is consumed: a mark taken by a transaction that rolls back
-- comes back with it, one seen too late costs its worker a poll.
create function pgjobs._wake(job_id integer, quantity bigint)
returns void
language plpgsql volatile
as $$
declare
  v_clock bigint := pgjobs._clock_ms();
  v_floor bigint := (pgjobs._floor_get('waiting', v_clock))[1];
  v_head bigint;
  v_woken text;
begin
  select w.id into v_head from pgjobs.waiting_marks as w where w.id >= coalesce(v_floor, 0) order by w.id limit 1;
  if v_floor is null then
    perform pgjobs._floor_set('waiting', coalesce(v_head, (select s.last_value from pgjobs.waiting_marks_id_seq as s)), v_clock + 1000);
  end if;
  if v_head is null then
    return;
  end if;
  with woken as (
    delete from pgjobs.waiting_marks as w
    where w.id = any (array(
      select c.id
      from pgjobs.waiting_marks as c
      where c.id >= v_head and _wake.job_id = any (c.job_ids)
      order by c.id
      limit least(_wake.quantity, 100)
      for update skip locked
    ))
    returning w.id
  )
  select string_agg(id::text, ',') into v_woken from woken;
  if v_woken is not null then
    perform pg_notify('pgjobs.wake', v_woken);
  end if;
end
$$;

comment on function pgjobs._wake is 'Notifies idle workers that serve a job. Example: select pgjobs._wake(1, 10)';
