"""Schedules with two and a half days behind them: runs that went well, failed, were left out or asked for."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Worker

if TYPE_CHECKING:
    from tests.console.staging import Time

HOUR = timedelta(hours=1)
BERLIN = ZoneInfo("Europe/Berlin")
AGO = 62 * HOUR + 40 * HOUR / 60
THUMBNAILS = "studio:refresh-thumbnails"
SCHEDULES: dict[str, dict[str, Any]] = {
    "refresh-thumbnails": {"every": 6 * HOUR, "overlap": False, "payload": {"gallery": "front page"}},
    "nightly-backup": {"cron": "30 2 * * *"},
    "month-end": {"cron": "0 6 1 * *", "timezone": BERLIN.key, "missed": "each"},
}
"""By name; their jobs are the stage's."""


async def stage_schedules(
    queue: Queue, time: Time, jobs: dict[str, str], mailer: Worker, renderer: Worker
) -> None:
    await time.set(AGO)
    # Not due while somebody looks.
    later = datetime.now(BERLIN) + 5 * HOUR
    schedules = {**SCHEDULES, "daily-mail": {"cron": f"0 {later.hour} * * *", "timezone": BERLIN.key}}
    for name, options in schedules.items():
        await queue.register_schedule(name, jobs[name], actor="ops", **options)
    backup = (await queue.get_job(jobs["nightly-backup"])).id
    for hour in range(int(AGO / HOUR)):
        await time.pass_by(3600)
        await queue.fire_schedules()
        await _work(queue, holder="agent", lease=HOUR, job_ids=[backup])
        await _work(queue, mailer.id)
        if hour == 40:
            await queue.run_schedule(THUMBNAILS, actor="ops", reason="new pictures came")
        # One run takes longer than there is time until the next.
        if not 29 <= hour < 36:
            await _work(queue, renderer.id, error="OSError: no space left on device" if hour == 47 else None)
    await queue.pause_schedule("lab:nightly-backup", actor="ops", reason="the disk is being replaced")


async def _work(queue: Queue, worker: Any = None, *, error: str | None = None, **claim: Any) -> None:
    leases = await queue.claim_tasks(worker, quantity=9, start=True, **claim)
    if error is not None:
        await queue.fail_tasks(leases, [error] * len(leases), retryable=[False] * len(leases))
    else:
        await queue.complete_tasks(leases, [{"ok": True}] * len(leases))
