"""Cron in SQL: what expressions mean, where clocks change too, and that cronsim means the same."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from pgjobs.queue.cron import words
from tests.cron_reference import next_time

NEXT = "select pgjobs._next_cron_run($1, $2, $3)"
BERLIN = "Europe/Berlin"


@pytest.fixture
async def catalog(database_url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def following(catalog: Any, cron: str, timezone: str, after: str, quantity: int = 1) -> list[str]:
    """The next times as the clocks of that place show them, with their distance from UTC."""
    moment: datetime | None = datetime.fromisoformat(after).astimezone(UTC)
    shown = []
    for _ in range(quantity):
        moment = await catalog.fetchval(NEXT, cron, timezone, moment)
        if moment is None:
            break
        shown.append(moment.astimezone(ZoneInfo(timezone)).strftime("%Y-%m-%d %H:%M%z"))
    return shown


MEANINGS = {
    "every minute": (
        "* * * * *",
        "2026-11-17 04:58:30+00:00",
        ["2026-11-17 04:59+0000", "2026-11-17 05:00+0000"],
    ),
    "a minute that has just begun": ("0 5 * * *", "2026-11-17 05:00:00+00:00", ["2026-11-18 05:00+0000"]),
    "a second before": ("0 5 * * *", "2026-11-17 04:59:59+00:00", ["2026-11-17 05:00+0000"]),
    "steps": ("*/25 * * * *", "2026-11-17 04:26+00:00", ["2026-11-17 04:50+0000", "2026-11-17 05:00+0000"]),
    "a start and steps": (
        "5/25 * * * *",
        "2026-11-17 04:26+00:00",
        ["2026-11-17 04:30+0000", "2026-11-17 04:55+0000"],
    ),
    "names": (
        "0 9 * feb MON-fri",
        "2026-11-17 00:00+00:00",
        ["2027-02-01 09:00+0000", "2027-02-02 09:00+0000"],
    ),
    "seven is Sunday": ("0 0 * * 7", "2026-11-17 00:00+00:00", ["2026-11-22 00:00+0000"]),
    "either day": (
        "0 0 13 * FRI",
        "2026-11-17 00:00+00:00",
        ["2026-11-20 00:00+0000", "2026-11-27 00:00+0000"],
    ),
    "both days": (
        "0 0 */13 * FRI",
        "2026-11-17 00:00+00:00",
        ["2026-11-27 00:00+0000", "2027-01-01 00:00+0000"],
    ),
    "a leap day": (
        "0 0 29 2 *",
        "2026-11-17 00:00+00:00",
        ["2028-02-29 00:00+0000", "2032-02-29 00:00+0000"],
    ),
    "the last day": (
        "0 0 L * *",
        "2027-02-01 00:00+00:00",
        ["2027-02-28 00:00+0000", "2027-03-31 00:00+0000"],
    ),
    "the last weekday": (
        "0 0 LW * *",
        "2027-02-01 00:00+00:00",
        ["2027-02-26 00:00+0000", "2027-03-31 00:00+0000"],
    ),
    "the second Tuesday": ("0 0 * * 2#2", "2026-11-17 00:00+00:00", ["2026-12-08 00:00+0000"]),
    "the last Friday": (
        "0 0 * * 5L",
        "2026-11-17 00:00+00:00",
        ["2026-11-27 00:00+0000", "2026-12-25 00:00+0000"],
    ),
    "a word for a year": ("@yearly", "2026-11-17 00:00+00:00", ["2027-01-01 00:00+0000"]),
    "spaces": ("  0   9  *  *  *  ", "2026-11-17 00:00+00:00", ["2026-11-17 09:00+0000"]),
}


@pytest.mark.parametrize("case", MEANINGS)
async def test_an_expression_means_what_cron_means(catalog, case):
    cron, after, times = MEANINGS[case]
    assert await following(catalog, cron, "UTC", after, len(times)) == times


CHANGES = {
    "a skipped time comes when clocks have jumped": (
        "30 2 * * *", BERLIN, "2027-03-27 12:00+00:00", ["2027-03-28 03:00+0200", "2027-03-29 02:30+0200"],
    ),
    "two skipped times come as one": (
        "10,50 2 * * *", BERLIN, "2027-03-28 00:00+00:00", ["2027-03-28 03:00+0200", "2027-03-29 02:10+0200"],
    ),
    "a second before clocks jump": ("30 2 * * *", BERLIN, "2027-03-28 00:59:59+00:00", ["2027-03-28 03:00+0200"]),
    "a time shown twice comes once": (
        "30 2 * * *", BERLIN, "2027-10-30 12:00+00:00", ["2027-10-31 02:30+0200", "2027-11-01 02:30+0100"],
    ),
    "the second showing is passed by": ("30 2 * * *", BERLIN, "2027-10-31 01:10+00:00", ["2027-11-01 02:30+0100"]),
    "a star follows clocks that jump": (
        "*/30 * * * *", BERLIN, "2027-03-28 00:00+00:00",
        ["2027-03-28 01:30+0100", "2027-03-28 03:00+0200", "2027-03-28 03:30+0200"],
    ),
    "a star follows clocks that go back": (
        "*/30 2 * * *", BERLIN, "2027-10-30 23:30+00:00",
        ["2027-10-31 02:00+0200", "2027-10-31 02:30+0200", "2027-10-31 02:00+0100", "2027-10-31 02:30+0100",
         "2027-11-01 02:00+0100"],
    ),
    "half an hour is skipped": (
        "15 2 * * *", "Australia/Lord_Howe", "2027-10-02 00:00+00:00", ["2027-10-03 02:30+1100", "2027-10-04 02:15+1100"],
    ),
    "half an hour is repeated": (
        "*/15 1 * * *", "Australia/Lord_Howe", "2027-04-03 14:10+00:00",
        ["2027-04-04 01:15+1100", "2027-04-04 01:30+1100", "2027-04-04 01:45+1100", "2027-04-04 01:30+1030",
         "2027-04-04 01:45+1030"],
    ),
    "midnight is skipped": ("0 0 * * *", "America/Havana", "2027-03-13 12:00+00:00", ["2027-03-14 01:00-0400"]),
    "midnight is repeated": (
        "0 0 * * *", "America/Havana", "2027-11-06 12:00+00:00", ["2027-11-07 00:00-0400", "2027-11-08 00:00-0500"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
async def test_where_clocks_change_nothing_is_lost_or_done_twice(catalog, case):
    cron, timezone, after, times = CHANGES[case]
    assert await following(catalog, cron, timezone, after, len(times)) == times


@pytest.mark.parametrize(
    "cron",
    [
        "", "*", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8",
        "*/0 * * * *", "5-1 * * * *", "a * * * *", "-1 * * * *", "1- * * * *", "1, * * * *", ",1 * * * *", "1/ * * * *",
        "*-5 * * * *", "** * * * *", "* * * FOO *", "* * * * FRI-MON", "* * * * 1#6", "* * * * 1#0", "* * * * L", "* * W * *",
        "* * LL * *", "L * * * *", "@never", "@reboot", "1.5 * * * *", "123 * * * *", "* * * JAN#1 *", "* * * * FRIL",
    ],
)  # fmt: skip
async def test_what_is_no_expression_is_refused(catalog, cron):
    with pytest.raises(asyncpg.PostgresError) as refused:
        await catalog.fetchval(NEXT, cron, "UTC", datetime.now(UTC))
    assert refused.value.sqlstate == "PJ014"


def _field(chance: random.Random, low: int, high: int, specials: list[str]) -> str:
    def item() -> str:
        first, last = sorted(chance.sample(range(low, high + 1), 2))
        kinds = [
            "*",
            str(first),
            f"{first}-{last}",
            f"*/{chance.randint(1, high)}",
            f"{first}-{last}/{chance.randint(1, 9)}",
        ]
        return chance.choice([*kinds, f"{first}/{chance.randint(1, 20)}", *specials])

    return ",".join(item() for _ in range(chance.choice([1, 1, 1, 2, 3])))


def _expression(chance: random.Random) -> str:
    return " ".join(
        [
            _field(chance, 0, 59, []),
            _field(chance, 0, 23, []),
            chance.choice(["*", _field(chance, 1, 31, ["L", "LW"])]),
            chance.choice(["*", _field(chance, 1, 12, ["JAN", "MAR-JUN", "DEC"])]),
            chance.choice(["*", _field(chance, 0, 7, ["MON", "TUE-THU", "3#2", "SUN#1", "5L", "7L"])]),
        ]
    )


@pytest.mark.parametrize("timezone", ["UTC", BERLIN, "America/New_York", "Asia/Kolkata"])
async def test_expressions_mean_the_same_to_another_implementation(catalog, timezone):
    """Hundreds of expressions, from moments around which clocks change: cronsim and SQL agree."""
    chance = random.Random(f"cron {timezone}")
    moments = [
        datetime(2027, 3, 14, tzinfo=UTC),
        datetime(2027, 3, 28, tzinfo=UTC),
        datetime(2027, 10, 31, tzinfo=UTC),
    ]
    asked = []
    for _ in range(150):
        after = chance.choice([*moments, datetime(2028, 2, 1, tzinfo=UTC)])
        after += timedelta(seconds=chance.randint(-90000, 90000))
        asked.append((_expression(chance), after))
    rows = await catalog.fetch(
        "select pgjobs._next_cron_run(a.cron, $1, a.after) as at from unnest($2::text[], $3::timestamptz[])"
        " with ordinality as a (cron, after, place) order by a.place",
        timezone, [cron for cron, _ in asked], [after for _, after in asked],
    )  # fmt: skip
    expected = [next_time(cron, timezone, after) for cron, after in asked]
    assert sum(time is not None for time in expected) > 100
    assert [(one, row["at"]) for one, row in zip(asked, rows, strict=True)] == list(
        zip(asked, expected, strict=True)
    )


@pytest.mark.parametrize("cron", ["05-5/10 * * * *", "0 0 * JAN-01/3 *", "0 0 * * MON-1/2", "0 0 7-07/5 * *"])
async def test_a_range_of_one_is_that_one_whatever_its_step(catalog, cron):
    after = datetime(2027, 1, 15, 12, tzinfo=UTC)
    for _ in range(3):
        time = await catalog.fetchval(NEXT, cron, "UTC", after)
        assert next_time(cron, "UTC", after) == time
        after = time


async def test_numbers_named_again_and_again_are_meant_once(catalog):
    many = f"{'0-59,' * 18}7 {'0-23,' * 18}7 * * *"
    assert await catalog.fetchval("select cardinality((pgjobs._read_cron($1)).minutes)", many) == 60
    assert await following(catalog, many, "UTC", "2026-11-17 04:58:30+00:00") == ["2026-11-17 04:59+0000"]


@pytest.mark.parametrize("zone", ["UTC", BERLIN])
async def test_intervals_do_not_notice_the_clocks_of_a_session(catalog, zone):
    await catalog.execute(f"set timezone = '{zone}'")
    due = datetime(2026, 3, 28, 12, tzinfo=UTC)
    for after in (due, due + timedelta(hours=23, minutes=30)):
        next_run = await catalog.fetchval(
            "select pgjobs._next_run(null, $1, 'UTC', $2, $3)", timedelta(days=1), due, after
        )
        assert next_run == due + timedelta(days=1)


async def test_an_interval_of_months_is_refused_whatever_it_adds_up_to(catalog):
    await catalog.execute("select pgjobs.register_job('@global', 'tests', 'Work')")
    with pytest.raises(asyncpg.PostgresError, match="between a second and a year"):
        await catalog.execute(
            "select pgjobs.register_schedule('odd', '@global:tests:Work', every => '-1 month 31 days')"
        )


def test_schedules_are_told_in_words():
    assert words("30 2 * * *", None) == "At 02:30 every day"
    assert words("@hourly", None) == "At the start of every hour"
    assert words("0 9 * * mon-fri", None) == "At 09:00 on Monday through Friday"
    assert words(None, timedelta(seconds=1)) == "Every second"
    assert words(None, timedelta(seconds=90)) == "Every 90 seconds"
    assert words(None, timedelta(hours=2)) == "Every 2 hours"
    assert words(None, timedelta(days=1)) == "Every day"
    assert words(None, timedelta(seconds=1.5)) == "Every 1.5 seconds"
