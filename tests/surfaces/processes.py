"""Servers and workers as processes of their own, to be stopped and killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.surfaces.rest_server import NO_TLS, SECRET

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """`pgjobs serve`, which can be killed and started again at the same address."""

    def __init__(self, database_url: str, **settings: str) -> None:
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self._environment = {
            **os.environ,
            "PGJOBS_DATABASE_URL": database_url,
            "PGJOBS_AUTH_SECRET": SECRET,
            "PYTHONPATH": str(ROOT / "src"),
            **settings,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, patience: float = 30) -> str:
        serve = "from pgjobs.cli import main; main()"
        command = [sys.executable, "-c", serve, "serve", "--port", str(self.port)]
        self._process = subprocess.Popen(command, env=self._environment, stderr=subprocess.DEVNULL)
        wait_until(self._is_ready, patience)
        return self.base

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        """The polite way, as a deploy does it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "the server did not start"
        try:
            return httpx.get(f"{self.base}/readyz", trust_env=False, verify=NO_TLS).is_success
        except httpx.HTTPError:
            return False

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


@contextmanager
def program(*command: Any) -> Iterator[subprocess.Popen[str]]:
    """A Python program that says a line when it is ready; killed in the end."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    process = subprocess.Popen(
        [sys.executable, *map(str, command)], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline(), "the program did not start"
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until(look: Callable[[], Any], patience: float = 30.0) -> Any:
    deadline = time.monotonic() + patience
    while not (seen := look()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return seen
