-- set_job_target(job text, target jsonb = null, node_id text = 'hub', actor text = null)
--
-- Says where the runs of a job write, so that what incomplete ones leave behind
-- can be removed; without a target, that is taken back. Runs that have started
-- keep what they were told.
select :job as v_address;
-- include find_job
-- include cleanup_job
select refuse('validation-error', 'A node''s name has 1 to 200 characters')
where :node_id = '' or length(:node_id) > 200;
select refuse('validation-error', 'A target is an object with a type and at most 10000 bytes')
where :target is not null and (
  json_type(:target) <> 'object'
  or json_type(:target, '$.type') is not 'text'
  or not matches(json_extract(:target, '$.type'), '[a-z][a-z0-9_]{0,49}')
  or length(:target) > 10000
);
select refuse(
  'validation-error', 'A target must not hold secrets, queries or fragments',
  'A URL in it has a user, a query or a fragment, or a member is named like a secret.',
  'Name the secret: {"type": "webdav", "base_url": "https://host/dav", "secret_name": "dav"}'
)
where not is_same_json(redact_document(:target), :target);
select refuse('validation-error', 'base_dir must be an absolute path without . and ..')
where json_extract(:target, '$.type') = 'local_dir' and (
  json_type(:target, '$.base_dir') is not 'text'
  or not matches(json_extract(:target, '$.base_dir'), '/.*')
  or matches(json_extract(:target, '$.base_dir'), '(.*/)?\.\.?(/.*)?')
);
select refuse('validation-error', 'base_url must be an http or https URL, and secret_name a text')
where json_extract(:target, '$.type') = 'webdav' and (
  json_type(:target, '$.base_url') is not 'text'
  or not matches(json_extract(:target, '$.base_url'), 'https?://[^/]+.*')
  or coalesce(json_type(:target, '$.secret_name'), 'null') not in ('text', 'null')
);
select refuse('validation-error', 'The clean-up job has no target of its own')
where :v_job = :v_cleanup_job;
insert into targets (job_id, node_id, target) values (:v_job, :node_id, :target)
on conflict do update set node_id = excluded.node_id, target = excluded.target;
insert into events (at, kind, job_id, room, actor, fields)
select now(), 'job_target_set', j.id, j.room, :actor, json_object('node_id', :node_id, 'target', json(:target))
from jobs as j
where j.id = :v_job;
select j.full_name as job_name, g.node_id as node, g.target as job_target
from jobs as j
join targets as g on g.job_id = j.id
where j.id = :v_job;
