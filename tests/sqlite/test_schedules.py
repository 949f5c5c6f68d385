"""A place that the machine no longer knows stops its own schedules, not those of others."""

from __future__ import annotations

from pgjobs.drivers import sqlite_functions


async def test_a_schedule_whose_time_zone_is_gone_is_paused_and_the_others_run(
    queue, clock, job, monkeypatch
):
    for name, timezone in (("lost", "Europe/Berlin"), ("kept", "UTC")):
        await queue.register_schedule(name, job, cron="0 * * * *", timezone=timezone)
    monkeypatch.setattr(sqlite_functions, "is_timezone", lambda place: place == "UTC")
    clock.advance(hours=1)
    assert (await queue.fire_schedules()).fired == 2
    lost = await queue.get_schedule("@global:lost")
    assert (lost.state, lost.next_run_at) == ("paused", None)
    assert "schedule_paused" in {event.kind for event in await queue.list_events()}
    clock.advance(hours=1)
    assert (await queue.fire_schedules()).fired == 1
