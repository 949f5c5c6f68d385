-- The steps of a task as HTTP shows them, in order. Whoever holds its lease names the token and
-- gets results as they were saved; others are shown them without what looks like a secret.
create function pgjobs.show_steps(task_uuid uuid, token uuid default null, after integer default 0, page_size integer default 500)
returns table (
  number integer, name text, kind text, is_done boolean, result jsonb, until timestamptz, saved_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
declare
  v_rooms text[] := pgjobs._rooms();
  v_id bigint := pgjobs.task_id(show_steps.task_uuid);
  v_shows boolean := show_steps.token is not null or (select c.show_secrets from pgjobs.settings as c);
begin
  if not exists (
    select from pgjobs.tasks as t where t.id = v_id and (v_rooms is null or t.room = any (v_rooms))
  ) then
    perform pgjobs._refuse('task-not-found', format('Task %s does not exist', show_steps.task_uuid));
  end if;
  if show_steps.token is not null and not exists (
    select from pgjobs.leases as l
    where l.task_id = v_id and l.token = show_steps.token and (l.until is null or l.until > pgjobs._now())
  ) then
    perform pgjobs._refuse('lease-lost', format('Task %s is no longer held under this token', show_steps.task_uuid));
  end if;
  return query
  select s.number, s.name, s.kind, s.is_done, pgjobs._shown_payload(s.result, v_shows), s.until, s.saved_at
  from pgjobs.list_steps(v_id, show_steps.after, show_steps.page_size) as s
  order by s.number;
end
$$;

comment on function pgjobs.show_steps is
  'The steps of a task as HTTP shows them. Example: select number, name, is_done from pgjobs.show_steps(pgjobs.task_uuid(42))';
