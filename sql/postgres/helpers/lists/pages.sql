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
