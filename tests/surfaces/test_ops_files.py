"""The dashboard and the alert rules name metrics that /metrics exports, and labels they have."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pgjobs.contrib.prometheus import LABELS, render
from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.incomplete_runs import incomplete_runs

OPS = Path(__file__).parents[2] / "docs" / "ops"
METRIC = re.compile(r"\b(?:pg)?jobs_\w+")
BY = re.compile(r"by \(([^)]*)\)")


def dashboard_expressions() -> list[str]:
    dashboard = json.loads((OPS / "grafana.json").read_text())
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return panels + [variable["query"] for variable in dashboard["templating"]["list"]]


def alert_expressions() -> list[str]:
    """What follows each `expr:`, on its line or as the block below it."""
    text = (OPS / "alerts.yml").read_text()
    blocks = re.findall(r"^( +)expr: (\|\n(?:\1 +.*\n)+|.*\n)", text, re.MULTILINE)
    return [expression for _, expression in blocks]


async def waiting_tasks(queue: Queue) -> None:
    """One task that is suspended, one that is blocked and one that is held."""
    job = "@global:tests:Work"
    parents = [await queue.submit_task(job) for _ in range(3)]
    for parent, on_failure in zip(parents[1:], ("hold", "run"), strict=True):
        await queue.submit_task(job, after=[parent.task_id], on_failure=on_failure)
    suspended, failed = await queue.claim_tasks(
        holder="me", lease=timedelta(hours=1), in_room="@global", quantity=2, start=True
    )
    await queue.suspend_task(suspended.task_id, suspended.token, "trial", delay=timedelta(days=1))
    await queue.fail_task(failed, "broken", retryable=False)
    await queue.sweep("waits")


@pytest.fixture
async def exported(database_url: str) -> set[str]:
    """Names of the series that a queue with some history exports."""
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "tests", "Work")
        await waiting_tasks(queue)
        await queue.register_schedule("nightly", "@global:tests:Work", cron="@daily")
        await incomplete_runs(queue, database_url)
        families = list(text_string_to_metric_families((await render(queue)).decode()))
    assert {family.name for family in families} >= {"jobs_queued", "jobs_completed", "jobs_duration_seconds"}
    names = {sample.name for family in families for sample in family.samples}
    # A histogram has no series before something was measured.
    return names | {f"{family.name}_bucket" for family in families if family.type == "histogram"}


@pytest.mark.parametrize("expressions", [dashboard_expressions, alert_expressions])
async def test_every_metric_that_is_asked_for_is_exported(exported, expressions):
    asked = {name for expression in expressions() for name in METRIC.findall(expression)}
    asked.discard("job_type")
    assert len(asked) >= 5
    assert asked - exported == set()


async def test_every_metric_is_on_the_dashboard(exported):
    asked = {name for expression in dashboard_expressions() for name in METRIC.findall(expression)}
    assert {name for name in exported if not name.endswith(("_created", "_count", "_sum"))} <= asked


@pytest.mark.parametrize("expressions", [dashboard_expressions, alert_expressions])
def test_series_are_grouped_by_labels_they_have(expressions):
    grouped = {
        label.strip()
        for expression in expressions()
        for labels in BY.findall(expression)
        for label in labels.split(",")
    }
    assert grouped
    assert grouped <= {*LABELS, "le"}


def test_every_alert_says_what_to_do():
    alerts = re.split(r"^ +- alert: ", (OPS / "alerts.yml").read_text(), flags=re.MULTILINE)[1:]
    assert len(alerts) >= 5
    assert [alert for alert in alerts if "severity:" not in alert or "description:" not in alert] == []
    assert len(alert_expressions()) == len(alerts)


async def test_the_guide_names_every_metric(exported):
    named = set(METRIC.findall((OPS / "README.md").read_text()))
    base = {re.sub(r"_bucket$", "", name) for name in exported}
    assert {name for name in base if not name.endswith(("_created", "_count", "_sum"))} == named
