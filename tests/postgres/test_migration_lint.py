"""Migrations that would stop a busy queue are refused by the linter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SQUAWK = Path(sys.executable).with_name("squawk")

pytestmark = pytest.mark.skipif(not SQUAWK.exists(), reason="squawk-cli is not installed")


def lint(*files: Path) -> subprocess.CompletedProcess[str]:
    command = [str(SQUAWK), "--config", str(ROOT / ".squawk.toml"), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("create index tasks_by_room on pgjobs.tasks (room);", "require-concurrent-index-creation"),
        ("alter table pgjobs.tasks add constraint named check (room <> '');", "constraint-missing-not-valid"),
        ("alter table pgjobs.tasks alter column room set not null;", "adding-not-nullable-field"),
        ("alter table pgjobs.tasks alter column priority type integer;", "changing-column-type"),
    ],
)
def test_what_would_stop_everybody_is_refused(tmp_path: Path, sql: str, rule: str):
    file = tmp_path / "0002_more.sql"
    file.write_text(sql)
    done = lint(file)
    assert done.returncode == 1
    assert rule in done.stdout
