-- lock_read(key text, lifetime interval)
--
-- Marks a question as passed on, for a while; is_first tells the one caller who
-- should do so.
select not exists (
  select 1 from reads_in_flight as f where f.key = :key and f.expires_at > now()
) as v_is_first;
insert into reads_in_flight (key, expires_at)
select :key, now() + :lifetime
where :v_is_first
on conflict (key) do update set expires_at = excluded.expires_at;
select :v_is_first as is_first;
