-- What has been installed; only the runner writes here.
do $$
begin
  -- Asked first: even "if not exists" is refused to a login that may not create schemas, and was given this one.
  if to_regnamespace('pgjobs') is null then
    create schema if not exists pgjobs;
  end if;
end
$$;
comment on schema pgjobs is 'A job queue. Upgrades replace its functions and views: keep your own in another schema.';

create table if not exists pgjobs.migrations (
  number integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp()
);
comment on table pgjobs.migrations is 'Migrations applied to this schema. Example: table pgjobs.migrations';
comment on column pgjobs.migrations.number is 'Order of application.';
comment on column pgjobs.migrations.name is 'The file it came from.';
comment on column pgjobs.migrations.checksum is 'SHA-256 of the file; an applied file never changes.';
comment on column pgjobs.migrations.applied_at is 'When it was applied.';

create table if not exists pgjobs.installed_code (
  is_only boolean primary key default true,
  checksum text not null,
  grants_checksum text,
  version text not null,
  installed_at timestamptz not null default clock_timestamp(),
  constraint installed_code_is_one_row check (is_only)
);
comment on table pgjobs.installed_code is 'Which release the functions, views and triggers are of, one row.';
comment on column pgjobs.installed_code.is_only is 'Always true: there is one row.';
comment on column pgjobs.installed_code.checksum is 'SHA-256 over all objects.';
comment on column pgjobs.installed_code.grants_checksum is 'SHA-256 of the grants; null where roles are managed elsewhere.';
comment on column pgjobs.installed_code.version is 'The release it came with.';
comment on column pgjobs.installed_code.installed_at is 'When code was last installed.';

create table if not exists pgjobs.installed_objects (
  kind text,
  name text,
  checksum text not null,
  installed_at timestamptz not null default clock_timestamp(),
  primary key (kind, name)
);
comment on table pgjobs.installed_objects is
  'Functions, views and triggers, one by one. Example: select name from pgjobs.installed_objects order by installed_at desc';
comment on column pgjobs.installed_objects.kind is 'function, view, trigger, or script: what ran beside them.';
comment on column pgjobs.installed_objects.name is 'Its name in the schema; a trigger says on which table.';
comment on column pgjobs.installed_objects.checksum is 'SHA-256 of its definition; an upgrade leaves alone what has not changed.';
comment on column pgjobs.installed_objects.installed_at is 'When it was last made or replaced.';

create table if not exists pgjobs.installed_grants (
  kind text not null,
  name text not null,
  column_name text,
  grantee text,
  privilege text not null,
  is_grantable boolean not null
);
comment on table pgjobs.installed_grants is
  'Who may use which function or view, as of the last upgrade; pgjobs doctor names who lost something since.';
comment on column pgjobs.installed_grants.kind is 'function or view.';
comment on column pgjobs.installed_grants.name is 'Its name in the schema.';
comment on column pgjobs.installed_grants.column_name is 'The column of a view, if only that was granted.';
comment on column pgjobs.installed_grants.grantee is 'The role; null means everybody.';
comment on column pgjobs.installed_grants.privilege is 'EXECUTE, SELECT, ….';
comment on column pgjobs.installed_grants.is_grantable is 'Whether the role may grant it to others.';
