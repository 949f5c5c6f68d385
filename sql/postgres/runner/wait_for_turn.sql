-- One run at a time per schema.
select pg_advisory_xact_lock(hashtextextended('pgjobs.migrate', 0));
