-- Refuses :v_submitter, :owner, :project and :tags that are too long or too many.
select refuse('validation-error', 'submitter, owner and project have at most 200 characters')
where length(:v_submitter) > 200 or length(:owner) > 200 or length(:project) > 200;
select refuse('validation-error', 'tags are at most 20, of at most 200 characters')
where json_array_length(:tags) > 20 or exists (select 1 from json_each(:tags) as t where length(t.value) > 200);
