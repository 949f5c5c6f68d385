"""What the guarantees name is there: functions, tests, models and their seeded mistakes."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/guarantees.md").read_text()
SQL = "".join(path.read_text() for path in sorted((ROOT / "sql/postgres").rglob("*.sql")))


def test_every_function_of_the_guarantees_exists():
    named = set(re.findall(r"`(_[a-z_]+|[a-z]+_[a-z_]+)(?:\(\))?`", TEXT))
    tables = set(re.findall(r"create table pgjobs\.(\w+)|create (?:constraint )?trigger (\w+)", SQL))
    known = {name for pair in tables for name in pair} | set(
        re.findall(r"create function pgjobs\.(\w+)", SQL)
    )
    settings = {"synchronous_commit", "pg_snapshot_xmax"}
    assert len(named) > 30
    assert named - known - settings - set(re.findall(r"'(\w+)'", SQL)) == set()


def test_every_test_of_the_guarantees_exists():
    named = set(re.findall(r"`(\w+/test_\w+\.py)`", TEXT))
    assert len(named) > 25
    assert [name for name in sorted(named) if not (ROOT / "tests" / name).exists()] == []


def test_every_seeded_mistake_of_the_guarantees_is_in_the_model():
    model = (ROOT / "tests/model/edges.pml").read_text()
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", TEXT))
    assert len(named) > 8
    assert [name for name in sorted(named) if f"#ifdef {name}" not in model] == []


def test_every_promise_names_what_keeps_it_and_how_it_is_tested():
    rows = [
        line.strip("|").split("|") for line in TEXT.split("\n## ")[0].splitlines() if line.startswith("| ")
    ]
    promises = [[cell.strip() for cell in row] for row in rows[1:]]
    assert len(promises) >= 25
    assert [row[0] for row in promises if len(row) != 5 or not row[1] or ".py" not in row[3]] == []
