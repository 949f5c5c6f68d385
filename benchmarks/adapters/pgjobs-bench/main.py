"""pgjobs for a public harness: submits at a given rate, works, and tells what it measured in lines of JSON.

Settings come in the environment (DATABASE_URL, PRODUCER_RATE, WORKER_COUNT, …), telemetry goes to stdout,
everything else to stderr. SIGTERM ends it.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import sys
import time
from collections import Counter, deque
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from pgjobs import Jobs, Queue, Worker, __version__

MANIFEST = json.loads((Path(__file__).parent / "adapter.json").read_text())
WINDOW = 30
_STEP = math.log(1.005)
"""Latencies are kept in classes half a percent wide, so memory is bounded whatever the rate."""
_OBSERVED_BY_ONE = ("queue_depth", "producer_target_rate")
_DEPTH = "select count(*) from pgjobs.ready"


def number(name: str, default: int) -> int:
    return int(float(os.environ.get(name) or default))


class Latencies:
    """Milliseconds of the last seconds, in classes, a counter for each second."""

    def __init__(self) -> None:
        self._seconds: deque[tuple[int, Counter[int]]] = deque(maxlen=WINDOW)

    def add(self, milliseconds: float) -> None:
        second = int(time.monotonic())
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append((second, Counter()))
        self._seconds[-1][1][int(math.log(max(milliseconds, 0.001)) / _STEP)] += 1

    def percentiles(self, *shares: float) -> list[float]:
        merged = Counter[int]()
        for second, counts in self._seconds:
            if second > time.monotonic() - WINDOW:
                merged += counts
        classes = sorted(merged.items())
        return [self._at(classes, share * merged.total()) for share in shares]

    def _at(self, classes: list[tuple[int, int]], rank: float) -> float:
        passed = 0
        for number, times in classes:
            passed += times
            if passed >= rank:
                return math.exp((number + 0.5) * _STEP)
        return 0.0


class Adapter:
    def __init__(self, queue: Queue, depth: asyncpg.Connection) -> None:
        self.queue, self._depth = queue, depth
        self.ended = asyncio.Event()
        self.latencies = Latencies()
        self.submitted = self.completed = self.depth = 0
        self.target = 0.0
        self.mode = os.environ.get("PRODUCER_MODE") or "fixed"
        self.batch = max(1, number("PRODUCER_BATCH_MAX", 128))
        self.tick = max(1, number("PRODUCER_BATCH_MS", 10)) / 1000
        self.every = max(1, number("SAMPLE_EVERY_S", 5))
        self.work = number("JOB_WORK_MS", 1) / 1000
        self.padding = "x" * max(0, number("JOB_PAYLOAD_BYTES", 256) - 40)
        self.jobs = Jobs()
        self.jobs.use(queue)
        self.job = self.jobs.task(category="bench", name="long_horizon")(self._handle)

    async def _handle(self, at: float, padding: str) -> None:
        self.latencies.add((time.time() - at) * 1000)
        if self.work:
            await asyncio.sleep(self.work)
        self.completed += 1

    async def run(self) -> None:
        self.emit(
            kind="descriptor",
            event_tables=MANIFEST["event_tables"],
            extensions=MANIFEST["extensions"],
            version=f"pgjobs {__version__}",
            schema_version=__version__,
            db_name=urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/"),
            started_at=_now(),
        )
        worker = Worker(self.queue, self.jobs, concurrency=number("WORKER_COUNT", 32))
        await worker.start()
        running = [asyncio.create_task(part()) for part in (self.produce, self.watch, self.sample)]
        await asyncio.wait([asyncio.create_task(self.ended.wait()), *running], return_when="FIRST_COMPLETED")
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(4):
                await worker.close()

    async def produce(self) -> None:
        """Credits the rate by the time that has really passed, however long a submit took."""
        credit, last = 0.0, time.monotonic()
        while True:
            await asyncio.sleep(max(0.0, last + self.tick - time.monotonic()))
            now = time.monotonic()
            if self.mode == "depth-target":
                credit, wanted = 0.0, max(0, number("TARGET_DEPTH", 1000) - self.depth)
            else:
                self.target = float(_rate())
                credit += self.target * (now - last)
                wanted = int(credit)
            last = now
            if quantity := min(self.batch, wanted):
                credit -= quantity if self.mode != "depth-target" else 0
                try:
                    await self.job.submit_many(
                        self.job.payload(at=time.time(), padding=self.padding) for _ in range(quantity)
                    )
                    self.submitted += quantity
                except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as problem:
                    print(f"not submitted: {problem}", file=sys.stderr, flush=True)

    async def watch(self) -> None:
        while True:
            try:
                self.depth = await self._depth.fetchval(_DEPTH)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as problem:
                print(f"depth not known: {problem}", file=sys.stderr, flush=True)
                with suppress(OSError, asyncpg.PostgresError):
                    self._depth = await asyncpg.connect(os.environ["DATABASE_URL"])
            await asyncio.sleep(0.2)

    async def sample(self) -> None:
        """At the seconds of the clock that divide, so that systems can be laid side by side."""
        before, then = (self.submitted, self.completed), time.monotonic()
        while True:
            await asyncio.sleep(self.every - time.time() % self.every)
            now, counts = time.monotonic(), (self.submitted, self.completed)
            p50, p95, p99 = self.latencies.percentiles(0.5, 0.95, 0.99)
            passed = max(now - then, 0.001)
            for metric, value, window in (
                ("claim_p50_ms", p50, WINDOW),
                ("claim_p95_ms", p95, WINDOW),
                ("claim_p99_ms", p99, WINDOW),
                ("enqueue_rate", (counts[0] - before[0]) / passed, self.every),
                ("completion_rate", (counts[1] - before[1]) / passed, self.every),
                ("queue_depth", float(self.depth), 0),
                ("producer_target_rate", self.target, 0),
            ):
                if metric not in _OBSERVED_BY_ONE or number("BENCH_INSTANCE_ID", 0) == 0:
                    self.emit(
                        t=_now(), kind="adapter", subject_kind="adapter", subject="", metric=metric,
                        value=value, window_s=float(window),
                    )  # fmt: skip
            before, then = counts, now

    def emit(self, **record: Any) -> None:
        line = {"system": MANIFEST["system"], "instance_id": number("BENCH_INSTANCE_ID", 0), **record}
        print(json.dumps(line), flush=True)


def _rate() -> int:
    """Phases of the harness change it by a file."""
    file = os.environ.get("PRODUCER_RATE_CONTROL_FILE")
    if file:
        with suppress(OSError, ValueError):
            return int(float(Path(file).read_text()))
    return number("PRODUCER_RATE", 800)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def main() -> None:
    scenario = os.environ.get("SCENARIO") or "long_horizon"
    url = os.environ["DATABASE_URL"]
    async with await Queue.connect(url) as queue:
        await queue.migrate()
        if scenario == "migrate_only":
            return
        if scenario != "long_horizon":
            raise SystemExit(f"There is no scenario {scenario}; there are long_horizon and migrate_only")
        adapter = Adapter(queue, await asyncpg.connect(url))
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(each, adapter.ended.set)
        await adapter.run()


if __name__ == "__main__":
    asyncio.run(main())
