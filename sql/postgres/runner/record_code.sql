-- Writes down what is installed now.
insert into pgjobs.installed_code (checksum, grants_checksum, version)
values (':checksum', nullif(':grants', ''), ':version')
on conflict (is_only) do update set
  checksum = excluded.checksum, grants_checksum = excluded.grants_checksum, version = excluded.version,
  installed_at = excluded.installed_at;

with objects as (
  select o.kind, o.name, o.checksum
  from jsonb_to_recordset(':objects') as o (kind text, name text, checksum text)
),

removed as (
  delete from pgjobs.installed_objects as i
  where not exists (select from objects as o where o.kind = i.kind and o.name = i.name)
)

insert into pgjobs.installed_objects as i (kind, name, checksum)
select o.kind, o.name, o.checksum from objects as o
on conflict (kind, name) do update set checksum = excluded.checksum, installed_at = excluded.installed_at
where i.checksum <> excluded.checksum;
