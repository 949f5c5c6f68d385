"""The adapter for a public harness tells what the harness asks for, at the rate that it was given."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).parents[2] / "benchmarks" / "adapters" / "pgjobs-bench"
METRICS = {
    "claim_p50_ms", "claim_p95_ms", "claim_p99_ms", "enqueue_rate", "completion_rate", "queue_depth",
    "producer_target_rate",
}  # fmt: skip


async def test_the_adapter_works_at_the_rate_it_is_given_and_ends_when_asked(empty_database_url: str) -> None:
    manifest = json.loads((HERE / "adapter.json").read_text())
    adapter = await asyncio.create_subprocess_exec(
        sys.executable,
        str(HERE / "main.py"),
        env={
            **os.environ,
            "DATABASE_URL": empty_database_url,
            "PRODUCER_RATE": "50",
            "SAMPLE_EVERY_S": "1",
            "JOB_WORK_MS": "0",
        },
        stdout=asyncio.subprocess.PIPE,
    )
    assert adapter.stdout is not None
    try:
        async with asyncio.timeout(90):
            described = json.loads(await adapter.stdout.readline())
            assert described["kind"] == "descriptor"
            assert set(described["event_tables"]) >= set(manifest["event_tables"])
            seen: dict[str, float] = {}
            while METRICS - seen.keys() or not seen["completion_rate"] or not seen["claim_p50_ms"]:
                sample = json.loads(await adapter.stdout.readline())
                assert (sample["system"], sample["subject_kind"]) == (manifest["system"], "adapter")
                seen[sample["metric"]] = sample["value"]
        assert seen["producer_target_rate"] == 50
        assert seen["claim_p50_ms"] <= seen["claim_p95_ms"] <= seen["claim_p99_ms"]
        adapter.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            assert await adapter.wait() == 0
    finally:
        if adapter.returncode is None:
            adapter.kill()
            await adapter.wait()
