-- register_provider(
--   room text, category text, name text, schema jsonb = '{}', content_type text = 'application/json',
--   worker_id uuid = null, actor text = null,
--   is_superuser boolean = false
-- )
--
-- Registers a provider, or changes the one at this address, which must be the
-- actor's own; a superuser takes another's over. Without a worker named, one is
-- created. Answers of the one before are forgotten with a take-over, and its
-- questions are asked again.
select :room as v_room;
-- include check_room
select refuse('forbidden', 'There are no @internal providers')
where :room = '@internal';
select refuse('forbidden', 'Only a superuser may register providers in @global')
where :actor is not null and not :is_superuser and :room = '@global';
select refuse('validation-error', 'A provider''s name has 1 to 200 characters')
where :name = '' or length(:name) > 200;
select refuse('validation-error', 'content_type must be a media type')
where length(:content_type) > 200 or not matches(
  :content_type,
  '[!#$&^_.+a-zA-Z0-9-]+/[!#$&^_.+a-zA-Z0-9-]+( *; *[a-zA-Z0-9_.-]+=("[ !#-\[\]-~]*"|[!#-:<-~]+))*'
);
-- include check_registration
select
  p.id as v_known,
  p.owner is not coalesce(:actor, p.owner) as v_is_another,
  iif(p.owner is coalesce(:actor, p.owner), p.worker_id, null) as v_known_worker
from providers as p
where p.room = :room and p.category = :category and p.name = :name;
select refuse('forbidden', 'Provider ' || p.full_name || ' belongs to someone else')
from providers as p
where p.id = :v_known and :v_is_another and not :is_superuser;
select coalesce(:worker_id, :v_known_worker, uuid4()) as v_worker, coalesce(:v_known, uuid4()) as v_id;
insert into workers (id, owner, registered_at, last_heartbeat_at)
select :v_worker, :actor, now(), now()
where :worker_id is null and :v_known_worker is null;
insert into providers (id, room, category, name, schema, content_type, owner, worker_id, created_at)
select :v_id, :room, :category, :name, :schema, :content_type, :actor, :v_worker, now()
where :v_known is null;
update providers
set schema = :schema, content_type = :content_type, worker_id = :v_worker, owner = coalesce(:actor, owner)
where id = :v_known;
select 'provider-result:' || :v_known || ':' as v_keys;
delete from reads_in_flight where :v_is_another and instr(key, :v_keys) = 1;
delete from reads where :v_is_another and instr(key, :v_keys) = 1;
select :v_id as provider_id, iif(:v_known is null, 'created', 'changed') as registered;
