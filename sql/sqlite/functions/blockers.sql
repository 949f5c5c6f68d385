-- blockers()
--
-- Nobody keeps dead rows from being removed: SQLite has none.
select
  null as kind, null as name, null as pid, null as state, null as since, null as age, 0 as held_back, null as advice
where false;
