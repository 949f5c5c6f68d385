"""Checks the larger instances of the models: `make model`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.model.instances import LARGE, SMALL
from tests.model.spin import is_installed, verify


def main() -> int:
    if not is_installed():
        sys.stderr.write("This needs spin and gcc: apt-get install spin gcc\n")
        return 1
    is_broken = False
    for instance in (*SMALL, *LARGE):
        with TemporaryDirectory() as directory:
            verdict = verify(instance, Path(directory), seconds=3600)
        is_whole = verdict.is_complete and verdict.broken is None
        is_broken |= not is_whole
        outcome = "every property holds" if is_whole else verdict.broken or "not all of it was looked at"
        sys.stdout.write(
            f"{instance!s:60} {verdict.states:>11,} states {verdict.seconds:7.1f} s  {outcome}\n"
        )
        sys.stdout.flush()
        if verdict.broken:
            sys.stdout.write(verdict.trail)
    return int(is_broken)


if __name__ == "__main__":
    sys.exit(main())
