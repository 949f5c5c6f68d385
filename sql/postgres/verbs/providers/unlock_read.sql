-- Takes the mark of a question back: it was answered, or could not be passed on.
create function pgjobs.unlock_read(key text)
returns table (unlocked text)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
#variable_conflict use_column
begin
  return query delete from pgjobs.reads_in_flight as f where f.key = unlock_read.key returning f.key;
end
$$;

comment on function pgjobs.unlock_read is 'Marks a question as not passed on. Example: select * from pgjobs.unlock_read(''<key>'')';
