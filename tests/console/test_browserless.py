"""Machines without a browser: what is tried to get one, and what becomes of the tests."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from subprocess import run

import pytest

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


@pytest.mark.parametrize("user", ["root", "somebody"])
def test_a_browser_that_cannot_be_installed_is_missed_with_the_reason(tmp_path: Path, user: str):
    for name in ("sh", "ls", "tail", "env"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    scripts = {"apt-get": APT, "sudo": SUDO, "id": f"#!/bin/sh\necho {0 if user == 'root' else 1000}\n"}
    for name, script in scripts.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"
    done = run(
        [tmp_path / "sh", ROOT / ".ci" / "chromium"],
        env={"PATH": str(tmp_path), "LOG": str(log)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.endswith("will be skipped. E: Unable to locate package chromium\n")
    assert "apt-get install -q -y --no-install-recommends chromium\n" in log.read_text()
    assert ("sudo -n" in log.read_text()) is (user != "root")


WITHOUT_PLAYWRIGHT = """
import sys, pytest
sys.modules["playwright"] = None
sys.exit(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", "--collect-only", *sys.argv[1:]]))
"""


def test_without_playwright_tests_that_need_a_browser_are_skipped_with_the_reason():
    here = ROOT / "tests" / "console"
    done = run(
        [sys.executable, "-c", WITHOUT_PLAYWRIGHT, here / "test_dialogs.py", here / "test_vendored.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "playwright is not installed" in done.stdout
    assert "test_vendored.py::" in done.stdout
