-- A payload as it was edited, with what was hidden from the editor put back: wherever the
-- edited document still says what was shown in place of a secret, it has the secret.
create function pgjobs._unhidden(edited jsonb, shown jsonb, original jsonb)
returns jsonb
language sql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
select case
  when edited = shown then original
  when jsonb_typeof(edited) = 'object' and jsonb_typeof(shown) = 'object' then (
    select coalesce(jsonb_object_agg(e.key, pgjobs._unhidden(e.value, shown -> e.key, original -> e.key)), '{}')
    from jsonb_each(edited) as e
  )
  when jsonb_typeof(edited) = 'array' and jsonb_typeof(shown) = 'array' then (
    select coalesce(jsonb_agg(pgjobs._unhidden(e.value, shown -> (e.place - 1)::integer, original -> (e.place - 1)::integer) order by e.place), '[]')
    from jsonb_array_elements(edited) with ordinality as e (value, place)
  )
  else edited
end
$$;

comment on function pgjobs._unhidden is
  'An edited payload with what was hidden. Example: select pgjobs._unhidden(''{"a": 2, "key": "…"}'', ''{"a": 1, "key": "…"}'', ''{"a": 1, "key": "k"}'')';
