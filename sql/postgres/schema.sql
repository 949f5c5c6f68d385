-- What `pgjobs migrate` installs, as pg_dump shows it. Written by `make schema`.

CREATE SCHEMA pgjobs;

COMMENT ON SCHEMA pgjobs IS 'A job queue. Upgrades drop and re-create every function and view in here.';

CREATE FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
declare
  v_hash bytea := substr(sha256(key || int8send(task_id)), 1, 8);
  v_check bytea := set_byte(v_hash, 0, 128 | (get_byte(v_hash, 0) & 63));
  v_hidden text := lpad(to_hex(task_id # pgjobs.task_mask(v_check, key)), 15, '0');
begin
  return (left(v_hidden, 12) || '8' || right(v_hidden, 3) || encode(v_check, 'hex'))::uuid;
end
$$;

COMMENT ON FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) IS 'The public id of a task under a key. Example: see pgjobs.task_uuid, which knows the queue''s key';

CREATE TABLE pgjobs.attempts (
    id bigint NOT NULL,
    task_id bigint NOT NULL,
    attempt smallint NOT NULL,
    status text NOT NULL,
    token uuid,
    worker_id uuid,
    holder text,
    claimed_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    error text,
    error_kind text,
    reason text,
    CONSTRAINT statuses_are_known CHECK ((status = ANY (ARRAY['failed'::text, 'cancelled'::text])))
);

COMMENT ON TABLE pgjobs.attempts IS 'Attempts that did not settle their task: failed and retried, or undone by an operator.';

COMMENT ON COLUMN pgjobs.attempts.id IS 'In order of ending.';

COMMENT ON COLUMN pgjobs.attempts.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.attempts.attempt IS 'The how-many-eth lease.';

COMMENT ON COLUMN pgjobs.attempts.status IS 'failed, or cancelled and later retried by an operator.';

COMMENT ON COLUMN pgjobs.attempts.token IS 'The lease''s token.';

COMMENT ON COLUMN pgjobs.attempts.worker_id IS 'The worker.';

COMMENT ON COLUMN pgjobs.attempts.holder IS 'The holder, if not a registered worker.';

COMMENT ON COLUMN pgjobs.attempts.claimed_at IS 'When the lease began.';

COMMENT ON COLUMN pgjobs.attempts.started_at IS 'When work began.';

COMMENT ON COLUMN pgjobs.attempts.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.attempts.error IS 'What it failed with.';

COMMENT ON COLUMN pgjobs.attempts.error_kind IS 'The kind of that error.';

COMMENT ON COLUMN pgjobs.attempts.reason IS 'Why it was cancelled.';

CREATE TABLE pgjobs.ignored (
    task_id bigint NOT NULL,
    job_id integer NOT NULL,
    attempt smallint NOT NULL,
    ignored_at timestamp with time zone NOT NULL,
    actor text,
    reason text
);

COMMENT ON TABLE pgjobs.ignored IS 'Tasks an operator put aside.';

COMMENT ON COLUMN pgjobs.ignored.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.ignored.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.ignored.attempt IS 'Attempts used before.';

COMMENT ON COLUMN pgjobs.ignored.ignored_at IS 'Since when.';

COMMENT ON COLUMN pgjobs.ignored.actor IS 'By whom.';

COMMENT ON COLUMN pgjobs.ignored.reason IS 'Why.';

CREATE TABLE pgjobs.jobs (
    id integer NOT NULL,
    uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    room text NOT NULL,
    category text NOT NULL,
    name text NOT NULL,
    full_name text GENERATED ALWAYS AS (((((room || ':'::text) || category) || ':'::text) || name)) STORED NOT NULL,
    schema jsonb DEFAULT '{}'::jsonb NOT NULL,
    max_attempts smallint DEFAULT 1 NOT NULL,
    backoff_base interval DEFAULT '00:00:01'::interval NOT NULL,
    backoff_cap interval DEFAULT '01:00:00'::interval NOT NULL,
    jitter_share real DEFAULT 0.25 NOT NULL,
    jitter_cap interval,
    max_age interval,
    events text DEFAULT 'failures'::text NOT NULL,
    retain_completed interval,
    retain_failed interval,
    created_at timestamp with time zone NOT NULL,
    paused_at timestamp with time zone,
    archived_at timestamp with time zone,
    deleted_at timestamp with time zone,
    keep boolean DEFAULT false NOT NULL,
    max_running integer,
    CONSTRAINT ages_are_not_negative CHECK (((max_age > '00:00:00'::interval) AND (retain_completed >= '00:00:00'::interval) AND (retain_failed >= '00:00:00'::interval))),
    CONSTRAINT attempts_are_possible CHECK (((max_attempts >= 1) AND (max_attempts <= 10000))),
    CONSTRAINT backoff_grows CHECK (((backoff_base >= '00:00:00'::interval) AND (backoff_cap >= backoff_base))),
    CONSTRAINT categories_are_well_formed CHECK (((category <> ''::text) AND (category !~ ':'::text) AND (length(category) <= 200))),
    CONSTRAINT events_are_known CHECK ((events = ANY (ARRAY['failures'::text, 'full'::text]))),
    CONSTRAINT jitter_is_a_share CHECK ((((jitter_share >= (0)::double precision) AND (jitter_share <= (1)::double precision)) AND (jitter_cap >= '00:00:00'::interval))),
    CONSTRAINT limits_are_possible CHECK (((max_running >= 1) AND (max_running <= 1000000))),
    CONSTRAINT names_are_well_formed CHECK (((name <> ''::text) AND (length(name) <= 200))),
    CONSTRAINT rooms_are_well_formed CHECK (((room = ANY (ARRAY['@global'::text, '@internal'::text])) OR ((room <> ''::text) AND (room !~ '[@:]'::text) AND (length(room) <= 200))))
);

COMMENT ON TABLE pgjobs.jobs IS 'Registered kinds of work; also where their tasks wait, one lane per priority.';

COMMENT ON COLUMN pgjobs.jobs.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.jobs.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.jobs.room IS 'Scope: @global, @internal or a room''s own name.';

COMMENT ON COLUMN pgjobs.jobs.category IS 'Second part of the address.';

COMMENT ON COLUMN pgjobs.jobs.name IS 'Third part of the address; may contain colons.';

COMMENT ON COLUMN pgjobs.jobs.full_name IS 'The address, room:category:name.';

COMMENT ON COLUMN pgjobs.jobs.schema IS 'JSON Schema of the payload.';

COMMENT ON COLUMN pgjobs.jobs.max_attempts IS 'How often a task may be leased before it fails for good, unless the task says otherwise.';

COMMENT ON COLUMN pgjobs.jobs.backoff_base IS 'Delay after the first failed attempt; doubles with each further one.';

COMMENT ON COLUMN pgjobs.jobs.backoff_cap IS 'Longest delay between attempts, before jitter.';

COMMENT ON COLUMN pgjobs.jobs.jitter_share IS 'Up to this share of the delay is added, always the same for one attempt of one task.';

COMMENT ON COLUMN pgjobs.jobs.jitter_cap IS 'Jitter never exceeds this.';

COMMENT ON COLUMN pgjobs.jobs.max_age IS 'A task older than this is not retried.';

COMMENT ON COLUMN pgjobs.jobs.events IS 'failures: only failures and operator actions are recorded; full: every change of status.';

COMMENT ON COLUMN pgjobs.jobs.retain_completed IS 'Overrides settings.retain_completed.';

COMMENT ON COLUMN pgjobs.jobs.retain_failed IS 'Overrides settings.retain_failed.';

COMMENT ON COLUMN pgjobs.jobs.created_at IS 'When it was first registered.';

COMMENT ON COLUMN pgjobs.jobs.paused_at IS 'Set while claims pass it by.';

COMMENT ON COLUMN pgjobs.jobs.archived_at IS 'Set while it is put away: hidden, refuses tasks, yields none; history is kept.';

COMMENT ON COLUMN pgjobs.jobs.deleted_at IS 'Soft delete: nobody serves it and nothing waits; registering it again brings it back.';

COMMENT ON COLUMN pgjobs.jobs.keep IS 'Whether it stays when nobody serves it; else it is retired with its last worker.';

COMMENT ON COLUMN pgjobs.jobs.max_running IS 'How many of its tasks may be claimed or running at once; empty: any number.';

CREATE TABLE pgjobs.leases (
    task_id bigint NOT NULL,
    job_id integer NOT NULL,
    token uuid NOT NULL,
    worker_id uuid,
    holder text,
    attempt smallint NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    until timestamp with time zone,
    started_at timestamp with time zone,
    progress jsonb,
    cancel_requested_at timestamp with time zone,
    cancel_reason text,
    is_limited boolean DEFAULT false NOT NULL,
    CONSTRAINT leases_are_held CHECK (((attempt > 0) AND ((worker_id IS NOT NULL) OR ((holder IS NOT NULL) AND (until IS NOT NULL)))))
)
WITH (fillfactor='90');

COMMENT ON TABLE pgjobs.leases IS 'Who works on which task, until when, under which token.';

COMMENT ON COLUMN pgjobs.leases.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.leases.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.leases.token IS 'The fence: every acknowledgement must name it.';

COMMENT ON COLUMN pgjobs.leases.worker_id IS 'The registered worker that holds it.';

COMMENT ON COLUMN pgjobs.leases.holder IS 'Name of a holder that is not a registered worker.';

COMMENT ON COLUMN pgjobs.leases.attempt IS 'The how-many-eth lease of the task in its present life.';

COMMENT ON COLUMN pgjobs.leases.claimed_at IS 'When it was claimed.';

COMMENT ON COLUMN pgjobs.leases.until IS 'When it lapses; empty: it lives by its worker''s heartbeats alone.';

COMMENT ON COLUMN pgjobs.leases.started_at IS 'When work began; empty: claimed only.';

COMMENT ON COLUMN pgjobs.leases.progress IS 'What the worker last reported.';

COMMENT ON COLUMN pgjobs.leases.cancel_requested_at IS 'Since when the worker is asked to stop.';

COMMENT ON COLUMN pgjobs.leases.cancel_reason IS 'Why.';

COMMENT ON COLUMN pgjobs.leases.is_limited IS 'Whether it counts towards the limit of its job.';

CREATE TABLE pgjobs.outcomes (
    task_id bigint NOT NULL,
    job_id integer NOT NULL,
    status text NOT NULL,
    attempt smallint NOT NULL,
    token uuid,
    worker_id uuid,
    holder text,
    claimed_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    result jsonb,
    error text,
    error_kind text,
    reason text,
    actor text,
    CONSTRAINT outcomes_are_whole CHECK (
CASE status
    WHEN 'completed'::text THEN ((error IS NULL) AND (token IS NOT NULL))
    WHEN 'failed'::text THEN ((error IS NOT NULL) AND (token IS NOT NULL) AND (result IS NULL))
    WHEN 'cancelled'::text THEN ((error IS NULL) AND (result IS NULL))
    ELSE false
END)
)
PARTITION BY RANGE (task_id);

COMMENT ON TABLE pgjobs.outcomes IS 'How tasks ended. Written once, never changed. In partitions by the number of the task.';

COMMENT ON COLUMN pgjobs.outcomes.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.outcomes.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.outcomes.status IS 'completed, failed or cancelled.';

COMMENT ON COLUMN pgjobs.outcomes.attempt IS 'Attempts used.';

COMMENT ON COLUMN pgjobs.outcomes.token IS 'The lease that ended it, so that a repeated acknowledgement can be answered.';

COMMENT ON COLUMN pgjobs.outcomes.worker_id IS 'The worker that ended it.';

COMMENT ON COLUMN pgjobs.outcomes.holder IS 'The holder that ended it, if not a registered worker.';

COMMENT ON COLUMN pgjobs.outcomes.claimed_at IS 'When its last lease began.';

COMMENT ON COLUMN pgjobs.outcomes.started_at IS 'When its last attempt began to run.';

COMMENT ON COLUMN pgjobs.outcomes.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.outcomes.result IS 'What it gave.';

COMMENT ON COLUMN pgjobs.outcomes.error IS 'What it failed with.';

COMMENT ON COLUMN pgjobs.outcomes.error_kind IS 'The kind of that error.';

COMMENT ON COLUMN pgjobs.outcomes.reason IS 'Why it was cancelled.';

COMMENT ON COLUMN pgjobs.outcomes.actor IS 'Who cancelled it.';

CREATE TABLE pgjobs.ready (
    job_id integer NOT NULL,
    priority smallint NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    task_id bigint NOT NULL,
    is_again boolean DEFAULT false NOT NULL
);

COMMENT ON TABLE pgjobs.ready IS 'Tasks that are due, in the exact order they are claimed.';

COMMENT ON COLUMN pgjobs.ready.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.ready.priority IS 'The lane.';

COMMENT ON COLUMN pgjobs.ready.attempt IS 'Attempts used so far.';

COMMENT ON COLUMN pgjobs.ready.due_at IS 'Since when it is due: its place in the lane.';

COMMENT ON COLUMN pgjobs.ready.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.ready.is_again IS 'True unless it entered when it was submitted.';

CREATE TABLE pgjobs.scheduled (
    task_id bigint NOT NULL,
    run_at timestamp with time zone NOT NULL,
    job_id integer NOT NULL,
    priority smallint NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    error text,
    error_kind text
);

COMMENT ON TABLE pgjobs.scheduled IS 'Tasks that are due later: submitted with a delay, or backing off after an error.';

COMMENT ON COLUMN pgjobs.scheduled.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.scheduled.run_at IS 'When it becomes due.';

COMMENT ON COLUMN pgjobs.scheduled.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.scheduled.priority IS 'The lane it will enter.';

COMMENT ON COLUMN pgjobs.scheduled.attempt IS 'Attempts used so far.';

COMMENT ON COLUMN pgjobs.scheduled.error IS 'What the last attempt failed with.';

COMMENT ON COLUMN pgjobs.scheduled.error_kind IS 'The kind of that error.';

CREATE TABLE pgjobs.secrets (
    is_only boolean DEFAULT true NOT NULL,
    task_key bytea DEFAULT sha256((uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))) NOT NULL,
    CONSTRAINT secrets_are_one_row CHECK (is_only)
);

COMMENT ON TABLE pgjobs.secrets IS 'Keys nobody may read; only the functions that need them do.';

COMMENT ON COLUMN pgjobs.secrets.is_only IS 'Always true: there is one row.';

COMMENT ON COLUMN pgjobs.secrets.task_key IS 'Makes public task UUIDs unguessable. Changing it makes issued UUIDs invalid.';

CREATE TABLE pgjobs.tasks (
    id bigint NOT NULL,
    job_id integer NOT NULL,
    room text NOT NULL,
    payload jsonb NOT NULL,
    priority smallint NOT NULL,
    max_attempts smallint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    submitter text,
    owner text,
    project text,
    tags text[],
    idempotency_key text,
    trace_context text,
    CONSTRAINT attempts_are_possible CHECK (((max_attempts >= 1) AND (max_attempts <= 10000))),
    CONSTRAINT priorities_are_known CHECK (((priority >= 1) AND (priority <= 10)))
);

COMMENT ON TABLE pgjobs.tasks IS 'Requests to run a job once. Written once, never changed.';

COMMENT ON COLUMN pgjobs.tasks.id IS 'Internal number, in order of submission.';

COMMENT ON COLUMN pgjobs.tasks.job_id IS 'What to run.';

COMMENT ON COLUMN pgjobs.tasks.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.tasks.payload IS 'What to run it with.';

COMMENT ON COLUMN pgjobs.tasks.priority IS '1 (most urgent) to 10.';

COMMENT ON COLUMN pgjobs.tasks.max_attempts IS 'How often it may be leased before it fails for good.';

COMMENT ON COLUMN pgjobs.tasks.created_at IS 'When it was submitted.';

COMMENT ON COLUMN pgjobs.tasks.submitter IS 'Who submitted it.';

COMMENT ON COLUMN pgjobs.tasks.owner IS 'Whose work it is.';

COMMENT ON COLUMN pgjobs.tasks.project IS 'What it belongs to.';

COMMENT ON COLUMN pgjobs.tasks.tags IS 'Free words to find it by.';

COMMENT ON COLUMN pgjobs.tasks.idempotency_key IS 'The key it was submitted under.';

COMMENT ON COLUMN pgjobs.tasks.trace_context IS 'W3C trace context of its submit: traceparent, then tracestate, if any, after a space.';

CREATE VIEW pgjobs.generic_jobs AS
 SELECT t.id,
    pgjobs.uuid_of(t.id, ( SELECT k.task_key
           FROM pgjobs.secrets k)) AS uuid,
    j.room AS domain,
    j.category AS queue,
    j.name AS job_type,
    t.owner AS owner_user_id,
        CASE
            WHEN (t.project ~ '^-?[0-9]{1,18}$'::text) THEN (t.project)::bigint
            ELSE NULL::bigint
        END AS project_id,
    t.idempotency_key,
    t.payload,
    o.result,
        CASE
            WHEN (o.task_id IS NOT NULL) THEN o.status
            WHEN (l.task_id IS NOT NULL) THEN 'processing'::text
            WHEN (i.task_id IS NOT NULL) THEN 'cancelled'::text
            ELSE 'queued'::text
        END AS status,
    (t.priority)::integer AS priority,
    (t.max_attempts - 1) AS max_retries,
        CASE
            WHEN (COALESCE(o.token, l.token) IS NOT NULL) THEN (COALESCE(o.attempt, l.attempt) - 1)
            ELSE COALESCE((o.attempt)::integer, (i.attempt)::integer, (s.attempt)::integer, (r.attempt)::integer, (b.attempt)::integer, 0)
        END AS retry_count,
    COALESCE(s.run_at, r.due_at, b.due_at) AS available_at,
    l.until AS leased_until,
    (COALESCE(l.token, o.token))::text AS lease_id,
    COALESCE(l.holder, (l.worker_id)::text, o.holder, (o.worker_id)::text) AS worker_id,
    COALESCE(l.claimed_at, o.claimed_at) AS acquired_at,
    COALESCE(o.error, a.error) AS error_message,
    COALESCE(o.error, a.error) AS last_error,
    l.cancel_requested_at,
    COALESCE(
        CASE
            WHEN (o.status = 'cancelled'::text) THEN o.ended_at
            ELSE NULL::timestamp with time zone
        END, i.ignored_at) AS cancelled_at,
    COALESCE(o.reason, l.cancel_reason, i.reason) AS cancellation_reason,
    t.created_at,
    GREATEST(t.created_at, a.ended_at, l.claimed_at, l.cancel_requested_at, o.ended_at, i.ignored_at) AS updated_at,
        CASE
            WHEN (o.status = 'completed'::text) THEN o.ended_at
            ELSE NULL::timestamp with time zone
        END AS completed_at
   FROM ((((((((pgjobs.tasks t
     JOIN pgjobs.jobs j ON ((j.id = t.job_id)))
     LEFT JOIN pgjobs.outcomes o ON ((o.task_id = t.id)))
     LEFT JOIN pgjobs.leases l ON ((l.task_id = t.id)))
     LEFT JOIN pgjobs.ignored i ON ((i.task_id = t.id)))
     LEFT JOIN pgjobs.scheduled s ON ((s.task_id = t.id)))
     LEFT JOIN pgjobs.ready r ON (((r.job_id = t.job_id) AND (r.priority = t.priority) AND (r.due_at = t.created_at) AND (r.task_id = t.id))))
     LEFT JOIN pgjobs.ready b ON (((b.task_id = t.id) AND b.is_again)))
     LEFT JOIN LATERAL ( SELECT e.error,
            e.ended_at
           FROM pgjobs.attempts e
          WHERE (e.task_id = t.id)
          ORDER BY e.id DESC
         LIMIT 1) a ON (true));

COMMENT ON VIEW pgjobs.generic_jobs IS 'Every task in the words of the generic job manager. Example: select id, job_type, status from pgjobs.generic_jobs where domain = ''chatbooks''';

COMMENT ON COLUMN pgjobs.generic_jobs.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.generic_jobs.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.generic_jobs.domain IS 'The room of its job.';

COMMENT ON COLUMN pgjobs.generic_jobs.queue IS 'The category of its job.';

COMMENT ON COLUMN pgjobs.generic_jobs.job_type IS 'The name of its job.';

COMMENT ON COLUMN pgjobs.generic_jobs.owner_user_id IS 'Whose work it is.';

COMMENT ON COLUMN pgjobs.generic_jobs.project_id IS 'What it belongs to, where that is a number.';

COMMENT ON COLUMN pgjobs.generic_jobs.idempotency_key IS 'The key it was created under.';

COMMENT ON COLUMN pgjobs.generic_jobs.payload IS 'What to run it with.';

COMMENT ON COLUMN pgjobs.generic_jobs.result IS 'What it gave.';

COMMENT ON COLUMN pgjobs.generic_jobs.status IS 'queued, processing, completed, failed or cancelled (also: put aside by an operator).';

COMMENT ON COLUMN pgjobs.generic_jobs.priority IS '1 (most urgent) to 10.';

COMMENT ON COLUMN pgjobs.generic_jobs.max_retries IS 'Attempts it may use after the first.';

COMMENT ON COLUMN pgjobs.generic_jobs.retry_count IS 'Attempts that failed and were or will be followed by another.';

COMMENT ON COLUMN pgjobs.generic_jobs.available_at IS 'While queued: from when on it may be acquired.';

COMMENT ON COLUMN pgjobs.generic_jobs.leased_until IS 'When its lease lapses.';

COMMENT ON COLUMN pgjobs.generic_jobs.lease_id IS 'Its present or last lease, which acknowledgements must name.';

COMMENT ON COLUMN pgjobs.generic_jobs.worker_id IS 'Who holds it or ended it.';

COMMENT ON COLUMN pgjobs.generic_jobs.acquired_at IS 'When its present or last lease began.';

COMMENT ON COLUMN pgjobs.generic_jobs.error_message IS 'What its last failed attempt failed with.';

COMMENT ON COLUMN pgjobs.generic_jobs.last_error IS 'The same.';

COMMENT ON COLUMN pgjobs.generic_jobs.cancel_requested_at IS 'Since when its worker is asked to stop.';

COMMENT ON COLUMN pgjobs.generic_jobs.cancelled_at IS 'When it was cancelled.';

COMMENT ON COLUMN pgjobs.generic_jobs.cancellation_reason IS 'Why.';

COMMENT ON COLUMN pgjobs.generic_jobs.created_at IS 'When it was created.';

COMMENT ON COLUMN pgjobs.generic_jobs.updated_at IS 'When its last lease, attempt or life began or ended.';

COMMENT ON COLUMN pgjobs.generic_jobs.completed_at IS 'When it was completed.';

CREATE FUNCTION pgjobs.acquire_generic_jobs(domain text, queue text, worker_id text, lease interval, quantity integer DEFAULT 1, owner_user_id text DEFAULT NULL::text, project_id bigint DEFAULT NULL::bigint) RETURNS SETOF pgjobs.generic_jobs
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs.clock_ms();
  v_tasks bigint[];
begin
  if acquire_generic_jobs.domain is null or acquire_generic_jobs.queue is null then
    perform pgjobs.refuse('validation-error', 'A domain and a queue must be named');
  end if;
  v_tasks := array(
    select c.task_id
    from pgjobs.claim_tasks(
      quantity => acquire_generic_jobs.quantity, lease => acquire_generic_jobs.lease,
      in_room => acquire_generic_jobs.domain, in_category => acquire_generic_jobs.queue,
      of_owner => acquire_generic_jobs.owner_user_id, of_project => acquire_generic_jobs.project_id::text,
      holder => acquire_generic_jobs.worker_id, start => true
    ) as c
  );
  if cardinality(v_tasks) = 0 or pgjobs.floor_get('lapsed', v_clock) is null then
    perform pgjobs.floor_set('lapsed', 0, v_clock + 1000);
    perform pgjobs.sweep_leases(pgjobs.now(), 100);
  end if;
  -- Lateral and not flattened: a join with the view would read all of it.
  return query
  select g.*
  from unnest(v_tasks) with ordinality as i (task_id, place)
  cross join lateral (select v.* from pgjobs.generic_jobs as v where v.id = i.task_id offset 0) as g
  order by i.place;
end
$$;

COMMENT ON FUNCTION pgjobs.acquire_generic_jobs(domain text, queue text, worker_id text, lease interval, quantity integer, owner_user_id text, project_id bigint) IS 'Leases tasks in the generic manager''s words. Example: select id, lease_id, payload from pgjobs.acquire_generic_jobs(''chatbooks'', ''default'', ''me'', ''1 minute'')';

CREATE FUNCTION pgjobs.add_histograms(one bigint[], other bigint[]) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE
    RETURN ARRAY(SELECT (o.quantity + t.quantity) FROM (unnest(add_histograms.one) WITH ORDINALITY o(quantity, place) JOIN unnest(add_histograms.other) WITH ORDINALITY t(quantity, place) USING (place)) ORDER BY o.place);

COMMENT ON FUNCTION pgjobs.add_histograms(one bigint[], other bigint[]) IS 'The counts of two histograms together. Example: select pgjobs.add_histograms(array[1, 2], array[3, 4])';

CREATE FUNCTION pgjobs.short_duration(seconds double precision) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (seconds IS NULL) THEN NULL::text WHEN (seconds < (1)::double precision) THEN (round((seconds * (1000)::double precision)) || ' ms'::text) WHEN (seconds < (100)::double precision) THEN (round(seconds) || ' s'::text) WHEN (seconds < (6000)::double precision) THEN (round((seconds / (60)::double precision)) || ' min'::text) WHEN (seconds < (172800)::double precision) THEN (round((seconds / (3600)::double precision)) || ' h'::text) ELSE (round((seconds / (86400)::double precision)) || ' d'::text) END;

COMMENT ON FUNCTION pgjobs.short_duration(seconds double precision) IS 'A duration as people say it. Example: select pgjobs.short_duration(4000)';

CREATE FUNCTION pgjobs.ago(moment timestamp with time zone, now timestamp with time zone) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN pgjobs.short_duration((abs(EXTRACT(epoch FROM (now - moment))))::double precision);

COMMENT ON FUNCTION pgjobs.ago(moment timestamp with time zone, now timestamp with time zone) IS 'How far a moment is away. Example: select pgjobs.ago(pgjobs.now() - interval ''1 hour'', pgjobs.now())';

CREATE FUNCTION pgjobs.allowed_steps(status text, phase text) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    RETURN CASE status WHEN 'failed'::text THEN ARRAY['retry'::text, 'ignore'::text] WHEN 'cancelled'::text THEN ARRAY['retry'::text] WHEN 'ignored'::text THEN ARRAY['retry'::text, 'unignore'::text] WHEN 'claimed'::text THEN ARRAY['cancel'::text] WHEN 'running'::text THEN ARRAY['cancel'::text] WHEN 'pending'::text THEN (CASE WHEN (phase = 'due'::text) THEN '{}'::text[] ELSE ARRAY['retry'::text] END || ARRAY['ignore'::text, 'cancel'::text]) ELSE '{}'::text[] END;

COMMENT ON FUNCTION pgjobs.allowed_steps(status text, phase text) IS 'What an operator may do with a task. Example: select pgjobs.allowed_steps(''failed'', null)';

CREATE FUNCTION pgjobs.announce_claimed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id)
  select
    n.claimed_at, case when n.started_at is null then 'claimed' else 'started' end, n.task_id, n.job_id, t.room,
    case when n.started_at is null then 'claimed' else 'running' end, n.worker_id
  from new_rows as n
  join pgjobs.jobs as j on j.id = n.job_id and j.events = 'full'
  join pgjobs.tasks as t on t.id = n.task_id;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_claimed() IS 'Trigger: records new leases of jobs that ask for full events. Example: fires on insert into pgjobs.leases';

CREATE FUNCTION pgjobs.announce_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  v_task bigint;
  v_is_told boolean;
  v_are_limited boolean;
begin
  select
    exists (select from pgjobs.jobs as j where j.events = 'full') or exists (select from new_rows as n where n.status <> 'completed'),
    exists (select from pgjobs.jobs as j where j.max_running is not null)
  into v_is_told, v_are_limited;
  if v_are_limited then
    -- Slots came free.
    perform pgjobs.wake(n.job_id, count(*))
    from new_rows as n
    join pgjobs.jobs as j on j.id = n.job_id and j.max_running is not null
    group by n.job_id;
  end if;
  if v_is_told then
    insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id, actor, message)
    select
      n.ended_at, n.status, n.task_id, n.job_id, t.room, n.status, n.worker_id, n.actor,
      left(coalesce(n.error, n.reason), 500)
    from new_rows as n
    join pgjobs.jobs as j on j.id = n.job_id and (j.events = 'full' or n.status <> 'completed')
    join pgjobs.tasks as t on t.id = n.task_id;
  end if;
  -- Reading the sequence costs the same however many dead marks there are.
  if (select s.last_value from pgjobs.watched_until as s) >= extract(epoch from clock_timestamp()) then
    for v_task in
      delete from pgjobs.watched as w using new_rows as n where w.task_id = n.task_id returning w.task_id
    loop
      perform pg_notify('pgjobs.ended', v_task::text);
    end loop;
  end if;
  insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at)
  select n.job_id, n.status, max(n.ended_at), array_agg(n.task_id), array_agg(n.claimed_at)
  from new_rows as n
  group by n.job_id, n.status;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_ended() IS 'Trigger: records endings, wakes watchers and whoever waits for a slot, and notes them for the rollups. Example: fires on insert into pgjobs.outcomes';

CREATE FUNCTION pgjobs.announce_events() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if (select s.last_value from pgjobs.events_wanted_until as s) >= extract(epoch from clock_timestamp()) then
    perform setval('pgjobs.events_wanted_until', 0);
    perform pg_notify('pgjobs.events', '');
  end if;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_events() IS 'Trigger: wakes whoever reads events. Example: fires on insert into pgjobs.events';

CREATE FUNCTION pgjobs.announce_job() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  insert into pgjobs.events (at, kind, job_id, room)
  values (pgjobs.now(), case when new.deleted_at is null then 'job_registered' else 'job_orphaned' end, new.id, new.room);
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_job() IS 'Trigger: records that a job came or went. Example: fires on insert into pgjobs.jobs';

CREATE FUNCTION pgjobs.announce_link() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  insert into pgjobs.events (at, kind, job_id, room, worker_id)
  select pgjobs.now(), case tg_op when 'INSERT' then 'worker_joined' else 'worker_left' end, c.job_id, j.room, c.worker_id
  from changed as c
  join pgjobs.jobs as j on j.id = c.job_id;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_link() IS 'Trigger: records that a worker serves a job, or no longer. Example: fires on insert into pgjobs.worker_jobs';

CREATE FUNCTION pgjobs.announce_provider() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  insert into pgjobs.events (at, kind, room, worker_id, fields)
  select
    pgjobs.now(), case tg_op when 'DELETE' then 'provider_retired' else 'provider_registered' end, c.room, c.worker_id,
    jsonb_build_object('provider_id', c.id, 'provider_name', c.full_name)
  from changed as c;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_provider() IS 'Trigger: records that a provider came or went. Example: fires on insert into pgjobs.providers';

CREATE FUNCTION pgjobs.announce_ready() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status)
  select pgjobs.now(), case when n.due_at = t.created_at then 'released' else 'due' end, n.task_id, n.job_id, t.room, 'pending'
  from new_rows as n
  join pgjobs.jobs as j on j.id = n.job_id and j.events = 'full'
  join pgjobs.tasks as t on t.id = n.task_id
  where n.is_again and n.due_at >= t.created_at;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_ready() IS 'Trigger: records tasks that come back into line. Example: fires on insert into pgjobs.ready';

CREATE FUNCTION pgjobs.announce_scheduled() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (select from new_rows as n where n.error is not null) then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, message, fields)
  select
    pgjobs.now(), 'retrying', n.task_id, n.job_id, t.room, 'pending', left(n.error, 500),
    jsonb_build_object('attempt', n.attempt, 'run_at', n.run_at, 'error_kind', n.error_kind)
  from new_rows as n
  join pgjobs.tasks as t on t.id = n.task_id
  where n.error is not null;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_scheduled() IS 'Trigger: records failed attempts that will be retried. Example: fires on insert into pgjobs.scheduled';

CREATE FUNCTION pgjobs.announce_started() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status, worker_id)
  select n.started_at, 'started', n.task_id, n.job_id, t.room, 'running', n.worker_id
  from new_rows as n
  join old_rows as o on o.task_id = n.task_id and o.started_at is null and n.started_at is not null
  join pgjobs.jobs as j on j.id = n.job_id and j.events = 'full'
  join pgjobs.tasks as t on t.id = n.task_id;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_started() IS 'Trigger: records started tasks of jobs that ask for full events. Example: fires on update of pgjobs.leases';

CREATE FUNCTION pgjobs.announce_submitted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  -- Most queues have no such job, and this look costs less than touching the rows.
  if not exists (select from pgjobs.jobs as j where j.events = 'full') then
    return null;
  end if;
  insert into pgjobs.events (at, kind, task_id, job_id, room, status)
  select n.created_at, 'submitted', n.id, n.job_id, n.room, 'pending'
  from new_rows as n
  join pgjobs.jobs as j on j.id = n.job_id and j.events = 'full';
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.announce_submitted() IS 'Trigger: records submitted tasks of jobs that ask for full events. Example: fires on insert into pgjobs.tasks';

CREATE TABLE pgjobs.providers (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    room text NOT NULL,
    category text NOT NULL,
    name text NOT NULL,
    full_name text GENERATED ALWAYS AS (((((room || ':'::text) || category) || ':'::text) || name)) STORED NOT NULL,
    schema jsonb DEFAULT '{}'::jsonb NOT NULL,
    content_type text DEFAULT 'application/json'::text NOT NULL,
    owner text,
    worker_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT categories_are_well_formed CHECK (((category <> ''::text) AND (category !~ ':'::text) AND (length(category) <= 200))),
    CONSTRAINT names_are_well_formed CHECK (((name <> ''::text) AND (length(name) <= 200))),
    CONSTRAINT providers_are_not_internal CHECK ((room <> '@internal'::text)),
    CONSTRAINT rooms_are_well_formed CHECK (((room = ANY (ARRAY['@global'::text, '@internal'::text])) OR ((room <> ''::text) AND (room !~ '[@:]'::text) AND (length(room) <= 200))))
);

COMMENT ON TABLE pgjobs.providers IS 'Registered answerers of reads; they leave with their worker.';

COMMENT ON COLUMN pgjobs.providers.id IS 'Public id.';

COMMENT ON COLUMN pgjobs.providers.room IS 'Scope: @global or a room''s own name.';

COMMENT ON COLUMN pgjobs.providers.category IS 'Second part of the address.';

COMMENT ON COLUMN pgjobs.providers.name IS 'Third part of the address; may contain colons.';

COMMENT ON COLUMN pgjobs.providers.full_name IS 'The address, room:category:name.';

COMMENT ON COLUMN pgjobs.providers.schema IS 'JSON Schema of the questions.';

COMMENT ON COLUMN pgjobs.providers.content_type IS 'Media type of the answers.';

COMMENT ON COLUMN pgjobs.providers.owner IS 'The user it belongs to.';

COMMENT ON COLUMN pgjobs.providers.worker_id IS 'The worker that answers.';

COMMENT ON COLUMN pgjobs.providers.created_at IS 'When it was first registered.';

CREATE FUNCTION pgjobs.answer_read(provider text, request_hash text, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS SETOF pgjobs.providers
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_provider pgjobs.providers := pgjobs.find_provider(
    answer_read.provider, null, answer_read.actor, answer_read.is_superuser
  );
begin
  insert into pgjobs.events (at, kind, room, worker_id, actor, fields)
  values (
    pgjobs.now(), 'provider_result_ready', v_provider.room, v_provider.worker_id, answer_read.actor,
    jsonb_build_object(
      'provider_id', v_provider.id, 'provider_name', v_provider.full_name, 'request_hash', answer_read.request_hash
    )
  );
  return next v_provider;
end
$$;

COMMENT ON FUNCTION pgjobs.answer_read(provider text, request_hash text, actor text, is_superuser boolean) IS 'Says that an answer has come. Example: select id from pgjobs.answer_read(''@global:filesystem:local'', ''<hash>'')';

CREATE FUNCTION pgjobs.answered_step(task_ids bigint[], done bigint[]) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select
    i.id, t.status,
    case
      when t.id is null then 'PJ002'
      when i.id <> all (coalesce(answered_step.done, '{}')) then 'PJ006'
    end
  from unnest(answered_step.task_ids) with ordinality as i (id, place)
  left join pgjobs.task as t on t.id = i.id
  order by i.place;
end
$$;

COMMENT ON FUNCTION pgjobs.answered_step(task_ids bigint[], done bigint[]) IS 'How a step went for each task. Example: select * from pgjobs.answered_step(array[41, 42], array[42])';

CREATE TABLE pgjobs.worker_jobs (
    worker_id uuid NOT NULL,
    job_id integer NOT NULL
);

COMMENT ON TABLE pgjobs.worker_jobs IS 'Which worker serves which job.';

COMMENT ON COLUMN pgjobs.worker_jobs.worker_id IS 'The worker.';

COMMENT ON COLUMN pgjobs.worker_jobs.job_id IS 'The job.';

CREATE VIEW pgjobs.job AS
 SELECT id,
    uuid,
    full_name,
    room,
    category,
    name,
    schema,
    max_attempts,
    backoff_base,
    backoff_cap,
    jitter_share,
    jitter_cap,
    max_age,
    max_running,
    events,
    retain_completed,
    retain_failed,
    created_at,
    paused_at,
    archived_at,
    deleted_at,
    keep,
    ARRAY( SELECT w.worker_id
           FROM pgjobs.worker_jobs w
          WHERE (w.job_id = j.id)
          ORDER BY w.worker_id) AS workers
   FROM pgjobs.jobs j;

COMMENT ON VIEW pgjobs.job IS 'Every job with the workers that serve it. Example: select full_name, workers from pgjobs.job';

COMMENT ON COLUMN pgjobs.job.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.job.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.job.full_name IS 'The address, room:category:name.';

COMMENT ON COLUMN pgjobs.job.room IS 'Scope: @global, @internal or a room''s own name.';

COMMENT ON COLUMN pgjobs.job.category IS 'Second part of the address.';

COMMENT ON COLUMN pgjobs.job.name IS 'Third part of the address.';

COMMENT ON COLUMN pgjobs.job.schema IS 'JSON Schema of the payload.';

COMMENT ON COLUMN pgjobs.job.max_attempts IS 'How often a task may be leased before it fails for good.';

COMMENT ON COLUMN pgjobs.job.backoff_base IS 'Delay after the first failed attempt.';

COMMENT ON COLUMN pgjobs.job.backoff_cap IS 'Longest delay between attempts, before jitter.';

COMMENT ON COLUMN pgjobs.job.jitter_share IS 'Share of the delay that may be added.';

COMMENT ON COLUMN pgjobs.job.jitter_cap IS 'Jitter never exceeds this.';

COMMENT ON COLUMN pgjobs.job.max_age IS 'A task older than this is not retried.';

COMMENT ON COLUMN pgjobs.job.max_running IS 'How many of its tasks may be claimed or running at once.';

COMMENT ON COLUMN pgjobs.job.events IS 'failures or full.';

COMMENT ON COLUMN pgjobs.job.retain_completed IS 'Overrides settings.retain_completed.';

COMMENT ON COLUMN pgjobs.job.retain_failed IS 'Overrides settings.retain_failed.';

COMMENT ON COLUMN pgjobs.job.created_at IS 'When it was first registered.';

COMMENT ON COLUMN pgjobs.job.paused_at IS 'Set while claims pass it by.';

COMMENT ON COLUMN pgjobs.job.archived_at IS 'Set while it is put away.';

COMMENT ON COLUMN pgjobs.job.deleted_at IS 'Set when it was retired.';

COMMENT ON COLUMN pgjobs.job.keep IS 'Whether it stays when nobody serves it.';

COMMENT ON COLUMN pgjobs.job.workers IS 'Ids of the workers that serve it.';

CREATE FUNCTION pgjobs.archive_job(job text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job pgjobs.jobs := pgjobs.find_job(archive_job.job);
begin
  update pgjobs.jobs as j set archived_at = coalesce(j.archived_at, pgjobs.now()) where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs.now(), 'job_archived', v_job.id, v_job.room, archive_job.actor, pgjobs.redact_line(archive_job.reason));
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

COMMENT ON FUNCTION pgjobs.archive_job(job text, actor text, reason text) IS 'Puts a job away. Example: select * from pgjobs.archive_job(''@global:modifiers:Rotate'')';

CREATE FUNCTION pgjobs.ask_to_stop(task_ids bigint[], reason text, now timestamp with time zone) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_asked bigint[];
begin
  with asked as (
    update pgjobs.leases as l
    set
      cancel_requested_at = coalesce(l.cancel_requested_at, ask_to_stop.now),
      cancel_reason = coalesce(ask_to_stop.reason, l.cancel_reason)
    where l.task_id = any (ask_to_stop.task_ids)
    returning l.task_id
  )
  select array_agg(a.task_id) into v_asked from asked as a;
  return v_asked;
end
$$;

COMMENT ON FUNCTION pgjobs.ask_to_stop(task_ids bigint[], reason text, now timestamp with time zone) IS 'Asks the holders of tasks to stop. Example: see pgjobs.cancel_tasks, which ends what nobody holds';

CREATE FUNCTION pgjobs.await_cleanups(node_id text DEFAULT NULL::text, previous bigint DEFAULT NULL::bigint) RETURNS TABLE(mark bigint, due_in interval)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job integer := (
    select j.id from pgjobs.jobs as j
    where j.id = pgjobs.cleanup_job() and j.paused_at is null and j.archived_at is null
  );
begin
  mark := (
    select m.mark from pgjobs.mark_waiting(job_ids => array[v_job], previous => await_cleanups.previous) as m
    where v_job is not null
  );
  due_in := (
    select case when min(d.due_at) is not null then greatest(min(d.due_at) - pgjobs.now(), interval '0') end
    from (
      select r.due_at, r.task_id from pgjobs.ready as r where r.job_id = v_job
      union all
      select s.run_at, s.task_id from pgjobs.scheduled as s where s.job_id = v_job
    ) as d (due_at, task_id)
    where await_cleanups.node_id is null
      or (select t.project from pgjobs.tasks as t where t.id = d.task_id) = await_cleanups.node_id
  );
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.await_cleanups(node_id text, previous bigint) IS 'Asks a cleaner to be woken. Example: listen "pgjobs.wake"; select * from pgjobs.await_cleanups()';

CREATE FUNCTION pgjobs.backoff(task_id bigint, attempt integer, base interval, cap interval, jitter_share real, jitter_cap interval) RETURNS interval
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_seconds double precision := least(
    extract(epoch from base) * 2.0 ^ least(attempt - 1, 60), extract(epoch from cap)
  );
  v_luck double precision := (hashint8extended(task_id, attempt) & 1048575) / 1048576.0;
begin
  return make_interval(secs => v_seconds + least(
    v_seconds * jitter_share * v_luck, coalesce(extract(epoch from jitter_cap) * v_luck, 'infinity')
  ));
end
$$;

COMMENT ON FUNCTION pgjobs.backoff(task_id bigint, attempt integer, base interval, cap interval, jitter_share real, jitter_cap interval) IS 'Delay after a failed attempt. Example: select pgjobs.backoff(1, 3, ''1 s'', ''1 h'', 0.25, null)';

CREATE FUNCTION pgjobs.blockers() RETURNS TABLE(kind text, name text, pid integer, state text, since timestamp with time zone, age interval, held_back bigint, advice text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
begin
  return query
  with holders (kind, name, pid, state, since, horizon, advice) as (
    select
      'session', coalesce(nullif(a.application_name, ''), a.backend_type) || ' (' || coalesce(a.usename::text, '-') || ')',
      a.pid, a.state, a.xact_start, case when age(a.backend_xmin) >= age(a.backend_xid) then a.backend_xmin
        else coalesce(a.backend_xid, a.backend_xmin) end,
      format('select pg_terminate_backend(%s)', a.pid)
    from pg_stat_activity as a
    where a.pid <> pg_backend_pid()
      and (a.backend_xmin is not null or a.backend_xid is not null)
      and a.backend_type not in ('walsender', 'autovacuum worker')
      and coalesce(a.datname = current_database(), true)
    union all
    select 'prepared transaction', p.gid, null, null, p.prepared, p.transaction, format('rollback prepared %L', p.gid)
    from pg_prepared_xacts as p
    where p.database = current_database()
    union all
    select
      'standby', coalesce(nullif(r.application_name, ''), r.client_addr::text), r.pid, r.state, null, r.backend_xmin,
      'Turn off hot_standby_feedback there, or end its long queries'
    from pg_stat_replication as r
    where r.backend_xmin is not null
    union all
    select
      'replication slot', s.slot_name::text, s.active_pid, case when s.active then 'active' else 'inactive' end, null,
      case when age(s.xmin) >= age(s.catalog_xmin) then s.xmin else coalesce(s.catalog_xmin, s.xmin) end,
      format('select pg_drop_replication_slot(%L)', s.slot_name)
    from pg_replication_slots as s
    where s.xmin is not null or s.catalog_xmin is not null
  )
  select
    h.kind, h.name, h.pid, h.state, h.since, pgjobs.now() - h.since, age(h.horizon)::bigint, h.advice
  from holders as h
  order by age(h.horizon) desc, h.since;
end
$$;

COMMENT ON FUNCTION pgjobs.blockers() IS 'Who keeps dead rows from being removed. Example: select kind, name, age, held_back, advice from pgjobs.blockers()';

CREATE FUNCTION pgjobs.now() RETURNS timestamp with time zone
    LANGUAGE sql
    RETURN clock_timestamp();

COMMENT ON FUNCTION pgjobs.now() IS 'The queue''s clock. Example: select pgjobs.now()';

CREATE FUNCTION pgjobs.present() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN pgjobs.now();

COMMENT ON FUNCTION pgjobs.present() IS 'The queue''s clock, standing still during a statement. Example: select pgjobs.present()';

CREATE VIEW pgjobs.task AS
 SELECT t.id,
    pgjobs.uuid_of(t.id, ( SELECT k.task_key
           FROM pgjobs.secrets k)) AS uuid,
    j.full_name AS job,
    t.room,
        CASE
            WHEN (o.task_id IS NOT NULL) THEN o.status
            WHEN (l.started_at IS NOT NULL) THEN 'running'::text
            WHEN (l.task_id IS NOT NULL) THEN 'claimed'::text
            WHEN (i.task_id IS NOT NULL) THEN 'ignored'::text
            ELSE 'pending'::text
        END AS status,
        CASE
            WHEN (l.until <= pgjobs.present()) THEN 'overdue'::text
            WHEN ((s.error IS NOT NULL) AND (s.error_kind = ANY (ARRAY['auth'::text, 'config'::text]))) THEN 'blocked'::text
            WHEN (s.error IS NOT NULL) THEN 'retrying'::text
            WHEN (s.run_at > pgjobs.present()) THEN 'scheduled'::text
            WHEN ((o.task_id IS NULL) AND (l.task_id IS NULL) AND (i.task_id IS NULL)) THEN 'due'::text
            ELSE NULL::text
        END AS phase,
    t.priority,
    COALESCE(o.attempt, l.attempt, i.attempt, s.attempt, r.attempt, a.attempt, (0)::smallint) AS attempt,
    t.max_attempts,
    t.created_at,
    COALESCE(s.run_at, r.due_at, a.due_at) AS due_at,
    COALESCE(l.claimed_at, o.claimed_at) AS claimed_at,
    COALESCE(l.started_at, o.started_at) AS started_at,
    o.ended_at,
    l.until,
    COALESCE(l.worker_id, o.worker_id) AS worker_id,
    COALESCE(l.holder, o.holder) AS holder,
    COALESCE(o.error, s.error) AS error,
    COALESCE(o.error_kind, s.error_kind) AS error_kind,
    l.progress,
    l.cancel_requested_at,
    COALESCE(o.reason, l.cancel_reason, i.reason) AS reason,
    t.submitter,
    t.owner,
    t.project,
    t.tags,
    t.idempotency_key,
    t.job_id
   FROM (((((((pgjobs.tasks t
     JOIN pgjobs.jobs j ON ((j.id = t.job_id)))
     LEFT JOIN pgjobs.outcomes o ON ((o.task_id = t.id)))
     LEFT JOIN pgjobs.leases l ON ((l.task_id = t.id)))
     LEFT JOIN pgjobs.ignored i ON ((i.task_id = t.id)))
     LEFT JOIN pgjobs.scheduled s ON ((s.task_id = t.id)))
     LEFT JOIN pgjobs.ready r ON (((r.job_id = t.job_id) AND (r.priority = t.priority) AND (r.due_at = t.created_at) AND (r.task_id = t.id))))
     LEFT JOIN pgjobs.ready a ON (((a.task_id = t.id) AND a.is_again)));

COMMENT ON VIEW pgjobs.task IS 'Every task in one row, without its payload. Example: select id, job, status, phase from pgjobs.task where id = 42';

COMMENT ON COLUMN pgjobs.task.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.task.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.task.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.task.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.task.status IS 'pending, claimed, running, completed, failed, cancelled or ignored.';

COMMENT ON COLUMN pgjobs.task.phase IS 'For people: scheduled, due, retrying or blocked while pending; overdue when its lease has lapsed.';

COMMENT ON COLUMN pgjobs.task.priority IS '1 (most urgent) to 10.';

COMMENT ON COLUMN pgjobs.task.attempt IS 'Attempts used, the present one included.';

COMMENT ON COLUMN pgjobs.task.max_attempts IS 'Attempts it may use.';

COMMENT ON COLUMN pgjobs.task.created_at IS 'When it was submitted.';

COMMENT ON COLUMN pgjobs.task.due_at IS 'When it becomes or became due, while pending.';

COMMENT ON COLUMN pgjobs.task.claimed_at IS 'When its last lease began.';

COMMENT ON COLUMN pgjobs.task.started_at IS 'When its last attempt began to run.';

COMMENT ON COLUMN pgjobs.task.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.task.until IS 'When its lease lapses.';

COMMENT ON COLUMN pgjobs.task.worker_id IS 'The worker that holds or ended it.';

COMMENT ON COLUMN pgjobs.task.holder IS 'The holder, if not a registered worker.';

COMMENT ON COLUMN pgjobs.task.error IS 'What its last attempt failed with.';

COMMENT ON COLUMN pgjobs.task.error_kind IS 'The kind of that error.';

COMMENT ON COLUMN pgjobs.task.progress IS 'What its worker last reported.';

COMMENT ON COLUMN pgjobs.task.cancel_requested_at IS 'Since when its worker is asked to stop.';

COMMENT ON COLUMN pgjobs.task.reason IS 'Why it was cancelled or ignored.';

COMMENT ON COLUMN pgjobs.task.submitter IS 'Who submitted it.';

COMMENT ON COLUMN pgjobs.task.owner IS 'Whose work it is.';

COMMENT ON COLUMN pgjobs.task.project IS 'What it belongs to.';

COMMENT ON COLUMN pgjobs.task.tags IS 'Free words to find it by.';

COMMENT ON COLUMN pgjobs.task.idempotency_key IS 'The key it was submitted under.';

COMMENT ON COLUMN pgjobs.task.job_id IS 'Number of its job.';

CREATE FUNCTION pgjobs.cancel_task(task_id bigint, reason text DEFAULT NULL::text, force boolean DEFAULT false, actor text DEFAULT NULL::text) RETURNS SETOF pgjobs.task
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  perform from pgjobs.cancel_tasks(
    array[cancel_task.task_id], reason => cancel_task.reason, force => cancel_task.force, actor => cancel_task.actor
  ) as a
  where a.problem is not null;
  if found then
    perform pgjobs.refuse_step(cancel_task.task_id, 'cancel', 'pending, claimed and running');
  end if;
  return query select t.* from pgjobs.task as t where t.id = cancel_task.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.cancel_task(task_id bigint, reason text, force boolean, actor text) IS 'Cancels a task. Example: select status, reason from pgjobs.cancel_task(42, ''asked by the owner'')';

CREATE FUNCTION pgjobs.cancel_tasks(task_ids bigint[] DEFAULT NULL::bigint[], task_uuids uuid[] DEFAULT NULL::uuid[], reason text DEFAULT NULL::text, force boolean DEFAULT false, actor text DEFAULT NULL::text, dry_run boolean DEFAULT false) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_named bigint[] := pgjobs.named_tasks(cancel_tasks.task_ids, cancel_tasks.task_uuids);
  v_left bigint[] := pgjobs.in_order(v_named);
  v_reason text := left(pgjobs.redact(cancel_tasks.reason), 500);
  v_done bigint[] := '{}';
  v_asked bigint[] := '{}';
begin
  if cancel_tasks.dry_run then
    return query select j.* from pgjobs.judged_step(v_named, 'cancel') as j;
    return;
  end if;
  -- A task may come back into line between the look there and the look at its
  -- lease, so both are repeated.
  for v_try in 1..3 loop
    with ended as (
      insert into pgjobs.outcomes (task_id, job_id, status, attempt, ended_at, reason, actor)
      select p.task_id, p.job_id, 'cancelled', p.attempt, v_now, v_reason, cancel_tasks.actor
      from pgjobs.take_pending(v_left) as p
      returning task_id
    )
    select v_done || array_agg(e.task_id) into v_done from ended as e;
    v_left := pgjobs.without(v_left, v_done);
    exit when v_left = '{}';
    if cancel_tasks.force then
      v_done := v_done || pgjobs.end_leases(v_left, v_reason, cancel_tasks.actor, v_now);
    else
      v_asked := v_asked || pgjobs.ask_to_stop(v_left, v_reason, v_now);
    end if;
    v_left := pgjobs.without(v_left, v_done || v_asked);
    exit when v_left = '{}';
  end loop;
  perform pgjobs.record_actions(v_asked, 'cancel_requested', null, cancel_tasks.actor, v_reason, v_now);
  return query select a.* from pgjobs.answered_step(v_named, v_done || v_asked) as a;
end
$$;

COMMENT ON FUNCTION pgjobs.cancel_tasks(task_ids bigint[], task_uuids uuid[], reason text, force boolean, actor text, dry_run boolean) IS 'Cancels tasks. Example: select * from pgjobs.cancel_tasks(array[41, 42], reason => ''asked by the owner'')';

CREATE FUNCTION pgjobs.capped_until(lease interval, max_lease interval, now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (lease IS NOT NULL) THEN (now + LEAST(lease, max_lease)) ELSE NULL::timestamp with time zone END;

COMMENT ON FUNCTION pgjobs.capped_until(lease interval, max_lease interval, now timestamp with time zone) IS 'When a lease ends under a cap. Example: select pgjobs.capped_until(''1 hour'', ''1 minute'', pgjobs.now())';

CREATE FUNCTION pgjobs."check"() RETURNS TABLE(rule text, violations bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select p.rule, p.violations from pgjobs.check_places() as p
  union all
  select b.rule, b.violations from pgjobs.check_belongings() as b;
end
$$;

COMMENT ON FUNCTION pgjobs."check"() IS 'Counts broken promises; every row should say 0. Example: select * from pgjobs.check() where violations > 0';

CREATE FUNCTION pgjobs.check_batch(task_ids bigint[], tokens uuid[], VARIADIC lengths integer[] DEFAULT '{}'::integer[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if task_ids is null or tokens is null or cardinality(task_ids) <> cardinality(tokens)
    or cardinality(task_ids) > 10000 or cardinality(task_ids) <> any (lengths)
  then
    perform pgjobs.refuse('validation-error', 'A batch is given by arrays of one length, at most 10000',
      format('Got %s tasks, %s tokens and %s.', cardinality(task_ids), cardinality(tokens), lengths));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_batch(task_ids bigint[], tokens uuid[], VARIADIC lengths integer[]) IS 'Refuses malformed batches. Example: select pgjobs.check_batch(array[1], array[gen_random_uuid()])';

CREATE FUNCTION pgjobs.check_belongings() RETURNS TABLE(rule text, violations bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select 'history belongs to a task', count(*)
  from pgjobs.attempts as a
  where not exists (select from pgjobs.tasks as t where t.id = a.task_id)
  union all
  select 'a token is issued once', count(*) - count(distinct u.token)
  from (
    select l.token from pgjobs.leases as l
    union all
    select o.token from pgjobs.outcomes as o where o.token is not null
    union all
    select a.token from pgjobs.attempts as a where a.token is not null
  ) as u
  union all
  select 'a lane is known before it is used', count(*)
  from (select distinct r.job_id, r.priority from pgjobs.ready as r) as r
  where not exists (select from pgjobs.lanes as l where l.job_id = r.job_id and l.priority = r.priority)
  union all
  select 'an idempotency key leads to its task', count(*)
  from pgjobs.idempotency_keys as k
  left join pgjobs.tasks as t on t.id = k.task_id and t.idempotency_key = k.key
  where t.id is null
  union all
  select 'a task is found by its idempotency key', count(*)
  from pgjobs.tasks as t
  left join pgjobs.idempotency_keys as k on k.job_id = t.job_id and k.key = t.idempotency_key and k.task_id = t.id
  where t.idempotency_key is not null and k.task_id is null;
end
$$;

COMMENT ON FUNCTION pgjobs.check_belongings() IS 'Counts what hangs on no task. Example: select * from pgjobs.check_belongings()';

CREATE FUNCTION pgjobs.check_claim(worker_id uuid, quantity integer, lease interval, holder text, actor text, durable boolean, now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
declare
  v_known record;
begin
  if not durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if quantity is null or quantity not between 1 and 500 then
    perform pgjobs.refuse('validation-error', 'quantity must be between 1 and 500', format('Got %s.', quantity));
  end if;
  if worker_id is null and (lease is null or holder is null or holder = '' or length(holder) > 200) then
    perform pgjobs.refuse('validation-error', 'A claim without a registered worker needs a holder and a lease',
      null, 'Pass holder => ''name'' and lease => ''1 minute'', or register a worker.');
  end if;
  if lease <= interval '0' then
    -- It refuses.
    perform pgjobs.lease_until(check_claim.lease, check_claim.now);
  end if;
  select s.max_lease, s.worker_timeout, w.id, w.owner, w.last_heartbeat_at into v_known
  from pgjobs.settings as s
  left join pgjobs.workers as w on w.id = check_claim.worker_id;
  if worker_id is not null then
    if v_known.id is null or (actor is not null and v_known.owner is distinct from actor) then
      perform pgjobs.find_worker(check_claim.worker_id, check_claim.actor);
    end if;
    if v_known.last_heartbeat_at < check_claim.now - v_known.worker_timeout / 4 then
      update pgjobs.workers as w set last_heartbeat_at = check_claim.now where w.id = check_claim.worker_id;
    end if;
  end if;
  return pgjobs.capped_until(check_claim.lease, v_known.max_lease, check_claim.now);
end
$$;

COMMENT ON FUNCTION pgjobs.check_claim(worker_id uuid, quantity integer, lease interval, holder text, actor text, durable boolean, now timestamp with time zone) IS 'Refuses claims that cannot be, and says when their leases end. Example: see pgjobs.claim_tasks, which calls it first';

CREATE FUNCTION pgjobs.check_cleanup_statuses(statuses text[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if not statuses <@ array['queued', 'running', 'retrying', 'blocked', 'done', 'ignored', 'abandoned'] then
    perform pgjobs.refuse('validation-error', 'Unknown status of a clean-up task', format('Got %s.', statuses),
      'Statuses: queued, running, retrying, blocked, done, ignored, abandoned');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_cleanup_statuses(statuses text[]) IS 'Refuses unknown statuses. Example: select pgjobs.check_cleanup_statuses(array[''blocked''])';

CREATE FUNCTION pgjobs.check_document(document jsonb, what text) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_limit integer := (select s.payload_limit from pgjobs.settings as s);
begin
  -- JSON text is at most six times the stored size (escapes), so the exact
  -- length is computed for large documents only.
  if pg_column_size(document) > v_limit / 8 and octet_length(document::text) > v_limit then
    perform pgjobs.refuse('payload-too-large', format('The %s exceeds %s bytes', what, v_limit));
  end if;
  if jsonb_path_exists(document, '$.**{65}') then
    perform pgjobs.refuse('payload-invalid', format('The %s is nested deeper than 64 levels', what));
  end if;
end
$_$;

COMMENT ON FUNCTION pgjobs.check_document(document jsonb, what text) IS 'Refuses oversize and overdeep JSON. Example: select pgjobs.check_document(''{}'', ''payload'')';

CREATE FUNCTION pgjobs.check_documents(documents jsonb[], what text) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  -- One small document needs no statement, which would cost a single submit more than all other checks.
  if documents is null or (cardinality(documents) = 1 and pg_column_size(documents[1]) <= 512) then
    return;
  end if;
  perform pgjobs.check_document(d.document, check_documents.what)
  from unnest(check_documents.documents) as d (document)
  where pg_column_size(d.document) > 512;
end
$$;

COMMENT ON FUNCTION pgjobs.check_documents(documents jsonb[], what text) IS 'Refuses oversize and overdeep JSON in a batch. Example: select pgjobs.check_documents(array[''{}''::jsonb], ''payload'')';

CREATE FUNCTION pgjobs.check_labels(submitter text, owner text, project text, tags text[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if greatest(length(submitter), length(owner), length(project)) > 200 then
    perform pgjobs.refuse('validation-error', 'submitter, owner and project have at most 200 characters');
  end if;
  if cardinality(tags) > 20 or exists (select from unnest(tags) as t (tag) where length(t.tag) > 200) then
    perform pgjobs.refuse('validation-error', 'tags are at most 20, of at most 200 characters');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_labels(submitter text, owner text, project text, tags text[]) IS 'Refuses labels that are too long or too many. Example: select pgjobs.check_labels(''ada'', ''ada'', null, array[''nightly''])';

CREATE FUNCTION pgjobs.check_limit(max_running integer) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if max_running not between 1 and 1000000 then
    perform pgjobs.refuse('validation-error', 'max_running must be between 1 and 1000000', format('Got %s.', max_running),
      'To let none run, pause the job.');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_limit(max_running integer) IS 'Refuses limits that cannot be. Example: select pgjobs.check_limit(3)';

CREATE FUNCTION pgjobs.check_page(page_size integer, page_offset integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if page_size is null or page_size not between 0 and 500 or page_offset is null or page_offset < 0 then
    perform pgjobs.refuse('validation-error', 'page_size must be between 0 and 500 and page_offset not negative',
      format('Got %s and %s.', page_size, page_offset));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_page(page_size integer, page_offset integer) IS 'Refuses pages that cannot be. Example: select pgjobs.check_page(50, 0)';

CREATE FUNCTION pgjobs.check_places() RETURNS TABLE(rule text, violations bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  with homes as (
    select r.task_id, r.job_id from pgjobs.ready as r
    union all
    select s.task_id, s.job_id from pgjobs.scheduled as s
    union all
    select l.task_id, l.job_id from pgjobs.leases as l
    union all
    select o.task_id, o.job_id from pgjobs.outcomes as o
    union all
    select i.task_id, i.job_id from pgjobs.ignored as i
  ), counted as (
    select t.id, count(h.task_id) as homes
    from pgjobs.tasks as t
    left join homes as h on h.task_id = t.id
    group by t.id
  )
  select 'a task is in exactly one place', count(*) from counted as c where c.homes <> 1
  union all
  select 'every place holds a task of its job', count(*)
  from homes as h
  left join pgjobs.tasks as t on t.id = h.task_id and t.job_id = h.job_id
  where t.id is null
  union all
  select 'every task has a job', count(*)
  from pgjobs.tasks as t
  where not exists (select from pgjobs.jobs as j where j.id = t.job_id)
  union all
  select 'attempts stay within their limit', count(*)
  from pgjobs.leases as l
  join pgjobs.tasks as t on t.id = l.task_id
  where l.attempt > t.max_attempts
  union all
  select 'outcomes stay within the limit of attempts', count(*)
  from pgjobs.outcomes as o
  join pgjobs.tasks as t on t.id = o.task_id
  where o.attempt > t.max_attempts
  union all
  select 'a task waits in its own lane', count(*)
  from (
    select r.task_id, r.priority, case when not r.is_again then r.due_at end as due_at from pgjobs.ready as r
    union all
    select s.task_id, s.priority, null from pgjobs.scheduled as s
  ) as w
  join pgjobs.tasks as t on t.id = w.task_id
  -- A first entry is due when its task was created: that is how it is found.
  where w.priority <> t.priority or w.due_at <> t.created_at;
end
$$;

COMMENT ON FUNCTION pgjobs.check_places() IS 'Counts tasks that are not where they should be. Example: select * from pgjobs.check_places()';

CREATE FUNCTION pgjobs.check_provider(room text, category text, name text, schema jsonb, content_type text, actor text, is_superuser boolean) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
begin
  perform pgjobs.check_room(room);
  if room = '@internal' then
    perform pgjobs.refuse('forbidden', 'There are no @internal providers');
  end if;
  if actor is not null and not is_superuser and room = '@global' then
    perform pgjobs.refuse('forbidden', 'Only a superuser may register providers in @global');
  end if;
  if category = '' or category ~ ':' or length(category) > 200 then
    perform pgjobs.refuse('invalid-category', 'A category has 1 to 200 characters and no colon');
  end if;
  if name = '' or length(name) > 200 then
    perform pgjobs.refuse('validation-error', 'A provider''s name has 1 to 200 characters');
  end if;
  if octet_length(schema::text) > 65536 or jsonb_path_exists(schema, '$.**{33}') then
    perform pgjobs.refuse('validation-error', 'A schema has at most 65536 bytes and 32 levels');
  end if;
  if content_type !~ '^[!#$&^_.+a-zA-Z0-9-]+/[!#$&^_.+a-zA-Z0-9-]+( *; *[a-zA-Z0-9_.-]+=("[^"\\[:cntrl:]]*"|[^\s";[:cntrl:]]+))*$'
    or length(content_type) > 200
  then
    perform pgjobs.refuse('validation-error', 'content_type must be a media type', format('Got %L.', left(content_type, 200)));
  end if;
end
$_$;

COMMENT ON FUNCTION pgjobs.check_provider(room text, category text, name text, schema jsonb, content_type text, actor text, is_superuser boolean) IS 'Refuses providers that cannot be. Example: see pgjobs.register_provider, which calls it first';

CREATE FUNCTION pgjobs.check_registration(room text, category text, name text, schema jsonb, max_attempts integer, max_running integer, events text, actor text, is_superuser boolean) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
begin
  perform pgjobs.check_room(room);
  if category is null or category = '' or category ~ ':' or length(category) > 200 then
    perform pgjobs.refuse('invalid-category', 'A category has 1 to 200 characters and no colon');
  end if;
  if name is null or name = '' or length(name) > 200 then
    perform pgjobs.refuse('validation-error', 'A job''s name has 1 to 200 characters');
  end if;
  if actor is not null and not is_superuser and room in ('@global', '@internal') then
    perform pgjobs.refuse('forbidden', format('Only a superuser may register jobs in %s', room));
  end if;
  if octet_length(schema::text) > 65536 or jsonb_path_exists(schema, '$.**{33}') then
    perform pgjobs.refuse('validation-error', 'A schema has at most 65536 bytes and 32 levels');
  end if;
  if max_attempts not between 1 and 10000 then
    perform pgjobs.refuse('validation-error', 'max_attempts must be between 1 and 10000', format('Got %s.', max_attempts));
  end if;
  perform pgjobs.check_limit(check_registration.max_running);
  if events not in ('failures', 'full') then
    perform pgjobs.refuse('validation-error', 'events must be failures or full', format('Got %s.', events));
  end if;
end
$_$;

COMMENT ON FUNCTION pgjobs.check_registration(room text, category text, name text, schema jsonb, max_attempts integer, max_running integer, events text, actor text, is_superuser boolean) IS 'Refuses registrations that cannot be. Example: see pgjobs.register_job, which calls it first';

CREATE FUNCTION pgjobs.check_room(room text) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if room is null or (room not in ('@global', '@internal') and (room = '' or room ~ '[@:]' or length(room) > 200)) then
    perform pgjobs.refuse('invalid-room-id', format('Invalid room: %s', coalesce(quote_literal(left(room, 200)), 'null')),
      null, 'A room is not empty, has at most 200 characters and neither @ nor a colon; or it is @global or @internal.');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_room(room text) IS 'Refuses malformed rooms. Example: select pgjobs.check_room(''lab-7'')';

CREATE FUNCTION pgjobs.check_schedule(name text, cron text, every interval, timezone text, missed text, is_preview boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if name is null or name = '' or length(name) > 200 then
    perform pgjobs.refuse('validation-error', 'A schedule''s name has 1 to 200 characters');
  end if;
  if num_nonnulls(cron, every) <> 1 then
    perform pgjobs.refuse('validation-error', 'A schedule runs by cron or every so often: give one of both');
  end if;
  if length(cron) > 200 then
    perform pgjobs.refuse('validation-error', 'A cron expression has at most 200 characters');
  end if;
  if every not between interval '1 second' and interval '366 days' or (extract(year from every), extract(month from every)) <> (0, 0) then
    perform pgjobs.refuse('validation-error', 'every must be between a second and a year, in days, hours, minutes and seconds',
      format('Got %s.', every), 'For months, use cron: 0 0 1 * *');
  end if;
  if missed is null or missed not in ('once', 'skip', 'each') then
    perform pgjobs.refuse('validation-error', 'missed must be once, skip or each', format('Got %s.', missed));
  end if;
  perform pgjobs.check_timezone(timezone, is_exact => not is_preview);
  if pgjobs.next_run(cron, every, timezone, null, pgjobs.now()) is null then
    perform pgjobs.refuse('validation-error', format('%L never comes', cron), 'No day of the next fifty years fits.');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_schedule(name text, cron text, every interval, timezone text, missed text, is_preview boolean) IS 'Refuses schedules that cannot be. Example: see pgjobs.register_schedule, which calls it first';

CREATE FUNCTION pgjobs.check_submission(job pgjobs.jobs, payloads jsonb[], room text, priority integer, delay interval, max_attempts integer, idempotency_keys text[], require_workers boolean, cross_room boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform pgjobs.check_room(room);
  if job.deleted_at is not null
    or (job.room not in ('@global', '@internal', check_submission.room) and not cross_room)
  then
    perform pgjobs.refuse('job-not-found', format('Job %s does not exist', job.full_name),
      'It was retired, or belongs to another room.');
  end if;
  if job.archived_at is not null then
    perform pgjobs.refuse('job-unavailable', format('Job %s is archived', job.full_name),
      format('Since %s.', job.archived_at), format('select pgjobs.unarchive_job(%L)', job.full_name));
  end if;
  if payloads is null or cardinality(payloads) > 10000 or array_position(payloads, null) is not null then
    perform pgjobs.refuse('validation-error', 'payloads must be an array of at most 10000 JSON documents, none null');
  end if;
  if priority is null or priority not between 1 and 10 then
    perform pgjobs.refuse('validation-error', 'priority must be between 1 and 10', format('Got %s.', priority));
  end if;
  if delay < interval '0' then
    perform pgjobs.refuse('validation-error', 'delay must not be negative', format('Got %s.', delay));
  end if;
  if max_attempts not between 1 and 10000 then
    perform pgjobs.refuse('validation-error', 'max_attempts must be between 1 and 10000', format('Got %s.', max_attempts));
  end if;
  if idempotency_keys is not null then
    if cardinality(idempotency_keys) <> cardinality(payloads)
      or exists (select from unnest(idempotency_keys) as k (key) where k.key = '' or length(k.key) > 200)
    then
      perform pgjobs.refuse('validation-error', 'idempotency_keys must be one for each payload, of 1 to 200 characters');
    end if;
  end if;
  if require_workers then
    if not exists (select from pgjobs.worker_jobs as w where w.job_id = job.id) then
      perform pgjobs.refuse('no-workers-available', format('No worker serves %s', job.full_name));
    end if;
  end if;
  perform pgjobs.check_documents(payloads, 'payload');
  if not exists (
    select from pgjobs.lanes as l where l.job_id = job.id and l.priority = check_submission.priority
  ) then
    insert into pgjobs.lanes (job_id, priority) values (job.id, check_submission.priority);
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_submission(job pgjobs.jobs, payloads jsonb[], room text, priority integer, delay interval, max_attempts integer, idempotency_keys text[], require_workers boolean, cross_room boolean) IS 'Refuses submissions that cannot be. Example: see pgjobs.submit_tasks, which calls it first';

CREATE FUNCTION pgjobs.check_target(target jsonb, node_id text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
declare
  v_type text := check_target.target ->> 'type';
begin
  if check_target.node_id is null or check_target.node_id = '' or length(check_target.node_id) > 200 then
    perform pgjobs.refuse('validation-error', 'A node''s name has 1 to 200 characters');
  end if;
  if jsonb_typeof(check_target.target) <> 'object' or coalesce(v_type, '') !~ '^[a-z][a-z0-9_]{0,49}$'
    or octet_length(check_target.target::text) > 10000
  then
    perform pgjobs.refuse('validation-error', 'A target is an object with a type and at most 10000 bytes');
  end if;
  if pgjobs.redact_document(check_target.target) <> check_target.target then
    perform pgjobs.refuse('validation-error', 'A target must not hold secrets, queries or fragments',
      'A URL in it has a user, a query or a fragment, or a member is named like a secret.',
      'Name the secret: {"type": "webdav", "base_url": "https://host/dav", "secret_name": "dav"}');
  end if;
  if v_type = 'local_dir' and (
    jsonb_typeof(check_target.target -> 'base_dir') is distinct from 'string'
    or check_target.target ->> 'base_dir' !~ '^/' or check_target.target ->> 'base_dir' ~ '(^|/)\.\.?(/|$)'
  ) then
    perform pgjobs.refuse('validation-error', 'base_dir must be an absolute path without . and ..');
  end if;
  if v_type = 'webdav' and (
    jsonb_typeof(check_target.target -> 'base_url') is distinct from 'string'
    or check_target.target ->> 'base_url' !~ '^https?://[^/]+'
    or coalesce(jsonb_typeof(check_target.target -> 'secret_name'), 'string') not in ('string', 'null')
  ) then
    perform pgjobs.refuse('validation-error', 'base_url must be an http or https URL, and secret_name a text');
  end if;
end
$_$;

COMMENT ON FUNCTION pgjobs.check_target(target jsonb, node_id text) IS 'Refuses targets that cannot be. Example: select pgjobs.check_target(''{"type": "local_dir", "base_dir": "/data"}'', ''hub'')';

CREATE FUNCTION pgjobs.check_timezone(timezone text, is_exact boolean) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $_$
begin
  if timezone ~ '^(UTC|Etc/GMT([+-][0-9]{1,2})?|[A-Z][A-Za-z_]+(/[A-Z][A-Za-z_-]*)+)$' then
    begin
      perform pgjobs.now() at time zone check_timezone.timezone;
      if timezone = 'UTC' or not is_exact
        or exists (select from pg_timezone_names as z where z.name = check_timezone.timezone)
      then
        return;
      end if;
    exception when invalid_parameter_value then
      null;
    end;
  end if;
  perform pgjobs.refuse('validation-error', format('There is no time zone %L', left(timezone, 200)),
    null, 'Write a place, such as Europe/Berlin, or UTC.');
end
$_$;

COMMENT ON FUNCTION pgjobs.check_timezone(timezone text, is_exact boolean) IS 'Refuses what is no time zone. Example: select pgjobs.check_timezone(''Europe/Berlin'', true)';

CREATE FUNCTION pgjobs.check_trace_context(trace_context text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
begin
  if length(trace_context) > 568
    or trace_context !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}( [ -~]+)?$'
  then
    perform pgjobs.refuse('validation-error', 'trace_context must be a W3C traceparent, then tracestate, if any, after a space');
  end if;
end
$_$;

COMMENT ON FUNCTION pgjobs.check_trace_context(trace_context text) IS 'Refuses what is no trace context. Example: see pgjobs.submit_tasks, which calls it';

CREATE FUNCTION pgjobs.check_update(old_status text, new_status text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if new_status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled') then
    perform pgjobs.refuse('validation-error', format('Unknown status %s', quote_literal(new_status)));
  end if;
  if new_status <> all (case old_status
    when 'pending' then array['cancelled']
    when 'claimed' then array['running', 'failed', 'cancelled']
    when 'running' then array['completed', 'failed', 'cancelled']
    else '{}'
  end) then
    perform pgjobs.refuse('invalid-task-transition',
      format('Cannot transition from ''%s'' to ''%s''', old_status, new_status));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_update(old_status text, new_status text) IS 'Refuses updates that cannot be. Example: select pgjobs.check_update(''claimed'', ''running'')';

CREATE FUNCTION pgjobs.check_updater(task_uuid uuid, worker_id uuid, submitter text, actor text, is_superuser boolean) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if actor is not null and not is_superuser
    and not exists (
      select from pgjobs.workers as w where w.id = check_updater.worker_id and w.owner = check_updater.actor
    )
    and (worker_id is not null or submitter is distinct from check_updater.actor)
  then
    perform pgjobs.refuse('forbidden', format('Task %s is not yours to change', task_uuid));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.check_updater(task_uuid uuid, worker_id uuid, submitter text, actor text, is_superuser boolean) IS 'Refuses updates by strangers. Example: see pgjobs.update_task, which calls it first';

CREATE FUNCTION pgjobs.chosen_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer, OUT task_ids bigint[], OUT total bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_job integer := pgjobs.cleanup_job();
  v_is_narrowed boolean := num_nonnulls(chosen_cleanups.target_types, chosen_cleanups.of_node, chosen_cleanups.of_job) > 0;
  v_open bigint;
  v_wanted bigint;
begin
  if chosen_cleanups.statuses = array['done'] and not v_is_narrowed then
    task_ids := '{}';
    total := 0;
    v_open := (select count(*) from pgjobs.open_cleanups(v_job));
  else
    with wanted as materialized (
      select w.id
      from pgjobs.wanted_cleanups(v_job, chosen_cleanups.target_types, chosen_cleanups.of_node, chosen_cleanups.of_job) as w (id)
      where v_is_narrowed
    ), open as materialized (
      select
        c.task_id, c.next_attempt_at, c.since,
        chosen_cleanups.statuses is null or c.status = any (chosen_cleanups.statuses) as is_chosen
      from pgjobs.open_cleanups(v_job) as c
      where not v_is_narrowed or c.task_id in (select w.id from wanted as w)
    )
    select
      array(
        select o.task_id
        from open as o
        where o.is_chosen
        order by o.next_attempt_at nulls last, o.since desc, o.task_id
        limit chosen_cleanups.page_size offset chosen_cleanups.page_offset
      ),
      count(*) filter (where o.is_chosen), count(*), (select count(*) from wanted)
    into task_ids, total, v_open, v_wanted
    from open as o;
  end if;
  if not 'done' = any (chosen_cleanups.statuses) then
    return;
  end if;
  -- What is done is what is not open, so no outcome is looked up.
  if not v_is_narrowed then
    v_wanted := (select count(*) from pgjobs.wanted_cleanups(v_job, null, null, null));
  end if;
  if cardinality(task_ids) < chosen_cleanups.page_size and v_wanted > v_open then
    task_ids := task_ids || array(
      select w.id
      from pgjobs.wanted_cleanups(v_job, chosen_cleanups.target_types, chosen_cleanups.of_node, chosen_cleanups.of_job) as w (id)
      where w.id not in (select c.task_id from pgjobs.open_cleanups(v_job) as c)
      order by w.id desc
      limit chosen_cleanups.page_size - cardinality(task_ids)
      offset greatest(chosen_cleanups.page_offset - total, 0)
    );
  end if;
  total := total + v_wanted - v_open;
end
$$;

COMMENT ON FUNCTION pgjobs.chosen_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer, OUT task_ids bigint[], OUT total bigint) IS 'A page of clean-up tasks by number. Example: select task_ids, total from pgjobs.chosen_cleanups(null, null, ''hub'', null, 20, 0)';

CREATE VIEW pgjobs.claim_answer AS
 SELECT t.id,
    pgjobs.uuid_of(t.id, ( SELECT k.task_key
           FROM pgjobs.secrets k)) AS uuid,
    j.full_name AS job,
    t.room,
        CASE
            WHEN (l.started_at IS NULL) THEN 'claimed'::text
            ELSE 'running'::text
        END AS status,
    t.created_at,
    l.started_at,
    NULL::timestamp with time zone AS ended_at,
    l.worker_id,
    NULL::text AS error,
    t.payload,
    NULL::jsonb AS result,
    NULL::integer AS queue_position,
    l.token,
    t.trace_context
   FROM ((pgjobs.leases l
     JOIN pgjobs.tasks t ON ((t.id = l.task_id)))
     JOIN pgjobs.jobs j ON ((j.id = t.job_id)));

COMMENT ON VIEW pgjobs.claim_answer IS 'What HTTP shows of a claimed task. Example: select * from pgjobs.claim_and_show(''<worker id>'')';

COMMENT ON COLUMN pgjobs.claim_answer.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.claim_answer.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.claim_answer.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.claim_answer.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.claim_answer.status IS 'pending, claimed, running, completed, failed or cancelled.';

COMMENT ON COLUMN pgjobs.claim_answer.created_at IS 'When it was submitted.';

COMMENT ON COLUMN pgjobs.claim_answer.started_at IS 'When its last attempt began to run.';

COMMENT ON COLUMN pgjobs.claim_answer.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.claim_answer.worker_id IS 'The worker that holds or ended it.';

COMMENT ON COLUMN pgjobs.claim_answer.error IS 'What it failed with, or why it was cancelled.';

COMMENT ON COLUMN pgjobs.claim_answer.payload IS 'What to run it with.';

COMMENT ON COLUMN pgjobs.claim_answer.result IS 'What it gave.';

COMMENT ON COLUMN pgjobs.claim_answer.queue_position IS 'Its place among the pending tasks of its job.';

COMMENT ON COLUMN pgjobs.claim_answer.token IS 'The lease, for acknowledgements.';

COMMENT ON COLUMN pgjobs.claim_answer.trace_context IS 'W3C traceparent of its submit, and tracestate after a space.';

CREATE FUNCTION pgjobs.claim_and_show(worker_id uuid, actor text DEFAULT NULL::text, durable boolean DEFAULT true) RETURNS SETOF pgjobs.claim_answer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  -- What the claim answers is all there is to show: the task is nobody else's, and not yet started.
  return query
  select
    c.task_id, pgjobs.task_uuid(c.task_id), c.job, c.room, 'claimed', c.created_at, null::timestamptz,
    null::timestamptz, claim_and_show.worker_id, null::text, c.payload, null::jsonb, null::integer, c.token,
    c.trace_context
  from pgjobs.claim_tasks(
    worker_id => claim_and_show.worker_id, remote => true, actor => claim_and_show.actor, durable => claim_and_show.durable
  ) as c;
end
$$;

COMMENT ON FUNCTION pgjobs.claim_and_show(worker_id uuid, actor text, durable boolean) IS 'Claims one task and shows it as HTTP does. Example: select uuid, token, payload from pgjobs.claim_and_show(''<worker id>'')';

CREATE FUNCTION pgjobs.claim_cleanups(holder text, node_id text DEFAULT NULL::text, quantity integer DEFAULT 1, lease interval DEFAULT NULL::interval) RETURNS TABLE(task_id bigint, token uuid, attempt smallint, until timestamp with time zone, run_id uuid, job text, node text, target jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job integer := pgjobs.cleanup_job();
  v_lease record;
  v_run_status text;
begin
  if v_job is null then
    return;
  end if;
  for v_lease in
    select c.*
    from pgjobs.claim_tasks(
      holder => claim_cleanups.holder, quantity => claim_cleanups.quantity, job_ids => array[v_job],
      lease => coalesce(claim_cleanups.lease, interval '30 minutes'), of_project => claim_cleanups.node_id, start => true
    ) as c
  loop
    select t.status into v_run_status from pgjobs.task as t
    where t.id = pgjobs.task_id((v_lease.payload ->> 'run_id')::uuid);
    if v_run_status in ('pending', 'claimed', 'running') then
      perform from pgjobs.release_tasks(array[v_lease.task_id], array[v_lease.token], delay => '1 hour');
    elsif v_run_status = 'completed' then
      perform from pgjobs.complete_tasks(
        array[v_lease.task_id], array[v_lease.token], array['{"outcome": "skip_complete"}'::jsonb]
      );
    else
      task_id := v_lease.task_id;
      token := v_lease.token;
      attempt := v_lease.attempt;
      until := v_lease.until;
      run_id := v_lease.payload ->> 'run_id';
      job := v_lease.payload ->> 'job_name';
      node := v_lease.payload ->> 'node_id';
      target := v_lease.payload -> 'target';
      return next;
    end if;
  end loop;
end
$$;

COMMENT ON FUNCTION pgjobs.claim_cleanups(holder text, node_id text, quantity integer, lease interval) IS 'Leases due clean-up tasks. Example: select run_id, target from pgjobs.claim_cleanups(''me'')';

CREATE FUNCTION pgjobs.claim_tasks(worker_id uuid DEFAULT NULL::uuid, quantity integer DEFAULT 1, lease interval DEFAULT NULL::interval, job_ids integer[] DEFAULT NULL::integer[], in_room text DEFAULT NULL::text, in_category text DEFAULT NULL::text, of_owner text DEFAULT NULL::text, of_project text DEFAULT NULL::text, holder text DEFAULT NULL::text, start boolean DEFAULT false, remote boolean DEFAULT false, actor text DEFAULT NULL::text, durable boolean DEFAULT true) RETURNS TABLE(task_id bigint, token uuid, job_id integer, job text, room text, payload jsonb, priority smallint, attempt smallint, max_attempts smallint, created_at timestamp with time zone, claimed_at timestamp with time zone, until timestamp with time zone, submitter text, owner text, project text, tags text[], trace_context text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_until timestamptz;
  v_claimable record;
  v_left integer := claim_tasks.quantity;
  v_portion integer;
  v_is_limited boolean;
  v_full integer[] := '{}';
  v_waits boolean := true;
  v_taken integer;
  v_lane record;
  v_is_choosy boolean := claim_tasks.of_owner is not null or claim_tasks.of_project is not null;
  -- The first look, for claims of one, takes what is better than the head of the next
  -- lane; where others are just taking all of that, the next lane has its turn. The
  -- second takes whatever a lane has. The third ignores the floors: nobody goes home
  -- empty-handed because of a remembered floor, unless looking has become expensive.
  v_first_look integer := case when claim_tasks.quantity = 1 and not v_is_choosy then 1 else 2 end;
  v_tried integer := 0;
  v_is_held boolean := false;
  v_luck text := pgjobs.draw_luck();
begin
  v_until := pgjobs.check_claim(
    claim_tasks.worker_id, claim_tasks.quantity, claim_tasks.lease, claim_tasks.holder, claim_tasks.actor,
    claim_tasks.durable, v_now
  );
  v_claimable := pgjobs.claimable_jobs(
    claim_tasks.worker_id, claim_tasks.job_ids, claim_tasks.in_room, claim_tasks.in_category, claim_tasks.remote
  );
  perform pgjobs.promote_due(v_now);
  for v_look in v_first_look..3 loop
    continue when v_look = 2 and v_first_look = 1 and not v_is_held;
    exit when v_look = 3 and pgjobs.look_cost(pgjobs.clock_ms()) > 20;
    for v_lane in select h.* from pgjobs.lane_heads(v_claimable.jobs, v_now, v_look = 3, v_is_choosy) as h loop
      continue when v_lane.job_id = any (v_full);
      v_portion := v_left;
      v_is_limited := v_lane.job_id = any (v_claimable.limited);
      if v_is_limited then
        v_portion := pgjobs.free_slots(v_lane.job_id, v_left, v_waits);
        v_waits := v_waits and v_portion is not distinct from 0;
        if coalesce(v_portion, 0) = 0 then
          v_full := v_full || v_lane.job_id;
          continue;
        end if;
      end if;
      return query
      with taken as materialized (
        select c.ctid as place, c.due_at, c.task_id, c.attempt
        from pgjobs.ready as c
        where c.job_id = v_lane.job_id and c.priority = v_lane.priority
          and (c.due_at, c.task_id) >= (v_lane.due_at, v_lane.task_id)
          and (c.due_at, c.task_id) < (case when v_look = 1 then v_lane.until_at else 'infinity' end, v_lane.until_id)
          and (not v_is_choosy or exists (
            select from pgjobs.tasks as t
            where t.id = c.task_id
              and t.owner is not distinct from coalesce(claim_tasks.of_owner, t.owner)
              and t.project is not distinct from coalesce(claim_tasks.of_project, t.project)
          ))
        order by c.due_at, c.task_id
        limit v_portion
        for update skip locked
      ), gone as (
        delete from pgjobs.ready as r where r.ctid = any (array(select k.place from taken as k))
      ), leased as (
        insert into pgjobs.leases (
          task_id, job_id, token, worker_id, holder, attempt, claimed_at, until, started_at, is_limited
        )
        select
          k.task_id, v_lane.job_id, pgjobs.token_of(v_luck, k.task_id), claim_tasks.worker_id,
          claim_tasks.holder, k.attempt + 1, v_now, v_until, case when claim_tasks.start then v_now end,
          v_is_limited
        from taken as k
        -- Asked once, of the first: true, and the next claim begins there. What was
        -- chosen among others says nothing of those.
        where v_is_choosy or (
          select pgjobs.floor_raise(v_lane.lane, v_lane.floor, f.due_at, f.task_id, v_now) is not null from taken as f limit 1
        )
        returning task_id, token, attempt
      )
      -- A nested loop, so rows come in the order they were taken.
      select
        l.task_id, l.token, v_lane.job_id, (select j.full_name from pgjobs.jobs as j where j.id = v_lane.job_id),
        t.room, t.payload, t.priority, l.attempt, t.max_attempts, t.created_at, v_now,
        v_until, t.submitter, t.owner, t.project, t.tags, t.trace_context
      from leased as l
      join pgjobs.tasks as t on t.id = l.task_id;
      get diagnostics v_taken = row_count;
      v_left := v_left - v_taken;
      exit when v_left = 0;
      v_tried := v_tried + 1;
      v_is_held := v_is_held or v_lane.until_at < 'infinity';
      -- Not on to another priority: these lanes may have more.
      exit when v_look = 1 and (v_tried = 8 or v_lane.until_id = 9223372036854775807);
    end loop;
    exit when v_left < claim_tasks.quantity;
  end loop;
end
$$;

COMMENT ON FUNCTION pgjobs.claim_tasks(worker_id uuid, quantity integer, lease interval, job_ids integer[], in_room text, in_category text, of_owner text, of_project text, holder text, start boolean, remote boolean, actor text, durable boolean) IS 'Leases due tasks. Example: select * from pgjobs.claim_tasks(holder => ''me'', lease => ''1 min'', in_room => ''@global'')';

CREATE FUNCTION pgjobs.claimable_jobs(worker_id uuid, job_ids integer[], in_room text, in_category text, remote boolean, OUT jobs integer[], OUT limited integer[]) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
begin
  jobs := claimable_jobs.job_ids;
  if jobs is null and in_room is not null then
    jobs := array(
      select j.id from pgjobs.jobs as j
      where j.room = in_room and j.category = coalesce(in_category, j.category)
    );
  elsif jobs is null then
    jobs := array(select w.job_id from pgjobs.worker_jobs as w where w.worker_id = claimable_jobs.worker_id);
  end if;
  select
    coalesce(array_agg(j.id), '{}'),
    coalesce(array_agg(j.id) filter (where j.max_running is not null), '{}')
  into claimable_jobs.jobs, claimable_jobs.limited
  from pgjobs.jobs as j
  where j.id = any (claimable_jobs.jobs)
    and j.paused_at is null and j.archived_at is null and j.deleted_at is null
    and (j.room <> '@internal' or not remote);
end
$$;

COMMENT ON FUNCTION pgjobs.claimable_jobs(worker_id uuid, job_ids integer[], in_room text, in_category text, remote boolean, OUT jobs integer[], OUT limited integer[]) IS 'The jobs a claim may take from. Example: select * from pgjobs.claimable_jobs(null, null, ''@global'', null, false)';

CREATE FUNCTION pgjobs.cleanup_job() RETURNS integer
    LANGUAGE sql STABLE
    RETURN (SELECT j.id FROM pgjobs.jobs j WHERE (j.full_name = '@internal:maintenance:incomplete-cleanup'::text));

COMMENT ON FUNCTION pgjobs.cleanup_job() IS 'Number of the clean-up job. Example: select pgjobs.cleanup_job()';

CREATE FUNCTION pgjobs.cleanup_worker(worker_id uuid, now timestamp with time zone) RETURNS TABLE(failed integer, retried integer, retired_jobs integer)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_held tid[];
  v_jobs integer[];
begin
  perform from pgjobs.workers as w where w.id = cleanup_worker.worker_id for update;
  if not found then
    return query select 0, 0, 0;
    return;
  end if;
  v_held := array(
    select l.ctid from pgjobs.leases as l where l.worker_id = cleanup_worker.worker_id order by l.task_id for update
  );
  select
    count(*) filter (where e.status <> 'pending'),
    count(*) filter (where e.status = 'pending')
  into failed, retried
  from pgjobs.end_attempts(
    v_held, null, array['Worker disconnected'], array['worker_disconnected'], null, cleanup_worker.now
  ) as e;
  v_jobs := array(select w.job_id from pgjobs.worker_jobs as w where w.worker_id = cleanup_worker.worker_id);
  delete from pgjobs.workers as w where w.id = cleanup_worker.worker_id;
  retired_jobs := pgjobs.retire_orphans(v_jobs, cleanup_worker.now);
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.cleanup_worker(worker_id uuid, now timestamp with time zone) IS 'Takes a worker and all that hangs on it away. Example: see pgjobs.retire_worker, which checks the caller first';

CREATE FUNCTION pgjobs.clock_ms() RETURNS bigint
    LANGUAGE sql
    RETURN ((date_part('epoch'::text, clock_timestamp()) * (1000)::double precision))::bigint;

COMMENT ON FUNCTION pgjobs.clock_ms() IS 'Real time in milliseconds, for floors only. Example: select pgjobs.clock_ms()';

CREATE FUNCTION pgjobs.clock_shift(at timestamp with time zone, timezone text) RETURNS interval
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return (at at time zone timezone) - (at at time zone 'UTC');
end
$$;

COMMENT ON FUNCTION pgjobs.clock_shift(at timestamp with time zone, timezone text) IS 'How far the clocks of a zone are ahead. Example: select pgjobs.clock_shift(now(), ''Europe/Berlin'')';

CREATE FUNCTION pgjobs.close_session(session text) RETURNS TABLE(is_closed boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  delete from pgjobs.sessions as s
  where s.session_hash = sha256(convert_to(close_session.session, 'UTF8'));
  return query select found;
end
$$;

COMMENT ON FUNCTION pgjobs.close_session(session text) IS 'Signs out. Example: select * from pgjobs.close_session(''pgc_…'')';

CREATE FUNCTION pgjobs.complete_tasks(task_ids bigint[], tokens uuid[], results jsonb[] DEFAULT NULL::jsonb[], holder text DEFAULT NULL::text) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_ended bigint;
begin
  perform pgjobs.check_batch(complete_tasks.task_ids, complete_tasks.tokens, cardinality(complete_tasks.results));
  if complete_tasks.results is not null then
    perform pgjobs.check_documents(complete_tasks.results, 'result');
  end if;
  -- In order of task, so that two overlapping batches cannot deadlock. The range
  -- makes the planner expect few items, and so begin with them whatever it
  -- believes of the leases.
  with gone as (
    delete from pgjobs.leases as l
    using (
      select t.task_id, t.token, t.result
      from unnest(complete_tasks.task_ids, complete_tasks.tokens, complete_tasks.results) as t (task_id, token, result)
      where t.task_id between 1 and 9223372036854775807
      order by t.task_id
    ) as i
    where l.task_id = i.task_id and l.token = i.token
      and (l.until is null or l.until > v_now)
      and (complete_tasks.holder is null or coalesce(l.holder, l.worker_id::text) = complete_tasks.holder)
    returning l.task_id, l.job_id, l.attempt, l.token, l.worker_id, l.holder, l.claimed_at, l.started_at, i.result
  )
  insert into pgjobs.outcomes (
    task_id, job_id, status, attempt, token, worker_id, holder, claimed_at, started_at, ended_at, result
  )
  select
    g.task_id, g.job_id, 'completed', g.attempt, g.token, g.worker_id, g.holder, g.claimed_at,
    coalesce(g.started_at, g.claimed_at), v_now, g.result
  from gone as g;
  get diagnostics v_ended = row_count;
  if v_ended = cardinality(complete_tasks.task_ids) then
    return query select i.task_id, 'completed', null::text from unnest(complete_tasks.task_ids) as i (task_id);
    return;
  end if;
  return query
  select
    i.task_id,
    o.status,
    case when o.task_id is null then pgjobs.lost_or_unknown(i.task_id) end
  from unnest(complete_tasks.task_ids, complete_tasks.tokens) as i (task_id, token)
  left join pgjobs.outcomes as o
    on o.task_id = i.task_id and o.token = i.token and o.status = 'completed'
    and (complete_tasks.holder is null or coalesce(o.holder, o.worker_id::text) = complete_tasks.holder);
end
$$;

COMMENT ON FUNCTION pgjobs.complete_tasks(task_ids bigint[], tokens uuid[], results jsonb[], holder text) IS 'Ends tasks successfully. Example: select * from pgjobs.complete_tasks(array[42], array[''<token>''::uuid], array[''{"ok": true}''::jsonb])';

CREATE FUNCTION pgjobs.count_cleanups(statuses text[] DEFAULT NULL::text[], target_types text[] DEFAULT NULL::text[], of_node text DEFAULT NULL::text, of_job text DEFAULT NULL::text) RETURNS TABLE(total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  perform pgjobs.check_cleanup_statuses(count_cleanups.statuses);
  return query
  select c.total
  from pgjobs.chosen_cleanups(
    count_cleanups.statuses, count_cleanups.target_types, count_cleanups.of_node, count_cleanups.of_job, 0, 0
  ) as c;
end
$$;

COMMENT ON FUNCTION pgjobs.count_cleanups(statuses text[], target_types text[], of_node text, of_job text) IS 'How many clean-up tasks there are. Example: select total from pgjobs.count_cleanups(statuses => array[''abandoned''])';

CREATE FUNCTION pgjobs.count_ended(room text, job_ids integer[], status text, wanted integer, looked integer, OUT matching integer, OUT is_all boolean) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_tasks integer;
begin
  select count(*) into v_tasks
  from (
    select from pgjobs.tasks as t
    where t.room = count_ended.room and t.job_id = any (count_ended.job_ids)
    limit looked
  ) as c;
  select count(*) into matching
  from (
    select
    from (
      select t.id from pgjobs.tasks as t
      where t.room = count_ended.room and t.job_id = any (count_ended.job_ids)
      limit looked
    ) as c
    cross join lateral (
      select b.status from pgjobs.outcomes as b where b.task_id = c.id offset 0
    ) as o
    where o.status = count_ended.status
    limit wanted
  ) as m;
  is_all := v_tasks < looked;
  if not is_all and matching < wanted then
    select greatest(matching, count(*)) into matching
    from pgjobs.newest_outcomes(room, job_ids, status, 9223372036854775807, wanted, null);
    is_all := matching < wanted;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.count_ended(room text, job_ids integer[], status text, wanted integer, looked integer, OUT matching integer, OUT is_all boolean) IS 'Counts a room''s ended tasks. Example: select * from pgjobs.count_ended(''lab-7'', array[1], ''failed'', 101, 1000)';

CREATE FUNCTION pgjobs.count_found_tasks(room text DEFAULT NULL::text, job text DEFAULT NULL::text, status text DEFAULT NULL::text, owner text DEFAULT NULL::text, since timestamp with time zone DEFAULT NULL::timestamp with time zone, until timestamp with time zone DEFAULT NULL::timestamp with time zone, matching text DEFAULT NULL::text) RETURNS TABLE(total integer, relation text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_last integer := pgjobs.last_counted_row();
  v_found integer;
  v_is_more boolean;
begin
  if count_found_tasks.status = 'pending' and count_found_tasks.room is null
    and coalesce(count_found_tasks.owner, count_found_tasks.matching) is null
    and coalesce(count_found_tasks.since, count_found_tasks.until) is null
  then
    -- A backlog is counted where it waits.
    select count(*)::integer, count(*) > v_last into v_found, v_is_more
    from (
      select from pgjobs.ready as r
      where count_found_tasks.job is null or r.job_id = (select (pgjobs.find_job(count_found_tasks.job)).id)
      union all
      select from pgjobs.scheduled as s
      where count_found_tasks.job is null or s.job_id = (select (pgjobs.find_job(count_found_tasks.job)).id)
      limit v_last + 1
    ) as f;
  elsif count_found_tasks.room is not null and coalesce(count_found_tasks.owner, count_found_tasks.matching) is null
    and coalesce(count_found_tasks.since, count_found_tasks.until) is null
  then
    return query
    select c.total, c.relation
    from pgjobs.count_tasks(count_found_tasks.room, count_found_tasks.job, count_found_tasks.status) as c;
    return;
  else
    select cardinality(f.ids), f.next is not null into v_found, v_is_more
    from pgjobs.found_tasks(
      count_found_tasks.room, count_found_tasks.job, count_found_tasks.status, count_found_tasks.owner,
      count_found_tasks.since, count_found_tasks.until, count_found_tasks.matching, null, v_last + 1
    ) as f;
  end if;
  return query
  select least(v_found, v_last), case when v_is_more then 'gte' else 'eq' end;
end
$$;

COMMENT ON FUNCTION pgjobs.count_found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text) IS 'How many tasks fit some filters. Example: select total, relation from pgjobs.count_found_tasks(status => ''failed'')';

CREATE FUNCTION pgjobs.count_jobs(room text DEFAULT NULL::text, include_archived boolean DEFAULT false) RETURNS TABLE(total integer, relation text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if count_jobs.room is not null then
    perform pgjobs.check_room(count_jobs.room);
  end if;
  return query
  select count(*)::integer, 'eq'
  from pgjobs.jobs as j
  where j.deleted_at is null
    and (j.archived_at is null or count_jobs.include_archived)
    and (count_jobs.room is null or pgjobs.is_visible(j.room, count_jobs.room));
end
$$;

COMMENT ON FUNCTION pgjobs.count_jobs(room text, include_archived boolean) IS 'How many jobs are visible from a room. Example: select total from pgjobs.count_jobs(''lab-7'')';

CREATE FUNCTION pgjobs.count_pending(room text, job_ids integer[], wanted integer, looked integer, OUT matching integer, OUT is_all boolean) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  select count(*) filter (where k.is_here), count(*) < count_pending.looked
  into matching, is_all
  from (
    select t.room = count_pending.room as is_here
    from (
      select p.task_id
      from (
        select r.task_id
        from unnest(count_pending.job_ids) as j (id)
        cross join lateral (select r.task_id from pgjobs.ready as r where r.job_id = j.id offset 0) as r
        union all
        select s.task_id from pgjobs.scheduled as s where s.job_id = any (count_pending.job_ids)
      ) as p
      limit count_pending.looked
    ) as c
    cross join lateral (select b.room from pgjobs.tasks as b where b.id = c.task_id offset 0) as t
  ) as k;
  is_all := is_all and matching < count_pending.wanted;
end
$$;

COMMENT ON FUNCTION pgjobs.count_pending(room text, job_ids integer[], wanted integer, looked integer, OUT matching integer, OUT is_all boolean) IS 'Counts a room''s pending tasks. Example: select * from pgjobs.count_pending(''lab-7'', array[1], 101, 1000)';

CREATE FUNCTION pgjobs.count_providers(room text DEFAULT NULL::text) RETURNS TABLE(total integer, relation text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select count(*)::integer, 'eq'
  from pgjobs.providers as p
  where count_providers.room is null or p.room in (count_providers.room, '@global');
end
$$;

COMMENT ON FUNCTION pgjobs.count_providers(room text) IS 'How many providers are visible from a room. Example: select total from pgjobs.count_providers(''lab-7'')';

CREATE FUNCTION pgjobs.count_schedules(room text DEFAULT NULL::text, job text DEFAULT NULL::text) RETURNS TABLE(total integer, relation text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job integer := case when count_schedules.job is not null then (pgjobs.find_job(count_schedules.job)).id end;
begin
  if count_schedules.room is not null then
    perform pgjobs.check_room(count_schedules.room);
  end if;
  return query
  select count(*)::integer, 'eq'
  from pgjobs.schedules as s
  where (count_schedules.room is null or s.room = count_schedules.room)
    and (v_job is null or s.job_id = v_job);
end
$$;

COMMENT ON FUNCTION pgjobs.count_schedules(room text, job text) IS 'How many schedules there are. Example: select total from pgjobs.count_schedules(''lab-7'')';

CREATE FUNCTION pgjobs.count_tasks(room text, job text DEFAULT NULL::text, status text DEFAULT NULL::text) RETURNS TABLE(total integer, relation text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_jobs integer[] := pgjobs.jobs_to_list(count_tasks.room, count_tasks.job, count_tasks.status);
  v_last integer := pgjobs.last_counted_row();
  v_found integer;
  v_is_all boolean := true;
begin
  if count_tasks.status is null then
    select count(*) into v_found
    from (
      select from pgjobs.tasks as t
      where t.room = count_tasks.room and t.job_id = any (v_jobs)
      limit v_last + 1
    ) as f;
  elsif count_tasks.status = 'pending' then
    select c.matching, c.is_all into v_found, v_is_all
    from pgjobs.count_pending(count_tasks.room, v_jobs, v_last + 1, v_last + 1) as c;
  elsif count_tasks.status in ('completed', 'failed', 'cancelled') then
    select c.matching, c.is_all into v_found, v_is_all
    from pgjobs.count_ended(count_tasks.room, v_jobs, count_tasks.status, v_last + 1, 2 * v_last) as c;
  else
    select count(*) into v_found
    from pgjobs.page_of_tasks(count_tasks.room, v_jobs, count_tasks.status, null, v_last + 1);
  end if;
  return query
  select least(v_found, v_last), case when v_found > v_last or not v_is_all then 'gte' else 'eq' end;
end
$$;

COMMENT ON FUNCTION pgjobs.count_tasks(room text, job text, status text) IS 'How many tasks a room has. Example: select total, relation from pgjobs.count_tasks(''lab-7'', status => ''failed'')';

CREATE FUNCTION pgjobs.count_unlimited() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if exists (select from pgjobs.jobs as j where j.max_running is not null) then
    update pgjobs.leases as l
    set is_limited = true
    where not l.is_limited
      and l.ctid = any (array(
        select c.ctid
        from pgjobs.leases as c
        join pgjobs.jobs as j on j.id = c.job_id and j.max_running is not null
        where not c.is_limited
        order by c.task_id
        for update of c skip locked
      ));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.count_unlimited() IS 'Counts leases that began before their job had a limit. Example: select pgjobs.count_unlimited()';

CREATE FUNCTION pgjobs.count_workers(room text DEFAULT NULL::text) RETURNS TABLE(total integer, relation text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select count(*)::integer, 'eq'
  from pgjobs.workers as w
  where count_workers.room is null or exists (
    select from pgjobs.worker_jobs as l
    join pgjobs.jobs as j on j.id = l.job_id
    where l.worker_id = w.id and j.deleted_at is null and j.room in (count_workers.room, '@global', '@internal')
  );
end
$$;

COMMENT ON FUNCTION pgjobs.count_workers(room text) IS 'How many workers there are. Example: select total from pgjobs.count_workers(''lab-7'')';

CREATE FUNCTION pgjobs.create_generic_jobs(domain text, queue text, job_type text, payloads jsonb[], owner_user_id text DEFAULT NULL::text, project_id bigint DEFAULT NULL::bigint, priority integer DEFAULT 5, max_retries integer DEFAULT 3, available_at timestamp with time zone DEFAULT NULL::timestamp with time zone, idempotency_keys text[] DEFAULT NULL::text[]) RETURNS SETOF pgjobs.generic_jobs
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_job integer := (
    select j.id from pgjobs.jobs as j
    where j.room = create_generic_jobs.domain and j.category = create_generic_jobs.queue
      and j.name = create_generic_jobs.job_type and j.deleted_at is null
  );
  v_tasks bigint[];
begin
  if create_generic_jobs.max_retries is null or create_generic_jobs.max_retries not between 0 and 9999 then
    perform pgjobs.refuse('validation-error', 'max_retries must be between 0 and 9999',
      format('Got %s.', create_generic_jobs.max_retries));
  end if;
  if v_job is null and create_generic_jobs.domain in ('@global', '@internal') then
    perform pgjobs.refuse('job-not-found', format('No such job in %s', create_generic_jobs.domain),
      'Jobs of everybody and of the server are not registered by their first use.', 'select pgjobs.register_job(...)');
  end if;
  if v_job is null then
    -- Without a schema, so that a job that comes back keeps its own.
    v_job := (
      select r.job_id
      from pgjobs.register_job(
        create_generic_jobs.domain, create_generic_jobs.queue, create_generic_jobs.job_type, schema => null, max_attempts => 4,
        keep => true
      ) as r
    );
  end if;
  v_tasks := array(
    select s.task_id
    from pgjobs.submit_tasks(
      job => v_job::text, payloads => create_generic_jobs.payloads, room => create_generic_jobs.domain,
      priority => create_generic_jobs.priority, available_at => create_generic_jobs.available_at,
      max_attempts => create_generic_jobs.max_retries + 1, idempotency_keys => create_generic_jobs.idempotency_keys,
      owner => create_generic_jobs.owner_user_id, project => create_generic_jobs.project_id::text
    ) as s
  );
  -- Lateral and not flattened: a join with the view would read all of it.
  return query
  select g.*
  from unnest(v_tasks) with ordinality as i (task_id, place)
  cross join lateral (select v.* from pgjobs.generic_jobs as v where v.id = i.task_id offset 0) as g
  order by i.place;
end
$$;

COMMENT ON FUNCTION pgjobs.create_generic_jobs(domain text, queue text, job_type text, payloads jsonb[], owner_user_id text, project_id bigint, priority integer, max_retries integer, available_at timestamp with time zone, idempotency_keys text[]) IS 'Submits tasks in the generic manager''s words. Example: select id, status from pgjobs.create_generic_jobs(''chatbooks'', ''default'', ''export'', array[''{"name": "weekly"}''::jsonb])';

CREATE FUNCTION pgjobs.create_sign_in(user_id text, is_superuser boolean DEFAULT false, lifetime interval DEFAULT NULL::interval) RETURNS TABLE(sign_in text, expires_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  if create_sign_in.user_id is null or create_sign_in.user_id = '' or length(create_sign_in.user_id) > 200
    or create_sign_in.lifetime <= interval '0'
  then
    perform pgjobs.refuse('validation-error', 'A sign-in needs a user and a lifetime longer than zero');
  end if;
  sign_in := 'pgl_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  expires_at := pgjobs.now() + coalesce(create_sign_in.lifetime, interval '10 minutes');
  insert into pgjobs.sign_ins (sign_in_hash, user_id, is_superuser, expires_at)
  values (sha256(convert_to(sign_in, 'UTF8')), create_sign_in.user_id, create_sign_in.is_superuser, expires_at);
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.create_sign_in(user_id text, is_superuser boolean, lifetime interval) IS 'Creates what a one-time sign-in link holds. Example: select sign_in from pgjobs.create_sign_in(''ada'')';

CREATE FUNCTION pgjobs.create_token(user_id text, name text DEFAULT NULL::text, is_superuser boolean DEFAULT false, lifetime interval DEFAULT NULL::interval) RETURNS TABLE(id uuid, token text, expires_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  if create_token.user_id is null or create_token.user_id = '' or length(create_token.user_id) > 200
    or length(create_token.name) > 200 or create_token.lifetime <= interval '0'
  then
    perform pgjobs.refuse('validation-error', 'A token needs a user, short names and a lifetime longer than zero');
  end if;
  token := 'pgj_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  insert into pgjobs.api_tokens as t (token_hash, user_id, name, is_superuser, created_at, expires_at)
  values (
    sha256(convert_to(token, 'UTF8')), create_token.user_id, create_token.name, create_token.is_superuser, pgjobs.now(),
    pgjobs.now() + create_token.lifetime
  )
  returning t.id, t.expires_at into id, expires_at;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.create_token(user_id text, name text, is_superuser boolean, lifetime interval) IS 'Creates an API token. Example: select token from pgjobs.create_token(''ada'', ''build server'', lifetime => ''90 days'')';

CREATE FUNCTION pgjobs.cron_field(field text, low integer, high integer, names text[] DEFAULT NULL::text[]) RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
  v_item text;
  v_mark integer;
  v_parts text[];
  v_from integer;
  v_to integer;
  v_step integer;
  v_numbers integer[] := '{}';
begin
  foreach v_item in array string_to_array(field, ',') loop
    v_mark := pgjobs.cron_mark(v_item, high, names);
    if v_mark is null then
      v_parts := regexp_match(
        regexp_replace(v_item, '^\*', low || '-' || high),
        '^([0-9]{1,2}|[A-Z]{3})(?:-([0-9]{1,2}|[A-Z]{3}))?(?:/([0-9]{1,3}))?$'
      );
      v_from := pgjobs.cron_number(v_parts[1], low, names);
      -- One number with a step goes on to the highest.
      v_to := case
        when v_parts[2] is not null then pgjobs.cron_number(v_parts[2], low, names)
        when v_parts[3] is not null then high
        else v_from
      end;
      v_step := coalesce(v_parts[3]::integer, 1);
      if (v_from >= low and v_to between v_from and high and v_step > 0) is not true then
        return null;
      end if;
      v_numbers := v_numbers || array(select generate_series(v_from, v_to, v_step));
    else
      v_numbers := v_numbers || v_mark;
    end if;
  end loop;
  return array(select distinct n.number from unnest(v_numbers) as n (number) order by n.number);
end
$_$;

COMMENT ON FUNCTION pgjobs.cron_field(field text, low integer, high integer, names text[]) IS 'The numbers a field of cron stands for. Example: select pgjobs.cron_field(''9-17/2'', 0, 23)';

CREATE FUNCTION pgjobs.cron_mark(item text, high integer, names text[]) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
  v_parts text[] := regexp_match(item, '^([0-7]|[A-Z]{3})#([1-5])$');
begin
  return case
    when high = 31 and item = 'L' then 32
    when high = 31 and item = 'LW' then 33
    when high = 7 and item ~ '^[0-7]L$' then 109 + 10 * (left(item, 1)::integer % 7)
    when high = 7 and v_parts[1] ~ '[0-7]' then 100 + 10 * (v_parts[1]::integer % 7) + v_parts[2]::integer
    when high = 7 then 90 + 10 * array_position(names, v_parts[1]) + v_parts[2]::integer
  end;
end
$_$;

COMMENT ON FUNCTION pgjobs.cron_mark(item text, high integer, names text[]) IS 'What stands for no number in a field of cron. Example: select pgjobs.cron_mark(''L'', 31, null)';

CREATE FUNCTION pgjobs.cron_number(word text, low integer, names text[]) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
begin
  return case when word ~ '^[0-9]+$' then word::integer else array_position(names, word) - 1 + low end;
end
$_$;

COMMENT ON FUNCTION pgjobs.cron_number(word text, low integer, names text[]) IS 'The number a word of cron stands for. Example: select pgjobs.cron_number(''FEB'', 1, array[''JAN'', ''FEB''])';

CREATE FUNCTION pgjobs.delete_job(job text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text, batch integer DEFAULT 10000) RETURNS TABLE(removed integer, is_done boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job pgjobs.jobs := pgjobs.find_job(delete_job.job);
  v_tasks bigint[];
begin
  if delete_job.batch is null or delete_job.batch not between 1 and 100000 then
    perform pgjobs.refuse('validation-error', 'batch must be between 1 and 100000');
  end if;
  if v_job.room = '@internal' then
    perform pgjobs.refuse('job-unavailable', format('Job %s is @internal', v_job.full_name), null, 'Archive it instead.');
  end if;
  update pgjobs.jobs as j
  set archived_at = coalesce(j.archived_at, v_now), deleted_at = coalesce(j.deleted_at, v_now)
  where j.id = v_job.id;
  -- First, so that the task of a run in flight is among those found.
  delete from pgjobs.schedules as s where s.job_id = v_job.id;
  v_tasks := pgjobs.some_tasks_of(v_job.id, delete_job.batch);
  removed := cardinality(v_tasks);
  is_done := removed < delete_job.batch;
  perform pgjobs.remove_tasks(v_tasks || array(
    select s.cleanup_id from pgjobs.run_targets as s where s.task_id = any (v_tasks) and s.cleanup_id is not null
  ));
  if is_done then
    delete from pgjobs.worker_jobs as w where w.job_id = v_job.id;
    delete from pgjobs.lanes as l where l.job_id = v_job.id;
    delete from pgjobs.jobs as j where j.id = v_job.id;
    insert into pgjobs.events (at, kind, room, actor, message, fields)
    values (
      v_now, 'job_deleted', v_job.room, delete_job.actor, pgjobs.redact_line(delete_job.reason),
      jsonb_build_object('job', v_job.full_name, 'job_id', v_job.uuid)
    );
  end if;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.delete_job(job text, actor text, reason text, batch integer) IS 'Removes a job and its history for good. Example: select * from pgjobs.delete_job(''lab:backups:nightly'')';

CREATE FUNCTION pgjobs.depth_estimates(relation text) RETURNS TABLE(job_id integer, quantity bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_rows bigint := pg_stat_get_live_tuples(to_regclass(quote_ident(depth_estimates.relation)));
begin
  return query
  select v.job_id, round(v.share * v_rows)::bigint
  from pg_stats as s
  cross join unnest(s.most_common_vals::text::integer[], s.most_common_freqs) as v (job_id, share)
  where s.schemaname = 'pgjobs' and s.tablename = depth_estimates.relation and s.attname = 'job_id';
end
$$;

COMMENT ON FUNCTION pgjobs.depth_estimates(relation text) IS 'About how many rows of a table belong to each job. Example: select * from pgjobs.depth_estimates(''ready'')';

CREATE FUNCTION pgjobs.depths(of_jobs integer[] DEFAULT NULL::integer[]) RETURNS TABLE(job_id integer, waiting bigint, oldest_at timestamp with time zone, scheduled bigint, claimed bigint, running bigint, overdue bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_silent uuid[] := array(
    select w.id from pgjobs.workers as w
    where w.last_heartbeat_at < v_now - (select s.worker_timeout from pgjobs.settings as s)
  );
  v_jobs integer[] := coalesce(depths.of_jobs, array(select j.id from pgjobs.jobs as j where j.deleted_at is null));
  v_few integer := greatest(100, 20000 / greatest(20, cardinality(v_jobs)));
begin
  return query
  with held as materialized (
    select
      l.job_id,
      count(*) filter (where l.started_at is null) as claimed,
      count(*) filter (where l.started_at is not null) as running,
      -- One without an end lives by heartbeats.
      count(*) filter (where coalesce(l.until <= v_now, l.worker_id = any (v_silent))) as overdue
    from pgjobs.leases as l
    -- By the key: the pages of a busy table are mostly empty.
    where l.task_id > 0
    group by l.job_id
  ), counted as materialized (
    select
      j.id,
      (select count(*) from (select from pgjobs.ready as r where r.job_id = j.id limit v_few + 1) as f) as due,
      (select count(*) from (select from pgjobs.scheduled as s where s.job_id = j.id limit v_few + 1) as f) as later
    from unnest(v_jobs) as j (id)
  ), due_about as materialized (
    select e.job_id, e.quantity from pgjobs.depth_estimates('ready') as e
  ), later_about as materialized (
    select e.job_id, e.quantity from pgjobs.depth_estimates('scheduled') as e
  )
  select
    c.id,
    case when c.due <= v_few then c.due else greatest(c.due, (select e.quantity from due_about as e where e.job_id = c.id)) end,
    case when c.due > 0 then (
      select min(h.due_at)
      from (select distinct a.priority from pgjobs.lanes as a where a.job_id = c.id) as l
      cross join lateral (
        select r.due_at from pgjobs.ready as r
        where r.job_id = c.id and r.priority = l.priority
        order by r.due_at
        limit 1
      ) as h
    ) end,
    case when c.later <= v_few then c.later else greatest(c.later, (select e.quantity from later_about as e where e.job_id = c.id)) end,
    coalesce(h.claimed, 0), coalesce(h.running, 0), coalesce(h.overdue, 0)
  from counted as c
  left join held as h on h.job_id = c.id;
end
$$;

COMMENT ON FUNCTION pgjobs.depths(of_jobs integer[]) IS 'What each job has in line, in the schedule and in hand. Example: select * from pgjobs.depths()';

CREATE FUNCTION pgjobs.draw_ids(job_id integer, keys text[], OUT ids bigint[], OUT are_new boolean[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
  with items as materialized (
    select i.key, i.place, nextval('pgjobs.tasks_id_seq') as id
    from unnest(draw_ids.keys) with ordinality as i (key, place)
  ), kept as (
    insert into pgjobs.idempotency_keys as k (job_id, key, task_id)
    select draw_ids.job_id, d.key, d.id
    from (select distinct on (i.key) i.key, i.id from items as i where i.key is not null order by i.key, i.place) as d
    on conflict (job_id, key) do update set task_id = k.task_id
    returning k.key, k.task_id
  )
  select
    array_agg(coalesce(k.task_id, i.id) order by i.place),
    array_agg(coalesce(k.task_id = i.id, true) order by i.place)
  into draw_ids.ids, draw_ids.are_new
  from items as i
  left join kept as k on k.key = i.key;
end
$$;

COMMENT ON FUNCTION pgjobs.draw_ids(job_id integer, keys text[], OUT ids bigint[], OUT are_new boolean[]) IS 'Task ids for a batch of idempotency keys. Example: see pgjobs.submit_tasks, which calls it';

CREATE FUNCTION pgjobs.draw_luck() RETURNS text
    LANGUAGE sql
    RETURN (OVERLAY("left"(translate((gen_random_uuid())::text, '-'::text, ''::text), 16) PLACING '8'::text FROM 13 FOR 1) || '8'::text);

COMMENT ON FUNCTION pgjobs.draw_luck() IS 'What the tokens of one claim have in common. Example: select pgjobs.draw_luck()';

CREATE FUNCTION pgjobs.drop_partitions(parent text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $$
declare
  v_part record;
  v_dropped integer := 0;
begin
  for v_part in
    select p.partition, p.lower, p.upper
    from pgjobs.partitions() as p
    where p.parent = drop_partitions.parent and p.upper <= p.last_number
  loop
    if pgjobs.is_over(drop_partitions.parent, v_part.partition, v_part.lower, v_part.upper) then
      execute format('lock table only pgjobs.%I in access exclusive mode', drop_partitions.parent);
      -- Looked at again: somebody may have been about to write into it.
      if pgjobs.is_over(drop_partitions.parent, v_part.partition, v_part.lower, v_part.upper) then
        execute format('drop table pgjobs.%I', v_part.partition);
        v_dropped := v_dropped + 1;
      end if;
    end if;
  end loop;
  return v_dropped;
end
$$;

COMMENT ON FUNCTION pgjobs.drop_partitions(parent text) IS 'Drops partitions that are empty for good. Example: select pgjobs.drop_partitions(''outcomes'')';

CREATE FUNCTION pgjobs.elapsed(since timestamp with time zone, now timestamp with time zone) RETURNS interval
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (since IS NOT NULL) THEN GREATEST((now - since), '00:00:00'::interval) ELSE NULL::interval END;

COMMENT ON FUNCTION pgjobs.elapsed(since timestamp with time zone, now timestamp with time zone) IS 'How long ago something was. Example: select pgjobs.elapsed(pgjobs.now() - interval ''1 hour'', pgjobs.now())';

CREATE FUNCTION pgjobs.end_attempts(held tid[], tokens uuid[], errors text[], kinds text[], retryable boolean[], now timestamp with time zone) RETURNS TABLE(task_id bigint, status text, run_at timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  v_limited integer[] := array(
    select l.job_id from pgjobs.leases as l where l.ctid = any (end_attempts.held) and l.is_limited
  );
begin
  return query
  with gone as (
    delete from pgjobs.leases as l where l.ctid = any (end_attempts.held) returning l.*
  ), judged as (
    select
      g.*,
      t.priority,
      pgjobs.redact(coalesce(end_attempts.errors[g.place], 'unknown error')) as error,
      left(end_attempts.kinds[g.place], 200) as kind,
      case
        when g.cancel_requested_at is not null then 'cancelled'
        when coalesce(end_attempts.retryable[g.place], true)
          and coalesce(p.is_retryable, true)
          and g.attempt < t.max_attempts
          and (j.max_age is null or t.created_at > end_attempts.now - j.max_age)
          then 'pending'
        else 'failed'
      end as verdict,
      end_attempts.now + case
        when p.kind is null then pgjobs.backoff(g.task_id, g.attempt, j.backoff_base, j.backoff_cap, j.jitter_share, j.jitter_cap)
        else pgjobs.backoff(g.task_id, g.attempt, p.backoff_base, p.backoff_cap, p.jitter_share, p.jitter_cap)
      end as again_at
    from (
      select
        l.*,
        case when cardinality(end_attempts.errors) > 1 then array_position(end_attempts.tokens, l.token) else 1 end as place
      from gone as l
    ) as g
    join pgjobs.tasks as t on t.id = g.task_id
    join pgjobs.jobs as j on j.id = g.job_id
    left join pgjobs.error_policies as p on p.job_id = g.job_id and p.kind = end_attempts.kinds[g.place]
  ), kept as (
    insert into pgjobs.attempts (
      task_id, attempt, status, token, worker_id, holder, claimed_at, started_at, ended_at, error, error_kind
    )
    select
      task_id, attempt, 'failed', token, worker_id, holder, claimed_at, started_at, end_attempts.now, error, kind
    from judged
    where verdict = 'pending'
  ), later as (
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt, error, error_kind)
    select task_id, again_at, job_id, priority, attempt, error, kind from judged where verdict = 'pending'
  ), ended as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, worker_id, holder, claimed_at, started_at, ended_at,
      error, error_kind, reason
    )
    select
      task_id, job_id, verdict, attempt, token, worker_id, holder, claimed_at, started_at, end_attempts.now,
      case when verdict = 'failed' then error end, case when verdict = 'failed' then kind end, cancel_reason
    from judged
    where verdict <> 'pending'
  )
  select j.task_id, j.verdict, case when j.verdict = 'pending' then j.again_at end from judged as j;
  if v_limited <> '{}' then
    perform pgjobs.wake_for_slots(v_limited);
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.end_attempts(held tid[], tokens uuid[], errors text[], kinds text[], retryable boolean[], now timestamp with time zone) IS 'Ends locked leases without success. Example: see pgjobs.fail_tasks, which locks them first';

CREATE FUNCTION pgjobs.end_leases(task_ids bigint[], reason text, actor text, now timestamp with time zone) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_ended bigint[];
begin
  with gone as (
    delete from pgjobs.leases as l where l.task_id = any (end_leases.task_ids) returning l.*
  ), ended as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, worker_id, holder, claimed_at, started_at, ended_at, reason, actor
    )
    select
      g.task_id, g.job_id, 'cancelled', g.attempt, g.token, g.worker_id, g.holder, g.claimed_at, g.started_at, end_leases.now,
      coalesce(end_leases.reason, g.cancel_reason), end_leases.actor
    from gone as g
    returning task_id
  )
  select array_agg(e.task_id) into v_ended from ended as e;
  return v_ended;
end
$$;

COMMENT ON FUNCTION pgjobs.end_leases(task_ids bigint[], reason text, actor text, now timestamp with time zone) IS 'Cancels what holders have in hand. Example: see pgjobs.cancel_tasks, which is told to force it';

CREATE FUNCTION pgjobs.endings(job_ids integer[], since timestamp with time zone) RETURNS TABLE(job_id integer, completed bigint, failed bigint, cancelled bigint, retried bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_since timestamptz := date_trunc('minute', endings.since);
begin
  return query
  select
    j.id, sum(r.completed)::bigint, sum(r.failed)::bigint, sum(r.cancelled)::bigint, sum(r.retried)::bigint
  from unnest(endings.job_ids) as j (id)
  join pgjobs.rollups as r on r.job_id = j.id and r.minute >= v_since
  group by 1;
end
$$;

COMMENT ON FUNCTION pgjobs.endings(job_ids integer[], since timestamp with time zone) IS 'How much ended since a moment. Example: select completed, failed from pgjobs.endings(array[0], pgjobs.now() - interval ''1 hour'')';

CREATE FUNCTION pgjobs.ensure_cleanup_job() RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job integer := pgjobs.cleanup_job();
begin
  if v_job is not null then
    return v_job;
  end if;
  v_job := (
    select r.job_id
    from pgjobs.register_job(
      '@internal', 'maintenance', 'incomplete-cleanup', max_attempts => 20, backoff_base => '300 seconds',
      backoff_cap => '6 hours', jitter_share => 1, jitter_cap => '60 seconds', max_age => '30 days', events => 'full'
    ) as r
  );
  insert into pgjobs.error_policies (job_id, kind, backoff_base, backoff_cap, jitter_share, jitter_cap)
  select v_job, p.kind, p.base, p.cap, 1, p.jitter
  from (values
    ('network', interval '60 seconds', interval '6 hours', interval '30 seconds'),
    ('http', '60 seconds', '6 hours', '30 seconds'),
    ('io', '300 seconds', '6 hours', '60 seconds'),
    ('unknown', '300 seconds', '6 hours', '60 seconds'),
    ('auth', '6 hours', '24 hours', '600 seconds'),
    ('config', '6 hours', '24 hours', '600 seconds'),
    ('lease_expired', '60 seconds', '60 seconds', '30 seconds')
  ) as p (kind, base, cap, jitter)
  on conflict do nothing;
  return v_job;
end
$$;

COMMENT ON FUNCTION pgjobs.ensure_cleanup_job() IS 'Number of the clean-up job, registered if need be. Example: see pgjobs.reconcile_cleanups, which calls it';

CREATE FUNCTION pgjobs.enter_lanes(task_ids bigint[], now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  v_entered record;
begin
  for v_entered in
    with entered as (
      insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again)
      select t.job_id, t.priority, enter_lanes.now, t.id, true
      from pgjobs.tasks as t
      where t.id = any (enter_lanes.task_ids)
      returning job_id
    )
    select e.job_id, count(*) as quantity from entered as e group by e.job_id
  loop
    perform pgjobs.wake(v_entered.job_id, v_entered.quantity);
  end loop;
end
$$;

COMMENT ON FUNCTION pgjobs.enter_lanes(task_ids bigint[], now timestamp with time zone) IS 'Puts tasks in line. Example: see pgjobs.unignore_tasks, which found them ignored';

CREATE FUNCTION pgjobs.error_pattern(message text) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN "left"(btrim(regexp_replace(regexp_replace(regexp_replace(split_part(message, '
'::text, 1), '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'::text, '*'::text, 'g'::text), '''[^'']*''|"[^"]*"'::text, '*'::text, 'g'::text), '0x[0-9a-fA-F]+|[0-9]+([.,:][0-9]+)*'::text, '#'::text, 'g'::text)), 200);

COMMENT ON FUNCTION pgjobs.error_pattern(message text) IS 'An error without ids, numbers and quoted words. Example: select pgjobs.error_pattern(''timeout after 30 s on "db7"'')';

CREATE FUNCTION pgjobs.error_fingerprint(error_kind text, message text) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN "left"(md5(((COALESCE(error_kind, ''::text) || ':'::text) || pgjobs.error_pattern(message))), 12);

COMMENT ON FUNCTION pgjobs.error_fingerprint(error_kind text, message text) IS 'What errors of one sort have in common. Example: select pgjobs.error_fingerprint(''timeout'', ''timeout after 30 s'')';

CREATE FUNCTION pgjobs.errors(of_job text DEFAULT NULL::text) RETURNS TABLE(fingerprint text, job text, error_kind text, message text, last_hour bigint, last_day bigint, last_week bigint, last_at timestamp with time zone, last_task_id bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job integer := case when errors.of_job is not null then (pgjobs.find_job(errors.of_job)).id end;
begin
  return query
  with known as (
    select c.since, c.job_id, c.fingerprint, c.quantity, c.error_kind, c.message, c.last_at, c.last_task_id
    from pgjobs.error_counts as c
    where c.since > v_now - interval '7 days'
    union all
    -- What no sweep has counted yet, as far as it can be read in a moment.
    select
      u.at, u.job_id, pgjobs.error_fingerprint(u.error_kind, u.message), 1, u.error_kind,
      left(split_part(u.message, E'\n', 1), 200), u.at, u.task_id
    from pgjobs.uncounted_errors(1000) as u
    where u.is_error
  )
  select
    k.fingerprint, j.full_name, min(k.error_kind), (array_agg(k.message order by k.last_at desc))[1],
    coalesce(sum(k.quantity) filter (where k.since > v_now - interval '1 hour'), 0)::bigint,
    coalesce(sum(k.quantity) filter (where k.since > v_now - interval '1 day'), 0)::bigint,
    sum(k.quantity)::bigint, max(k.last_at), (array_agg(k.last_task_id order by k.last_at desc))[1]
  from known as k
  join pgjobs.jobs as j on j.id = k.job_id
  where v_job is null or k.job_id = v_job
  group by k.fingerprint, j.full_name
  order by 6 desc, 7 desc, k.fingerprint
  limit 500;
end
$$;

COMMENT ON FUNCTION pgjobs.errors(of_job text) IS 'Failed attempts by fingerprint. Example: select last_hour, last_day, job, message from pgjobs.errors()';

CREATE TABLE pgjobs.events (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    task_id bigint,
    job_id integer,
    room text,
    status text,
    worker_id uuid,
    actor text,
    message text,
    fields jsonb
)
PARTITION BY RANGE (id);

COMMENT ON TABLE pgjobs.events IS 'Append-only facts: what changed, when, by whom. In partitions by number.';

COMMENT ON COLUMN pgjobs.events.xid IS 'The transaction that wrote it.';

COMMENT ON COLUMN pgjobs.events.id IS 'Order within the transaction.';

COMMENT ON COLUMN pgjobs.events.at IS 'When.';

COMMENT ON COLUMN pgjobs.events.kind IS 'The verb: submitted, claimed, started, completed, retrying, failed, cancelled, …';

COMMENT ON COLUMN pgjobs.events.task_id IS 'The task it is about.';

COMMENT ON COLUMN pgjobs.events.job_id IS 'The job it is about.';

COMMENT ON COLUMN pgjobs.events.room IS 'The room that should hear of it.';

COMMENT ON COLUMN pgjobs.events.status IS 'The task''s status after it.';

COMMENT ON COLUMN pgjobs.events.worker_id IS 'The worker involved.';

COMMENT ON COLUMN pgjobs.events.actor IS 'Who did it, if a person did.';

COMMENT ON COLUMN pgjobs.events.message IS 'Error or reason, one line.';

COMMENT ON COLUMN pgjobs.events.fields IS 'Further details.';

CREATE FUNCTION pgjobs.events_between(since pg_snapshot, upto pg_snapshot, after_xid xid8, after_id bigint, of_task bigint, of_job integer, of_room text, page_size integer) RETURNS SETOF pgjobs.events
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_late xid8[] := array(
    select r.xid from pg_snapshot_xip(since) as r (xid) where pg_visible_in_snapshot(r.xid, upto)
  );
  v_first xid8 := greatest(pg_snapshot_xmax(since), after_xid);
  v_found bigint;
begin
  return query
  select e.* from pgjobs.events as e
  where e.xid = any (v_late) and (e.xid, e.id) > (after_xid, after_id)
    and (events_between.of_task is null or e.task_id = events_between.of_task)
    and (events_between.of_job is null or e.job_id = events_between.of_job)
    and (events_between.of_room is null or e.room = events_between.of_room)
  order by e.xid, e.id
  limit events_between.page_size;
  get diagnostics v_found = row_count;
  return query
  select e.* from pgjobs.events as e
  where e.xid >= v_first and e.xid < pg_snapshot_xmax(upto) and (e.xid, e.id) > (after_xid, after_id)
    and pg_visible_in_snapshot(e.xid, upto)
    and (events_between.of_task is null or e.task_id = events_between.of_task)
    and (events_between.of_job is null or e.job_id = events_between.of_job)
    and (events_between.of_room is null or e.room = events_between.of_room)
  order by e.xid, e.id
  limit events_between.page_size - v_found;
end
$$;

COMMENT ON FUNCTION pgjobs.events_between(since pg_snapshot, upto pg_snapshot, after_xid xid8, after_id bigint, of_task bigint, of_job integer, of_room text, page_size integer) IS 'Events of one snapshot that are not in another. Example: see pgjobs.list_events, whose cursors name both';

CREATE FUNCTION pgjobs.extend_partitions(parent text, most_bytes bigint DEFAULT 1000000000) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_known record;
  v_width bigint;
  v_lower bigint;
  v_made integer := 0;
begin
  if pg_table_size(to_regclass('pgjobs.' || quote_ident(extend_partitions.parent || '_default'))) > extend_partitions.most_bytes then
    return 0;
  end if;
  loop
    select min(p.lower) as lowest, max(p.upper) as highest, max(p.last_number) as last_number into v_known
    from pgjobs.partitions() as p
    where p.parent = extend_partitions.parent;
    v_width := greatest(250000, (v_known.last_number - coalesce(v_known.lowest, v_known.last_number)) / 8);
    exit when v_known.highest - v_known.last_number > v_width or v_made = 10;
    v_lower := coalesce(v_known.highest, 0);
    if v_known.last_number >= v_lower then
      -- Numbers go on being given out while the lock is waited for.
      v_lower := v_known.last_number + 10000;
    end if;
    perform pgjobs.make_partition(extend_partitions.parent, v_lower, v_lower + v_width);
    v_made := v_made + 1;
  end loop;
  return v_made;
end
$$;

COMMENT ON FUNCTION pgjobs.extend_partitions(parent text, most_bytes bigint) IS 'Keeps partitions coming. Example: select pgjobs.extend_partitions(''outcomes'', most_bytes => 10000000000)';

CREATE FUNCTION pgjobs.fail_tasks(task_ids bigint[], tokens uuid[], errors text[], kinds text[] DEFAULT NULL::text[], retryable boolean[] DEFAULT NULL::boolean[], holder text DEFAULT NULL::text) RETURNS TABLE(task_id bigint, status text, run_at timestamp with time zone, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_held tid[];
begin
  perform pgjobs.check_batch(
    fail_tasks.task_ids, fail_tasks.tokens,
    coalesce(cardinality(fail_tasks.errors), -1), cardinality(fail_tasks.kinds), cardinality(fail_tasks.retryable)
  );
  v_held := pgjobs.lock_leases(fail_tasks.task_ids, fail_tasks.tokens, v_now, fail_tasks.holder);
  perform pgjobs.end_attempts(
    v_held, fail_tasks.tokens, fail_tasks.errors, fail_tasks.kinds, fail_tasks.retryable, v_now
  );
  return query
  select
    i.task_id,
    coalesce(o.status, case when a.task_id is not null then 'pending' end),
    s.run_at,
    case when o.task_id is null and a.task_id is null then pgjobs.lost_or_unknown(i.task_id) end
  from unnest(fail_tasks.task_ids, fail_tasks.tokens) as i (task_id, token)
  left join pgjobs.outcomes as o
    on o.task_id = i.task_id and o.token = i.token and (o.ended_at = v_now or pgjobs.is_own_failure(o.status, o.error_kind))
    and (fail_tasks.holder is null or coalesce(o.holder, o.worker_id::text) = fail_tasks.holder)
  left join pgjobs.attempts as a
    on a.task_id = i.task_id and a.token = i.token and (a.ended_at = v_now or pgjobs.is_own_failure(a.status, a.error_kind))
    and (fail_tasks.holder is null or coalesce(a.holder, a.worker_id::text) = fail_tasks.holder)
  left join pgjobs.scheduled as s on s.task_id = a.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.fail_tasks(task_ids bigint[], tokens uuid[], errors text[], kinds text[], retryable boolean[], holder text) IS 'Ends attempts with an error. Example: select * from pgjobs.fail_tasks(array[42], array[''<token>''::uuid], array[''no route to host''], array[''network''])';

CREATE FUNCTION pgjobs.failed() RETURNS TABLE(task_id bigint, job text, room text, ended_at timestamp with time zone, attempt smallint, max_attempts smallint, error_kind text, error text, worker_id uuid, holder text, owner text, task_uuid uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
begin
  return query
  select
    o.task_id, j.full_name, t.room, o.ended_at, o.attempt, t.max_attempts, o.error_kind,
    left(split_part(o.error, E'\n', 1), 200), o.worker_id, o.holder, t.owner, pgjobs.task_uuid(o.task_id)
  from (
    select f.* from pgjobs.outcomes as f
    where f.status = 'failed' and f.status <> 'completed'
    order by f.task_id desc
    limit 200
  ) as o
  join pgjobs.tasks as t on t.id = o.task_id
  join pgjobs.jobs as j on j.id = o.job_id
  order by o.task_id desc;
end
$$;

COMMENT ON FUNCTION pgjobs.failed() IS 'The newest failed tasks. Example: select task_id, job, error from pgjobs.failed() limit 20';

CREATE FUNCTION pgjobs.feed_snapshot() RETURNS pg_snapshot
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
declare
  v_now pg_snapshot := pg_current_snapshot();
  v_own xid8 := pg_current_xact_id_if_assigned();
begin
  if pg_is_in_recovery() then
    return format('%1$s:%1$s:', pg_snapshot_xmin(v_now))::pg_snapshot;
  elsif v_own is null or not pg_visible_in_snapshot(v_own, v_now) then
    return v_now;
  end if;
  return format(
    '%s:%s:%s', pg_snapshot_xmin(v_now), pg_snapshot_xmax(v_now),
    (select string_agg(r.xid::text, ',' order by r.xid) from (select pg_snapshot_xip(v_now) union all select v_own) as r (xid))
  )::pg_snapshot;
end
$_$;

COMMENT ON FUNCTION pgjobs.feed_snapshot() IS 'What a reader of events sees now. Example: select pgjobs.feed_snapshot()';

CREATE FUNCTION pgjobs.find_cleanup(run_id uuid) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_task bigint := (
    select k.task_id
    from pgjobs.idempotency_keys as k
    where k.job_id = pgjobs.cleanup_job() and k.key = pgjobs.task_id(find_cleanup.run_id)::text
  );
begin
  if v_task is null then
    perform pgjobs.refuse('task-not-found', format('Run %s has no clean-up task', find_cleanup.run_id),
      null, 'select run_id from pgjobs.incomplete_cleanup_tasks');
  end if;
  return v_task;
end
$$;

COMMENT ON FUNCTION pgjobs.find_cleanup(run_id uuid) IS 'The clean-up task of a run. Example: select pgjobs.find_cleanup(''<run id>'')';

CREATE FUNCTION pgjobs.find_job(job text) RETURNS pgjobs.jobs
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_job pgjobs.jobs;
begin
  -- By its address first, as nearly everybody calls it: the expressions below cost more than the look.
  select j.* into v_job from pgjobs.jobs as j where j.full_name = find_job.job;
  if v_job.id is not null then
    return v_job;
  elsif find_job.job ~ '^[0-9]{1,9}$' then
    select j.* into v_job from pgjobs.jobs as j where j.id = find_job.job::integer;
  elsif find_job.job ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
    select j.* into v_job from pgjobs.jobs as j where j.uuid = find_job.job::uuid;
  elsif coalesce(find_job.job, '') !~ '^[^:]+:[^:]+:.' then
    perform pgjobs.refuse('job-not-found', 'Invalid job name format: ' || coalesce(find_job.job, 'null'),
      null, 'Write room:category:name.');
  end if;
  if v_job.id is null then
    perform pgjobs.refuse('job-not-found', format('Job %s does not exist', find_job.job),
      null, 'select full_name from pgjobs.list_jobs()');
  end if;
  return v_job;
end
$_$;

COMMENT ON FUNCTION pgjobs.find_job(job text) IS 'A job by number, public id or address. Example: select (pgjobs.find_job(''@global:modifiers:Rotate'')).id';

CREATE FUNCTION pgjobs.find_provider(provider text, room text DEFAULT NULL::text, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS pgjobs.providers
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
declare
  v_provider pgjobs.providers;
begin
  if find_provider.provider ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
    select p.* into v_provider from pgjobs.providers as p where p.id = find_provider.provider::uuid;
  elsif find_provider.provider ~ '^[^:]+:[^:]+:.' then
    select p.* into v_provider from pgjobs.providers as p where p.full_name = find_provider.provider;
  else
    perform pgjobs.refuse('provider-not-found', 'Invalid provider name format: ' || coalesce(find_provider.provider, 'null'),
      null, 'Write room:category:name.');
  end if;
  if v_provider.id is null
    or v_provider.room not in ('@global', coalesce(find_provider.room, v_provider.room))
  then
    perform pgjobs.refuse('provider-not-found', format('Provider %s does not exist', find_provider.provider));
  end if;
  if find_provider.actor is not null and not find_provider.is_superuser
    and v_provider.owner is distinct from find_provider.actor
  then
    perform pgjobs.refuse('forbidden', format('Provider %s belongs to someone else', find_provider.provider));
  end if;
  return v_provider;
end
$_$;

COMMENT ON FUNCTION pgjobs.find_provider(provider text, room text, actor text, is_superuser boolean) IS 'A provider by public id or address. Example: select (pgjobs.find_provider(''@global:filesystem:local'')).id';

CREATE TABLE pgjobs.schedules (
    id integer NOT NULL,
    uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    room text NOT NULL,
    name text NOT NULL,
    full_name text GENERATED ALWAYS AS (((room || ':'::text) || name)) STORED NOT NULL,
    job_id integer NOT NULL,
    cron text,
    every interval,
    timezone text NOT NULL,
    payload jsonb NOT NULL,
    priority smallint NOT NULL,
    max_attempts smallint,
    owner text,
    project text,
    tags text[],
    missed text NOT NULL,
    overlap boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    paused_at timestamp with time zone,
    next_run_at timestamp with time zone,
    last_run_at timestamp with time zone,
    CONSTRAINT attempts_are_possible CHECK (((max_attempts >= 1) AND (max_attempts <= 10000))),
    CONSTRAINT intervals_are_possible CHECK (((every >= '00:00:01'::interval) AND (every <= '366 days'::interval))),
    CONSTRAINT missed_runs_have_a_rule CHECK ((missed = ANY (ARRAY['once'::text, 'skip'::text, 'each'::text]))),
    CONSTRAINT names_are_well_formed CHECK (((name <> ''::text) AND (length(name) <= 200))),
    CONSTRAINT priorities_are_known CHECK (((priority >= 1) AND (priority <= 10))),
    CONSTRAINT schedules_run_by_cron_or_at_intervals CHECK ((num_nonnulls(cron, every) = 1)),
    CONSTRAINT schedules_run_next_or_are_paused CHECK (((next_run_at IS NULL) = (paused_at IS NOT NULL)))
);

COMMENT ON TABLE pgjobs.schedules IS 'When jobs run by themselves.';

COMMENT ON COLUMN pgjobs.schedules.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.schedules.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.schedules.room IS 'Where its tasks are submitted from.';

COMMENT ON COLUMN pgjobs.schedules.name IS 'What people call it, once in a room.';

COMMENT ON COLUMN pgjobs.schedules.full_name IS 'The address, room:name.';

COMMENT ON COLUMN pgjobs.schedules.job_id IS 'What to run.';

COMMENT ON COLUMN pgjobs.schedules.cron IS 'When, as five fields of cron.';

COMMENT ON COLUMN pgjobs.schedules.every IS 'Or how often.';

COMMENT ON COLUMN pgjobs.schedules.timezone IS 'Whose clocks cron goes by.';

COMMENT ON COLUMN pgjobs.schedules.payload IS 'What to run it with.';

COMMENT ON COLUMN pgjobs.schedules.priority IS 'Of its tasks: 1 (most urgent) to 10.';

COMMENT ON COLUMN pgjobs.schedules.max_attempts IS 'Of its tasks; empty: as many as the job says.';

COMMENT ON COLUMN pgjobs.schedules.owner IS 'Whose work its tasks are.';

COMMENT ON COLUMN pgjobs.schedules.project IS 'What its tasks belong to.';

COMMENT ON COLUMN pgjobs.schedules.tags IS 'Free words to find its tasks by.';

COMMENT ON COLUMN pgjobs.schedules.missed IS 'When nobody was there to start runs: once makes up for all by one, each for each by one, skip waits for the next.';

COMMENT ON COLUMN pgjobs.schedules.overlap IS 'Whether a run may begin before the last one has ended.';

COMMENT ON COLUMN pgjobs.schedules.created_at IS 'When it was first registered.';

COMMENT ON COLUMN pgjobs.schedules.paused_at IS 'Set while it does not run.';

COMMENT ON COLUMN pgjobs.schedules.next_run_at IS 'When it runs next; empty while it is paused.';

COMMENT ON COLUMN pgjobs.schedules.last_run_at IS 'When its last run was due.';

CREATE FUNCTION pgjobs.find_schedule(schedule text, locks boolean DEFAULT false) RETURNS pgjobs.schedules
    LANGUAGE plpgsql
    AS $_$
declare
  v_schedule pgjobs.schedules;
begin
  if find_schedule.schedule ~ '^[0-9]{1,9}$' then
    select s.* into v_schedule from pgjobs.schedules as s where s.id = find_schedule.schedule::integer;
  elsif find_schedule.schedule ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
    select s.* into v_schedule from pgjobs.schedules as s where s.uuid = find_schedule.schedule::uuid;
  else
    select s.* into v_schedule from pgjobs.schedules as s where s.full_name = find_schedule.schedule;
  end if;
  if locks then
    select s.* into v_schedule from pgjobs.schedules as s where s.id = v_schedule.id for no key update;
  end if;
  if v_schedule.id is null then
    perform pgjobs.refuse('schedule-not-found', format('Schedule %s does not exist', find_schedule.schedule),
      null, 'Write room:name; select full_name from pgjobs.schedule lists them.');
  end if;
  return v_schedule;
end
$_$;

COMMENT ON FUNCTION pgjobs.find_schedule(schedule text, locks boolean) IS 'A schedule by number, public id or address. Example: select (pgjobs.find_schedule(''@global:nightly'')).id';

CREATE FUNCTION pgjobs.find_tasks(room text DEFAULT NULL::text, job text DEFAULT NULL::text, status text DEFAULT NULL::text, owner text DEFAULT NULL::text, since timestamp with time zone DEFAULT NULL::timestamp with time zone, until timestamp with time zone DEFAULT NULL::timestamp with time zone, matching text DEFAULT NULL::text, before uuid DEFAULT NULL::uuid, page_size integer DEFAULT 50) RETURNS TABLE(found jsonb, next uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_next bigint;
begin
  perform pgjobs.check_page(find_tasks.page_size, 0);
  select f.ids, f.next into v_ids, v_next
  from pgjobs.found_tasks(
    find_tasks.room, find_tasks.job, find_tasks.status, find_tasks.owner, find_tasks.since, find_tasks.until,
    find_tasks.matching, pgjobs.task_id(find_tasks.before), find_tasks.page_size
  ) as f;
  return query
  select coalesce(jsonb_agg(pgjobs.seen_task(v) order by v.id desc), '[]'), pgjobs.task_uuid(v_next)
  from pgjobs.task as v
  where v.id = any (v_ids);
end
$$;

COMMENT ON FUNCTION pgjobs.find_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before uuid, page_size integer) IS 'A page of tasks that fit some filters. Example: select next, jsonb_array_elements(found) ->> ''id'' from pgjobs.find_tasks(matching => ''refused'')';

CREATE TABLE pgjobs.workers (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text,
    owner text,
    registered_at timestamp with time zone NOT NULL,
    last_heartbeat_at timestamp with time zone NOT NULL,
    CONSTRAINT names_are_short CHECK ((length(name) <= 200))
)
WITH (fillfactor='50');

COMMENT ON TABLE pgjobs.workers IS 'Registered processes that claim tasks and send heartbeats. Ids are never reused.';

COMMENT ON COLUMN pgjobs.workers.id IS 'Public id.';

COMMENT ON COLUMN pgjobs.workers.name IS 'What people call it.';

COMMENT ON COLUMN pgjobs.workers.owner IS 'The user it belongs to.';

COMMENT ON COLUMN pgjobs.workers.registered_at IS 'When it came.';

COMMENT ON COLUMN pgjobs.workers.last_heartbeat_at IS 'When it was last heard of.';

CREATE FUNCTION pgjobs.find_worker(worker_id uuid, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS pgjobs.workers
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_worker pgjobs.workers;
begin
  select w.* into v_worker from pgjobs.workers as w where w.id = find_worker.worker_id;
  if v_worker.id is null then
    perform pgjobs.refuse('worker-not-found', format('Worker %s does not exist', find_worker.worker_id),
      'It was never registered, was retired, or its heartbeats stopped.', 'Register a new worker.');
  end if;
  if find_worker.actor is not null and not find_worker.is_superuser
    and v_worker.owner is distinct from find_worker.actor
  then
    perform pgjobs.refuse('forbidden', format('Worker %s belongs to someone else', find_worker.worker_id));
  end if;
  return v_worker;
end
$$;

COMMENT ON FUNCTION pgjobs.find_worker(worker_id uuid, actor text, is_superuser boolean) IS 'A registered worker. Example: select pgjobs.find_worker(''00000000-0000-0000-0000-000000000000'')';

CREATE FUNCTION pgjobs.findings() RETURNS TABLE(severity text, subject text, message text, advice text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  return query
  select f.severity, f.subject, f.message, f.advice
  from (
    select u.* from pgjobs.troubles_of_upkeep(v_now) as u
    union all
    select j.* from pgjobs.troubles_of_jobs(v_now) as j
    union all
    select s.* from pgjobs.troubles_of_schedules(v_now) as s
    union all
    select p.* from pgjobs.troubles_of_partitions() as p
    union all
    select d.* from pgjobs.troubles_of_database() as d
  ) as f
  order by array_position(array['error', 'warning', 'info'], f.severity), f.subject, f.message;
end
$$;

COMMENT ON FUNCTION pgjobs.findings() IS 'What an operator should look at. Example: select severity, subject, message, advice from pgjobs.findings()';

CREATE FUNCTION pgjobs.fire(schedule pgjobs.schedules, now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_due timestamptz := schedule.next_run_at;
  v_task bigint;
  v_next record := pgjobs.settle_next_run(schedule, fire.now);
  v_reason text := case
    when schedule.missed = 'skip' and fire.now - v_due > interval '1 minute'
      then format('Missed: nobody started it for %s', pgjobs.ago(v_due, fire.now))
    when not schedule.overlap and exists (
      select from pgjobs.schedule_runs as r
      where r.schedule_id = schedule.id and r.task_id is not null and pgjobs.is_under_way(r.task_id)
    ) then 'A run before it has not ended'
  end;
begin
  if v_reason is null then
    begin
      v_task := pgjobs.submit_run(
        schedule, v_due, format('schedule %s %s', schedule.id, to_char(v_due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
      );
    exception when others then
      -- A job that was archived, say.
      if pgjobs.is_passing(sqlstate) then
        raise;
      end if;
      v_reason := sqlerrm;
    end;
  end if;
  perform pgjobs.note_run(schedule, v_due, v_task, v_reason, false);
  perform pgjobs.record_schedule(
    schedule, case when v_task is null then 'schedule_skipped' else 'schedule_fired' end, null, v_reason, v_task
  );
  update pgjobs.schedules as s
  set
    next_run_at = v_next.next_run_at,
    paused_at = case when v_next.next_run_at is null then fire.now end,
    last_run_at = case when v_task is null then s.last_run_at else v_due end
  where s.id = schedule.id;
  if v_next.trouble is not null then
    perform pgjobs.record_schedule(schedule, 'schedule_paused', null, v_next.trouble);
  end if;
  return v_task is not null;
end
$$;

COMMENT ON FUNCTION pgjobs.fire(schedule pgjobs.schedules, now timestamp with time zone) IS 'Runs a schedule that is due. Example: see pgjobs.fire_schedules, which chooses it';

CREATE FUNCTION pgjobs.fire_schedules(batch integer DEFAULT 100) RETURNS TABLE(fired integer, skipped integer, due_in interval)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_now timestamptz := pgjobs.now();
  v_schedule pgjobs.schedules;
begin
  if fire_schedules.batch is null or fire_schedules.batch not between 1 and 10000 then
    perform pgjobs.refuse('validation-error', 'batch must be between 1 and 10000', format('Got %s.', fire_schedules.batch));
  end if;
  fired := 0;
  skipped := 0;
  for v_schedule in
    select s.*
    from pgjobs.schedules as s
    where s.next_run_at <= v_now
    order by s.next_run_at, s.id
    limit fire_schedules.batch
    for no key update skip locked
  loop
    if pgjobs.fire(v_schedule, v_now) then
      fired := fired + 1;
    else
      skipped := skipped + 1;
    end if;
  end loop;
  -- What is due and was passed by is in somebody's hands: it is not asked for again at once.
  select case
    when s.next_run_at > v_now then s.next_run_at - v_now
    when fired + skipped = 0 then interval '1 second'
    else interval '0'
  end into due_in
  from pgjobs.schedules as s
  where s.next_run_at is not null
  order by s.next_run_at
  limit 1;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.fire_schedules(batch integer) IS 'Runs the schedules that are due. Example: select * from pgjobs.fire_schedules()';

CREATE FUNCTION pgjobs.first_shown(local timestamp without time zone, timezone text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_at timestamptz := local at time zone timezone;
  v_shift interval := pgjobs.clock_shift(v_at, timezone);
  v_earlier timestamptz := v_at - (pgjobs.clock_shift(v_at - interval '3 hours', timezone) - v_shift);
begin
  if v_at at time zone timezone <> local then
    -- Postgres reads it by the clocks from before the jump, which is some minutes after it.
    while pgjobs.clock_shift(v_at - interval '1 minute', timezone) = v_shift loop
      v_at := v_at - interval '1 minute';
    end loop;
  elsif v_earlier < v_at and v_earlier at time zone timezone = local then
    -- Of two times Postgres takes the second.
    return v_earlier;
  end if;
  return v_at;
end
$$;

COMMENT ON FUNCTION pgjobs.first_shown(local timestamp without time zone, timezone text) IS 'When clocks first show a time. Example: select pgjobs.first_shown(''2026-03-29 02:30'', ''Europe/Berlin'')';

CREATE FUNCTION pgjobs.floor_set(lane text, floor bigint, expires bigint, task_id bigint DEFAULT 0) RETURNS text
    LANGUAGE sql
    RETURN set_config(('pgjobs.floor_'::text || lane), ((((floor || '/'::text) || task_id) || '/'::text) || expires), false);

COMMENT ON FUNCTION pgjobs.floor_set(lane text, floor bigint, expires bigint, task_id bigint) IS 'Remembers a floor in this session. Example: select pgjobs.floor_set(''waiting'', 100, 1767225600000)';

CREATE FUNCTION pgjobs.micros(moment timestamp with time zone) RETURNS bigint
    LANGUAGE sql STABLE
    RETURN ((date_part('epoch'::text, moment) * (1000000)::double precision))::bigint;

COMMENT ON FUNCTION pgjobs.micros(moment timestamp with time zone) IS 'A time in microseconds since 1970. Example: select pgjobs.micros(pgjobs.now())';

CREATE FUNCTION pgjobs.settled(now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN (now - '00:00:00.05'::interval);

COMMENT ON FUNCTION pgjobs.settled(now timestamp with time zone) IS 'By when everything due has been committed, as a rule. Example: select pgjobs.settled(pgjobs.now())';

CREATE FUNCTION pgjobs.floor_at(lane text, due_at timestamp with time zone, task_id bigint, now timestamp with time zone, expires bigint) RETURNS text
    LANGUAGE sql
    RETURN pgjobs.floor_set(lane, pgjobs.micros(LEAST(due_at, pgjobs.settled(now))), expires, COALESCE(task_id, (0)::bigint));

COMMENT ON FUNCTION pgjobs.floor_at(lane text, due_at timestamp with time zone, task_id bigint, now timestamp with time zone, expires bigint) IS 'Remembers a place in line in this session. Example: select pgjobs.floor_at(''1_5'', pgjobs.now(), 42, pgjobs.now(), 0)';

CREATE FUNCTION pgjobs.floor_get(lane text, clock bigint) RETURNS bigint[]
    LANGUAGE sql STABLE
    RETURN CASE WHEN ((NULLIF(split_part(current_setting(('pgjobs.floor_'::text || lane), true), '/'::text, 3), ''::text))::bigint > clock) THEN (string_to_array(current_setting(('pgjobs.floor_'::text || lane), true), '/'::text))::bigint[] ELSE NULL::bigint[] END;

COMMENT ON FUNCTION pgjobs.floor_get(lane text, clock bigint) IS 'Floor, task and expiry this session remembers, null when expired. Example: select pgjobs.floor_get(''1_5'', 0)';

CREATE FUNCTION pgjobs.floor_raise(lane text, floor bigint[], due_at timestamp with time zone, task_id bigint, now timestamp with time zone) RETURNS text
    LANGUAGE sql
    RETURN CASE WHEN (task_id = (floor)[2]) THEN ''::text ELSE pgjobs.floor_at(lane, due_at, task_id, now, (floor)[3]) END;

COMMENT ON FUNCTION pgjobs.floor_raise(lane text, floor bigint[], due_at timestamp with time zone, task_id bigint, now timestamp with time zone) IS 'Moves the floor of a lane up. Example: select pgjobs.floor_raise(''1_5'', array[0, 0, 0], pgjobs.now(), 42, pgjobs.now())';

CREATE FUNCTION pgjobs.forget_expired_sessions(now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  delete from pgjobs.sessions as s
  where s.id = any (array(
    select e.id from pgjobs.sessions as e
    where e.expires_at <= forget_expired_sessions.now
    order by e.expires_at
    limit 100
    for update skip locked
  ));
  delete from pgjobs.sign_ins as s
  where s.sign_in_hash = any (array(
    select e.sign_in_hash from pgjobs.sign_ins as e
    where e.expires_at <= forget_expired_sessions.now
    order by e.expires_at
    limit 100
    for update skip locked
  ));
end
$$;

COMMENT ON FUNCTION pgjobs.forget_expired_sessions(now timestamp with time zone) IS 'Removes expired sessions and sign-ins, 100 at a time. Example: select pgjobs.forget_expired_sessions(pgjobs.now())';

CREATE FUNCTION pgjobs.forget_read(key text) RETURNS TABLE(forgotten text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query delete from pgjobs.reads as r where r.key = forget_read.key returning r.key;
end
$$;

COMMENT ON FUNCTION pgjobs.forget_read(key text) IS 'Forgets an answer. Example: select * from pgjobs.forget_read(''<key>'')';

CREATE FUNCTION pgjobs.forget_rollups(now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_before timestamptz := forget_rollups.now - (select nullif(s.retain_events, interval '0') from pgjobs.settings as s);
begin
  if exists (
    select from pgjobs.rollups as r
    where r.job_id = 0 and r.minute > '-infinity' and r.minute < v_before - interval '1 hour'
  ) then
    delete from pgjobs.rollups as r where r.minute > '-infinity' and r.minute < v_before;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.forget_rollups(now timestamp with time zone) IS 'Forgets old minutes. Example: see pgjobs.sweep_rollups, which calls it';

CREATE FUNCTION pgjobs.found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before bigint, wanted integer, OUT ids bigint[], OUT next bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $_$
declare
  v_job integer := case when found_tasks.job is not null then (pgjobs.find_job(found_tasks.job)).id end;
  v_floor bigint := case when found_tasks.since is not null then pgjobs.task_number_at(found_tasks.since) else 0 end;
  v_before bigint := least(found_tasks.before, case when found_tasks.until is not null
    then pgjobs.task_number_at(found_tasks.until) end, 9223372036854775807);
  -- Dearest first: the end of an id is compared with an id that has to be made.
  v_looked bigint := case
    when found_tasks.matching ~* '^[0-9a-f-]{8,35}$' then 500
    when found_tasks.matching is not null then 2000
    when found_tasks.owner is not null then 5000
    else found_tasks.wanted
  end;
  v_seen bigint[];
begin
  if found_tasks.status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored') then
    perform pgjobs.refuse('validation-error', format('Unknown status %s', quote_literal(found_tasks.status)));
  end if;
  if found_tasks.room is not null then
    perform pgjobs.check_room(found_tasks.room);
  end if;
  if found_tasks.matching ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    -- A whole public id names its task, however old it is.
    ids := array(
      select v.id from pgjobs.task as v
      where v.id = pgjobs.task_id(found_tasks.matching::uuid) and v.id < v_before
        and (found_tasks.room is null or v.room = found_tasks.room)
        and (v_job is null or v.job_id = v_job)
        and (found_tasks.status is null or v.status = found_tasks.status)
        and (found_tasks.owner is null or v.owner = found_tasks.owner)
    );
    return;
  end if;
  v_seen := array(select n.id from pgjobs.newest_of(found_tasks.room, v_job, found_tasks.status, v_before, v_looked) as n (id));
  if cardinality(v_seen) >= v_looked then
    next := v_seen[cardinality(v_seen)];
  end if;
  if v_floor > 0 then
    next := case when next > v_floor then next end;
    v_seen := array(select n.id from unnest(v_seen) as n (id) where n.id >= v_floor order by n.id desc);
  end if;
  if found_tasks.owner is null and found_tasks.matching is null then
    ids := v_seen;
    return;
  end if;
  ids := array(select s.id from pgjobs.saying(v_seen, found_tasks.owner, found_tasks.matching) as s (id) limit found_tasks.wanted);
  if cardinality(ids) = found_tasks.wanted then
    next := ids[cardinality(ids)];
  end if;
end
$_$;

COMMENT ON FUNCTION pgjobs.found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before bigint, wanted integer, OUT ids bigint[], OUT next bigint) IS 'Numbers of tasks that fit some filters. Example: select * from pgjobs.found_tasks(null, null, ''failed'', null, null, null, ''refused'', null, 50)';

CREATE FUNCTION pgjobs.free_slots(job_id integer, wanted integer, waits boolean) RETURNS integer
    LANGUAGE plpgsql
    SET lock_timeout TO '500ms'
    AS $$
declare
  v_turn bigint := ('pgjobs.leases'::regclass::oid::bigint << 32) | free_slots.job_id;
  v_limit integer := (select j.max_running from pgjobs.jobs as j where j.id = free_slots.job_id);
  v_held bigint := pgjobs.held_slots(free_slots.job_id);
begin
  if v_held >= v_limit then
    return 0;
  end if;
  -- Whoever had the turn before has committed: only now are their leases seen, and only
  -- by a statement that looks anew.
  if current_setting('transaction_isolation') <> 'read committed' then
    perform pgjobs.refuse('validation-error', 'A job with a limit is claimed from under READ COMMITTED only',
      format('The transaction is %s.', upper(current_setting('transaction_isolation'))), 'Claim in a transaction of its own.');
  end if;
  begin
    if waits then
      perform pg_advisory_xact_lock(v_turn);
    elsif not pg_try_advisory_xact_lock(v_turn) then
      return null;
    end if;
    v_held := pgjobs.held_slots(free_slots.job_id);
    if v_held >= v_limit then
      -- What is undone is the lock.
      raise no_data_found;
    end if;
  exception
    when lock_not_available then
      return null;
    when no_data_found then
      return 0;
  end;
  return coalesce(least(wanted, v_limit - v_held), wanted);
end
$$;

COMMENT ON FUNCTION pgjobs.free_slots(job_id integer, wanted integer, waits boolean) IS 'How many more tasks of a limited job may be claimed. Example: see pgjobs.claim_tasks, which asks it';

CREATE FUNCTION pgjobs.generic_homes(status text, job_ids integer[], before bigint) RETURNS TABLE(task_id bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  case generic_homes.status
    when 'processing' then
      return query
      select l.task_id from pgjobs.leases as l
      where l.job_id = any (generic_homes.job_ids) and l.task_id < generic_homes.before;
    when 'queued' then
      return query
      select r.task_id from pgjobs.ready as r
      where r.job_id = any (generic_homes.job_ids) and r.task_id < generic_homes.before
      union all
      select s.task_id from pgjobs.scheduled as s
      where s.job_id = any (generic_homes.job_ids) and s.task_id < generic_homes.before;
    when 'failed', 'cancelled' then
      return query
      select o.task_id from pgjobs.outcomes as o
      where o.status = generic_homes.status and o.status <> 'completed'
        and o.job_id = any (generic_homes.job_ids) and o.task_id < generic_homes.before
      union all
      select i.task_id from pgjobs.ignored as i
      where generic_homes.status = 'cancelled'
        and i.job_id = any (generic_homes.job_ids) and i.task_id < generic_homes.before;
    else
      return;
  end case;
end
$$;

COMMENT ON FUNCTION pgjobs.generic_homes(status text, job_ids integer[], before bigint) IS 'Tasks with a status of the generic job manager, from where they live. Example: select * from pgjobs.generic_homes(''queued'', array[1], 1000000)';

CREATE FUNCTION pgjobs.redact_document(document jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
declare
  v_text text := document::text;
begin
  -- One so short has no text that would be cut.
  if length(v_text) <= 8000 and pgjobs.is_harmless(v_text) then
    return document;
  end if;
  case jsonb_typeof(document)
    when 'string' then
      return to_jsonb(pgjobs.redact(document #>> '{}'));
    when 'array' then
      return (
        select coalesce(jsonb_agg(pgjobs.redact_document(e.item) order by e.place), '[]')
        from jsonb_array_elements(document) with ordinality as e (item, place)
      );
    when 'object' then
      return (
        select coalesce(jsonb_object_agg(m.name, case
          when m.name ~* '(pass(word|wd|phrase)|pwd|secret|token|(api|access)[_-]?key|signature|credential|authorization)s?$'
            then to_jsonb('…'::text)
          else pgjobs.redact_document(m.value)
        end), '{}')
        from jsonb_each(document) as m (name, value)
      );
    else
      return document;
  end case;
end
$_$;

COMMENT ON FUNCTION pgjobs.redact_document(document jsonb) IS 'A document without credentials. Example: select pgjobs.redact_document(''{"base_url": "https://user:secret@host/"}'')';

CREATE FUNCTION pgjobs.redact_line(message text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return left(
    trim(regexp_replace(pgjobs.redact(redact_line.message), '[\u0001-\u0020\u007f-\u00a0\u2028\u2029]+', ' ', 'g')), 500
  );
end
$$;

COMMENT ON FUNCTION pgjobs.redact_line(message text) IS 'A text without credentials, in one short line. Example: select pgjobs.redact_line(E''first\nsecond'')';

CREATE VIEW pgjobs.incomplete_cleanup_tasks AS
 SELECT ((t.payload ->> 'run_id'::text))::uuid AS run_id,
    ((t.payload ->> 'job_id'::text))::uuid AS job_id,
    (t.payload ->> 'job_name'::text) AS job_name,
    (t.payload ->> 'node_id'::text) AS node_id,
    ((t.payload -> 'target'::text) ->> 'type'::text) AS target_type,
    pgjobs.redact_document(jsonb_build_object('node_id', (t.payload -> 'node_id'::text), 'target', (t.payload -> 'target'::text))) AS target_snapshot_json,
        CASE
            WHEN (o.status = 'completed'::text) THEN 'done'::text
            WHEN (o.task_id IS NOT NULL) THEN 'abandoned'::text
            WHEN (l.task_id IS NOT NULL) THEN 'running'::text
            WHEN (i.task_id IS NOT NULL) THEN 'ignored'::text
            WHEN (COALESCE((s.attempt)::integer, (r.attempt)::integer, (b.attempt)::integer, 0) = 0) THEN 'queued'::text
            WHEN (a.error_kind = ANY (ARRAY['auth'::text, 'config'::text])) THEN 'blocked'::text
            ELSE 'retrying'::text
        END AS status,
    COALESCE((o.attempt)::integer, (l.attempt)::integer, (i.attempt)::integer, (s.attempt)::integer, (r.attempt)::integer, (b.attempt)::integer, 0) AS attempts,
    t.created_at,
    GREATEST(t.created_at, a.ended_at, l.claimed_at, o.ended_at, i.ignored_at) AS updated_at,
    COALESCE(l.claimed_at, o.claimed_at, a.claimed_at) AS last_attempt_at,
    COALESCE(s.run_at, r.due_at, b.due_at) AS next_attempt_at,
        CASE
            WHEN (o.task_id IS NOT NULL) THEN o.error_kind
            WHEN (COALESCE((l.attempt - 1), (i.attempt)::integer, (s.attempt)::integer, (r.attempt)::integer, (b.attempt)::integer) > 0) THEN a.error_kind
            ELSE NULL::text
        END AS last_error_kind,
    pgjobs.redact_line(
        CASE
            WHEN (o.task_id IS NOT NULL) THEN o.error
            WHEN (COALESCE((l.attempt - 1), (i.attempt)::integer, (s.attempt)::integer, (r.attempt)::integer, (b.attempt)::integer) > 0) THEN a.error
            ELSE NULL::text
        END) AS last_error,
    i.ignored_at,
    i.actor AS ignored_by_user_id,
    pgjobs.redact_line(i.reason) AS ignore_reason,
    t.id AS task_id
   FROM ((((((((pgjobs.jobs j
     JOIN pgjobs.tasks t ON (((t.room = '@internal'::text) AND (t.job_id = j.id))))
     LEFT JOIN pgjobs.outcomes o ON ((o.task_id = t.id)))
     LEFT JOIN pgjobs.leases l ON ((l.task_id = t.id)))
     LEFT JOIN pgjobs.ignored i ON ((i.task_id = t.id)))
     LEFT JOIN pgjobs.scheduled s ON ((s.task_id = t.id)))
     LEFT JOIN pgjobs.ready r ON (((r.job_id = t.job_id) AND (r.priority = t.priority) AND (r.due_at = t.created_at) AND (r.task_id = t.id))))
     LEFT JOIN pgjobs.ready b ON (((b.task_id = t.id) AND b.is_again)))
     LEFT JOIN LATERAL ( SELECT e.error,
            e.error_kind,
            e.claimed_at,
            e.ended_at
           FROM pgjobs.attempts e
          WHERE (e.task_id = t.id)
          ORDER BY e.id DESC
         LIMIT 1) a ON (true))
  WHERE (j.full_name = '@internal:maintenance:incomplete-cleanup'::text);

COMMENT ON VIEW pgjobs.incomplete_cleanup_tasks IS 'What is left of runs that did not complete, and how its removal goes. Example: select run_id, status, last_error from pgjobs.incomplete_cleanup_tasks where status = ''blocked''';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.run_id IS 'The run: public id of the task that did not complete.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.job_id IS 'Public id of its job.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.job_name IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.node_id IS 'The machine whose place it wrote to.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.target_type IS 'local_dir, webdav or a type of your own.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.target_snapshot_json IS 'Where it wrote, redacted.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.status IS 'queued (never tried), running, retrying, blocked (credentials or configuration), done, ignored or abandoned.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.attempts IS 'Attempts so far, the present one included.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.created_at IS 'When it was found.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.updated_at IS 'When it last changed.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.last_attempt_at IS 'When the last attempt began.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.next_attempt_at IS 'When the next attempt is due.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.last_error_kind IS 'network, http, io, auth, config, unknown or lease_expired.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.last_error IS 'What the last attempt failed with, one line, redacted.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.ignored_at IS 'Since when it is ignored.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.ignored_by_user_id IS 'Who ignored it.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.ignore_reason IS 'Why.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_tasks.task_id IS 'Number of the clean-up task.';

CREATE FUNCTION pgjobs.get_cleanup(run_id uuid) RETURNS SETOF pgjobs.incomplete_cleanup_tasks
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query select c.* from pgjobs.shown_cleanups(array[pgjobs.find_cleanup(get_cleanup.run_id)]) as c;
end
$$;

COMMENT ON FUNCTION pgjobs.get_cleanup(run_id uuid) IS 'The clean-up task of a run. Example: select status, last_error from pgjobs.get_cleanup(''<run id>'')';

CREATE FUNCTION pgjobs.get_generic_job(task_id bigint DEFAULT NULL::bigint, task_uuid uuid DEFAULT NULL::uuid, owner_user_id text DEFAULT NULL::text, project_id bigint DEFAULT NULL::bigint) RETURNS SETOF pgjobs.generic_jobs
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
begin
  return query
  select g.*
  from pgjobs.generic_jobs as g
  where g.id = coalesce(get_generic_job.task_id, pgjobs.task_id(get_generic_job.task_uuid))
    and (get_generic_job.owner_user_id is null or g.owner_user_id = get_generic_job.owner_user_id)
    and (get_generic_job.project_id is null or g.project_id = get_generic_job.project_id);
  if not found then
    perform pgjobs.refuse('task-not-found',
      format('Task %s does not exist', coalesce(get_generic_job.task_id::text, get_generic_job.task_uuid::text)));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.get_generic_job(task_id bigint, task_uuid uuid, owner_user_id text, project_id bigint) IS 'One task in the generic manager''s words. Example: select status, payload, result from pgjobs.get_generic_job(42)';

CREATE FUNCTION pgjobs.get_job(job text, room text DEFAULT NULL::text) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select v.*
  from pgjobs.job as v
  where v.id = (pgjobs.find_job(get_job.job)).id
    and (get_job.room is null or (v.deleted_at is null and pgjobs.is_visible(v.room, get_job.room)));
  if not found then
    perform pgjobs.refuse('job-not-found', format('Job %s does not exist', get_job.job),
      'It was retired, or belongs to another room.');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.get_job(job text, room text) IS 'One job by address, number or public id. Example: select * from pgjobs.get_job(''@global:modifiers:Rotate'')';

CREATE FUNCTION pgjobs.get_job_target(job text) RETURNS TABLE(job_name text, node text, job_target jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs.find_job(get_job_target.job);
begin
  return query
  select v_job.full_name, g.node_id, pgjobs.redact_document(g.target)
  from pgjobs.targets as g
  where g.job_id = v_job.id and g.target is not null;
end
$$;

COMMENT ON FUNCTION pgjobs.get_job_target(job text) IS 'Where the runs of a job write. Example: select * from pgjobs.get_job_target(''lab:backups:nightly'')';

CREATE FUNCTION pgjobs.get_provider(provider text, room text DEFAULT NULL::text, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS SETOF pgjobs.providers
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return next pgjobs.find_provider(get_provider.provider, get_provider.room, get_provider.actor, get_provider.is_superuser);
end
$$;

COMMENT ON FUNCTION pgjobs.get_provider(provider text, room text, actor text, is_superuser boolean) IS 'One provider. Example: select id, schema from pgjobs.get_provider(''@global:filesystem:local'')';

CREATE FUNCTION pgjobs.get_reads(keys text[]) RETURNS TABLE(key text, data bytea)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query
  select r.key, r.data from pgjobs.reads as r where r.key = any (get_reads.keys) and r.expires_at > pgjobs.now();
end
$$;

COMMENT ON FUNCTION pgjobs.get_reads(keys text[]) IS 'Answers kept under some keys. Example: select key, length(data) from pgjobs.get_reads(array[''<key>''])';

CREATE FUNCTION pgjobs.upcoming_runs(cron text, every interval, timezone text, first timestamp with time zone, quantity integer) RETURNS timestamp with time zone[]
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_run timestamptz := coalesce(first, pgjobs.next_run(cron, every, timezone, null, pgjobs.now()));
  v_runs timestamptz[] := '{}';
begin
  while v_run is not null and cardinality(v_runs) < quantity loop
    v_runs := v_runs || v_run;
    v_run := pgjobs.next_run(cron, every, timezone, v_run, v_run);
  end loop;
  return v_runs;
end
$$;

COMMENT ON FUNCTION pgjobs.upcoming_runs(cron text, every interval, timezone text, first timestamp with time zone, quantity integer) IS 'The next runs of a schedule. Example: select pgjobs.upcoming_runs(''@daily'', null, ''UTC'', null, 5)';

CREATE TABLE pgjobs.schedule_runs (
    schedule_id integer NOT NULL,
    id bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    task_id bigint,
    reason text,
    is_manual boolean DEFAULT false NOT NULL,
    CONSTRAINT runs_have_a_task_or_a_reason CHECK ((num_nonnulls(task_id, reason) = 1))
);

COMMENT ON TABLE pgjobs.schedule_runs IS 'The last fifty runs of each schedule.';

COMMENT ON COLUMN pgjobs.schedule_runs.schedule_id IS 'The schedule.';

COMMENT ON COLUMN pgjobs.schedule_runs.id IS 'In order of starting.';

COMMENT ON COLUMN pgjobs.schedule_runs.due_at IS 'When it was due.';

COMMENT ON COLUMN pgjobs.schedule_runs.task_id IS 'Its task.';

COMMENT ON COLUMN pgjobs.schedule_runs.reason IS 'Why there is none.';

COMMENT ON COLUMN pgjobs.schedule_runs.is_manual IS 'Whether somebody asked for it out of turn.';

CREATE VIEW pgjobs.schedule AS
 SELECT s.id,
    s.uuid,
    s.full_name,
    s.room,
    s.name,
    j.full_name AS job,
    s.cron,
    s.every,
    s.timezone,
    s.priority,
    s.max_attempts,
    s.owner,
    s.project,
    s.tags,
    s.missed,
    s.overlap,
    s.created_at,
    s.paused_at,
    s.next_run_at,
    s.last_run_at,
        CASE
            WHEN (s.paused_at IS NOT NULL) THEN 'paused'::text
            WHEN (j.deleted_at IS NOT NULL) THEN 'job retired'::text
            WHEN (j.archived_at IS NOT NULL) THEN 'job archived'::text
            WHEN (j.paused_at IS NOT NULL) THEN 'job paused'::text
            WHEN (s.next_run_at < (pgjobs.present() - '00:02:00'::interval)) THEN 'overdue'::text
            ELSE 'active'::text
        END AS state,
    ( SELECT COALESCE(jsonb_agg(jsonb_build_object('due_at', r.due_at, 'task_id', pgjobs.uuid_of(r.task_id, ( SELECT k.task_key
                   FROM pgjobs.secrets k)), 'reason', r.reason, 'is_manual', r.is_manual, 'status',
                CASE
                    WHEN (r.task_id IS NULL) THEN 'skipped'::text
                    ELSE COALESCE(( SELECT o.status
                       FROM pgjobs.outcomes o
                      WHERE (o.task_id = r.task_id)), ( SELECT
                            CASE
                                WHEN (l.started_at IS NULL) THEN 'claimed'::text
                                ELSE 'running'::text
                            END AS status
                       FROM pgjobs.leases l
                      WHERE (l.task_id = r.task_id)), ( SELECT 'ignored'::text AS status
                       FROM pgjobs.ignored i
                      WHERE (i.task_id = r.task_id)), ( SELECT 'pending'::text AS status
                       FROM pgjobs.tasks t
                      WHERE (t.id = r.task_id)), 'gone'::text)
                END) ORDER BY r.id DESC), '[]'::jsonb) AS "coalesce"
           FROM ( SELECT n.schedule_id,
                    n.id,
                    n.due_at,
                    n.task_id,
                    n.reason,
                    n.is_manual
                   FROM pgjobs.schedule_runs n
                  WHERE (n.schedule_id = s.id)
                  ORDER BY n.id DESC
                 LIMIT 10) r) AS recent,
    s.job_id,
    j.uuid AS job_uuid
   FROM (pgjobs.schedules s
     JOIN pgjobs.jobs j ON ((j.id = s.job_id)));

COMMENT ON VIEW pgjobs.schedule IS 'Every schedule, without its payload. Example: select full_name, job, cron, every, next_run_at, state from pgjobs.schedule';

COMMENT ON COLUMN pgjobs.schedule.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.schedule.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.schedule.full_name IS 'The address, room:name.';

COMMENT ON COLUMN pgjobs.schedule.room IS 'Where its tasks are submitted from.';

COMMENT ON COLUMN pgjobs.schedule.name IS 'What people call it.';

COMMENT ON COLUMN pgjobs.schedule.job IS 'Address of the job it runs.';

COMMENT ON COLUMN pgjobs.schedule.cron IS 'When, as five fields of cron.';

COMMENT ON COLUMN pgjobs.schedule.every IS 'Or how often.';

COMMENT ON COLUMN pgjobs.schedule.timezone IS 'Whose clocks cron goes by.';

COMMENT ON COLUMN pgjobs.schedule.priority IS 'Of its tasks: 1 (most urgent) to 10.';

COMMENT ON COLUMN pgjobs.schedule.max_attempts IS 'Of its tasks; empty: as many as the job says.';

COMMENT ON COLUMN pgjobs.schedule.owner IS 'Whose work its tasks are.';

COMMENT ON COLUMN pgjobs.schedule.project IS 'What its tasks belong to.';

COMMENT ON COLUMN pgjobs.schedule.tags IS 'Free words to find its tasks by.';

COMMENT ON COLUMN pgjobs.schedule.missed IS 'What becomes of runs that nobody was there to start: once, skip or each.';

COMMENT ON COLUMN pgjobs.schedule.overlap IS 'Whether a run may begin before the last one has ended.';

COMMENT ON COLUMN pgjobs.schedule.created_at IS 'When it was first registered.';

COMMENT ON COLUMN pgjobs.schedule.paused_at IS 'Set while it does not run.';

COMMENT ON COLUMN pgjobs.schedule.next_run_at IS 'When it runs next.';

COMMENT ON COLUMN pgjobs.schedule.last_run_at IS 'When its last run was due.';

COMMENT ON COLUMN pgjobs.schedule.state IS 'active; paused; overdue when nobody starts its runs; or what is with its job: job paused, job archived, job retired.';

COMMENT ON COLUMN pgjobs.schedule.recent IS 'Its last ten runs, the newest first, each with its task''s status, or why there is no task.';

COMMENT ON COLUMN pgjobs.schedule.job_id IS 'Number of its job.';

COMMENT ON COLUMN pgjobs.schedule.job_uuid IS 'Public id of its job.';

CREATE VIEW pgjobs.schedule_document AS
 SELECT v.id,
    v.uuid,
    v.full_name,
    v.room,
    v.name,
    v.job,
    v.cron,
    v.every,
    v.timezone,
    v.priority,
    v.max_attempts,
    v.owner,
    v.project,
    v.tags,
    v.missed,
    v.overlap,
    v.created_at,
    v.paused_at,
    v.next_run_at,
    v.last_run_at,
    v.state,
    v.recent,
    v.job_id,
    v.job_uuid,
    s.payload,
        CASE
            WHEN (s.paused_at IS NULL) THEN pgjobs.upcoming_runs(s.cron, s.every, s.timezone, s.next_run_at, 5)
            ELSE '{}'::timestamp with time zone[]
        END AS upcoming
   FROM (pgjobs.schedule v
     JOIN pgjobs.schedules s ON ((s.id = v.id)));

COMMENT ON VIEW pgjobs.schedule_document IS 'A schedule with its payload and its next five runs. Example: select payload, upcoming from pgjobs.get_schedule(''@global:nightly'')';

CREATE FUNCTION pgjobs.get_schedule(schedule text) RETURNS SETOF pgjobs.schedule_document
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_id integer := (pgjobs.find_schedule(get_schedule.schedule)).id;
begin
  return query select d.* from pgjobs.schedule_document as d where d.id = v_id;
end
$$;

COMMENT ON FUNCTION pgjobs.get_schedule(schedule text) IS 'One schedule with its payload and next runs. Example: select state, payload, upcoming from pgjobs.get_schedule(''@global:nightly'')';

CREATE VIEW pgjobs.task_document AS
 SELECT v.id,
    v.uuid,
    v.job,
    v.room,
    v.status,
    v.phase,
    v.priority,
    v.attempt,
    v.max_attempts,
    v.created_at,
    v.due_at,
    v.claimed_at,
    v.started_at,
    v.ended_at,
    v.until,
    v.worker_id,
    v.holder,
    v.error,
    v.error_kind,
    v.progress,
    v.cancel_requested_at,
    v.reason,
    v.submitter,
    v.owner,
    v.project,
    v.tags,
    v.idempotency_key,
    v.job_id,
    t.payload,
    o.result
   FROM ((pgjobs.task v
     JOIN pgjobs.tasks t ON ((t.id = v.id)))
     LEFT JOIN pgjobs.outcomes o ON ((o.task_id = v.id)));

COMMENT ON VIEW pgjobs.task_document IS 'A task with its payload and result. Example: select payload, result from pgjobs.get_task(42)';

CREATE FUNCTION pgjobs.get_task(task_id bigint DEFAULT NULL::bigint, task_uuid uuid DEFAULT NULL::uuid) RETURNS SETOF pgjobs.task_document
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_id bigint := coalesce(get_task.task_id, pgjobs.task_id(get_task.task_uuid));
begin
  return query
  select d.*
  from pgjobs.task_document as d
  where d.id = v_id;
  if not found then
    perform pgjobs.refuse('task-not-found',
      format('Task %s does not exist', coalesce(get_task.task_id::text, get_task.task_uuid::text)));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.get_task(task_id bigint, task_uuid uuid) IS 'One task with payload and result. Example: select status, payload, result from pgjobs.get_task(42)';

CREATE FUNCTION pgjobs.guard_table(relation text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  execute format(
    'create trigger only_verbs_change_rows before insert or update or delete on pgjobs.%I for each statement '
    'execute function pgjobs.refuse_strangers()', guard_table.relation
  );
  execute format(
    'create trigger nothing_is_truncated before truncate on pgjobs.%I for each statement '
    'execute function pgjobs.refuse_direct_change()', guard_table.relation
  );
end
$$;

COMMENT ON FUNCTION pgjobs.guard_table(relation text) IS 'Lets only verbs change the rows of a table. Example: see pgjobs.make_partition, which guards what it made';

CREATE FUNCTION pgjobs.heartbeat_and_show(worker_id uuid, actor text DEFAULT NULL::text) RETURNS TABLE(id uuid, last_heartbeat_at timestamp with time zone, task_uuid uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
  -- A statement of its own, so that the next one sees what it wrote.
  perform from pgjobs.heartbeat_worker(heartbeat_and_show.worker_id, heartbeat_and_show.actor);
  return query
  select w.id, w.last_heartbeat_at, pgjobs.task_uuid(l.task_id)
  from pgjobs.workers as w
  -- By the key: the pages of a busy table are mostly empty.
  left join pgjobs.leases as l on l.task_id > 0 and l.worker_id = w.id and l.cancel_requested_at is not null
  where w.id = heartbeat_and_show.worker_id;
end
$$;

COMMENT ON FUNCTION pgjobs.heartbeat_and_show(worker_id uuid, actor text) IS 'Keeps a worker alive and shows what it should stop. Example: select task_uuid from pgjobs.heartbeat_and_show(''<worker id>'')';

CREATE FUNCTION pgjobs.heartbeat_worker(worker_id uuid, actor text DEFAULT NULL::text) RETURNS SETOF pgjobs.workers
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  perform pgjobs.find_worker(heartbeat_worker.worker_id, heartbeat_worker.actor);
  return query
  update pgjobs.workers as w
  set last_heartbeat_at = pgjobs.now()
  where w.id = heartbeat_worker.worker_id
  returning w.*;
  -- A sweep may have taken it between the look and the update.
  if not found then
    perform pgjobs.find_worker(heartbeat_worker.worker_id);
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.heartbeat_worker(worker_id uuid, actor text) IS 'Keeps a worker alive. Example: select last_heartbeat_at from pgjobs.heartbeat_worker(''<worker id>'')';

CREATE FUNCTION pgjobs.held_slots(job_id integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
begin
  return (select count(*) from pgjobs.leases as l where l.job_id = held_slots.job_id and l.is_limited);
end
$$;

COMMENT ON FUNCTION pgjobs.held_slots(job_id integer) IS 'How many tasks of a limited job are claimed or running. Example: select pgjobs.held_slots(1)';

CREATE FUNCTION pgjobs.help(pattern text DEFAULT ''::text) RETURNS TABLE(kind text, name text, arguments text, says text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query
  select h.kind, h.name, h.arguments, h.says
  from (
    select
      'function' as kind, p.proname::text as name, pg_get_function_arguments(p.oid) as arguments,
      obj_description(p.oid, 'pg_proc') as says
    from pg_proc as p
    where p.pronamespace = to_regnamespace('pgjobs') and p.prosecdef
    union all
    select 'view', c.relname::text, null, obj_description(c.oid, 'pg_class')
    from pg_class as c
    where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v'
  ) as h
  where position(lower(help.pattern) in lower(h.name || ' ' || coalesce(h.says, ''))) > 0
  order by h.kind, h.name;
end
$$;

COMMENT ON FUNCTION pgjobs.help(pattern text) IS 'What there is. Example: select name, says from pgjobs.help(''retry'')';

CREATE FUNCTION pgjobs.histogram(buckets smallint[], quantities bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_counts bigint[] := array_fill(0::bigint, array[14]);
begin
  for v_place in 1..coalesce(cardinality(buckets), 0) loop
    v_counts[buckets[v_place] + 1] := v_counts[buckets[v_place] + 1] + quantities[v_place];
  end loop;
  return v_counts;
end
$$;

COMMENT ON FUNCTION pgjobs.histogram(buckets smallint[], quantities bigint[]) IS 'Counts by bucket. Example: select pgjobs.histogram(array[0, 4]::smallint[], array[90, 10])';

CREATE FUNCTION pgjobs.histogram_bounds() RETURNS double precision[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{0.01,0.05,0.1,0.5,1,2.5,5,10,30,60,300,900,3600}'::double precision[];

COMMENT ON FUNCTION pgjobs.histogram_bounds() IS 'Upper bounds, in seconds, of all buckets but the last. Example: select pgjobs.histogram_bounds()';

CREATE FUNCTION pgjobs.histogram_bucket(seconds double precision) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((13 - width_bucket((- seconds), '{-3600,-900,-300,-60,-30,-10,-5,-2.5,-1,-0.5,-0.1,-0.05,-0.01}'::double precision[])))::smallint;

COMMENT ON FUNCTION pgjobs.histogram_bucket(seconds double precision) IS 'The bucket of a duration, from 0. Example: select pgjobs.histogram_bucket(0.2)';

CREATE FUNCTION pgjobs.histogram_percentile(counts bigint[], share double precision) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_bounds double precision[] := pgjobs.histogram_bounds();
  v_sought double precision := 0;
  v_below double precision := 0;
  v_lower double precision;
begin
  for v_place in 1..cardinality(counts) loop
    v_sought := v_sought + share * counts[v_place];
  end loop;
  for v_place in 1..cardinality(counts) loop
    if counts[v_place] > 0 and v_below + counts[v_place] >= v_sought then
      v_lower := coalesce(v_bounds[v_place - 1], 0);
      -- Whatever took longer than the last bound counts as that.
      return v_lower + (v_sought - v_below) / counts[v_place] * (coalesce(v_bounds[v_place], v_lower) - v_lower);
    end if;
    v_below := v_below + counts[v_place];
  end loop;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.histogram_percentile(counts bigint[], share double precision) IS 'A percentile, in seconds, from the counts of pgjobs.histogram_bounds(). Example: select pgjobs.histogram_percentile(array[0, 90, 10], 0.95)';

CREATE FUNCTION pgjobs.ignore_cleanup(run_id uuid, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.incomplete_cleanup_tasks
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_task bigint := pgjobs.find_cleanup(ignore_cleanup.run_id);
begin
  begin
    perform from pgjobs.ignore_task(v_task, ignore_cleanup.actor, ignore_cleanup.reason);
  exception when sqlstate 'PJ006' then
    perform pgjobs.refuse_cleanup_step(v_task, 'ignore', 'queued, retrying, blocked and abandoned');
  end;
  return query select c.* from pgjobs.incomplete_cleanup_tasks as c where c.task_id = v_task;
end
$$;

COMMENT ON FUNCTION pgjobs.ignore_cleanup(run_id uuid, actor text, reason text) IS 'Leaves what a run left behind. Example: select status from pgjobs.ignore_cleanup(''<run id>'', current_user, ''the disk is gone'')';

CREATE FUNCTION pgjobs.ignore_task(task_id bigint, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.task
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  perform from pgjobs.ignore_tasks(array[ignore_task.task_id], actor => ignore_task.actor, reason => ignore_task.reason) as a
  where a.problem is not null;
  if found then
    perform pgjobs.refuse_step(ignore_task.task_id, 'ignore', 'pending and failed');
  end if;
  return query select t.* from pgjobs.task as t where t.id = ignore_task.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.ignore_task(task_id bigint, actor text, reason text) IS 'Puts a task aside. Example: select status from pgjobs.ignore_task(42, actor => current_user, reason => ''target is gone'')';

CREATE FUNCTION pgjobs.ignore_tasks(task_ids bigint[] DEFAULT NULL::bigint[], task_uuids uuid[] DEFAULT NULL::uuid[], actor text DEFAULT NULL::text, reason text DEFAULT NULL::text, dry_run boolean DEFAULT false) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_named bigint[] := pgjobs.named_tasks(ignore_tasks.task_ids, ignore_tasks.task_uuids);
  v_left bigint[] := pgjobs.in_order(v_named);
  v_reason text := pgjobs.redact(ignore_tasks.reason);
  v_done bigint[] := '{}';
begin
  if length(v_reason) > 200 then
    perform pgjobs.refuse('validation-error', 'A reason has at most 200 characters');
  end if;
  if ignore_tasks.dry_run then
    return query select j.* from pgjobs.judged_step(v_named, 'ignore') as j;
    return;
  end if;
  -- A retry may bring one back into line between the two looks.
  for v_try in 1..3 loop
    with aside as (
      insert into pgjobs.ignored (task_id, job_id, attempt, ignored_at, actor, reason)
      select t.task_id, t.job_id, t.attempt, v_now, ignore_tasks.actor, v_reason
      from (
        select p.task_id, p.job_id, p.attempt from pgjobs.take_pending(v_left) as p
        union all
        select o.task_id, o.job_id, o.attempt from pgjobs.take_outcomes(v_left, array['failed']) as o
      ) as t
      returning task_id
    )
    select v_done || array_agg(a.task_id) into v_done from aside as a;
    v_left := pgjobs.without(v_left, v_done);
    exit when v_left = '{}';
  end loop;
  perform pgjobs.record_actions(v_done, 'ignored', 'ignored', ignore_tasks.actor, v_reason, v_now);
  return query select a.* from pgjobs.answered_step(v_named, v_done) as a;
end
$$;

COMMENT ON FUNCTION pgjobs.ignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) IS 'Puts tasks aside. Example: select * from pgjobs.ignore_tasks(array[41, 42], actor => current_user, reason => ''target is gone'')';

CREATE FUNCTION pgjobs.in_order(task_ids bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return array(select distinct i.id from unnest(in_order.task_ids) as i (id) where i.id is not null order by i.id);
end
$$;

COMMENT ON FUNCTION pgjobs.in_order(task_ids bigint[]) IS 'Tasks in order of number. Example: select pgjobs.in_order(array[2, 1, 2])';

CREATE FUNCTION pgjobs.inspect_task(task_uuid uuid) RETURNS TABLE(document jsonb, payload jsonb, result jsonb, queue_position integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_id bigint := pgjobs.task_id(inspect_task.task_uuid);
begin
  if not exists (select from pgjobs.tasks as t where t.id = v_id) then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', inspect_task.task_uuid));
  end if;
  return query
  select
    pgjobs.seen_task(v), t.payload, o.result,
    case when v.status = 'pending' then pgjobs.queue_position(v.id, v.job_id, v.priority) end
  from pgjobs.task as v
  join pgjobs.tasks as t on t.id = v.id
  left join pgjobs.outcomes as o on o.task_id = v.id
  where v.id = v_id;
end
$$;

COMMENT ON FUNCTION pgjobs.inspect_task(task_uuid uuid) IS 'One task as the console shows it. Example: select document ->> ''status'', payload from pgjobs.inspect_task(pgjobs.task_uuid(42))';

CREATE FUNCTION pgjobs.invalidate_provider(provider text, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS TABLE(forgotten integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_provider pgjobs.providers := pgjobs.find_provider(
    invalidate_provider.provider, null, invalidate_provider.actor, invalidate_provider.is_superuser
  );
  v_keys text := 'provider-result:' || v_provider.id || ':';
  v_forgotten integer;
begin
  delete from pgjobs.reads_in_flight as f where starts_with(f.key, v_keys);
  delete from pgjobs.reads as r where starts_with(r.key, v_keys);
  get diagnostics v_forgotten = row_count;
  insert into pgjobs.events (at, kind, room, actor, message)
  values (pgjobs.now(), 'provider_invalidated', v_provider.room, invalidate_provider.actor, v_provider.full_name);
  return query select v_forgotten;
end
$$;

COMMENT ON FUNCTION pgjobs.invalidate_provider(provider text, actor text, is_superuser boolean) IS 'Forgets what a provider has answered. Example: select forgotten from pgjobs.invalidate_provider(''lab:files:disk'')';

CREATE FUNCTION pgjobs.is_backlog(few integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET enable_seqscan TO 'on'
    AS $$
begin
  return is_backlog.few < (select count(*) from (select from pgjobs.ready limit is_backlog.few + 1) as r)
    + (select count(*) from (select from pgjobs.scheduled limit is_backlog.few + 1) as s);
end
$$;

COMMENT ON FUNCTION pgjobs.is_backlog(few integer) IS 'Whether more tasks are pending than that. Example: select pgjobs.is_backlog(20000)';

CREATE FUNCTION pgjobs.is_cron_day(day date, days integer[], weekdays integer[], either_day boolean) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_last date := date_trunc('month', day) + interval '1 month - 1 day';
  v_day integer := extract(day from day);
  v_weekday integer := extract(dow from day);
  v_is_day boolean := v_day = any (days)
    or (32 = any (days) and day = v_last)
    or (33 = any (days) and day = v_last - greatest(extract(isodow from v_last)::integer - 5, 0));
  v_is_weekday boolean := v_weekday = any (weekdays)
    or (v_weekday = 0 and 7 = any (weekdays))
    or 100 + 10 * v_weekday + (v_day + 6) / 7 = any (weekdays)
    or (day + 7 > v_last and 109 + 10 * v_weekday = any (weekdays));
begin
  return case when either_day then v_is_day or v_is_weekday else v_is_day and v_is_weekday end;
end
$$;

COMMENT ON FUNCTION pgjobs.is_cron_day(day date, days integer[], weekdays integer[], either_day boolean) IS 'Whether a day is meant by cron. Example: select pgjobs.is_cron_day(''2028-02-29'', array[32], array[1, 2], false)';

CREATE FUNCTION pgjobs.is_harmless(message text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN (message !~* '://|[^ \t\n\r\f\v"''<>/@]@|pass|pwd|secret|token|key|signature|credential|authorization|bearer|basic|pg[jlc]_|eyJ'::text);

COMMENT ON FUNCTION pgjobs.is_harmless(message text) IS 'Whether a text gives no access for certain. Example: select pgjobs.is_harmless(''No route to host'')';

CREATE FUNCTION pgjobs.is_over(parent text, partition text, lower bigint, upper bigint) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
  v_is_used boolean;
begin
  execute format('select exists (select from pgjobs.%I)', is_over.partition) into v_is_used;
  return not v_is_used and (is_over.parent <> 'outcomes' or not exists (
    select from pgjobs.tasks as t where t.id >= is_over.lower and t.id < is_over.upper
  ));
end
$$;

COMMENT ON FUNCTION pgjobs.is_over(parent text, partition text, lower bigint, upper bigint) IS 'Whether a partition is empty for good. Example: select pgjobs.is_over(''events'', ''events_from_0'', 0, 250000)';

CREATE FUNCTION pgjobs.is_own_failure(status text, error_kind text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN ((status = 'failed'::text) AND (COALESCE(error_kind, ''::text) <> ALL (ARRAY['lease_expired'::text, 'worker_disconnected'::text, 'internal_timeout'::text])));

COMMENT ON FUNCTION pgjobs.is_own_failure(status text, error_kind text) IS 'Whether an attempt was failed by its holder. Example: select pgjobs.is_own_failure(''failed'', ''network'')';

CREATE FUNCTION pgjobs.is_passing(problem text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  return left(problem, 2) in ('25', '40', '53', '55', '57', '58', 'XX');
end
$$;

COMMENT ON FUNCTION pgjobs.is_passing(problem text) IS 'Whether an error passes by itself. Example: select pgjobs.is_passing(''40P01'')';

CREATE FUNCTION pgjobs.is_said_before(task_id bigint, task_uuid uuid, held uuid, token uuid, old_status text, new_status text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if token is null then
    return false;
  elsif token = held then
    return old_status = 'running' and new_status = 'running';
  elsif old_status = new_status and exists (
    select from pgjobs.outcomes as o where o.task_id = is_said_before.task_id and o.token = is_said_before.token
  ) then
    return true;
  -- What was failed may be tried again since, or have ended otherwise.
  elsif new_status = 'failed' and exists (
    select from pgjobs.attempts as a
    where a.task_id = is_said_before.task_id and a.token = is_said_before.token
      and pgjobs.is_own_failure(a.status, a.error_kind)
  ) then
    return true;
  end if;
  perform pgjobs.refuse('lease-lost', format('The lease of task %s is lost', task_uuid),
    'It lapsed or passed to another worker.');
  return false;
end
$$;

COMMENT ON FUNCTION pgjobs.is_said_before(task_id bigint, task_uuid uuid, held uuid, token uuid, old_status text, new_status text) IS 'Whether an update repeats another; refuses lost leases. Example: see pgjobs.update_task, which calls it first';

CREATE FUNCTION pgjobs.is_under_way(task_id bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return pgjobs.status_of(is_under_way.task_id) in ('pending', 'claimed', 'running');
end
$$;

COMMENT ON FUNCTION pgjobs.is_under_way(task_id bigint) IS 'Whether a task has not ended yet. Example: select pgjobs.is_under_way(42)';

CREATE FUNCTION pgjobs.is_visible(room text, from_room text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN ((room = ANY (ARRAY[from_room, '@global'::text])) OR ((room = '@internal'::text) AND (from_room <> '@global'::text)));

COMMENT ON FUNCTION pgjobs.is_visible(room text, from_room text) IS 'Whether a room''s jobs are visible from another. Example: select pgjobs.is_visible(''@global'', ''lab-7'')';

CREATE FUNCTION pgjobs.jobs_status(of_jobs integer[] DEFAULT NULL::integer[], with_times boolean DEFAULT true) RETURNS TABLE(job text, state text, workers integer, waiting bigint, oldest_wait interval, scheduled bigint, claimed bigint, running bigint, overdue bigint, completed_last_hour bigint, failed_last_hour bigint, cancelled_last_hour bigint, retried_last_hour bigint, wait_p50 double precision, wait_p95 double precision, run_p50 double precision, run_p95 double precision, job_id integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_jobs integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.deleted_at is null and (jobs_status.of_jobs is null or j.id = any (jobs_status.of_jobs))
  );
begin
  return query
  select
    j.full_name,
    case
      when j.archived_at is not null then 'archived'
      when j.paused_at is not null then 'paused'
      else 'open'
    end,
    (
      select count(*)::integer
      from pgjobs.worker_jobs as l
      join pgjobs.workers as w on w.id = l.worker_id
      where l.job_id = j.id and w.last_heartbeat_at >= v_now - (select s.worker_timeout from pgjobs.settings as s)
    ),
    d.waiting, pgjobs.elapsed(d.oldest_at, v_now), d.scheduled, d.claimed, d.running, d.overdue,
    coalesce(h.completed, e.completed, 0), coalesce(h.failed, e.failed, 0),
    coalesce(h.cancelled, e.cancelled, 0), coalesce(h.retried, e.retried, 0),
    h.wait_p50, h.wait_p95, h.run_p50, h.run_p95, j.id
  from pgjobs.jobs as j
  join pgjobs.depths(v_jobs) as d on d.job_id = j.id
  left join pgjobs.endings(case when not jobs_status.with_times then v_jobs end, v_now - interval '1 hour') as e
    on e.job_id = j.id
  left join pgjobs.rates(case when jobs_status.with_times then v_jobs end, v_now - interval '1 hour') as h
    on h.job_id = j.id
  order by j.full_name;
end
$$;

COMMENT ON FUNCTION pgjobs.jobs_status(of_jobs integer[], with_times boolean) IS 'Every job with what waits, runs and ended. Example: select job, state, waiting, running from pgjobs.jobs_status()';

CREATE FUNCTION pgjobs.jobs_to_list(room text, job text, status text) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job pgjobs.jobs;
begin
  perform pgjobs.check_room(room);
  if status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored') then
    perform pgjobs.refuse('validation-error', format('Unknown status %s', quote_literal(status)));
  end if;
  if job is null then
    return pgjobs.jobs_used_in(room);
  end if;
  v_job := pgjobs.find_job(job);
  if not pgjobs.is_visible(v_job.room, jobs_to_list.room)
    and not exists (
      select from pgjobs.tasks as t where t.room = jobs_to_list.room and t.job_id = v_job.id
    )
  then
    perform pgjobs.refuse('job-not-found', format('Job %s does not exist', job), 'It belongs to another room.');
  end if;
  return array[v_job.id];
end
$$;

COMMENT ON FUNCTION pgjobs.jobs_to_list(room text, job text, status text) IS 'The jobs a list of tasks is about. Example: select pgjobs.jobs_to_list(''lab-7'', null, ''failed'')';

CREATE FUNCTION pgjobs.jobs_used_in(room text) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return array(
    with recursive used as (
      (
        select t.job_id from pgjobs.tasks as t
        where t.room = jobs_used_in.room
        order by t.job_id
        limit 1
      )
      union all
      select (
        select t.job_id from pgjobs.tasks as t
        where t.room = jobs_used_in.room and t.job_id > u.job_id
        order by t.job_id
        limit 1
      )
      from used as u
      where u.job_id is not null
    )
    select u.job_id from used as u where u.job_id is not null
  );
end
$$;

COMMENT ON FUNCTION pgjobs.jobs_used_in(room text) IS 'Jobs with tasks submitted from a room. Example: select pgjobs.jobs_used_in(''lab-7'')';

CREATE FUNCTION pgjobs.jobs_with_holders(now timestamp with time zone) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
begin
  return array(
    select j.id
    from pgjobs.waiting_marks as m
    cross join unnest(m.job_ids) as j (id)
    where m.since > jobs_with_holders.now - interval '90 seconds'
    union
    -- By the key: the pages of a busy table are mostly empty.
    select l.job_id from pgjobs.leases as l where l.task_id > 0 and l.worker_id is null
    union
    select o.job_id
    from (
      select n.job_id, n.holder, n.worker_id, n.status, n.ended_at from pgjobs.outcomes as n order by n.task_id desc limit 1000
    ) as o
    where o.holder is not null and o.worker_id is null and o.status <> 'cancelled'
      and o.ended_at > jobs_with_holders.now - interval '10 minutes'
  );
end
$$;

COMMENT ON FUNCTION pgjobs.jobs_with_holders(now timestamp with time zone) IS 'Jobs whose tasks somebody takes without being registered. Example: select pgjobs.jobs_with_holders(pgjobs.now())';

CREATE FUNCTION pgjobs.judge_update(task_id bigint, task_uuid uuid, status text, error text, result jsonb, token uuid, actor text, is_superuser boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  v_token uuid;
  v_task record;
  v_problem text;
begin
  select l.token into v_token from pgjobs.leases as l where l.task_id = judge_update.task_id for update;
  select t.id, t.job_id, t.submitter, t.status, t.worker_id into v_task
  from pgjobs.task as t where t.id = judge_update.task_id;
  if v_task.id is null then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', judge_update.task_uuid));
  end if;
  -- The lease before its owner: a worker whose task passed on to somebody else's is told that.
  if pgjobs.is_said_before(
    judge_update.task_id, judge_update.task_uuid, v_token, judge_update.token, v_task.status, judge_update.status
  ) then
    return;
  end if;
  perform pgjobs.check_updater(
    judge_update.task_uuid, v_task.worker_id, v_task.submitter, judge_update.actor, judge_update.is_superuser
  );
  perform pgjobs.check_update(v_task.status, judge_update.status);
  v_problem := case judge_update.status
    when 'running' then (select s.problem from pgjobs.start_tasks(array[v_task.id], array[v_token]) as s)
    when 'completed' then (
      select c.problem from pgjobs.complete_tasks(
        array[v_task.id], array[v_token], case when judge_update.result is not null then array[judge_update.result] end
      ) as c
    )
    when 'failed' then (
      select f.problem
      from pgjobs.fail_tasks(array[v_task.id], array[v_token], array[coalesce(judge_update.error, 'unknown error')]) as f
    )
    when 'cancelled' then (
      select null from pgjobs.cancel_task(v_task.id, judge_update.error, v_task.status <> 'pending', judge_update.actor)
    )
  end;
  if v_problem is not null then
    perform pgjobs.refuse('lease-lost', format('The lease of task %s is lost', judge_update.task_uuid));
  end if;
  if judge_update.status <> 'running' then
    perform pgjobs.retire_orphans(array[v_task.job_id], pgjobs.now());
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.judge_update(task_id bigint, task_uuid uuid, status text, error text, result jsonb, token uuid, actor text, is_superuser boolean) IS 'Takes a task to another status, or refuses. Example: see pgjobs.update_task, which calls it for all but the usual steps';

CREATE FUNCTION pgjobs.judged_step(task_ids bigint[], step text) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select
    i.id, t.status,
    case
      when t.id is null then 'PJ002'
      when judged_step.step <> all (pgjobs.allowed_steps(t.status, t.phase)) then 'PJ006'
    end
  from unnest(judged_step.task_ids) with ordinality as i (id, place)
  left join pgjobs.task as t on t.id = i.id
  order by i.place;
end
$$;

COMMENT ON FUNCTION pgjobs.judged_step(task_ids bigint[], step text) IS 'How a step would go for each task. Example: select * from pgjobs.judged_step(array[41, 42], ''retry'')';

CREATE FUNCTION pgjobs.keep_what_is_shown() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if pg_is_in_recovery() or pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() then
    return;
  end if;
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'local', true);
  end if;
  perform pg_logical_emit_message(true, 'pgjobs', 'read');
end
$$;

COMMENT ON FUNCTION pgjobs.keep_what_is_shown() IS 'Puts on the disk what a reader of events has seen. Example: see pgjobs.list_events, which calls it last';

CREATE FUNCTION pgjobs.lane_heads(job_ids integer[], now timestamp with time zone, ignore_floors boolean, is_choosy boolean) RETURNS TABLE(job_id integer, priority smallint, due_at timestamp with time zone, task_id bigint, lane text, floor bigint[], until_at timestamp with time zone, until_id bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs.clock_ms();
  -- No floor is older than any clock.
  v_trusted bigint := case when lane_heads.ignore_floors then 9223372036854775807 else v_clock end;
begin
  select a.job_id, a.priority into job_id, priority from pgjobs.lanes as a where a.job_id = any (lane_heads.job_ids) limit 1;
  if job_id is null then
    return;
  end if;
  if is_choosy or exists (
    select from pgjobs.lanes as a
    where a.job_id = any (lane_heads.job_ids) and (a.job_id, a.priority) <> (lane_heads.job_id, lane_heads.priority)
  ) then
    return query select r.* from pgjobs.ranked_heads(lane_heads.job_ids, lane_heads.now, v_clock, v_trusted) as r;
    perform pgjobs.note_look(v_clock);
    return;
  end if;
  lane := job_id || '_' || priority;
  floor := pgjobs.floor_get(lane, v_trusted);
  if floor is null then
    select r.due_at, r.task_id into due_at, task_id
    from pgjobs.ready as r
    where r.job_id = lane_heads.job_id and r.priority = lane_heads.priority
    order by r.due_at, r.task_id
    limit 1;
    perform pgjobs.note_look(v_clock);
    floor := array[null, task_id, pgjobs.next_look(v_clock)];
    perform pgjobs.floor_at(lane, due_at, task_id, lane_heads.now, floor[3]);
    if task_id is null then
      return;
    end if;
  else
    due_at := pgjobs.moment(floor[1]);
    task_id := floor[2];
  end if;
  until_at := 'infinity';
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.lane_heads(job_ids integer[], now timestamp with time zone, ignore_floors boolean, is_choosy boolean) IS 'Where to take from, best lane first. Example: select * from pgjobs.lane_heads(array[1], pgjobs.now(), true, false)';

CREATE FUNCTION pgjobs.last_counted_place() RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN 1000;

COMMENT ON FUNCTION pgjobs.last_counted_place() IS 'Places in line are counted up to here. Example: select pgjobs.last_counted_place()';

CREATE FUNCTION pgjobs.last_counted_row() RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN 10000;

COMMENT ON FUNCTION pgjobs.last_counted_row() IS 'Totals are exact up to here. Example: select pgjobs.last_counted_row()';

CREATE FUNCTION pgjobs.last_task_before(moment timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
  v_low bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id limit 1), 0) - 1;
  v_high bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id desc limit 1), 0);
  v_middle bigint;
begin
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low + 1) / 2;
    if (select t.created_at from pgjobs.tasks as t where t.id >= v_middle order by t.id limit 1) < moment then
      v_low := v_middle;
    else
      v_high := v_middle - 1;
    end if;
  end loop;
  return v_low;
end
$$;

COMMENT ON FUNCTION pgjobs.last_task_before(moment timestamp with time zone) IS 'About the last task submitted before a moment. Example: select pgjobs.last_task_before(pgjobs.now() - interval ''30 days'')';

CREATE FUNCTION pgjobs.lease_until(lease interval, now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if lease <= interval '0' then
    perform pgjobs.refuse('validation-error', 'A lease must be longer than zero', format('Got %s.', lease));
  end if;
  return (select pgjobs.capped_until(lease_until.lease, s.max_lease, lease_until.now) from pgjobs.settings as s);
end
$$;

COMMENT ON FUNCTION pgjobs.lease_until(lease interval, now timestamp with time zone) IS 'When a lease ends, capped. Example: select pgjobs.lease_until(''30 seconds'', pgjobs.now())';

CREATE FUNCTION pgjobs.limit_job(job text, max_running integer DEFAULT NULL::integer, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs.find_job(limit_job.job);
begin
  perform pgjobs.check_limit(limit_job.max_running);
  update pgjobs.jobs as j set max_running = limit_job.max_running where j.id = v_job.id;
  perform pgjobs.count_unlimited();
  insert into pgjobs.events (at, kind, job_id, room, actor, message, fields)
  values (
    pgjobs.now(), 'job_limited', v_job.id, v_job.room, limit_job.actor, pgjobs.redact_line(limit_job.reason),
    jsonb_build_object('max_running', limit_job.max_running)
  );
  perform pgjobs.wake(v_job.id, 100);
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

COMMENT ON FUNCTION pgjobs.limit_job(job text, max_running integer, actor text, reason text) IS 'Limits how many tasks of a job run at once. Example: select * from pgjobs.limit_job(''@global:modifiers:Rotate'', 3)';

CREATE FUNCTION pgjobs.list_attempts(task_id bigint) RETURNS TABLE(attempt smallint, status text, worker_id uuid, holder text, claimed_at timestamp with time zone, started_at timestamp with time zone, ended_at timestamp with time zone, error text, error_kind text, reason text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  if not exists (select from pgjobs.tasks as t where t.id = list_attempts.task_id) then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', list_attempts.task_id));
  end if;
  return query
  select a.attempt, a.status, a.worker_id, a.holder, a.claimed_at, a.started_at, a.ended_at, a.error, a.error_kind, a.reason
  from (select h.* from pgjobs.attempts as h where h.task_id = list_attempts.task_id order by h.id) as a
  union all
  select o.attempt, o.status, o.worker_id, o.holder, o.claimed_at, o.started_at, o.ended_at, o.error, o.error_kind, o.reason
  from pgjobs.outcomes as o
  where o.task_id = list_attempts.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.list_attempts(task_id bigint) IS 'Every ended attempt of a task. Example: select attempt, status, error from pgjobs.list_attempts(42)';

CREATE VIEW pgjobs.incomplete_cleanup_events AS
 SELECT ((t.payload ->> 'run_id'::text))::uuid AS run_id,
    (row_number() OVER (PARTITION BY t.id ORDER BY e.id))::integer AS seq,
    e.at AS ts,
        CASE
            WHEN ((e.kind = 'retrying'::text) AND (COALESCE((e.fields ->> 'error_kind'::text), ''::text) <> ALL (ARRAY['auth'::text, 'config'::text]))) THEN 'warn'::text
            WHEN (e.kind = ANY (ARRAY['retrying'::text, 'failed'::text, 'cancelled'::text])) THEN 'error'::text
            ELSE 'info'::text
        END AS level,
        CASE e.kind
            WHEN 'started'::text THEN 'attempt'::text
            WHEN 'completed'::text THEN COALESCE((o.result ->> 'outcome'::text), 'deleted'::text)
            WHEN 'retrying'::text THEN
            CASE
                WHEN ((e.fields ->> 'error_kind'::text) = ANY (ARRAY['auth'::text, 'config'::text])) THEN 'blocked'::text
                ELSE 'failed'::text
            END
            WHEN 'failed'::text THEN 'abandoned'::text
            WHEN 'cancelled'::text THEN 'abandoned'::text
            WHEN 'retried'::text THEN 'retry_now'::text
            ELSE e.kind
        END AS kind,
    COALESCE(pgjobs.redact_line(e.message),
        CASE e.kind
            WHEN 'started'::text THEN 'An attempt began'::text
            WHEN 'completed'::text THEN
            CASE (o.result ->> 'outcome'::text)
                WHEN 'skip_complete'::text THEN 'The run is complete: nothing was deleted'::text
                WHEN 'skip_not_found'::text THEN 'There was nothing to delete'::text
                ELSE 'What the run left behind was deleted'::text
            END
            WHEN 'ignored'::text THEN 'Put aside'::text
            WHEN 'unignored'::text THEN 'Taken up again'::text
            WHEN 'retried'::text THEN 'To be tried again now'::text
            ELSE e.kind
        END) AS message,
    pgjobs.redact_document(
        CASE
            WHEN (e.kind = 'completed'::text) THEN (o.result - 'outcome'::text)
            WHEN (e.kind = 'retrying'::text) THEN e.fields
            WHEN (e.actor IS NOT NULL) THEN jsonb_build_object('by', e.actor)
            ELSE NULL::jsonb
        END) AS fields_json,
    t.id AS task_id
   FROM (((pgjobs.jobs j
     JOIN pgjobs.tasks t ON (((t.room = '@internal'::text) AND (t.job_id = j.id))))
     JOIN pgjobs.events e ON ((e.task_id = t.id)))
     LEFT JOIN pgjobs.outcomes o ON ((o.task_id = t.id)))
  WHERE ((j.full_name = '@internal:maintenance:incomplete-cleanup'::text) AND (e.kind = ANY (ARRAY['started'::text, 'completed'::text, 'retrying'::text, 'failed'::text, 'cancelled'::text, 'ignored'::text, 'unignored'::text, 'retried'::text])));

COMMENT ON VIEW pgjobs.incomplete_cleanup_events IS 'What happened to clean-up tasks, and who did it. Example: select seq, ts, kind, message from pgjobs.incomplete_cleanup_events where run_id = ''<run id>''';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.run_id IS 'The run.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.seq IS 'From 1, for each run.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.ts IS 'When.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.level IS 'info, warn or error.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.kind IS 'attempt, skip_complete, skip_not_found, deleted, failed, blocked, ignored, unignored, abandoned or retry_now.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.message IS 'What happened, one line, redacted.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.fields_json IS 'Details, redacted; `by` is who did it.';

COMMENT ON COLUMN pgjobs.incomplete_cleanup_events.task_id IS 'Number of the clean-up task.';

CREATE FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer DEFAULT 500) RETURNS SETOF pgjobs.incomplete_cleanup_events
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_task bigint := pgjobs.find_cleanup(list_cleanup_events.run_id);
begin
  perform pgjobs.check_page(list_cleanup_events.page_size, 0);
  return query
  select l.*
  from (
    select e.*
    from pgjobs.incomplete_cleanup_events as e
    where e.task_id = v_task
    order by e.seq desc
    limit list_cleanup_events.page_size
  ) as l
  order by l.seq;
end
$$;

COMMENT ON FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer) IS 'What happened to a clean-up task. Example: select seq, kind, message from pgjobs.list_cleanup_events(''<run id>'')';

CREATE FUNCTION pgjobs.list_cleanups(statuses text[] DEFAULT NULL::text[], target_types text[] DEFAULT NULL::text[], of_node text DEFAULT NULL::text, of_job text DEFAULT NULL::text, page_size integer DEFAULT 20, page_offset integer DEFAULT 0) RETURNS TABLE(run_id uuid, job_id uuid, job_name text, node_id text, target_type text, target_snapshot_json jsonb, status text, attempts integer, created_at timestamp with time zone, updated_at timestamp with time zone, last_attempt_at timestamp with time zone, next_attempt_at timestamp with time zone, last_error_kind text, last_error text, ignored_at timestamp with time zone, ignored_by_user_id text, ignore_reason text, task_id bigint, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_chosen record;
begin
  perform pgjobs.check_page(list_cleanups.page_size, list_cleanups.page_offset);
  perform pgjobs.check_cleanup_statuses(list_cleanups.statuses);
  -- Found first and shown afterwards: redacting is dear, and a page is short.
  v_chosen := pgjobs.chosen_cleanups(
    list_cleanups.statuses, list_cleanups.target_types, list_cleanups.of_node, list_cleanups.of_job,
    list_cleanups.page_size, list_cleanups.page_offset
  );
  return query select c.*, v_chosen.total from pgjobs.shown_cleanups(v_chosen.task_ids) as c;
end
$$;

COMMENT ON FUNCTION pgjobs.list_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer) IS 'Clean-up tasks, next due first. Example: select run_id, status, total from pgjobs.list_cleanups(statuses => array[''blocked''])';

CREATE FUNCTION pgjobs.list_events(after text DEFAULT NULL::text, of_task bigint DEFAULT NULL::bigint, of_job text DEFAULT NULL::text, of_room text DEFAULT NULL::text, page_size integer DEFAULT 500) RETURNS TABLE(cursor text, txid text, at timestamp with time zone, kind text, task_id bigint, task_uuid uuid, job text, room text, status text, worker_id uuid, actor text, message text, fields jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now pg_snapshot := pgjobs.feed_snapshot();
  v_parts text[] := string_to_array(list_events.after, '/');
  v_since pg_snapshot := coalesce(v_parts[1], '3:3:');
  v_upto pg_snapshot := coalesce(v_parts[2], v_now::text);
  v_xid xid8 := coalesce(split_part(v_parts[3], '-', 1), '0');
  v_id bigint := coalesce(split_part(v_parts[3], '-', 2), '0');
  v_job integer;
begin
  perform pgjobs.check_page(list_events.page_size, 0);
  if cardinality(v_parts) not in (1, 3) then
    perform pgjobs.refuse('validation-error', format('Malformed cursor %s', quote_literal(left(list_events.after, 50))));
  end if;
  if list_events.of_job is not null then
    v_job := (pgjobs.find_job(list_events.of_job)).id;
  end if;
  loop
    -- A standby may be behind the server that gave out the cursor.
    exit when pg_snapshot_xmax(v_upto) < pg_snapshot_xmax(v_since);
    return query
    select
      v_since || '/' || v_upto || '/' || e.xid || '-' || e.id, e.xid::text, e.at, e.kind, e.task_id,
      pgjobs.task_uuid(e.task_id), j.full_name, e.room, e.status, e.worker_id, e.actor, e.message, e.fields
    from pgjobs.events_between(
      v_since, v_upto, v_xid, v_id, list_events.of_task, v_job, list_events.of_room, list_events.page_size
    ) as e
    left join pgjobs.jobs as j on j.id = e.job_id
    order by e.xid, e.id;
    exit when found or v_upto::text = v_now::text;
    v_since := v_upto;
    v_upto := v_now;
    v_xid := '0';
    v_id := 0;
  end loop;
  perform pgjobs.keep_what_is_shown();
end
$$;

COMMENT ON FUNCTION pgjobs.list_events(after text, of_task bigint, of_job text, of_room text, page_size integer) IS 'Events after a cursor. Example: select cursor, at, kind, task_id, message from pgjobs.list_events(of_task => 42)';

CREATE FUNCTION pgjobs.list_generic_jobs(domain text DEFAULT NULL::text, queue text DEFAULT NULL::text, job_type text DEFAULT NULL::text, status text DEFAULT NULL::text, owner_user_id text DEFAULT NULL::text, project_id bigint DEFAULT NULL::bigint, before bigint DEFAULT NULL::bigint, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS SETOF pgjobs.generic_jobs
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
#variable_conflict use_column
declare
  v_jobs integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.room = coalesce(list_generic_jobs.domain, j.room)
      and j.category = coalesce(list_generic_jobs.queue, j.category)
      and j.name = coalesce(list_generic_jobs.job_type, j.name)
  );
  v_before bigint := coalesce(list_generic_jobs.before, 9223372036854775807);
  v_project text := list_generic_jobs.project_id::text;
  v_tasks bigint[];
begin
  perform pgjobs.check_page(list_generic_jobs.page_size, list_generic_jobs.page_offset);
  if list_generic_jobs.status not in ('queued', 'processing', 'completed', 'failed', 'cancelled') then
    perform pgjobs.refuse('validation-error', format('Unknown status %s', quote_literal(list_generic_jobs.status)),
      null, 'queued, processing, completed, failed or cancelled');
  end if;
  v_tasks := array(
    select t.id
    from pgjobs.generic_homes(list_generic_jobs.status, v_jobs, v_before) as h
    join pgjobs.tasks as t on t.id = h.task_id
    where (list_generic_jobs.domain is null or t.room = list_generic_jobs.domain)
      and (list_generic_jobs.owner_user_id is null or t.owner = list_generic_jobs.owner_user_id)
      and (v_project is null or t.project = v_project)
    order by t.id desc
    limit list_generic_jobs.page_size offset list_generic_jobs.page_offset
  );
  if coalesce(list_generic_jobs.status, 'completed') = 'completed' then
    v_tasks := array(
      select t.id
      from pgjobs.tasks as t
      where t.job_id = any (v_jobs)
        and t.id < v_before
        and (list_generic_jobs.domain is null or t.room = list_generic_jobs.domain)
        and (list_generic_jobs.owner_user_id is null or t.owner = list_generic_jobs.owner_user_id)
        and (v_project is null or t.project = v_project)
        -- Not exists (): that would become a join, and with it a look at all of history.
        and (list_generic_jobs.status is null or 'completed' = (
          select o.status from pgjobs.outcomes as o where o.task_id = t.id
        ))
      order by t.id desc
      limit list_generic_jobs.page_size offset list_generic_jobs.page_offset
    );
  end if;
  -- Lateral and not flattened: a join with the view would read all of it.
  return query
  select g.*
  from unnest(v_tasks) with ordinality as i (task_id, place)
  cross join lateral (select v.* from pgjobs.generic_jobs as v where v.id = i.task_id offset 0) as g
  order by i.place;
end
$$;

COMMENT ON FUNCTION pgjobs.list_generic_jobs(domain text, queue text, job_type text, status text, owner_user_id text, project_id bigint, before bigint, page_size integer, page_offset integer) IS 'Tasks in the generic manager''s words, newest first. Example: select id, job_type, status from pgjobs.list_generic_jobs(''chatbooks'', status => ''failed'')';

CREATE FUNCTION pgjobs.list_jobs(room text DEFAULT NULL::text, include_archived boolean DEFAULT false, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  perform pgjobs.check_page(list_jobs.page_size, list_jobs.page_offset);
  if list_jobs.room is not null then
    perform pgjobs.check_room(list_jobs.room);
  end if;
  return query
  select v.*
  from pgjobs.job as v
  where v.deleted_at is null
    and (v.archived_at is null or list_jobs.include_archived)
    and (
      list_jobs.room is null
      or v.room in (list_jobs.room, '@global')
      or (v.room = '@internal' and list_jobs.room <> '@global')
    )
  order by v.id desc
  limit list_jobs.page_size offset list_jobs.page_offset;
end
$$;

COMMENT ON FUNCTION pgjobs.list_jobs(room text, include_archived boolean, page_size integer, page_offset integer) IS 'Jobs visible from a room. Example: select full_name, workers from pgjobs.list_jobs(''lab-7'')';

CREATE FUNCTION pgjobs.list_metrics() RETURNS TABLE(domain text, queue text, job_type text, measure text, up_to double precision, quantity bigint, seconds double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    AS $$
begin
  perform pgjobs.sweep_rollups(pgjobs.now(), 2000);
  return query select m.* from pgjobs.metrics() as m;
end
$$;

COMMENT ON FUNCTION pgjobs.list_metrics() IS 'The numbers of every job. Example: select domain, queue, job_type, quantity from pgjobs.list_metrics() where measure = ''backlog''';

CREATE FUNCTION pgjobs.list_providers(room text DEFAULT NULL::text, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS SETOF pgjobs.providers
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  perform pgjobs.check_page(list_providers.page_size, list_providers.page_offset);
  return query
  select p.*
  from pgjobs.providers as p
  where list_providers.room is null or p.room in (list_providers.room, '@global')
  order by p.created_at desc, p.id
  limit list_providers.page_size offset list_providers.page_offset;
end
$$;

COMMENT ON FUNCTION pgjobs.list_providers(room text, page_size integer, page_offset integer) IS 'Providers visible from a room. Example: select full_name, content_type from pgjobs.list_providers(''lab-7'')';

CREATE FUNCTION pgjobs.list_schedules(room text DEFAULT NULL::text, job text DEFAULT NULL::text, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS SETOF pgjobs.schedule
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job integer := case when list_schedules.job is not null then (pgjobs.find_job(list_schedules.job)).id end;
begin
  perform pgjobs.check_page(list_schedules.page_size, list_schedules.page_offset);
  if list_schedules.room is not null then
    perform pgjobs.check_room(list_schedules.room);
  end if;
  return query
  select v.*
  from pgjobs.schedule as v
  where (list_schedules.room is null or v.room = list_schedules.room)
    and (v_job is null or v.job_id = v_job)
  order by v.next_run_at, v.full_name, v.id
  limit list_schedules.page_size offset list_schedules.page_offset;
end
$$;

COMMENT ON FUNCTION pgjobs.list_schedules(room text, job text, page_size integer, page_offset integer) IS 'Schedules, those due next first. Example: select full_name, next_run_at, state from pgjobs.list_schedules()';

CREATE FUNCTION pgjobs.list_task_events(task_id bigint, before bigint DEFAULT NULL::bigint, page_size integer DEFAULT 500) RETURNS TABLE(seq bigint, at timestamp with time zone, kind text, status text, worker_id uuid, actor text, message text, fields jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
#variable_conflict use_column
begin
  perform pgjobs.check_page(list_task_events.page_size, 0);
  if not exists (select from pgjobs.tasks as t where t.id = list_task_events.task_id) then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', list_task_events.task_id));
  end if;
  return query
  select l.id, l.at, l.kind, l.status, l.worker_id, l.actor, l.message, l.fields
  from (
    select e.*
    from pgjobs.events as e
    where e.task_id = list_task_events.task_id
      and e.id < coalesce(list_task_events.before, 9223372036854775807)
    order by e.id desc
    limit list_task_events.page_size
  ) as l
  order by l.id;
end
$$;

COMMENT ON FUNCTION pgjobs.list_task_events(task_id bigint, before bigint, page_size integer) IS 'What happened to a task. Example: select at, kind, message from pgjobs.list_task_events(42)';

CREATE FUNCTION pgjobs.list_tasks(room text DEFAULT NULL::text, job text DEFAULT NULL::text, status text DEFAULT NULL::text, owner text DEFAULT NULL::text, project text DEFAULT NULL::text, before bigint DEFAULT NULL::bigint, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS SETOF pgjobs.task
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_before bigint := coalesce(list_tasks.before, 9223372036854775807);
  v_wanted bigint := list_tasks.page_size::bigint + list_tasks.page_offset;
  v_job integer;
  v_ids bigint[];
begin
  perform pgjobs.check_page(list_tasks.page_size, list_tasks.page_offset);
  if list_tasks.status not in ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled', 'ignored') then
    perform pgjobs.refuse('validation-error', format('Unknown status %s', quote_literal(list_tasks.status)));
  end if;
  if list_tasks.job is not null then
    v_job := (pgjobs.find_job(list_tasks.job)).id;
  end if;
  if list_tasks.owner is null and list_tasks.project is null and list_tasks.room is not null then
    v_ids := array(select p.id from pgjobs.page_of_tasks(
      list_tasks.room, case when v_job is null then pgjobs.jobs_used_in(list_tasks.room) else array[v_job] end,
      list_tasks.status, v_before, v_wanted
    ) as p (id));
  elsif list_tasks.owner is null and list_tasks.project is null and v_job is null then
    v_ids := array(select p.id from pgjobs.newest_anywhere(list_tasks.status, v_before, v_wanted) as p (id));
  elsif list_tasks.owner is null and list_tasks.project is null then
    v_ids := array(select p.id from pgjobs.newest_of_job(v_job, list_tasks.status, v_before, v_wanted) as p (id));
  else
    v_ids := array(select p.id from pgjobs.newest_owned(
      list_tasks.owner, list_tasks.project, list_tasks.room, v_job, list_tasks.status, v_before, v_wanted
    ) as p (id));
  end if;
  return query
  select v.*
  from pgjobs.task as v
  where v.id = any (v_ids)
  order by v.id desc
  limit list_tasks.page_size offset list_tasks.page_offset;
end
$$;

COMMENT ON FUNCTION pgjobs.list_tasks(room text, job text, status text, owner text, project text, before bigint, page_size integer, page_offset integer) IS 'Tasks, newest first. Example: select id, job, status, error from pgjobs.list_tasks(status => ''failed'')';

CREATE FUNCTION pgjobs.list_tokens(of_user text DEFAULT NULL::text, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS TABLE(id uuid, user_id text, name text, is_superuser boolean, created_at timestamp with time zone, expires_at timestamp with time zone, revoked_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  perform pgjobs.check_page(list_tokens.page_size, list_tokens.page_offset);
  return query
  select t.id, t.user_id, t.name, t.is_superuser, t.created_at, t.expires_at, t.revoked_at
  from pgjobs.api_tokens as t
  where list_tokens.of_user is null or t.user_id = list_tokens.of_user
  order by t.created_at desc, t.id
  limit list_tokens.page_size offset list_tokens.page_offset;
end
$$;

COMMENT ON FUNCTION pgjobs.list_tokens(of_user text, page_size integer, page_offset integer) IS 'API tokens. Example: select id, user_id, name from pgjobs.list_tokens()';

CREATE FUNCTION pgjobs.list_workers(room text DEFAULT NULL::text, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS TABLE(id uuid, name text, owner text, registered_at timestamp with time zone, last_heartbeat_at timestamp with time zone, job_count integer, is_alive boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  perform pgjobs.check_page(list_workers.page_size, list_workers.page_offset);
  return query
  select
    w.id, w.name, w.owner, w.registered_at, w.last_heartbeat_at,
    (select count(*)::integer from pgjobs.worker_jobs as l where l.worker_id = w.id),
    w.last_heartbeat_at > pgjobs.now() - (select s.worker_timeout from pgjobs.settings as s)
  from pgjobs.workers as w
  where list_workers.room is null or exists (
    select from pgjobs.worker_jobs as l
    join pgjobs.jobs as j on j.id = l.job_id
    where l.worker_id = w.id and j.deleted_at is null and j.room in (list_workers.room, '@global', '@internal')
  )
  order by w.registered_at desc, w.id
  limit list_workers.page_size offset list_workers.page_offset;
end
$$;

COMMENT ON FUNCTION pgjobs.list_workers(room text, page_size integer, page_offset integer) IS 'Registered workers. Example: select id, name, is_alive from pgjobs.list_workers()';

CREATE FUNCTION pgjobs.lock_leases(task_ids bigint[], tokens uuid[], now timestamp with time zone, holder text DEFAULT NULL::text) RETURNS tid[]
    LANGUAGE plpgsql
    AS $$
begin
  return array(
    select l.ctid
    from unnest(lock_leases.task_ids, lock_leases.tokens) as i (task_id, token)
    join pgjobs.leases as l on l.task_id = i.task_id and l.token = i.token
    where (l.until is null or l.until > lock_leases.now)
      and (lock_leases.holder is null or coalesce(l.holder, l.worker_id::text) = lock_leases.holder)
    order by l.task_id
    for update of l
  );
end
$$;

COMMENT ON FUNCTION pgjobs.lock_leases(task_ids bigint[], tokens uuid[], now timestamp with time zone, holder text) IS 'Locks current leases for an acknowledgement. Example: select pgjobs.lock_leases(array[1], array[gen_random_uuid()], pgjobs.now())';

CREATE FUNCTION pgjobs.lock_read(key text, lifetime interval) RETURNS TABLE(is_first boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  insert into pgjobs.reads_in_flight as f (key, expires_at)
  values (lock_read.key, v_now + lock_read.lifetime)
  on conflict (key) do update set expires_at = excluded.expires_at where f.expires_at <= v_now;
  is_first := found;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.lock_read(key text, lifetime interval) IS 'Marks a question as passed on. Example: select is_first from pgjobs.lock_read(''<key>'', ''30 seconds'')';

CREATE FUNCTION pgjobs.look_cost(clock bigint) RETURNS bigint
    LANGUAGE sql STABLE
    RETURN CASE WHEN ((NULLIF(split_part(current_setting('pgjobs.look_cost'::text, true), '/'::text, 2), ''::text))::bigint > clock) THEN (split_part(current_setting('pgjobs.look_cost'::text, true), '/'::text, 1))::bigint ELSE (0)::bigint END;

COMMENT ON FUNCTION pgjobs.look_cost(clock bigint) IS 'Milliseconds of the dearest recent look at lane heads in this session. Example: select pgjobs.look_cost(pgjobs.clock_ms())';

CREATE FUNCTION pgjobs.lost_or_unknown(task_id bigint) RETURNS text
    LANGUAGE sql STABLE
    RETURN CASE WHEN (EXISTS (SELECT FROM pgjobs.tasks t WHERE (t.id = lost_or_unknown.task_id))) THEN 'PJ007'::text ELSE 'PJ002'::text END;

COMMENT ON FUNCTION pgjobs.lost_or_unknown(task_id bigint) IS 'The problem of an acknowledgement without a lease. Example: select pgjobs.lost_or_unknown(42)';

CREATE FUNCTION pgjobs.make_partition(parent text, lower bigint, upper bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $$
declare
  v_name text := make_partition.parent || '_from_' || make_partition.lower;
begin
  execute format(
    'create table pgjobs.%I (like pgjobs.%I including defaults including constraints including indexes '
    'including comments including storage)', v_name, make_partition.parent
  );
  execute format(
    'comment on table pgjobs.%I is %L', v_name,
    format('Part of %s: numbers from %s up to %s.', make_partition.parent, make_partition.lower, make_partition.upper - 1)
  );
  execute format('revoke all on pgjobs.%I from public', v_name);
  perform pgjobs.guard_table(v_name);
  execute format(
    'alter table pgjobs.%I attach partition pgjobs.%I for values from (%s) to (%s)',
    make_partition.parent, v_name, make_partition.lower, make_partition.upper
  );
end
$$;

COMMENT ON FUNCTION pgjobs.make_partition(parent text, lower bigint, upper bigint) IS 'Makes a partition. Example: see pgjobs.extend_partitions, which knows where the next one begins';

CREATE FUNCTION pgjobs.mark_waiting(worker_id uuid DEFAULT NULL::uuid, job_ids integer[] DEFAULT NULL::integer[], in_room text DEFAULT NULL::text, in_category text DEFAULT NULL::text, previous bigint DEFAULT NULL::bigint, remote boolean DEFAULT false) RETURNS TABLE(mark bigint, next_due_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_jobs integer[] := (pgjobs.claimable_jobs(
    mark_waiting.worker_id, mark_waiting.job_ids, mark_waiting.in_room, mark_waiting.in_category, mark_waiting.remote
  )).jobs;
begin
  delete from pgjobs.waiting_marks as w where w.id = mark_waiting.previous;
  insert into pgjobs.waiting_marks (job_ids, since) values (v_jobs, v_now) returning id into mark;
  next_due_at := (
    select min(s.run_at)
    from (select c.run_at, c.job_id from pgjobs.scheduled as c order by c.run_at limit 1000) as s
    where s.job_id = any (v_jobs)
  );
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.mark_waiting(worker_id uuid, job_ids integer[], in_room text, in_category text, previous bigint, remote boolean) IS 'Asks for a wake-up. Example: listen "pgjobs.wake"; select * from pgjobs.mark_waiting(job_ids => array[1])';

CREATE FUNCTION pgjobs.metrics() RETURNS TABLE(domain text, queue text, job_type text, measure text, up_to double precision, quantity bigint, seconds double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  return query
  with due as (
    select s.job_id, count(*) as quantity
    from (select p.job_id from pgjobs.scheduled as p where p.run_at <= v_now order by p.run_at limit 10000) as s
    group by s.job_id
  ), ever as materialized (
    -- One probe for each job: their minutes lie between.
    select r.*
    from pgjobs.jobs as j
    cross join lateral (
      select e.* from pgjobs.rollups as e where e.job_id = j.id and e.minute = '-infinity' limit 1
    ) as r
  ), numbers (job_id, measure, up_to, quantity, seconds) as (
    select d.job_id, m.measure, null::double precision, m.quantity, 0::double precision
    from pgjobs.depths() as d
    left join due as p on p.job_id = d.job_id
    cross join lateral (values
      ('queued', d.waiting + d.scheduled), ('backlog', d.waiting + coalesce(p.quantity, 0)), ('processing', d.claimed + d.running),
      ('stale_processing', d.overdue), ('completed', 0), ('failed', 0), ('cancelled', 0), ('retried', 0)
    ) as m (measure, quantity)
    union all
    select j.id, 'paused', null, (j.paused_at is not null or j.archived_at is not null)::integer, 0
    from pgjobs.jobs as j
    where j.deleted_at is null
    union all
    select s.job_id, m.measure, null, m.quantity, 0
    from (
      select c.job_id, count(*) as quantity, count(*) filter (where c.next_run_at < v_now - interval '2 minutes') as overdue
      from pgjobs.schedules as c
      group by c.job_id
    ) as s
    cross join lateral (values ('schedules', s.quantity), ('overdue_schedules', s.overdue)) as m (measure, quantity)
    union all
    select r.job_id, m.measure, null, m.quantity, 0
    from ever as r
    cross join lateral (values
      ('completed', r.completed), ('failed', r.failed), ('cancelled', r.cancelled), ('retried', r.retried)
    ) as m (measure, quantity)
    union all
    select
      r.job_id, m.measure, coalesce((pgjobs.histogram_bounds())[c.place], 'Infinity'), c.quantity,
      case c.place when cardinality(m.counts) then m.seconds else 0 end
    from ever as r
    cross join lateral (values ('duration', r.runs, r.run_seconds), ('latency', r.waits, r.wait_seconds)) as m (measure, counts, seconds)
    cross join lateral unnest(m.counts) with ordinality as c (quantity, place)
    where c.quantity > 0 or c.place = cardinality(m.counts)
  )
  select j.room, j.category, j.name, n.measure, n.up_to, sum(n.quantity)::bigint, sum(n.seconds)
  from numbers as n
  join pgjobs.jobs as j on j.id = n.job_id
  group by j.room, j.category, j.name, n.measure, n.up_to
  order by j.room, j.category, j.name, n.measure, n.up_to;
end
$$;

COMMENT ON FUNCTION pgjobs.metrics() IS 'The numbers of every job. Example: select domain, queue, job_type, quantity from pgjobs.metrics() where measure = ''backlog''';

CREATE FUNCTION pgjobs.moment(micros bigint) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    RETURN COALESCE(to_timestamp(((micros)::double precision / (1000000.0)::double precision)), '-infinity'::timestamp with time zone);

COMMENT ON FUNCTION pgjobs.moment(micros bigint) IS 'The time of so many microseconds; null is before all others. Example: select pgjobs.moment(pgjobs.micros(pgjobs.now()))';

CREATE FUNCTION pgjobs.named_tasks(task_ids bigint[], task_uuids uuid[]) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if num_nulls(named_tasks.task_ids, named_tasks.task_uuids) <> 1
    or coalesce(cardinality(named_tasks.task_ids), cardinality(named_tasks.task_uuids)) > 1000
  then
    perform pgjobs.refuse('validation-error', 'Name at most 1000 tasks, by number or by public id');
  end if;
  return coalesce(named_tasks.task_ids, array(
    select pgjobs.task_id(u.task_uuid) from unnest(named_tasks.task_uuids) with ordinality as u (task_uuid, place) order by u.place
  ));
end
$$;

COMMENT ON FUNCTION pgjobs.named_tasks(task_ids bigint[], task_uuids uuid[]) IS 'The tasks an operator names. Example: select pgjobs.named_tasks(array[41, 42], null)';

CREATE FUNCTION pgjobs.newest_anywhere(status text, before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_few constant integer := 20000;
  v_is_backlog boolean;
begin
  if status is null then
    return query
    select t.id from pgjobs.tasks as t where t.id < newest_anywhere.before order by t.id desc limit wanted;
  elsif status = 'completed' then
    return query
    select o.task_id from pgjobs.outcomes as o
    where o.status = 'completed' and o.task_id < newest_anywhere.before
    order by o.task_id desc
    limit wanted;
  elsif status in ('failed', 'cancelled') then
    return query
    select o.task_id from pgjobs.outcomes as o
    where o.status = newest_anywhere.status and o.status <> 'completed' and o.task_id < newest_anywhere.before
    order by o.task_id desc
    limit wanted;
  elsif status = 'ignored' then
    return query
    select i.task_id from pgjobs.ignored as i where i.task_id < newest_anywhere.before order by i.task_id desc limit wanted;
  elsif status in ('claimed', 'running') then
    return query
    select l.task_id from pgjobs.leases as l
    where (l.started_at is null) = (newest_anywhere.status = 'claimed') and l.task_id < newest_anywhere.before
    order by l.task_id desc
    limit wanted;
  else
    -- Few pending tasks are all looked at; in a backlog the newest tasks are it.
    v_is_backlog := pgjobs.is_backlog(v_few);
    return query
    select p.id
    from (
      select t.id
      from pgjobs.tasks as t
      where v_is_backlog and t.id < newest_anywhere.before
        and not exists (select from pgjobs.outcomes as o where o.task_id = t.id)
        and not exists (select from pgjobs.leases as l where l.task_id = t.id)
        and not exists (select from pgjobs.ignored as i where i.task_id = t.id)
      order by t.id desc
      limit wanted
    ) as p
    union all
    select f.task_id
    from (
      select r.task_id from pgjobs.ready as r where not v_is_backlog and r.task_id < newest_anywhere.before
      union all
      select s.task_id from pgjobs.scheduled as s where not v_is_backlog and s.task_id < newest_anywhere.before
      order by 1 desc
      limit wanted
    ) as f;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_anywhere(status text, before bigint, wanted bigint) IS 'Numbers of the newest tasks of a status. Example: select * from pgjobs.newest_anywhere(''failed'', 1000, 50)';

CREATE FUNCTION pgjobs.newest_ended(room text, job_ids integer[], status text, before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_sample constant integer := 500;
  v_in_room integer;
  v_ended integer;
begin
  -- Few tasks end badly, and an index holds just those.
  if status <> 'completed' then
    return query
    select n.id
    from pgjobs.newest_outcomes(
      newest_ended.room, newest_ended.job_ids, newest_ended.status, newest_ended.before, newest_ended.wanted, null
    ) as n (id);
    return;
  end if;
  select count(*), count(o.task_id)
  into v_in_room, v_ended
  from pgjobs.newest_tasks(newest_ended.room, newest_ended.job_ids, newest_ended.before, v_sample) as n (id)
  left join pgjobs.outcomes as o on o.task_id = n.id and o.status = newest_ended.status;
  if v_in_room = v_sample and v_ended <= (
    select count(*)
    from pgjobs.newest_outcomes(
      newest_ended.room, newest_ended.job_ids, newest_ended.status, newest_ended.before, v_sample, v_sample
    )
  ) then
    return query
    select n.id
    from pgjobs.newest_outcomes(
      newest_ended.room, newest_ended.job_ids, newest_ended.status, newest_ended.before, newest_ended.wanted, null
    ) as n (id);
  else
    return query
    select e.id
    from unnest(newest_ended.job_ids) as j (id)
    cross join lateral (
      select t.id
      from pgjobs.tasks as t
      join pgjobs.outcomes as o on o.task_id = t.id and o.status = newest_ended.status
      where t.room = newest_ended.room and (t.job_id, t.id) > (j.id, 0) and (t.job_id, t.id) < (j.id, newest_ended.before)
      order by t.room desc, t.job_id desc, t.id desc
      limit newest_ended.wanted
    ) as e
    order by e.id desc
    limit newest_ended.wanted;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_ended(room text, job_ids integer[], status text, before bigint, wanted bigint) IS 'Numbers of a room''s newest ended tasks. Example: select * from pgjobs.newest_ended(''lab-7'', array[1], ''failed'', 1000, 50)';

CREATE FUNCTION pgjobs.newest_of(room text, job_id integer, status text, before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_rooms text[];
begin
  if newest_of.room is not null then
    return query
    select p.id
    from pgjobs.page_of_tasks(
      newest_of.room,
      case when newest_of.job_id is null then pgjobs.jobs_used_in(newest_of.room) else array[newest_of.job_id] end,
      newest_of.status, newest_of.before, newest_of.wanted
    ) as p (id)
    order by p.id desc;
    return;
  end if;
  if newest_of.job_id is null then
    return query
    select p.id from pgjobs.newest_anywhere(newest_of.status, newest_of.before, newest_of.wanted) as p (id) order by p.id desc;
    return;
  end if;
  v_rooms := pgjobs.rooms_using(newest_of.job_id, 50);
  if v_rooms is not null then
    return query
    select p.id
    from unnest(v_rooms) as r (room)
    cross join lateral pgjobs.page_of_tasks(
      r.room, array[newest_of.job_id], newest_of.status, newest_of.before, newest_of.wanted
    ) as p (id)
    order by p.id desc
    limit newest_of.wanted;
    return;
  end if;
  return query
  select t.id
  from pgjobs.newest_anywhere(newest_of.status, newest_of.before, 10000) as p (id)
  join pgjobs.tasks as t on t.id = p.id and t.job_id = newest_of.job_id
  order by t.id desc
  limit newest_of.wanted;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_of(room text, job_id integer, status text, before bigint, wanted bigint) IS 'Numbers of the newest tasks of a room, job or status. Example: select * from pgjobs.newest_of(null, 1, ''failed'', 1000, 50)';

CREATE FUNCTION pgjobs.newest_of_job(job_id integer, status text, before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_few constant integer := 20000;
  v_sample constant integer := 1000;
  v_ids bigint[];
begin
  if status in ('failed', 'cancelled') then
    return query
    select o.task_id from pgjobs.outcomes as o
    where o.status = newest_of_job.status and o.status <> 'completed'
      and o.job_id = newest_of_job.job_id and o.task_id < newest_of_job.before
    order by o.task_id desc
    limit wanted;
    return;
  elsif status in ('claimed', 'running', 'ignored') then
    return query
    select h.task_id
    from (
      select l.task_id, l.job_id, case when l.started_at is null then 'claimed' else 'running' end as status
      from pgjobs.leases as l
      union all
      select i.task_id, i.job_id, 'ignored' from pgjobs.ignored as i
    ) as h
    where h.job_id = newest_of_job.job_id and h.status = newest_of_job.status and h.task_id < newest_of_job.before
    order by h.task_id desc
    limit wanted;
    return;
  elsif status = 'pending' then
    v_ids := array(
      (select r.task_id from pgjobs.ready as r where r.job_id = newest_of_job.job_id limit v_few + 1)
      union all
      (select s.task_id from pgjobs.scheduled as s where s.job_id = newest_of_job.job_id limit v_few + 1)
    );
    if cardinality(v_ids) <= v_few then
      return query
      select i.id from unnest(v_ids) as i (id) where i.id < newest_of_job.before order by i.id desc limit wanted;
      return;
    end if;
  end if;
  v_ids := array(
    select n.id
    from (
      select t.id, t.job_id from pgjobs.tasks as t where t.id < newest_of_job.before order by t.id desc limit v_sample
    ) as n
    where n.job_id = newest_of_job.job_id
      and (newest_of_job.status is null or pgjobs.status_at_rest(n.id) = newest_of_job.status)
    order by n.id desc
    limit wanted
  );
  if cardinality(v_ids) = wanted then
    return query select i.id from unnest(v_ids) as i (id);
    return;
  end if;
  return query
  select n.id
  from pgjobs.rooms_used() as r (room)
  cross join lateral (
    select t.id
    from pgjobs.tasks as t
    where t.room = r.room and (t.job_id, t.id) > (newest_of_job.job_id, 0)
      and (t.job_id, t.id) < (newest_of_job.job_id, newest_of_job.before)
      and (newest_of_job.status is null or pgjobs.status_at_rest(t.id) = newest_of_job.status)
    order by t.room desc, t.job_id desc, t.id desc
    limit wanted
  ) as n
  order by n.id desc
  limit wanted;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_of_job(job_id integer, status text, before bigint, wanted bigint) IS 'Numbers of a job''s newest tasks. Example: select * from pgjobs.newest_of_job(1, ''completed'', 1000, 50)';

CREATE FUNCTION pgjobs.newest_outcomes(room text, job_ids integer[], status text, before bigint, wanted bigint, looked integer) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if status = 'completed' then
    return query
    select t.id
    from (
      select o.task_id from pgjobs.outcomes as o
      where o.status = 'completed' and o.task_id < newest_outcomes.before
        and (looked is not null or o.job_id = any (newest_outcomes.job_ids))
      order by o.task_id desc
      limit looked
    ) as n
    cross join lateral (select b.id, b.room, b.job_id from pgjobs.tasks as b where b.id = n.task_id offset 0) as t
    where t.room = newest_outcomes.room and t.job_id = any (newest_outcomes.job_ids)
    order by n.task_id desc
    limit wanted;
  else
    return query
    select t.id
    from (
      select o.task_id from pgjobs.outcomes as o
      where o.status = newest_outcomes.status and o.status <> 'completed' and o.task_id < newest_outcomes.before
        and (looked is not null or o.job_id = any (newest_outcomes.job_ids))
      order by o.task_id desc
      limit looked
    ) as n
    cross join lateral (select b.id, b.room, b.job_id from pgjobs.tasks as b where b.id = n.task_id offset 0) as t
    where t.room = newest_outcomes.room and t.job_id = any (newest_outcomes.job_ids)
    order by n.task_id desc
    limit wanted;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_outcomes(room text, job_ids integer[], status text, before bigint, wanted bigint, looked integer) IS 'Numbers of a room''s ended tasks among the newest outcomes. Example: select * from pgjobs.newest_outcomes(''lab-7'', array[1], ''failed'', 1000, 50, 500)';

CREATE FUNCTION pgjobs.newest_owned(owner text, project text, room text, job_id integer, status text, before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  if room is null then
    return query
    select t.id
    from pgjobs.tasks as t
    where t.id < newest_owned.before
      and (newest_owned.owner is null or t.owner = newest_owned.owner)
      and (newest_owned.project is null or t.project = newest_owned.project)
      and (newest_owned.job_id is null or t.job_id = newest_owned.job_id)
      and (newest_owned.status is null or newest_owned.status = (select v.status from pgjobs.task as v where v.id = t.id))
    order by t.id desc
    limit wanted;
    return;
  end if;
  return query
  select n.id
  from unnest(
    case when newest_owned.job_id is null then pgjobs.jobs_used_in(newest_owned.room) else array[newest_owned.job_id] end
  ) as j (id)
  cross join lateral (
    select t.id
    from pgjobs.tasks as t
    where t.room = newest_owned.room and (t.job_id, t.id) > (j.id, 0)
      and (t.job_id, t.id) < (j.id, newest_owned.before)
      and (newest_owned.owner is null or t.owner = newest_owned.owner)
      and (newest_owned.project is null or t.project = newest_owned.project)
      and (newest_owned.status is null or newest_owned.status = (select v.status from pgjobs.task as v where v.id = t.id))
    order by t.room desc, t.job_id desc, t.id desc
    limit wanted
  ) as n
  order by n.id desc
  limit wanted;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_owned(owner text, project text, room text, job_id integer, status text, before bigint, wanted bigint) IS 'Numbers of an owner''s newest tasks. Example: select * from pgjobs.newest_owned(''ada'', null, null, null, ''failed'', 1000, 50)';

CREATE FUNCTION pgjobs.newest_pending(room text, job_ids integer[], before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_few integer := greatest(20000 / greatest(cardinality(job_ids), 1), 50);
  v_backlogs integer[];
  v_rest integer[];
begin
  v_backlogs := array(
    select j.id
    from unnest(newest_pending.job_ids) as j (id)
    where (select count(*) from (select from pgjobs.ready as r where r.job_id = j.id limit v_few + 1) as f) > v_few
  );
  if (select count(*) from (select from pgjobs.scheduled limit 20001) as f) > 20000 then
    v_backlogs := newest_pending.job_ids;
  end if;
  v_rest := array(select j.id from unnest(newest_pending.job_ids) as j (id) where j.id <> all (v_backlogs));
  return query
  with few as (
    select r.task_id from pgjobs.ready as r where r.job_id = any (v_rest)
    union all
    select s.task_id from pgjobs.scheduled as s where s.job_id = any (v_rest)
  )
  select p.id
  from (
    select t.id from few as f
    join pgjobs.tasks as t on t.id = f.task_id and t.room = newest_pending.room
    where t.id < newest_pending.before
    union all
    select n.id
    from unnest(v_backlogs) as j (id)
    cross join lateral (
      select t.id
      from pgjobs.tasks as t
      where t.room = newest_pending.room and (t.job_id, t.id) > (j.id, 0) and (t.job_id, t.id) < (j.id, newest_pending.before)
        and not exists (select from pgjobs.outcomes as o where o.task_id = t.id)
        and not exists (select from pgjobs.leases as l where l.task_id = t.id)
        and not exists (select from pgjobs.ignored as i where i.task_id = t.id)
      order by t.room desc, t.job_id desc, t.id desc
      limit newest_pending.wanted
    ) as n
  ) as p
  order by p.id desc
  limit newest_pending.wanted;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_pending(room text, job_ids integer[], before bigint, wanted bigint) IS 'Numbers of a room''s newest pending tasks. Example: select * from pgjobs.newest_pending(''lab-7'', array[1], 1000, 50)';

CREATE FUNCTION pgjobs.newest_tasks(room text, job_ids integer[], before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select n.id
  from unnest(newest_tasks.job_ids) as j (id)
  cross join lateral (
    select t.id
    from pgjobs.tasks as t
    where t.room = newest_tasks.room and (t.job_id, t.id) > (j.id, 0) and (t.job_id, t.id) < (j.id, newest_tasks.before)
    order by t.room desc, t.job_id desc, t.id desc
    limit newest_tasks.wanted
  ) as n
  order by n.id desc
  limit newest_tasks.wanted;
end
$$;

COMMENT ON FUNCTION pgjobs.newest_tasks(room text, job_ids integer[], before bigint, wanted bigint) IS 'Numbers of a room''s newest tasks. Example: select * from pgjobs.newest_tasks(''lab-7'', array[1], 1000, 50)';

CREATE FUNCTION pgjobs.next_cron_run(cron text, timezone text, after timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_cron record := pgjobs.read_cron(cron);
  v_at timestamptz := date_trunc('minute', after) + interval '1 minute';
  v_local timestamp := v_at at time zone timezone;
  v_last timestamp := v_local + interval '50 years';
  v_since timestamp := after at time zone timezone;
  v_set timestamptz;
  v_jump timestamp;
begin
  while v_local < v_last loop
    if extract(month from v_local) <> all (v_cron.months) then
      v_jump := date_trunc('month', v_local) + interval '1 month';
    elsif not pgjobs.is_cron_day(v_local::date, v_cron.days, v_cron.weekdays, v_cron.either_day) then
      v_jump := date_trunc('day', v_local) + interval '1 day';
    elsif not v_cron.follows_clocks then
      -- In order, so that only the first are asked when they are shown.
      select s.at into v_set
      from (
        select date_trunc('day', v_local) + make_interval(hours => h.hour, mins => m.minute)
        from unnest(v_cron.hours) as h (hour)
        cross join unnest(v_cron.minutes) as m (minute)
        order by h.hour, m.minute
        offset 0
      ) as t (local)
      cross join lateral (select pgjobs.first_shown(t.local, timezone) where t.local > v_since offset 0) as s (at)
      where s.at > after
      limit 1;
      if v_set is not null then
        return v_set;
      end if;
      v_jump := date_trunc('day', v_local) + interval '1 day';
    elsif extract(hour from v_local) <> all (v_cron.hours) then
      v_jump := date_trunc('hour', v_local) + interval '1 hour';
    elsif extract(minute from v_local) <> all (v_cron.minutes) then
      v_jump := null;
    else
      return v_at;
    end if;
    v_at := greatest(v_at + interval '1 minute', pgjobs.first_shown(v_jump, timezone));
    v_local := v_at at time zone timezone;
  end loop;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.next_cron_run(cron text, timezone text, after timestamp with time zone) IS 'The next time a cron expression names. Example: select pgjobs.next_cron_run(''0 9 * * MON-FRI'', ''Europe/Berlin'', now())';

CREATE FUNCTION pgjobs.next_look(clock bigint) RETURNS bigint
    LANGUAGE sql STABLE
    RETURN (clock + GREATEST((1000)::bigint, LEAST((20 * pgjobs.look_cost(clock)), (10000)::bigint)));

COMMENT ON FUNCTION pgjobs.next_look(clock bigint) IS 'When lanes are looked at again from the bottom. Example: select pgjobs.next_look(pgjobs.clock_ms())';

CREATE FUNCTION pgjobs.next_run(cron text, every interval, timezone text, due timestamp with time zone, after timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return case
    when cron is not null then pgjobs.next_cron_run(cron, timezone, after)
    -- In seconds: a day of an interval has as many hours as the session's clocks give it.
    when due is null then after + make_interval(secs => extract(epoch from every)::double precision)
    else due + make_interval(secs => (
      (floor(extract(epoch from after - due) / extract(epoch from every)) + 1) * extract(epoch from every)
    )::double precision)
  end;
end
$$;

COMMENT ON FUNCTION pgjobs.next_run(cron text, every interval, timezone text, due timestamp with time zone, after timestamp with time zone) IS 'The next run of a schedule. Example: select pgjobs.next_run(null, ''10 minutes'', ''UTC'', null, now())';

CREATE FUNCTION pgjobs.note_look(since bigint) RETURNS text
    LANGUAGE sql
    RETURN CASE WHEN ((pgjobs.clock_ms() - since) >= pgjobs.look_cost(since)) THEN set_config('pgjobs.look_cost'::text, (((pgjobs.clock_ms() - since) || '/'::text) || (since + 10000)), false) ELSE NULL::text END;

COMMENT ON FUNCTION pgjobs.note_look(since bigint) IS 'Remembers what a look at lane heads cost. Example: select pgjobs.note_look(pgjobs.clock_ms())';

CREATE FUNCTION pgjobs.note_retries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into pgjobs.uncounted (job_id, measure, at, task_ids)
  select n.job_id, 'retried', pgjobs.now(), array_agg(n.task_id)
  from new_rows as n
  where n.error is not null
  group by n.job_id;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.note_retries() IS 'Trigger: notes retries for the rollups. Example: fires on insert into pgjobs.scheduled';

CREATE FUNCTION pgjobs.note_run(schedule pgjobs.schedules, due_at timestamp with time zone, task_id bigint, reason text, is_manual boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  insert into pgjobs.schedule_runs (schedule_id, due_at, task_id, reason, is_manual)
  values (schedule.id, note_run.due_at, note_run.task_id, left(note_run.reason, 500), note_run.is_manual);
  delete from pgjobs.schedule_runs as r
  where r.schedule_id = schedule.id
    and r.id <= (
      select o.id from pgjobs.schedule_runs as o where o.schedule_id = schedule.id order by o.id desc offset 50 limit 1
    )
    and (schedule.overlap or r.task_id is null or not pgjobs.is_under_way(r.task_id));
end
$$;

COMMENT ON FUNCTION pgjobs.note_run(schedule pgjobs.schedules, due_at timestamp with time zone, task_id bigint, reason text, is_manual boolean) IS 'Notes a run of a schedule. Example: see pgjobs.fire_schedules, which calls it';

CREATE FUNCTION pgjobs.open_cleanups(job_id integer) RETURNS TABLE(task_id bigint, status text, next_attempt_at timestamp with time zone, since timestamp with time zone)
    LANGUAGE sql STABLE
    AS $$
select
  p.task_id,
  coalesce(p.status, case
    when p.attempt = 0 then 'queued'
    when (
      select e.error_kind from pgjobs.attempts as e where e.task_id = p.task_id order by e.id desc limit 1
    ) in ('auth', 'config') then 'blocked'
    else 'retrying'
  end),
  p.next_attempt_at,
  p.since
from (
  select r.task_id, r.job_id, r.attempt, null::text as status, r.due_at as next_attempt_at, null::timestamptz as since
  from pgjobs.ready as r
  union all
  select s.task_id, s.job_id, s.attempt, null, s.run_at, null from pgjobs.scheduled as s
  union all
  select l.task_id, l.job_id, l.attempt, 'running', null, l.claimed_at from pgjobs.leases as l where l.task_id > 0
  union all
  select i.task_id, i.job_id, i.attempt, 'ignored', null, i.ignored_at from pgjobs.ignored as i where i.task_id > 0
  union all
  select o.task_id, o.job_id, o.attempt, 'abandoned', null, o.ended_at from pgjobs.outcomes as o where o.status <> 'completed'
) as p
where p.job_id = open_cleanups.job_id
$$;

COMMENT ON FUNCTION pgjobs.open_cleanups(job_id integer) IS 'Where clean-up tasks are that are not done. Example: select status, count(*) from pgjobs.open_cleanups(pgjobs.cleanup_job()) group by status';

CREATE FUNCTION pgjobs.open_session(of_user text DEFAULT NULL::text, as_superuser boolean DEFAULT false, token text DEFAULT NULL::text, sign_in text DEFAULT NULL::text, lifetime interval DEFAULT NULL::interval) RETURNS TABLE(session text, user_id text, is_superuser boolean, expires_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_token_id uuid;
  v_token_expires_at timestamptz;
begin
  if num_nonnulls(open_session.of_user, open_session.token, open_session.sign_in) <> 1
    or open_session.of_user = '' or length(open_session.of_user) > 200 or open_session.lifetime <= interval '0'
  then
    perform pgjobs.refuse(
      'validation-error', 'A session needs one of user, token and sign-in, and a lifetime longer than zero'
    );
  end if;
  user_id := open_session.of_user;
  is_superuser := open_session.as_superuser;
  if open_session.sign_in is not null then
    delete from pgjobs.sign_ins as s
    where s.sign_in_hash = sha256(convert_to(open_session.sign_in, 'UTF8')) and s.expires_at > v_now
    returning s.user_id, s.is_superuser into user_id, is_superuser;
  elsif open_session.token is not null then
    select t.id, t.user_id, t.is_superuser, t.expires_at into v_token_id, user_id, is_superuser, v_token_expires_at
    from pgjobs.api_tokens as t
    where t.token_hash = sha256(convert_to(open_session.token, 'UTF8'))
      and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > v_now);
  end if;
  if user_id is null then
    perform pgjobs.refuse('unauthorized', 'The token or sign-in is unknown, expired or used up');
  end if;
  perform pgjobs.forget_expired_sessions(v_now);
  session := 'pgc_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  expires_at := least(v_now + coalesce(open_session.lifetime, interval '12 hours'), v_token_expires_at);
  insert into pgjobs.sessions (session_hash, user_id, is_superuser, token_id, created_at, expires_at)
  values (sha256(convert_to(session, 'UTF8')), user_id, is_superuser, v_token_id, v_now, expires_at);
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.open_session(of_user text, as_superuser boolean, token text, sign_in text, lifetime interval) IS 'Signs a user in. Example: select session from pgjobs.open_session(token => ''pgj_…'')';

CREATE FUNCTION pgjobs.overview() RETURNS TABLE(at timestamp with time zone, jobs integer, paused_jobs integer, workers integer, silent_workers integer, waiting bigint, oldest_wait interval, scheduled bigint, claimed bigint, running bigint, overdue bigint, ignored bigint, completed_last_hour bigint, failed_last_hour bigint, cancelled_last_hour bigint, retried_last_hour bigint, completed_per_minute double precision, wait_p50 double precision, wait_p95 double precision, run_p50 double precision, run_p95 double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  return query
  with known as (
    select
      count(*) filter (where j.deleted_at is null and j.archived_at is null)::integer as jobs,
      count(*) filter (where j.deleted_at is null and j.paused_at is not null)::integer as paused
    from pgjobs.jobs as j
  ), staff as (
    select
      count(*)::integer as workers,
      count(*) filter (where w.last_heartbeat_at < v_now - s.worker_timeout)::integer as silent
    from pgjobs.workers as w
    cross join pgjobs.settings as s
  ), lines as (
    select
      coalesce(sum(d.waiting), 0)::bigint as waiting, min(d.oldest_at) as oldest_at,
      coalesce(sum(d.scheduled), 0)::bigint as scheduled, coalesce(sum(d.claimed), 0)::bigint as claimed,
      coalesce(sum(d.running), 0)::bigint as running, coalesce(sum(d.overdue), 0)::bigint as overdue
    from pgjobs.depths() as d
  ), put_aside as (
    select count(*) as quantity from (select from pgjobs.ignored limit 10000) as i
  )
  select
    v_now, k.jobs, k.paused, f.workers, f.silent, l.waiting, pgjobs.elapsed(l.oldest_at, v_now), l.scheduled,
    l.claimed, l.running, l.overdue, i.quantity, coalesce(h.completed, 0), coalesce(h.failed, 0),
    coalesce(h.cancelled, 0), coalesce(h.retried, 0), coalesce(m.completed, 0) / 5.0::double precision,
    h.wait_p50, h.wait_p95, h.run_p50, h.run_p95
  from known as k
  cross join staff as f
  cross join lines as l
  cross join put_aside as i
  left join pgjobs.rates(array[0], v_now - interval '1 hour') as h on true
  -- The present minute is not over, and sweeps come every half minute.
  left join pgjobs.endings(array[0], v_now - interval '5 minutes') as m on true;
end
$$;

COMMENT ON FUNCTION pgjobs.overview() IS 'The queue in one row. Example: select * from pgjobs.overview()';

CREATE FUNCTION pgjobs.page_of_tasks(room text, job_ids integer[], status text, before bigint, wanted bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_before bigint := coalesce(before, 9223372036854775807);
begin
  if status is null then
    return query select n.id from pgjobs.newest_tasks(room, job_ids, v_before, wanted) as n (id);
  elsif status in ('completed', 'failed', 'cancelled') then
    return query select n.id from pgjobs.newest_ended(room, job_ids, status, v_before, wanted) as n (id);
  elsif status = 'pending' then
    return query select n.id from pgjobs.newest_pending(room, job_ids, v_before, wanted) as n (id);
  else
    return query
    select t.id
    from (
      select l.task_id, l.job_id, case when l.started_at is null then 'claimed' else 'running' end as status
      from pgjobs.leases as l
      union all
      select i.task_id, i.job_id, 'ignored' from pgjobs.ignored as i
    ) as h
    join pgjobs.tasks as t on t.id = h.task_id and t.room = page_of_tasks.room and t.id < v_before
    where h.job_id = any (page_of_tasks.job_ids) and h.status = page_of_tasks.status
    order by t.id desc
    limit wanted;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.page_of_tasks(room text, job_ids integer[], status text, before bigint, wanted bigint) IS 'Numbers of a room''s newest tasks of a status. Example: select * from pgjobs.page_of_tasks(''lab-7'', array[1], ''failed'', null, 50)';

CREATE FUNCTION pgjobs.partitions() RETURNS TABLE(parent text, partition text, lower bigint, upper bigint, last_number bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    AS $$
declare
  v_tasks bigint := (select s.last_value from pgjobs.tasks_id_seq as s);
  v_events bigint := (select s.last_value from pgjobs.events_id_seq as s);
begin
  return query
  select
    p.relname::text, c.relname::text, b.bounds[1]::bigint, b.bounds[2]::bigint,
    case p.relname when 'events' then v_events else v_tasks end
  from pg_class as p
  join pg_inherits as i on i.inhparent = p.oid
  join pg_class as c on c.oid = i.inhrelid
  cross join lateral (
    select regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(\d+)''\) TO \(''(\d+)''\)')
  ) as b (bounds)
  where p.relnamespace = to_regnamespace('pgjobs') and p.relkind = 'p'
  order by p.relname, b.bounds[1]::bigint nulls last;
end
$$;

COMMENT ON FUNCTION pgjobs.partitions() IS 'The partitions of outcomes and events. Example: select * from pgjobs.partitions()';

CREATE FUNCTION pgjobs.pause_job(job text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job pgjobs.jobs := pgjobs.find_job(pause_job.job);
begin
  update pgjobs.jobs as j set paused_at = coalesce(j.paused_at, pgjobs.now()) where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs.now(), 'job_paused', v_job.id, v_job.room, pause_job.actor, pgjobs.redact_line(pause_job.reason));
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

COMMENT ON FUNCTION pgjobs.pause_job(job text, actor text, reason text) IS 'Makes claims pass a job by. Example: select * from pgjobs.pause_job(''@global:modifiers:Rotate'')';

CREATE FUNCTION pgjobs.pause_schedule(schedule text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.schedule
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_schedule pgjobs.schedules := pgjobs.find_schedule(pause_schedule.schedule, locks => true);
begin
  update pgjobs.schedules as s
  set paused_at = coalesce(s.paused_at, pgjobs.now()), next_run_at = null
  where s.id = v_schedule.id;
  perform pgjobs.record_schedule(v_schedule, 'schedule_paused', pause_schedule.actor, pause_schedule.reason);
  return query select v.* from pgjobs.schedule as v where v.id = v_schedule.id;
end
$$;

COMMENT ON FUNCTION pgjobs.pause_schedule(schedule text, actor text, reason text) IS 'Keeps a schedule from running. Example: select * from pgjobs.pause_schedule(''@global:nightly'')';

CREATE FUNCTION pgjobs.preview_schedule(cron text DEFAULT NULL::text, every interval DEFAULT NULL::interval, timezone text DEFAULT 'UTC'::text, quantity integer DEFAULT 5) RETURNS TABLE(run_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  perform pgjobs.check_schedule(
    'preview', preview_schedule.cron, preview_schedule.every, preview_schedule.timezone, 'once', is_preview => true
  );
  if preview_schedule.quantity is null or preview_schedule.quantity not between 1 and 100 then
    perform pgjobs.refuse('validation-error', 'quantity must be between 1 and 100', format('Got %s.', preview_schedule.quantity));
  end if;
  return query
  select u.run_at
  from unnest(pgjobs.upcoming_runs(
    preview_schedule.cron, preview_schedule.every, preview_schedule.timezone, null, preview_schedule.quantity
  )) as u (run_at);
end
$$;

COMMENT ON FUNCTION pgjobs.preview_schedule(cron text, every interval, timezone text, quantity integer) IS 'When a schedule would run. Example: select run_at at time zone ''Europe/Berlin'' from pgjobs.preview_schedule(''0 9 * * MON-FRI'', timezone => ''Europe/Berlin'')';

CREATE FUNCTION pgjobs.promote_due(now timestamp with time zone, batch integer DEFAULT 500) RETURNS integer
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  v_clock bigint := pgjobs.clock_ms();
  v_floor bigint[] := pgjobs.floor_get('scheduled', v_clock);
  v_head record;
  v_moved record;
  v_total integer := 0;
begin
  select s.run_at, s.task_id into v_head
  from pgjobs.scheduled as s
  where (s.run_at, s.task_id) >= (pgjobs.moment(v_floor[1]), coalesce(v_floor[2], 0))
  order by s.run_at, s.task_id
  limit 1;
  if v_floor is null or (v_head.run_at <= promote_due.now and v_head.task_id <> v_floor[2]) then
    perform pgjobs.floor_at(
      'scheduled', v_head.run_at, v_head.task_id, promote_due.now, coalesce(v_floor[3], v_clock + 1000)
    );
  end if;
  if v_head.run_at is null or v_head.run_at > promote_due.now then
    return 0;
  end if;
  for v_moved in
    with due as (
      delete from pgjobs.scheduled as s
      where s.ctid = any (array(
        select c.ctid
        from pgjobs.scheduled as c
        where (c.run_at, c.task_id) >= (v_head.run_at, v_head.task_id) and c.run_at <= promote_due.now
        order by c.run_at, c.task_id
        limit promote_due.batch
        for update skip locked
      ))
      returning s.*
    ), entered as (
      insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again)
      select d.job_id, d.priority, d.attempt, d.run_at, d.task_id, true from due as d
      returning job_id
    )
    select job_id, count(*) as quantity from entered group by job_id
  loop
    perform pgjobs.wake(v_moved.job_id, v_moved.quantity);
    v_total := v_total + v_moved.quantity;
  end loop;
  return v_total;
end
$$;

COMMENT ON FUNCTION pgjobs.promote_due(now timestamp with time zone, batch integer) IS 'Moves due tasks from scheduled to ready. Example: select pgjobs.promote_due(pgjobs.now())';

CREATE FUNCTION pgjobs.providers_status() RETURNS TABLE(provider text, content_type text, owner text, worker_id uuid, worker text, is_alive boolean, heartbeat_age interval, kept bigint, in_flight bigint, created_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
begin
  return query
  with kept as (
    select split_part(r.key, ':', 2) as provider_id, count(*) as quantity
    from (select a.key from pgjobs.reads as a where a.expires_at > v_now limit 10000) as r
    group by 1
  ), asked as (
    select split_part(f.key, ':', 2) as provider_id, count(*) as quantity
    from (select a.key from pgjobs.reads_in_flight as a where a.expires_at > v_now limit 10000) as f
    group by 1
  )
  select
    p.full_name, p.content_type, p.owner, p.worker_id, w.name, w.last_heartbeat_at >= v_alive,
    pgjobs.elapsed(w.last_heartbeat_at, v_now), coalesce(k.quantity, 0), coalesce(a.quantity, 0), p.created_at
  from pgjobs.providers as p
  join pgjobs.workers as w on w.id = p.worker_id
  left join kept as k on k.provider_id = p.id::text
  left join asked as a on a.provider_id = p.id::text
  order by p.full_name;
end
$$;

COMMENT ON FUNCTION pgjobs.providers_status() IS 'Registered providers and their answers. Example: select provider, is_alive, kept, in_flight from pgjobs.providers_status()';

CREATE FUNCTION pgjobs.prunable_tasks(now timestamp with time zone, after bigint, last bigint, of_status text, older_than interval, of_job integer, in_room text, in_category text, batch integer) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_settings pgjobs.settings;
begin
  select s.* into v_settings from pgjobs.settings as s;
  return array(
    select o.task_id
    from pgjobs.outcomes as o
    join pgjobs.jobs as j on j.id = o.job_id
    where o.task_id > prunable_tasks.after and o.task_id <= prunable_tasks.last
      and o.ended_at < prunable_tasks.now - coalesce(prunable_tasks.older_than, nullif(
        case o.status
          when 'completed' then coalesce(j.retain_completed, v_settings.retain_completed)
          else coalesce(j.retain_failed, v_settings.retain_failed)
        end, interval '0'))
      and o.status = coalesce(prunable_tasks.of_status, o.status)
      and o.job_id = coalesce(prunable_tasks.of_job, o.job_id)
      and j.room = coalesce(prunable_tasks.in_room, j.room)
      and j.category = coalesce(prunable_tasks.in_category, j.category)
    order by o.task_id
    limit prunable_tasks.batch
    for update of o skip locked
  );
end
$$;

COMMENT ON FUNCTION pgjobs.prunable_tasks(now timestamp with time zone, after bigint, last bigint, of_status text, older_than interval, of_job integer, in_room text, in_category text, batch integer) IS 'Ended tasks that are kept no longer. Example: select pgjobs.prunable_tasks(pgjobs.now(), 0, 1000, null, ''30 days'', null, null, null, 100)';

CREATE FUNCTION pgjobs.prune_events(before timestamp with time zone, batch integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  -- The audit trail of a clean-up task goes with the task.
  v_cleanup_job integer := pgjobs.cleanup_job();
  v_removed integer;
begin
  delete from pgjobs.events as e
  using (
    select o.xid, o.id
    from pgjobs.events as o
    where o.at < prune_events.before and o.job_id is distinct from v_cleanup_job
    limit prune_events.batch
  ) as old
  where e.xid = old.xid and e.id = old.id;
  get diagnostics v_removed = row_count;
  return v_removed;
end
$$;

COMMENT ON FUNCTION pgjobs.prune_events(before timestamp with time zone, batch integer) IS 'Removes events that are kept no longer. Example: select pgjobs.prune_events(pgjobs.now() - interval ''7 days'', 1000)';

CREATE FUNCTION pgjobs.prune_tasks(of_status text DEFAULT NULL::text, older_than interval DEFAULT NULL::interval, of_job text DEFAULT NULL::text, batch integer DEFAULT 1000, dry_run boolean DEFAULT false, in_room text DEFAULT NULL::text, in_category text DEFAULT NULL::text) RETURNS TABLE(task_id bigint, status text, ended_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job integer := case when prune_tasks.of_job is not null then (pgjobs.find_job(prune_tasks.of_job)).id end;
  v_key text;
  v_floor bigint;
  v_last bigint;
  v_tasks bigint[];
begin
  if prune_tasks.batch is null or prune_tasks.batch not between 1 and 100000 or prune_tasks.older_than < interval '0'
    or prune_tasks.of_status not in ('completed', 'failed', 'cancelled')
  then
    perform pgjobs.refuse('validation-error',
      'batch must be between 1 and 100000, older_than not negative, status completed, failed or cancelled');
  end if;
  v_key := 'pgjobs.pruned_' || md5(row(prune_tasks.of_status, prune_tasks.older_than, v_job, prune_tasks.in_room, prune_tasks.in_category)::text);
  v_floor := case when not prune_tasks.dry_run then pgjobs.pruned_upto(v_key, v_now) end;
  v_last := pgjobs.last_task_before(v_now - coalesce(prune_tasks.older_than, pgjobs.shortest_retention()) + interval '1 hour');
  -- The second look starts at the beginning: what is below the floor may have
  -- become old since, and an operator asks now. A sweep comes again.
  for v_look in 1..2 loop
    v_tasks := pgjobs.prunable_tasks(
      v_now, coalesce(v_floor, 0), v_last, prune_tasks.of_status, prune_tasks.older_than, v_job, prune_tasks.in_room,
      prune_tasks.in_category, prune_tasks.batch
    );
    exit when v_floor is null or cardinality(v_tasks) = prune_tasks.batch
      or num_nulls(prune_tasks.of_status, prune_tasks.older_than, v_job, prune_tasks.in_room, prune_tasks.in_category) = 5;
    v_floor := null;
  end loop;
  -- The range lets the partitions of other tasks be passed by.
  return query
  select o.task_id, o.status, o.ended_at
  from pgjobs.outcomes as o
  where o.task_id = any (v_tasks) and o.task_id between v_tasks[1] and v_tasks[cardinality(v_tasks)]
  order by o.task_id;
  if not prune_tasks.dry_run then
    perform set_config(v_key, format('%s/%s',
      case when cardinality(v_tasks) = prune_tasks.batch then v_tasks[cardinality(v_tasks)] else v_last end,
      extract(epoch from v_now)), false);
    perform pgjobs.remove_ended(v_tasks);
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.prune_tasks(of_status text, older_than interval, of_job text, batch integer, dry_run boolean, in_room text, in_category text) IS 'Removes ended tasks. Example: select * from pgjobs.prune_tasks(older_than => ''90 days'', dry_run => true)';

CREATE FUNCTION pgjobs.pruned_upto(key text, now timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_known text[] := string_to_array(nullif(current_setting(key, true), ''), '/');
begin
  return case
    when extract(epoch from now) - v_known[2]::double precision between 0 and 3600 then v_known[1]::bigint
  end;
end
$$;

COMMENT ON FUNCTION pgjobs.pruned_upto(key text, now timestamp with time zone) IS 'Up to which task this session has pruned. Example: select pgjobs.pruned_upto(''pgjobs.pruned_x'', pgjobs.now())';

CREATE FUNCTION pgjobs.queue_position(task_id bigint, job_id integer, priority smallint) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_last integer := pgjobs.last_counted_place();
  v_due_at timestamptz;
  v_run_at timestamptz;
  v_ahead integer;
begin
  select coalesce(r.due_at, a.due_at) into v_due_at
  from pgjobs.tasks as t
  left join pgjobs.ready as r
    on r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
  left join pgjobs.ready as a on a.task_id = t.id and a.is_again
  where t.id = queue_position.task_id;
  if v_due_at is null then
    select s.run_at into v_run_at from pgjobs.scheduled as s where s.task_id = queue_position.task_id;
    if v_run_at is null then
      return null;
    end if;
  end if;
  select count(*) into v_ahead
  from (
    select from pgjobs.ready as r
    where r.job_id = queue_position.job_id
      and (r.priority, r.due_at, r.task_id) < (queue_position.priority, v_due_at, queue_position.task_id)
    limit v_last
  ) as a;
  if v_due_at is null then
    select (select count(*) from (select from pgjobs.ready as r where r.job_id = queue_position.job_id limit v_last) as d)
      + count(*) filter (where e.job_id = queue_position.job_id)
    into v_ahead
    from (
      select s.job_id from pgjobs.scheduled as s
      where s.run_at < v_run_at
      order by s.run_at
      limit v_last
    ) as e;
  end if;
  return least(v_ahead + 1, v_last);
end
$$;

COMMENT ON FUNCTION pgjobs.queue_position(task_id bigint, job_id integer, priority smallint) IS 'A pending task''s place in line, counted up to pgjobs.last_counted_place(). Example: select pgjobs.queue_position(42, 1, 5::smallint)';

CREATE FUNCTION pgjobs.queue_positions(task_ids bigint[]) RETURNS TABLE(task_id bigint, place integer)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET enable_hashjoin TO 'on'
    AS $$
#variable_conflict use_column
declare
  v_last integer := pgjobs.last_counted_place();
begin
  return query
  with wanted as materialized (
    select t.id, t.job_id, t.priority, r.task_id is not null or a.task_id is not null as is_due
    from pgjobs.tasks as t
    left join pgjobs.ready as r
      on r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
    left join pgjobs.ready as a on a.task_id = t.id and a.is_again
    where t.id = any (queue_positions.task_ids)
  ), line as materialized (
    select l.task_id, l.place
    from (select distinct w.job_id from wanted as w where w.is_due) as j
    cross join lateral (
      select f.task_id, (row_number() over (order by f.priority, f.due_at, f.task_id))::integer as place
      from (
        select o.task_id, o.priority, o.due_at from pgjobs.ready as o
        where o.job_id = j.job_id
        order by o.priority, o.due_at, o.task_id
        limit v_last
      ) as f
    ) as l
  )
  select
    w.id,
    case when w.is_due then coalesce(l.place, v_last) else pgjobs.queue_position(w.id, w.job_id, w.priority) end
  from wanted as w
  left join line as l on l.task_id = w.id;
end
$$;

COMMENT ON FUNCTION pgjobs.queue_positions(task_ids bigint[]) IS 'Places in line of a page of tasks. Example: select * from pgjobs.queue_positions(array[41, 42])';

CREATE FUNCTION pgjobs.ranked_heads(job_ids integer[], now timestamp with time zone, clock bigint, trusted bigint) RETURNS TABLE(job_id integer, priority smallint, due_at timestamp with time zone, task_id bigint, lane text, floor bigint[], until_at timestamp with time zone, until_id bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  v_expires bigint := pgjobs.next_look(ranked_heads.clock);
  v_aging interval := (select s.aging from pgjobs.settings as s);
begin
  return query
  with looked as materialized (
    select
      l.job_id, l.priority, h.due_at, h.task_id, l.lane,
      array[pgjobs.micros(h.due_at), h.task_id, coalesce(l.floor[3], v_expires)] as floor,
      case
        when l.floor is null
          then pgjobs.floor_at(l.lane, h.due_at, h.task_id, ranked_heads.now, v_expires)
        when h.task_id <> l.floor[2]
          then pgjobs.floor_at(l.lane, h.due_at, h.task_id, ranked_heads.now, l.floor[3])
      end
    from (
      select d.job_id, d.priority, d.lane, pgjobs.floor_get(d.lane, ranked_heads.trusted) as floor
      from (
        select distinct a.job_id, a.priority, a.job_id || '_' || a.priority as lane
        from pgjobs.lanes as a
        where a.job_id = any (ranked_heads.job_ids)
      ) as d
      offset 0
    ) as l
    left join lateral (
      -- The head of last time is mostly still there, and one row is found a good deal
      -- sooner than the first of many: an index is read by the page.
      select r.due_at, r.task_id
      from pgjobs.ready as r
      where r.job_id = l.job_id and r.priority = l.priority
        and r.due_at = pgjobs.moment(l.floor[1]) and r.task_id = l.floor[2]
      union all
      (
        select r.due_at, r.task_id
        from pgjobs.ready as r
        where r.job_id = l.job_id and r.priority = l.priority
          and (r.due_at, r.task_id) >= (pgjobs.moment(l.floor[1]), coalesce(l.floor[2], 0))
        order by r.due_at, r.task_id
        limit 1
      )
      limit 1
    ) as h on true
  )
  select
    k.job_id, k.priority, k.due_at, k.task_id, k.lane, k.floor,
    coalesce(lead(k.rank) over ranks - k.priority * v_aging, 'infinity'),
    case when k.priority = lead(k.priority) over ranks then lead(k.task_id) over ranks else 9223372036854775807 end
  from (select l.*, l.due_at + l.priority * v_aging as rank from looked as l where l.due_at is not null) as k
  window ranks as (order by k.rank, k.priority, k.task_id)
  order by k.rank, k.priority, k.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.ranked_heads(job_ids integer[], now timestamp with time zone, clock bigint, trusted bigint) IS 'Heads of many lanes, best first. Example: see pgjobs.lane_heads, which calls it';

CREATE FUNCTION pgjobs.rates(job_ids integer[], since timestamp with time zone, step interval DEFAULT NULL::interval) RETURNS TABLE(job_id integer, start timestamp with time zone, completed bigint, failed bigint, cancelled bigint, retried bigint, wait_p50 double precision, wait_p95 double precision, run_p50 double precision, run_p95 double precision)
    LANGUAGE sql STABLE
    AS $$
select
  t.job_id, t.start, t.completed, t.failed, t.cancelled, t.retried,
  pgjobs.histogram_percentile(t.waits, 0.5), pgjobs.histogram_percentile(t.waits, 0.95),
  pgjobs.histogram_percentile(t.runs, 0.5), pgjobs.histogram_percentile(t.runs, 0.95)
from pgjobs.tallies(rates.job_ids, rates.since, rates.step) as t
$$;

COMMENT ON FUNCTION pgjobs.rates(job_ids integer[], since timestamp with time zone, step interval) IS 'What ended since a moment, and how long it took. Example: select * from pgjobs.rates(array[0], pgjobs.now() - interval ''1 hour'')';

CREATE FUNCTION pgjobs.read_cron(cron text, OUT minutes integer[], OUT hours integer[], OUT days integer[], OUT months integer[], OUT weekdays integer[], OUT follows_clocks boolean, OUT either_day boolean) RETURNS record
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_words text := upper(btrim(regexp_replace(cron, '\s+', ' ', 'g')));
  v_fields text[] := string_to_array(case v_words
    when '@HOURLY' then '0 * * * *'
    when '@DAILY' then '0 0 * * *'
    when '@MIDNIGHT' then '0 0 * * *'
    when '@WEEKLY' then '0 0 * * 0'
    when '@MONTHLY' then '0 0 1 * *'
    when '@YEARLY' then '0 0 1 1 *'
    when '@ANNUALLY' then '0 0 1 1 *'
    else v_words
  end, ' ');
begin
  if cardinality(v_fields) = 5 then
    minutes := pgjobs.cron_field(v_fields[1], 0, 59);
    hours := pgjobs.cron_field(v_fields[2], 0, 23);
    days := pgjobs.cron_field(v_fields[3], 1, 31);
    months := pgjobs.cron_field(v_fields[4], 1, 12, '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}');
    weekdays := pgjobs.cron_field(v_fields[5], 0, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT}');
  end if;
  if num_nulls(minutes, hours, days, months, weekdays) > 0 then
    perform pgjobs.refuse('validation-error', format('%L is no cron expression', left(cron, 200)),
      'It has five fields: minute, hour, day of the month, month, day of the week.',
      'For instance */15 9-17 * * MON-FRI, or @daily.');
  end if;
  follows_clocks := v_fields[1] like '*%' or v_fields[2] like '*%';
  either_day := not (v_fields[3] like '*%' or v_fields[5] like '*%');
end
$$;

COMMENT ON FUNCTION pgjobs.read_cron(cron text, OUT minutes integer[], OUT hours integer[], OUT days integer[], OUT months integer[], OUT weekdays integer[], OUT follows_clocks boolean, OUT either_day boolean) IS 'What a cron expression says. Example: select * from pgjobs.read_cron(''*/15 9-17 * * MON-FRI'')';

CREATE FUNCTION pgjobs.reconcile_cleanups(batch integer DEFAULT 200, after interval DEFAULT NULL::interval, of_job text DEFAULT NULL::text) RETURNS TABLE(created integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_after interval := coalesce(reconcile_cleanups.after, (select nullif(s.cleanup_after, interval '0') from pgjobs.settings as s));
  v_runs jsonb;
  v_job integer;
  v_node record;
begin
  if reconcile_cleanups.batch is null or reconcile_cleanups.batch not between 1 and 1000 then
    perform pgjobs.refuse('validation-error', 'batch must be between 1 and 1000');
  end if;
  if reconcile_cleanups.after < interval '0' then
    perform pgjobs.refuse('validation-error', 'after must not be negative');
  end if;
  created := 0;
  v_runs := case when v_after >= interval '0' then (
    select jsonb_agg(jsonb_build_object('id', u.task_id, 'job', u.job_id, 'payload', u.payload))
    from (
      select o.task_id, o.job_id, jsonb_build_object(
        'run_id', pgjobs.task_uuid(o.task_id), 'job_id', j.uuid, 'job_name', j.full_name,
        'node_id', coalesce(s.node_id, g.node_id), 'target', coalesce(s.target, g.target)
      ) as payload
      from pgjobs.targets as g
      join pgjobs.jobs as j on j.id = g.job_id
      join pgjobs.outcomes as o on o.status <> 'completed' and o.job_id = g.job_id
      left join pgjobs.run_targets as s on s.task_id = o.task_id
      where (reconcile_cleanups.of_job is null or reconcile_cleanups.of_job in (j.full_name, j.uuid::text))
        and o.ended_at <= v_now - v_after and s.cleanup_id is null and coalesce(s.target, g.target) is not null
      order by o.ended_at, o.task_id
      limit reconcile_cleanups.batch
    ) as u
  ) end;
  if v_runs is null then
    return next;
    return;
  end if;
  v_job := pgjobs.ensure_cleanup_job();
  -- Whoever comes second has nothing to do; an archived job takes no tasks.
  perform from pgjobs.jobs as j where j.id = v_job and j.archived_at is null for no key update skip locked;
  if not found then
    return next;
    return;
  end if;
  for v_node in
    select
      r.run -> 'payload' ->> 'node_id' as name,
      array_agg((r.run ->> 'id')::bigint order by r.place) as runs,
      array_agg((r.run ->> 'id') order by r.place) as keys,
      array_agg((r.run ->> 'job')::integer order by r.place) as jobs,
      array_agg(r.run -> 'payload' order by r.place) as payloads
    from jsonb_array_elements(v_runs) with ordinality as r (run, place)
    group by 1
    order by 1
  loop
    with submitted as (
      select s.task_id, s.is_new, s.place
      from pgjobs.submit_tasks(
        v_job::text, v_node.payloads, idempotency_keys => v_node.keys, submitter => 'maintenance', project => v_node.name
      ) with ordinality as s (task_id, is_new, place)
    ), linked as (
      insert into pgjobs.run_targets (task_id, job_id, node_id, target, taken_at, cleanup_id)
      select v_node.runs[s.place], v_node.jobs[s.place], v_node.name, v_node.payloads[s.place] -> 'target', v_now, s.task_id
      from submitted as s
      on conflict (task_id) do update set cleanup_id = excluded.cleanup_id
    )
    select created + count(*) filter (where s.is_new) into created from submitted as s;
  end loop;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.reconcile_cleanups(batch integer, after interval, of_job text) IS 'Finds runs to clean up after. Example: select * from pgjobs.reconcile_cleanups()';

CREATE FUNCTION pgjobs.record_actions(task_ids bigint[], kind text, status text, actor text, message text, now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  if cardinality(record_actions.task_ids) > 0 then
    insert into pgjobs.events (at, kind, task_id, job_id, room, status, actor, message)
    select record_actions.now, record_actions.kind, t.id, t.job_id, t.room, record_actions.status, record_actions.actor,
      left(pgjobs.redact(record_actions.message), 500)
    from pgjobs.tasks as t
    where t.id = any (record_actions.task_ids)
    order by t.id;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.record_actions(task_ids bigint[], kind text, status text, actor text, message text, now timestamp with time zone) IS 'Records what an operator did. Example: see pgjobs.retry_tasks, which calls it';

CREATE FUNCTION pgjobs.record_schedule(schedule pgjobs.schedules, kind text, actor text, message text, task_id bigint DEFAULT NULL::bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  insert into pgjobs.events (at, kind, task_id, job_id, room, actor, message, fields)
  values (
    pgjobs.now(), record_schedule.kind, record_schedule.task_id, schedule.job_id, schedule.room, record_schedule.actor,
    pgjobs.redact_line(record_schedule.message),
    jsonb_build_object('schedule', schedule.full_name, 'schedule_id', schedule.uuid)
  );
end
$$;

COMMENT ON FUNCTION pgjobs.record_schedule(schedule pgjobs.schedules, kind text, actor text, message text, task_id bigint) IS 'Records what happened to a schedule. Example: see pgjobs.pause_schedule, which calls it';

CREATE FUNCTION pgjobs.redact(message text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
declare
  v_text text := redact.message;
begin
  if length(v_text) > 8000 then
    v_text := regexp_replace(left(v_text, 7999),
      '(^|[ \t\n\r\f\v])([^ \t\n\r\f\v]{0,99}|[^ \t\n\r\f\v]*[:@/?#=][^ \t\n\r\f\v]*)$', '\1…');
  end if;
  if pgjobs.is_harmless(v_text) then
    return v_text;
  end if;
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\@]*@[^ \t\n\r\f\v"''<>/?#\\]*[/?#\\][^ \t\n\r\f\v"''<>]*@[^ \t\n\r\f\v"''<>]*',
    '\1…', 'g');
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\@:\[]*:[0-9]*[^ \t\n\r\f\v"''<>/?#\\@0-9][^ \t\n\r\f\v"''<>/?#\\@]*[/?#\\]'
    '[^ \t\n\r\f\v"''<>]*@[^ \t\n\r\f\v"''<>]*', '\1…', 'g');
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\]*[/\\][^ \t\n\r\f\v"''<>?#]*[^ \t\n\r\f\v"''<>?#/]@[^ \t\n\r\f\v"''<>]*',
    '\1…', 'g');
  v_text := regexp_replace(v_text, '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\]*@', '\1', 'g');
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://[^ \t\n\r\f\v"''<>?#]*)[?#][^ \t\n\r\f\v"''<>]*', '\1', 'g');
  v_text := regexp_replace(v_text,
    '(^|[ \t\n\r\f\v"''<>(=,;{\[])[^ \t\n\r\f\v"''<>/@:(=,;{\[]+:[^ \t\n\r\f\v"''<>/@]+@([A-Za-z0-9\[])', '\1\2', 'g');
  v_text := regexp_replace(v_text,
    '((proxy-)?authorization["'']?[ \t]*[:=][ \t]*["'']?)([a-z]+[ \t]+)?[^ \t\n\r\f\v"''<>,;]+', '\1…', 'gi');
  v_text := regexp_replace(v_text, '(bearer|basic|token)[ \t]+[a-z0-9._~+/=-]{16,}', '\1 …', 'gi');
  v_text := regexp_replace(v_text,
    '((pass(word|wd|phrase)|pwd|secret|token|(api|access)[_-]?key|signature|credential)s?["'']?[ \t]*[:=][ \t]*)'
    '("[^"]*"?|''[^'']*''?|[^ \t\n\r\f\v"''<>&,;]+)', '\1…', 'gi');
  v_text := regexp_replace(v_text, '(pg[jlc]_)[0-9a-f]{8,}', '\1…', 'g');
  return regexp_replace(v_text, 'eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?', '…', 'g');
end
$_$;

COMMENT ON FUNCTION pgjobs.redact(message text) IS 'A text without credentials. Example: select pgjobs.redact(''cannot reach https://user:secret@host/dav?token=1'')';

CREATE FUNCTION pgjobs.refuse(problem text, message text, detail text DEFAULT NULL::text, hint text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_state text := (select p.sqlstate from pgjobs.problems as p where p.problem = refuse.problem);
begin
  -- RAISE takes no null, and an empty line would be shown.
  if refuse.detail is null and refuse.hint is null then
    raise exception using errcode = v_state, message = refuse.message;
  elsif refuse.detail is null then
    raise exception using errcode = v_state, message = refuse.message, hint = refuse.hint;
  elsif refuse.hint is null then
    raise exception using errcode = v_state, message = refuse.message, detail = refuse.detail;
  end if;
  raise exception using errcode = v_state, message = refuse.message, detail = refuse.detail, hint = refuse.hint;
end
$$;

COMMENT ON FUNCTION pgjobs.refuse(problem text, message text, detail text, hint text) IS 'Raises a problem by name. Example: select pgjobs.refuse(''task-not-found'', ''No task 7'')';

CREATE FUNCTION pgjobs.refuse_cleanup_step(task_id bigint, step text, allowed text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_status text;
begin
  select c.status into v_status
  from pgjobs.incomplete_cleanup_tasks as c where c.task_id = refuse_cleanup_step.task_id;
  perform pgjobs.refuse('invalid-task-transition', format('Cannot %s a clean-up that is %s', step, v_status),
    format('It is %s.', v_status), format('Only those that are %s allow it.', allowed));
end
$$;

COMMENT ON FUNCTION pgjobs.refuse_cleanup_step(task_id bigint, step text, allowed text) IS 'Raises why a step is not allowed. Example: select pgjobs.refuse_cleanup_step(42, ''ignore'', ''queued'')';

CREATE FUNCTION pgjobs.refuse_direct_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  perform pgjobs.refuse('direct-change', format('%s on %s is refused (%s)', tg_op, tg_table_name, tg_name),
    'Rows are changed by verbs only, and some never.', 'select * from pgjobs.help()');
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.refuse_direct_change() IS 'Trigger: refuses changes that no verb makes. Example: update pgjobs.tasks set priority = 1';

CREATE FUNCTION pgjobs.refuse_generic_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  perform pgjobs.refuse('direct-change', format('%s on %s is refused', tg_op, tg_table_name),
    'It shows the rows of several tables.', case tg_op
      when 'INSERT' then 'select * from pgjobs.create_generic_jobs(domain, queue, job_type, payloads)'
      when 'UPDATE' then 'select * from pgjobs.cancel_task(id, reason), or complete_tasks, fail_tasks, release_tasks, retry_task'
      else 'select * from pgjobs.prune_tasks(older_than => interval, of_status => status)'
    end);
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.refuse_generic_change() IS 'Trigger: refuses changes of pgjobs.generic_jobs and names the verb. Example: update pgjobs.generic_jobs set status = ''failed''';

CREATE FUNCTION pgjobs.refuse_step(task_id bigint, step text, allowed text) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_status text := (select t.status from pgjobs.task as t where t.id = refuse_step.task_id);
begin
  if v_status is null then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', refuse_step.task_id));
  end if;
  perform pgjobs.refuse('invalid-task-transition', format('Cannot %s a task that is %s', step, v_status),
    format('Task %s is %s.', refuse_step.task_id, v_status), format('Only %s tasks allow it.', allowed));
end
$$;

COMMENT ON FUNCTION pgjobs.refuse_step(task_id bigint, step text, allowed text) IS 'Raises why a step is not allowed. Example: select pgjobs.refuse_step(42, ''ignore'', ''pending and failed'')';

CREATE FUNCTION pgjobs.refuse_strangers() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if current_setting('search_path') <> 'pg_catalog, pgjobs, pg_temp' then
    perform pgjobs.refuse('direct-change', format('%s on %s is refused (%s)', tg_op, tg_table_name, tg_name),
      'Rows are changed by verbs only, and some never.', 'select * from pgjobs.help()');
  end if;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.refuse_strangers() IS 'Trigger: refuses statements that no verb makes. Example: delete from pgjobs.tasks';

CREATE FUNCTION pgjobs.register_job(room text, category text, name text, schema jsonb DEFAULT '{}'::jsonb, worker_id uuid DEFAULT NULL::uuid, create_worker boolean DEFAULT false, max_attempts integer DEFAULT NULL::integer, backoff_base interval DEFAULT NULL::interval, backoff_cap interval DEFAULT NULL::interval, jitter_share real DEFAULT NULL::real, jitter_cap interval DEFAULT NULL::interval, max_age interval DEFAULT NULL::interval, max_running integer DEFAULT NULL::integer, events text DEFAULT NULL::text, retain_completed interval DEFAULT NULL::interval, retain_failed interval DEFAULT NULL::interval, replace_schema boolean DEFAULT false, keep boolean DEFAULT NULL::boolean, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS TABLE(job_id integer, registered text, linked_worker_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job pgjobs.jobs;
  v_is_new boolean;
begin
  perform pgjobs.check_registration(
    register_job.room, register_job.category, register_job.name, register_job.schema, register_job.max_attempts,
    register_job.max_running, register_job.events, register_job.actor, register_job.is_superuser
  );
  linked_worker_id := register_job.worker_id;
  if linked_worker_id is not null and not exists (
    select from pgjobs.workers as w
    where w.id = linked_worker_id and w.owner is not distinct from coalesce(register_job.actor, w.owner)
  ) then
    perform pgjobs.refuse('worker-not-found', format('Worker %s does not exist', linked_worker_id));
  end if;
  -- The update locks the row, so that two first registrations see one another.
  insert into pgjobs.jobs as j (room, category, name, schema, created_at)
  values (register_job.room, register_job.category, register_job.name, coalesce(register_job.schema, '{}'), v_now)
  on conflict (room, category, name) do update set name = j.name
  returning j.id, j.xmax = 0 into job_id, v_is_new;
  select j.* into v_job from pgjobs.jobs as j where j.id = register_job.job_id;
  registered := case
    when v_is_new then 'created'
    when v_job.deleted_at is not null then 'reactivated'
    else 'unchanged'
  end;
  if registered = 'unchanged' and not register_job.replace_schema and v_job.schema <> register_job.schema then
    perform pgjobs.refuse('schema-conflict', format('Job %s is registered with another schema', v_job.full_name),
      null, 'Register under another name, or with replace_schema => true.');
  end if;
  update pgjobs.jobs as j
  set
    schema = coalesce(register_job.schema, j.schema),
    max_attempts = coalesce(register_job.max_attempts, j.max_attempts),
    backoff_base = coalesce(register_job.backoff_base, j.backoff_base),
    backoff_cap = coalesce(register_job.backoff_cap, greatest(j.backoff_cap, register_job.backoff_base)),
    jitter_share = coalesce(register_job.jitter_share, j.jitter_share),
    jitter_cap = coalesce(register_job.jitter_cap, j.jitter_cap),
    max_age = coalesce(register_job.max_age, j.max_age),
    max_running = coalesce(register_job.max_running, j.max_running),
    events = coalesce(register_job.events, j.events),
    retain_completed = coalesce(register_job.retain_completed, j.retain_completed),
    retain_failed = coalesce(register_job.retain_failed, j.retain_failed),
    keep = coalesce(register_job.keep, j.keep),
    deleted_at = null
  where j.id = v_job.id;
  if register_job.max_running <> coalesce(v_job.max_running, 0) then
    perform pgjobs.count_unlimited();
    perform pgjobs.wake(v_job.id, 100);
  end if;
  if register_job.create_worker and linked_worker_id is null then
    linked_worker_id := (select w.id from pgjobs.register_worker(actor => register_job.actor) as w);
  end if;
  if linked_worker_id is not null then
    insert into pgjobs.worker_jobs (worker_id, job_id) values (linked_worker_id, v_job.id) on conflict do nothing;
  end if;
  insert into pgjobs.lanes (job_id, priority)
  select v_job.id, 5 where not exists (select from pgjobs.lanes as l where l.job_id = v_job.id and l.priority = 5);
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.register_job(room text, category text, name text, schema jsonb, worker_id uuid, create_worker boolean, max_attempts integer, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval, max_age interval, max_running integer, events text, retain_completed interval, retain_failed interval, replace_schema boolean, keep boolean, actor text, is_superuser boolean) IS 'Registers a job. Example: select * from pgjobs.register_job(''@global'', ''modifiers'', ''Rotate'', max_attempts => 3)';

CREATE FUNCTION pgjobs.register_provider(room text, category text, name text, schema jsonb DEFAULT '{}'::jsonb, content_type text DEFAULT 'application/json'::text, worker_id uuid DEFAULT NULL::uuid, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS TABLE(provider_id uuid, registered text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_worker uuid := register_provider.worker_id;
  v_provider pgjobs.providers;
begin
  perform pgjobs.check_provider(
    register_provider.room, register_provider.category, register_provider.name, register_provider.schema,
    register_provider.content_type, register_provider.actor, register_provider.is_superuser
  );
  if v_worker is not null and not exists (
    select from pgjobs.workers as w
    where w.id = v_worker and w.owner is not distinct from coalesce(register_provider.actor, w.owner)
  ) then
    perform pgjobs.refuse('worker-not-found', format('Worker %s does not exist', v_worker));
  end if;
  -- Two first registrations must not both find nothing.
  perform pg_advisory_xact_lock(hashtextextended(
    'pgjobs.provider:' || register_provider.room || ':' || register_provider.category || ':' || register_provider.name, 0
  ));
  select p.* into v_provider from pgjobs.providers as p
  where p.room = register_provider.room and p.category = register_provider.category and p.name = register_provider.name;
  if v_provider.id is not null and register_provider.actor is not null
    and v_provider.owner is distinct from register_provider.actor
  then
    perform pgjobs.refuse('forbidden', format('Provider %s belongs to someone else', v_provider.full_name));
  end if;
  registered := case when v_provider.id is null then 'created' else 'changed' end;
  if v_worker is null and v_provider.id is null then
    v_worker := (select w.id from pgjobs.register_worker(actor => register_provider.actor) as w);
  end if;
  insert into pgjobs.providers as p (room, category, name, schema, content_type, owner, worker_id, created_at)
  values (
    register_provider.room, register_provider.category, register_provider.name, register_provider.schema,
    register_provider.content_type, register_provider.actor, coalesce(v_worker, v_provider.worker_id), pgjobs.now()
  )
  on conflict (room, category, name) do update
  set schema = excluded.schema, content_type = excluded.content_type, worker_id = excluded.worker_id
  returning p.id into provider_id;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.register_provider(room text, category text, name text, schema jsonb, content_type text, worker_id uuid, actor text, is_superuser boolean) IS 'Registers a provider. Example: select * from pgjobs.register_provider(''@global'', ''filesystem'', ''local'')';

CREATE FUNCTION pgjobs.register_schedule(name text, job text, cron text DEFAULT NULL::text, every interval DEFAULT NULL::interval, timezone text DEFAULT 'UTC'::text, payload jsonb DEFAULT '{}'::jsonb, room text DEFAULT NULL::text, priority integer DEFAULT 5, max_attempts integer DEFAULT NULL::integer, missed text DEFAULT 'once'::text, overlap boolean DEFAULT true, owner text DEFAULT NULL::text, project text DEFAULT NULL::text, tags text[] DEFAULT NULL::text[], actor text DEFAULT NULL::text) RETURNS TABLE(schedule_id integer, registered text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job pgjobs.jobs := pgjobs.find_job(register_schedule.job);
  v_room text := coalesce(register_schedule.room, v_job.room);
  v_schedule pgjobs.schedules;
  v_is_new boolean;
begin
  perform pgjobs.check_schedule(
    register_schedule.name, register_schedule.cron, register_schedule.every, register_schedule.timezone, register_schedule.missed
  );
  perform pgjobs.check_submission(
    v_job, array[register_schedule.payload], v_room, register_schedule.priority, null, register_schedule.max_attempts, null,
    false, false
  );
  perform pgjobs.check_labels(null, register_schedule.owner, register_schedule.project, register_schedule.tags);
  -- The update locks the row, so that two first registrations see one another.
  insert into pgjobs.schedules as s (
    room, name, job_id, cron, every, timezone, payload, priority, max_attempts, owner, project, tags, missed, overlap,
    created_at, next_run_at
  )
  values (
    v_room, register_schedule.name, v_job.id, register_schedule.cron, register_schedule.every, register_schedule.timezone,
    register_schedule.payload, register_schedule.priority, register_schedule.max_attempts, register_schedule.owner,
    register_schedule.project, register_schedule.tags, register_schedule.missed, register_schedule.overlap, v_now,
    pgjobs.next_run(register_schedule.cron, register_schedule.every, register_schedule.timezone, null, v_now)
  )
  on conflict (room, name) do update set name = s.name
  returning s.id, s.xmax = 0 into schedule_id, v_is_new;
  select s.* into v_schedule from pgjobs.schedules as s where s.id = register_schedule.schedule_id;
  update pgjobs.schedules as s
  set
    job_id = v_job.id,
    cron = register_schedule.cron,
    every = register_schedule.every,
    timezone = register_schedule.timezone,
    payload = register_schedule.payload,
    priority = register_schedule.priority,
    max_attempts = register_schedule.max_attempts,
    owner = register_schedule.owner,
    project = register_schedule.project,
    tags = register_schedule.tags,
    missed = register_schedule.missed,
    overlap = register_schedule.overlap,
    next_run_at = case
      when s.paused_at is not null then null
      when (s.cron, s.every, s.timezone)
        is not distinct from (register_schedule.cron, register_schedule.every, register_schedule.timezone) then s.next_run_at
      else pgjobs.next_run(register_schedule.cron, register_schedule.every, register_schedule.timezone, null, v_now)
    end
  where s.id = v_schedule.id
    and (
      s.job_id, s.cron, s.every, s.timezone, s.payload, s.priority::integer, s.max_attempts::integer, s.owner, s.project, s.tags,
      s.missed, s.overlap
    ) is distinct from (
      v_job.id, register_schedule.cron, register_schedule.every, register_schedule.timezone, register_schedule.payload,
      register_schedule.priority, register_schedule.max_attempts, register_schedule.owner, register_schedule.project,
      register_schedule.tags, register_schedule.missed, register_schedule.overlap
    );
  registered := case when v_is_new then 'created' when found then 'changed' else 'unchanged' end;
  if registered <> 'unchanged' then
    perform pgjobs.record_schedule(
      v_schedule, case registered when 'created' then 'schedule_registered' else 'schedule_changed' end,
      register_schedule.actor, null
    );
    perform pg_notify('pgjobs.schedules', '');
  end if;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.register_schedule(name text, job text, cron text, every interval, timezone text, payload jsonb, room text, priority integer, max_attempts integer, missed text, overlap boolean, owner text, project text, tags text[], actor text) IS 'Has a job run by itself. Example: select * from pgjobs.register_schedule(''nightly'', ''@global:modifiers:Rotate'', cron => ''30 2 * * *'', timezone => ''Europe/Berlin'')';

CREATE FUNCTION pgjobs.register_worker(name text DEFAULT NULL::text, jobs text[] DEFAULT NULL::text[], actor text DEFAULT NULL::text) RETURNS SETOF pgjobs.workers
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_now timestamptz := pgjobs.now();
  v_worker pgjobs.workers;
begin
  if length(register_worker.name) > 200 then
    perform pgjobs.refuse('validation-error', 'A worker''s name has at most 200 characters');
  end if;
  insert into pgjobs.workers (name, owner, registered_at, last_heartbeat_at)
  values (register_worker.name, register_worker.actor, v_now, v_now)
  returning * into v_worker;
  insert into pgjobs.worker_jobs (worker_id, job_id)
  select distinct v_worker.id, (pgjobs.find_job(j.job)).id from unnest(register_worker.jobs) as j (job);
  return next v_worker;
end
$$;

COMMENT ON FUNCTION pgjobs.register_worker(name text, jobs text[], actor text) IS 'Registers a worker. Example: select id from pgjobs.register_worker(''night shift'', array[''@global:modifiers:Rotate''])';

CREATE FUNCTION pgjobs.release_tasks(task_ids bigint[], tokens uuid[], delay interval DEFAULT NULL::interval, holder text DEFAULT NULL::text) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_held tid[];
  v_tasks bigint[];
  v_released uuid[];
  v_jobs integer[];
  v_job record;
begin
  perform pgjobs.check_batch(release_tasks.task_ids, release_tasks.tokens);
  if release_tasks.delay < interval '0' then
    perform pgjobs.refuse('validation-error', 'delay must not be negative', format('Got %s.', release_tasks.delay));
  end if;
  v_held := pgjobs.lock_leases(release_tasks.task_ids, release_tasks.tokens, v_now, release_tasks.holder);
  with gone as (
    delete from pgjobs.leases as l where l.ctid = any (v_held) returning l.*
  ), cancelled as (
    insert into pgjobs.outcomes (
      task_id, job_id, status, attempt, token, worker_id, holder, claimed_at, started_at, ended_at, reason
    )
    select
      g.task_id, g.job_id, 'cancelled', g.attempt, g.token, g.worker_id, g.holder, g.claimed_at, g.started_at, v_now,
      g.cancel_reason
    from gone as g
    where g.cancel_requested_at is not null
  ), back as (
    select g.task_id, g.job_id, t.priority, g.attempt - 1 as attempt, t.created_at
    from gone as g
    join pgjobs.tasks as t on t.id = g.task_id
    where g.cancel_requested_at is null
  ), due as (
    insert into pgjobs.ready (job_id, priority, attempt, due_at, task_id, is_again)
    select b.job_id, b.priority, b.attempt, b.created_at, b.task_id, true from back as b where release_tasks.delay is null
  ), later as (
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority, attempt)
    select b.task_id, v_now + release_tasks.delay, b.job_id, b.priority, b.attempt
    from back as b
    where release_tasks.delay is not null
  )
  select array_agg(g.task_id), array_agg(g.token), array_agg(g.job_id)
  into v_tasks, v_released, v_jobs
  from gone as g;
  for v_job in
    select j.id, count(*) as quantity from unnest(v_jobs) as j (id) where release_tasks.delay is null group by j.id
  loop
    perform pgjobs.wake(v_job.id, v_job.quantity);
  end loop;
  if release_tasks.delay is not null then
    perform pgjobs.wake_for_slots(v_jobs);
  end if;
  return query
  select
    i.task_id,
    case when r.token is not null then coalesce(o.status, 'pending') end,
    case when r.token is null then pgjobs.lost_or_unknown(i.task_id) end
  from unnest(release_tasks.task_ids, release_tasks.tokens) as i (task_id, token)
  left join unnest(v_tasks, v_released) as r (task_id, token) on r.task_id = i.task_id and r.token = i.token
  left join pgjobs.outcomes as o on o.task_id = i.task_id and o.token = i.token;
end
$$;

COMMENT ON FUNCTION pgjobs.release_tasks(task_ids bigint[], tokens uuid[], delay interval, holder text) IS 'Gives leases back unused. Example: select * from pgjobs.release_tasks(array[42], array[''<token>''::uuid])';

CREATE FUNCTION pgjobs.remove_ended(task_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_first bigint := remove_ended.task_ids[1];
  v_last bigint := remove_ended.task_ids[cardinality(remove_ended.task_ids)];
  v_cleanup_job integer := pgjobs.cleanup_job();
begin
  delete from pgjobs.idempotency_keys as k
  using pgjobs.tasks as t
  where t.id = any (remove_ended.task_ids)
    and t.idempotency_key is not null and k.job_id = t.job_id and k.key = t.idempotency_key;
  delete from pgjobs.events as e
  using pgjobs.tasks as t
  where t.id = any (remove_ended.task_ids) and t.job_id = v_cleanup_job and e.task_id = t.id;
  delete from pgjobs.run_targets as r where r.task_id = any (remove_ended.task_ids);
  delete from pgjobs.attempts as a where a.task_id = any (remove_ended.task_ids);
  -- The range lets the partitions of other tasks be passed by.
  delete from pgjobs.outcomes as o
  where o.task_id = any (remove_ended.task_ids) and o.task_id between v_first and v_last;
  delete from pgjobs.tasks as t where t.id = any (remove_ended.task_ids);
end
$$;

COMMENT ON FUNCTION pgjobs.remove_ended(task_ids bigint[]) IS 'Removes ended tasks. Example: see pgjobs.prune_tasks, which chooses them';

CREATE FUNCTION pgjobs.remove_tasks(task_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
begin
  delete from pgjobs.leases as l where l.task_id = any (remove_tasks.task_ids);
  delete from pgjobs.ready as r
  using pgjobs.tasks as t
  where t.id = any (remove_tasks.task_ids)
    and r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id;
  delete from pgjobs.ready as r where r.task_id = any (remove_tasks.task_ids) and r.is_again;
  delete from pgjobs.scheduled as s where s.task_id = any (remove_tasks.task_ids);
  delete from pgjobs.outcomes as o where o.task_id = any (remove_tasks.task_ids);
  delete from pgjobs.ignored as i where i.task_id = any (remove_tasks.task_ids);
  delete from pgjobs.attempts as a where a.task_id = any (remove_tasks.task_ids);
  delete from pgjobs.events as e where e.task_id = any (remove_tasks.task_ids);
  delete from pgjobs.run_targets as s where s.task_id = any (remove_tasks.task_ids);
  delete from pgjobs.idempotency_keys as k
  using pgjobs.tasks as t
  where t.id = any (remove_tasks.task_ids) and t.idempotency_key is not null
    and k.job_id = t.job_id and k.key = t.idempotency_key;
  delete from pgjobs.tasks as t where t.id = any (remove_tasks.task_ids);
end
$$;

COMMENT ON FUNCTION pgjobs.remove_tasks(task_ids bigint[]) IS 'Removes tasks wherever they are. Example: see pgjobs.delete_job, which chooses them';

CREATE FUNCTION pgjobs.renew_tasks(task_ids bigint[], tokens uuid[], lease interval, holder text DEFAULT NULL::text) RETURNS TABLE(task_id bigint, until timestamp with time zone, cancel_requested boolean, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_until timestamptz := pgjobs.lease_until(renew_tasks.lease, v_now);
  v_held tid[];
begin
  perform pgjobs.check_batch(renew_tasks.task_ids, renew_tasks.tokens);
  v_held := pgjobs.lock_leases(renew_tasks.task_ids, renew_tasks.tokens, v_now, renew_tasks.holder);
  update pgjobs.leases as l set until = v_until where l.ctid = any (v_held) and l.until < v_until;
  return query
  select
    i.task_id,
    l.until,
    l.cancel_requested_at is not null,
    case when l.task_id is null then pgjobs.lost_or_unknown(i.task_id) end
  from unnest(renew_tasks.task_ids, renew_tasks.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now)
    and (renew_tasks.holder is null or coalesce(l.holder, l.worker_id::text) = renew_tasks.holder);
end
$$;

COMMENT ON FUNCTION pgjobs.renew_tasks(task_ids bigint[], tokens uuid[], lease interval, holder text) IS 'Extends leases. Example: select * from pgjobs.renew_tasks(array[42], array[''<token>''::uuid], ''1 minute'')';

CREATE FUNCTION pgjobs.report_progress(task_ids bigint[], tokens uuid[], progress jsonb[]) RETURNS TABLE(task_id bigint, cancel_requested boolean, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_held tid[];
begin
  perform pgjobs.check_batch(
    report_progress.task_ids, report_progress.tokens, coalesce(cardinality(report_progress.progress), -1)
  );
  perform pgjobs.check_documents(report_progress.progress, 'progress');
  v_held := pgjobs.lock_leases(report_progress.task_ids, report_progress.tokens, v_now);
  update pgjobs.leases as l
  set
    progress = report_progress.progress[array_position(report_progress.tokens, l.token)],
    started_at = coalesce(l.started_at, v_now)
  where l.ctid = any (v_held);
  return query
  select
    i.task_id,
    l.cancel_requested_at is not null,
    case when l.task_id is null then pgjobs.lost_or_unknown(i.task_id) end
  from unnest(report_progress.task_ids, report_progress.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now);
end
$$;

COMMENT ON FUNCTION pgjobs.report_progress(task_ids bigint[], tokens uuid[], progress jsonb[]) IS 'Keeps what workers report. Example: select * from pgjobs.report_progress(array[42], array[''<token>''::uuid], array[''{"done": 0.5}''::jsonb])';

CREATE FUNCTION pgjobs.request_read(provider text, request_hash text, params text, actor text DEFAULT NULL::text) RETURNS SETOF pgjobs.providers
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_provider pgjobs.providers := pgjobs.find_provider(request_read.provider);
begin
  insert into pgjobs.events (at, kind, room, worker_id, actor, fields)
  values (
    pgjobs.now(), 'provider_request', v_provider.room, v_provider.worker_id, request_read.actor,
    jsonb_build_object(
      'provider_id', v_provider.id, 'provider_name', v_provider.full_name,
      'request_id', request_read.request_hash, 'params', request_read.params
    )
  );
  return next v_provider;
end
$$;

COMMENT ON FUNCTION pgjobs.request_read(provider text, request_hash text, params text, actor text) IS 'Passes a question on to its provider. Example: select id from pgjobs.request_read(''@global:filesystem:local'', ''<hash>'', ''{}'')';

CREATE FUNCTION pgjobs.resume_job(job text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job pgjobs.jobs := pgjobs.find_job(resume_job.job);
begin
  update pgjobs.jobs as j set paused_at = null where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs.now(), 'job_resumed', v_job.id, v_job.room, resume_job.actor, pgjobs.redact_line(resume_job.reason));
  perform pgjobs.wake(v_job.id, 100);
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

COMMENT ON FUNCTION pgjobs.resume_job(job text, actor text, reason text) IS 'Lets claims take from a paused job again. Example: select * from pgjobs.resume_job(''@global:modifiers:Rotate'')';

CREATE FUNCTION pgjobs.resume_schedule(schedule text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.schedule
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_schedule pgjobs.schedules := pgjobs.find_schedule(resume_schedule.schedule, locks => true);
begin
  update pgjobs.schedules as s
  set paused_at = null, next_run_at = pgjobs.next_run(s.cron, s.every, s.timezone, null, pgjobs.now())
  where s.id = v_schedule.id and s.paused_at is not null;
  if found then
    perform pgjobs.record_schedule(v_schedule, 'schedule_resumed', resume_schedule.actor, resume_schedule.reason);
    perform pg_notify('pgjobs.schedules', '');
  end if;
  return query select v.* from pgjobs.schedule as v where v.id = v_schedule.id;
end
$$;

COMMENT ON FUNCTION pgjobs.resume_schedule(schedule text, actor text, reason text) IS 'Lets a paused schedule run again. Example: select * from pgjobs.resume_schedule(''@global:nightly'')';

CREATE FUNCTION pgjobs.retire_job(job text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job pgjobs.jobs := pgjobs.find_job(retire_job.job);
begin
  if v_job.deleted_at is null and pgjobs.retire_orphans(array[v_job.id], pgjobs.now(), even_kept => true) = 0 then
    perform pgjobs.refuse('job-unavailable', format('Job %s is still in use', v_job.full_name),
      'It is @internal, a worker serves it, or tasks wait.', 'Archive it instead.');
  end if;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs.now(), 'job_retired', v_job.id, v_job.room, retire_job.actor, pgjobs.redact_line(retire_job.reason));
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

COMMENT ON FUNCTION pgjobs.retire_job(job text, actor text, reason text) IS 'Soft-deletes a job nobody uses. Example: select * from pgjobs.retire_job(''@global:modifiers:Rotate'')';

CREATE FUNCTION pgjobs.retire_orphans(job_ids integer[], now timestamp with time zone, even_kept boolean DEFAULT false) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_retired integer;
begin
  if not exists (
    select from unnest(retire_orphans.job_ids) as i (id)
    where not exists (select from pgjobs.worker_jobs as w where w.job_id = i.id)
  ) then
    return 0;
  end if;
  perform from pgjobs.jobs as j where j.id = any (retire_orphans.job_ids) order by j.id for update;
  update pgjobs.jobs as j
  set deleted_at = retire_orphans.now
  where j.id = any (retire_orphans.job_ids)
    and j.room <> '@internal'
    and j.deleted_at is null
    and (not j.keep or even_kept)
    and not exists (select from pgjobs.worker_jobs as w where w.job_id = j.id)
    and (even_kept or not exists (select from pgjobs.schedules as s where s.job_id = j.id))
    -- Subqueries, not `not exists`: as a join it would read the whole backlog.
    and (select true from pgjobs.ready as r where r.job_id = j.id limit 1) is null
    and (select true from pgjobs.scheduled as s where s.job_id = j.id limit 1) is null;
  get diagnostics v_retired = row_count;
  return v_retired;
end
$$;

COMMENT ON FUNCTION pgjobs.retire_orphans(job_ids integer[], now timestamp with time zone, even_kept boolean) IS 'Soft-deletes jobs without workers and pending tasks. Example: select pgjobs.retire_orphans(array[1], pgjobs.now())';

CREATE FUNCTION pgjobs.retire_provider(provider text, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS SETOF pgjobs.providers
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_provider pgjobs.providers := pgjobs.find_provider(
    retire_provider.provider, null, retire_provider.actor, retire_provider.is_superuser
  );
begin
  delete from pgjobs.providers as p where p.id = v_provider.id;
  return next v_provider;
end
$$;

COMMENT ON FUNCTION pgjobs.retire_provider(provider text, actor text, is_superuser boolean) IS 'Takes a provider away. Example: select full_name from pgjobs.retire_provider(''@global:filesystem:local'')';

CREATE FUNCTION pgjobs.retire_schedule(schedule text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS TABLE(schedule_id integer, full_name text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_schedule pgjobs.schedules := pgjobs.find_schedule(retire_schedule.schedule, locks => true);
begin
  delete from pgjobs.schedules as s where s.id = v_schedule.id;
  perform pgjobs.record_schedule(v_schedule, 'schedule_retired', retire_schedule.actor, retire_schedule.reason);
  perform pgjobs.retire_orphans(array[v_schedule.job_id], pgjobs.now());
  schedule_id := v_schedule.id;
  full_name := v_schedule.full_name;
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.retire_schedule(schedule text, actor text, reason text) IS 'Removes a schedule. Example: select * from pgjobs.retire_schedule(''@global:nightly'')';

CREATE FUNCTION pgjobs.retire_worker(worker_id uuid, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false, silent_for interval DEFAULT NULL::interval) RETURNS TABLE(failed integer, retried integer, retired_jobs integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  perform pgjobs.find_worker(retire_worker.worker_id, retire_worker.actor, retire_worker.is_superuser);
  -- Locked before it is judged: a heartbeat in flight counts.
  perform from pgjobs.workers as w where w.id = retire_worker.worker_id for update;
  if exists (
    select from pgjobs.workers as w
    where w.id = retire_worker.worker_id and w.last_heartbeat_at > pgjobs.now() - retire_worker.silent_for
  ) then
    return query select 0, 0, 0;
    return;
  end if;
  return query select c.* from pgjobs.cleanup_worker(retire_worker.worker_id, pgjobs.now()) as c;
end
$$;

COMMENT ON FUNCTION pgjobs.retire_worker(worker_id uuid, actor text, is_superuser boolean, silent_for interval) IS 'Takes a worker away. Example: select * from pgjobs.retire_worker(''<worker id>'')';

CREATE FUNCTION pgjobs.retry_cleanup(run_id uuid, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.incomplete_cleanup_tasks
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_now timestamptz := pgjobs.now();
  v_task bigint := pgjobs.find_cleanup(retry_cleanup.run_id);
begin
  perform from pgjobs.take_outcomes(array[v_task], array['failed', 'cancelled']);
  if not found then
    delete from pgjobs.ignored as i where i.task_id = v_task;
  end if;
  if not found then
    perform from pgjobs.take_pending(array[v_task]);
  end if;
  if not found then
    perform pgjobs.refuse_cleanup_step(v_task, 'retry', 'queued, retrying, blocked, ignored and abandoned');
  end if;
  perform pgjobs.enter_lanes(array[v_task], v_now);
  perform pgjobs.record_actions(array[v_task], 'retried', 'pending', retry_cleanup.actor, retry_cleanup.reason, v_now);
  return query select c.* from pgjobs.incomplete_cleanup_tasks as c where c.task_id = v_task;
end
$$;

COMMENT ON FUNCTION pgjobs.retry_cleanup(run_id uuid, actor text, reason text) IS 'Tries to clean up now. Example: select status from pgjobs.retry_cleanup(''<run id>'', actor => current_user)';

CREATE FUNCTION pgjobs.retry_task(task_id bigint, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.task
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  perform from pgjobs.retry_tasks(array[retry_task.task_id], actor => retry_task.actor, reason => retry_task.reason) as a
  where a.problem is not null;
  if found then
    perform pgjobs.refuse_step(retry_task.task_id, 'retry', 'failed, cancelled, ignored and scheduled');
  end if;
  return query select t.* from pgjobs.task as t where t.id = retry_task.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.retry_task(task_id bigint, actor text, reason text) IS 'Starts a task over. Example: select status, attempt from pgjobs.retry_task(42, actor => current_user)';

CREATE FUNCTION pgjobs.retry_tasks(task_ids bigint[] DEFAULT NULL::bigint[], task_uuids uuid[] DEFAULT NULL::uuid[], actor text DEFAULT NULL::text, reason text DEFAULT NULL::text, dry_run boolean DEFAULT false) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_named bigint[] := pgjobs.named_tasks(retry_tasks.task_ids, retry_tasks.task_uuids);
  v_tasks bigint[] := pgjobs.in_order(v_named);
  v_done bigint[];
  v_further bigint[];
begin
  if retry_tasks.dry_run then
    return query select j.* from pgjobs.judged_step(v_named, 'retry') as j;
    return;
  end if;
  v_done := array(select o.task_id from pgjobs.take_outcomes(v_tasks, array['failed', 'cancelled']) as o);
  with gone as (
    delete from pgjobs.ignored as i where i.task_id = any (v_tasks) returning i.task_id
  ), taken as (
    delete from pgjobs.scheduled as s where s.task_id = any (v_tasks) returning s.task_id
  )
  select array_agg(f.task_id) into v_further
  from (select g.task_id from gone as g union all select t.task_id from taken as t) as f;
  v_done := v_done || v_further;
  perform pgjobs.enter_lanes(v_done, v_now);
  perform pgjobs.record_actions(v_done, 'retried', 'pending', retry_tasks.actor, retry_tasks.reason, v_now);
  return query select a.* from pgjobs.answered_step(v_named, v_done) as a;
end
$$;

COMMENT ON FUNCTION pgjobs.retry_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) IS 'Starts tasks over. Example: select * from pgjobs.retry_tasks(array(select task_id from pgjobs.failed limit 100), actor => current_user)';

CREATE FUNCTION pgjobs.revive_jobs() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  update pgjobs.jobs as j
  set deleted_at = null
  where j.deleted_at is not null
    and (
      (select true from pgjobs.ready as r where r.job_id = j.id limit 1)
      or (select true from pgjobs.scheduled as s where s.job_id = j.id limit 1)
    );
end
$$;

COMMENT ON FUNCTION pgjobs.revive_jobs() IS 'Brings back retired jobs that tasks wait for. Example: select pgjobs.revive_jobs()';

CREATE FUNCTION pgjobs.revoke_token(token_id uuid) RETURNS TABLE(revoked_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query
  update pgjobs.api_tokens as t
  set revoked_at = coalesce(t.revoked_at, pgjobs.now())
  where t.id = revoke_token.token_id
  returning t.revoked_at;
  if not found then
    perform pgjobs.refuse('validation-error', format('Token %s does not exist', revoke_token.token_id));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.revoke_token(token_id uuid) IS 'Takes a token back. Example: select * from pgjobs.revoke_token(''<token id>'')';

CREATE FUNCTION pgjobs.rooms_used() RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  with recursive used as (
    (select t.room from pgjobs.tasks as t order by t.room limit 1)
    union all
    select (select t.room from pgjobs.tasks as t where t.room > u.room order by t.room limit 1)
    from used as u
    where u.room is not null
  )
  select u.room from used as u where u.room is not null;
end
$$;

COMMENT ON FUNCTION pgjobs.rooms_used() IS 'Rooms with tasks submitted from them. Example: select * from pgjobs.rooms_used()';

CREATE FUNCTION pgjobs.rooms_using(job_id integer, wanted integer) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_rooms text[] := '{}';
  v_room text := '';
  v_looks integer := 0;
begin
  loop
    select t.room into v_room from pgjobs.tasks as t where t.room > v_room order by t.room limit 1;
    exit when v_room is null;
    v_looks := v_looks + 1;
    -- Too many rooms to look into each.
    if v_looks > 10 * rooms_using.wanted or cardinality(v_rooms) >= rooms_using.wanted then
      return null;
    end if;
    if exists (select from pgjobs.tasks as t where t.room = v_room and t.job_id = rooms_using.job_id) then
      v_rooms := v_rooms || v_room;
    end if;
  end loop;
  return v_rooms;
end
$$;

COMMENT ON FUNCTION pgjobs.rooms_using(job_id integer, wanted integer) IS 'Rooms that submitted tasks of a job, null when there are too many. Example: select pgjobs.rooms_using(1, 50)';

CREATE FUNCTION pgjobs.run_schedule(schedule text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS TABLE(task_id bigint, task_uuid uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_schedule pgjobs.schedules := pgjobs.find_schedule(run_schedule.schedule);
begin
  -- It stays, and runs in its turn meanwhile.
  perform from pgjobs.schedules as s where s.id = v_schedule.id for key share;
  if not found then
    perform pgjobs.find_schedule(run_schedule.schedule);
  end if;
  task_id := pgjobs.submit_run(v_schedule);
  task_uuid := pgjobs.task_uuid(task_id);
  perform pgjobs.note_run(v_schedule, pgjobs.now(), task_id, null, true);
  perform pgjobs.record_schedule(v_schedule, 'schedule_run', run_schedule.actor, run_schedule.reason, task_id);
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.run_schedule(schedule text, actor text, reason text) IS 'Runs a schedule now, out of turn. Example: select task_id from pgjobs.run_schedule(''@global:nightly'')';

CREATE FUNCTION pgjobs.running() RETURNS TABLE(task_id bigint, job text, room text, status text, phase text, attempt smallint, max_attempts smallint, worker text, held_for interval, claimed_at timestamp with time zone, started_at timestamp with time zone, until timestamp with time zone, progress jsonb, cancel_requested_at timestamp with time zone, worker_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  return query
  select
    l.task_id, j.full_name, t.room, case when l.started_at is null then 'claimed' else 'running' end,
    case when l.until <= v_now then 'overdue' end, l.attempt, t.max_attempts,
    coalesce(l.holder, w.name, l.worker_id::text), pgjobs.elapsed(l.claimed_at, v_now), l.claimed_at,
    l.started_at, l.until, l.progress, l.cancel_requested_at, l.worker_id
  from (select h.* from pgjobs.leases as h where h.task_id > 0 order by h.claimed_at, h.task_id limit 500) as l
  join pgjobs.tasks as t on t.id = l.task_id
  join pgjobs.jobs as j on j.id = l.job_id
  left join pgjobs.workers as w on w.id = l.worker_id
  order by l.claimed_at, l.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.running() IS 'Tasks in somebody''s hands. Example: select task_id, job, worker, held_for, progress from pgjobs.running()';

CREATE FUNCTION pgjobs.saying(ids bigint[], owner text, matching text) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $_$
declare
  v_text text := lower(saying.matching);
  v_is_id boolean := v_text ~ '^[0-9a-f-]{8,35}$';
  v_jobs integer[] := array(select j.id from pgjobs.jobs as j where position(v_text in lower(j.full_name)) > 0);
begin
  return query
  select t.id
  from unnest(saying.ids) as n (id)
  cross join lateral (
    select b.* from pgjobs.tasks as b where b.id = n.id and (saying.owner is null or b.owner = saying.owner) offset 0
  ) as t
  where v_text is null
    or t.job_id = any (v_jobs)
    or position(v_text in lower(concat_ws(' ', t.idempotency_key, t.owner, t.project, t.submitter, array_to_string(t.tags, ' ')))) > 0
    or exists (
      select from pgjobs.outcomes as o where o.task_id = n.id and position(v_text in lower(concat_ws(' ', o.error, o.reason))) > 0
    )
    or exists (select from pgjobs.scheduled as s where s.task_id = n.id and position(v_text in lower(s.error)) > 0)
    or (v_is_id and right(pgjobs.task_uuid(n.id)::text, length(v_text)) = v_text)
  order by t.id desc;
end
$_$;

COMMENT ON FUNCTION pgjobs.saying(ids bigint[], owner text, matching text) IS 'Which tasks say a text. Example: select * from pgjobs.saying(array[41, 42], null, ''refused'')';

CREATE FUNCTION pgjobs.scheduled_tasks() RETURNS TABLE(run_at timestamp with time zone, due_in interval, task_id bigint, job text, room text, phase text, priority smallint, attempt smallint, max_attempts smallint, error_kind text, error text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  return query
  select
    s.run_at, s.run_at - v_now, s.task_id, j.full_name, t.room,
    case
      when s.error is null then 'scheduled'
      when s.error_kind in ('auth', 'config') then 'blocked'
      else 'retrying'
    end,
    s.priority, s.attempt, t.max_attempts, s.error_kind, left(split_part(s.error, E'\n', 1), 200)
  from (select n.* from pgjobs.scheduled as n order by n.run_at limit 500) as s
  join pgjobs.tasks as t on t.id = s.task_id
  join pgjobs.jobs as j on j.id = s.job_id
  order by s.run_at, s.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.scheduled_tasks() IS 'The next tasks that become due. Example: select run_at, task_id, job, phase, error from pgjobs.scheduled_tasks()';

CREATE FUNCTION pgjobs.seen_task(task pgjobs.task) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
  select to_jsonb(task) - 'job_id' - 'uuid'
    || jsonb_build_object('id', (task).uuid, 'allows', pgjobs.allowed_steps((task).status, (task).phase))
$$;

COMMENT ON FUNCTION pgjobs.seen_task(task pgjobs.task) IS 'A task as the console shows it. Example: select pgjobs.seen_task(t) from pgjobs.task as t where t.id = 42';

CREATE FUNCTION pgjobs.served_jobs(now timestamp with time zone) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
begin
  return pgjobs.jobs_with_holders(served_jobs.now) || array(
    select l.job_id
    from pgjobs.worker_jobs as l
    join pgjobs.workers as w on w.id = l.worker_id
    where w.last_heartbeat_at >= served_jobs.now - (select s.worker_timeout from pgjobs.settings as s)
  );
end
$$;

COMMENT ON FUNCTION pgjobs.served_jobs(now timestamp with time zone) IS 'Jobs whose tasks somebody takes. Example: select pgjobs.served_jobs(pgjobs.now())';

CREATE FUNCTION pgjobs.set_error_policy(job text, kind text, is_retryable boolean DEFAULT true, backoff_base interval DEFAULT '00:00:01'::interval, backoff_cap interval DEFAULT '01:00:00'::interval, jitter_share real DEFAULT 0.25, jitter_cap interval DEFAULT NULL::interval) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs.find_job(set_error_policy.job);
begin
  if set_error_policy.kind is null or set_error_policy.kind = '' or length(set_error_policy.kind) > 200
    or set_error_policy.backoff_base < interval '0' or set_error_policy.backoff_cap < set_error_policy.backoff_base
    or set_error_policy.jitter_share not between 0 and 1
  then
    perform pgjobs.refuse('validation-error',
      'A policy names a kind, its cap is not below its base, and jitter_share is between 0 and 1');
  end if;
  insert into pgjobs.error_policies (job_id, kind, is_retryable, backoff_base, backoff_cap, jitter_share, jitter_cap)
  values (
    v_job.id, set_error_policy.kind, set_error_policy.is_retryable, set_error_policy.backoff_base,
    set_error_policy.backoff_cap, set_error_policy.jitter_share, set_error_policy.jitter_cap
  )
  on conflict (job_id, kind) do update set
    is_retryable = excluded.is_retryable,
    backoff_base = excluded.backoff_base,
    backoff_cap = excluded.backoff_cap,
    jitter_share = excluded.jitter_share,
    jitter_cap = excluded.jitter_cap;
end
$$;

COMMENT ON FUNCTION pgjobs.set_error_policy(job text, kind text, is_retryable boolean, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval) IS 'Says what a job does after errors of one kind. Example: select pgjobs.set_error_policy(''@global:modifiers:Rotate'', ''auth'', is_retryable => false)';

CREATE FUNCTION pgjobs.set_job_target(job text, target jsonb DEFAULT NULL::jsonb, node_id text DEFAULT 'hub'::text, actor text DEFAULT NULL::text) RETURNS TABLE(job_name text, node text, job_target jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_job pgjobs.jobs := pgjobs.find_job(set_job_target.job);
begin
  if set_job_target.target is not null then
    perform pgjobs.check_target(set_job_target.target, set_job_target.node_id);
  end if;
  if v_job.id = pgjobs.cleanup_job() then
    perform pgjobs.refuse('validation-error', 'The clean-up job has no target of its own');
  end if;
  insert into pgjobs.targets (job_id, node_id, target)
  values (v_job.id, set_job_target.node_id, set_job_target.target)
  on conflict (job_id) do update set node_id = excluded.node_id, target = excluded.target;
  insert into pgjobs.events (at, kind, job_id, room, actor, fields)
  values (
    pgjobs.now(), 'job_target_set', v_job.id, v_job.room, set_job_target.actor,
    jsonb_build_object('node_id', set_job_target.node_id, 'target', set_job_target.target)
  );
  return query select v_job.full_name, g.node_id, g.target from pgjobs.targets as g where g.job_id = v_job.id;
end
$$;

COMMENT ON FUNCTION pgjobs.set_job_target(job text, target jsonb, node_id text, actor text) IS 'Says where the runs of a job write. Example: select * from pgjobs.set_job_target(''lab:backups:nightly'', ''{"type": "local_dir", "base_dir": "/srv/backups"}'')';

CREATE FUNCTION pgjobs.settle_next_run(schedule pgjobs.schedules, now timestamp with time zone, OUT next_run_at timestamp with time zone, OUT trouble text) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
begin
  next_run_at := pgjobs.next_run(
    schedule.cron, schedule.every, schedule.timezone, schedule.next_run_at,
    case schedule.missed when 'each' then schedule.next_run_at else settle_next_run.now end
  );
  if next_run_at is null then
    trouble := 'It never comes again';
  end if;
exception when others then
  if pgjobs.is_passing(sqlstate) then
    raise;
  end if;
  trouble := sqlerrm;
end
$$;

COMMENT ON FUNCTION pgjobs.settle_next_run(schedule pgjobs.schedules, now timestamp with time zone, OUT next_run_at timestamp with time zone, OUT trouble text) IS 'When a schedule is due next. Example: see pgjobs.fire_schedules, for which it is settled';

CREATE FUNCTION pgjobs.shortest_retention() RETURNS interval
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return (
    select min(r.keep)
    from pgjobs.settings as s
    cross join pgjobs.jobs as j
    cross join lateral (values
      (coalesce(j.retain_completed, s.retain_completed)), (coalesce(j.retain_failed, s.retain_failed))
    ) as r (keep)
    where r.keep > interval '0'
  );
end
$$;

COMMENT ON FUNCTION pgjobs.shortest_retention() IS 'The shortest time that any ended task is kept. Example: select pgjobs.shortest_retention()';

CREATE FUNCTION pgjobs.show_database() RETURNS TABLE(schema_name text, version integer, server text, total_bytes bigint, notify_queue_share double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select
    n.nspname::text,
    (select max(m.number)::integer from pgjobs.migrations as m),
    'Postgres ' || split_part(current_setting('server_version'), ' ', 1),
    (select sum(pg_total_relation_size(c.oid))::bigint from pg_class as c where c.relnamespace = n.oid and c.relkind = 'r'),
    pg_notification_queue_usage()
  from pg_namespace as n
  where n.oid = (select c.relnamespace from pg_class as c where c.oid = 'pgjobs.tasks'::regclass);
end
$$;

COMMENT ON FUNCTION pgjobs.show_database() IS 'What the queue lives in. Example: select schema_name, version, pg_size_pretty(total_bytes) from pgjobs.show_database()';

CREATE VIEW pgjobs.task_answer AS
 SELECT id,
    uuid,
    job,
    room,
        CASE status
            WHEN 'ignored'::text THEN 'pending'::text
            ELSE status
        END AS status,
    created_at,
    started_at,
    ended_at,
    worker_id,
    COALESCE(error,
        CASE
            WHEN (status = 'cancelled'::text) THEN reason
            ELSE NULL::text
        END) AS error,
    payload,
    result,
        CASE
            WHEN (status = 'pending'::text) THEN pgjobs.queue_position(id, job_id, priority)
            ELSE NULL::integer
        END AS queue_position
   FROM pgjobs.task_document d;

COMMENT ON VIEW pgjobs.task_answer IS 'What HTTP shows of a task. Example: select * from pgjobs.show_task(pgjobs.task_uuid(42))';

COMMENT ON COLUMN pgjobs.task_answer.id IS 'Internal number.';

COMMENT ON COLUMN pgjobs.task_answer.uuid IS 'Public id.';

COMMENT ON COLUMN pgjobs.task_answer.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.task_answer.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.task_answer.status IS 'pending, claimed, running, completed, failed or cancelled.';

COMMENT ON COLUMN pgjobs.task_answer.created_at IS 'When it was submitted.';

COMMENT ON COLUMN pgjobs.task_answer.started_at IS 'When its last attempt began to run.';

COMMENT ON COLUMN pgjobs.task_answer.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.task_answer.worker_id IS 'The worker that holds or ended it.';

COMMENT ON COLUMN pgjobs.task_answer.error IS 'What it failed with, or why it was cancelled.';

COMMENT ON COLUMN pgjobs.task_answer.payload IS 'What to run it with.';

COMMENT ON COLUMN pgjobs.task_answer.result IS 'What it gave.';

COMMENT ON COLUMN pgjobs.task_answer.queue_position IS 'Its place among the pending tasks of its job.';

CREATE FUNCTION pgjobs.show_task(task_uuid uuid) RETURNS SETOF pgjobs.task_answer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  return query select a.* from pgjobs.task_answer as a where a.id = pgjobs.task_id(show_task.task_uuid);
  if not found then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', show_task.task_uuid));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.show_task(task_uuid uuid) IS 'One task as HTTP shows it. Example: select status, queue_position from pgjobs.show_task(pgjobs.task_uuid(42))';

CREATE FUNCTION pgjobs.show_tasks(room text, job text DEFAULT NULL::text, status text DEFAULT NULL::text, page_size integer DEFAULT 50, page_offset integer DEFAULT 0) RETURNS SETOF pgjobs.task_answer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_jobs integer[] := pgjobs.jobs_to_list(show_tasks.room, show_tasks.job, show_tasks.status);
  v_ids bigint[];
begin
  perform pgjobs.check_page(show_tasks.page_size, show_tasks.page_offset);
  v_ids := array(
    select p.id
    from pgjobs.page_of_tasks(
      show_tasks.room, v_jobs, show_tasks.status, null, show_tasks.page_size::bigint + show_tasks.page_offset
    ) as p (id)
    offset show_tasks.page_offset
  );
  -- A join would not reach into the view, and every task would be looked at.
  return query
  with places as materialized (
    select q.task_id, q.place from pgjobs.queue_positions(v_ids) as q
  )
  select
    a.id, a.uuid, a.job, a.room, a.status, a.created_at, a.started_at, a.ended_at, a.worker_id, a.error, a.payload,
    a.result, (select p.place from places as p where p.task_id = a.id)
  from pgjobs.task_answer as a
  where a.id = any (v_ids)
  order by a.id desc;
end
$$;

COMMENT ON FUNCTION pgjobs.show_tasks(room text, job text, status text, page_size integer, page_offset integer) IS 'Tasks of a room as HTTP shows them. Example: select uuid, status from pgjobs.show_tasks(''lab-7'', status => ''failed'')';

CREATE FUNCTION pgjobs.show_workers(page_size integer DEFAULT 50, page_offset integer DEFAULT 0, few integer DEFAULT 5) RETURNS TABLE(id uuid, name text, owner text, registered_at timestamp with time zone, last_heartbeat_at timestamp with time zone, is_alive boolean, job_count integer, serves jsonb, task_count integer, holds jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_alive timestamptz := pgjobs.now() - (select s.worker_timeout from pgjobs.settings as s);
  v_key bytea := (select k.task_key from pgjobs.secrets as k);
begin
  perform pgjobs.check_page(show_workers.page_size, show_workers.page_offset);
  return query
  with page as (
    select w.* from pgjobs.workers as w
    order by w.last_heartbeat_at > v_alive, w.name, w.id
    limit show_workers.page_size offset show_workers.page_offset
  ), held as (
    select
      l.*,
      count(*) over (partition by l.worker_id) as of_worker,
      row_number() over (partition by l.worker_id order by l.claimed_at, l.task_id) as place
    from pgjobs.leases as l
    -- By the key: the pages of a busy table are mostly empty.
    where l.task_id > 0 and l.worker_id in (select p.id from page as p)
  ), works as (
    select
      h.worker_id,
      min(h.of_worker)::integer as quantity,
      jsonb_agg(jsonb_build_object(
        'id', pgjobs.uuid_of(h.task_id, v_key), 'job', j.full_name, 'claimed_at', h.claimed_at, 'started_at', h.started_at,
        'attempt', h.attempt
      ) order by h.place) as tasks
    from held as h
    join pgjobs.jobs as j on j.id = h.job_id
    where h.place <= show_workers.few
    group by h.worker_id
  )
  select
    p.id, p.name, p.owner, p.registered_at, p.last_heartbeat_at, p.last_heartbeat_at > v_alive,
    (select count(*)::integer from pgjobs.worker_jobs as s where s.worker_id = p.id),
    (
      select coalesce(jsonb_agg(f.full_name order by f.full_name), '[]')
      from (
        select j.full_name from pgjobs.worker_jobs as s
        join pgjobs.jobs as j on j.id = s.job_id
        where s.worker_id = p.id
        order by j.full_name
        limit show_workers.few
      ) as f
    ),
    coalesce(w.quantity, 0), coalesce(w.tasks, '[]')
  from page as p
  left join works as w on w.worker_id = p.id
  order by p.last_heartbeat_at > v_alive, p.name, p.id;
end
$$;

COMMENT ON FUNCTION pgjobs.show_workers(page_size integer, page_offset integer, few integer) IS 'Workers with their jobs and tasks. Example: select name, is_alive, serves, task_count from pgjobs.show_workers()';

CREATE FUNCTION pgjobs.shown_cleanups(task_ids bigint[]) RETURNS SETOF pgjobs.incomplete_cleanup_tasks
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  return query
  select c.*
  from pgjobs.incomplete_cleanup_tasks as c
  where c.task_id = any (shown_cleanups.task_ids)
  order by array_position(shown_cleanups.task_ids, c.task_id);
end
$$;

COMMENT ON FUNCTION pgjobs.shown_cleanups(task_ids bigint[]) IS 'Clean-up tasks as they are shown. Example: select status from pgjobs.shown_cleanups(array[42])';

CREATE FUNCTION pgjobs.snapshot_targets() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  -- Most queues have no target, and this look costs less than touching the rows.
  if not exists (select from pgjobs.targets) then
    return null;
  end if;
  insert into pgjobs.run_targets (task_id, job_id, node_id, target, taken_at)
  select n.task_id, n.job_id, g.node_id, g.target, n.started_at
  from new_rows as n
  join pgjobs.targets as g on g.job_id = n.job_id and g.target is not null
  where n.started_at is not null
    -- Renewals and progress change rows that started before.
    and (tg_op = 'INSERT' or not exists (select from pgjobs.run_targets as s where s.task_id = n.task_id))
  on conflict (task_id) do nothing;
  return null;
end
$$;

COMMENT ON FUNCTION pgjobs.snapshot_targets() IS 'Trigger: copies the target of a job into the runs that start. Example: fires on insert into pgjobs.leases';

CREATE FUNCTION pgjobs.some_tasks_of(job_id integer, quantity integer) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
begin
  return array(
    with recursive rooms as (
      select (select t.room from pgjobs.tasks as t order by t.room limit 1) as room
      union all
      select (select t.room from pgjobs.tasks as t where t.room > r.room order by t.room limit 1)
      from rooms as r
      where r.room is not null
    )
    select t.id
    from rooms as r
    cross join lateral (
      select k.id
      from pgjobs.tasks as k
      where k.room = r.room and k.job_id = some_tasks_of.job_id
      order by k.id
      limit some_tasks_of.quantity
    ) as t
    limit some_tasks_of.quantity
  );
end
$$;

COMMENT ON FUNCTION pgjobs.some_tasks_of(job_id integer, quantity integer) IS 'Some tasks of a job. Example: select pgjobs.some_tasks_of(1, 100)';

CREATE FUNCTION pgjobs.start_tasks(task_ids bigint[], tokens uuid[]) RETURNS TABLE(task_id bigint, status text, cancel_requested boolean, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_held tid[];
begin
  perform pgjobs.check_batch(start_tasks.task_ids, start_tasks.tokens);
  v_held := pgjobs.lock_leases(start_tasks.task_ids, start_tasks.tokens, v_now);
  update pgjobs.leases as l set started_at = v_now where l.ctid = any (v_held) and l.started_at is null;
  return query
  select
    i.task_id,
    case when l.task_id is not null then 'running' end,
    l.cancel_requested_at is not null,
    case when l.task_id is null then pgjobs.lost_or_unknown(i.task_id) end
  from unnest(start_tasks.task_ids, start_tasks.tokens) as i (task_id, token)
  left join pgjobs.leases as l
    on l.task_id = i.task_id and l.token = i.token and (l.until is null or l.until > v_now);
end
$$;

COMMENT ON FUNCTION pgjobs.start_tasks(task_ids bigint[], tokens uuid[]) IS 'Says that work has begun. Example: select * from pgjobs.start_tasks(array[42], array[''<token>''::uuid])';

CREATE FUNCTION pgjobs.status_at_rest(task_id bigint) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_status text := (select o.status from pgjobs.outcomes as o where o.task_id = status_at_rest.task_id);
begin
  return case
    when v_status is not null then v_status
    when exists (select from pgjobs.leases as l where l.task_id = status_at_rest.task_id) then null
    when exists (select from pgjobs.ignored as i where i.task_id = status_at_rest.task_id) then null
    else 'pending'
  end;
end
$$;

COMMENT ON FUNCTION pgjobs.status_at_rest(task_id bigint) IS 'A task''s status while nobody works on it. Example: select pgjobs.status_at_rest(42)';

CREATE FUNCTION pgjobs.status_of(task_id bigint) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return coalesce(
    (select o.status from pgjobs.outcomes as o where o.task_id = status_of.task_id),
    (
      select case when l.started_at is null then 'claimed' else 'running' end
      from pgjobs.leases as l
      where l.task_id = status_of.task_id
    ),
    (select 'ignored' from pgjobs.ignored as i where i.task_id = status_of.task_id),
    (select 'pending' from pgjobs.tasks as t where t.id = status_of.task_id),
    'gone'
  );
end
$$;

COMMENT ON FUNCTION pgjobs.status_of(task_id bigint) IS 'A task''s status. Example: select pgjobs.status_of(42)';

CREATE FUNCTION pgjobs.storage() RETURNS TABLE(relation text, live bigint, dead bigint, dead_share double precision, table_bytes bigint, index_bytes bigint, total_bytes bigint, hot_share double precision, last_vacuum_at timestamp with time zone, last_analyze_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
begin
  return query
  select
    s.relname::text, s.n_live_tup, s.n_dead_tup,
    round(s.n_dead_tup::numeric / nullif(s.n_live_tup + s.n_dead_tup, 0), 3)::double precision,
    pg_table_size(s.relid), pg_indexes_size(s.relid), pg_total_relation_size(s.relid),
    round(s.n_tup_hot_upd::numeric / nullif(s.n_tup_upd, 0), 3)::double precision,
    greatest(s.last_vacuum, s.last_autovacuum), greatest(s.last_analyze, s.last_autoanalyze)
  from pg_stat_user_tables as s
  where s.schemaname = 'pgjobs'
  order by pg_total_relation_size(s.relid) desc, s.relname;
end
$$;

COMMENT ON FUNCTION pgjobs.storage() IS 'The health of every table. Example: select relation, live, dead, pg_size_pretty(total_bytes) from pgjobs.storage()';

CREATE FUNCTION pgjobs.store_read(key text, data bytea, lifetime interval) RETURNS TABLE(expires_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  if store_read.key is null or length(store_read.key) > 1000 or store_read.data is null then
    perform pgjobs.refuse('validation-error', 'A read needs a key of at most 1000 characters and data');
  end if;
  insert into pgjobs.reads as r (key, data, expires_at)
  values (store_read.key, store_read.data, pgjobs.now() + store_read.lifetime)
  on conflict (key) do update set data = excluded.data, expires_at = excluded.expires_at
  returning r.expires_at into expires_at;
  -- A hash, because payloads are short and keys are not.
  perform pg_notify('pgjobs.read', md5(store_read.key));
  return next;
end
$$;

COMMENT ON FUNCTION pgjobs.store_read(key text, data bytea, lifetime interval) IS 'Keeps an answer. Example: select expires_at from pgjobs.store_read(''<key>'', ''\x00'', ''5 minutes'')';

CREATE FUNCTION pgjobs.stuck() RETURNS TABLE(task_id bigint, job text, problem text, since timestamp with time zone, advice text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
  v_served integer[] := pgjobs.served_jobs(v_now);
begin
  return query
  with found (task_id, job_id, problem, since, advice) as (
    (
      select
        l.task_id, l.job_id,
        case
          when l.until <= v_now then 'its lease has lapsed'
          when w.id is null then 'its worker is gone'
          when w.last_heartbeat_at < v_alive then 'its worker is silent'
          else 'its worker does not heed the cancellation'
        end,
        case
          when l.until <= v_now then l.until
          when w.id is null or w.last_heartbeat_at < v_alive then coalesce(w.last_heartbeat_at, l.claimed_at)
          else l.cancel_requested_at
        end,
        case
          when l.until <= v_now then 'select * from pgjobs.sweep(''leases'')'
          when w.id is null or w.last_heartbeat_at < v_alive then 'select * from pgjobs.sweep()'
          else format('select * from pgjobs.cancel_task(%s, force => true)', l.task_id)
        end
      from pgjobs.leases as l
      left join pgjobs.workers as w on w.id = l.worker_id
      where l.task_id > 0 and (
        l.until <= v_now
        or (l.worker_id is not null and (w.id is null or w.last_heartbeat_at < v_alive))
        or l.cancel_requested_at < v_now - interval '1 minute'
      )
      limit 500
    )
    union all
    (
      select s.task_id, s.job_id, 'it is due and nobody moves it into line', s.run_at, 'select * from pgjobs.sweep(''scheduled'')'
      from pgjobs.scheduled as s
      where s.run_at < v_now - interval '1 minute'
      order by s.run_at
      limit 100
    )
    union all
    select r.task_id, j.id, 'nobody serves its job', r.due_at, format('select * from pgjobs.why(%s)', r.task_id)
    from pgjobs.jobs as j
    cross join lateral (select distinct a.priority from pgjobs.lanes as a where a.job_id = j.id) as a
    cross join lateral (
      select c.task_id, c.due_at from pgjobs.ready as c
      where c.job_id = j.id and c.priority = a.priority
      order by c.due_at, c.task_id
      limit 1
    ) as r
    where j.deleted_at is null and j.archived_at is null and j.paused_at is null
      and r.due_at < v_now - interval '1 minute'
      and j.id <> all (v_served)
  )
  select f.task_id, j.full_name, f.problem, f.since, f.advice
  from found as f
  join pgjobs.jobs as j on j.id = f.job_id
  order by f.since, f.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.stuck() IS 'Tasks that should have moved. Example: select task_id, job, problem, advice from pgjobs.stuck()';

CREATE FUNCTION pgjobs.submit_and_show(job text, room text, payload jsonb DEFAULT '{}'::jsonb, idempotency_key text DEFAULT NULL::text, require_workers boolean DEFAULT false, cross_room boolean DEFAULT false, actor text DEFAULT NULL::text, trace_context text DEFAULT NULL::text) RETURNS SETOF pgjobs.task_answer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_id bigint;
  v_new boolean;
begin
  -- A statement of its own, so that the next one sees what it wrote.
  select s.task_id, s.is_new into v_id, v_new
  from pgjobs.submit_tasks(
    job => submit_and_show.job, payloads => array[submit_and_show.payload], room => submit_and_show.room,
    idempotency_keys => case when submit_and_show.idempotency_key is not null then array[submit_and_show.idempotency_key] end,
    submitter => submit_and_show.actor, owner => submit_and_show.actor,
    require_workers => submit_and_show.require_workers, cross_room => submit_and_show.cross_room,
    trace_context => submit_and_show.trace_context
  ) as s;
  if not v_new then
    return query select a.* from pgjobs.task_answer as a where a.id = v_id;
    return;
  end if;
  -- What was just submitted is due since then, so its place in line needs no look for it.
  return query
  select
    t.id, pgjobs.task_uuid(t.id), j.full_name, t.room, 'pending', t.created_at, null::timestamptz, null::timestamptz,
    null::uuid, null::text, t.payload, null::jsonb, least(a.quantity + 1, pgjobs.last_counted_place())::integer
  from pgjobs.tasks as t
  join pgjobs.jobs as j on j.id = t.job_id
  cross join lateral (
    select count(*) as quantity
    from (
      select from pgjobs.ready as r
      where r.job_id = t.job_id and (r.priority, r.due_at, r.task_id) < (t.priority, t.created_at, t.id)
      limit pgjobs.last_counted_place()
    ) as f
  ) as a
  where t.id = v_id;
end
$$;

COMMENT ON FUNCTION pgjobs.submit_and_show(job text, room text, payload jsonb, idempotency_key text, require_workers boolean, cross_room boolean, actor text, trace_context text) IS 'Submits a task and shows it as HTTP does. Example: select uuid from pgjobs.submit_and_show(''@global:modifiers:Rotate'', ''lab-7'')';

CREATE FUNCTION pgjobs.submit_run(schedule pgjobs.schedules, available_at timestamp with time zone DEFAULT NULL::timestamp with time zone, key text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
begin
  return (
    select s.task_id
    from pgjobs.submit_tasks(
      job => schedule.job_id::text, payloads => array[schedule.payload], room => schedule.room, priority => schedule.priority,
      available_at => submit_run.available_at, max_attempts => schedule.max_attempts,
      idempotency_keys => case when submit_run.key is not null then array[submit_run.key] end,
      submitter => left('schedule ' || schedule.full_name, 200), owner => schedule.owner, project => schedule.project,
      tags => schedule.tags
    ) as s
  );
end
$$;

COMMENT ON FUNCTION pgjobs.submit_run(schedule pgjobs.schedules, available_at timestamp with time zone, key text) IS 'Submits the task of a run. Example: see pgjobs.run_schedule, which calls it';

CREATE FUNCTION pgjobs.submit_task(job text, payload jsonb DEFAULT '{}'::jsonb, room text DEFAULT NULL::text, priority integer DEFAULT 5, available_at timestamp with time zone DEFAULT NULL::timestamp with time zone, delay interval DEFAULT NULL::interval, max_attempts integer DEFAULT NULL::integer, idempotency_key text DEFAULT NULL::text, submitter text DEFAULT NULL::text, owner text DEFAULT NULL::text, project text DEFAULT NULL::text, tags text[] DEFAULT NULL::text[], trace_context text DEFAULT NULL::text) RETURNS SETOF pgjobs.task
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_id bigint;
begin
  -- A statement of its own, so that the next one sees what it wrote.
  select s.task_id into v_id
  from pgjobs.submit_tasks(
    job => submit_task.job, payloads => array[submit_task.payload], room => submit_task.room,
    priority => submit_task.priority, available_at => submit_task.available_at, delay => submit_task.delay,
    max_attempts => submit_task.max_attempts,
    idempotency_keys => case when submit_task.idempotency_key is not null then array[submit_task.idempotency_key] end,
    submitter => submit_task.submitter, owner => submit_task.owner, project => submit_task.project,
    tags => submit_task.tags, trace_context => submit_task.trace_context
  ) as s;
  return query select t.* from pgjobs.task as t where t.id = v_id;
end
$$;

COMMENT ON FUNCTION pgjobs.submit_task(job text, payload jsonb, room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_key text, submitter text, owner text, project text, tags text[], trace_context text) IS 'Submits one task and shows it. Example: select * from pgjobs.submit_task(''@global:modifiers:Rotate'', ''{"angle": 90}'')';

CREATE FUNCTION pgjobs.submit_tasks(job text, payloads jsonb[], room text DEFAULT NULL::text, priority integer DEFAULT 5, available_at timestamp with time zone DEFAULT NULL::timestamp with time zone, delay interval DEFAULT NULL::interval, max_attempts integer DEFAULT NULL::integer, idempotency_keys text[] DEFAULT NULL::text[], submitter text DEFAULT NULL::text, owner text DEFAULT NULL::text, project text DEFAULT NULL::text, tags text[] DEFAULT NULL::text[], require_workers boolean DEFAULT false, cross_room boolean DEFAULT false, trace_context text DEFAULT NULL::text) RETURNS TABLE(task_id bigint, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job pgjobs.jobs := pgjobs.find_job(submit_tasks.job);
  v_room text := coalesce(submit_tasks.room, v_job.room);
  v_attempts smallint := coalesce(submit_tasks.max_attempts, v_job.max_attempts);
  v_run_at timestamptz := coalesce(submit_tasks.available_at, v_now + submit_tasks.delay);
  v_is_due boolean := coalesce(v_run_at <= v_now and isfinite(v_run_at), true);
  v_ids bigint[];
  v_new boolean[];
  v_entered bigint[];
begin
  perform pgjobs.check_submission(
    v_job, submit_tasks.payloads, v_room, submit_tasks.priority, submit_tasks.delay, v_attempts::integer,
    submit_tasks.idempotency_keys, submit_tasks.require_workers, submit_tasks.cross_room
  );
  if submit_tasks.tags is not null
    or greatest(length(submit_tasks.submitter), length(submit_tasks.owner), length(submit_tasks.project)) > 200
  then
    perform pgjobs.check_labels(submit_tasks.submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.tags);
  end if;
  if submit_tasks.trace_context is not null then
    perform pgjobs.check_trace_context(submit_tasks.trace_context);
  end if;
  if submit_tasks.idempotency_keys is not null then
    select k.ids, k.are_new into v_ids, v_new
    from pgjobs.draw_ids(v_job.id, submit_tasks.idempotency_keys) as k;
  end if;
  with new_tasks as (
    insert into pgjobs.tasks (
      id, job_id, room, payload, priority, max_attempts, created_at, submitter, owner, project, tags, idempotency_key,
      trace_context
    )
    overriding system value
    select
      coalesce(v_ids[i.place], nextval('pgjobs.tasks_id_seq')), v_job.id, v_room, i.payload, submit_tasks.priority,
      v_attempts, v_now, submit_tasks.submitter, submit_tasks.owner, submit_tasks.project, submit_tasks.tags,
      submit_tasks.idempotency_keys[i.place], submit_tasks.trace_context
    from unnest(submit_tasks.payloads) with ordinality as i (payload, place)
    where v_new is null or v_new[i.place]
    returning id
  )
  select array_agg(n.id) into v_entered from new_tasks as n;
  if v_is_due then
    insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again)
    select v_job.id, submit_tasks.priority, coalesce(v_run_at, v_now), n.id, coalesce(v_run_at < v_now, false)
    from unnest(v_entered) as n (id);
    perform pgjobs.wake(v_job.id, cardinality(submit_tasks.payloads));
  else
    if not isfinite(v_run_at) then
      perform pgjobs.refuse('validation-error', 'available_at must be a time', format('Got %s.', v_run_at));
    end if;
    insert into pgjobs.scheduled (task_id, run_at, job_id, priority)
    select n.id, v_run_at, v_job.id, submit_tasks.priority from unnest(v_entered) as n (id);
    -- An idle worker sleeps until what was due next when it looked.
    if v_run_at < v_now + interval '1 minute' then
      perform pgjobs.wake(v_job.id, 1);
    end if;
  end if;
  return query
  select k.id, coalesce(k.is_new, true) from unnest(coalesce(v_ids, v_entered), v_new) as k (id, is_new);
end
$$;

COMMENT ON FUNCTION pgjobs.submit_tasks(job text, payloads jsonb[], room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_keys text[], submitter text, owner text, project text, tags text[], require_workers boolean, cross_room boolean, trace_context text) IS 'Submits many tasks of one job. Example: select * from pgjobs.submit_tasks(''@global:modifiers:Rotate'', array[''{"angle": 90}''::jsonb])';

CREATE FUNCTION pgjobs.sweep(step text DEFAULT NULL::text, batch integer DEFAULT 1000, worker_timeout interval DEFAULT NULL::interval, internal_timeout interval DEFAULT NULL::interval) RETURNS TABLE(swept text, changed integer, error text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_now timestamptz := pgjobs.now();
  v_steps text[] := array['leases', 'workers', 'internal', 'schedules', 'scheduled', 'reads', 'rollups', 'errors', 'retention', 'storage'];
begin
  if sweep.step <> all (v_steps) or batch is null or batch not between 1 and 100000 then
    perform pgjobs.refuse('validation-error', 'Unknown step, or batch not between 1 and 100000',
      null, 'Steps: ' || array_to_string(v_steps, ', '));
  end if;
  if least(sweep.worker_timeout, sweep.internal_timeout) <= interval '0' then
    perform pgjobs.refuse('validation-error', 'Timeouts must be longer than zero');
  end if;
  foreach swept in array case when sweep.step is null then v_steps else array[sweep.step] end loop
    error := null;
    begin
      changed := case swept
        when 'leases' then pgjobs.sweep_leases(v_now, batch)
        when 'workers' then pgjobs.sweep_workers(v_now, batch, sweep.worker_timeout)
        when 'internal' then pgjobs.sweep_internal(v_now, batch, sweep.internal_timeout)
        when 'schedules' then (select f.fired + f.skipped from pgjobs.fire_schedules(least(batch, 10000)) as f)
        when 'scheduled' then pgjobs.promote_due(v_now, batch)
        when 'reads' then pgjobs.sweep_reads(v_now, batch)
        -- One batch size for all steps: to count costs a hundredth of a lease.
        when 'rollups' then pgjobs.sweep_rollups(v_now, batch * 100)
        when 'errors' then pgjobs.sweep_errors(v_now, batch * 100)
        when 'retention' then pgjobs.sweep_retention(v_now, batch)
        -- The last: its locks are kept until the transaction ends.
        when 'storage' then pgjobs.sweep_storage()
      end;
    exception when others then
      changed := 0;
      error := sqlerrm;
    end;
    return next;
  end loop;
end
$$;

COMMENT ON FUNCTION pgjobs.sweep(step text, batch integer, worker_timeout interval, internal_timeout interval) IS 'One pass of upkeep. Example: select * from pgjobs.sweep()';

CREATE FUNCTION pgjobs.sweep_errors(now timestamp with time zone, batch integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_upto pg_snapshot := pgjobs.feed_snapshot();
  v_read record;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('pgjobs.errors', 0)) then
    return 0;
  end if;
  -- A dump restored into another cluster has seen other transactions.
  update pgjobs.error_cursor as c
  set since = v_upto, upto = null, after_xid = '0', after_id = 0
  where pg_snapshot_xmax(c.since) > pg_snapshot_xmax(v_upto);
  update pgjobs.error_cursor as c set upto = v_upto where c.upto is null;
  with seen as materialized (
    select u.* from pgjobs.uncounted_errors(sweep_errors.batch) as u
  ), counted as (
    insert into pgjobs.error_counts as c (since, job_id, fingerprint, quantity, error_kind, message, last_at, last_task_id)
    select
      date_bin('5 minutes', s.at, 'epoch'), s.job_id, pgjobs.error_fingerprint(s.error_kind, s.message), count(*),
      min(s.error_kind), left(split_part((array_agg(s.message order by s.at desc))[1], E'\n', 1), 200), max(s.at),
      (array_agg(s.task_id order by s.at desc))[1]
    from seen as s
    where s.is_error
    group by 1, 2, 3
    on conflict (since, job_id, fingerprint) do update
    set
      quantity = c.quantity + excluded.quantity,
      message = excluded.message,
      last_at = greatest(c.last_at, excluded.last_at),
      last_task_id = excluded.last_task_id
  )
  select
    count(*) as quantity, count(*) filter (where s.is_error) as errors,
    (array_agg(s.xid order by s.xid desc))[1] as xid, (array_agg(s.id order by s.xid desc, s.id desc))[1] as id
  into v_read
  from seen as s;
  if v_read.quantity < sweep_errors.batch then
    update pgjobs.error_cursor as c set since = c.upto, upto = null, after_xid = '0', after_id = 0;
  else
    update pgjobs.error_cursor as c set after_xid = v_read.xid, after_id = v_read.id;
  end if;
  delete from pgjobs.error_counts as c where c.since < sweep_errors.now - interval '7 days';
  return v_read.errors;
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_errors(now timestamp with time zone, batch integer) IS 'Counts failed attempts by fingerprint. Example: select pgjobs.sweep_errors(pgjobs.now(), 10000)';

CREATE FUNCTION pgjobs.sweep_internal(now timestamp with time zone, batch integer, internal_timeout interval DEFAULT NULL::interval) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_held tid[];
begin
  v_held := array(
    select l.ctid
    from pgjobs.leases as l
    join pgjobs.jobs as j on j.id = l.job_id and j.room = '@internal'
    join pgjobs.tasks as t on t.id = l.task_id
    where coalesce(l.started_at, t.created_at)
      < sweep_internal.now - coalesce(
        sweep_internal.internal_timeout, (select s.internal_timeout from pgjobs.settings as s)
      )
    order by l.task_id
    limit sweep_internal.batch
    for update of l skip locked
  );
  perform pgjobs.end_attempts(
    v_held, null, array['Internal worker timeout'], array['internal_timeout'], array[false], sweep_internal.now
  );
  return cardinality(v_held);
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_internal(now timestamp with time zone, batch integer, internal_timeout interval) IS 'Fails stuck @internal tasks. Example: select pgjobs.sweep_internal(pgjobs.now(), 1000)';

CREATE FUNCTION pgjobs.sweep_leases(now timestamp with time zone, batch integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_held tid[];
begin
  perform pgjobs.count_unlimited();
  v_held := array(
    select l.ctid
    from pgjobs.leases as l
    where l.until <= sweep_leases.now
      or (l.worker_id is not null and not exists (select from pgjobs.workers as w where w.id = l.worker_id))
    order by l.task_id
    limit sweep_leases.batch
    for update skip locked
  );
  perform pgjobs.end_attempts(
    v_held, null, array['lease_expired'], array['lease_expired'], null, sweep_leases.now
  );
  return cardinality(v_held);
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_leases(now timestamp with time zone, batch integer) IS 'Ends lapsed leases. Example: select pgjobs.sweep_leases(pgjobs.now(), 1000)';

CREATE FUNCTION pgjobs.sweep_reads(now timestamp with time zone, batch integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_removed integer;
begin
  delete from pgjobs.reads_in_flight as f
  where f.ctid = any (array(
    select e.ctid from pgjobs.reads_in_flight as e
    where e.expires_at <= sweep_reads.now
    limit sweep_reads.batch
    for update skip locked
  ));
  delete from pgjobs.reads as r
  where r.ctid = any (array(
    select e.ctid from pgjobs.reads as e
    where e.expires_at <= sweep_reads.now
    limit sweep_reads.batch
    for update skip locked
  ));
  get diagnostics v_removed = row_count;
  return v_removed;
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_reads(now timestamp with time zone, batch integer) IS 'Removes expired answers. Example: select pgjobs.sweep_reads(pgjobs.now(), 1000)';

CREATE FUNCTION pgjobs.sweep_retention(now timestamp with time zone, batch integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_tasks integer := (select count(*) from pgjobs.prune_tasks(batch => sweep_retention.batch));
  v_events integer;
begin
  select pgjobs.prune_events(sweep_retention.now - s.retain_events, sweep_retention.batch) into v_events
  from pgjobs.settings as s
  where s.retain_events > interval '0';
  delete from pgjobs.lanes as l
  using pgjobs.lanes as other
  where other.job_id = l.job_id and other.priority = l.priority and other.ctid < l.ctid;
  delete from pgjobs.waiting_marks as w where w.since < sweep_retention.now - interval '10 minutes';
  delete from pgjobs.watched as w where w.since < sweep_retention.now - interval '1 hour';
  return greatest(v_tasks, v_events);
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_retention(now timestamp with time zone, batch integer) IS 'Removes what is no longer kept. Example: select pgjobs.sweep_retention(pgjobs.now(), 1000)';

CREATE FUNCTION pgjobs.sweep_rollups(now timestamp with time zone, batch integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_counted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('pgjobs.rollups', 0)) then
    return 0;
  end if;
  with taken as (
    delete from pgjobs.uncounted as u
    where u.ctid = any (array(
      select c.ctid from pgjobs.uncounted as c limit sweep_rollups.batch for update skip locked
    ))
    returning u.job_id, u.measure, u.at, date_trunc('minute', u.at) as minute, u.task_ids, u.claimed_at
  ), counted (minute, job_id, measure, bucket, quantity, seconds) as (
    select u.minute, u.job_id, u.measure, 0::smallint, sum(cardinality(u.task_ids)), 0
    from taken as u
    group by u.minute, u.job_id, u.measure
    union all
    select d.minute, d.job_id, 'run', pgjobs.histogram_bucket(d.seconds), count(*), sum(d.seconds)
    from (
      select u.minute, u.job_id, date_part('epoch', u.at - c.claimed_at) as seconds
      from taken as u
      cross join unnest(u.claimed_at) as c (claimed_at)
      where u.measure = 'completed'
    ) as d
    group by d.minute, d.job_id, pgjobs.histogram_bucket(d.seconds)
    union all
    select w.minute, w.job_id, 'wait', pgjobs.histogram_bucket(w.seconds), count(*), sum(w.seconds)
    from (
      select u.minute, u.job_id, date_part('epoch', c.claimed_at - t.created_at) as seconds
      from taken as u
      cross join unnest(u.task_ids, u.claimed_at) as c (task_id, claimed_at)
      join pgjobs.tasks as t on t.id = c.task_id
      where c.claimed_at is not null
    ) as w
    group by w.minute, w.job_id, pgjobs.histogram_bucket(w.seconds)
  ), kept as (
    insert into pgjobs.rollups as r (
      job_id, minute, completed, failed, cancelled, retried, waits, wait_seconds, runs, run_seconds
    )
    select
      coalesce(c.job_id, 0),
      coalesce(c.minute, '-infinity'),
      coalesce(sum(c.quantity) filter (where c.measure = 'completed'), 0),
      coalesce(sum(c.quantity) filter (where c.measure = 'failed'), 0),
      coalesce(sum(c.quantity) filter (where c.measure = 'cancelled'), 0),
      coalesce(sum(c.quantity) filter (where c.measure = 'retried'), 0),
      pgjobs.histogram(
        array_agg(c.bucket) filter (where c.measure = 'wait'), array_agg(c.quantity) filter (where c.measure = 'wait')
      ),
      coalesce(sum(c.seconds) filter (where c.measure = 'wait'), 0),
      pgjobs.histogram(
        array_agg(c.bucket) filter (where c.measure = 'run'), array_agg(c.quantity) filter (where c.measure = 'run')
      ),
      coalesce(sum(c.seconds) filter (where c.measure = 'run'), 0)
    from counted as c
    group by grouping sets ((c.job_id, c.minute), (c.job_id), (c.minute))
    on conflict (job_id, minute) do update
    set
      completed = r.completed + excluded.completed,
      failed = r.failed + excluded.failed,
      cancelled = r.cancelled + excluded.cancelled,
      retried = r.retried + excluded.retried,
      waits = pgjobs.add_histograms(r.waits, excluded.waits),
      wait_seconds = r.wait_seconds + excluded.wait_seconds,
      runs = pgjobs.add_histograms(r.runs, excluded.runs),
      run_seconds = r.run_seconds + excluded.run_seconds
  )
  select coalesce(sum(cardinality(u.task_ids)), 0) into v_counted from taken as u;
  perform pgjobs.forget_rollups(sweep_rollups.now);
  return v_counted;
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_rollups(now timestamp with time zone, batch integer) IS 'Counts endings into minutes. Example: select pgjobs.sweep_rollups(pgjobs.now(), 100000)';

CREATE FUNCTION pgjobs.sweep_storage() RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_table text;
  v_changed integer := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('pgjobs.partitions', 0)) then
    return 0;
  end if;
  foreach v_table in array array['outcomes', 'events'] loop
    begin
      v_changed := v_changed + pgjobs.extend_partitions(v_table);
      v_changed := v_changed + pgjobs.drop_partitions(v_table);
    exception when lock_not_available then
      null;
    end;
  end loop;
  return v_changed;
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_storage() IS 'Makes and drops partitions. Example: select pgjobs.sweep_storage()';

CREATE FUNCTION pgjobs.sweep_workers(now timestamp with time zone, batch integer, worker_timeout interval DEFAULT NULL::interval) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_worker uuid;
  v_swept integer := 0;
begin
  for v_worker in
    select w.id
    from pgjobs.workers as w
    where w.last_heartbeat_at < sweep_workers.now - coalesce(
      sweep_workers.worker_timeout, (select s.worker_timeout from pgjobs.settings as s)
    )
    order by w.id
    limit least(sweep_workers.batch, 100)
    for update skip locked
  loop
    perform from pgjobs.cleanup_worker(v_worker, sweep_workers.now);
    v_swept := v_swept + 1;
  end loop;
  perform pgjobs.revive_jobs();
  return v_swept;
end
$$;

COMMENT ON FUNCTION pgjobs.sweep_workers(now timestamp with time zone, batch integer, worker_timeout interval) IS 'Cleans up silent workers. Example: select pgjobs.sweep_workers(pgjobs.now(), 100)';

CREATE FUNCTION pgjobs.take_outcomes(task_ids bigint[], statuses text[]) RETURNS TABLE(task_id bigint, job_id integer, attempt smallint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
  return query
  with gone as (
    delete from pgjobs.outcomes as o
    where o.task_id = any (take_outcomes.task_ids) and o.status = any (take_outcomes.statuses)
      -- The range lets the partitions of other tasks be passed by.
      and o.task_id between take_outcomes.task_ids[1] and take_outcomes.task_ids[cardinality(take_outcomes.task_ids)]
    returning o.*
  ), kept as (
    insert into pgjobs.attempts (
      task_id, attempt, status, token, worker_id, holder, claimed_at, started_at, ended_at, error, error_kind, reason
    )
    select
      g.task_id, g.attempt, g.status, g.token, g.worker_id, g.holder, g.claimed_at, g.started_at, g.ended_at,
      g.error, g.error_kind, g.reason
    from gone as g
  )
  select g.task_id, g.job_id, g.attempt from gone as g;
end
$$;

COMMENT ON FUNCTION pgjobs.take_outcomes(task_ids bigint[], statuses text[]) IS 'Takes outcomes away, into the attempt history. Example: see pgjobs.retry_tasks, which starts tasks over';

CREATE FUNCTION pgjobs.take_pending(task_ids bigint[]) RETURNS TABLE(task_id bigint, job_id integer, priority smallint, attempt smallint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  v_found bigint;
  v_total bigint := 0;
begin
  for v_try in 1..3 loop
    return query
    delete from pgjobs.ready as r
    using pgjobs.tasks as t
    where t.id = any (take_pending.task_ids)
      and r.job_id = t.job_id and r.priority = t.priority and r.due_at = t.created_at and r.task_id = t.id
    returning r.task_id, r.job_id, r.priority, r.attempt;
    get diagnostics v_found = row_count;
    v_total := v_total + v_found;
    exit when v_total = cardinality(take_pending.task_ids);
    return query
    delete from pgjobs.ready as r
    where r.task_id = any (take_pending.task_ids) and r.is_again
    returning r.task_id, r.job_id, r.priority, r.attempt;
    get diagnostics v_found = row_count;
    v_total := v_total + v_found;
    exit when v_total = cardinality(take_pending.task_ids);
    return query
    delete from pgjobs.scheduled as s
    where s.task_id = any (take_pending.task_ids)
    returning s.task_id, s.job_id, s.priority, s.attempt;
    get diagnostics v_found = row_count;
    v_total := v_total + v_found;
    exit when v_total = cardinality(take_pending.task_ids);
  end loop;
end
$$;

COMMENT ON FUNCTION pgjobs.take_pending(task_ids bigint[]) IS 'Takes pending tasks out of line. Example: see pgjobs.cancel_tasks, which gives them a new home';

CREATE FUNCTION pgjobs.tallies(job_ids integer[], since timestamp with time zone, step interval DEFAULT NULL::interval) RETURNS TABLE(job_id integer, start timestamp with time zone, completed bigint, failed bigint, cancelled bigint, retried bigint, waits bigint[], runs bigint[])
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_since timestamptz := date_trunc('minute', tallies.since);
begin
  return query
  select
    j.id, date_bin(tallies.step, r.minute, 'epoch'),
    sum(r.completed)::bigint, sum(r.failed)::bigint, sum(r.cancelled)::bigint, sum(r.retried)::bigint,
    array[
      sum(r.waits[1]), sum(r.waits[2]), sum(r.waits[3]), sum(r.waits[4]), sum(r.waits[5]), sum(r.waits[6]), sum(r.waits[7]),
      sum(r.waits[8]), sum(r.waits[9]), sum(r.waits[10]), sum(r.waits[11]), sum(r.waits[12]), sum(r.waits[13]), sum(r.waits[14])
    ]::bigint[],
    array[
      sum(r.runs[1]), sum(r.runs[2]), sum(r.runs[3]), sum(r.runs[4]), sum(r.runs[5]), sum(r.runs[6]), sum(r.runs[7]),
      sum(r.runs[8]), sum(r.runs[9]), sum(r.runs[10]), sum(r.runs[11]), sum(r.runs[12]), sum(r.runs[13]), sum(r.runs[14])
    ]::bigint[]
  from unnest(tallies.job_ids) as j (id)
  join pgjobs.rollups as r on r.job_id = j.id and r.minute >= v_since
  group by 1, 2;
end
$$;

COMMENT ON FUNCTION pgjobs.tallies(job_ids integer[], since timestamp with time zone, step interval) IS 'What ended since a moment. Example: select start, completed from pgjobs.tallies(array[0], pgjobs.now() - interval ''1 hour'', ''10 minutes'')';

CREATE FUNCTION pgjobs.task_id(task_uuid uuid) RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_key bytea := (select s.task_key from pgjobs.secrets as s);
  v_bytes bytea := uuid_send(task_id.task_uuid);
  v_hex text := encode(v_bytes, 'hex');
  v_id bigint := ('x0' || left(v_hex, 12) || substr(v_hex, 14, 3))::bit(64)::bigint
    # pgjobs.task_mask(substr(v_bytes, 9, 8), v_key);
begin
  -- Anything but a uuid made here fails to come back as itself.
  return case when pgjobs.uuid_of(v_id, v_key) = task_id.task_uuid then v_id end;
end
$$;

COMMENT ON FUNCTION pgjobs.task_id(task_uuid uuid) IS 'The number behind a public id, null for one this queue never issued. Example: select pgjobs.task_id(pgjobs.task_uuid(42))';

CREATE FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT
    RETURN (((('x'::text || encode(substr(sha256((check_bits || key)), 1, 8), 'hex'::text)))::bit(64))::bigint & ('0000111111111111111111111111111111111111111111111111111111111111'::"bit")::bigint);

COMMENT ON FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) IS 'What hides a task''s number in its public id. Example: select pgjobs.task_mask(''\x00'', ''\x00'')';

CREATE FUNCTION pgjobs.task_number_at(moment timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_low bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id limit 1), 1);
  v_high bigint := coalesce((select t.id from pgjobs.tasks as t order by t.id desc limit 1), 0) + 1;
  v_middle bigint;
  v_id bigint;
  v_created_at timestamptz;
begin
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select t.id, t.created_at into v_id, v_created_at from pgjobs.tasks as t where t.id >= v_middle order by t.id limit 1;
    if v_id is null or v_id >= v_high or v_created_at >= task_number_at.moment then
      v_high := v_middle;
    else
      v_low := v_id + 1;
    end if;
  end loop;
  return v_low;
end
$$;

COMMENT ON FUNCTION pgjobs.task_number_at(moment timestamp with time zone) IS 'Where tasks of a time begin. Example: select pgjobs.task_number_at(pgjobs.now() - interval ''1 hour'')';

CREATE FUNCTION pgjobs.task_uuid(task_id bigint) RETURNS uuid
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return pgjobs.uuid_of(task_id, (select s.task_key from pgjobs.secrets as s));
end
$$;

COMMENT ON FUNCTION pgjobs.task_uuid(task_id bigint) IS 'The public id of a task. Example: select pgjobs.task_uuid(42)';

CREATE FUNCTION pgjobs.throughput(of_job text DEFAULT NULL::text, since interval DEFAULT '01:00:00'::interval, step interval DEFAULT '00:01:00'::interval) RETURNS TABLE(at timestamp with time zone, completed bigint, failed bigint, cancelled bigint, retried bigint, wait_p50 double precision, wait_p95 double precision, run_p50 double precision, run_p95 double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_job integer := case when throughput.of_job is null then 0 else (pgjobs.find_job(throughput.of_job)).id end;
  v_first timestamptz;
begin
  if throughput.step is null or throughput.step < interval '1 minute' or throughput.since is null
    or throughput.since <= interval '0' or throughput.since > 1500 * throughput.step
  then
    perform pgjobs.refuse('validation-error', 'step must be a minute or more, and since at most 1500 steps');
  end if;
  v_first := date_bin(throughput.step, v_now - throughput.since, 'epoch');
  return query
  select
    s.start, coalesce(r.completed, 0), coalesce(r.failed, 0), coalesce(r.cancelled, 0), coalesce(r.retried, 0),
    r.wait_p50, r.wait_p95, r.run_p50, r.run_p95
  from generate_series(v_first, v_now, throughput.step) as s (start)
  left join pgjobs.rates(array[v_job], v_first, throughput.step) as r on r.start = s.start
  order by s.start;
end
$$;

COMMENT ON FUNCTION pgjobs.throughput(of_job text, since interval, step interval) IS 'What ended in each minute. Example: select * from pgjobs.throughput(since => ''1 day'', step => ''1 hour'')';

CREATE FUNCTION pgjobs.token_of(luck text, task_id bigint) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    RETURN ((luck || lpad(to_hex(task_id), 15, '0'::text)))::uuid;

COMMENT ON FUNCTION pgjobs.token_of(luck text, task_id bigint) IS 'The token of a task in one claim. Example: select pgjobs.token_of(pgjobs.draw_luck(), 42)';

CREATE FUNCTION pgjobs.top() RETURNS TABLE(job text, state text, live integer, due bigint, oldest text, later bigint, held bigint, done double precision, failed double precision, wait text, run text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
  v_served integer[] := pgjobs.served_jobs(v_now);
begin
  return query
  select
    case when length(j.full_name) > 27 then left(j.full_name, 9) || '…' || right(j.full_name, 17) else j.full_name end,
    case
      when j.archived_at is not null then 'archived'
      when j.paused_at is not null then 'paused'
      when d.overdue > 0 then 'overdue'
      when d.waiting > 0 and j.id <> all (v_served) then 'unserved'
      when d.waiting + d.claimed + d.running > 0 then 'busy'
      else 'idle'
    end,
    w.alive, d.waiting, pgjobs.short_duration(extract(epoch from pgjobs.elapsed(d.oldest_at, v_now))::double precision),
    d.scheduled, d.claimed + d.running, round(coalesce(m.completed, 0) / 5.0, 1)::double precision,
    round(coalesce(m.failed, 0) / 5.0, 1)::double precision,
    pgjobs.short_duration(m.wait_p95), pgjobs.short_duration(m.run_p95)
  from pgjobs.jobs as j
  join pgjobs.depths() as d on d.job_id = j.id
  cross join lateral (
    select count(*)::integer as alive
    from pgjobs.worker_jobs as l
    join pgjobs.workers as k on k.id = l.worker_id
    where l.job_id = j.id and k.last_heartbeat_at >= v_alive
  ) as w
  left join pgjobs.rates(array(select j.id from pgjobs.jobs as j), v_now - interval '5 minutes') as m on m.job_id = j.id
  order by d.claimed + d.running desc, d.waiting desc, coalesce(m.completed, 0) desc, j.full_name
  limit 40;
end
$$;

COMMENT ON FUNCTION pgjobs.top() IS 'The busiest jobs on a narrow screen. Example: select * from pgjobs.top()';

CREATE FUNCTION pgjobs.track_tasks(task_ids bigint[]) RETURNS TABLE(id bigint, phase text, created_at timestamp with time zone, started_at timestamp with time zone, status text, error text, queue_position integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
begin
  if cardinality(track_tasks.task_ids) > 1000 then
    perform pgjobs.refuse('validation-error', 'task_ids has at most 1000 entries');
  end if;
  return query
  select
    t.id, t.phase, t.created_at, t.started_at, t.status, t.error,
    case when t.status = 'pending' then pgjobs.queue_position(t.id, t.job_id, t.priority) end
  from pgjobs.task as t
  where t.id = any (track_tasks.task_ids);
end
$$;

COMMENT ON FUNCTION pgjobs.track_tasks(task_ids bigint[]) IS 'How some tasks stand now. Example: select id, status, queue_position from pgjobs.track_tasks(array[41, 42])';

CREATE FUNCTION pgjobs.troubles_of_database() RETURNS TABLE(severity text, subject text, message text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    AS $$
begin
  return query
  select
    case when b.age > interval '1 hour' then 'error' else 'warning' end, b.kind || ' ' || b.name,
    format('Holds back the removal of dead rows%s', coalesce(' for ' || pgjobs.short_duration(extract(epoch from b.age)::double precision), '')),
    b.advice
  from pgjobs.blockers() as b
  where b.age > interval '10 minutes' or (b.age is null and b.held_back > 1000000)
  union all
  select
    'warning', 'table ' || s.relname,
    format('%s of its rows are dead: %s', to_char(100.0 * s.n_dead_tup / (s.n_live_tup + s.n_dead_tup), 'FM990%'), s.n_dead_tup),
    format('vacuum (analyze) pgjobs.%I', s.relname)
  from pg_stat_user_tables as s
  where s.schemaname = 'pgjobs' and s.n_dead_tup > 100000 and s.n_dead_tup > s.n_live_tup
  union all
  select
    'warning', 'table ' || c.relname, 'Autovacuum is switched off for it',
    format('alter table pgjobs.%I reset (autovacuum_enabled)', c.relname)
  from pg_class as c
  where c.relnamespace = to_regnamespace('pgjobs')
    and c.reloptions && array['autovacuum_enabled=off', 'autovacuum_enabled=false']
  union all
  select 'error', 'index ' || c.relname, 'It is invalid and never used', format('reindex index concurrently pgjobs.%I', c.relname)
  from pg_index as i
  join pg_class as c on c.oid = i.indexrelid
  where c.relnamespace = to_regnamespace('pgjobs') and not i.indisvalid
  union all
  select
    case when q.used > 0.5 then 'error' else 'warning' end, 'notifications',
    format('The queue of notifications is %s full: a listening session does not read them', to_char(q.used * 100, 'FM990%')),
    'select pid, application_name, xact_start from pg_stat_activity where state <> ''idle'' order by xact_start'
  from (select pg_notification_queue_usage() as used) as q
  where q.used > 0.1
  union all
  select
    'error', 'server', format('%s is off: a crash can lose or damage tasks', s.name), format('alter system set %s = on', s.name)
  from pg_settings as s
  where s.name in ('fsync', 'full_page_writes') and s.setting = 'off'
  union all
  select
    'warning', 'server', format('%s is off: tables of the queue will bloat', s.name), format('alter system set %s = on', s.name)
  from pg_settings as s
  where s.name in ('autovacuum', 'track_counts') and s.setting = 'off';
end
$$;

COMMENT ON FUNCTION pgjobs.troubles_of_database() IS 'What is wrong with the database. Example: select * from pgjobs.troubles_of_database()';

CREATE FUNCTION pgjobs.troubles_of_jobs(now timestamp with time zone) RETURNS TABLE(severity text, subject text, message text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    AS $$
declare
  v_served integer[] := pgjobs.served_jobs(troubles_of_jobs.now);
  -- Lines that move are nobody's trouble, and counting them is most of the work.
  v_standing integer[] := array(
    select j.id from pgjobs.jobs as j
    where j.deleted_at is null
      and (j.paused_at is not null or j.archived_at is not null or j.id <> all (v_served))
  );
begin
  return query
  with lines as materialized (
    select
      j.id, j.full_name, j.paused_at, j.archived_at, d.oldest_at,
      case d.waiting when 1 then '1 task waits' else d.waiting || ' tasks wait' end as waiting
    from pgjobs.depths(v_standing) as d
    join pgjobs.jobs as j on j.id = d.job_id
    where d.waiting > 0
  )
  select
    'warning', 'job ' || l.full_name,
    format('%s, the oldest for %s, and nobody serves the job', l.waiting, pgjobs.ago(l.oldest_at, now)),
    format('select * from pgjobs.waiting where job = %L', l.full_name)
  from lines as l
  where l.paused_at is null and l.archived_at is null and l.oldest_at < now - interval '1 minute'
    and l.id <> all (v_served)
  union all
  select
    'info', 'job ' || l.full_name,
    format('%s; the job was %s %s ago', l.waiting,
      case when l.archived_at is null then 'paused' else 'archived' end, pgjobs.ago(coalesce(l.archived_at, l.paused_at), now)),
    format('select * from pgjobs.%s_job(%L)', case when l.archived_at is null then 'resume' else 'unarchive' end, l.full_name)
  from lines as l
  where l.paused_at is not null or l.archived_at is not null
  union all
  select
    'warning', 'job ' || j.full_name,
    format('%s of %s tasks that ended in the last hour failed', r.failed, r.failed + r.completed),
    format('select * from pgjobs.errors where job = %L', j.full_name)
  from pgjobs.endings(array(select k.id from pgjobs.jobs as k), now - interval '1 hour') as r
  join pgjobs.jobs as j on j.id = r.job_id
  where r.failed >= 10 and r.failed > r.completed;
end
$$;

COMMENT ON FUNCTION pgjobs.troubles_of_jobs(now timestamp with time zone) IS 'What is wrong with jobs. Example: select * from pgjobs.troubles_of_jobs(pgjobs.now())';

CREATE FUNCTION pgjobs.troubles_of_partitions() RETURNS TABLE(severity text, subject text, message text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    AS $$
declare
  v_most bigint := 1000000000;
begin
  return query
  with tables as (
    select
      p.parent, max(p.upper) as highest, max(p.last_number) as last_number, bool_or(p.lower is null) as has_default,
      sum(pg_table_size(format('pgjobs.%I', p.partition)::regclass)) filter (where p.lower is null) as default_bytes
    from pgjobs.partitions() as p
    group by p.parent
  )
  select
    'warning', 'table ' || t.parent,
    format('Numbers from %s on have no partition and are kept in %s_default', t.highest, t.parent),
    case
      when t.default_bytes > v_most then format(
        'select pgjobs.extend_partitions(%L, most_bytes => %s) -- acknowledgements wait while %s are read', t.parent,
        t.default_bytes * 2, pg_size_pretty(t.default_bytes))
      else 'select * from pgjobs.sweep(''storage'')'
    end
  from tables as t
  where t.last_number >= coalesce(t.highest, 0)
  union all
  select
    'error', 'table ' || t.parent, 'It has no default partition: where another is missing, tasks cannot end',
    format('create table pgjobs.%I partition of pgjobs.%I default', t.parent || '_default', t.parent)
  from tables as t
  where not t.has_default;
end
$$;

COMMENT ON FUNCTION pgjobs.troubles_of_partitions() IS 'Partitions that are missing. Example: select * from pgjobs.troubles_of_partitions()';

CREATE FUNCTION pgjobs.troubles_of_schedules(now timestamp with time zone) RETURNS TABLE(severity text, subject text, message text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    AS $_$
begin
  return query
  with known as materialized (
    select s.id, s.full_name, s.job, s.state, s.next_run_at, s.paused_at from pgjobs.schedule as s
  )
  select
    'error', 'schedule ' || s.full_name, format('It is due for %s and nobody starts it', pgjobs.ago(s.next_run_at, now)),
    'select * from pgjobs.fire_schedules()'
  from known as s
  where s.next_run_at < now - interval '2 minutes'
  union all
  select
    'warning', 'schedule ' || s.full_name, format('It runs for nothing: %s is %s', s.job, replace(s.state, 'job ', '')),
    format(
      case s.state when 'job archived' then 'select * from pgjobs.unarchive_job(%L)' else 'select * from pgjobs.pause_schedule(%2$L)' end,
      s.job, s.full_name
    )
  from known as s
  where s.state in ('job archived', 'job retired')
  union all
  select
    'warning', 'schedule ' || s.full_name, 'Its last three runs failed', format('select * from pgjobs.errors where job = %L', s.job)
  from known as s
  where s.paused_at is null
    and 3 = (
      select count(*)
      from (select n.task_id from pgjobs.schedule_runs as n where n.schedule_id = s.id order by n.id desc limit 3) as r
      join pgjobs.outcomes as o on o.task_id = r.task_id
      where o.status = 'failed'
    );
end
$_$;

COMMENT ON FUNCTION pgjobs.troubles_of_schedules(now timestamp with time zone) IS 'What is wrong with schedules. Example: select * from pgjobs.troubles_of_schedules(pgjobs.now())';

CREATE FUNCTION pgjobs.troubles_of_upkeep(now timestamp with time zone) RETURNS TABLE(severity text, subject text, message text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_late timestamptz := now - interval '2 minutes';
begin
  return query
  select
    'error', 'sweep',
    case count(*) when 1 then '1 lease' else count(*) || ' leases' end || ' lapsed more than two minutes ago, not ended since',
    'select * from pgjobs.sweep()'
  from pgjobs.leases as l
  where l.task_id > 0 and l.until < v_late
  having count(*) > 0
  union all
  select
    'error', 'sweep',
    case count(*) when 1 then '1 worker' else count(*) || ' workers' end || ' silent for longer than allowed, not cleaned up since',
    'select * from pgjobs.sweep()'
  from pgjobs.workers as w
  where w.last_heartbeat_at < v_late - (select s.worker_timeout from pgjobs.settings as s)
  having count(*) > 0
  union all
  select
    'error', 'sweep', format('Scheduled tasks are due for %s and not in line', pgjobs.ago(s.run_at, now)),
    'select * from pgjobs.sweep(''scheduled'')'
  from (select n.run_at from pgjobs.scheduled as n order by n.run_at limit 1) as s
  where s.run_at < v_late
  union all
  select
    'warning', 'task ' || l.task_id, format('Asked to stop %s ago, its holder does not heed it', pgjobs.ago(l.cancel_requested_at, now)),
    format('select * from pgjobs.cancel_task(%s, force => true)', l.task_id)
  from pgjobs.leases as l
  where l.task_id > 0 and l.cancel_requested_at < now - interval '10 minutes';
end
$$;

COMMENT ON FUNCTION pgjobs.troubles_of_upkeep(now timestamp with time zone) IS 'What upkeep has left undone. Example: select * from pgjobs.troubles_of_upkeep(pgjobs.now())';

CREATE FUNCTION pgjobs.unarchive_job(job text, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job pgjobs.jobs := pgjobs.find_job(unarchive_job.job);
begin
  update pgjobs.jobs as j set archived_at = null where j.id = v_job.id;
  insert into pgjobs.events (at, kind, job_id, room, actor, message)
  values (pgjobs.now(), 'job_unarchived', v_job.id, v_job.room, unarchive_job.actor, pgjobs.redact_line(unarchive_job.reason));
  perform pgjobs.wake(v_job.id, 100);
  return query select v.* from pgjobs.job as v where v.id = v_job.id;
end
$$;

COMMENT ON FUNCTION pgjobs.unarchive_job(job text, actor text, reason text) IS 'Takes an archived job out again. Example: select * from pgjobs.unarchive_job(''@global:modifiers:Rotate'')';

CREATE FUNCTION pgjobs.uncounted_errors(quantity integer) RETURNS TABLE(xid xid8, id bigint, at timestamp with time zone, is_error boolean, job_id integer, task_id bigint, error_kind text, message text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_cursor pgjobs.error_cursor;
begin
  select c.* into v_cursor from pgjobs.error_cursor as c;
  return query
  select
    e.xid, e.id, e.at, e.kind in ('failed', 'retrying'), e.job_id, e.task_id,
    coalesce(e.fields ->> 'error_kind', o.error_kind), coalesce(e.message, 'unknown error')
  from pgjobs.events_between(
    v_cursor.since, coalesce(v_cursor.upto, pgjobs.feed_snapshot()), v_cursor.after_xid, v_cursor.after_id,
    null, null, null, uncounted_errors.quantity
  ) as e
  left join pgjobs.outcomes as o on e.kind = 'failed' and o.task_id = e.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.uncounted_errors(quantity integer) IS 'Failed attempts that are not counted yet. Example: select * from pgjobs.uncounted_errors(1000) where is_error';

CREATE FUNCTION pgjobs.unignore_cleanup(run_id uuid, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.incomplete_cleanup_tasks
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_task bigint := pgjobs.find_cleanup(unignore_cleanup.run_id);
begin
  begin
    perform from pgjobs.unignore_task(v_task, unignore_cleanup.actor, unignore_cleanup.reason);
  exception when sqlstate 'PJ006' then
    perform pgjobs.refuse_cleanup_step(v_task, 'unignore', 'ignored');
  end;
  return query select c.* from pgjobs.incomplete_cleanup_tasks as c where c.task_id = v_task;
end
$$;

COMMENT ON FUNCTION pgjobs.unignore_cleanup(run_id uuid, actor text, reason text) IS 'Takes up what was ignored. Example: select status from pgjobs.unignore_cleanup(''<run id>'', actor => current_user)';

CREATE FUNCTION pgjobs.unignore_task(task_id bigint, actor text DEFAULT NULL::text, reason text DEFAULT NULL::text) RETURNS SETOF pgjobs.task
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  perform from pgjobs.unignore_tasks(array[unignore_task.task_id], actor => unignore_task.actor, reason => unignore_task.reason) as a
  where a.problem is not null;
  if found then
    perform pgjobs.refuse_step(unignore_task.task_id, 'unignore', 'ignored');
  end if;
  return query select t.* from pgjobs.task as t where t.id = unignore_task.task_id;
end
$$;

COMMENT ON FUNCTION pgjobs.unignore_task(task_id bigint, actor text, reason text) IS 'Puts an ignored task back in line. Example: select status from pgjobs.unignore_task(42, actor => current_user)';

CREATE FUNCTION pgjobs.unignore_tasks(task_ids bigint[] DEFAULT NULL::bigint[], task_uuids uuid[] DEFAULT NULL::uuid[], actor text DEFAULT NULL::text, reason text DEFAULT NULL::text, dry_run boolean DEFAULT false) RETURNS TABLE(task_id bigint, status text, problem text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_named bigint[] := pgjobs.named_tasks(unignore_tasks.task_ids, unignore_tasks.task_uuids);
  v_done bigint[];
begin
  if unignore_tasks.dry_run then
    return query select j.* from pgjobs.judged_step(v_named, 'unignore') as j;
    return;
  end if;
  with gone as (
    delete from pgjobs.ignored as i where i.task_id = any (pgjobs.in_order(v_named)) returning i.task_id
  )
  select array_agg(g.task_id) into v_done from gone as g;
  perform pgjobs.enter_lanes(v_done, v_now);
  perform pgjobs.record_actions(v_done, 'unignored', 'pending', unignore_tasks.actor, unignore_tasks.reason, v_now);
  return query select a.* from pgjobs.answered_step(v_named, v_done) as a;
end
$$;

COMMENT ON FUNCTION pgjobs.unignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) IS 'Puts ignored tasks back in line. Example: select * from pgjobs.unignore_tasks(array[41, 42], actor => current_user)';

CREATE FUNCTION pgjobs.unlock_read(key text) RETURNS TABLE(unlocked text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query delete from pgjobs.reads_in_flight as f where f.key = unlock_read.key returning f.key;
end
$$;

COMMENT ON FUNCTION pgjobs.unlock_read(key text) IS 'Takes a question''s mark back. Example: select * from pgjobs.unlock_read(''<key>'')';

CREATE FUNCTION pgjobs.unmark_waiting(mark bigint) RETURNS TABLE(unmarked bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query delete from pgjobs.waiting_marks as w where w.id = unmark_waiting.mark returning w.id;
end
$$;

COMMENT ON FUNCTION pgjobs.unmark_waiting(mark bigint) IS 'Takes a wish to be woken back. Example: select * from pgjobs.unmark_waiting(7)';

CREATE FUNCTION pgjobs.update_task(task_uuid uuid, status text, error text DEFAULT NULL::text, result jsonb DEFAULT NULL::jsonb, token uuid DEFAULT NULL::uuid, actor text DEFAULT NULL::text, is_superuser boolean DEFAULT false) RETURNS SETOF pgjobs.task_answer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_id bigint := pgjobs.task_id(update_task.task_uuid);
  v_now timestamptz := pgjobs.now();
  v_held record;
  v_done boolean := false;
begin
  -- The two steps of every worker, if one look finds nothing against them. The
  -- token decides when they are taken: whatever changed since then changed it too.
  select l.token, l.started_at, l.worker_id, l.job_id, t.room, t.created_at, t.payload, j.full_name
  into v_held
  from pgjobs.leases as l
  join pgjobs.tasks as t on t.id = l.task_id
  join pgjobs.jobs as j on j.id = l.job_id
  where l.task_id = v_id and l.token = coalesce(update_task.token, l.token)
    and update_task.status = case when l.started_at is null then 'running' else 'completed' end
    and (update_task.actor is null or update_task.is_superuser or exists (
      select from pgjobs.workers as w where w.id = l.worker_id and w.owner = update_task.actor
    ));
  if found and update_task.status = 'running' then
    update pgjobs.leases as l set started_at = v_now
    where l.task_id = v_id and l.token = v_held.token and l.started_at is null and (l.until is null or l.until > v_now);
    v_done := found;
  elsif found then
    v_done := (
      select c.problem is null
      from pgjobs.complete_tasks(
        array[v_id], array[v_held.token], case when update_task.result is not null then array[update_task.result] end
      ) as c
    );
    if v_done and not exists (select from pgjobs.worker_jobs as w where w.job_id = v_held.job_id) then
      perform pgjobs.retire_orphans(array[v_held.job_id], v_now);
    end if;
  end if;
  if v_done then
    return query
    select
      v_id, update_task.task_uuid, v_held.full_name, v_held.room, update_task.status, v_held.created_at,
      coalesce(v_held.started_at, v_now), (select o.ended_at from pgjobs.outcomes as o where o.task_id = v_id),
      v_held.worker_id, null::text, v_held.payload, update_task.result, null::integer;
    return;
  end if;
  perform pgjobs.judge_update(
    v_id, update_task.task_uuid, update_task.status, update_task.error, update_task.result, update_task.token,
    update_task.actor, update_task.is_superuser
  );
  return query select a.* from pgjobs.task_answer as a where a.id = v_id;
end
$$;

COMMENT ON FUNCTION pgjobs.update_task(task_uuid uuid, status text, error text, result jsonb, token uuid, actor text, is_superuser boolean) IS 'Takes a task to another status. Example: select status from pgjobs.update_task(pgjobs.task_uuid(42), ''cancelled'', actor => ''ada'')';

CREATE FUNCTION pgjobs.verify_session(session text) RETURNS TABLE(user_id text, is_superuser boolean, expires_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query
  select s.user_id, s.is_superuser, s.expires_at
  from pgjobs.sessions as s
  left join pgjobs.api_tokens as t on t.id = s.token_id
  where s.session_hash = sha256(convert_to(verify_session.session, 'UTF8'))
    and s.expires_at > pgjobs.now()
    and t.revoked_at is null;
  if not found then
    perform pgjobs.refuse('unauthorized', 'The session is unknown, expired or closed');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.verify_session(session text) IS 'Who is signed in. Example: select user_id from pgjobs.verify_session(''pgc_…'')';

CREATE FUNCTION pgjobs.verify_token(token text) RETURNS TABLE(user_id text, is_superuser boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query
  select t.user_id, t.is_superuser
  from pgjobs.api_tokens as t
  where t.token_hash = sha256(convert_to(verify_token.token, 'UTF8'))
    and t.revoked_at is null
    and (t.expires_at is null or t.expires_at > pgjobs.now());
  if not found then
    perform pgjobs.refuse('unauthorized', 'The token is unknown, expired or revoked');
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.verify_token(token text) IS 'Whom a token stands for. Example: select user_id from pgjobs.verify_token(''pgj_…'')';

CREATE FUNCTION pgjobs.waiting() RETURNS TABLE(job text, priority smallint, place integer, task_id bigint, room text, due_at timestamp with time zone, waited interval, attempt smallint, max_attempts smallint, owner text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
begin
  return query
  select
    j.full_name, l.priority, r.place, r.task_id, t.room, r.due_at, pgjobs.elapsed(r.due_at, v_now), r.attempt,
    t.max_attempts, t.owner
  from (select distinct a.job_id, a.priority from pgjobs.lanes as a) as l
  join pgjobs.jobs as j on j.id = l.job_id
  cross join lateral (
    select h.*, (row_number() over (order by h.due_at, h.task_id))::integer as place
    from (
      select c.task_id, c.due_at, c.attempt from pgjobs.ready as c
      where c.job_id = l.job_id and c.priority = l.priority
      order by c.due_at, c.task_id
      limit 10
    ) as h
  ) as r
  join pgjobs.tasks as t on t.id = r.task_id
  order by j.full_name, l.priority, r.place;
end
$$;

COMMENT ON FUNCTION pgjobs.waiting() IS 'The first ten due tasks of every lane. Example: select job, place, task_id, waited from pgjobs.waiting()';

CREATE FUNCTION pgjobs.wake(job_id integer, quantity bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_clock bigint := pgjobs.clock_ms();
  v_floor bigint := (pgjobs.floor_get('waiting', v_clock))[1];
  v_head bigint;
  v_woken text;
begin
  select w.id into v_head from pgjobs.waiting_marks as w where w.id >= coalesce(v_floor, 0) order by w.id limit 1;
  if v_floor is null then
    perform pgjobs.floor_set('waiting', coalesce(v_head, (select s.last_value from pgjobs.waiting_id_seq as s)), v_clock + 1000);
  end if;
  if v_head is null then
    return;
  end if;
  with woken as (
    delete from pgjobs.waiting_marks as w
    where w.id = any (array(
      select c.id
      from pgjobs.waiting_marks as c
      where c.id >= v_head and wake.job_id = any (c.job_ids)
      order by c.id
      limit least(wake.quantity, 100)
      for update skip locked
    ))
    returning w.id
  )
  select string_agg(id::text, ',') into v_woken from woken;
  if v_woken is not null then
    perform pg_notify('pgjobs.wake', v_woken);
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.wake(job_id integer, quantity bigint) IS 'Notifies idle workers that serve a job. Example: select pgjobs.wake(1, 10)';

CREATE FUNCTION pgjobs.wake_for_slots(job_ids integer[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform pgjobs.wake(j.id, count(*))
  from unnest(wake_for_slots.job_ids) as f (job_id)
  join pgjobs.jobs as j on j.id = f.job_id and j.max_running is not null
  group by j.id;
end
$$;

COMMENT ON FUNCTION pgjobs.wake_for_slots(job_ids integer[]) IS 'Wakes whoever waits for a slot of a limited job. Example: select pgjobs.wake_for_slots(array[1])';

CREATE FUNCTION pgjobs.wanted_cleanups(job_id integer, target_types text[], of_node text, of_job text) RETURNS SETOF bigint
    LANGUAGE sql STABLE
    AS $$
select t.id
from pgjobs.tasks as t
where t.room = '@internal' and t.job_id = wanted_cleanups.job_id
  and (wanted_cleanups.target_types is null or t.payload -> 'target' ->> 'type' = any (wanted_cleanups.target_types))
  and (wanted_cleanups.of_node is null or t.payload ->> 'node_id' = wanted_cleanups.of_node)
  and (wanted_cleanups.of_job is null or wanted_cleanups.of_job in (t.payload ->> 'job_id', t.payload ->> 'job_name'))
$$;

COMMENT ON FUNCTION pgjobs.wanted_cleanups(job_id integer, target_types text[], of_node text, of_job text) IS 'Clean-up tasks that fit some filters. Example: select * from pgjobs.wanted_cleanups(pgjobs.cleanup_job(), null, ''hub'', null)';

CREATE FUNCTION pgjobs.watch_events() RETURNS TABLE(cursor text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_until bigint := extract(epoch from clock_timestamp())::bigint + 60;
begin
  if (select s.last_value from pgjobs.events_wanted_until as s) < v_until - 30 then
    perform setval('pgjobs.events_wanted_until', v_until);
  end if;
  return query select pgjobs.feed_snapshot()::text;
end
$$;

COMMENT ON FUNCTION pgjobs.watch_events() IS 'Asks to be told of the next event. Example: listen "pgjobs.events"; select cursor from pgjobs.watch_events()';

CREATE FUNCTION pgjobs.watch_task(task_id bigint) RETURNS TABLE(status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_until bigint := extract(epoch from clock_timestamp())::bigint + 300;
begin
  insert into pgjobs.watched (task_id, since) values (watch_task.task_id, pgjobs.now()) on conflict do nothing;
  if (select s.last_value from pgjobs.watched_until as s) < v_until - 60 then
    perform setval('pgjobs.watched_until', v_until);
  end if;
  return query select t.status from pgjobs.task as t where t.id = watch_task.task_id;
  if not found then
    perform pgjobs.refuse('task-not-found', format('Task %s does not exist', watch_task.task_id));
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.watch_task(task_id bigint) IS 'Asks to be told when a task ends. Example: listen "pgjobs.ended"; select * from pgjobs.watch_task(42)';

CREATE FUNCTION pgjobs.watch_tasks(task_ids bigint[]) RETURNS TABLE(task_id bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_until bigint := extract(epoch from clock_timestamp())::bigint + 300;
begin
  if cardinality(watch_tasks.task_ids) > 10000 then
    perform pgjobs.refuse('validation-error', 'task_ids has at most 10000 entries');
  end if;
  -- In order, so that two watchers of the same tasks cannot deadlock.
  insert into pgjobs.watched (task_id, since)
  select distinct i.id, pgjobs.now()
  from unnest(watch_tasks.task_ids) as i (id)
  where exists (select from pgjobs.tasks as t where t.id = i.id)
    and not exists (select from pgjobs.outcomes as o where o.task_id = i.id)
    and not exists (select from pgjobs.watched as w where w.task_id = i.id)
  order by i.id
  on conflict do nothing;
  if (select s.last_value from pgjobs.watched_until as s) < v_until - 60 then
    perform setval('pgjobs.watched_until', v_until);
  end if;
  return query
  select i.id
  from unnest(watch_tasks.task_ids) as i (id)
  where exists (select from pgjobs.outcomes as o where o.task_id = i.id)
    or not exists (select from pgjobs.tasks as t where t.id = i.id);
end
$$;

COMMENT ON FUNCTION pgjobs.watch_tasks(task_ids bigint[]) IS 'Asks to be told when tasks end. Example: listen "pgjobs.ended"; select * from pgjobs.watch_tasks(array[41, 42])';

CREATE FUNCTION pgjobs.why(task_id bigint DEFAULT NULL::bigint, task_uuid uuid DEFAULT NULL::uuid) RETURNS TABLE(step integer, checked text, is_ok boolean, answer text, advice text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_id bigint := coalesce(why.task_id, pgjobs.task_id(why.task_uuid));
  v_task pgjobs.task;
begin
  select t.* into v_task from pgjobs.task as t where t.id = v_id;
  return query
  select
    1, 'exists', v_task.id is not null,
    case
      when v_task.id is null then format('There is no task %s: it never was, or retention removed it.',
        coalesce(why.task_id::text, why.task_uuid::text, ''))
      else format('Task %s of %s was submitted %s ago from %s.',
        v_task.uuid, v_task.job, pgjobs.ago(v_task.created_at, v_now), v_task.room)
    end,
    null::text;
  if v_task.id is null then
    return;
  end if;
  return query
  select (c.place + 1)::integer, c.checked, c.is_ok, c.answer, c.advice
  from (
    select o.checked, o.is_ok, o.answer, o.advice, o.place
    from pgjobs.why_over(v_task, v_now) with ordinality as o (checked, is_ok, answer, advice, place)
    union all
    select h.checked, h.is_ok, h.answer, h.advice, 2 + h.place
    from pgjobs.why_held(v_task, v_now) with ordinality as h (checked, is_ok, answer, advice, place)
    where v_task.status in ('claimed', 'running')
    union all
    select p.checked, p.is_ok, p.answer, p.advice, 2 + p.place
    from pgjobs.why_pending(v_task, v_now) with ordinality as p (checked, is_ok, answer, advice, place)
    where v_task.status = 'pending'
  ) as c
  order by c.place;
end
$$;

COMMENT ON FUNCTION pgjobs.why(task_id bigint, task_uuid uuid) IS 'Why a task is where it is. Example: select checked, is_ok, answer, advice from pgjobs.why(42)';

CREATE FUNCTION pgjobs.why_held(task pgjobs.task, now timestamp with time zone) RETURNS TABLE(checked text, is_ok boolean, answer text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_worker pgjobs.workers;
  v_holder text;
begin
  select w.* into v_worker from pgjobs.workers as w where w.id = task.worker_id;
  v_holder := coalesce(task.holder, v_worker.name, task.worker_id::text);
  return query
  select
    'cancellation', task.cancel_requested_at is null,
    case
      when task.cancel_requested_at is null then 'Nobody asked to cancel it.'
      else format('%s was asked to stop %s ago%s.',
        v_holder, pgjobs.ago(task.cancel_requested_at, now), coalesce(': ' || task.reason, ''))
    end,
    case when task.cancel_requested_at is not null
      then format('select * from pgjobs.cancel_task(%s, force => true)', task.id) end;
  return query
  select
    'lease', false,
    case
      when task.until <= now then format('The lease of %s lapsed %s ago; the next sweep ends it.', v_holder, pgjobs.ago(task.until, now))
      when task.worker_id is not null and v_worker.id is null then format('Worker %s is gone; the next sweep ends its lease.', v_holder)
      when v_worker.last_heartbeat_at < now - (select s.worker_timeout from pgjobs.settings as s)
        then format('%s holds it and has been silent for %s.', v_holder, pgjobs.ago(v_worker.last_heartbeat_at, now))
      else format('%s %s it for %s, attempt %s of %s, %s.',
        v_holder, case when task.started_at is null then 'has held' else 'has worked on' end,
        pgjobs.ago(coalesce(task.started_at, task.claimed_at), now), task.attempt, task.max_attempts,
        coalesce('leased for ' || pgjobs.ago(task.until, now), 'as long as its heartbeats come'))
    end,
    case when task.until <= now or (task.worker_id is not null and coalesce(v_worker.last_heartbeat_at, '-infinity')
        < now - (select s.worker_timeout from pgjobs.settings as s))
      then 'select * from pgjobs.sweep()' end;
end
$$;

COMMENT ON FUNCTION pgjobs.why_held(task pgjobs.task, now timestamp with time zone) IS 'Who holds a task. Example: see pgjobs.why, which asks it second';

CREATE FUNCTION pgjobs.why_over(task pgjobs.task, now timestamp with time zone) RETURNS TABLE(checked text, is_ok boolean, answer text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return query
  select
    'ended', task.ended_at is null,
    case
      when task.ended_at is null then 'It has not ended.'
      else format('It %s %s ago%s.',
        case task.status when 'cancelled' then 'was cancelled' else task.status end, pgjobs.ago(task.ended_at, now),
        coalesce(': ' || left(split_part(coalesce(task.error, task.reason), E'\n', 1), 200), ''))
    end,
    case when task.status in ('failed', 'cancelled') then format('select * from pgjobs.retry_task(%s)', task.id) end;
  if task.ended_at is null then
    return query
    select
      'ignored', task.status <> 'ignored',
      case
        when task.status = 'ignored' then (
          select format('%s put it aside %s ago%s.',
            coalesce(i.actor, 'Somebody'), pgjobs.ago(i.ignored_at, now), coalesce(': ' || i.reason, ''))
          from pgjobs.ignored as i where i.task_id = task.id
        )
        else 'Nobody put it aside.'
      end,
      case when task.status = 'ignored' then format('select * from pgjobs.unignore_task(%s)', task.id) end;
  end if;
end
$$;

COMMENT ON FUNCTION pgjobs.why_over(task pgjobs.task, now timestamp with time zone) IS 'Whether a task is over. Example: see pgjobs.why, which asks it first';

CREATE FUNCTION pgjobs.why_pending(task pgjobs.task, now timestamp with time zone) RETURNS TABLE(checked text, is_ok boolean, answer text, advice text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
declare
  v_job pgjobs.jobs;
  v_workers bigint;
  v_last_heard timestamptz;
  v_is_alive boolean;
  v_has_holders boolean := task.job_id = any (pgjobs.jobs_with_holders(now));
  v_ahead integer := pgjobs.queue_position(task.id, task.job_id, task.priority) - 1;
  v_held bigint := pgjobs.held_slots(task.job_id);
  v_quoted text := quote_literal(task.job);
begin
  select j.* into v_job from pgjobs.jobs as j where j.id = task.job_id;
  select count(*), max(w.last_heartbeat_at) into v_workers, v_last_heard
  from pgjobs.worker_jobs as l
  join pgjobs.workers as w on w.id = l.worker_id
  where l.job_id = task.job_id;
  v_is_alive := v_last_heard >= now - (select s.worker_timeout from pgjobs.settings as s);
  return query
  select c.checked, c.is_ok, c.answer, case when not c.is_ok then c.advice end
  from (values
    ('due', task.due_at <= now,
      case
        when task.due_at <= now then format('It has been due for %s.', pgjobs.ago(task.due_at, now))
        when task.error is not null then format('Attempt %s of %s failed (%s); the next is due in %s.', task.attempt,
          task.max_attempts, left(split_part(task.error, E'\n', 1), 200), pgjobs.ago(task.due_at, now))
        else format('It is due in %s.', pgjobs.ago(task.due_at, now))
      end,
      format('select * from pgjobs.retry_task(%s)', task.id)),
    ('archived', v_job.archived_at is null and v_job.deleted_at is null,
      case
        when v_job.archived_at is not null then format('Job %s was archived %s ago.', task.job, pgjobs.ago(v_job.archived_at, now))
        when v_job.deleted_at is not null then format('Job %s was retired %s ago.', task.job, pgjobs.ago(v_job.deleted_at, now))
        else 'Its job is not archived.'
      end,
      case when v_job.archived_at is not null then format('select * from pgjobs.unarchive_job(%s)', v_quoted)
        else 'select * from pgjobs.sweep(''workers'')' end),
    ('paused', v_job.paused_at is null,
      case
        when v_job.paused_at is null then 'Its job is not paused.'
        else format('Job %s was paused %s ago.', task.job, pgjobs.ago(v_job.paused_at, now))
      end,
      format('select * from pgjobs.resume_job(%s)', v_quoted)),
    ('limit', v_job.max_running is null or v_held < v_job.max_running,
      case
        when v_job.max_running is null then 'Its job has no limit.'
        else format('%s of at most %s of its job %s claimed or running.', v_held, v_job.max_running,
          case when v_held = 1 then 'is' else 'are' end)
      end,
      format('select * from pgjobs.limit_job(%s, %s)', v_quoted, v_job.max_running * 2)),
    ('workers', v_workers > 0 or v_has_holders,
      case
        when v_workers > 0 then format('%s registered for its job.',
          case when v_workers = 1 then 'One worker is' else v_workers || ' workers are' end)
        when v_has_holders then 'No worker is registered for its job, but others claim from it.'
        else format('No worker is registered for job %s.', task.job)
      end,
      'Start a worker that serves it'),
    ('heartbeats', v_is_alive or v_has_holders or v_workers = 0,
      case
        when v_is_alive then format('The last heartbeat came %s ago.', pgjobs.ago(v_last_heard, now))
        when v_workers = 0 or v_has_holders then 'Nobody owes a heartbeat.'
        else format('All its workers are silent; the last heartbeat came %s ago.', pgjobs.ago(v_last_heard, now))
      end,
      'select * from pgjobs.workers_status'),
    ('line', v_ahead = 0,
      case
        when v_ahead = 0 then 'It is the next of its job.'
        when v_ahead >= pgjobs.last_counted_place() - 1 then format('%s tasks or more of its job come before it.', v_ahead)
        when v_ahead = 1 then 'One task of its job comes before it.'
        else format('%s tasks of its job come before it.', v_ahead)
      end,
      format('select * from pgjobs.waiting where job = %s', v_quoted))
  ) as c (checked, is_ok, answer, advice);
end
$$;

COMMENT ON FUNCTION pgjobs.why_pending(task pgjobs.task, now timestamp with time zone) IS 'Why a pending task is not claimed. Example: see pgjobs.why, which asks it last';

CREATE FUNCTION pgjobs.without(task_ids bigint[], done bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    AS $$
begin
  return array(select i.id from unnest(without.task_ids) as i (id) where i.id <> all (coalesce(without.done, '{}')) order by i.id);
end
$$;

COMMENT ON FUNCTION pgjobs.without(task_ids bigint[], done bigint[]) IS 'Tasks that are still to do. Example: select pgjobs.without(array[1, 2], array[1])';

CREATE FUNCTION pgjobs.workers_status() RETURNS TABLE(worker_id uuid, name text, owner text, is_alive boolean, heartbeat_age interval, registered_at timestamp with time zone, jobs integer, claimed bigint, running bigint, overdue bigint, oldest_claim interval)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pgjobs', 'pg_temp'
    SET jit TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_now timestamptz := pgjobs.now();
  v_alive timestamptz := v_now - (select s.worker_timeout from pgjobs.settings as s);
begin
  return query
  with held as (
    select
      l.worker_id,
      count(*) filter (where l.started_at is null) as claimed,
      count(*) filter (where l.started_at is not null) as running,
      count(*) filter (where l.until <= v_now) as overdue,
      min(l.claimed_at) as oldest_at
    from pgjobs.leases as l
    -- By the key: the pages of a busy table are mostly empty.
    where l.task_id > 0 and l.worker_id is not null
    group by l.worker_id
  )
  select
    w.id, w.name, w.owner, w.last_heartbeat_at >= v_alive, pgjobs.elapsed(w.last_heartbeat_at, v_now),
    w.registered_at, (select count(*)::integer from pgjobs.worker_jobs as s where s.worker_id = w.id),
    coalesce(h.claimed, 0), coalesce(h.running, 0), coalesce(h.overdue, 0), pgjobs.elapsed(h.oldest_at, v_now)
  from pgjobs.workers as w
  left join held as h on h.worker_id = w.id
  order by w.last_heartbeat_at >= v_alive, w.name, w.id;
end
$$;

COMMENT ON FUNCTION pgjobs.workers_status() IS 'Registered workers and what they hold. Example: select name, is_alive, heartbeat_age, running from pgjobs.workers_status()';

CREATE TABLE pgjobs.api_tokens (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    token_hash bytea NOT NULL,
    user_id text NOT NULL,
    name text,
    is_superuser boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT names_are_short CHECK ((length(name) <= 200)),
    CONSTRAINT tokens_name_their_user CHECK (((user_id <> ''::text) AND (length(user_id) <= 200)))
);

COMMENT ON TABLE pgjobs.api_tokens IS 'Tokens for programs; only their hashes are kept.';

COMMENT ON COLUMN pgjobs.api_tokens.id IS 'What revokes it.';

COMMENT ON COLUMN pgjobs.api_tokens.token_hash IS 'SHA-256 of the token.';

COMMENT ON COLUMN pgjobs.api_tokens.user_id IS 'Whom it stands for.';

COMMENT ON COLUMN pgjobs.api_tokens.name IS 'What people call it.';

COMMENT ON COLUMN pgjobs.api_tokens.is_superuser IS 'Whether it may do what superusers may.';

COMMENT ON COLUMN pgjobs.api_tokens.created_at IS 'When it was created.';

COMMENT ON COLUMN pgjobs.api_tokens.expires_at IS 'When it ceases to count; empty: never.';

COMMENT ON COLUMN pgjobs.api_tokens.revoked_at IS 'When it was taken back.';

ALTER TABLE pgjobs.attempts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgjobs.attempts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW pgjobs.blockers AS
 SELECT kind,
    name,
    pid,
    state,
    since,
    age,
    held_back,
    advice
   FROM pgjobs.blockers() v(kind, name, pid, state, since, age, held_back, advice);

COMMENT ON VIEW pgjobs.blockers IS 'Who keeps dead rows from being removed. Example: select kind, name, age, advice from pgjobs.blockers';

COMMENT ON COLUMN pgjobs.blockers.kind IS 'session, prepared transaction, standby or replication slot.';

COMMENT ON COLUMN pgjobs.blockers.name IS 'Which one.';

COMMENT ON COLUMN pgjobs.blockers.pid IS 'Its process.';

COMMENT ON COLUMN pgjobs.blockers.state IS 'What it does.';

COMMENT ON COLUMN pgjobs.blockers.since IS 'When its transaction began.';

COMMENT ON COLUMN pgjobs.blockers.age IS 'How long ago that is.';

COMMENT ON COLUMN pgjobs.blockers.held_back IS 'Transactions since.';

COMMENT ON COLUMN pgjobs.blockers.advice IS 'What would release it.';

CREATE TABLE pgjobs.error_counts (
    since timestamp with time zone NOT NULL,
    job_id integer NOT NULL,
    fingerprint text NOT NULL,
    quantity bigint NOT NULL,
    error_kind text,
    message text NOT NULL,
    last_at timestamp with time zone NOT NULL,
    last_task_id bigint NOT NULL
)
WITH (fillfactor='70');

COMMENT ON TABLE pgjobs.error_counts IS 'Failed attempts, counted by fingerprint in steps of five minutes; kept for a week.';

COMMENT ON COLUMN pgjobs.error_counts.since IS 'When the five minutes began.';

COMMENT ON COLUMN pgjobs.error_counts.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.error_counts.fingerprint IS 'What errors that differ only in numbers, ids and quoted words have in common.';

COMMENT ON COLUMN pgjobs.error_counts.quantity IS 'How many.';

COMMENT ON COLUMN pgjobs.error_counts.error_kind IS 'Their kind.';

COMMENT ON COLUMN pgjobs.error_counts.message IS 'The last of them, one line.';

COMMENT ON COLUMN pgjobs.error_counts.last_at IS 'When the last of them happened.';

COMMENT ON COLUMN pgjobs.error_counts.last_task_id IS 'The task it happened to.';

CREATE TABLE pgjobs.error_cursor (
    is_only boolean DEFAULT true NOT NULL,
    since pg_snapshot DEFAULT '3:3:'::pg_snapshot NOT NULL,
    upto pg_snapshot,
    after_xid xid8 DEFAULT '0'::xid8 NOT NULL,
    after_id bigint DEFAULT 0 NOT NULL,
    CONSTRAINT error_cursor_is_one_row CHECK (is_only)
);

COMMENT ON TABLE pgjobs.error_cursor IS 'Up to which event errors are counted, one row.';

COMMENT ON COLUMN pgjobs.error_cursor.is_only IS 'Always true: there is one row.';

COMMENT ON COLUMN pgjobs.error_cursor.since IS 'Everything this snapshot shows is counted.';

COMMENT ON COLUMN pgjobs.error_cursor.upto IS 'The snapshot that is being counted; empty: none.';

COMMENT ON COLUMN pgjobs.error_cursor.after_xid IS 'Its transactions up to here are counted, …';

COMMENT ON COLUMN pgjobs.error_cursor.after_id IS '… the last of them up to this event.';

CREATE TABLE pgjobs.error_policies (
    job_id integer NOT NULL,
    kind text NOT NULL,
    is_retryable boolean DEFAULT true NOT NULL,
    backoff_base interval NOT NULL,
    backoff_cap interval NOT NULL,
    jitter_share real DEFAULT 0.25 NOT NULL,
    jitter_cap interval,
    CONSTRAINT backoff_grows CHECK (((backoff_base >= '00:00:00'::interval) AND (backoff_cap >= backoff_base))),
    CONSTRAINT jitter_is_a_share CHECK ((((jitter_share >= (0)::double precision) AND (jitter_share <= (1)::double precision)) AND (jitter_cap >= '00:00:00'::interval))),
    CONSTRAINT kinds_are_named CHECK (((kind <> ''::text) AND (length(kind) <= 200)))
);

COMMENT ON TABLE pgjobs.error_policies IS 'What a job does after errors of one kind, where that differs from its own policy.';

COMMENT ON COLUMN pgjobs.error_policies.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.error_policies.kind IS 'Error kind as given to fail.';

COMMENT ON COLUMN pgjobs.error_policies.is_retryable IS 'False: such an error fails the task for good.';

COMMENT ON COLUMN pgjobs.error_policies.backoff_base IS 'As in jobs.';

COMMENT ON COLUMN pgjobs.error_policies.backoff_cap IS 'As in jobs.';

COMMENT ON COLUMN pgjobs.error_policies.jitter_share IS 'As in jobs.';

COMMENT ON COLUMN pgjobs.error_policies.jitter_cap IS 'As in jobs.';

CREATE VIEW pgjobs.errors AS
 SELECT fingerprint,
    job,
    error_kind,
    message,
    last_hour,
    last_day,
    last_week,
    last_at,
    last_task_id
   FROM pgjobs.errors() v(fingerprint, job, error_kind, message, last_hour, last_day, last_week, last_at, last_task_id);

COMMENT ON VIEW pgjobs.errors IS 'Failed attempts of the last week by fingerprint. Example: select last_hour, last_day, job, message from pgjobs.errors';

COMMENT ON COLUMN pgjobs.errors.fingerprint IS 'What these errors have in common.';

COMMENT ON COLUMN pgjobs.errors.job IS 'Address of the job.';

COMMENT ON COLUMN pgjobs.errors.error_kind IS 'Their kind.';

COMMENT ON COLUMN pgjobs.errors.message IS 'The last of them, one line.';

COMMENT ON COLUMN pgjobs.errors.last_hour IS 'How many in the last hour.';

COMMENT ON COLUMN pgjobs.errors.last_day IS 'How many in the last 24 hours.';

COMMENT ON COLUMN pgjobs.errors.last_week IS 'How many in the last 7 days.';

COMMENT ON COLUMN pgjobs.errors.last_at IS 'When the last one happened.';

COMMENT ON COLUMN pgjobs.errors.last_task_id IS 'The task it happened to.';

CREATE TABLE pgjobs.events_default (
    xid xid8 DEFAULT pg_current_xact_id() CONSTRAINT events_xid_not_null NOT NULL,
    id bigint CONSTRAINT events_id_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT events_at_not_null NOT NULL,
    kind text CONSTRAINT events_kind_not_null NOT NULL,
    task_id bigint,
    job_id integer,
    room text,
    status text,
    worker_id uuid,
    actor text,
    message text,
    fields jsonb
);

COMMENT ON TABLE pgjobs.events_default IS 'Part of events: what no other part is for.';

COMMENT ON COLUMN pgjobs.events_default.xid IS 'The transaction that wrote it.';

COMMENT ON COLUMN pgjobs.events_default.id IS 'Order within the transaction.';

COMMENT ON COLUMN pgjobs.events_default.at IS 'When.';

COMMENT ON COLUMN pgjobs.events_default.kind IS 'The verb: submitted, claimed, started, completed, retrying, failed, cancelled, …';

COMMENT ON COLUMN pgjobs.events_default.task_id IS 'The task it is about.';

COMMENT ON COLUMN pgjobs.events_default.job_id IS 'The job it is about.';

COMMENT ON COLUMN pgjobs.events_default.room IS 'The room that should hear of it.';

COMMENT ON COLUMN pgjobs.events_default.status IS 'The task''s status after it.';

COMMENT ON COLUMN pgjobs.events_default.worker_id IS 'The worker involved.';

COMMENT ON COLUMN pgjobs.events_default.actor IS 'Who did it, if a person did.';

COMMENT ON COLUMN pgjobs.events_default.message IS 'Error or reason, one line.';

COMMENT ON COLUMN pgjobs.events_default.fields IS 'Further details.';

CREATE TABLE pgjobs.events_from_0 (
    xid xid8 DEFAULT pg_current_xact_id() CONSTRAINT events_xid_not_null NOT NULL,
    id bigint CONSTRAINT events_id_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT events_at_not_null NOT NULL,
    kind text CONSTRAINT events_kind_not_null NOT NULL,
    task_id bigint,
    job_id integer,
    room text,
    status text,
    worker_id uuid,
    actor text,
    message text,
    fields jsonb
);

COMMENT ON TABLE pgjobs.events_from_0 IS 'Part of events: numbers up to 249999.';

COMMENT ON COLUMN pgjobs.events_from_0.xid IS 'The transaction that wrote it.';

COMMENT ON COLUMN pgjobs.events_from_0.id IS 'Order within the transaction.';

COMMENT ON COLUMN pgjobs.events_from_0.at IS 'When.';

COMMENT ON COLUMN pgjobs.events_from_0.kind IS 'The verb: submitted, claimed, started, completed, retrying, failed, cancelled, …';

COMMENT ON COLUMN pgjobs.events_from_0.task_id IS 'The task it is about.';

COMMENT ON COLUMN pgjobs.events_from_0.job_id IS 'The job it is about.';

COMMENT ON COLUMN pgjobs.events_from_0.room IS 'The room that should hear of it.';

COMMENT ON COLUMN pgjobs.events_from_0.status IS 'The task''s status after it.';

COMMENT ON COLUMN pgjobs.events_from_0.worker_id IS 'The worker involved.';

COMMENT ON COLUMN pgjobs.events_from_0.actor IS 'Who did it, if a person did.';

COMMENT ON COLUMN pgjobs.events_from_0.message IS 'Error or reason, one line.';

COMMENT ON COLUMN pgjobs.events_from_0.fields IS 'Further details.';

CREATE TABLE pgjobs.events_from_250000 (
    xid xid8 DEFAULT pg_current_xact_id() CONSTRAINT events_xid_not_null NOT NULL,
    id bigint CONSTRAINT events_id_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT events_at_not_null NOT NULL,
    kind text CONSTRAINT events_kind_not_null NOT NULL,
    task_id bigint,
    job_id integer,
    room text,
    status text,
    worker_id uuid,
    actor text,
    message text,
    fields jsonb
);

COMMENT ON TABLE pgjobs.events_from_250000 IS 'Part of events: numbers from 250000 up to 499999.';

COMMENT ON COLUMN pgjobs.events_from_250000.xid IS 'The transaction that wrote it.';

COMMENT ON COLUMN pgjobs.events_from_250000.id IS 'Order within the transaction.';

COMMENT ON COLUMN pgjobs.events_from_250000.at IS 'When.';

COMMENT ON COLUMN pgjobs.events_from_250000.kind IS 'The verb: submitted, claimed, started, completed, retrying, failed, cancelled, …';

COMMENT ON COLUMN pgjobs.events_from_250000.task_id IS 'The task it is about.';

COMMENT ON COLUMN pgjobs.events_from_250000.job_id IS 'The job it is about.';

COMMENT ON COLUMN pgjobs.events_from_250000.room IS 'The room that should hear of it.';

COMMENT ON COLUMN pgjobs.events_from_250000.status IS 'The task''s status after it.';

COMMENT ON COLUMN pgjobs.events_from_250000.worker_id IS 'The worker involved.';

COMMENT ON COLUMN pgjobs.events_from_250000.actor IS 'Who did it, if a person did.';

COMMENT ON COLUMN pgjobs.events_from_250000.message IS 'Error or reason, one line.';

COMMENT ON COLUMN pgjobs.events_from_250000.fields IS 'Further details.';

ALTER TABLE pgjobs.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgjobs.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE pgjobs.events_wanted_until
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

COMMENT ON SEQUENCE pgjobs.events_wanted_until IS 'Unix time until which the next event is announced by NOTIFY; 0 once it was.';

CREATE VIEW pgjobs.failed AS
 SELECT task_id,
    job,
    room,
    ended_at,
    attempt,
    max_attempts,
    error_kind,
    error,
    worker_id,
    holder,
    owner,
    task_uuid
   FROM pgjobs.failed() v(task_id, job, room, ended_at, attempt, max_attempts, error_kind, error, worker_id, holder, owner, task_uuid);

COMMENT ON VIEW pgjobs.failed IS 'The 200 newest tasks that failed for good. Example: select task_id, job, error from pgjobs.failed limit 20';

COMMENT ON COLUMN pgjobs.failed.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.failed.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.failed.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.failed.ended_at IS 'When it failed.';

COMMENT ON COLUMN pgjobs.failed.attempt IS 'Attempts used.';

COMMENT ON COLUMN pgjobs.failed.max_attempts IS 'Attempts it could use.';

COMMENT ON COLUMN pgjobs.failed.error_kind IS 'Kind of the last error.';

COMMENT ON COLUMN pgjobs.failed.error IS 'The last error, one line.';

COMMENT ON COLUMN pgjobs.failed.worker_id IS 'The worker that failed it.';

COMMENT ON COLUMN pgjobs.failed.holder IS 'Who failed it, if not a registered worker.';

COMMENT ON COLUMN pgjobs.failed.owner IS 'Whose work it is.';

COMMENT ON COLUMN pgjobs.failed.task_uuid IS 'Public id of the task.';

CREATE VIEW pgjobs.findings AS
 SELECT severity,
    subject,
    message,
    advice
   FROM pgjobs.findings() v(severity, subject, message, advice);

COMMENT ON VIEW pgjobs.findings IS 'What an operator should look at. Example: select severity, subject, message, advice from pgjobs.findings';

COMMENT ON COLUMN pgjobs.findings.severity IS 'error, warning or info.';

COMMENT ON COLUMN pgjobs.findings.subject IS 'What it is about.';

COMMENT ON COLUMN pgjobs.findings.message IS 'What is wrong.';

COMMENT ON COLUMN pgjobs.findings.advice IS 'The SQL to run.';

CREATE TABLE pgjobs.idempotency_keys (
    job_id integer NOT NULL,
    key text NOT NULL,
    task_id bigint NOT NULL,
    CONSTRAINT keys_are_short CHECK (((key <> ''::text) AND (length(key) <= 200)))
);

COMMENT ON TABLE pgjobs.idempotency_keys IS 'Which task a key stands for; one per job and key.';

COMMENT ON COLUMN pgjobs.idempotency_keys.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.idempotency_keys.key IS 'The submitter''s key.';

COMMENT ON COLUMN pgjobs.idempotency_keys.task_id IS 'The first task submitted with it.';

CREATE TABLE pgjobs.installed_code (
    is_only boolean DEFAULT true NOT NULL,
    checksum text NOT NULL,
    grants_checksum text,
    installed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    version text,
    CONSTRAINT installed_code_is_one_row CHECK (is_only)
);

COMMENT ON TABLE pgjobs.installed_code IS 'Which functions, views and triggers are installed, one row.';

COMMENT ON COLUMN pgjobs.installed_code.is_only IS 'Always true: there is one row.';

COMMENT ON COLUMN pgjobs.installed_code.checksum IS 'SHA-256 over all files of code.';

COMMENT ON COLUMN pgjobs.installed_code.grants_checksum IS 'SHA-256 of the grants; null where roles are managed elsewhere.';

COMMENT ON COLUMN pgjobs.installed_code.installed_at IS 'When the code was last re-created.';

COMMENT ON COLUMN pgjobs.installed_code.version IS 'The release it came with; null if that was not written down.';

CREATE TABLE pgjobs.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

COMMENT ON TABLE pgjobs.migrations IS 'Migrations applied to this schema. Example: table pgjobs.migrations';

COMMENT ON COLUMN pgjobs.migrations.number IS 'Order of application.';

COMMENT ON COLUMN pgjobs.migrations.name IS 'The file it came from.';

COMMENT ON COLUMN pgjobs.migrations.checksum IS 'SHA-256 of the file; an applied file never changes.';

COMMENT ON COLUMN pgjobs.migrations.applied_at IS 'When it was applied.';

CREATE VIEW pgjobs.installed AS
 SELECT m.number,
    m.name,
    m.checksum,
    c.checksum AS code_checksum,
    c.grants_checksum,
    c.version
   FROM (pgjobs.migrations m
     LEFT JOIN pgjobs.installed_code c ON (c.is_only));

COMMENT ON VIEW pgjobs.installed IS 'What has been installed, for whoever must know before it works here. Example: select max(number) from pgjobs.installed';

COMMENT ON COLUMN pgjobs.installed.number IS 'Order of application.';

COMMENT ON COLUMN pgjobs.installed.name IS 'The file it came from.';

COMMENT ON COLUMN pgjobs.installed.checksum IS 'SHA-256 of the file; an applied file never changes.';

COMMENT ON COLUMN pgjobs.installed.code_checksum IS 'SHA-256 over all files of code.';

COMMENT ON COLUMN pgjobs.installed.grants_checksum IS 'SHA-256 of the grants; null where roles are managed elsewhere.';

COMMENT ON COLUMN pgjobs.installed.version IS 'The release that the code came with.';

ALTER TABLE pgjobs.jobs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgjobs.jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW pgjobs.jobs_status AS
 SELECT job,
    state,
    workers,
    waiting,
    oldest_wait,
    scheduled,
    claimed,
    running,
    overdue,
    completed_last_hour,
    failed_last_hour,
    cancelled_last_hour,
    retried_last_hour,
    wait_p50,
    wait_p95,
    run_p50,
    run_p95,
    job_id
   FROM pgjobs.jobs_status() v(job, state, workers, waiting, oldest_wait, scheduled, claimed, running, overdue, completed_last_hour, failed_last_hour, cancelled_last_hour, retried_last_hour, wait_p50, wait_p95, run_p50, run_p95, job_id);

COMMENT ON VIEW pgjobs.jobs_status IS 'Every job with what waits, runs and ended. Example: select job, state, waiting, running from pgjobs.jobs_status';

COMMENT ON COLUMN pgjobs.jobs_status.job IS 'Its address.';

COMMENT ON COLUMN pgjobs.jobs_status.state IS 'open, paused or archived.';

COMMENT ON COLUMN pgjobs.jobs_status.workers IS 'Live workers that serve it.';

COMMENT ON COLUMN pgjobs.jobs_status.waiting IS 'Tasks that are due, counted up to a thousand, beyond that estimated.';

COMMENT ON COLUMN pgjobs.jobs_status.oldest_wait IS 'How long the first of them has been due.';

COMMENT ON COLUMN pgjobs.jobs_status.scheduled IS 'Tasks that are due later, likewise.';

COMMENT ON COLUMN pgjobs.jobs_status.claimed IS 'Tasks leased and not started.';

COMMENT ON COLUMN pgjobs.jobs_status.running IS 'Tasks being worked on.';

COMMENT ON COLUMN pgjobs.jobs_status.overdue IS 'Leases that have lapsed and await a sweep.';

COMMENT ON COLUMN pgjobs.jobs_status.completed_last_hour IS 'Tasks completed in the last hour.';

COMMENT ON COLUMN pgjobs.jobs_status.failed_last_hour IS 'Tasks failed for good in the last hour.';

COMMENT ON COLUMN pgjobs.jobs_status.cancelled_last_hour IS 'Tasks cancelled in the last hour.';

COMMENT ON COLUMN pgjobs.jobs_status.retried_last_hour IS 'Failed attempts of the last hour that are followed by another.';

COMMENT ON COLUMN pgjobs.jobs_status.wait_p50 IS 'Seconds from submission to claim that half of the last hours tasks stayed below.';

COMMENT ON COLUMN pgjobs.jobs_status.wait_p95 IS 'The same of 95 in 100.';

COMMENT ON COLUMN pgjobs.jobs_status.run_p50 IS 'Seconds from claim to completion that half of the last hours tasks stayed below.';

COMMENT ON COLUMN pgjobs.jobs_status.run_p95 IS 'The same of 95 in 100.';

COMMENT ON COLUMN pgjobs.jobs_status.job_id IS 'Its number.';

CREATE TABLE pgjobs.lanes (
    job_id integer NOT NULL,
    priority smallint NOT NULL
);

COMMENT ON TABLE pgjobs.lanes IS 'Which priorities a job has ever used, so that claims probe no others.';

COMMENT ON COLUMN pgjobs.lanes.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.lanes.priority IS 'A priority in use.';

CREATE VIEW pgjobs.metrics AS
 SELECT domain,
    queue,
    job_type,
    measure,
    up_to,
    quantity,
    seconds
   FROM pgjobs.metrics() v(domain, queue, job_type, measure, up_to, quantity, seconds);

COMMENT ON VIEW pgjobs.metrics IS 'The numbers of every job. Example: select job_type, quantity from pgjobs.metrics where measure = ''backlog''';

COMMENT ON COLUMN pgjobs.metrics.domain IS 'The room of the job.';

COMMENT ON COLUMN pgjobs.metrics.queue IS 'The category of the job.';

COMMENT ON COLUMN pgjobs.metrics.job_type IS 'The name of the job.';

COMMENT ON COLUMN pgjobs.metrics.measure IS 'queued, backlog, processing, stale_processing, paused, schedules, overdue_schedules; since the beginning completed, failed, cancelled, retried, duration, latency.';

COMMENT ON COLUMN pgjobs.metrics.up_to IS 'Of a duration or latency: upper bound of the bucket, in seconds.';

COMMENT ON COLUMN pgjobs.metrics.quantity IS 'How many.';

COMMENT ON COLUMN pgjobs.metrics.seconds IS 'Durations or latencies together, with the last bucket.';

CREATE TABLE pgjobs.outcomes_default (
    task_id bigint CONSTRAINT outcomes_task_id_not_null NOT NULL,
    job_id integer CONSTRAINT outcomes_job_id_not_null NOT NULL,
    status text CONSTRAINT outcomes_status_not_null NOT NULL,
    attempt smallint CONSTRAINT outcomes_attempt_not_null NOT NULL,
    token uuid,
    worker_id uuid,
    holder text,
    claimed_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone CONSTRAINT outcomes_ended_at_not_null NOT NULL,
    result jsonb,
    error text,
    error_kind text,
    reason text,
    actor text,
    CONSTRAINT outcomes_are_whole CHECK (
CASE status
    WHEN 'completed'::text THEN ((error IS NULL) AND (token IS NOT NULL))
    WHEN 'failed'::text THEN ((error IS NOT NULL) AND (token IS NOT NULL) AND (result IS NULL))
    WHEN 'cancelled'::text THEN ((error IS NULL) AND (result IS NULL))
    ELSE false
END)
);

COMMENT ON TABLE pgjobs.outcomes_default IS 'Part of outcomes: what no other part is for.';

COMMENT ON COLUMN pgjobs.outcomes_default.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.outcomes_default.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.outcomes_default.status IS 'completed, failed or cancelled.';

COMMENT ON COLUMN pgjobs.outcomes_default.attempt IS 'Attempts used.';

COMMENT ON COLUMN pgjobs.outcomes_default.token IS 'The lease that ended it, so that a repeated acknowledgement can be answered.';

COMMENT ON COLUMN pgjobs.outcomes_default.worker_id IS 'The worker that ended it.';

COMMENT ON COLUMN pgjobs.outcomes_default.holder IS 'The holder that ended it, if not a registered worker.';

COMMENT ON COLUMN pgjobs.outcomes_default.claimed_at IS 'When its last lease began.';

COMMENT ON COLUMN pgjobs.outcomes_default.started_at IS 'When its last attempt began to run.';

COMMENT ON COLUMN pgjobs.outcomes_default.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.outcomes_default.result IS 'What it gave.';

COMMENT ON COLUMN pgjobs.outcomes_default.error IS 'What it failed with.';

COMMENT ON COLUMN pgjobs.outcomes_default.error_kind IS 'The kind of that error.';

COMMENT ON COLUMN pgjobs.outcomes_default.reason IS 'Why it was cancelled.';

COMMENT ON COLUMN pgjobs.outcomes_default.actor IS 'Who cancelled it.';

CREATE TABLE pgjobs.outcomes_from_0 (
    task_id bigint CONSTRAINT outcomes_task_id_not_null NOT NULL,
    job_id integer CONSTRAINT outcomes_job_id_not_null NOT NULL,
    status text CONSTRAINT outcomes_status_not_null NOT NULL,
    attempt smallint CONSTRAINT outcomes_attempt_not_null NOT NULL,
    token uuid,
    worker_id uuid,
    holder text,
    claimed_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone CONSTRAINT outcomes_ended_at_not_null NOT NULL,
    result jsonb,
    error text,
    error_kind text,
    reason text,
    actor text,
    CONSTRAINT outcomes_are_whole CHECK (
CASE status
    WHEN 'completed'::text THEN ((error IS NULL) AND (token IS NOT NULL))
    WHEN 'failed'::text THEN ((error IS NOT NULL) AND (token IS NOT NULL) AND (result IS NULL))
    WHEN 'cancelled'::text THEN ((error IS NULL) AND (result IS NULL))
    ELSE false
END)
);

COMMENT ON TABLE pgjobs.outcomes_from_0 IS 'Part of outcomes: numbers up to 249999.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.status IS 'completed, failed or cancelled.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.attempt IS 'Attempts used.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.token IS 'The lease that ended it, so that a repeated acknowledgement can be answered.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.worker_id IS 'The worker that ended it.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.holder IS 'The holder that ended it, if not a registered worker.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.claimed_at IS 'When its last lease began.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.started_at IS 'When its last attempt began to run.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.result IS 'What it gave.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.error IS 'What it failed with.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.error_kind IS 'The kind of that error.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.reason IS 'Why it was cancelled.';

COMMENT ON COLUMN pgjobs.outcomes_from_0.actor IS 'Who cancelled it.';

CREATE TABLE pgjobs.outcomes_from_250000 (
    task_id bigint CONSTRAINT outcomes_task_id_not_null NOT NULL,
    job_id integer CONSTRAINT outcomes_job_id_not_null NOT NULL,
    status text CONSTRAINT outcomes_status_not_null NOT NULL,
    attempt smallint CONSTRAINT outcomes_attempt_not_null NOT NULL,
    token uuid,
    worker_id uuid,
    holder text,
    claimed_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone CONSTRAINT outcomes_ended_at_not_null NOT NULL,
    result jsonb,
    error text,
    error_kind text,
    reason text,
    actor text,
    CONSTRAINT outcomes_are_whole CHECK (
CASE status
    WHEN 'completed'::text THEN ((error IS NULL) AND (token IS NOT NULL))
    WHEN 'failed'::text THEN ((error IS NOT NULL) AND (token IS NOT NULL) AND (result IS NULL))
    WHEN 'cancelled'::text THEN ((error IS NULL) AND (result IS NULL))
    ELSE false
END)
);

COMMENT ON TABLE pgjobs.outcomes_from_250000 IS 'Part of outcomes: numbers from 250000 up to 499999.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.status IS 'completed, failed or cancelled.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.attempt IS 'Attempts used.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.token IS 'The lease that ended it, so that a repeated acknowledgement can be answered.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.worker_id IS 'The worker that ended it.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.holder IS 'The holder that ended it, if not a registered worker.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.claimed_at IS 'When its last lease began.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.started_at IS 'When its last attempt began to run.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.ended_at IS 'When it ended.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.result IS 'What it gave.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.error IS 'What it failed with.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.error_kind IS 'The kind of that error.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.reason IS 'Why it was cancelled.';

COMMENT ON COLUMN pgjobs.outcomes_from_250000.actor IS 'Who cancelled it.';

CREATE VIEW pgjobs.overview AS
 SELECT at,
    jobs,
    paused_jobs,
    workers,
    silent_workers,
    waiting,
    oldest_wait,
    scheduled,
    claimed,
    running,
    overdue,
    ignored,
    completed_last_hour,
    failed_last_hour,
    cancelled_last_hour,
    retried_last_hour,
    completed_per_minute,
    wait_p50,
    wait_p95,
    run_p50,
    run_p95
   FROM pgjobs.overview() v(at, jobs, paused_jobs, workers, silent_workers, waiting, oldest_wait, scheduled, claimed, running, overdue, ignored, completed_last_hour, failed_last_hour, cancelled_last_hour, retried_last_hour, completed_per_minute, wait_p50, wait_p95, run_p50, run_p95);

COMMENT ON VIEW pgjobs.overview IS 'The queue in one row. Example: select * from pgjobs.overview';

COMMENT ON COLUMN pgjobs.overview.at IS 'When this was looked at.';

COMMENT ON COLUMN pgjobs.overview.jobs IS 'Registered jobs that are not archived.';

COMMENT ON COLUMN pgjobs.overview.paused_jobs IS 'Those claims pass by.';

COMMENT ON COLUMN pgjobs.overview.workers IS 'Registered workers.';

COMMENT ON COLUMN pgjobs.overview.silent_workers IS 'Those whose heartbeats have stopped.';

COMMENT ON COLUMN pgjobs.overview.waiting IS 'Tasks that are due, up to a thousand of each job counted, beyond that estimated.';

COMMENT ON COLUMN pgjobs.overview.oldest_wait IS 'How long the first of them has been due.';

COMMENT ON COLUMN pgjobs.overview.scheduled IS 'Tasks that are due later, likewise.';

COMMENT ON COLUMN pgjobs.overview.claimed IS 'Tasks leased and not started.';

COMMENT ON COLUMN pgjobs.overview.running IS 'Tasks being worked on.';

COMMENT ON COLUMN pgjobs.overview.overdue IS 'Leases that have lapsed and await a sweep.';

COMMENT ON COLUMN pgjobs.overview.ignored IS 'Tasks put aside, counted up to 10,000.';

COMMENT ON COLUMN pgjobs.overview.completed_last_hour IS 'Tasks completed in the last hour.';

COMMENT ON COLUMN pgjobs.overview.failed_last_hour IS 'Tasks failed for good in the last hour.';

COMMENT ON COLUMN pgjobs.overview.cancelled_last_hour IS 'Tasks cancelled in the last hour.';

COMMENT ON COLUMN pgjobs.overview.retried_last_hour IS 'Attempts of the last hour that failed and are followed by another.';

COMMENT ON COLUMN pgjobs.overview.completed_per_minute IS 'Tasks completed per minute over the last five.';

COMMENT ON COLUMN pgjobs.overview.wait_p50 IS 'Seconds from submission to claim that half of the last hours tasks stayed below.';

COMMENT ON COLUMN pgjobs.overview.wait_p95 IS 'The same of 95 in 100.';

COMMENT ON COLUMN pgjobs.overview.run_p50 IS 'Seconds from claim to completion that half of the last hours tasks stayed below.';

COMMENT ON COLUMN pgjobs.overview.run_p95 IS 'The same of 95 in 100.';

CREATE VIEW pgjobs.problems AS
 SELECT sqlstate,
    problem,
    status,
    title
   FROM ( VALUES ('PJ001'::text,'job-not-found'::text,404,'No such job, or not visible from there'::text), ('PJ002'::text,'task-not-found'::text,404,'No such task'::text), ('PJ003'::text,'worker-not-found'::text,404,'No such worker'::text), ('PJ004'::text,'provider-not-found'::text,404,'No such provider, or not visible from there'::text), ('PJ005'::text,'schema-conflict'::text,409,'The job is registered with another schema'::text), ('PJ006'::text,'invalid-task-transition'::text,409,'The task''s current status does not allow this step'::text), ('PJ007'::text,'lease-lost'::text,409,'The lease lapsed or passed to another worker'::text), ('PJ008'::text,'no-workers-available'::text,409,'Nobody serves the job'::text), ('PJ009'::text,'invalid-category'::text,400,'The category is not allowed here'::text), ('PJ010'::text,'invalid-room-id'::text,400,'Malformed room'::text), ('PJ011'::text,'forbidden'::text,403,'The acting user may not do this'::text), ('PJ012'::text,'payload-too-large'::text,413,'A payload or result exceeds the size limit'::text), ('PJ013'::text,'payload-invalid'::text,422,'A payload does not fit'::text), ('PJ014'::text,'validation-error'::text,422,'An argument is missing, malformed or out of range'::text), ('PJ015'::text,'internal-job-not-configured'::text,503,'No executor for @internal jobs'::text), ('PJ016'::text,'provider-timeout'::text,504,'The provider did not answer in time'::text), ('PJ017'::text,'unauthorized'::text,401,'No valid credentials were presented'::text), ('PJ018'::text,'room-locked'::text,423,'The host application has locked the room'::text), ('PJ019'::text,'job-unavailable'::text,409,'The job is archived, or its work forbids the step'::text), ('PJ020'::text,'direct-change'::text,409,'Rows are changed by verbs only'::text), ('PJ021'::text,'schedule-not-found'::text,404,'No such schedule'::text)) p(sqlstate, problem, status, title);

COMMENT ON VIEW pgjobs.problems IS 'Every error of class PJ. Example: select * from pgjobs.problems where sqlstate = ''PJ007''';

COMMENT ON COLUMN pgjobs.problems.sqlstate IS 'What SQL raises.';

COMMENT ON COLUMN pgjobs.problems.problem IS 'What HTTP calls it.';

COMMENT ON COLUMN pgjobs.problems.status IS 'The HTTP status.';

COMMENT ON COLUMN pgjobs.problems.title IS 'What it means.';

CREATE VIEW pgjobs.providers_status AS
 SELECT provider,
    content_type,
    owner,
    worker_id,
    worker,
    is_alive,
    heartbeat_age,
    kept,
    in_flight,
    created_at
   FROM pgjobs.providers_status() v(provider, content_type, owner, worker_id, worker, is_alive, heartbeat_age, kept, in_flight, created_at);

COMMENT ON VIEW pgjobs.providers_status IS 'Registered providers and their answers. Example: select provider, is_alive, kept from pgjobs.providers_status';

COMMENT ON COLUMN pgjobs.providers_status.provider IS 'Its address.';

COMMENT ON COLUMN pgjobs.providers_status.content_type IS 'Media type of its answers.';

COMMENT ON COLUMN pgjobs.providers_status.owner IS 'The user it belongs to.';

COMMENT ON COLUMN pgjobs.providers_status.worker_id IS 'The worker that answers.';

COMMENT ON COLUMN pgjobs.providers_status.worker IS 'That workers name.';

COMMENT ON COLUMN pgjobs.providers_status.is_alive IS 'Whether that workers heartbeats still come.';

COMMENT ON COLUMN pgjobs.providers_status.heartbeat_age IS 'How long ago the last one came.';

COMMENT ON COLUMN pgjobs.providers_status.kept IS 'Answers that are kept.';

COMMENT ON COLUMN pgjobs.providers_status.in_flight IS 'Questions on their way.';

COMMENT ON COLUMN pgjobs.providers_status.created_at IS 'When it was first registered.';

CREATE UNLOGGED TABLE pgjobs.reads (
    key text NOT NULL,
    data bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT read_keys_are_short CHECK ((length(key) <= 1000))
);

COMMENT ON TABLE pgjobs.reads IS 'Answers of providers, kept until they expire.';

COMMENT ON COLUMN pgjobs.reads.key IS 'Provider and question.';

COMMENT ON COLUMN pgjobs.reads.data IS 'The answer, byte for byte.';

COMMENT ON COLUMN pgjobs.reads.expires_at IS 'Until when it counts.';

CREATE UNLOGGED TABLE pgjobs.reads_in_flight (
    key text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT read_keys_are_short CHECK ((length(key) <= 1000))
);

COMMENT ON TABLE pgjobs.reads_in_flight IS 'Questions somebody has passed on to their provider already.';

COMMENT ON COLUMN pgjobs.reads_in_flight.key IS 'Provider and question.';

COMMENT ON COLUMN pgjobs.reads_in_flight.expires_at IS 'When it may be asked again, answered or not.';

CREATE TABLE pgjobs.rollups (
    job_id integer CONSTRAINT rollups_job_id_not_null1 NOT NULL,
    minute timestamp with time zone CONSTRAINT rollups_minute_not_null1 NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    cancelled bigint NOT NULL,
    retried bigint NOT NULL,
    waits bigint[] NOT NULL,
    wait_seconds double precision NOT NULL,
    runs bigint[] NOT NULL,
    run_seconds double precision NOT NULL,
    CONSTRAINT all_buckets_are_there CHECK (((cardinality(waits) = 14) AND (cardinality(runs) = 14)))
)
WITH (fillfactor='70');

COMMENT ON TABLE pgjobs.rollups IS 'How much ended in each minute, and how long it took. Example: select minute, completed from pgjobs.rollups where job_id = 0 and minute > now() - interval ''1 hour''';

COMMENT ON COLUMN pgjobs.rollups.job_id IS 'The job; 0 for all jobs together.';

COMMENT ON COLUMN pgjobs.rollups.minute IS 'The minute; -infinity counts all time of a job.';

COMMENT ON COLUMN pgjobs.rollups.completed IS 'Tasks completed.';

COMMENT ON COLUMN pgjobs.rollups.failed IS 'Tasks failed for good.';

COMMENT ON COLUMN pgjobs.rollups.cancelled IS 'Tasks cancelled.';

COMMENT ON COLUMN pgjobs.rollups.retried IS 'Failed attempts that are followed by another.';

COMMENT ON COLUMN pgjobs.rollups.waits IS 'How many waited how long from submission to claim: a count for each of pgjobs.histogram_bounds(), and one beyond.';

COMMENT ON COLUMN pgjobs.rollups.wait_seconds IS 'How long they waited together.';

COMMENT ON COLUMN pgjobs.rollups.runs IS 'The same of how long those completed took from their claim.';

COMMENT ON COLUMN pgjobs.rollups.run_seconds IS 'How long they took together.';

CREATE TABLE pgjobs.run_targets (
    task_id bigint NOT NULL,
    job_id integer NOT NULL,
    node_id text NOT NULL,
    target jsonb NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    cleanup_id bigint
);

COMMENT ON TABLE pgjobs.run_targets IS 'Where a run writes, as its job said when it started; it goes with the run.';

COMMENT ON COLUMN pgjobs.run_targets.task_id IS 'The run.';

COMMENT ON COLUMN pgjobs.run_targets.job_id IS 'Its job.';

COMMENT ON COLUMN pgjobs.run_targets.node_id IS 'As in targets.';

COMMENT ON COLUMN pgjobs.run_targets.target IS 'As in targets.';

COMMENT ON COLUMN pgjobs.run_targets.taken_at IS 'When it was copied.';

COMMENT ON COLUMN pgjobs.run_targets.cleanup_id IS 'The clean-up task of the run, which has one at most.';

CREATE VIEW pgjobs.running AS
 SELECT task_id,
    job,
    room,
    status,
    phase,
    attempt,
    max_attempts,
    worker,
    held_for,
    claimed_at,
    started_at,
    until,
    progress,
    cancel_requested_at,
    worker_id
   FROM pgjobs.running() v(task_id, job, room, status, phase, attempt, max_attempts, worker, held_for, claimed_at, started_at, until, progress, cancel_requested_at, worker_id);

COMMENT ON VIEW pgjobs.running IS 'Tasks in somebody''s hands, at most 500. Example: select task_id, job, worker, held_for from pgjobs.running';

COMMENT ON COLUMN pgjobs.running.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.running.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.running.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.running.status IS 'claimed or running.';

COMMENT ON COLUMN pgjobs.running.phase IS 'overdue when its lease has lapsed.';

COMMENT ON COLUMN pgjobs.running.attempt IS 'The how-many-eth lease.';

COMMENT ON COLUMN pgjobs.running.max_attempts IS 'Attempts it may use.';

COMMENT ON COLUMN pgjobs.running.worker IS 'Name of who holds it.';

COMMENT ON COLUMN pgjobs.running.held_for IS 'Since when, as a duration.';

COMMENT ON COLUMN pgjobs.running.claimed_at IS 'When its lease began.';

COMMENT ON COLUMN pgjobs.running.started_at IS 'When work began.';

COMMENT ON COLUMN pgjobs.running.until IS 'When its lease lapses.';

COMMENT ON COLUMN pgjobs.running.progress IS 'What its worker last reported.';

COMMENT ON COLUMN pgjobs.running.cancel_requested_at IS 'Since when its worker is asked to stop.';

COMMENT ON COLUMN pgjobs.running.worker_id IS 'Who holds it, if registered.';

ALTER TABLE pgjobs.schedule_runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgjobs.schedule_runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW pgjobs.scheduled_tasks AS
 SELECT run_at,
    due_in,
    task_id,
    job,
    room,
    phase,
    priority,
    attempt,
    max_attempts,
    error_kind,
    error
   FROM pgjobs.scheduled_tasks() v(run_at, due_in, task_id, job, room, phase, priority, attempt, max_attempts, error_kind, error);

COMMENT ON VIEW pgjobs.scheduled_tasks IS 'The next 500 tasks that become due. Example: select due_in, task_id, job, phase from pgjobs.scheduled_tasks';

COMMENT ON COLUMN pgjobs.scheduled_tasks.run_at IS 'When it becomes due.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.due_in IS 'Likewise, as a duration.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.phase IS 'scheduled, retrying or blocked (by an error of kind auth or config).';

COMMENT ON COLUMN pgjobs.scheduled_tasks.priority IS 'The lane it will enter.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.attempt IS 'Attempts used.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.max_attempts IS 'Attempts it may use.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.error_kind IS 'Kind of the error it backs off after.';

COMMENT ON COLUMN pgjobs.scheduled_tasks.error IS 'That error, one line.';

ALTER TABLE pgjobs.schedules ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgjobs.schedules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pgjobs.sessions (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    session_hash bytea NOT NULL,
    user_id text NOT NULL,
    is_superuser boolean DEFAULT false NOT NULL,
    token_id uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sessions_name_their_user CHECK (((user_id <> ''::text) AND (length(user_id) <= 200)))
);

COMMENT ON TABLE pgjobs.sessions IS 'Who is signed in with a browser; only hashes are kept.';

COMMENT ON COLUMN pgjobs.sessions.id IS 'Internal id.';

COMMENT ON COLUMN pgjobs.sessions.session_hash IS 'SHA-256 of what the cookie holds.';

COMMENT ON COLUMN pgjobs.sessions.user_id IS 'Who is signed in.';

COMMENT ON COLUMN pgjobs.sessions.is_superuser IS 'Whether they may do what superusers may.';

COMMENT ON COLUMN pgjobs.sessions.token_id IS 'The API token it was opened with, which it does not outlive.';

COMMENT ON COLUMN pgjobs.sessions.created_at IS 'When it was opened.';

COMMENT ON COLUMN pgjobs.sessions.expires_at IS 'When it ceases to count.';

CREATE TABLE pgjobs.settings (
    is_only boolean DEFAULT true NOT NULL,
    worker_timeout interval DEFAULT '00:01:00'::interval NOT NULL,
    internal_timeout interval DEFAULT '01:00:00'::interval NOT NULL,
    max_lease interval DEFAULT '01:00:00'::interval NOT NULL,
    aging interval DEFAULT '1 day'::interval NOT NULL,
    payload_limit integer DEFAULT 1048576 NOT NULL,
    retain_completed interval DEFAULT '30 days'::interval NOT NULL,
    retain_failed interval DEFAULT '60 days'::interval NOT NULL,
    retain_events interval DEFAULT '7 days'::interval NOT NULL,
    cleanup_after interval DEFAULT '7 days'::interval NOT NULL,
    CONSTRAINT cleanup_is_not_in_the_future CHECK ((cleanup_after >= '00:00:00'::interval)),
    CONSTRAINT durations_are_positive CHECK (((worker_timeout > '00:00:00'::interval) AND (internal_timeout > '00:00:00'::interval) AND (max_lease > '00:00:00'::interval) AND (aging >= '00:00:00'::interval))),
    CONSTRAINT payload_limit_is_sane CHECK (((payload_limit >= 1024) AND (payload_limit <= 67108864))),
    CONSTRAINT retention_is_not_negative CHECK (((retain_completed >= '00:00:00'::interval) AND (retain_failed >= '00:00:00'::interval) AND (retain_events >= '00:00:00'::interval))),
    CONSTRAINT settings_are_one_row CHECK (is_only)
);

COMMENT ON TABLE pgjobs.settings IS 'Limits and time-outs of this queue, one row. Example: update pgjobs.settings set max_lease = ''2 hours''';

COMMENT ON COLUMN pgjobs.settings.is_only IS 'Always true: there is one row.';

COMMENT ON COLUMN pgjobs.settings.worker_timeout IS 'A worker silent for longer is swept away.';

COMMENT ON COLUMN pgjobs.settings.internal_timeout IS 'An @internal task claimed or running for longer is failed.';

COMMENT ON COLUMN pgjobs.settings.max_lease IS 'No lease reaches further into the future than this.';

COMMENT ON COLUMN pgjobs.settings.aging IS 'A task waiting this long counts as one priority step more urgent.';

COMMENT ON COLUMN pgjobs.settings.payload_limit IS 'Largest payload or result, in bytes of JSON text.';

COMMENT ON COLUMN pgjobs.settings.retain_completed IS 'How long completed tasks are kept; 0 keeps them for ever.';

COMMENT ON COLUMN pgjobs.settings.retain_failed IS 'How long failed and cancelled tasks are kept; 0 keeps them for ever.';

COMMENT ON COLUMN pgjobs.settings.retain_events IS 'How long events are kept; 0 keeps them for ever.';

COMMENT ON COLUMN pgjobs.settings.cleanup_after IS 'A run that ended without completing is cleaned up when it ended longer ago than this; 0 cleans up nothing.';

CREATE TABLE pgjobs.sign_ins (
    sign_in_hash bytea NOT NULL,
    user_id text NOT NULL,
    is_superuser boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sign_ins_name_their_user CHECK (((user_id <> ''::text) AND (length(user_id) <= 200)))
);

COMMENT ON TABLE pgjobs.sign_ins IS 'Sign-in links nobody has followed yet; only hashes are kept.';

COMMENT ON COLUMN pgjobs.sign_ins.sign_in_hash IS 'SHA-256 of what the link holds.';

COMMENT ON COLUMN pgjobs.sign_ins.user_id IS 'Whom it signs in.';

COMMENT ON COLUMN pgjobs.sign_ins.is_superuser IS 'Whether they may do what superusers may.';

COMMENT ON COLUMN pgjobs.sign_ins.expires_at IS 'When it ceases to count.';

CREATE VIEW pgjobs.storage AS
 SELECT relation,
    live,
    dead,
    dead_share,
    table_bytes,
    index_bytes,
    total_bytes,
    hot_share,
    last_vacuum_at,
    last_analyze_at
   FROM pgjobs.storage() v(relation, live, dead, dead_share, table_bytes, index_bytes, total_bytes, hot_share, last_vacuum_at, last_analyze_at);

COMMENT ON VIEW pgjobs.storage IS 'The health of every table. Example: select relation, live, dead, pg_size_pretty(total_bytes) from pgjobs.storage';

COMMENT ON COLUMN pgjobs.storage.relation IS 'The table.';

COMMENT ON COLUMN pgjobs.storage.live IS 'About how many rows it has.';

COMMENT ON COLUMN pgjobs.storage.dead IS 'About how many dead rows await vacuum.';

COMMENT ON COLUMN pgjobs.storage.dead_share IS 'Share of the dead among all.';

COMMENT ON COLUMN pgjobs.storage.table_bytes IS 'Size without indexes.';

COMMENT ON COLUMN pgjobs.storage.index_bytes IS 'Size of its indexes.';

COMMENT ON COLUMN pgjobs.storage.total_bytes IS 'Both.';

COMMENT ON COLUMN pgjobs.storage.hot_share IS 'Share of updates that left its indexes alone.';

COMMENT ON COLUMN pgjobs.storage.last_vacuum_at IS 'When it was last vacuumed.';

COMMENT ON COLUMN pgjobs.storage.last_analyze_at IS 'When it was last analyzed.';

CREATE VIEW pgjobs.stuck AS
 SELECT task_id,
    job,
    problem,
    since,
    advice
   FROM pgjobs.stuck() v(task_id, job, problem, since, advice);

COMMENT ON VIEW pgjobs.stuck IS 'Tasks that should have moved. Example: select task_id, job, problem, advice from pgjobs.stuck';

COMMENT ON COLUMN pgjobs.stuck.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.stuck.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.stuck.problem IS 'Why it is listed.';

COMMENT ON COLUMN pgjobs.stuck.since IS 'Since when.';

COMMENT ON COLUMN pgjobs.stuck.advice IS 'The SQL that would move it.';

CREATE TABLE pgjobs.targets (
    job_id integer NOT NULL,
    node_id text NOT NULL,
    target jsonb,
    CONSTRAINT nodes_are_named CHECK (((node_id <> ''::text) AND (length(node_id) <= 200))),
    CONSTRAINT targets_have_a_type CHECK ((jsonb_typeof((target -> 'type'::text)) = 'string'::text))
);

COMMENT ON TABLE pgjobs.targets IS 'Where the runs of a job write.';

COMMENT ON COLUMN pgjobs.targets.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.targets.node_id IS 'The machine whose place it is.';

COMMENT ON COLUMN pgjobs.targets.target IS 'Type and place; secrets are named, not held. Empty: taken back.';

CREATE VIEW pgjobs.task_events AS
 SELECT e.task_id,
    e.at,
    e.kind,
    j.full_name AS job,
    e.room,
    e.status,
    e.worker_id,
    e.actor,
    e.message,
    e.fields
   FROM (pgjobs.events e
     LEFT JOIN pgjobs.jobs j ON ((j.id = e.job_id)))
  WHERE (e.task_id IS NOT NULL);

COMMENT ON VIEW pgjobs.task_events IS 'What happened to tasks. Example: select at, kind, message from pgjobs.task_events where task_id = 42 order by at';

COMMENT ON COLUMN pgjobs.task_events.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.task_events.at IS 'When.';

COMMENT ON COLUMN pgjobs.task_events.kind IS 'The verb: submitted, claimed, started, completed, retrying, failed, cancelled, …';

COMMENT ON COLUMN pgjobs.task_events.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.task_events.room IS 'The room that hears of it.';

COMMENT ON COLUMN pgjobs.task_events.status IS 'The task''s status after it.';

COMMENT ON COLUMN pgjobs.task_events.worker_id IS 'The worker involved.';

COMMENT ON COLUMN pgjobs.task_events.actor IS 'Who did it, if a person did.';

COMMENT ON COLUMN pgjobs.task_events.message IS 'Error or reason, one line.';

COMMENT ON COLUMN pgjobs.task_events.fields IS 'Further details.';

ALTER TABLE pgjobs.tasks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgjobs.tasks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW pgjobs.throughput AS
 SELECT at,
    completed,
    failed,
    cancelled,
    retried,
    wait_p50,
    wait_p95,
    run_p50,
    run_p95
   FROM pgjobs.throughput() v(at, completed, failed, cancelled, retried, wait_p50, wait_p95, run_p50, run_p95);

COMMENT ON VIEW pgjobs.throughput IS 'What ended in each minute of the last hour. Example: select at, completed, failed, wait_p95 from pgjobs.throughput';

COMMENT ON COLUMN pgjobs.throughput.at IS 'The minute.';

COMMENT ON COLUMN pgjobs.throughput.completed IS 'Tasks completed.';

COMMENT ON COLUMN pgjobs.throughput.failed IS 'Tasks failed for good.';

COMMENT ON COLUMN pgjobs.throughput.cancelled IS 'Tasks cancelled.';

COMMENT ON COLUMN pgjobs.throughput.retried IS 'Failed attempts that are followed by another.';

COMMENT ON COLUMN pgjobs.throughput.wait_p50 IS 'Seconds from submission to claim that half stayed below.';

COMMENT ON COLUMN pgjobs.throughput.wait_p95 IS 'The same of 95 in 100.';

COMMENT ON COLUMN pgjobs.throughput.run_p50 IS 'Seconds from claim to completion that half stayed below.';

COMMENT ON COLUMN pgjobs.throughput.run_p95 IS 'The same of 95 in 100.';

CREATE VIEW pgjobs.top AS
 SELECT job,
    state,
    live,
    due,
    oldest,
    later,
    held,
    done,
    failed,
    wait,
    run
   FROM pgjobs.top() v(job, state, live, due, oldest, later, held, done, failed, wait, run);

COMMENT ON VIEW pgjobs.top IS 'The busiest jobs on a narrow screen. Example: select * from pgjobs.top \watch 2';

COMMENT ON COLUMN pgjobs.top.job IS 'Its address, shortened in the middle.';

COMMENT ON COLUMN pgjobs.top.state IS 'archived, paused, overdue, unserved, busy or idle.';

COMMENT ON COLUMN pgjobs.top.live IS 'Live workers that serve it.';

COMMENT ON COLUMN pgjobs.top.due IS 'Tasks in line.';

COMMENT ON COLUMN pgjobs.top.oldest IS 'How long the first of them has been due.';

COMMENT ON COLUMN pgjobs.top.later IS 'Tasks due later.';

COMMENT ON COLUMN pgjobs.top.held IS 'Tasks claimed or running.';

COMMENT ON COLUMN pgjobs.top.done IS 'Completed per minute, over the last five.';

COMMENT ON COLUMN pgjobs.top.failed IS 'Failed for good per minute.';

COMMENT ON COLUMN pgjobs.top.wait IS 'What 95 of 100 waited less than.';

COMMENT ON COLUMN pgjobs.top.run IS 'What 95 of 100 took less than.';

CREATE TABLE pgjobs.uncounted (
    job_id integer NOT NULL,
    measure text NOT NULL,
    at timestamp with time zone NOT NULL,
    task_ids bigint[] NOT NULL,
    claimed_at timestamp with time zone[]
);

COMMENT ON TABLE pgjobs.uncounted IS 'Endings and retries that no rollup counts yet.';

COMMENT ON COLUMN pgjobs.uncounted.job_id IS 'The job.';

COMMENT ON COLUMN pgjobs.uncounted.measure IS 'completed, failed, cancelled or retried.';

COMMENT ON COLUMN pgjobs.uncounted.at IS 'When.';

COMMENT ON COLUMN pgjobs.uncounted.task_ids IS 'The tasks of one statement.';

COMMENT ON COLUMN pgjobs.uncounted.claimed_at IS 'When the last lease of each began, by position; empty for one cancelled in line.';

CREATE VIEW pgjobs.waiting AS
 SELECT job,
    priority,
    place,
    task_id,
    room,
    due_at,
    waited,
    attempt,
    max_attempts,
    owner
   FROM pgjobs.waiting() v(job, priority, place, task_id, room, due_at, waited, attempt, max_attempts, owner);

COMMENT ON VIEW pgjobs.waiting IS 'The first ten due tasks of every lane. Example: select job, place, task_id, waited from pgjobs.waiting';

COMMENT ON COLUMN pgjobs.waiting.job IS 'Address of its job.';

COMMENT ON COLUMN pgjobs.waiting.priority IS 'Its lane: 1 (most urgent) to 10.';

COMMENT ON COLUMN pgjobs.waiting.place IS 'Its place in the lane.';

COMMENT ON COLUMN pgjobs.waiting.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.waiting.room IS 'Where it was submitted from.';

COMMENT ON COLUMN pgjobs.waiting.due_at IS 'Since when it is due.';

COMMENT ON COLUMN pgjobs.waiting.waited IS 'Likewise, as a duration.';

COMMENT ON COLUMN pgjobs.waiting.attempt IS 'Attempts used.';

COMMENT ON COLUMN pgjobs.waiting.max_attempts IS 'Attempts it may use.';

COMMENT ON COLUMN pgjobs.waiting.owner IS 'Whose work it is.';

CREATE UNLOGGED TABLE pgjobs.waiting_marks (
    id bigint CONSTRAINT waiting_id_not_null NOT NULL,
    job_ids integer[] CONSTRAINT waiting_job_ids_not_null NOT NULL,
    since timestamp with time zone CONSTRAINT waiting_since_not_null NOT NULL
);

COMMENT ON TABLE pgjobs.waiting_marks IS 'Idle workers to be woken by NOTIFY; whoever wakes one takes its mark.';

COMMENT ON COLUMN pgjobs.waiting_marks.id IS 'What the notification carries.';

COMMENT ON COLUMN pgjobs.waiting_marks.job_ids IS 'Jobs whose tasks it waits for.';

COMMENT ON COLUMN pgjobs.waiting_marks.since IS 'When it began to wait.';

ALTER TABLE pgjobs.waiting_marks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgjobs.waiting_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE UNLOGGED TABLE pgjobs.watched (
    task_id bigint NOT NULL,
    since timestamp with time zone NOT NULL
);

COMMENT ON TABLE pgjobs.watched IS 'Tasks somebody waits for; their outcome is notified.';

COMMENT ON COLUMN pgjobs.watched.task_id IS 'The task.';

COMMENT ON COLUMN pgjobs.watched.since IS 'When somebody began to wait.';

CREATE SEQUENCE pgjobs.watched_until
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

COMMENT ON SEQUENCE pgjobs.watched_until IS 'Unix time until which outcomes look for watchers.';

CREATE VIEW pgjobs.workers_status AS
 SELECT worker_id,
    name,
    owner,
    is_alive,
    heartbeat_age,
    registered_at,
    jobs,
    claimed,
    running,
    overdue,
    oldest_claim
   FROM pgjobs.workers_status() v(worker_id, name, owner, is_alive, heartbeat_age, registered_at, jobs, claimed, running, overdue, oldest_claim);

COMMENT ON VIEW pgjobs.workers_status IS 'Registered workers and what they hold. Example: select name, is_alive, heartbeat_age, running from pgjobs.workers_status';

COMMENT ON COLUMN pgjobs.workers_status.worker_id IS 'The worker.';

COMMENT ON COLUMN pgjobs.workers_status.name IS 'What people call it.';

COMMENT ON COLUMN pgjobs.workers_status.owner IS 'The user it belongs to.';

COMMENT ON COLUMN pgjobs.workers_status.is_alive IS 'Whether its heartbeats still come.';

COMMENT ON COLUMN pgjobs.workers_status.heartbeat_age IS 'How long ago the last one came.';

COMMENT ON COLUMN pgjobs.workers_status.registered_at IS 'When it came.';

COMMENT ON COLUMN pgjobs.workers_status.jobs IS 'How many jobs it serves.';

COMMENT ON COLUMN pgjobs.workers_status.claimed IS 'Tasks it has leased and not started.';

COMMENT ON COLUMN pgjobs.workers_status.running IS 'Tasks it works on.';

COMMENT ON COLUMN pgjobs.workers_status.overdue IS 'Leases of its that have lapsed.';

COMMENT ON COLUMN pgjobs.workers_status.oldest_claim IS 'How long it has held the oldest of them.';

ALTER TABLE ONLY pgjobs.events ATTACH PARTITION pgjobs.events_default DEFAULT;

ALTER TABLE ONLY pgjobs.events ATTACH PARTITION pgjobs.events_from_0 FOR VALUES FROM ('0') TO ('250000');

ALTER TABLE ONLY pgjobs.events ATTACH PARTITION pgjobs.events_from_250000 FOR VALUES FROM ('250000') TO ('500000');

ALTER TABLE ONLY pgjobs.outcomes ATTACH PARTITION pgjobs.outcomes_default DEFAULT;

ALTER TABLE ONLY pgjobs.outcomes ATTACH PARTITION pgjobs.outcomes_from_0 FOR VALUES FROM ('0') TO ('250000');

ALTER TABLE ONLY pgjobs.outcomes ATTACH PARTITION pgjobs.outcomes_from_250000 FOR VALUES FROM ('250000') TO ('500000');

ALTER TABLE ONLY pgjobs.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.error_counts
    ADD CONSTRAINT error_counts_pkey PRIMARY KEY (since, job_id, fingerprint);

ALTER TABLE ONLY pgjobs.error_cursor
    ADD CONSTRAINT error_cursor_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY pgjobs.error_policies
    ADD CONSTRAINT error_policies_pkey PRIMARY KEY (job_id, kind);

ALTER TABLE ONLY pgjobs.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (xid, id);

ALTER TABLE ONLY pgjobs.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY (xid, id);

ALTER TABLE ONLY pgjobs.events_from_0
    ADD CONSTRAINT events_from_0_pkey PRIMARY KEY (xid, id);

ALTER TABLE ONLY pgjobs.events_from_250000
    ADD CONSTRAINT events_from_250000_pkey PRIMARY KEY (xid, id);

ALTER TABLE ONLY pgjobs.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (job_id, key);

ALTER TABLE ONLY pgjobs.ignored
    ADD CONSTRAINT ignored_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.installed_code
    ADD CONSTRAINT installed_code_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY pgjobs.jobs
    ADD CONSTRAINT job_uuids_are_unique UNIQUE (uuid);

ALTER TABLE ONLY pgjobs.jobs
    ADD CONSTRAINT jobs_have_one_address UNIQUE (room, category, name);

ALTER TABLE ONLY pgjobs.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY pgjobs.outcomes
    ADD CONSTRAINT outcomes_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.outcomes_default
    ADD CONSTRAINT outcomes_default_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.outcomes_from_0
    ADD CONSTRAINT outcomes_from_0_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.outcomes_from_250000
    ADD CONSTRAINT outcomes_from_250000_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.providers
    ADD CONSTRAINT providers_have_one_address UNIQUE (room, category, name);

ALTER TABLE ONLY pgjobs.providers
    ADD CONSTRAINT providers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.reads_in_flight
    ADD CONSTRAINT reads_in_flight_pkey PRIMARY KEY (key);

ALTER TABLE ONLY pgjobs.reads
    ADD CONSTRAINT reads_pkey PRIMARY KEY (key);

ALTER TABLE ONLY pgjobs.ready
    ADD CONSTRAINT ready_pkey PRIMARY KEY (job_id, priority, due_at, task_id);

ALTER TABLE ONLY pgjobs.rollups
    ADD CONSTRAINT rollups_pkey PRIMARY KEY (job_id, minute);

ALTER TABLE ONLY pgjobs.run_targets
    ADD CONSTRAINT run_targets_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.schedule_runs
    ADD CONSTRAINT schedule_runs_pkey PRIMARY KEY (schedule_id, id);

ALTER TABLE ONLY pgjobs.schedules
    ADD CONSTRAINT schedule_uuids_are_unique UNIQUE (uuid);

ALTER TABLE ONLY pgjobs.scheduled
    ADD CONSTRAINT scheduled_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.schedules
    ADD CONSTRAINT schedules_have_one_address UNIQUE (room, name);

ALTER TABLE ONLY pgjobs.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY pgjobs.sessions
    ADD CONSTRAINT session_hashes_are_unique UNIQUE (session_hash);

ALTER TABLE ONLY pgjobs.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY pgjobs.sign_ins
    ADD CONSTRAINT sign_ins_pkey PRIMARY KEY (sign_in_hash);

ALTER TABLE ONLY pgjobs.targets
    ADD CONSTRAINT targets_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY pgjobs.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.api_tokens
    ADD CONSTRAINT token_hashes_are_unique UNIQUE (token_hash);

ALTER TABLE ONLY pgjobs.waiting_marks
    ADD CONSTRAINT waiting_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgjobs.watched
    ADD CONSTRAINT watched_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY pgjobs.worker_jobs
    ADD CONSTRAINT worker_jobs_pkey PRIMARY KEY (worker_id, job_id);

ALTER TABLE ONLY pgjobs.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

CREATE INDEX attempts_of_a_task ON pgjobs.attempts USING btree (task_id, id);

CREATE INDEX events_in_time ON ONLY pgjobs.events USING brin (at) WITH (autosummarize='on');

CREATE INDEX events_default_at_idx ON pgjobs.events_default USING brin (at) WITH (autosummarize='on');

CREATE INDEX events_of_a_task ON ONLY pgjobs.events USING btree (task_id, id) WHERE (task_id IS NOT NULL);

CREATE INDEX events_default_task_id_id_idx ON pgjobs.events_default USING btree (task_id, id) WHERE (task_id IS NOT NULL);

CREATE INDEX events_from_0_in_time ON pgjobs.events_from_0 USING brin (at) WITH (autosummarize='on');

CREATE INDEX events_from_0_of_a_task ON pgjobs.events_from_0 USING btree (task_id, id) WHERE (task_id IS NOT NULL);

CREATE INDEX events_from_250000_at_idx ON pgjobs.events_from_250000 USING brin (at) WITH (autosummarize='on');

CREATE INDEX events_from_250000_task_id_id_idx ON pgjobs.events_from_250000 USING btree (task_id, id) WHERE (task_id IS NOT NULL);

CREATE INDEX jobs_by_address ON pgjobs.jobs USING btree (full_name);

CREATE INDEX jobs_with_a_limit ON pgjobs.jobs USING btree (id) WHERE (max_running IS NOT NULL);

CREATE INDEX jobs_with_full_events ON pgjobs.jobs USING btree (id) WHERE (events = 'full'::text);

CREATE INDEX lanes_of_a_job ON pgjobs.lanes USING btree (job_id, priority);

CREATE INDEX leases_of_limited_jobs ON pgjobs.leases USING btree (job_id) WHERE is_limited;

CREATE INDEX outcomes_in_time ON ONLY pgjobs.outcomes USING brin (ended_at) WITH (autosummarize='on');

CREATE INDEX outcomes_default_ended_at_idx ON pgjobs.outcomes_default USING brin (ended_at) WITH (autosummarize='on');

CREATE INDEX outcomes_unfinished ON ONLY pgjobs.outcomes USING btree (job_id, ended_at) WHERE (status <> 'completed'::text);

CREATE INDEX outcomes_default_job_id_ended_at_idx ON pgjobs.outcomes_default USING btree (job_id, ended_at) WHERE (status <> 'completed'::text);

CREATE INDEX outcomes_to_look_at ON ONLY pgjobs.outcomes USING btree (status, task_id) WHERE (status <> 'completed'::text);

CREATE INDEX outcomes_default_status_task_id_idx ON pgjobs.outcomes_default USING btree (status, task_id) WHERE (status <> 'completed'::text);

CREATE INDEX outcomes_from_0_in_time ON pgjobs.outcomes_from_0 USING brin (ended_at) WITH (autosummarize='on');

CREATE INDEX outcomes_from_0_to_look_at ON pgjobs.outcomes_from_0 USING btree (status, task_id) WHERE (status <> 'completed'::text);

CREATE INDEX outcomes_from_0_unfinished ON pgjobs.outcomes_from_0 USING btree (job_id, ended_at) WHERE (status <> 'completed'::text);

CREATE INDEX outcomes_from_250000_ended_at_idx ON pgjobs.outcomes_from_250000 USING brin (ended_at) WITH (autosummarize='on');

CREATE INDEX outcomes_from_250000_job_id_ended_at_idx ON pgjobs.outcomes_from_250000 USING btree (job_id, ended_at) WHERE (status <> 'completed'::text);

CREATE INDEX outcomes_from_250000_status_task_id_idx ON pgjobs.outcomes_from_250000 USING btree (status, task_id) WHERE (status <> 'completed'::text);

CREATE INDEX providers_by_address ON pgjobs.providers USING btree (full_name);

CREATE INDEX providers_of_a_worker ON pgjobs.providers USING btree (worker_id);

CREATE INDEX reads_in_flight_in_time ON pgjobs.reads_in_flight USING btree (expires_at);

CREATE INDEX reads_in_time ON pgjobs.reads USING btree (expires_at);

CREATE INDEX ready_again ON pgjobs.ready USING btree (task_id) WHERE is_again;

CREATE INDEX scheduled_in_time ON pgjobs.scheduled USING btree (run_at, task_id);

CREATE INDEX scheduled_of_a_job ON pgjobs.scheduled USING btree (job_id);

CREATE INDEX schedules_by_address ON pgjobs.schedules USING btree (full_name);

CREATE INDEX schedules_in_time ON pgjobs.schedules USING btree (next_run_at);

CREATE INDEX schedules_of_a_job ON pgjobs.schedules USING btree (job_id);

CREATE INDEX sessions_in_time ON pgjobs.sessions USING btree (expires_at);

CREATE INDEX sign_ins_in_time ON pgjobs.sign_ins USING btree (expires_at);

CREATE INDEX tasks_of_a_room_by_job ON pgjobs.tasks USING btree (room, job_id, id);

CREATE INDEX workers_by_heartbeat ON pgjobs.workers USING btree (last_heartbeat_at);

CREATE INDEX workers_of_a_job ON pgjobs.worker_jobs USING btree (job_id);

ALTER INDEX pgjobs.events_in_time ATTACH PARTITION pgjobs.events_default_at_idx;

ALTER INDEX pgjobs.events_pkey ATTACH PARTITION pgjobs.events_default_pkey;

ALTER INDEX pgjobs.events_of_a_task ATTACH PARTITION pgjobs.events_default_task_id_id_idx;

ALTER INDEX pgjobs.events_in_time ATTACH PARTITION pgjobs.events_from_0_in_time;

ALTER INDEX pgjobs.events_of_a_task ATTACH PARTITION pgjobs.events_from_0_of_a_task;

ALTER INDEX pgjobs.events_pkey ATTACH PARTITION pgjobs.events_from_0_pkey;

ALTER INDEX pgjobs.events_in_time ATTACH PARTITION pgjobs.events_from_250000_at_idx;

ALTER INDEX pgjobs.events_pkey ATTACH PARTITION pgjobs.events_from_250000_pkey;

ALTER INDEX pgjobs.events_of_a_task ATTACH PARTITION pgjobs.events_from_250000_task_id_id_idx;

ALTER INDEX pgjobs.outcomes_in_time ATTACH PARTITION pgjobs.outcomes_default_ended_at_idx;

ALTER INDEX pgjobs.outcomes_unfinished ATTACH PARTITION pgjobs.outcomes_default_job_id_ended_at_idx;

ALTER INDEX pgjobs.outcomes_pkey ATTACH PARTITION pgjobs.outcomes_default_pkey;

ALTER INDEX pgjobs.outcomes_to_look_at ATTACH PARTITION pgjobs.outcomes_default_status_task_id_idx;

ALTER INDEX pgjobs.outcomes_in_time ATTACH PARTITION pgjobs.outcomes_from_0_in_time;

ALTER INDEX pgjobs.outcomes_pkey ATTACH PARTITION pgjobs.outcomes_from_0_pkey;

ALTER INDEX pgjobs.outcomes_to_look_at ATTACH PARTITION pgjobs.outcomes_from_0_to_look_at;

ALTER INDEX pgjobs.outcomes_unfinished ATTACH PARTITION pgjobs.outcomes_from_0_unfinished;

ALTER INDEX pgjobs.outcomes_in_time ATTACH PARTITION pgjobs.outcomes_from_250000_ended_at_idx;

ALTER INDEX pgjobs.outcomes_unfinished ATTACH PARTITION pgjobs.outcomes_from_250000_job_id_ended_at_idx;

ALTER INDEX pgjobs.outcomes_pkey ATTACH PARTITION pgjobs.outcomes_from_250000_pkey;

ALTER INDEX pgjobs.outcomes_to_look_at ATTACH PARTITION pgjobs.outcomes_from_250000_status_task_id_idx;

CREATE TRIGGER announced AFTER INSERT ON pgjobs.events FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_events();

CREATE TRIGGER backing_off AFTER INSERT ON pgjobs.scheduled REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_scheduled();

CREATE TRIGGER bodies_never_change BEFORE UPDATE ON pgjobs.tasks FOR EACH ROW EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER claimed AFTER INSERT ON pgjobs.leases REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_claimed();

CREATE TRIGGER ended AFTER INSERT ON pgjobs.outcomes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_ended();

CREATE TRIGGER events_never_change BEFORE UPDATE ON pgjobs.events FOR EACH ROW EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER generic_jobs_are_read_only BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.generic_jobs FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_generic_change();

CREATE TRIGGER generic_jobs_have_verbs INSTEAD OF INSERT OR DELETE OR UPDATE ON pgjobs.generic_jobs FOR EACH ROW EXECUTE FUNCTION pgjobs.refuse_generic_change();

CREATE TRIGGER history_never_changes BEFORE UPDATE ON pgjobs.attempts FOR EACH ROW EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER job_came AFTER INSERT ON pgjobs.jobs FOR EACH ROW EXECUTE FUNCTION pgjobs.announce_job();

CREATE TRIGGER job_came_or_went AFTER UPDATE OF deleted_at ON pgjobs.jobs FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION pgjobs.announce_job();

CREATE TRIGGER leases_keep_their_token BEFORE UPDATE ON pgjobs.leases FOR EACH ROW WHEN ((((new.task_id <> old.task_id) OR (new.job_id <> old.job_id) OR (new.token <> old.token) OR (new.attempt <> old.attempt)) OR (((new.worker_id IS DISTINCT FROM old.worker_id) OR (new.holder IS DISTINCT FROM old.holder)) OR (new.claimed_at IS DISTINCT FROM old.claimed_at)) OR ((new.until IS NULL) <> (old.until IS NULL)) OR (new.until < old.until) OR ((old.started_at IS NOT NULL) AND (new.started_at IS DISTINCT FROM old.started_at)))) EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.attempts FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.events FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.events_default FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.events_from_0 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.events_from_250000 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.idempotency_keys FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.ignored FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.leases FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.outcomes FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.outcomes_default FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.outcomes_from_0 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.outcomes_from_250000 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.ready FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.run_targets FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.schedule_runs FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.scheduled FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.schedules FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.targets FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER nothing_is_truncated BEFORE TRUNCATE ON pgjobs.tasks FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.attempts FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.events FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.events_default FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.events_from_0 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.events_from_250000 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.idempotency_keys FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.ignored FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.leases FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.outcomes FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.outcomes_default FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.outcomes_from_0 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.outcomes_from_250000 FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.ready FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.run_targets FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.schedule_runs FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.scheduled FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.schedules FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.targets FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER only_verbs_change_rows BEFORE INSERT OR DELETE OR UPDATE ON pgjobs.tasks FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.refuse_strangers();

CREATE TRIGGER outcomes_never_change BEFORE UPDATE ON pgjobs.outcomes FOR EACH ROW EXECUTE FUNCTION pgjobs.refuse_direct_change();

CREATE TRIGGER provider_came AFTER INSERT ON pgjobs.providers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_provider();

CREATE TRIGGER provider_changed AFTER UPDATE ON pgjobs.providers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_provider();

CREATE TRIGGER provider_went AFTER DELETE ON pgjobs.providers REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_provider();

CREATE TRIGGER retries_noted AFTER INSERT ON pgjobs.scheduled REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.note_retries();

CREATE TRIGGER returned AFTER INSERT ON pgjobs.ready REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_ready();

CREATE TRIGGER started AFTER UPDATE ON pgjobs.leases REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_started();

CREATE TRIGGER started_at_once_with_target AFTER INSERT ON pgjobs.leases REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.snapshot_targets();

CREATE TRIGGER started_with_target AFTER UPDATE ON pgjobs.leases REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.snapshot_targets();

CREATE TRIGGER submitted AFTER INSERT ON pgjobs.tasks REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_submitted();

CREATE TRIGGER worker_joined AFTER INSERT ON pgjobs.worker_jobs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_link();

CREATE TRIGGER worker_left AFTER DELETE ON pgjobs.worker_jobs REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgjobs.announce_link();

ALTER TABLE ONLY pgjobs.error_policies
    ADD CONSTRAINT error_policies_job_id_fkey FOREIGN KEY (job_id) REFERENCES pgjobs.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgjobs.providers
    ADD CONSTRAINT providers_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES pgjobs.workers(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgjobs.schedule_runs
    ADD CONSTRAINT schedule_runs_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES pgjobs.schedules(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgjobs.schedules
    ADD CONSTRAINT schedules_job_id_fkey FOREIGN KEY (job_id) REFERENCES pgjobs.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgjobs.sessions
    ADD CONSTRAINT sessions_token_id_fkey FOREIGN KEY (token_id) REFERENCES pgjobs.api_tokens(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgjobs.targets
    ADD CONSTRAINT targets_job_id_fkey FOREIGN KEY (job_id) REFERENCES pgjobs.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgjobs.worker_jobs
    ADD CONSTRAINT worker_jobs_job_id_fkey FOREIGN KEY (job_id) REFERENCES pgjobs.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgjobs.worker_jobs
    ADD CONSTRAINT worker_jobs_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES pgjobs.workers(id) ON DELETE CASCADE;

GRANT USAGE ON SCHEMA pgjobs TO pgjobs_readonly;
GRANT USAGE ON SCHEMA pgjobs TO pgjobs_producer;
GRANT USAGE ON SCHEMA pgjobs TO pgjobs_worker;
GRANT USAGE ON SCHEMA pgjobs TO pgjobs_operator;
GRANT USAGE ON SCHEMA pgjobs TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.uuid_of(task_id bigint, key bytea) TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.generic_jobs TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.generic_jobs TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.generic_jobs TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.generic_jobs TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.acquire_generic_jobs(domain text, queue text, worker_id text, lease interval, quantity integer, owner_user_id text, project_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.acquire_generic_jobs(domain text, queue text, worker_id text, lease interval, quantity integer, owner_user_id text, project_id bigint) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.acquire_generic_jobs(domain text, queue text, worker_id text, lease interval, quantity integer, owner_user_id text, project_id bigint) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.add_histograms(one bigint[], other bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.short_duration(seconds double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.ago(moment timestamp with time zone, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.allowed_steps(status text, phase text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_claimed() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_ended() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_events() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_link() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_provider() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_ready() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_scheduled() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_started() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.announce_submitted() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.answer_read(provider text, request_hash text, actor text, is_superuser boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.answer_read(provider text, request_hash text, actor text, is_superuser boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.answer_read(provider text, request_hash text, actor text, is_superuser boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.answered_step(task_ids bigint[], done bigint[]) FROM PUBLIC;

GRANT SELECT ON TABLE pgjobs.job TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.job TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.job TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.job TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.job TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.archive_job(job text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.archive_job(job text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.archive_job(job text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.ask_to_stop(task_ids bigint[], reason text, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.await_cleanups(node_id text, previous bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.await_cleanups(node_id text, previous bigint) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.await_cleanups(node_id text, previous bigint) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.await_cleanups(node_id text, previous bigint) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.backoff(task_id bigint, attempt integer, base interval, cap interval, jitter_share real, jitter_cap interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.blockers() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.blockers() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.blockers() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.blockers() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.now() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.now() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.now() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.now() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.now() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.now() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.present() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.present() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.present() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.present() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.present() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.present() TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.task TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.task TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.task TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.task TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.task TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.cancel_task(task_id bigint, reason text, force boolean, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.cancel_task(task_id bigint, reason text, force boolean, actor text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.cancel_task(task_id bigint, reason text, force boolean, actor text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.cancel_task(task_id bigint, reason text, force boolean, actor text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.cancel_task(task_id bigint, reason text, force boolean, actor text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.cancel_tasks(task_ids bigint[], task_uuids uuid[], reason text, force boolean, actor text, dry_run boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.cancel_tasks(task_ids bigint[], task_uuids uuid[], reason text, force boolean, actor text, dry_run boolean) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.cancel_tasks(task_ids bigint[], task_uuids uuid[], reason text, force boolean, actor text, dry_run boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.cancel_tasks(task_ids bigint[], task_uuids uuid[], reason text, force boolean, actor text, dry_run boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.cancel_tasks(task_ids bigint[], task_uuids uuid[], reason text, force boolean, actor text, dry_run boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.capped_until(lease interval, max_lease interval, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs."check"() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs."check"() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs."check"() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.check_batch(task_ids bigint[], tokens uuid[], VARIADIC lengths integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_belongings() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_claim(worker_id uuid, quantity integer, lease interval, holder text, actor text, durable boolean, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_cleanup_statuses(statuses text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_document(document jsonb, what text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_documents(documents jsonb[], what text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_labels(submitter text, owner text, project text, tags text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_limit(max_running integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_page(page_size integer, page_offset integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_places() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_provider(room text, category text, name text, schema jsonb, content_type text, actor text, is_superuser boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_registration(room text, category text, name text, schema jsonb, max_attempts integer, max_running integer, events text, actor text, is_superuser boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_room(room text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_schedule(name text, cron text, every interval, timezone text, missed text, is_preview boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_submission(job pgjobs.jobs, payloads jsonb[], room text, priority integer, delay interval, max_attempts integer, idempotency_keys text[], require_workers boolean, cross_room boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_target(target jsonb, node_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_timezone(timezone text, is_exact boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_trace_context(trace_context text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_update(old_status text, new_status text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.check_updater(task_uuid uuid, worker_id uuid, submitter text, actor text, is_superuser boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.chosen_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer, OUT task_ids bigint[], OUT total bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.claim_and_show(worker_id uuid, actor text, durable boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.claim_and_show(worker_id uuid, actor text, durable boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.claim_and_show(worker_id uuid, actor text, durable boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.claim_cleanups(holder text, node_id text, quantity integer, lease interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.claim_cleanups(holder text, node_id text, quantity integer, lease interval) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.claim_cleanups(holder text, node_id text, quantity integer, lease interval) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.claim_cleanups(holder text, node_id text, quantity integer, lease interval) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.claim_tasks(worker_id uuid, quantity integer, lease interval, job_ids integer[], in_room text, in_category text, of_owner text, of_project text, holder text, start boolean, remote boolean, actor text, durable boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.claim_tasks(worker_id uuid, quantity integer, lease interval, job_ids integer[], in_room text, in_category text, of_owner text, of_project text, holder text, start boolean, remote boolean, actor text, durable boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.claim_tasks(worker_id uuid, quantity integer, lease interval, job_ids integer[], in_room text, in_category text, of_owner text, of_project text, holder text, start boolean, remote boolean, actor text, durable boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.claimable_jobs(worker_id uuid, job_ids integer[], in_room text, in_category text, remote boolean, OUT jobs integer[], OUT limited integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.cleanup_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.cleanup_worker(worker_id uuid, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.clock_ms() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.clock_shift(at timestamp with time zone, timezone text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.close_session(session text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.close_session(session text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.complete_tasks(task_ids bigint[], tokens uuid[], results jsonb[], holder text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.complete_tasks(task_ids bigint[], tokens uuid[], results jsonb[], holder text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.complete_tasks(task_ids bigint[], tokens uuid[], results jsonb[], holder text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.count_cleanups(statuses text[], target_types text[], of_node text, of_job text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.count_cleanups(statuses text[], target_types text[], of_node text, of_job text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.count_cleanups(statuses text[], target_types text[], of_node text, of_job text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.count_cleanups(statuses text[], target_types text[], of_node text, of_job text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.count_cleanups(statuses text[], target_types text[], of_node text, of_job text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.count_cleanups(statuses text[], target_types text[], of_node text, of_job text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.count_ended(room text, job_ids integer[], status text, wanted integer, looked integer, OUT matching integer, OUT is_all boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.count_found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.count_found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.count_found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.count_found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.count_found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.count_found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.count_jobs(room text, include_archived boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.count_jobs(room text, include_archived boolean) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.count_jobs(room text, include_archived boolean) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.count_jobs(room text, include_archived boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.count_jobs(room text, include_archived boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.count_jobs(room text, include_archived boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.count_pending(room text, job_ids integer[], wanted integer, looked integer, OUT matching integer, OUT is_all boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.count_providers(room text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.count_providers(room text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.count_providers(room text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.count_providers(room text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.count_providers(room text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.count_providers(room text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.count_schedules(room text, job text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.count_schedules(room text, job text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.count_schedules(room text, job text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.count_schedules(room text, job text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.count_schedules(room text, job text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.count_schedules(room text, job text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.count_tasks(room text, job text, status text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.count_tasks(room text, job text, status text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.count_tasks(room text, job text, status text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.count_tasks(room text, job text, status text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.count_tasks(room text, job text, status text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.count_tasks(room text, job text, status text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.count_unlimited() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.count_workers(room text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.count_workers(room text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.count_workers(room text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.count_workers(room text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.count_workers(room text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.count_workers(room text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.create_generic_jobs(domain text, queue text, job_type text, payloads jsonb[], owner_user_id text, project_id bigint, priority integer, max_retries integer, available_at timestamp with time zone, idempotency_keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.create_generic_jobs(domain text, queue text, job_type text, payloads jsonb[], owner_user_id text, project_id bigint, priority integer, max_retries integer, available_at timestamp with time zone, idempotency_keys text[]) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.create_generic_jobs(domain text, queue text, job_type text, payloads jsonb[], owner_user_id text, project_id bigint, priority integer, max_retries integer, available_at timestamp with time zone, idempotency_keys text[]) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.create_generic_jobs(domain text, queue text, job_type text, payloads jsonb[], owner_user_id text, project_id bigint, priority integer, max_retries integer, available_at timestamp with time zone, idempotency_keys text[]) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.create_generic_jobs(domain text, queue text, job_type text, payloads jsonb[], owner_user_id text, project_id bigint, priority integer, max_retries integer, available_at timestamp with time zone, idempotency_keys text[]) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.create_sign_in(user_id text, is_superuser boolean, lifetime interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.create_sign_in(user_id text, is_superuser boolean, lifetime interval) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.create_sign_in(user_id text, is_superuser boolean, lifetime interval) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.create_token(user_id text, name text, is_superuser boolean, lifetime interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.create_token(user_id text, name text, is_superuser boolean, lifetime interval) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.create_token(user_id text, name text, is_superuser boolean, lifetime interval) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.cron_field(field text, low integer, high integer, names text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.cron_mark(item text, high integer, names text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.cron_number(word text, low integer, names text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.delete_job(job text, actor text, reason text, batch integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.delete_job(job text, actor text, reason text, batch integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.delete_job(job text, actor text, reason text, batch integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.depth_estimates(relation text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.depths(of_jobs integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.draw_ids(job_id integer, keys text[], OUT ids bigint[], OUT are_new boolean[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.draw_luck() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.drop_partitions(parent text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.elapsed(since timestamp with time zone, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.end_attempts(held tid[], tokens uuid[], errors text[], kinds text[], retryable boolean[], now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.end_leases(task_ids bigint[], reason text, actor text, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.endings(job_ids integer[], since timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.ensure_cleanup_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.enter_lanes(task_ids bigint[], now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.error_pattern(message text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.error_fingerprint(error_kind text, message text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.errors(of_job text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.errors(of_job text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.errors(of_job text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.errors(of_job text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.errors(of_job text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.errors(of_job text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.events_between(since pg_snapshot, upto pg_snapshot, after_xid xid8, after_id bigint, of_task bigint, of_job integer, of_room text, page_size integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.extend_partitions(parent text, most_bytes bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.fail_tasks(task_ids bigint[], tokens uuid[], errors text[], kinds text[], retryable boolean[], holder text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.fail_tasks(task_ids bigint[], tokens uuid[], errors text[], kinds text[], retryable boolean[], holder text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.fail_tasks(task_ids bigint[], tokens uuid[], errors text[], kinds text[], retryable boolean[], holder text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.failed() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.failed() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.failed() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.failed() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.failed() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.failed() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.feed_snapshot() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.find_cleanup(run_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.find_job(job text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.find_provider(provider text, room text, actor text, is_superuser boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.find_schedule(schedule text, locks boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.find_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before uuid, page_size integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.find_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before uuid, page_size integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.find_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before uuid, page_size integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.find_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before uuid, page_size integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.find_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before uuid, page_size integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.find_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before uuid, page_size integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.find_worker(worker_id uuid, actor text, is_superuser boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.findings() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.findings() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.findings() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.findings() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.fire(schedule pgjobs.schedules, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.fire_schedules(batch integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.fire_schedules(batch integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.fire_schedules(batch integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.fire_schedules(batch integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.first_shown(local timestamp without time zone, timezone text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.floor_set(lane text, floor bigint, expires bigint, task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.micros(moment timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.settled(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.floor_at(lane text, due_at timestamp with time zone, task_id bigint, now timestamp with time zone, expires bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.floor_get(lane text, clock bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.floor_raise(lane text, floor bigint[], due_at timestamp with time zone, task_id bigint, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.forget_expired_sessions(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.forget_read(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.forget_read(key text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.forget_read(key text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.forget_rollups(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.found_tasks(room text, job text, status text, owner text, since timestamp with time zone, until timestamp with time zone, matching text, before bigint, wanted integer, OUT ids bigint[], OUT next bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.free_slots(job_id integer, wanted integer, waits boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.generic_homes(status text, job_ids integer[], before bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.redact_document(document jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.redact_document(document jsonb) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.redact_document(document jsonb) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.redact_document(document jsonb) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.redact_document(document jsonb) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.redact_document(document jsonb) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.redact_line(message text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.redact_line(message text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.redact_line(message text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.redact_line(message text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.redact_line(message text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.redact_line(message text) TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_tasks TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_tasks TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_tasks TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_tasks TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_tasks TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_cleanup(run_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_cleanup(run_id uuid) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.get_cleanup(run_id uuid) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_cleanup(run_id uuid) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_cleanup(run_id uuid) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_cleanup(run_id uuid) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_generic_job(task_id bigint, task_uuid uuid, owner_user_id text, project_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_generic_job(task_id bigint, task_uuid uuid, owner_user_id text, project_id bigint) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_generic_job(task_id bigint, task_uuid uuid, owner_user_id text, project_id bigint) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_generic_job(task_id bigint, task_uuid uuid, owner_user_id text, project_id bigint) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_generic_job(task_id bigint, task_uuid uuid, owner_user_id text, project_id bigint) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_job(job text, room text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_job(job text, room text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.get_job(job text, room text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_job(job text, room text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_job(job text, room text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_job(job text, room text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_job_target(job text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_job_target(job text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.get_job_target(job text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_job_target(job text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_job_target(job text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_job_target(job text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_provider(provider text, room text, actor text, is_superuser boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_provider(provider text, room text, actor text, is_superuser boolean) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.get_provider(provider text, room text, actor text, is_superuser boolean) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_provider(provider text, room text, actor text, is_superuser boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_provider(provider text, room text, actor text, is_superuser boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_provider(provider text, room text, actor text, is_superuser boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_reads(keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_reads(keys text[]) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_reads(keys text[]) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_reads(keys text[]) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_reads(keys text[]) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.upcoming_runs(cron text, every interval, timezone text, first timestamp with time zone, quantity integer) FROM PUBLIC;

GRANT SELECT ON TABLE pgjobs.schedule TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.schedule TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.schedule TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.schedule TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.schedule TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_schedule(schedule text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_schedule(schedule text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_schedule(schedule text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_schedule(schedule text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_schedule(schedule text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.get_task(task_id bigint, task_uuid uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.get_task(task_id bigint, task_uuid uuid) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.get_task(task_id bigint, task_uuid uuid) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.get_task(task_id bigint, task_uuid uuid) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.get_task(task_id bigint, task_uuid uuid) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.guard_table(relation text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.heartbeat_and_show(worker_id uuid, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.heartbeat_and_show(worker_id uuid, actor text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.heartbeat_and_show(worker_id uuid, actor text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.heartbeat_worker(worker_id uuid, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.heartbeat_worker(worker_id uuid, actor text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.heartbeat_worker(worker_id uuid, actor text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.held_slots(job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.help(pattern text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.help(pattern text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.help(pattern text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.help(pattern text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.help(pattern text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.help(pattern text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.histogram(buckets smallint[], quantities bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.histogram_bounds() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.histogram_bucket(seconds double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.histogram_percentile(counts bigint[], share double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.ignore_cleanup(run_id uuid, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.ignore_cleanup(run_id uuid, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.ignore_cleanup(run_id uuid, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.ignore_task(task_id bigint, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.ignore_task(task_id bigint, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.ignore_task(task_id bigint, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.ignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.ignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.ignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.in_order(task_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.inspect_task(task_uuid uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.inspect_task(task_uuid uuid) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.inspect_task(task_uuid uuid) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.inspect_task(task_uuid uuid) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.inspect_task(task_uuid uuid) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.invalidate_provider(provider text, actor text, is_superuser boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.invalidate_provider(provider text, actor text, is_superuser boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.invalidate_provider(provider text, actor text, is_superuser boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.invalidate_provider(provider text, actor text, is_superuser boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.is_backlog(few integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.is_cron_day(day date, days integer[], weekdays integer[], either_day boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.is_harmless(message text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.is_harmless(message text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.is_harmless(message text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.is_harmless(message text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.is_harmless(message text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.is_harmless(message text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.is_over(parent text, partition text, lower bigint, upper bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.is_own_failure(status text, error_kind text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.is_passing(problem text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.is_said_before(task_id bigint, task_uuid uuid, held uuid, token uuid, old_status text, new_status text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.is_under_way(task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.is_visible(room text, from_room text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.jobs_status(of_jobs integer[], with_times boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.jobs_status(of_jobs integer[], with_times boolean) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.jobs_status(of_jobs integer[], with_times boolean) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.jobs_status(of_jobs integer[], with_times boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.jobs_status(of_jobs integer[], with_times boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.jobs_status(of_jobs integer[], with_times boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.jobs_to_list(room text, job text, status text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.jobs_used_in(room text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.jobs_with_holders(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.judge_update(task_id bigint, task_uuid uuid, status text, error text, result jsonb, token uuid, actor text, is_superuser boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.judged_step(task_ids bigint[], step text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.keep_what_is_shown() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.lane_heads(job_ids integer[], now timestamp with time zone, ignore_floors boolean, is_choosy boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.last_counted_place() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.last_counted_row() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.last_task_before(moment timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.lease_until(lease interval, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.limit_job(job text, max_running integer, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.limit_job(job text, max_running integer, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.limit_job(job text, max_running integer, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_attempts(task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_attempts(task_id bigint) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_attempts(task_id bigint) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_attempts(task_id bigint) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_attempts(task_id bigint) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_attempts(task_id bigint) TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_events TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_events TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_events TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_events TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.incomplete_cleanup_events TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_cleanup_events(run_id uuid, page_size integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_cleanups(statuses text[], target_types text[], of_node text, of_job text, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_events(after text, of_task bigint, of_job text, of_room text, page_size integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_events(after text, of_task bigint, of_job text, of_room text, page_size integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_events(after text, of_task bigint, of_job text, of_room text, page_size integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_events(after text, of_task bigint, of_job text, of_room text, page_size integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_events(after text, of_task bigint, of_job text, of_room text, page_size integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_events(after text, of_task bigint, of_job text, of_room text, page_size integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_generic_jobs(domain text, queue text, job_type text, status text, owner_user_id text, project_id bigint, before bigint, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_generic_jobs(domain text, queue text, job_type text, status text, owner_user_id text, project_id bigint, before bigint, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_generic_jobs(domain text, queue text, job_type text, status text, owner_user_id text, project_id bigint, before bigint, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_generic_jobs(domain text, queue text, job_type text, status text, owner_user_id text, project_id bigint, before bigint, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_generic_jobs(domain text, queue text, job_type text, status text, owner_user_id text, project_id bigint, before bigint, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_jobs(room text, include_archived boolean, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_jobs(room text, include_archived boolean, page_size integer, page_offset integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_jobs(room text, include_archived boolean, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_jobs(room text, include_archived boolean, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_jobs(room text, include_archived boolean, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_jobs(room text, include_archived boolean, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_metrics() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_metrics() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_metrics() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_metrics() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_metrics() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_metrics() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_providers(room text, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_providers(room text, page_size integer, page_offset integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_providers(room text, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_providers(room text, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_providers(room text, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_providers(room text, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_schedules(room text, job text, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_schedules(room text, job text, page_size integer, page_offset integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_schedules(room text, job text, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_schedules(room text, job text, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_schedules(room text, job text, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_schedules(room text, job text, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_task_events(task_id bigint, before bigint, page_size integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_task_events(task_id bigint, before bigint, page_size integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_task_events(task_id bigint, before bigint, page_size integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_task_events(task_id bigint, before bigint, page_size integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_task_events(task_id bigint, before bigint, page_size integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_task_events(task_id bigint, before bigint, page_size integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_tasks(room text, job text, status text, owner text, project text, before bigint, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_tasks(room text, job text, status text, owner text, project text, before bigint, page_size integer, page_offset integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_tasks(room text, job text, status text, owner text, project text, before bigint, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_tasks(room text, job text, status text, owner text, project text, before bigint, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_tasks(room text, job text, status text, owner text, project text, before bigint, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_tasks(room text, job text, status text, owner text, project text, before bigint, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_tokens(of_user text, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_tokens(of_user text, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_tokens(of_user text, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.list_workers(room text, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.list_workers(room text, page_size integer, page_offset integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.list_workers(room text, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.list_workers(room text, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.list_workers(room text, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.list_workers(room text, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.lock_leases(task_ids bigint[], tokens uuid[], now timestamp with time zone, holder text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.lock_read(key text, lifetime interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.lock_read(key text, lifetime interval) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.lock_read(key text, lifetime interval) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.lock_read(key text, lifetime interval) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.lock_read(key text, lifetime interval) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.look_cost(clock bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.lost_or_unknown(task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.make_partition(parent text, lower bigint, upper bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.mark_waiting(worker_id uuid, job_ids integer[], in_room text, in_category text, previous bigint, remote boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.mark_waiting(worker_id uuid, job_ids integer[], in_room text, in_category text, previous bigint, remote boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.mark_waiting(worker_id uuid, job_ids integer[], in_room text, in_category text, previous bigint, remote boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.metrics() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.metrics() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.metrics() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.metrics() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.metrics() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.metrics() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.moment(micros bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.named_tasks(task_ids bigint[], task_uuids uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_anywhere(status text, before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_ended(room text, job_ids integer[], status text, before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_of(room text, job_id integer, status text, before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_of_job(job_id integer, status text, before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_outcomes(room text, job_ids integer[], status text, before bigint, wanted bigint, looked integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_owned(owner text, project text, room text, job_id integer, status text, before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_pending(room text, job_ids integer[], before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.newest_tasks(room text, job_ids integer[], before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.next_cron_run(cron text, timezone text, after timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.next_look(clock bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.next_run(cron text, every interval, timezone text, due timestamp with time zone, after timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.note_look(since bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.note_retries() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.note_run(schedule pgjobs.schedules, due_at timestamp with time zone, task_id bigint, reason text, is_manual boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.open_cleanups(job_id integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.open_session(of_user text, as_superuser boolean, token text, sign_in text, lifetime interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.open_session(of_user text, as_superuser boolean, token text, sign_in text, lifetime interval) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.overview() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.overview() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.overview() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.overview() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.overview() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.overview() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.page_of_tasks(room text, job_ids integer[], status text, before bigint, wanted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.partitions() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.pause_job(job text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.pause_job(job text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.pause_job(job text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.pause_schedule(schedule text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.pause_schedule(schedule text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.pause_schedule(schedule text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.preview_schedule(cron text, every interval, timezone text, quantity integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.preview_schedule(cron text, every interval, timezone text, quantity integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.preview_schedule(cron text, every interval, timezone text, quantity integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.preview_schedule(cron text, every interval, timezone text, quantity integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.preview_schedule(cron text, every interval, timezone text, quantity integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.preview_schedule(cron text, every interval, timezone text, quantity integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.promote_due(now timestamp with time zone, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.providers_status() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.providers_status() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.providers_status() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.providers_status() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.providers_status() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.providers_status() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.prunable_tasks(now timestamp with time zone, after bigint, last bigint, of_status text, older_than interval, of_job integer, in_room text, in_category text, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.prune_events(before timestamp with time zone, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.prune_tasks(of_status text, older_than interval, of_job text, batch integer, dry_run boolean, in_room text, in_category text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.prune_tasks(of_status text, older_than interval, of_job text, batch integer, dry_run boolean, in_room text, in_category text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.prune_tasks(of_status text, older_than interval, of_job text, batch integer, dry_run boolean, in_room text, in_category text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.pruned_upto(key text, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.queue_position(task_id bigint, job_id integer, priority smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.queue_positions(task_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.ranked_heads(job_ids integer[], now timestamp with time zone, clock bigint, trusted bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.rates(job_ids integer[], since timestamp with time zone, step interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.read_cron(cron text, OUT minutes integer[], OUT hours integer[], OUT days integer[], OUT months integer[], OUT weekdays integer[], OUT follows_clocks boolean, OUT either_day boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.reconcile_cleanups(batch integer, after interval, of_job text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.reconcile_cleanups(batch integer, after interval, of_job text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.reconcile_cleanups(batch integer, after interval, of_job text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.reconcile_cleanups(batch integer, after interval, of_job text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.record_actions(task_ids bigint[], kind text, status text, actor text, message text, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.record_schedule(schedule pgjobs.schedules, kind text, actor text, message text, task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.redact(message text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.redact(message text) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.redact(message text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.redact(message text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.redact(message text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.redact(message text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.refuse(problem text, message text, detail text, hint text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.refuse_cleanup_step(task_id bigint, step text, allowed text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.refuse_direct_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.refuse_generic_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.refuse_step(task_id bigint, step text, allowed text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.refuse_strangers() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.register_job(room text, category text, name text, schema jsonb, worker_id uuid, create_worker boolean, max_attempts integer, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval, max_age interval, max_running integer, events text, retain_completed interval, retain_failed interval, replace_schema boolean, keep boolean, actor text, is_superuser boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.register_job(room text, category text, name text, schema jsonb, worker_id uuid, create_worker boolean, max_attempts integer, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval, max_age interval, max_running integer, events text, retain_completed interval, retain_failed interval, replace_schema boolean, keep boolean, actor text, is_superuser boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.register_job(room text, category text, name text, schema jsonb, worker_id uuid, create_worker boolean, max_attempts integer, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval, max_age interval, max_running integer, events text, retain_completed interval, retain_failed interval, replace_schema boolean, keep boolean, actor text, is_superuser boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.register_provider(room text, category text, name text, schema jsonb, content_type text, worker_id uuid, actor text, is_superuser boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.register_provider(room text, category text, name text, schema jsonb, content_type text, worker_id uuid, actor text, is_superuser boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.register_provider(room text, category text, name text, schema jsonb, content_type text, worker_id uuid, actor text, is_superuser boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.register_schedule(name text, job text, cron text, every interval, timezone text, payload jsonb, room text, priority integer, max_attempts integer, missed text, overlap boolean, owner text, project text, tags text[], actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.register_schedule(name text, job text, cron text, every interval, timezone text, payload jsonb, room text, priority integer, max_attempts integer, missed text, overlap boolean, owner text, project text, tags text[], actor text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.register_schedule(name text, job text, cron text, every interval, timezone text, payload jsonb, room text, priority integer, max_attempts integer, missed text, overlap boolean, owner text, project text, tags text[], actor text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.register_schedule(name text, job text, cron text, every interval, timezone text, payload jsonb, room text, priority integer, max_attempts integer, missed text, overlap boolean, owner text, project text, tags text[], actor text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.register_worker(name text, jobs text[], actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.register_worker(name text, jobs text[], actor text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.register_worker(name text, jobs text[], actor text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.release_tasks(task_ids bigint[], tokens uuid[], delay interval, holder text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.release_tasks(task_ids bigint[], tokens uuid[], delay interval, holder text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.release_tasks(task_ids bigint[], tokens uuid[], delay interval, holder text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.remove_ended(task_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.remove_tasks(task_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.renew_tasks(task_ids bigint[], tokens uuid[], lease interval, holder text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.renew_tasks(task_ids bigint[], tokens uuid[], lease interval, holder text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.renew_tasks(task_ids bigint[], tokens uuid[], lease interval, holder text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.report_progress(task_ids bigint[], tokens uuid[], progress jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.report_progress(task_ids bigint[], tokens uuid[], progress jsonb[]) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.report_progress(task_ids bigint[], tokens uuid[], progress jsonb[]) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.request_read(provider text, request_hash text, params text, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.request_read(provider text, request_hash text, params text, actor text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.request_read(provider text, request_hash text, params text, actor text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.request_read(provider text, request_hash text, params text, actor text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.request_read(provider text, request_hash text, params text, actor text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.resume_job(job text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.resume_job(job text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.resume_job(job text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.resume_schedule(schedule text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.resume_schedule(schedule text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.resume_schedule(schedule text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.retire_job(job text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.retire_job(job text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.retire_job(job text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.retire_orphans(job_ids integer[], now timestamp with time zone, even_kept boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.retire_provider(provider text, actor text, is_superuser boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.retire_provider(provider text, actor text, is_superuser boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.retire_provider(provider text, actor text, is_superuser boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.retire_provider(provider text, actor text, is_superuser boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.retire_schedule(schedule text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.retire_schedule(schedule text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.retire_schedule(schedule text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.retire_worker(worker_id uuid, actor text, is_superuser boolean, silent_for interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.retire_worker(worker_id uuid, actor text, is_superuser boolean, silent_for interval) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.retire_worker(worker_id uuid, actor text, is_superuser boolean, silent_for interval) TO pgjobs_api;
GRANT ALL ON FUNCTION pgjobs.retire_worker(worker_id uuid, actor text, is_superuser boolean, silent_for interval) TO pgjobs_operator;

REVOKE ALL ON FUNCTION pgjobs.retry_cleanup(run_id uuid, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.retry_cleanup(run_id uuid, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.retry_cleanup(run_id uuid, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.retry_task(task_id bigint, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.retry_task(task_id bigint, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.retry_task(task_id bigint, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.retry_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.retry_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.retry_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.revive_jobs() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.revoke_token(token_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.revoke_token(token_id uuid) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.revoke_token(token_id uuid) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.rooms_used() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.rooms_using(job_id integer, wanted integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.run_schedule(schedule text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.run_schedule(schedule text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.run_schedule(schedule text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.running() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.running() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.running() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.running() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.running() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.running() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.saying(ids bigint[], owner text, matching text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.scheduled_tasks() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.scheduled_tasks() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.scheduled_tasks() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.scheduled_tasks() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.scheduled_tasks() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.scheduled_tasks() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.seen_task(task pgjobs.task) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.served_jobs(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.set_error_policy(job text, kind text, is_retryable boolean, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.set_error_policy(job text, kind text, is_retryable boolean, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.set_error_policy(job text, kind text, is_retryable boolean, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval) TO pgjobs_api;
GRANT ALL ON FUNCTION pgjobs.set_error_policy(job text, kind text, is_retryable boolean, backoff_base interval, backoff_cap interval, jitter_share real, jitter_cap interval) TO pgjobs_operator;

REVOKE ALL ON FUNCTION pgjobs.set_job_target(job text, target jsonb, node_id text, actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.set_job_target(job text, target jsonb, node_id text, actor text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.set_job_target(job text, target jsonb, node_id text, actor text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.settle_next_run(schedule pgjobs.schedules, now timestamp with time zone, OUT next_run_at timestamp with time zone, OUT trouble text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.shortest_retention() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.show_database() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.show_database() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.show_database() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.show_database() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.show_database() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.show_database() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.show_task(task_uuid uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.show_task(task_uuid uuid) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.show_task(task_uuid uuid) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.show_task(task_uuid uuid) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.show_task(task_uuid uuid) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.show_tasks(room text, job text, status text, page_size integer, page_offset integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.show_tasks(room text, job text, status text, page_size integer, page_offset integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.show_tasks(room text, job text, status text, page_size integer, page_offset integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.show_tasks(room text, job text, status text, page_size integer, page_offset integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.show_tasks(room text, job text, status text, page_size integer, page_offset integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.show_workers(page_size integer, page_offset integer, few integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.show_workers(page_size integer, page_offset integer, few integer) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.show_workers(page_size integer, page_offset integer, few integer) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.show_workers(page_size integer, page_offset integer, few integer) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.show_workers(page_size integer, page_offset integer, few integer) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.show_workers(page_size integer, page_offset integer, few integer) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.shown_cleanups(task_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.snapshot_targets() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.some_tasks_of(job_id integer, quantity integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.start_tasks(task_ids bigint[], tokens uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.start_tasks(task_ids bigint[], tokens uuid[]) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.start_tasks(task_ids bigint[], tokens uuid[]) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.status_at_rest(task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.status_of(task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.storage() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.storage() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.storage() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.storage() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.store_read(key text, data bytea, lifetime interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.store_read(key text, data bytea, lifetime interval) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.store_read(key text, data bytea, lifetime interval) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.stuck() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.stuck() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.stuck() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.stuck() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.stuck() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.stuck() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.submit_and_show(job text, room text, payload jsonb, idempotency_key text, require_workers boolean, cross_room boolean, actor text, trace_context text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.submit_and_show(job text, room text, payload jsonb, idempotency_key text, require_workers boolean, cross_room boolean, actor text, trace_context text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.submit_and_show(job text, room text, payload jsonb, idempotency_key text, require_workers boolean, cross_room boolean, actor text, trace_context text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.submit_and_show(job text, room text, payload jsonb, idempotency_key text, require_workers boolean, cross_room boolean, actor text, trace_context text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.submit_and_show(job text, room text, payload jsonb, idempotency_key text, require_workers boolean, cross_room boolean, actor text, trace_context text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.submit_run(schedule pgjobs.schedules, available_at timestamp with time zone, key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.submit_task(job text, payload jsonb, room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_key text, submitter text, owner text, project text, tags text[], trace_context text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.submit_task(job text, payload jsonb, room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_key text, submitter text, owner text, project text, tags text[], trace_context text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.submit_task(job text, payload jsonb, room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_key text, submitter text, owner text, project text, tags text[], trace_context text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.submit_task(job text, payload jsonb, room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_key text, submitter text, owner text, project text, tags text[], trace_context text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.submit_task(job text, payload jsonb, room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_key text, submitter text, owner text, project text, tags text[], trace_context text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.submit_tasks(job text, payloads jsonb[], room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_keys text[], submitter text, owner text, project text, tags text[], require_workers boolean, cross_room boolean, trace_context text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.submit_tasks(job text, payloads jsonb[], room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_keys text[], submitter text, owner text, project text, tags text[], require_workers boolean, cross_room boolean, trace_context text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.submit_tasks(job text, payloads jsonb[], room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_keys text[], submitter text, owner text, project text, tags text[], require_workers boolean, cross_room boolean, trace_context text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.submit_tasks(job text, payloads jsonb[], room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_keys text[], submitter text, owner text, project text, tags text[], require_workers boolean, cross_room boolean, trace_context text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.submit_tasks(job text, payloads jsonb[], room text, priority integer, available_at timestamp with time zone, delay interval, max_attempts integer, idempotency_keys text[], submitter text, owner text, project text, tags text[], require_workers boolean, cross_room boolean, trace_context text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.sweep(step text, batch integer, worker_timeout interval, internal_timeout interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.sweep(step text, batch integer, worker_timeout interval, internal_timeout interval) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.sweep(step text, batch integer, worker_timeout interval, internal_timeout interval) TO pgjobs_api;
GRANT ALL ON FUNCTION pgjobs.sweep(step text, batch integer, worker_timeout interval, internal_timeout interval) TO pgjobs_operator;

REVOKE ALL ON FUNCTION pgjobs.sweep_errors(now timestamp with time zone, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.sweep_internal(now timestamp with time zone, batch integer, internal_timeout interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.sweep_leases(now timestamp with time zone, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.sweep_reads(now timestamp with time zone, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.sweep_retention(now timestamp with time zone, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.sweep_rollups(now timestamp with time zone, batch integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.sweep_storage() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.sweep_workers(now timestamp with time zone, batch integer, worker_timeout interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.take_outcomes(task_ids bigint[], statuses text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.take_pending(task_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.tallies(job_ids integer[], since timestamp with time zone, step interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.task_id(task_uuid uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.task_id(task_uuid uuid) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.task_id(task_uuid uuid) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.task_id(task_uuid uuid) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.task_id(task_uuid uuid) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.task_id(task_uuid uuid) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.task_mask(check_bits bytea, key bytea) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.task_number_at(moment timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.task_uuid(task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.task_uuid(task_id bigint) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.task_uuid(task_id bigint) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.task_uuid(task_id bigint) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.task_uuid(task_id bigint) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.task_uuid(task_id bigint) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.throughput(of_job text, since interval, step interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.throughput(of_job text, since interval, step interval) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.throughput(of_job text, since interval, step interval) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.throughput(of_job text, since interval, step interval) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.throughput(of_job text, since interval, step interval) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.throughput(of_job text, since interval, step interval) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.token_of(luck text, task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.top() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.top() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.top() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.top() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.top() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.top() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.track_tasks(task_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.track_tasks(task_ids bigint[]) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.track_tasks(task_ids bigint[]) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.track_tasks(task_ids bigint[]) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.track_tasks(task_ids bigint[]) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.track_tasks(task_ids bigint[]) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.troubles_of_database() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.troubles_of_jobs(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.troubles_of_partitions() FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.troubles_of_schedules(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.troubles_of_upkeep(now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.unarchive_job(job text, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.unarchive_job(job text, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.unarchive_job(job text, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.uncounted_errors(quantity integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.unignore_cleanup(run_id uuid, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.unignore_cleanup(run_id uuid, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.unignore_cleanup(run_id uuid, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.unignore_task(task_id bigint, actor text, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.unignore_task(task_id bigint, actor text, reason text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.unignore_task(task_id bigint, actor text, reason text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.unignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.unignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.unignore_tasks(task_ids bigint[], task_uuids uuid[], actor text, reason text, dry_run boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.unlock_read(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.unlock_read(key text) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.unlock_read(key text) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.unlock_read(key text) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.unlock_read(key text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.unmark_waiting(mark bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.unmark_waiting(mark bigint) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.unmark_waiting(mark bigint) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.update_task(task_uuid uuid, status text, error text, result jsonb, token uuid, actor text, is_superuser boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.update_task(task_uuid uuid, status text, error text, result jsonb, token uuid, actor text, is_superuser boolean) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.update_task(task_uuid uuid, status text, error text, result jsonb, token uuid, actor text, is_superuser boolean) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.verify_session(session text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.verify_session(session text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.verify_token(token text) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.verify_token(token text) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.waiting() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.waiting() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.waiting() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.waiting() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.waiting() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.waiting() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.wake(job_id integer, quantity bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.wake_for_slots(job_ids integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.wanted_cleanups(job_id integer, target_types text[], of_node text, of_job text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.watch_events() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.watch_events() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.watch_events() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.watch_events() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.watch_events() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.watch_events() TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.watch_task(task_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.watch_task(task_id bigint) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.watch_task(task_id bigint) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.watch_task(task_id bigint) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.watch_task(task_id bigint) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.watch_tasks(task_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.watch_tasks(task_ids bigint[]) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.watch_tasks(task_ids bigint[]) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.watch_tasks(task_ids bigint[]) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.watch_tasks(task_ids bigint[]) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.why(task_id bigint, task_uuid uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.why(task_id bigint, task_uuid uuid) TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.why(task_id bigint, task_uuid uuid) TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.why(task_id bigint, task_uuid uuid) TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.why(task_id bigint, task_uuid uuid) TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.why(task_id bigint, task_uuid uuid) TO pgjobs_api;

REVOKE ALL ON FUNCTION pgjobs.why_held(task pgjobs.task, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.why_over(task pgjobs.task, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.why_pending(task pgjobs.task, now timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.without(task_ids bigint[], done bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pgjobs.workers_status() FROM PUBLIC;
GRANT ALL ON FUNCTION pgjobs.workers_status() TO pgjobs_readonly;
GRANT ALL ON FUNCTION pgjobs.workers_status() TO pgjobs_producer;
GRANT ALL ON FUNCTION pgjobs.workers_status() TO pgjobs_worker;
GRANT ALL ON FUNCTION pgjobs.workers_status() TO pgjobs_operator;
GRANT ALL ON FUNCTION pgjobs.workers_status() TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.blockers TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.blockers TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.blockers TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.errors TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.errors TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.errors TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.errors TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.errors TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.failed TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.failed TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.failed TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.failed TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.failed TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.findings TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.findings TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.findings TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.installed TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.installed TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.installed TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.installed TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.installed TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.jobs_status TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.jobs_status TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.jobs_status TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.jobs_status TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.jobs_status TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.metrics TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.metrics TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.metrics TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.metrics TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.metrics TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.overview TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.overview TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.overview TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.overview TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.overview TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.problems TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.problems TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.problems TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.problems TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.problems TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.providers_status TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.providers_status TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.providers_status TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.providers_status TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.providers_status TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.running TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.running TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.running TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.running TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.running TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.scheduled_tasks TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.scheduled_tasks TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.scheduled_tasks TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.scheduled_tasks TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.scheduled_tasks TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.storage TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.storage TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.storage TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.stuck TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.stuck TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.stuck TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.stuck TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.stuck TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.task_events TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.task_events TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.task_events TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.task_events TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.task_events TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.throughput TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.throughput TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.throughput TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.throughput TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.throughput TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.top TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.top TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.top TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.top TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.top TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.waiting TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.waiting TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.waiting TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.waiting TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.waiting TO pgjobs_api;

GRANT SELECT ON TABLE pgjobs.workers_status TO pgjobs_readonly;
GRANT SELECT ON TABLE pgjobs.workers_status TO pgjobs_producer;
GRANT SELECT ON TABLE pgjobs.workers_status TO pgjobs_worker;
GRANT SELECT ON TABLE pgjobs.workers_status TO pgjobs_operator;
GRANT SELECT ON TABLE pgjobs.workers_status TO pgjobs_api;
