"""Worker processes for crash tests: start, stop, freeze and kill them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

_ROOT = Path(__file__).parents[2]


class Crew:
    """Worker processes that share a log file."""

    def __init__(
        self,
        url: str,
        log: Path,
        *,
        size: int,
        lease_seconds: float,
        seed: int = 0,
        worker: str = "tests.reliability.ledger_worker",
        root: Path = _ROOT,
    ) -> None:
        self._command = [sys.executable, "-m", worker, url, str(lease_seconds)]
        self._root = root
        path = os.pathsep.join([str(root / "src"), str(root)])
        self._environment = {**os.environ, "SEED": str(seed), "PYTHONPATH": path}
        self._log_path = log
        self._log = log.open("a")
        self._size = size
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        for _ in range(self._size):
            self.hire()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self._log.close()

    @property
    def log(self) -> str:
        return self._log_path.read_text()

    def hire(self, **environment: str) -> subprocess.Popen[bytes]:
        """One more, in the environment of the others but for what is named."""
        process = subprocess.Popen(
            self._command,
            cwd=self._root,
            env={**self._environment, **environment},
            stdout=self._log,
            stderr=self._log,
        )
        self.processes.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        self.processes.remove(process)

    def dismiss(self, process: subprocess.Popen[bytes]) -> int:
        """The polite way, as a deploy does it."""
        process.terminate()
        code = process.wait(30)
        self.processes.remove(process)
        return code
