-- What has been installed; only the runner writes here.
create schema if not exists pgjobs;
comment on schema pgjobs is 'A job queue. Upgrades drop and re-create every function and view in here.';

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
  installed_at timestamptz not null default clock_timestamp(),
  constraint installed_code_is_one_row check (is_only)
);
alter table pgjobs.installed_code add column if not exists version text;
comment on table pgjobs.installed_code is 'Which functions, views and triggers are installed, one row.';
comment on column pgjobs.installed_code.is_only is 'Always true: there is one row.';
comment on column pgjobs.installed_code.checksum is 'SHA-256 over all files of code.';
comment on column pgjobs.installed_code.grants_checksum is 'SHA-256 of the grants; null where roles are managed elsewhere.';
comment on column pgjobs.installed_code.installed_at is 'When the code was last re-created.';
comment on column pgjobs.installed_code.version is 'The release it came with; null if that was not written down.';
