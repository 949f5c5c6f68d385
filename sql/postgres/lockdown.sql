-- PUBLIC has nothing here, also where roles are managed elsewhere. Functions and views lose
-- what they are born with in the transaction that makes them.
revoke all on schema pgjobs from public;
revoke all on all tables in schema pgjobs from public;
revoke all on all sequences in schema pgjobs from public;
