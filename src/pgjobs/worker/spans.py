"""Middleware of every worker whose application has a tracer: a span around each handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pgjobs.drivers import tracing
from pgjobs.jobs.context import Snooze, TaskContext
from pgjobs.jobs.durable import Suspended

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from pgjobs.jobs.typed import Middleware


def spans() -> list[Middleware]:
    """One layer, the outermost, or none."""
    tracer = tracing.tracer()
    if tracer is None:
        return []

    async def process(task: TaskContext, call_next: Callable[[], Awaitable[Any]]) -> Any:
        with _span(tracer, task):
            return await call_next()

    return [process]


@contextmanager
def _span(tracer: Tracer, task: TaskContext) -> Iterator[None]:
    """In the trace the task was submitted from, and linked to its submit."""
    from opentelemetry import trace

    job = str(task.row["job"])
    parent = tracing.extracted(task.row["trace_context"])
    submitted = trace.get_current_span(parent).get_span_context()
    with (
        tracer.start_as_current_span(
            f"process {job}",
            context=parent,
            kind=trace.SpanKind.CONSUMER,
            links=[trace.Link(submitted)] if submitted.is_valid else [],
            attributes=tracing.attributes("process", job)
            | {
                "messaging.message.id": str(task.id),
                "pgjobs.room": task.room,
                "pgjobs.attempt": task.attempt,
                "pgjobs.max_attempts": task.max_attempts,
            },
            record_exception=False,
            set_status_on_exception=False,
        ) as span,
        tracing.told(span, calm=(Snooze, Suspended)),
    ):
        yield
