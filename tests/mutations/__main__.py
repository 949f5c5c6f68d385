"""Breaks the code in one place at a time, in a copy, and sees whether a test notices: `make mutate`.

What is known already is not tried again, so a run that was interrupted continues.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.mutations.catalog import HERE, ROOT, Mutation, mutations

RESULTS = HERE / "results.json"
REPORT = HERE / "results.md"
_ENDED = (1, 2)
"""What pytest says after failures and errors; with processes that test at the same time, 2 when it stopped at the first."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", default=[""], help="those whose file or reason has one of these texts"
    )
    parser.add_argument("--again", action="store_true", help="also what is known already")
    parser.add_argument("--minutes", type=float, default=240, help="begin none after so long")
    parser.add_argument("--workers", default="2", help="processes that test at the same time")
    wish = parser.parse_args()
    known: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    chosen = [one for one in mutations() if any(text in one.file or text in one.why for text in wish.only)]
    left = [one for one in chosen if wish.again or one.key not in known]
    until = time.monotonic() + wish.minutes * 60
    with TemporaryDirectory() as directory:
        copy = _copy(Path(directory) / "tree")
        for number, one in enumerate(left, 1):
            if time.monotonic() > until:
                break
            known[one.key] = _try(one, copy, wish.workers)
            _keep(known)
            _say(f"{number:>4} of {len(left)}  {known[one.key]['outcome']:12} {one.why}")
    _keep(known)
    survivors = [one for one in chosen if known.get(one.key, {}).get("outcome") not in (None, "caught")]
    _say("\n" + REPORT.read_text().split("\n\n")[1])
    return int(bool(survivors))


def _copy(target: Path) -> Path:
    """The files of the working tree as they are, without what git does not know."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


def _try(one: Mutation, copy: Path, workers: str) -> dict[str, Any]:
    began = time.monotonic()
    one.apply(copy)
    try:
        code, said = _test(one, copy, workers)
    finally:
        shutil.copy(ROOT / one.file, copy / one.file)
    failed = re.findall(r"^FAILED (\S+)", said, re.MULTILINE)
    # Errors without a failure are no test that noticed: nothing could be installed or imported.
    outcome = (
        "caught" if failed else "survived" if code == 0 else "broken" if code in _ENDED else "no verdict"
    )
    return {"outcome": outcome, "by": failed[:1], "seconds": round(time.monotonic() - began), "why": one.why}


def _test(one: Mutation, copy: Path, workers: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", "not sqlite"]
    command += ["-n", workers, *one.tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=900)
        except subprocess.TimeoutExpired:
            process.terminate()
            said, _ = process.communicate()
            return 124, said
    return process.returncode, said


def _keep(known: dict[str, dict[str, Any]]) -> None:
    """Results of mutations that are listed still, and a report of them."""
    listed = mutations()
    kept = {one.key: known[one.key] for one in listed if one.key in known}
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    REPORT.write_text(report(listed, kept))


def report(listed: list[Mutation], known: dict[str, dict[str, Any]]) -> str:
    outcomes = [known[one.key]["outcome"] for one in listed if one.key in known]
    lines = [
        "# Mutations", "",
        (f"{len(listed)} are listed, {len(outcomes)} were tried: {outcomes.count('caught')} caught,"
        f" {len(outcomes) - outcomes.count('caught')} not. `make mutate` tries those that are left."), "",
        "| what if | file | outcome |", "|---|---|---|",
        *(f"| {one.why} | `{one.file}` | {_told(known.get(one.key))} |" for one in listed), "",
    ]  # fmt: skip
    return "\n".join(lines)


def _told(known: dict[str, Any] | None) -> str:
    if known is None:
        return "not tried yet"
    by = known["by"][0].split("::")[-1].split("[")[0] if known["by"] else ""
    return f"caught: {by}" if known["outcome"] == "caught" else f"**{known['outcome']}**"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
