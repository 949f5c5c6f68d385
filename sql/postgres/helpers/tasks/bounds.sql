-- Whether a document has a number that other programs cannot read: written out it has more
-- than 4,300 digits, where Python stops, or a fraction and more digits before it than a
-- floating-point number has. Stored it may take a few bytes: 1e5000 is valid.
create function pgjobs._has_long_number(document jsonb)
returns boolean
language plpgsql immutable
as $$
begin
  -- Looking at the text costs a third of looking at each number, and hardly any text gets past it.
  if document::text !~ '[0-9]{200}' then
    return false;
  end if;
  return exists (
    select
    from jsonb_path_query(document, 'strict $.** ? (@.type() == "number")') as n (number)
    cross join lateral ltrim(n.number::text, '-') as w (written)
    where length(w.written) > 308
      and (length(replace(w.written, '.', '')) > 4300 or position('.' in w.written) > 309)
  );
end
$$;

comment on function pgjobs._has_long_number is
  'Whether a document has a number that programs cannot read. Example: select pgjobs._has_long_number(''[1e5000]'')';

-- Refuses documents that are too large, nested too deep or have numbers that are too long.
-- Callers skip it for documents under 512 bytes, 308 as text, which can have none of it.
create function pgjobs._check_document(document jsonb, what text)
returns void
language plpgsql stable
as $$
declare
  v_limit integer := (select s.payload_limit from pgjobs.settings as s);
begin
  -- JSON text is at most six times the stored size (escapes), so the exact
  -- length is computed for large documents only.
  if pg_column_size(document) > v_limit / 8 and octet_length(document::text) > v_limit then
    perform pgjobs._refuse('payload-too-large', format('The %s exceeds %s bytes', what, v_limit));
  end if;
  if jsonb_path_exists(document, '$.**{65}') then
    perform pgjobs._refuse('payload-invalid', format('The %s is nested deeper than 64 levels', what));
  end if;
  if pgjobs._has_long_number(document) then
    perform pgjobs._refuse('payload-invalid', format('The %s has a number of too many digits', what),
      'A number has at most 4300 digits, and 308 before a decimal point.', 'Send it as a string.');
  end if;
end
$$;

comment on function pgjobs._check_document is
  'Refuses JSON that is too large, too deep or has too long numbers. Example: select pgjobs._check_document(''{}'', ''payload'')';

create function pgjobs._check_documents(documents jsonb[], what text)
returns void
language plpgsql stable
as $$
begin
  -- One small document needs no statement, which would cost a single submit more than all other checks.
  if documents is null or (
    cardinality(documents) = 1 and pg_column_size(documents[1]) <= 512 and octet_length(documents[1]::text) <= 308
  ) then
    return;
  end if;
  perform pgjobs._check_document(d.document, _check_documents.what)
  from unnest(_check_documents.documents) as d (document)
  where pg_column_size(d.document) > 512 or octet_length(d.document::text) > 308;
end
$$;

comment on function pgjobs._check_documents is
  'Refuses JSON that is too large, too deep or has too long numbers, in a batch. Example: select pgjobs._check_documents(array[''{}''::jsonb], ''payload'')';

-- Refuses what is not a while to wait.
create function pgjobs._check_delay(delay interval)
returns void
language plpgsql immutable
as $$
begin
  if delay < interval '0' or delay > interval '1000 years' then
    perform pgjobs._refuse('validation-error', 'delay must be between zero and 1000 years', format('Got %s.', delay));
  end if;
end
$$;

comment on function pgjobs._check_delay is
  'Refuses delays that cannot be. Example: select pgjobs._check_delay(''1 hour'')';

-- A batch of acknowledgements: arrays of one length, at most 10,000 items.
-- `lengths` are those of the further arrays, null for one that was left out.
create function pgjobs._check_batch(task_ids bigint[], tokens uuid[], variadic lengths integer[] default '{}')
returns void
language plpgsql immutable
as $$
begin
  if task_ids is null or tokens is null or cardinality(task_ids) <> cardinality(tokens)
    or cardinality(task_ids) > 10000 or cardinality(task_ids) <> any (lengths)
  then
    perform pgjobs._refuse('validation-error', 'A batch has at most 10000 items, in arrays of one length',
      format('Got %s ids, %s tokens and %s.', cardinality(task_ids), cardinality(tokens), lengths));
  end if;
end
$$;

comment on function pgjobs._check_batch is
  'Refuses malformed batches. Example: select pgjobs._check_batch(array[1], array[gen_random_uuid()])';

-- Stable, as adding an interval is: declared immutable it would not be inlined, and cost ten times as much.
create function pgjobs._capped_until(lease interval, max_lease interval, now timestamptz)
returns timestamptz
language sql stable
return case when lease is not null then now + least(lease, max_lease) end;

comment on function pgjobs._capped_until is
  'When a lease ends under a cap. Example: select pgjobs._capped_until(''1 hour'', ''1 minute'', pgjobs._now())';

-- The end of a lease that begins now; null stands for "as long as heartbeats come".
create function pgjobs._lease_until(lease interval, now timestamptz)
returns timestamptz
language plpgsql stable
as $$
begin
  if lease <= interval '0' then
    perform pgjobs._refuse('validation-error', 'lease must be longer than zero', format('Got %s.', lease));
  end if;
  return (select pgjobs._capped_until(_lease_until.lease, s.max_lease, _lease_until.now) from pgjobs.settings as s);
end
$$;

comment on function pgjobs._lease_until is
  'When a lease ends, capped. Example: select pgjobs._lease_until(''30 seconds'', pgjobs._now())';
