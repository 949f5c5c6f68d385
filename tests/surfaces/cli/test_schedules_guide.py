"""docs/schedules.md works as written: commands, statements, and what it says of cron."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from pgjobs.queue.cron import words
from pgjobs.queue.queue import Queue
from tests.cron_reference import next_time
from tests.surfaces.cli.commands import ROOT
from tests.surfaces.cli.guides import Guide, needs
from tests.surfaces.processes import free_port

GUIDE = (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
BERLIN = ZoneInfo("Europe/Berlin")


def test_the_commands_work_in_their_order(empty_database_url: str, tmp_path: Path):
    needs("curl", "psql")
    changed = {"8787": str(free_port()), "postgresql://localhost/mydb": empty_database_url}
    done = Guide("schedules.md", changed).run(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    said = done.stdout.splitlines()
    assert "At 09:00 on Monday" in said
    assert "the sales of last week" in said
    assert '"the sales of this hour"' in said
    assert any(line.startswith("@global:nightly\t") for line in said)


@pytest.fixture
async def psql(database_url: str) -> AsyncIterator[Any]:
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "reports", "sales")
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def test_every_statement_runs(psql: Any):
    [block] = re.findall(r"```sql\n(.*?)```", GUIDE, re.DOTALL)
    statements = [line for line in block.splitlines() if line]
    answers = [await psql.fetch(statement) for statement in statements]
    assert len(answers) == 8
    assert all(answers)
    assert len(answers[2]) == 5


def test_expressions_mean_what_the_guide_says():
    rows = re.findall(r"^\| `([^`\s]+(?: [^`\s]+){4}|@\w+)` \| (.+) \|$", GUIDE, re.MULTILINE)
    assert len(rows) == 9
    assert [(cron, words(cron, None)) for cron, _ in rows] == rows


@pytest.mark.parametrize(
    ("cron", "after", "shown"),
    [
        ("30 2 * * *", "2026-03-28 12:00", ["03-29 03:00", "03-30 02:30"]),
        ("30 2 * * *", "2026-10-24 12:00", ["10-25 02:30", "10-26 02:30"]),
        ("*/30 * * * *", "2026-03-29 01:00", ["03-29 01:30", "03-29 03:00", "03-29 03:30"]),
        ("*/30 * * * *", "2026-10-25 01:30", ["10-25 02:00", "10-25 02:30", "10-25 02:00", "10-25 02:30"]),
    ],
)
def test_clocks_change_as_the_guide_says(cron: str, after: str, shown: list[str]):
    time = datetime.fromisoformat(after).replace(tzinfo=BERLIN).astimezone(UTC)
    seen = []
    for _ in shown:
        following = next_time(cron, "Europe/Berlin", time)
        assert following is not None
        time = following
        seen.append(time.astimezone(BERLIN).strftime("%m-%d %H:%M"))
    assert seen == shown
