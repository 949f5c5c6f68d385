"""A program of the system that the job manager came from; only its import is another.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    python examples/running_system.py

Quotas, completion tokens, quarantine, a cap on documents, dependencies, rescheduling and queue
control, as that system has them.
"""

import os
from typing import Any

from pgjobs.sync import JobManager  # was: from tldw_Server_API.app.core.Jobs.manager import JobManager

os.environ.update(
    JOBS_ON_LOST_LEASE="return",
    JOBS_QUOTA_MAX_QUEUED_CHATBOOKS="3",
    JOBS_QUOTA_MAX_INFLIGHT_CHATBOOKS_USER_ANN="1",
    JOBS_QUARANTINE_THRESHOLD="2",
    JOBS_MAX_JSON_BYTES="200",
    JOBS_JSON_TRUNCATE="true",
)
DOMAIN, QUEUE = "chatbooks", "default"


def create(jm: JobManager, job_type: str = "export", owner: str = "ann", **options: Any) -> Any:
    return jm.create_job(
        domain=DOMAIN,
        queue=QUEUE,
        job_type=job_type,
        payload={"name": "weekly"},
        owner_user_id=owner,
        **options,
    )


def acquire(jm: JobManager, **options: Any) -> Any:
    return jm.acquire_next_job(domain=DOMAIN, queue=QUEUE, lease_seconds=30, worker_id="w1", **options)


def quotas(jm: JobManager) -> Any:
    for _ in range(3):
        create(jm)
    try:
        create(jm)
    except ValueError as refused:
        print("refused:", refused.args[0])
    first, second = acquire(jm, owner_user_id="ann"), acquire(jm, owner_user_id="ann")
    print("in flight:", first["status"], second)
    return first


def completion_tokens(jm: JobManager, job: Any) -> None:
    held = {"worker_id": "w1", "lease_id": job["lease_id"]}
    once = jm.complete_job(int(job["id"]), **held, result={"pages": 3}, completion_token="run-7")
    again = jm.complete_job(int(job["id"]), **held, result={"pages": 3}, completion_token="run-7")
    print("completed:", bool(once), bool(again), jm.get_job(int(job["id"]))["result"])
    print("a lost lease:", jm.complete_job(int(job["id"]), worker_id="w2", lease_id="stale"))


def quarantine(jm: JobManager) -> None:
    create(jm, "unpack", owner="eve")
    for _ in range(2):
        job = acquire(jm, job_type="unpack")
        jm.fail_job(
            int(job["id"]),
            worker_id="w1",
            lease_id=job["lease_id"],
            error="the archive is broken",
            error_code="BAD_ARCHIVE",
            retryable=True,
            backoff_seconds=0,
        )
    print("quarantined:", jm.get_job(int(job["id"]))["status"])
    print("requeued:", jm.requeue_quarantined(domain=DOMAIN, queue=QUEUE, job_type="unpack"))


def caps(jm: JobManager) -> None:
    job = jm.create_job(
        domain=DOMAIN, queue="large", job_type="import", payload={"text": "x" * 500}, owner_user_id="bob"
    )
    print("payload:", job["payload"])


def dependencies(jm: JobManager) -> None:
    parent = create(jm, "collect", owner="cleo")
    child = create(jm, "publish", owner="cleo", batch_group="night")
    jm.add_job_dependency(child["id"], parent["id"])
    jm.cancel_job(parent["id"], reason="no longer wanted")
    acquire(jm, owner_user_id="cleo")
    print(
        "dependent:", jm.get_job(child["id"])["status"], len(jm.list_jobs(domain=DOMAIN, batch_group="night"))
    )


def reschedule(jm: JobManager) -> None:
    job = create(jm, "later", owner="dora")
    before = job["available_at"]
    moved = jm.reschedule_jobs(
        domain=DOMAIN, queue=QUEUE, job_type="later", delta_seconds=3600, dry_run=False
    )
    print("moved:", moved, jm.get_job(job["id"])["available_at"] - before)
    print("due now:", jm.reschedule_jobs(domain=DOMAIN, queue=QUEUE, job_type="later", set_now=True))


def queue_control(jm: JobManager) -> None:
    jm.set_queue_control(DOMAIN, QUEUE, "pause")
    print("paused:", acquire(jm, owner_user_id="dora"))
    jm.set_queue_control(DOMAIN, QUEUE, "resume")
    print("resumed:", acquire(jm, owner_user_id="dora")["job_type"])


def main() -> None:
    jm = JobManager()
    job = quotas(jm)
    completion_tokens(jm, job)
    quarantine(jm)
    caps(jm)
    dependencies(jm)
    reschedule(jm)
    queue_control(jm)
    jm.close()


if __name__ == "__main__":
    main()
