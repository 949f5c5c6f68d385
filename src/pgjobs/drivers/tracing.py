"""OpenTelemetry where the application uses it: a span for each submit and each run, in one trace.

Nothing is imported for it: where no application has imported OpenTelemetry, there is no trace to carry.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from pgjobs.drivers.redaction import redact_line

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_TRACESTATE = re.compile(r"[ -~]{1,512}")
_CONTEXT = re.compile(rf"{_TRACEPARENT.pattern}( {_TRACESTATE.pattern})?")


def is_trace_context(text: str | None) -> bool:
    """Whether a task may carry it; as `pgjobs._check_trace_context` says it."""
    return text is None or _CONTEXT.fullmatch(text) is not None


def context_of(traceparent: str | None, tracestate: str | None = None) -> str | None:
    """W3C's two headers as a task carries them; nothing if they are not well-formed, as the standard asks."""
    if traceparent is None or not _TRACEPARENT.fullmatch(traceparent):
        return None
    is_whole = tracestate is not None and _TRACESTATE.fullmatch(tracestate)
    return f"{traceparent} {tracestate}" if is_whole else traceparent


def headers_of(trace_context: str | None) -> dict[str, str]:
    """What a task carries, as W3C's headers."""
    traceparent, _, tracestate = (trace_context or "").partition(" ")
    named = {"traceparent": traceparent, "tracestate": tracestate}
    return {name: value for name, value in named.items() if value}


def submitting(job: str, quantity: int, came_with: str | None = None) -> AbstractContextManager[str | None]:
    """A span around a submit; gives what the tasks carry, which without a tracer is what came with them."""
    traced_by = tracer()
    return nullcontext(came_with) if traced_by is None else _submit_span(traced_by, job, quantity, came_with)


def tracer() -> Tracer | None:
    """The application's, if it has one."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer("pgjobs")


@contextmanager
def _submit_span(traced_by: Tracer, job: str, quantity: int, came_with: str | None) -> Iterator[str | None]:
    from opentelemetry import trace

    is_inside = trace.get_current_span().get_span_context().is_valid
    with (
        traced_by.start_as_current_span(
            f"submit {job}",
            context=None if is_inside else extracted(came_with),
            kind=trace.SpanKind.PRODUCER,
            attributes=attributes("send", job) | {"messaging.batch.message_count": quantity},
            record_exception=False,
            set_status_on_exception=False,
        ) as span,
        told(span),
    ):
        yield _injected()


@contextmanager
def told(span: Span, calm: tuple[type[BaseException], ...] = ()) -> Iterator[None]:
    """Says on the span how it ended, without what gives access."""
    from opentelemetry.trace import Status, StatusCode

    try:
        yield
    except calm:
        raise
    except BaseException as error:
        span.set_attribute("error.type", type(error).__qualname__)
        span.set_status(Status(StatusCode.ERROR, redact_line(str(error))))
        raise


def attributes(operation: str, job: str) -> dict[str, Any]:
    return {
        "messaging.system": "pgjobs",
        "messaging.operation.type": operation,
        "messaging.destination.name": job,
    }


def _injected() -> str | None:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return context_of(carrier.get("traceparent"), carrier.get("tracestate"))


def extracted(trace_context: str | None) -> Context:
    """What a task carries, as OpenTelemetry knows it."""
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract(headers_of(trace_context), Context())
