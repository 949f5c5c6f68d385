"""Numbers for Prometheus, read from the database, so that every process tells the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from pgjobs.contrib.manager.settings import ManagerSettings
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Metric

LABELS = ("domain", "queue", "job_type")
GAUGES = {
    "queued": ("jobs_queued", "Jobs that wait, due or not"),
    "backlog": ("jobs_backlog", "Jobs that are due and wait for a worker"),
    "suspended": ("jobs_suspended", "Jobs that sleep, or wait for a signal or for jobs they called"),
    "blocked": ("jobs_blocked", "Jobs that wait for others to end"),
    "held": ("jobs_held", "Jobs that wait for a parent that failed"),
    "processing": ("jobs_processing", "Jobs under a lease"),
    "stale_processing": ("jobs_stale_processing", "Jobs whose lease has lapsed, or whose worker is silent"),
    "paused": ("jobs_paused", "1 while the type is paused or archived"),
    "schedules": ("jobs_schedules", "Schedules that run the job"),
    "overdue_schedules": ("jobs_schedules_overdue", "Overdue schedules, which no process starts"),
    "cleanups_blocked": ("pgjobs_cleanups_blocked", "Cleanups with wrong credentials or configuration"),
    "cleanups_abandoned": ("pgjobs_cleanups_abandoned", "Cleanups that were given up"),
    "cleanups_unserved": ("pgjobs_cleanups_unserved", "Due cleanups of nodes that no process cleans up for"),
}
COUNTERS = {
    "completed": ("jobs_completed", "Jobs completed"),
    "failed": ("jobs_failed", "Jobs failed for good"),
    "retried": ("jobs_retries", "Attempts that failed and are followed by another"),
    "cancelled": ("jobs_cancellations", "Jobs cancelled"),
}
HISTOGRAMS = {
    "duration": ("jobs_duration_seconds", "From acquired to completed"),
    "queue_latency": ("pgjobs_queue_latency_seconds", "From due to claimed, of each attempt"),
    "latency": (
        "jobs_queue_latency_seconds",
        "From created to acquired, delays and backoff included; pgjobs_queue_latency_seconds leaves them out",
    ),
}
BOUNDS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, inf)
"""Upper bounds of the buckets; those of `pgjobs._histogram_bounds()`."""

CONTENT_TYPE = CONTENT_TYPE_LATEST
Labels = tuple[str, str, str]


class JobsCollector(Collector):
    """Reads the database whenever Prometheus asks.

    `read` must not await: `JobsCollector(pgjobs.sync.Queue.connect(url).list_metrics)`.
    """

    def __init__(self, read: Callable[[], Sequence[Metric]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Family]:
        return families(self._read())

    def describe(self) -> Iterable[Family]:
        # Without it, registering would read the database.
        return families(())


async def render(queue: Queue, settings: ManagerSettings | None = None) -> bytes:
    """What `/metrics` answers, in Prometheus' text format; nothing when metrics are switched off."""
    if not (settings or ManagerSettings()).enable_metrics:
        return b""
    metrics = await queue.list_metrics()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(JobsCollector(lambda: metrics))
    return generate_latest(registry)


def families(metrics: Sequence[Metric]) -> Iterator[Family]:
    """Prometheus' families of the numbers of all jobs."""
    by_measure: dict[str, list[Metric]] = defaultdict(list)
    for metric in metrics:
        by_measure[metric.measure].append(metric)
    # The only series that is there before anything is registered: its absence is that of the server.
    yield GaugeMetricFamily("jobs_types", "Registered job types", value=len(by_measure["queued"]))
    for measure, (name, says) in GAUGES.items():
        gauge = GaugeMetricFamily(name, says, labels=LABELS)
        for metric in by_measure[measure]:
            gauge.add_metric(_labels(metric), metric.quantity)
        yield gauge
    for measure, (name, says) in COUNTERS.items():
        counter = CounterMetricFamily(name, says, labels=LABELS)
        for metric in by_measure[measure]:
            counter.add_metric(_labels(metric), metric.quantity)
        yield counter
    for measure, (name, says) in HISTOGRAMS.items():
        yield _histogram(name, says, by_measure[measure])


def _histogram(name: str, says: str, metrics: Sequence[Metric]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(name, says, labels=LABELS)
    by_job: dict[Labels, list[Metric]] = defaultdict(list)
    for metric in metrics:
        by_job[_labels(metric)].append(metric)
    for labels, buckets in by_job.items():
        filled = {bucket.up_to: bucket.quantity for bucket in buckets}
        counts = accumulate(filled.get(bound, 0) for bound in BOUNDS)
        named = [(_bound(bound), float(count)) for bound, count in zip(BOUNDS, counts, strict=True)]
        family.add_metric(labels, named, sum_value=sum(bucket.seconds for bucket in buckets))
    return family


def _labels(metric: Metric) -> Labels:
    return metric.domain, metric.queue, metric.job_type


def _bound(bound: float) -> str:
    return "+Inf" if bound == inf else str(bound)
