-- The queue's clock: the database's, and not the transaction's, because a
-- handler may acknowledge from a transaction that began long before its lease ended.
create function pgjobs.now()
returns timestamptz
language sql volatile
return clock_timestamp();

comment on function pgjobs.now is 'The queue''s clock. Example: select pgjobs.now()';
