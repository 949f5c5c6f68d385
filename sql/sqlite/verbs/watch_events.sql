-- watch_events()
--
-- Answers the cursor of now, for readers that start here. Whoever listens on
-- `events` is woken by new ones without asking for it.
select '0-' || coalesce((select s.seq from sqlite_sequence as s where s.name = 'events'), 0) as cursor;
