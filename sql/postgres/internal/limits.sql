-- Refuses documents that are too large or nested too deep. Callers skip it for
-- documents under 512 bytes, which can be neither.
create function pgjobs.check_document(document jsonb, what text)
returns void
language plpgsql stable
as $$
declare
  v_limit integer := (select s.payload_limit from pgjobs.settings as s);
begin
  -- JSON text is at most six times the stored size (escapes), so the exact
  -- length is computed for large documents only.
  if pg_column_size(document) > v_limit / 8 and octet_length(document::text) > v_limit then
    perform pgjobs.refuse('payload-too-large', format('The %s exceeds %s bytes', what, v_limit));
  end if;
  if jsonb_path_exists(document, '$.**{65}') then
    perform pgjobs.refuse('payload-invalid', format('The %s is nested deeper than 64 levels', what));
  end if;
end
$$;

comment on function pgjobs.check_document is
  'Refuses oversize and overdeep JSON. Example: select pgjobs.check_document(''{}'', ''payload'')';

create function pgjobs.check_documents(documents jsonb[], what text)
returns void
language plpgsql stable
as $$
begin
  -- One small document needs no statement, which would cost a single submit more than all other checks.
  if documents is null or (cardinality(documents) = 1 and pg_column_size(documents[1]) <= 512) then
    return;
  end if;
  perform pgjobs.check_document(d.document, check_documents.what)
  from unnest(check_documents.documents) as d (document)
  where pg_column_size(d.document) > 512;
end
$$;

comment on function pgjobs.check_documents is
  'Refuses oversize and overdeep JSON in a batch. Example: select pgjobs.check_documents(array[''{}''::jsonb], ''payload'')';

-- A batch of acknowledgements: arrays of one length, at most 10,000 items.
-- `lengths` are those of the further arrays, null for one that was left out.
create function pgjobs.check_batch(task_ids bigint[], tokens uuid[], variadic lengths integer[] default '{}')
returns void
language plpgsql immutable
as $$
begin
  if task_ids is null or tokens is null or cardinality(task_ids) <> cardinality(tokens)
    or cardinality(task_ids) > 10000 or cardinality(task_ids) <> any (lengths)
  then
    perform pgjobs.refuse('validation-error', 'A batch has at most 10000 items, in arrays of one length',
      format('Got %s ids, %s tokens and %s.', cardinality(task_ids), cardinality(tokens), lengths));
  end if;
end
$$;

comment on function pgjobs.check_batch is
  'Refuses malformed batches. Example: select pgjobs.check_batch(array[1], array[gen_random_uuid()])';

create function pgjobs.capped_until(lease interval, max_lease interval, now timestamptz)
returns timestamptz
language sql immutable
return case when lease is not null then now + least(lease, max_lease) end;

comment on function pgjobs.capped_until is
  'When a lease ends under a cap. Example: select pgjobs.capped_until(''1 hour'', ''1 minute'', pgjobs.now())';

-- The end of a lease that begins now; null stands for "as long as heartbeats come".
create function pgjobs.lease_until(lease interval, now timestamptz)
returns timestamptz
language plpgsql stable
as $$
begin
  if lease <= interval '0' then
    perform pgjobs.refuse('validation-error', 'lease must be longer than zero', format('Got %s.', lease));
  end if;
  return (select pgjobs.capped_until(lease_until.lease, s.max_lease, lease_until.now) from pgjobs.settings as s);
end
$$;

comment on function pgjobs.lease_until is
  'When a lease ends, capped. Example: select pgjobs.lease_until(''30 seconds'', pgjobs.now())';
