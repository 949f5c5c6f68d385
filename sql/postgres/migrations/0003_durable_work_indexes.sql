-- runs: outside a transaction
create index concurrently if not exists scheduled_behind_a_task
on pgjobs.scheduled (blocked_by, task_id) where blocked_by is not null;
create index concurrently if not exists dependencies_of_a_parent on pgjobs.dependencies (after_id, task_id);
create index concurrently if not exists rechecks_without_stamp on pgjobs.rechecks (id) where stamp is null;
create index concurrently if not exists rechecks_by_stamp on pgjobs.rechecks (stamp) where stamp is not null;
create index concurrently if not exists workflows_of_a_room on pgjobs.workflows (room, id);
