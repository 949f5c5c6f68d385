-- Providers answer questions on demand; reads keep their answers for a while.
-- API tokens let programs in. Lists find the tasks of a room by job.

create table pgjobs.providers (
  id uuid primary key default gen_random_uuid(),
  room text not null,
  category text not null,
  name text not null,
  full_name text not null generated always as (room || ':' || category || ':' || name) stored,
  schema jsonb not null default '{}',
  content_type text not null default 'application/json',
  owner text,
  worker_id uuid not null references pgjobs.workers on delete cascade,
  created_at timestamptz not null,
  constraint providers_have_one_address unique (room, category, name),
  constraint providers_are_not_internal check (room <> '@internal'),
  constraint rooms_are_well_formed check (
    room in ('@global', '@internal') or (room <> '' and room !~ '[@:]' and length(room) <= 200)
  ),
  constraint categories_are_well_formed check (category <> '' and category !~ ':' and length(category) <= 200),
  constraint names_are_well_formed check (name <> '' and length(name) <= 200)
);
create index providers_of_a_worker on pgjobs.providers (worker_id);
create index providers_by_address on pgjobs.providers (full_name);

comment on table pgjobs.providers is 'Registered answerers of reads; they leave with their worker.';
comment on column pgjobs.providers.id is 'Public id.';
comment on column pgjobs.providers.room is 'Scope: @global or a room''s own name.';
comment on column pgjobs.providers.category is 'Second part of the address.';
comment on column pgjobs.providers.name is 'Third part of the address; may contain colons.';
comment on column pgjobs.providers.full_name is 'The address, room:category:name.';
comment on column pgjobs.providers.schema is 'JSON Schema of the questions.';
comment on column pgjobs.providers.content_type is 'Media type of the answers.';
comment on column pgjobs.providers.owner is 'The user it belongs to.';
comment on column pgjobs.providers.worker_id is 'The worker that answers.';
comment on column pgjobs.providers.created_at is 'When it was first registered.';

-- Lost in a crash, which costs a question asked again and nothing else.
create unlogged table pgjobs.reads (
  key text primary key,
  data bytea not null,
  expires_at timestamptz not null,
  constraint read_keys_are_short check (length(key) <= 1000)
);
create index reads_in_time on pgjobs.reads (expires_at);

comment on table pgjobs.reads is 'Answers of providers, kept until they expire.';
comment on column pgjobs.reads.key is 'Provider and question.';
comment on column pgjobs.reads.data is 'The answer, byte for byte.';
comment on column pgjobs.reads.expires_at is 'Until when it counts.';

create unlogged table pgjobs.reads_in_flight (
  key text primary key,
  expires_at timestamptz not null,
  constraint read_keys_are_short check (length(key) <= 1000)
);
create index reads_in_flight_in_time on pgjobs.reads_in_flight (expires_at);

comment on table pgjobs.reads_in_flight is 'Questions somebody has passed on to their provider already.';
comment on column pgjobs.reads_in_flight.key is 'Provider and question.';
comment on column pgjobs.reads_in_flight.expires_at is 'When it may be asked again, answered or not.';

create table pgjobs.api_tokens (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null,
  user_id text not null,
  name text,
  is_superuser boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint token_hashes_are_unique unique (token_hash),
  constraint tokens_name_their_user check (user_id <> '' and length(user_id) <= 200),
  constraint names_are_short check (length(name) <= 200)
);

comment on table pgjobs.api_tokens is 'Tokens for programs; only their hashes are kept.';
comment on column pgjobs.api_tokens.id is 'What revokes it.';
comment on column pgjobs.api_tokens.token_hash is 'SHA-256 of the token.';
comment on column pgjobs.api_tokens.user_id is 'Whom it stands for.';
comment on column pgjobs.api_tokens.name is 'What people call it.';
comment on column pgjobs.api_tokens.is_superuser is 'Whether it may do what superusers may.';
comment on column pgjobs.api_tokens.created_at is 'When it was created.';
comment on column pgjobs.api_tokens.expires_at is 'When it ceases to count; empty: never.';
comment on column pgjobs.api_tokens.revoked_at is 'When it was taken back.';

-- The job between room and id: a room's list merges its jobs, and a job's list
-- needs no second index on a table that is written all the time.
create index tasks_of_a_room_by_job on pgjobs.tasks (room, job_id, id);
drop index pgjobs.tasks_of_a_room;
