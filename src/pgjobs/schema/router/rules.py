"""How each verb asks the nodes. A verb without a rule makes no router: nobody has thought about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PAGED = "limit {page_size} offset {page_offset}"


@dataclass(frozen=True)
class Here:
    """What a coordinator can answer by itself, as any queue does."""


@dataclass(frozen=True)
class OfTask:
    """Asked of the node whose number is in the id."""

    number: str = "coalesce({task_id}, pgjobs.task_id({task_uuid}))"


@dataclass(frozen=True)
class OfTasks:
    """Arrays that belong together, each part of them asked of its node."""

    arrays: tuple[str, ...]
    by: str = "task_id"


@dataclass(frozen=True)
class AtHome:
    """What the cluster has once."""


@dataclass(frozen=True)
class OfJob:
    """Asked of the home of a limited job, of any node otherwise."""


@dataclass(frozen=True)
class Find:
    """Whoever has it: asked of one node after the other."""


@dataclass(frozen=True)
class Everywhere:
    """Done on every node that there is, the answer is the first one's. Refused while a node is away."""

    answer: str | None = None
    is_vital: bool = True
    order: str = "pgjobs_router.numbers()"


@dataclass(frozen=True)
class Merge:
    """Answers of all nodes, put together; a node that is away is named and left out."""

    columns: str | None = None
    then: str = ""
    instead: Mapping[str, str] = field(default_factory=dict)
    is_patient: bool = False
    """Whether a node may not know what is asked for, as long as one does."""


@dataclass(frozen=True)
class Take:
    """As many as are wanted, from one node after the other, beginning anywhere."""

    quantity: str | None = None


@dataclass(frozen=True)
class Submit:
    """One task: to where it belongs, or to any node that answers."""

    place: str


@dataclass(frozen=True)
class ByHand:
    """Written out in sql/router."""


Rule = Here | OfTask | OfTasks | AtHome | OfJob | Find | Everywhere | Merge | Take | Submit | ByHand

_TASK = OfTask("{task_id}")
_PUBLIC = OfTask("pgjobs.task_id({task_uuid})")
_WORKFLOW = Find()
_NEWEST = "order by r.created_at desc, r.id desc"
_TIMES = "avg(r.wait_p50), max(r.wait_p95), avg(r.run_p50), max(r.run_p95)"
_ENDED = (
    "sum(r.completed_last_hour)::bigint, sum(r.failed_last_hour)::bigint, sum(r.cancelled_last_hour)::bigint,"
    " sum(r.retried_last_hour)::bigint"
)
_TOTAL = Merge("sum(r.total)::integer, case when bool_or(r.relation <> 'eq') then 'gte' else 'eq' end")
_CHOSEN = ("task_ids", "task_uuids")
_ACKNOWLEDGED = ("task_ids", "tokens")
_JOIN = "coalesce((select jsonb_agg(e.v) from unnest(array_agg(r.{0})) as h (v) cross join lateral jsonb_array_elements(h.v) as e (v)), '[]')"

_SERVED = {
    "workers": "array(select distinct s.id from whole as x cross join lateral unnest(x.workers) as s (id) where x.id = r.id order by s.id)"
}
# A limited job is paused everywhere but at its home.
_OPEN_FIRST = (
    "where not exists (select from whole as x where x.id = r.id"
    " and (x.paused_at is not null, x.zz_place) < (r.paused_at is not null, r.zz_place))"
)

_FEW = (
    "coalesce((select jsonb_agg(f.v order by f.v ->> 'claimed_at') from (select e.v from unnest(array_agg(r.holds)) as h (v)"
    " cross join lateral jsonb_array_elements(h.v) as e (v) order by e.v ->> 'claimed_at' limit {few}) as f), '[]')"
)

_MOST_TELLING = (
    "array_position(array['archived', 'overdue', 'unserved', 'busy', 'open', 'idle', 'paused'], r.state)"
)

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("help", "preview_schedule", "next_cursor", "task_id", "task_uuid"), Here()),
    "replication_position": Here(),
    # One task.
    **dict.fromkeys(
        ("get_task", "why", "get_generic_job"), OfTask("coalesce({task_id}, pgjobs.task_id({task_uuid}))")
    ),
    **dict.fromkeys(
        (
            "watch_task", "list_attempts", "list_task_events", "list_log", "list_steps", "list_parents", "cancel_task",
            "retry_task", "ignore_task", "unignore_task", "resubmit_task", "send_signal", "save_step", "suspend_task",
            "call_tasks", "add_dependency", "update_generic_job",
        ),
        _TASK,
    ),
    **dict.fromkeys(
        ("show_task", "inspect_task", "show_why", "update_task", "restore_payload", "show_flow", "show_steps"), _PUBLIC
    ),
    # Several.
    **dict.fromkeys(("start_tasks", "renew_tasks", "release_tasks"), OfTasks(_ACKNOWLEDGED)),
    "report_progress": OfTasks((*_ACKNOWLEDGED, "progress")),
    "append_log": OfTasks((*_ACKNOWLEDGED, "lines")),
    "complete_tasks": OfTasks((*_ACKNOWLEDGED, "results")),
    "fail_tasks": OfTasks((*_ACKNOWLEDGED, "errors", "kinds", "retryable")),
    "complete_generic_jobs": OfTasks((*_ACKNOWLEDGED, "results", "completion_tokens")),
    "fail_generic_jobs": OfTasks((*_ACKNOWLEDGED, "errors", "kinds", "retryable", "completion_tokens")),
    **dict.fromkeys(("cancel_tasks", "retry_tasks", "ignore_tasks", "unignore_tasks"), OfTasks(_CHOSEN)),
    "track_tasks": OfTasks(("task_ids",), by="id"),
    "watch_tasks": OfTasks(("task_ids",)),
    # Workflows, schedules, cleanups: found where they are.
    **dict.fromkeys(
        ("get_workflow", "get_workflow_graph", "list_workflow_tasks", "cancel_workflow", "retry_workflow"), _WORKFLOW
    ),
    **dict.fromkeys(
        ("get_schedule", "run_schedule", "pause_schedule", "resume_schedule", "retire_schedule", "restore_schedule_payload"),
        Find(),
    ),
    **dict.fromkeys(
        ("get_cleanup", "ignore_cleanup", "unignore_cleanup", "retry_cleanup", "list_cleanup_events"), Find()
    ),
    # What there is once.
    **dict.fromkeys(
        (
            "get_provider", "list_providers", "count_providers", "providers_status", "register_provider", "retire_provider",
            "request_read", "answer_read", "store_read", "forget_read", "lock_read", "unlock_read", "get_reads",
            "invalidate_provider", "create_token", "list_tokens", "revoke_token", "verify_token", "create_sign_in",
            "numbering", "list_quotas", "open_session", "verify_session", "close_session", "my_rooms", "list_room_grants", "get_job_target",
        ),
        AtHome(),
    ),
    "get_sharing": OfJob(),
    "list_keys": OfJob(),
    # Jobs are the same everywhere.
    **dict.fromkeys(
        (
            "archive_job", "unarchive_job", "pause_job", "set_job_policy", "set_error_policy",
            "set_job_target", "grant_room", "revoke_room", "set_quota",
        ),
        Everywhere(),
    ),
    "control_queue": Everywhere(
        "(array_agg(r.mode))[1], min(r.since), max(r.job_types), sum(r.processing)::bigint"
    ),
    "retire_job": Everywhere(order="pgjobs_router.busiest_first({job})"),
    "retire_worker": Everywhere("sum(r.failed)::integer, sum(r.retried)::integer, max(r.retired_jobs)", is_vital=False),
    # Lists.
    "list_tasks": Merge(then=f"{_NEWEST} {PAGED}"),
    "show_tasks": Merge(then=f"{_NEWEST} {PAGED}"),
    "list_generic_jobs": Merge(then=f"{_NEWEST} {PAGED}"),
    "find_generic_jobs": Merge(
        then="order by case when {sort_order} = 'asc' then to_jsonb(r) -> {sort_by} end,"
        f" case when {{sort_order}} = 'desc' then to_jsonb(r) -> {{sort_by}} end desc, r.id desc {PAGED}"
    ),
    "suggest_lease": Merge("max(r.lease)"),
    "summarize_generic_jobs": Merge(
        "r.domain, r.queue, r.job_type, r.owner_user_id, r.status, sum(r.quantity)::bigint, sum(r.scheduled)::bigint",
        "group by r.domain, r.queue, r.job_type, r.owner_user_id, r.status order by min(r.zz_place)",
    ),
    **dict.fromkeys(("expire_generic_jobs", "reschedule_generic_jobs", "retry_generic_jobs"), Take("most")),
    "list_workflows": Merge(then=f"{_NEWEST} limit {{page_size}}"),
    "list_schedules": Merge(then=f"order by r.next_run_at, r.full_name, r.id {PAGED}"),
    "count_schedules": _TOTAL,
    "count_tasks": _TOTAL,
    "count_found_tasks": _TOTAL,
    "get_job": Merge(then=_OPEN_FIRST, instead=_SERVED, is_patient=True),
    "list_jobs": Merge(then=f"{_OPEN_FIRST} order by r.id desc {PAGED}", instead=_SERVED),
    "count_jobs": Merge("max(r.total), min(r.relation)"),
    "list_workers": Merge(
        "r.id, max(r.name), max(r.owner), min(r.registered_at), max(r.last_heartbeat_at), max(r.job_count),"
        " bool_or(r.is_alive)",
        f"group by r.id order by min(r.registered_at) desc, r.id {PAGED}",
    ),
    "show_workers": Merge(
        "r.id, max(r.name), max(r.owner), min(r.registered_at), max(r.last_heartbeat_at), bool_or(r.is_alive),"
        f" max(r.job_count), (array_agg(r.serves))[1], sum(r.task_count)::integer, {_FEW}",
        f"group by r.id order by bool_or(r.is_alive), max(r.name), r.id {PAGED}",
    ),
    "inspect_worker": Merge(
        "r.id, max(r.name), max(r.owner), min(r.registered_at), max(r.last_heartbeat_at), bool_or(r.is_alive),"
        f" max(r.silent_after), (array_agg(r.serves))[1], {_JOIN.format('holds')}, {_JOIN.format('failures')},"
        " max(r.failures_looked_at)",
        "group by r.id",
        is_patient=True,
    ),
    "heartbeat_and_show": Merge(
        "r.id, max(r.last_heartbeat_at), r.task_uuid",
        "group by r.id, r.task_uuid having r.task_uuid is not null or count(*) = (select count(*) from whole)",
        is_patient=True,
    ),
    "list_cleanup_nodes": Merge(
        "r.node_id, r.target_type, sum(r.open)::bigint, sum(r.waiting)::bigint, bool_or(r.is_served),"
        " (array_agg(r.served_by order by r.is_served desc))[1], max(r.last_seen_at), min(r.advice)",
        "group by r.node_id, r.target_type order by r.node_id, r.target_type",
    ),
    "count_cleanups": Merge("sum(r.total)::bigint"),
    "reconcile_cleanups": Merge("sum(r.created)::integer"),
    "await_cleanups": Merge("max(r.mark), min(r.due_in)"),
    "act_on_cleanups": Merge(
        "(array_agg(r.run_id order by r.status is null))[1], (array_agg(r.status order by r.status is null))[1],"
        " (array_agg(r.problem order by r.status is null))[1]",
        "group by r.run_id order by array_position({run_ids}, r.run_id)",
    ),
    # Numbers.
    "overview": Merge(
        "min(r.at), max(r.jobs), min(r.paused_jobs), max(r.workers), max(r.silent_workers), sum(r.waiting)::bigint,"
        " max(r.oldest_wait), sum(r.scheduled)::bigint, sum(r.claimed)::bigint, sum(r.running)::bigint,"
        f" sum(r.overdue)::bigint, sum(r.ignored)::bigint, {_ENDED}, sum(r.completed_per_minute), {_TIMES}"
    ),
    "jobs_status": Merge(
        f"r.job, (array_agg(r.state order by {_MOST_TELLING}))[1], max(r.workers), sum(r.waiting)::bigint,"
        " max(r.oldest_wait), sum(r.scheduled)::bigint, sum(r.claimed)::bigint, sum(r.running)::bigint,"
        f" sum(r.overdue)::bigint, {_ENDED}, {_TIMES}, min(r.job_id),"
        f" (array_agg(r.pause_reason order by {_MOST_TELLING}))[1]",
        "group by r.job order by r.job",
    ),
    "top": Merge(
        f"r.job, (array_agg(r.state order by {_MOST_TELLING}))[1], max(r.live), sum(r.due)::bigint,"
        " (array_agg(r.oldest order by r.due desc))[1], sum(r.later)::bigint, sum(r.held)::bigint, sum(r.done),"
        " sum(r.failed), (array_agg(r.wait order by r.due desc))[1], (array_agg(r.run order by r.due desc))[1]",
        "group by r.job order by sum(r.held) desc, sum(r.due) desc, sum(r.done) desc, r.job limit 40",
    ),
    "throughput": Merge(
        "r.at, sum(r.completed)::bigint, sum(r.failed)::bigint, sum(r.cancelled)::bigint, sum(r.retried)::bigint,"
        f" {_TIMES}",
        "group by r.at order by r.at",
    ),
    **dict.fromkeys(
        ("metrics", "list_metrics"),
        Merge(
            "r.domain, r.queue, r.job_type, r.measure, r.up_to, sum(r.quantity)::bigint, sum(r.seconds)",
            "group by r.domain, r.queue, r.job_type, r.measure, r.up_to order by min(r.zz_place)",
        ),
    ),
    "workers_status": Merge(
        "r.worker_id, max(r.name), max(r.owner), bool_or(r.is_alive), min(r.heartbeat_age), min(r.registered_at),"
        " max(r.jobs), sum(r.claimed)::bigint, sum(r.running)::bigint, sum(r.overdue)::bigint, max(r.oldest_claim)",
        "group by r.worker_id order by min(r.zz_place)",
    ),
    "running": Merge(then="order by r.claimed_at, r.task_id limit 500"),
    "waiting": Merge(
        "r.job, r.priority, (row_number() over (partition by r.job, r.priority order by r.due_at, r.task_id))::integer,"
        " r.task_id, r.room, r.due_at, r.waited, r.attempt, r.max_attempts, r.owner",
        "order by 1, 2, 3",
    ),
    "scheduled_tasks": Merge(then="order by r.run_at, r.task_id limit 500"),
    "failed": Merge(then="order by r.ended_at desc, r.task_id desc limit 200"),
    "stuck": Merge(then="order by r.since, r.task_id"),
    "errors": Merge(
        "r.fingerprint, r.job, min(r.error_kind), (array_agg(r.message order by r.last_at desc))[1],"
        " sum(r.last_hour)::bigint, sum(r.last_day)::bigint, sum(r.last_week)::bigint, max(r.last_at),"
        " (array_agg(r.last_task_id order by r.last_at desc))[1]",
        "group by r.fingerprint, r.job order by 6 desc, 7 desc, r.fingerprint limit 500",
    ),
    "storage": Merge(
        "r.relation, sum(r.live)::bigint, sum(r.dead)::bigint, max(r.dead_share), sum(r.table_bytes)::bigint,"
        " sum(r.index_bytes)::bigint, sum(r.total_bytes)::bigint, min(r.hot_share), min(r.last_vacuum_at),"
        " min(r.last_analyze_at)",
        "group by r.relation order by sum(r.total_bytes) desc, r.relation",
    ),
    "show_database": Merge(
        "min(r.schema_name), min(r.version), min(r.server), sum(r.total_bytes)::bigint, max(r.notify_queue_share)"
    ),
    "blockers": Merge(then="order by r.age desc nulls last"),
    "check": Merge("r.rule, sum(r.violations)::bigint", "group by r.rule order by min(r.zz_place)"),
    # Upkeep.
    "sweep": Merge(
        "r.swept, sum(r.changed)::integer, string_agg(distinct r.error, '; ')", "group by r.swept order by min(r.zz_place)"
    ),
    "fire_schedules": Merge("sum(r.fired)::integer, sum(r.skipped)::integer, min(r.due_in)"),
    "prune_tasks": Take("batch"),
    # Claims.
    "claim_tasks": Take("quantity"),
    "claim_and_show": Take(),
    "acquire_generic_jobs": Take("quantity"),
    "claim_cleanups": Take("quantity"),
    # Submits.
    "submit_task": Submit("{job}, {after}, {idempotency_key}"),
    "submit_and_show": Submit("{job}, null, {idempotency_key}"),
    "submit_unique": Submit(
        "{job}, null, pgjobs._unique_name(coalesce({room}, ''), {unique_by}, {key}, {idempotency_key}, {payload},"
        " {unique_fields}), true"
    ),
    **dict.fromkeys(
        (
            "submit_tasks", "submit_workflow", "create_generic_jobs", "register_job", "register_worker", "limit_job",
            "resume_job", "delete_job", "count_workers", "heartbeat_worker", "mark_waiting",
            "unmark_waiting", "register_schedule", "list_events", "watch_events", "findings", "show_findings",
            "find_tasks", "list_cleanups",
        ),
        ByHand(),
    ),
}  # fmt: skip
"""What is listed twice over nodes is counted once; percentiles of several nodes are the mean and the worst of theirs."""
