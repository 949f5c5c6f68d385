"""docs/limits.md works as written: commands, programs and statements."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import asyncpg

from pgjobs.queue.queue import Queue
from tests.surfaces.cli.commands import ROOT
from tests.surfaces.cli.guides import Guide

GUIDE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")


def test_the_commands_work_in_their_order(empty_database_url: str, tmp_path: Path):
    done = Guide("limits.md", {"postgresql://localhost/mydb": empty_database_url}).run(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert re.search(r"^max_running_per_key\s+3$", done.stdout, re.MULTILINE)
    assert '{"acme": 5}' in done.stdout


async def test_every_statement_runs(database_url: str):
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "shop", "deliver")
        await queue.register_job("@global", "search", "index")
    connection = await asyncpg.connect(database_url)
    blocks = re.findall(r"```sql\n(.*?)```", GUIDE, re.DOTALL)
    answers = [
        await connection.fetch(statement) for block in blocks for statement in block.splitlines() if statement
    ]
    await connection.close()
    assert len(answers) == 12
    outcomes = [row["outcome"] for answer in answers for row in answer if "outcome" in row.keys()]  # noqa: SIM118
    assert outcomes == ["new", "replaced"]


def test_the_program_with_unique_tasks_says_what_it_says(tmp_path: Path):
    path = tmp_path / "index.py"
    path.write_text(Guide("limits.md").files["index.py"])
    program = runpy.run_path(str(path))
    assert program["hourly"].options.of_unique()["unique_while"] == "period"
    assert program["settled"].options.of_unique().keys() == {"unique_fields", "debounce", "max_wait"}
