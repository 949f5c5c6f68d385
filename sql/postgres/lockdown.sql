-- PUBLIC has nothing here, also where roles are managed elsewhere. Functions are
-- born executable by everyone; this runs in the transaction that creates them.
revoke all on schema pgjobs from public;
revoke all on all functions in schema pgjobs from public;
revoke all on all tables in schema pgjobs from public;
revoke all on all sequences in schema pgjobs from public;
