"""What the catalog does not know: names of records, what may be null, what is written by hand."""

from __future__ import annotations

BY_HAND = frozenset(
    {
        "submit_task",
        "submit_workflow",
        "delete_job",
        "get_reads",
        "heartbeat_and_show",
        "revoke_room",
        "watch_task",
    }
    | {"help", "metrics", "my_rooms"}
)
"""Verbs without a generated method: Python adds something to them, or does not call them."""

FACADES = {
    "leases": ["claim_tasks", "mark_waiting"],
    "steps": [f"{step}_task{s}" for step in ("cancel", "retry", "ignore", "unignore") for s in ("", "s")],
    "upkeep": ["check", "fire_schedules", "list_metrics", "list_events"],
    "cleanups": ["unmark_waiting"],
    "operators": ["list_log", "next_cursor", "show_flow", "show_steps"],
    "server": ["append_log", "count_jobs", "count_schedules", "track_tasks", "watch_events"],
}
"""Which verbs are not in the class of their noun; those about leases are in that of leases."""

ONE = frozenset(
    {
        "replication_position",
        "next_cursor",
        "await_cleanups",
        "reconcile_cleanups",
        "fire_schedules",
        "watch_events",
        "find_tasks",
        "submit_unique",
    }
)
MANY = frozenset(
    {"why", "top", "running", "waiting", "failed", "stuck", "storage", "throughput", "check", "sweep"}
    | {"report_progress", "preview_schedule", "append_log", "list_log"}
)
"""How many rows a verb answers with, where its name does not end as such names do."""

OPTIONAL = frozenset({"get_job_target", "get_sharing", "claim_and_show"})
"""Verbs that answer with one row or none."""

NOTHING = frozenset({"forget_read", "unlock_read", "unmark_waiting", "retire_schedule"})
"""Verbs whose answer says nothing new."""

ALSO_POSITIONAL = {
    "limit_job": 2,
    "submit_unique": 2,
    "list_generic_jobs": 3,
    "set_job_target": 2,
    "submit_and_show": 3,
    "complete_tasks": 3,
    "next_cursor": 2,
    "save_step": 4,
    "send_signal": 3,
}
"""How many arguments may go without their names, where that is not: the required ones, else the first."""

NULL_ITEMS = frozenset({"idempotency_keys", "keys", "kinds"})
"""Lists whose items may be None."""

EMPTY_IS_NONE = frozenset({"rooms", "of_rooms"})
"""Lists that mean the same when they are empty as when they are left out."""

CLAIMS = {
    "claim_tasks": ("task_id", "token"),
    "claim_and_show": ("id", "token"),
    "acquire_generic_jobs": ("id", "lease_id"),
}
"""Verbs that give leases, and what these are called: payloads that nobody can read fail their tasks."""

SUBMITS = {"submit_tasks": "len(payloads)", "submit_and_show": "1", "submit_unique": "1"}
"""Verbs that make tasks, and how many: a span goes around them."""

WRITTEN = frozenset({"fields", "found", "document", "serves", "holds", "recent", "fields_json", "weights"})
"""Columns with documents that SQL wrote around what callers gave."""

RECORDS = {
    "Acknowledged": ["complete_tasks", "release_tasks"],
    "Attempt": ["list_attempts"],
    "Bearer": ["verify_token"],
    "Called": ["call_tasks"],
    "Blocker": ["blockers"],
    "BulkResult": ["cancel_tasks", "retry_tasks", "ignore_tasks", "unignore_tasks"],
    "ClaimAnswer": ["claim_and_show"],
    "CleanupEvent": ["list_cleanup_events"],
    "CleanupLease": ["claim_cleanups"],
    "CleanupMark": ["await_cleanups"],
    "CleanupNode": ["list_cleanup_nodes"],
    "CleanupTask": ["incomplete_cleanup_tasks", "list_cleanups"],
    "Counted": [
        *("count_found_tasks", "count_jobs", "count_providers"),
        *("count_schedules", "count_tasks", "count_workers"),
    ],
    "DatabaseFacts": ["show_database"],
    "ErrorGroup": ["errors"],
    "Event": ["list_events"],
    "Failed": ["fail_tasks"],
    "FailedTask": ["failed"],
    "Finding": ["findings"],
    "Fired": ["fire_schedules"],
    "FoundTasks": ["find_tasks"],
    "GenericJob": ["generic_jobs"],
    "InspectedTask": ["inspect_task"],
    "JobStatus": ["jobs_status"],
    "LogLine": ["list_log"],
    "LogAnswer": ["append_log"],
    "JobKey": ["list_keys"],
    "JobTarget": ["get_job_target", "set_job_target"],
    "Lease": ["claim_tasks"],
    "Mark": ["mark_waiting"],
    "Metric": ["list_metrics"],
    "NewSession": ["open_session"],
    "NewToken": ["create_token"],
    "NextPage": ["next_cursor"],
    "Overview": ["overview"],
    "Provider": ["providers"],
    "ProviderRegistration": ["register_provider"],
    "ProviderStatus": ["providers_status"],
    "Parent": ["list_parents"],
    "PruneResult": ["prune_tasks"],
    "Reason": ["why"],
    "Registration": ["register_job"],
    "Renewed": ["renew_tasks"],
    "Reported": ["report_progress"],
    "Retirement": ["retire_worker"],
    "ReplicationPosition": ["replication_position"],
    "RoomGrant": ["room_grants"],
    "Rule": ["check"],
    "RunningTask": ["running"],
    "SavedStep": ["save_step"],
    "ScheduledTask": ["scheduled_tasks"],
    "ScheduleRegistration": ["register_schedule"],
    "SentSignal": ["send_signal"],
    "Sharing": ["get_sharing"],
    "ShownWorker": ["show_workers"],
    "SignIn": ["create_sign_in"],
    "SignedIn": ["verify_session"],
    "Started": ["start_tasks"],
    "StartedRun": ["run_schedule"],
    "Step": ["list_steps", "show_steps"],
    "StuckTask": ["stuck"],
    "Submitted": ["submit_tasks"],
    "Suspension": ["suspend_task"],
    "SweepResult": ["sweep"],
    "TableHealth": ["storage"],
    "TaskEvent": ["list_task_events"],
    "Throughput": ["throughput"],
    "Token": ["list_tokens"],
    "TopJob": ["top"],
    "TrackedTask": ["track_tasks"],
    "WaitingTask": ["waiting"],
    "UniqueSubmitted": ["submit_unique"],
    "Worker": ["workers"],
    "WorkerStatus": ["workers_status"],
    "WorkerSummary": ["list_workers"],
    "WorkflowTask": ["list_workflow_tasks"],
}
"""Records by the verbs or relations whose rows they are; others are called as their relation, or `…Result`."""

EXTENDS = {"TaskDocument": "Task", "ClaimAnswer": "TaskAnswer", "ScheduleDocument": "Schedule"}
"""Records that begin with the columns of another."""

BEHAVIOURS = {
    "Task": "CanEnd",
    "CleanupLease": "HeldCleanup",
    "GenericJob": "ByColumnName",
    "Schedule": "InWords",
}
"""Classes of `pgjobs.queue.behaviours` that give records more than columns."""

OMITTED = {"Worker": ["clock_ahead", "connection_id"], "CleanupTask": ["total"], "CleanupEvent": ["task_id"]}
"""Columns that are not for callers."""

TYPES = {
    "BulkResult.status": "Status",
    "CleanupEvent.level": 'Literal["info", "warn", "error"]',
    "CleanupTask.status": "CleanupStatus",
    "Counted.relation": 'Literal["eq", "gte"]',
    "Finding.severity": "Severity",
    "FoundTasks.found": "list[Json]",
    "GenericJob.status": "GenericStatus",
    "JobStatus.state": "JobState",
    "Schedule.recent": "list[ScheduleRun]",
    "Sharing.weights": "dict[str, int]",
    "ShownWorker.holds": "list[Json]",
    "ShownWorker.serves": "list[str]",
    "Task.status": "Status",
    "TaskAnswer.status": "ShownStatus",
    "TrackedTask.status": "Status",
}
"""What a column holds, where that is more than its SQL type."""

NULLABLE = frozenset(
    {
        "acquired_at",
        "actor",
        "advice",
        "age",
        "archived_at",
        "available_at",
        "cancel_requested_at",
        "cancellation_reason",
        "cancelled_at",
        "completed_at",
        "cron",
        "dead_share",
        "deleted_at",
        "due_in",
        "error",
        "error_kind",
        "error_message",
        "every",
        "holder",
        "holders",
        "hot_share",
        "idempotency_key",
        "ignore_reason",
        "ignored_at",
        "ignored_by_user_id",
        "jitter_cap",
        "last_analyze_at",
        "last_attempt_at",
        "last_error",
        "last_error_kind",
        "last_run_at",
        "last_seen_at",
        "last_vacuum_at",
        "lease_id",
        "leased_until",
        "linked_worker_id",
        "max_age",
        "max_running",
        "max_running_per_key",
        "name",
        "next",
        "next_attempt_at",
        "next_due_at",
        "next_run_at",
        "notify_queue_share",
        "oldest",
        "oldest_claim",
        "oldest_due_at",
        "oldest_wait",
        "owner",
        "owner_user_id",
        "pause_reason",
        "paused_at",
        "phase",
        "pid",
        "problem",
        "project",
        "project_id",
        "queue_position",
        "rate",
        "rate_per_key",
        "reason",
        "resumes_at",
        "retain_completed",
        "retain_failed",
        "revoked_at",
        "rooms",
        "run",
        "run_p50",
        "run_p95",
        "started_at",
        "stopped_by",
        "submitter",
        "tags",
        "trace_context",
        "until",
        "up_to",
        "wait",
        "wait_p50",
        "wait_p95",
        "worker_id",
    }
)
"""Columns that may be null, in every record but those below."""

ALSO_NULLABLE = {
    "Acknowledged": ["status"],
    "Attempt": ["claimed_at"],
    "Blocker": ["since", "state"],
    "BulkResult": ["status", "task_id"],
    "CleanupMark": ["mark"],
    "Event": ["job", "message", "room", "status", "task_id", "task_uuid"],
    "Failed": ["run_at", "status"],
    "NewToken": ["expires_at"],
    "ProviderStatus": ["in_flight", "kept", "worker"],
    "Schedule": ["max_attempts"],
    "Started": ["status"],
    "Task": ["claimed_at", "due_at", "ended_at"],
    "TaskAnswer": ["ended_at"],
    "Workflow": ["ended_at"],
    "TaskEvent": ["message", "status"],
    "Token": ["expires_at"],
}
NEVER_NULL = {
    "Blocker": ["advice", "name"],
    "CleanupLease": ["until"],
    "FailedTask": ["error"],
    "Job": ["name"],
    "Provider": ["name", "worker_id"],
    "ProviderStatus": ["worker_id"],
    "Parent": ["name"],
    "Schedule": ["name"],
    "ScheduledTask": ["due_in", "phase"],
    "Step": ["name"],
    "StuckTask": ["advice", "problem"],
    "WorkerStatus": ["worker_id"],
    "Workflow": ["name"],
    "WorkflowTask": ["name"],
}
