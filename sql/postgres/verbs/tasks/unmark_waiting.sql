-- Takes a wish to be woken back: a mark left behind takes the wake-up of somebody else.
create function pgjobs.unmark_waiting(mark bigint)
returns table (unmarked bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return query delete from pgjobs.waiting_marks as w where w.id = unmark_waiting.mark returning w.id;
end
$$;

comment on function pgjobs.unmark_waiting is
  'Withdraws a request for a wake-up. Example: select * from pgjobs.unmark_waiting(7)';
