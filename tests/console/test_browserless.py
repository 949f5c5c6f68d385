"""Machines without a browser: what is tried to get one, and what becomes of the tests."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from subprocess import run

import pytest

from tests.console.conftest import driver_problem

ROOT = Path(__file__).parents[2]
APT = """#!/bin/sh
echo "apt-get $*" >> "$LOG"
[ "$1" = install ] || exit 0
echo "Reading package lists..."
echo "E: Unable to locate package chromium" >&2
exit 100
"""
SUDO = """#!/bin/sh
echo "sudo $*" >> "$LOG"
shift
exec "$@"
"""


LOGGED = """#!/bin/sh
echo "$(basename $0) $*" >> "$LOG"
"""


class Machine:
    """One that has a shell, and of other programs only those that are given."""

    def __init__(self, directory: Path, user: str, **programs: str) -> None:
        self.log = directory / "log"
        self._directory = directory
        for name in ("sh", "ls", "tail", "env", "true", "basename"):
            (directory / name).symlink_to(str(shutil.which(name)))
        scripts = {
            "apt-get": APT, "sudo": SUDO, "id": f"#!/bin/sh\necho {0 if user == 'root' else 1000}\n", **programs,
        }  # fmt: skip
        for name, script in scripts.items():
            place = directory / "venv" / "bin" / name if name == "playwright" else directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(script)
            place.chmod(0o755)

    def look(self) -> str:
        """Looks for a browser, and gives what was said."""
        done = run(
            [self._directory / "sh", ROOT / ".ci" / "chromium", self._directory / "venv"],
            env={"PATH": str(self._directory), "LOG": str(self.log)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.mark.parametrize("user", ["root", "somebody"])
def test_a_browser_that_cannot_be_installed_is_missed_with_the_reason(tmp_path: Path, user: str):
    machine = Machine(tmp_path, user)
    assert machine.look() == (
        "Installing with apt-get, for the console's tests: chromium libatomic1\n"
        "Not installed: chromium libatomic1; the console's tests will be skipped. E: Unable to locate package chromium\n"
    )
    assert "apt-get install -q -y --no-install-recommends chromium libatomic1\n" in machine.log.read_text()
    assert ("sudo -n" in machine.log.read_text()) is (user != "root")


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        (["chromium"], "libatomic1"),
        (["playwright"], "chromium"),
    ],
)
def test_what_is_missing_is_installed_and_named(tmp_path: Path, there: list[str], wanted: str):
    machine = Machine(tmp_path, "root", **dict.fromkeys([*there, "apt-get"], LOGGED))
    assert machine.look() == f"Installing with apt-get, for the console's tests: {wanted}\n"
    assert machine.log.read_text().endswith(f"install -q -y --no-install-recommends {wanted}\n")


def test_nothing_is_installed_where_all_is_there(tmp_path: Path):
    machine = Machine(tmp_path, "root", **dict.fromkeys(["chromium", "playwright", "apt-get"], LOGGED))
    assert machine.look() == ""
    assert "apt-get" not in machine.log.read_text()


def test_who_may_not_install_is_told_what_root_would_do(tmp_path: Path):
    machine = Machine(tmp_path, "somebody", sudo="#!/bin/sh\nexit 1\n", **{"apt-get": LOGGED})
    assert machine.look() == (
        "Not installed: chromium libatomic1; the console's tests will be skipped. "
        "Only root may: apt-get install chromium libatomic1\n"
    )
    assert not machine.log.exists()


@pytest.mark.parametrize("target", ["demo", "install", "lint", "check", "test"])
def test_only_make_test_installs_packages_of_the_system(target: str):
    planned = run(
        ["make", "--dry-run", "--no-print-directory", "--always-make", "VENV=.nowhere", target],
        cwd=ROOT, env={**os.environ, "MAKEFLAGS": ""}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ".ci/install.py" in planned.stdout
    assert (".ci/chromium" in planned.stdout) is (target == "test")


def test_the_demo_installs_no_tools_of_developers():
    planned = run(
        ["make", "--dry-run", "--no-print-directory", "VENV=.nowhere", "demo"],
        cwd=ROOT, env={**os.environ, "MAKEFLAGS": ""}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "install.py sync,server,client,cli,embedded\n" in planned.stdout


WITHOUT_PLAYWRIGHT = """
import sys, pytest
sys.modules["playwright"] = None
sys.exit(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", "--collect-only", *sys.argv[1:]]))
"""


def test_without_a_library_of_playwrights_node_tests_are_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    driver = pytest.importorskip("playwright._impl._driver", reason="playwright is not installed")
    node = tmp_path / "node"
    said = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file"
    node.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 127\n")
    node.chmod(0o755)
    monkeypatch.setattr(driver, "compute_driver_executable", lambda: (str(node), "cli.js"))
    assert driver_problem() == "it needs the package libatomic1"


def test_without_playwright_tests_that_need_a_browser_are_skipped_with_the_reason():
    here = ROOT / "tests" / "console"
    done = run(
        [sys.executable, "-c", WITHOUT_PLAYWRIGHT, here / "test_dialogs.py", here / "test_vendored.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "playwright is not installed" in done.stdout
    assert "test_vendored.py::" in done.stdout
