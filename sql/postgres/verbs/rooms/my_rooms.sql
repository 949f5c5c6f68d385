-- The rooms that are open to this login; no row for one that sees all.
create function pgjobs.my_rooms()
returns table (room text)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query select r.room from unnest(pgjobs._rooms()) as r (room) order by 1;
end
$$;

comment on function pgjobs.my_rooms is 'The rooms that are open to this login. Example: select room from pgjobs.my_rooms()';
