-- Refuses batches of acknowledgements that are not arrays of one length, at most
-- 10,000 items. :v_lengths are those of the further arrays, null for one left out.
select refuse(
  'validation-error', 'A batch has at most 10000 items, in arrays of one length',
  'Got ' || json_array_length(:task_ids) || ' ids, ' || json_array_length(:tokens) || ' tokens and ' || :v_lengths || '.'
)
where json_array_length(:task_ids) <> json_array_length(:tokens)
  or json_array_length(:task_ids) > 10000
  or exists (select 1 from json_each(:v_lengths) as l where l.value <> json_array_length(:task_ids));
