-- list_jobs(
--   room text = null, include_archived boolean = false, page_size integer = 50,
--   page_offset integer = 0
-- )
--
-- Jobs visible from a room (its own, @global and @internal), or all, newest
-- first. Retired ones are never shown, archived ones on request.
select :page_offset as v_page_offset, :room as v_room;
-- include check_page
-- include check_room
select v.*
from job as v
where v.deleted_at is null
  and (v.archived_at is null or :include_archived)
  and (
    :room is null
    or v.room in (:room, '@global')
    or (v.room = '@internal' and :room <> '@global')
  )
order by v.id desc
limit :page_size offset :page_offset;
