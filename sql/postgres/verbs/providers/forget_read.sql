-- Forgets the answer kept under a key, if there is one.
create function pgjobs.forget_read(key text)
returns table (forgotten text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query delete from pgjobs.reads as r where r.key = forget_read.key returning r.key;
end
$$;

comment on function pgjobs.forget_read is 'Forgets an answer. Example: select * from pgjobs.forget_read(''<key>'')';
