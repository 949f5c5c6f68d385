-- count_jobs(room text = null, include_archived boolean = false)
--
-- How many jobs list_jobs would list.
select :room as v_room;
-- include check_room
select count(*) as total, 'eq' as relation
from jobs as j
where j.deleted_at is null
  and (j.archived_at is null or :include_archived)
  and (
    :room is null
    or j.room in (:room, '@global')
    or (j.room = '@internal' and :room <> '@global')
  );
