"""The session in docs/psql.md, replayed with psql; every shortcut runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from pgjobs.schema.binaries import find_program
from pgjobs.schema.release import sql_directory

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "psql.md").read_text(encoding="utf-8")
SHORTCUTS = sql_directory("postgres") / "psqlrc"
PROMPT = re.compile(r"^=> (.*)\n((?:(?!=> ).*\n)*)", re.MULTILINE)
NAMES = re.findall(r"^\\set (\w+) '(.*)'$", SHORTCUTS.read_text(encoding="utf-8"), re.MULTILINE)

PSQL = find_program("psql")
pytestmark = pytest.mark.skipif(PSQL is None, reason="psql is not installed")


def session() -> list[tuple[str, str]]:
    """Commands and what they print, as the guide shows them."""
    blocks = re.findall(r"```psql\n(.*?)```", GUIDE, re.DOTALL)
    return [(command, output) for block in blocks for command, output in PROMPT.findall(block)]


def psql(url: str, commands: list[str]) -> list[str]:
    """What each command prints, in one session."""
    script = "".join(f"{command}\n\\echo ~~~\n" for command in commands)
    done = subprocess.run(
        [str(PSQL), url, "--quiet", "--variable=VERBOSITY=default"],
        input=script,
        env={**os.environ, "PSQLRC": str(SHORTCUTS), "PGTZ": "UTC", "PAGER": ""},
        # Errors among the output, in order.
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split("~~~\n")[: len(commands)]


def plain(output: str) -> list[str]:
    """Without what differs each time: durations, public ids, and the widths of columns that hold them."""
    shown = re.sub(
        r"\b\d+ (?:ms|s)\b|\d\d:\d\d:\d\d\.\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "#", output
    )
    lines = (re.sub(r"-+", "-", re.sub(r" +", " ", line)).strip() for line in shown.splitlines())
    return [line for line in lines if line]


def test_the_session_prints_what_the_guide_shows(database_url):
    shown = session()
    assert len(shown) > 15
    printed = psql(database_url, [command for command, _ in shown])
    assert [(command, plain(output)) for (command, _), output in zip(shown, printed, strict=True)] == [
        (command, plain(output)) for command, output in shown
    ]


def test_every_shortcut_runs(database_url):
    arguments = {"why": "(1);", "search": "('task');", "task": "1;", "events": "1;"}
    names = [name for name, _ in NAMES if name not in ("watch", "SHOW_CONTEXT")]
    assert len(names) > 15
    printed = psql(database_url, [f":{name} {arguments.get(name, '')}" for name in names])
    assert {name: output for name, output in zip(names, printed, strict=True) if "ERROR" in output} == {}
    assert all(output.strip() for output in printed)


def test_the_guide_names_every_shortcut():
    assert {name for name, _ in NAMES} == set(re.findall(r"`:(\w+)", GUIDE))
