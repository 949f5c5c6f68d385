"""Installs pgjobs with the extras named, into the environment of this Python, and says what it is doing."""

from __future__ import annotations

import re
import select
import subprocess
import sys
import time
from pathlib import Path

STEP = re.compile(
    r"^\s*(Collecting|Downloading|Building wheel for|Installing collected packages)\b:?\s*([^\s(,<>=;!]+)"
)
ROOT = Path(__file__).parents[1]
QUIET_SECONDS = 15


class Progress:
    """One line that changes on a terminal; in a pipe a line now and then."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._began = self._last = time.monotonic()
        self._packages: set[str] = set()
        self._doing = "asking for packages"

    def step(self, line: str) -> None:
        if (found := STEP.match(line)) is None:
            return
        verb, subject = found[1], Path(found[2]).name
        if verb == "Collecting":
            self._packages.add(subject.split("[")[0])
        everything = f"installing {len(self._packages)} packages"
        self._doing = everything if verb.startswith("Installing") else f"{verb.lower()} {subject}"

    def show(self) -> None:
        now = time.monotonic()
        text = f"{now - self._began:4.0f} s  {self._doing}"
        if self._is_terminal:
            sys.stderr.write(f"\r\x1b[K{text[:76]}")
            sys.stderr.flush()
        elif now - self._last >= QUIET_SECONDS:
            self._last = now
            sys.stderr.write(f"{text}\n")

    def end(self) -> None:
        line = f"Installed in {time.monotonic() - self._began:.0f} s.\n"
        sys.stderr.write(f"\r\x1b[K{line}" if self._is_terminal else line)


def main(extras: str) -> int:
    """Runs pip; what it says is shown whole only when it fails."""
    command = [sys.executable, "-m", "pip", "install", "--progress-bar=off", "--editable", f".[{extras}]"]
    sys.stderr.write(f"Installing pgjobs and its packages into {Path(sys.prefix).name}, once.\n")
    told, said = Progress(), []
    # Not buffered: what had been read already would not wake `select`.
    with subprocess.Popen(command, 0, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as pip:  # noqa: S603
        assert pip.stdout is not None
        try:
            while True:
                told.show()
                if not select.select([pip.stdout], [], [], 1)[0]:
                    continue
                if not (line := pip.stdout.readline()):
                    break
                said.append(line.decode(errors="replace"))
                told.step(said[-1])
        except BaseException:
            pip.terminate()
            raise
    if pip.returncode:
        sys.stderr.write(f"\n{''.join(said)}\npip failed: what it said is above.\n")
    else:
        told.end()
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
