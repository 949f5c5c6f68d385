create function pgjobs._check_page(page_size integer, page_offset integer)
returns void
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if page_size is null or page_size not between 0 and 500 then
    perform pgjobs._refuse('validation-error', 'page_size must be between 0 and 500', format('Got %s.', page_size));
  end if;
  if page_offset is null or page_offset < 0 then
    perform pgjobs._refuse('validation-error', 'page_offset must not be negative', format('Got %s.', page_offset));
  end if;
end
$$;

comment on function pgjobs._check_page is 'Refuses pages that cannot be. Example: select pgjobs._check_page(50, 0)';

create function pgjobs._places_of_cursor(cursor text)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if cursor !~ '^[0-9a-f]{1,14}(-[0-9a-f]{1,14})*$' then
    perform pgjobs._refuse('validation-error', 'The cursor is none that a list gave', null, 'Leave it out to begin at the newest.');
  end if;
  return query
  select ('x' || lpad(p.digits, 16, '0'))::bit(64)::bigint from string_to_table(cursor, '-') as p (digits);
end
$$;

comment on function pgjobs._places_of_cursor is
  'What a cursor holds: a number for each node. Example: select * from pgjobs._places_of_cursor(''2a'')';

-- Below which number a page of this node begins; a cursor that does not know the node is before all of its tasks.
create function pgjobs._place_of_cursor(cursor text)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  if cursor is null then
    return 9223372036854775807;
  end if;
  return coalesce((
    select min(p.number) from pgjobs._places_of_cursor(cursor) as p (number)
    where pgjobs._node_of(p.number) = pgjobs._node()
  ), 9223372036854775807);
end
$$;

comment on function pgjobs._place_of_cursor is
  'Where this queue continues a list. Example: select pgjobs._place_of_cursor(''2a'')';
