-- How far the clock of a worker's machine is from the database's. Nothing is decided by it;
-- whoever compares a worker's log with the times of the queue wants to know.
alter table pgjobs.workers add column clock_ahead interval;

comment on column pgjobs.workers.clock_ahead is
  'How far the worker''s clock was ahead of the database''s at its last heartbeat, with the time the heartbeat took; empty: it did not tell.';
