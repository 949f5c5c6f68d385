-- The floor: the least a queue in Postgres can do.
create table floor_queue (
  id bigint generated always as identity primary key,
  payload jsonb not null,
  is_claimed boolean not null default false
);
create index floor_waiting on floor_queue (id) where not is_claimed;
create function floor_submit(payload jsonb) returns bigint language plpgsql as $$
declare
  v_id bigint;
begin
  insert into floor_queue (payload) values (floor_submit.payload) returning id into v_id;
  return v_id;
end
$$;
