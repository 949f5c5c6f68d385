"""The units of deploy/systemd, as systemd itself judges them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.dockerfile import ROOT

UNITS = ROOT / "deploy" / "systemd"
STARTED = [
    "pgjobs-server.service",
    "pgjobs-worker@shop.service",
    "pgjobs-sweep.service",
    "pgjobs-sweep.timer",
]
SYSTEM = ("/usr/lib/systemd/system", "/lib/systemd/system")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with these units and the program, and otherwise this one's."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("not installed: systemd")
    units = tmp_path / "etc/systemd/system"
    shutil.copytree(UNITS, units)
    program = tmp_path / "opt/pgjobs/bin/pgjobs"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    system = tmp_path / "usr/lib/systemd/system"
    system.parent.mkdir(parents=True)
    shutil.copytree(next(path for path in map(Path, SYSTEM) if path.is_dir()), system, symlinks=True)
    return tmp_path


def analyze(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", f"--root={root}", "--no-pager", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=root, timeout=60)


def test_systemd_finds_nothing_wrong_with_the_units(root: Path):
    judged = analyze(root, "verify", *STARTED)
    assert (judged.returncode, judged.stdout + judged.stderr) == (0, "")


def test_systemd_finds_a_misspelled_setting(root: Path):
    unit = root / "etc/systemd/system/pgjobs-server.service"
    unit.write_text(unit.read_text().replace("ProtectHome=", "ProtectHouse="))
    assert "ProtectHouse" in analyze(root, "verify", "pgjobs-server.service").stderr


@pytest.mark.parametrize("unit", [unit for unit in STARTED if unit.endswith(".service")])
def test_the_services_are_hardened(root: Path, unit: str):
    judged = analyze(root, "security", "--offline=true", unit)
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", judged.stdout)
    assert exposure is not None, judged.stderr
    assert float(exposure[1]) < 2


def test_a_worker_has_time_to_finish():
    unit = (UNITS / "pgjobs-worker@.service").read_text()
    grace, stop = re.search(r"--grace (\d+)", unit), re.search(r"TimeoutStopSec=(\d+)", unit)
    assert grace is not None
    assert stop is not None
    assert int(stop[1]) > int(grace[1])
