"""What `make demo` and `make test` say while they install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.commands import ROOT, Program, environment

PIP = """
import sys, time
print("Obtaining file:///here")
print("Collecting asyncpg>=0.30 (from pgjobs-server)")
print("  Downloading asyncpg-0.31.0-cp311-cp311-manylinux.whl (3.5 MB)", flush=True)
time.sleep(0.3)
print("Collecting typer>=0.15 (from pgjobs-server)")
print("Installing collected packages: typer, asyncpg", flush=True)
time.sleep(0.3)
sys.exit({code})
"""
INSTALL = [sys.executable, str(ROOT / ".ci" / "install.py"), "cli"]


@pytest.fixture
def pip(tmp_path: Path) -> Path:
    """Stands in for the one that would install something."""
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(PIP.format(code=0))
    return tmp_path


def test_on_a_terminal_a_line_tells_what_is_being_installed(pip: Path):
    with Program(*INSTALL, PYTHONPATH=str(pip)) as terminal:
        assert terminal.end() == 0
    shown = terminal.shown
    steps = ["Installing pgjobs", "downloading asyncpg-0.31.0", "installing 2 packages", "Installed in "]
    assert [step for step in steps if step in shown] == steps
    assert [*map(shown.index, steps)] == sorted(map(shown.index, steps))


def test_in_a_pipe_it_is_said_in_two_lines_what_is_done(pip: Path):
    done = subprocess.run(
        INSTALL, env=environment(PYTHONPATH=str(pip)), capture_output=True, text=True, check=False
    )
    first, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (0, "")
    assert (first.startswith("Installing pgjobs"), last.startswith("Installed in ")) == (True, True)


def test_what_pip_said_is_shown_when_it_fails(pip: Path):
    (pip / "pip" / "__main__.py").write_text(PIP.format(code=3))
    done = subprocess.run(
        INSTALL, env=environment(PYTHONPATH=str(pip)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "Collecting typer>=0.15" in done.stderr
    assert "pip failed" in done.stderr
