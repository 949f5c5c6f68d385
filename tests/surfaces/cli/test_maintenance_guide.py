"""Every program and command of docs/maintenance.md runs as written."""

from __future__ import annotations

import re
from pathlib import Path

import asyncpg

from pgjobs.cli.app import COMMANDS
from tests.surfaces.cli.commands import ROOT
from tests.surfaces.cli.guides import Guide


async def test_the_guide_to_maintenance_works(database_url: str, tmp_path: Path):
    backups = tmp_path / "backups"
    guide = Guide("maintenance.md", {'"/srv/backups"}\n\n\n': f'"{backups}"}}\n\n\n'})
    here = tmp_path / "here"
    here.mkdir()
    done = guide.run(here, PGJOBS_DATABASE_URL=database_url)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert "Attempted 1." in done.stderr
    assert "deleted" in done.stdout
    assert "attempted 0" in done.stdout
    assert [path.name for path in backups.iterdir()] == ["lab:backups:nightly"]
    assert list((backups / "lab:backups:nightly").iterdir()) == []
    text = (ROOT / "docs" / "maintenance.md").read_text()
    connection = await asyncpg.connect(database_url)
    for block in re.findall(r"^```sql\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for statement in filter(str.strip, block.split(";")):
            assert await connection.fetch(statement), statement
    await connection.close()


def test_the_shell_knows_the_commands_of_the_guide():
    text = (ROOT / "docs" / "maintenance.md").read_text()
    named = set(re.findall(r"pgjobs cleanup ([\w-]+)", text))
    known = COMMANDS["cleanup"].load("cleanup").commands
    assert named
    assert named <= set(known)
