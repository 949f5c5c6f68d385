-- list_generic_jobs(
--   domain text = null, queue text = null, job_type text = null, status text = null,
--   owner_user_id text = null, project_id bigint = null, before bigint = null, page_size integer = 50,
--   page_offset integer = 0, cursor text = null
-- )
--
-- Tasks in the words of the generic job manager, newest first, that fit every
-- filter given; of a domain, those submitted in it. `before` pages by id.
select :page_offset as v_page_offset;
-- include check_page
select refuse('not-on-sqlite', 'SQLite has no cursors', 'Page with before.') where :cursor is not null;
select refuse(
  'validation-error', 'Unknown status ' || quote(:status), null, 'queued, processing, completed, failed or cancelled'
)
where :status not in ('queued', 'processing', 'completed', 'failed', 'cancelled');
select json_group_array(w.id) as v_tasks, false as v_is_claimed
from (
  select t.id
  from tasks as t
  cross join jobs as j on j.id = t.job_id
  where (:domain is null or (t.room = :domain and j.room = :domain))
    and (:queue is null or j.category = :queue)
    and (:job_type is null or j.name = :job_type)
    and case :status
      when 'queued' then t.status = 'pending'
      when 'processing' then t.status in ('claimed', 'running')
      when 'cancelled' then t.status in ('cancelled', 'ignored')
      else :status is null or t.status = :status
    end
    and (:owner_user_id is null or t.owner = :owner_user_id)
    and (:project_id is null or t.project = cast(:project_id as text))
    and t.id < coalesce(:before, 9223372036854775807)
  order by t.id desc
  limit :page_size offset :page_offset
) as w;
-- include show_generic_jobs
