"""A worker that speaks HTTP only, and prints which of its acknowledgements were accepted."""

from __future__ import annotations

import os
import random
import sys
import time
from typing import Any

import httpx

from tests.surfaces.rest_server import NO_TLS, token_of

ROOM, CATEGORY, NAME = "lab", "chaos", "Echo"
JOB = f"{ROOM}:{CATEGORY}:{NAME}"


class Client:
    """Claims, starts and completes, and begins anew after whatever went wrong."""

    def __init__(self, base: str) -> None:
        headers = {"Authorization": f"Bearer {token_of('chaos', is_superuser=True)}"}
        self._http = httpx.Client(
            base_url=f"{base}/v1/joblib/", headers=headers, timeout=10, trust_env=False, verify=NO_TLS
        )
        self._worker: str | None = None

    def work(self) -> None:
        if self._worker is None:
            job = self._http.put(f"rooms/{ROOM}/jobs", json={"category": CATEGORY, "name": NAME})
            self._worker = job.raise_for_status().json()["worker_id"]
        claimed = self._http.post(
            "tasks/claim", json={"worker_id": self._worker}, headers={"Prefer": "wait=2"}
        )
        if claimed.status_code in (403, 404):  # taken for dead, and taken away
            self._worker = None
            return
        task = claimed.raise_for_status().json()["task"]
        self._http.patch(f"workers/{self._worker}").raise_for_status()
        if task is not None:
            self._complete(task, claimed.headers["lease-token"])

    def _complete(self, task: dict[str, Any], token: str) -> None:
        time.sleep(random.uniform(0, 0.02))
        self._update(task, "running", token)
        answer = self._update(task, "completed", token)
        if answer.is_success:
            sys.stdout.write(f"accepted {task['payload']['number']} {token}\n")
        elif answer.status_code == 409:
            sys.stdout.write(f"refused {task['payload']['number']} {token}\n")
        sys.stdout.flush()

    def _update(self, task: dict[str, Any], status: str, token: str) -> httpx.Response:
        """Until there is an answer: the same twice under one lease is the same once."""
        while True:
            try:
                answer = self._http.patch(
                    f"tasks/{task['id']}", json={"status": status}, headers={"Lease-Token": token}
                )
            except httpx.HTTPError:
                time.sleep(0.1)
                continue
            if answer.status_code < 500:
                return answer
            time.sleep(0.1)


def main(base: str) -> None:
    client = Client(base)
    while True:
        try:
            client.work()
        except (httpx.HTTPError, KeyError):
            time.sleep(0.1)


if __name__ == "__main__":
    random.seed(int(os.environ.get("SEED", "0")) + os.getpid())
    main(sys.argv[1])
