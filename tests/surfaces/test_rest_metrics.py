"""The numbers of the queue, where Prometheus looks for them."""

from __future__ import annotations

import logging

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, problem_of, token_of

LABELS = {"domain": "lab", "queue": "modifiers", "job_type": "Rotate"}


def scraped(api: Api) -> dict[str, float]:
    """Samples of the one job, by name; of a histogram, its count."""
    answer = api.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.labels == LABELS
    }


def test_the_server_shows_its_numbers_to_prometheus(ada: Api):
    worker = ada.register()["worker_id"]
    for _ in range(4):
        ada.submit()
    for ending in ("completed", "failed", "cancelled"):
        task = ada.claim(worker)
        ada.update(task, "running")
        ada.update(task, ending)
    seen = scraped(ada)
    assert (seen["jobs_queued"], seen["jobs_backlog"], seen["jobs_processing"]) == (1, 1, 0)
    assert (seen["jobs_completed_total"], seen["jobs_failed_total"]) == (1, 1)
    assert (seen["jobs_cancellations_total"], seen["jobs_retries_total"]) == (1, 0)
    assert (seen["jobs_duration_seconds_count"], seen["jobs_queue_latency_seconds_count"]) == (1, 3)


def test_numbers_are_shown_to_those_who_may_read(ada: Api, nobody: Api, serve: Serve):
    ada.register()
    assert (nobody.get("/metrics").status_code, problem_of(nobody.get("/metrics"))) == (401, "unauthorized")
    with Api(serve(public_reads=True), None) as anybody:
        assert scraped(anybody)["jobs_queued"] == 0


def test_metrics_can_be_switched_off(ada: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JOBS_ENABLE_METRICS", "false")
    ada.register()
    answer = ada.get("/metrics")
    assert (answer.status_code, answer.content) == (200, b"")


def test_scrapes_are_not_logged(ada: Api, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, "pgjobs.access"):
        ada.get("/metrics")
        ada.get("workers")
    assert [record.getMessage().split()[1] for record in caplog.records] == ["/v1/joblib/workers"]


def test_a_token_that_is_no_token_opens_nothing(base: str):
    with Api(base, token_of("ada", secret="another secret, just as long as the right one")) as forger:
        assert problem_of(forger.get("/metrics")) == "unauthorized"
