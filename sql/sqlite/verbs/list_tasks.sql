-- list_tasks(
--   room text = null, job text = null, status text = null, owner text = null, project text = null,
--   before bigint = null, page_size integer = 50,
--   page_offset integer = 0, cursor text = null
-- )
--
-- Tasks, newest first, that fit every filter given. `before` pages by id.
select :page_offset as v_page_offset, :job as v_address;
-- include check_page
select refuse('not-on-sqlite', 'SQLite has no cursors', 'Page with before.') where :cursor is not null;
select refuse('validation-error', 'Unknown status ' || quote(:status))
where :status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored');
-- include find_job

-- One way in for each index that serves; the others are passed by without a look.
select json_group_array(f.id) as v_found
from (
  select t.id
  from (
    select a.* from tasks as a where a.room = :room
    union all
    select b.* from tasks as b where :room is null and :status = 'failed' and b.status = 'failed'
    union all
    select c.* from tasks as c
    where :room is null and :status in ('claimed', 'running')
      and c.id in (select l.id from tasks as l where l.status in ('claimed', 'running'))
    union all
    select d.* from tasks as d where :room is null and coalesce(:status, '') not in ('failed', 'claimed', 'running')
  ) as t
  where (:v_job is null or t.job_id = :v_job)
    and (:status is null or t.status = :status)
    and (:owner is null or t.owner = :owner)
    and (:project is null or t.project = :project)
    and t.id < coalesce(:before, 9223372036854775807)
  order by t.id desc
  limit :page_size offset :page_offset
) as f;
select v.*
from json_each(:v_found) as f
cross join task as v on v.id = f.value
order by f.key;
