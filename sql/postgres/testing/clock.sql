-- Replaces the queue's clock by one that tests can move. Never part of a
-- production install: there, no setting and no table can change the time.
create table if not exists pgjobs.test_clock (shift interval not null);
comment on table pgjobs.test_clock is 'How far tests have moved the clock.';
comment on column pgjobs.test_clock.shift is 'Added to the real time.';
insert into pgjobs.test_clock select interval '0' where not exists (select from pgjobs.test_clock);

create or replace function pgjobs._now()
returns timestamptz
language sql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
return clock_timestamp() + (select c.shift from pgjobs.test_clock as c);
