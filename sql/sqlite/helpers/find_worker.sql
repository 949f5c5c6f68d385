-- Refuses a :worker_id that is not registered, or belongs to someone other than :v_actor.
select refuse(
  'worker-not-found', 'Worker ' || :worker_id || ' does not exist',
  'It was never registered, was retired, or its heartbeats stopped.', 'Register a new worker.'
)
where :worker_id is not null and not exists (select 1 from workers as w where w.id = :worker_id);
select refuse('forbidden', 'Worker ' || :worker_id || ' belongs to someone else')
from workers as w
where w.id = :worker_id and w.owner is not coalesce(:v_actor, w.owner);
