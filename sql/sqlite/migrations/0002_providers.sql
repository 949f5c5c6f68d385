-- Providers answer questions on demand; reads keep their answers for a while.
-- API tokens let programs in.

create table providers (
  id text primary key,
  room text not null,
  category text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || category || ':' || name) stored unique,
  schema text not null default '{}',
  content_type text not null default 'application/json',
  owner text,
  worker_id text not null references workers on delete cascade,
  created_at integer not null,
  constraint providers_have_one_address unique (room, category, name),
  constraint providers_are_not_internal check (room <> '@internal'),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal')
    or (room <> '' and instr(room, '@') = 0 and instr(room, ':') = 0 and length(room) <= 200)
  ),
  constraint categories_are_well_formed check (
    category <> '' and instr(category, ':') = 0 and length(category) <= 200
  ),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200)
) strict;
create index providers_of_a_worker on providers (worker_id);

create table reads (
  key text primary key,
  data blob not null,
  expires_at integer not null,
  constraint read_keys_are_short check (length(key) <= 1000)
) strict, without rowid;
create index reads_in_time on reads (expires_at);

create table reads_in_flight (
  key text primary key,
  expires_at integer not null,
  constraint read_keys_are_short check (length(key) <= 1000)
) strict, without rowid;
create index reads_in_flight_in_time on reads_in_flight (expires_at);

create table api_tokens (
  id text primary key,
  token_hash text not null unique,
  user_id text not null,
  name text,
  is_superuser integer not null default 0,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  constraint tokens_name_their_user check (user_id <> '' and length(user_id) <= 200),
  constraint names_are_short check (length(name) <= 200)
) strict;

-- What HTTP shows of a task. An ignored task has not ended, so it shows as pending.
create view task_answer as
select
  v.id,
  v.uuid,
  v.job,
  v.room,
  iif(v.status = 'ignored', 'pending', v.status) as status,
  v.created_at,
  v.started_at,
  v.ended_at,
  v.worker_id,
  coalesce(v.error, iif(v.status = 'cancelled', v.reason, null)) as error,
  v.payload,
  v.result,
  case when v.status = 'pending' then min(1000, 1 + (
    select count(*)
    from (
      select 1
      from tasks as o
      where o.job_id = v.job_id and o.is_ready
        and (not t.is_ready or (o.priority, o.due_at, o.id) < (t.priority, t.due_at, t.id))
      limit 1000
    )
  ) + (
    select count(*)
    from (
      select 1
      from tasks as o
      where o.status = 'pending' and not o.is_ready and o.job_id = v.job_id
        and not t.is_ready and (o.due_at, o.id) < (t.due_at, t.id)
      limit 1000
    )
  )) end as queue_position
from task_document as v
join tasks as t on t.id = v.id;

-- Providers that came and went.
create trigger provider_came after insert on providers begin
  insert into events (at, kind, room, worker_id, fields)
  values (
    now(), 'provider_registered', new.room, new.worker_id,
    json_object('provider_id', new.id, 'provider_name', new.full_name)
  );
end;
create trigger provider_changed after update on providers begin
  insert into events (at, kind, room, worker_id, fields)
  values (
    now(), 'provider_registered', new.room, new.worker_id,
    json_object('provider_id', new.id, 'provider_name', new.full_name)
  );
end;
create trigger provider_went after delete on providers begin
  insert into events (at, kind, room, worker_id, fields)
  values (
    now(), 'provider_retired', old.room, old.worker_id,
    json_object('provider_id', old.id, 'provider_name', old.full_name)
  );
end;
