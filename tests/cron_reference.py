"""What cron means by another implementation than ours: what tests hold the SQL against."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from pgjobs.queue.cron import fields


def next_time(cron: str, timezone: str, after: datetime) -> datetime | None:
    """The next time an expression names, None if none comes in fifty years."""
    try:
        times = CronSim(fields(cron), after.astimezone(ZoneInfo(timezone)))
        # Where clocks are set back, cronsim may name a time that is over.
        return next((utc for time in times if (utc := time.astimezone(UTC)) > after), None)
    except CronSimError:
        return None
