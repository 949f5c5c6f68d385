"""An old job API kept alive over the job manager: same calls, same record shape, another engine.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    python examples/prompt_studio_facade.py

Code that was written for a queue of its own keeps working while its jobs move to
pgjobs. `backend_for` decides per domain, so that the move can be undone by a variable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from pgjobs import backend_for, sync
from pgjobs.errors import InvalidTransition, LeaseLost, NotFound

DOMAIN, QUEUE = "prompt_studio", "default"
LEASE_SECONDS = 60

Record = dict[str, Any]


def record_of(job: Any) -> Record:
    """The shape old callers know: `started_at` for `acquired_at`, the entity inside the payload."""
    payload = dict(job["payload"])
    return {
        "id": job["id"],
        "uuid": str(job["uuid"]),
        "job_type": job["job_type"],
        "entity_id": payload.pop("entity_id", None),
        "project_id": job["project_id"],
        "client_id": job["owner_user_id"],
        "status": job["status"],
        "priority": job["priority"],
        "payload": payload,
        "result": job["result"],
        "error_message": job["error_message"],
        "retry_count": job["retry_count"],
        "max_retries": job["max_retries"],
        "created_at": job["created_at"].isoformat(),
        "started_at": job["acquired_at"] and job["acquired_at"].isoformat(),
        "completed_at": job["completed_at"] and job["completed_at"].isoformat(),
    }


class PromptStudioJobs:
    """The old API. It held no lease ids, so the façade remembers those of the jobs it handed out."""

    def __init__(self, jobs: sync.JobManager, client_id: str) -> None:
        self._jobs = jobs
        self._client_id = client_id
        self._leases: dict[int, str] = {}

    def create_job(
        self, job_type: str, entity_id: int, payload: Record, project_id: int | None = None, **options: Any
    ) -> Record:
        job = self._jobs.create_job(
            DOMAIN,
            QUEUE,
            job_type,
            {**payload, "entity_id": entity_id},
            self._client_id,
            project_id,
            **options,
        )
        return record_of(job)

    def get_job(self, job_id: int) -> Record | None:
        try:
            return record_of(self._jobs.get_job(job_id))
        except NotFound:
            return None

    def list_jobs(
        self, status: str | None = None, job_type: str | None = None, limit: int = 50
    ) -> list[Record]:
        found = self._jobs.list_jobs(DOMAIN, QUEUE, job_type, status, self._client_id, limit=limit)
        return [record_of(job) for job in found]

    def get_next_job(self) -> Record | None:
        job = self._jobs.acquire_next_job(DOMAIN, QUEUE, LEASE_SECONDS, self._client_id)
        if job is None:
            return None
        self._leases[job["id"]] = job["lease_id"]
        return record_of(job)

    def update_job_status(
        self, job_id: int, status: str, error_message: str | None = None, result: Any = None
    ) -> bool:
        """Ends a job this façade handed out; False once somebody else has it."""
        lease = self._leases.pop(job_id, "")
        try:
            if status == "completed":
                self._jobs.complete_job(job_id, self._client_id, lease, result)
            elif status == "failed":
                self._jobs.fail_job(job_id, self._client_id, lease, error_message or "unknown error")
            else:
                raise ValueError(f"a job cannot be set to {status}")
        except LeaseLost:
            return False
        return True

    def run_next(self, work: Callable[[Record], Any]) -> bool:
        """Runs one job; False when nothing is due. A job that was lost meanwhile is somebody else's."""
        record = self.get_next_job()
        if record is None:
            return False
        try:
            result = work(record)
        except Exception as error:
            self.update_job_status(record["id"], "failed", f"{type(error).__name__}: {error}")
        else:
            self.update_job_status(record["id"], "completed", result=result)
        return True

    def cancel_job(self, job_id: int, reason: str | None = None) -> bool:
        try:
            self._jobs.cancel_job(job_id, reason)
        except (InvalidTransition, NotFound):
            return False
        return True


def evaluate(record: Record) -> Record:
    return {"score": 0.9, "model": record["payload"]["model"]}


def main(url: str | None = None) -> None:
    if backend_for(DOMAIN) != "core":
        sys.exit(f"{DOMAIN} still runs on {backend_for(DOMAIN)}")
    with sync.JobManager(url) as manager:
        jobs = PromptStudioJobs(manager, "studio-1")
        jobs.create_job("evaluation", 17, {"model": "small"}, project_id=3)
        while jobs.run_next(evaluate):
            pass
        for record in jobs.list_jobs(status="completed"):
            print(record["job_type"], record["entity_id"], record)


if __name__ == "__main__":
    main()
