-- The queue's clock: the database's, and not the transaction's, because a
-- handler may acknowledge from a transaction that began long before its lease ended.
create function pgjobs._now()
returns timestamptz
language sql volatile
return clock_timestamp();

comment on function pgjobs._now is 'The queue''s clock. Example: select pgjobs._now()';

-- The same for views: a volatile function would keep limits and orders out of
-- them, so that the newest ten tasks cost a look at all.
create function pgjobs._present()
returns timestamptz
language sql stable
return pgjobs._now();

comment on function pgjobs._present is 'The queue''s clock, standing still during a statement. Example: select pgjobs._present()';

-- What sessions and transactions of the server are measured by, whatever the queue's clock says.
create function pgjobs._server_now()
returns timestamptz
language sql volatile
return clock_timestamp();

comment on function pgjobs._server_now is 'The server''s clock. Example: select pgjobs._server_now()';
