-- What a coordinator knows: which nodes there are, where keys belong, and what has a home. It
-- keeps nothing of tasks.
create extension if not exists plproxy;

create schema if not exists pgjobs_router;

revoke all on schema pgjobs_router from public;

create table if not exists pgjobs_router.nodes (
  number integer not null,
  address text not null,
  is_home boolean not null default false,
  is_draining boolean not null default false,
  -- It was away while jobs were registered or changed.
  is_behind boolean not null default false,
  constraint nodes_pkey primary key (number),
  constraint nodes_have_numbers check (number between 0 and 511)
);

create unique index if not exists one_node_is_home on pgjobs_router.nodes (is_home) where is_home;

-- An idempotency key belongs to one of 1,024 slots for good, and a slot to a node until it is moved. Whoever had it
-- before still knows the keys of then.
create table if not exists pgjobs_router.slots (
  slot integer not null,
  node integer not null,
  former integer[] not null default '{}',
  -- Who looks for what is unique while it waits: moves only with nothing waiting there.
  unique_node integer not null,
  constraint slots_pkey primary key (slot),
  constraint slots_are_counted check (slot between 0 and 1023),
  constraint slots_belong_to_nodes foreign key (node) references pgjobs_router.nodes (number)
);

-- Every node calls a job by the same number and public id.
create table if not exists pgjobs_router.jobs (
  -- Nodes number the jobs that only they know from 1 on.
  id integer not null generated always as identity (start with 500000001),
  uuid uuid not null default gen_random_uuid(),
  name text not null,
  -- Of a job that is limited: all of its tasks go there.
  home integer,
  -- Nodes that had tasks of it before it had a home, or that were its home: they know keys of then.
  former integer[] not null default '{}',
  constraint jobs_pkey primary key (id),
  constraint job_names_are_unique unique (name),
  constraint homes_are_nodes foreign key (home) references pgjobs_router.nodes (number)
);
