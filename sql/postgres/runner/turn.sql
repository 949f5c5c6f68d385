-- One run at a time per schema. Asked again and again rather than waited for: an index that is
-- built concurrently waits for everybody who waits in a transaction.
select pg_try_advisory_xact_lock(hashtextextended('pgjobs.migrate', 0));
