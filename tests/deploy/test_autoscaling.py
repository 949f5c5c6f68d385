"""KEDA's query, asked of a Prometheus that scrapes real servers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from pgjobs.queue.queue import Queue
from pgjobs.server import ApiSettings
from tests.deploy.dockerfile import ROOT
from tests.surfaces.processes import free_port, wait_until
from tests.surfaces.rest_server import NO_TLS, SECRET, app_on, serving, token_of

yaml = pytest.importorskip("yaml")
SCALED = yaml.safe_load((ROOT / "deploy" / "kubernetes" / "scaledobject.yaml").read_text())
TRIGGER = SCALED["spec"]["triggers"][0]
WAITING = 5


@pytest.fixture
def prometheus(database_url: str, tmp_path: Path) -> Iterator[httpx.Client]:
    """A Prometheus that scrapes two servers of one queue."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("not installed: prometheus")
    settings = ApiSettings(auth_secret=SecretStr(SECRET))
    with serving(app_on(database_url, settings)) as one, serving(app_on(database_url, settings)) as other:
        targets = [base.removeprefix("http://") for base in (one, other)]
        scrape = {
            "job_name": "pgjobs",
            "authorization": {"credentials": token_of("prometheus")},
            "static_configs": [{"targets": targets}],
        }
        configuration = tmp_path / "prometheus.yml"
        configuration.write_text(
            yaml.safe_dump({"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]})
        )
        address = f"127.0.0.1:{free_port()}"
        command = [
            program,
            f"--config.file={configuration}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address={address}",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with httpx.Client(base_url=f"http://{address}", trust_env=False, verify=NO_TLS) as client:
                yield client
        finally:
            process.terminate()
            process.wait(20)


def answered(client: httpx.Client, query: str) -> float | None:
    try:
        answer = client.get("/api/v1/query", params={"query": query})
    except httpx.HTTPError:
        return None
    result: list[dict[str, Any]] = answer.json()["data"]["result"] if answer.is_success else []
    assert len(result) <= 1
    return float(result[0]["value"][1]) if result else None


async def test_the_query_counts_each_due_task_once(database_url: str, prometheus: httpx.Client):
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "mail", "Welcome")
        await queue.register_job("@global", "mail", "Goodbye")
        for _ in range(WAITING):
            await queue.submit_task("@global:mail:Welcome")
        await queue.submit_task("@global:mail:Goodbye")
        wait_until(lambda: answered(prometheus, TRIGGER["metadata"]["query"]) == WAITING + 1)
        # What the file warns of: each server tells of every task.
        wait_until(lambda: answered(prometheus, "sum(jobs_backlog)") == 2 * (WAITING + 1))


def test_the_query_is_the_total_that_average_value_wants():
    assert TRIGGER["type"] == "prometheus"
    assert TRIGGER["metricType"] == "AverageValue"
    assert "AverageValue trap" in (ROOT / "deploy" / "kubernetes" / "scaledobject.yaml").read_text()
    assert "/" not in TRIGGER["metadata"]["query"]
    assert TRIGGER["metadata"].keys() == {"serverAddress", "query", "threshold", "activationThreshold"}
    assert all(isinstance(value, str) for value in TRIGGER["metadata"].values())


def test_the_workers_of_the_manifest_are_what_is_scaled():
    workers = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "worker.yaml").read_text()))
    deployment = workers[0]
    assert SCALED["apiVersion"] == "keda.sh/v1alpha1"
    assert SCALED["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    # A number of its own would be put back by every `kubectl apply`.
    assert "replicas" not in deployment["spec"]
