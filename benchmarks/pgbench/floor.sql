-- The floor: the least a queue in Postgres can do.
create table floor_queue (
  id bigint generated always as identity primary key,
  payload jsonb not null,
  is_claimed boolean not null default false
);
create index floor_waiting on floor_queue (id) where not is_claimed;
