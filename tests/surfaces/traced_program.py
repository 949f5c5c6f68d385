"""A program with a tracer: submits inside a request, runs what it submitted, prints its spans."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pgjobs import Jobs, Queue, Worker
from pgjobs.jobs.context import Snooze

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("program")
jobs = Jobs(category="mail")


@jobs.task(max_attempts=1)
async def welcome(to: str) -> None:
    await asyncio.sleep(0)
    with tracer.start_as_current_span(f"smtp to {to}"):
        await asyncio.sleep(0)
    await thank.submit()


@jobs.task(max_attempts=1)
def thank() -> None:
    with tracer.start_as_current_span("in a thread"):
        pass


@jobs.task(max_attempts=1)
async def stumble() -> None:
    raise ConnectionError("postgresql://ada:hush@db/x is away")


@jobs.task(max_attempts=1)
async def doze() -> None:
    raise Snooze(timedelta(hours=1))


async def main(url: str) -> None:
    async with await Queue.connect(url) as queue:
        jobs.use(queue)
        await jobs.register()
        with tracer.start_as_current_span("request"):
            await welcome.submit("ada")
            await stumble.submit()
            await doze.submit()
        await Worker(queue, jobs).run_until_empty()
    json.dump([json.loads(span.to_json()) for span in exporter.get_finished_spans()], sys.stdout)


asyncio.run(main(sys.argv[1]))
