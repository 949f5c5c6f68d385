"""The command line as people and programs run it: in a pipe, or on a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
Done = subprocess.CompletedProcess[str]


def environment(**more: str) -> dict[str, str]:
    """This process's, without anything that names a database."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PG", "DATABASE_URL"))
    }
    kept = {name: value for name, value in os.environ.items() if name == "PGJOBS_PG_BIN"}
    return inherited | kept | {"PYTHONPATH": str(ROOT / "src")} | more


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "pgjobs.cli", *map(str, arguments)]


def run(*arguments: object, stdin: str | None = "", cwd: Path | None = None, **more: str) -> Done:
    """In a pipe; nobody is there to answer questions."""
    return subprocess.run(
        command(*arguments),
        env=environment(**more),
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def start(*arguments: object, **more: Any) -> subprocess.Popen[str]:
    cwd = more.pop("cwd", None)
    return subprocess.Popen(
        command(*arguments),
        env=environment(**more),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def every_command() -> list[str]:
    """Their names, those of groups with two words."""
    import typer

    from pgjobs.cli.app import app

    group: Any = typer.main.get_command(app)
    return [
        f"{name} {part}".strip()
        for name, each in group.commands.items()
        for part in (getattr(each, "commands", None) or [""])
    ]


# The terminal is its own: the kernel tells it, and nobody else, when the window is closed.
# Tests that run without a terminal may be told to ignore that, and so would what they start.
OWNED = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGHUP, signal.{hangup})
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A command with a terminal of its own, 120 columns wide."""

    def __init__(
        self, *arguments: object, cwd: Path | None = None, hangup: str = "SIG_DFL", **more: str
    ) -> None:
        self._master, slave = pty.openpty()
        self._is_closed = False
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNED.format(hangup=hangup), *self._command(arguments)],
            env=environment(TERM="xterm-256color", COLUMNS="120", LINES="40", **more),
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    @staticmethod
    def _command(arguments: tuple[object, ...]) -> list[str]:
        return command(*arguments)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, text: str, patience: float = 60) -> str:
        deadline = time.monotonic() + patience
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            assert self._read(), self.shown
        return self.shown

    def end(self, patience: float = 60) -> int:
        """Reads to the end and gives the exit code."""
        deadline = time.monotonic() + patience
        while self._read():
            assert time.monotonic() < deadline, self.shown
        return self.process.wait(patience)

    def close(self) -> None:
        """The window is closed: its first process is told, and nobody can write to it."""
        os.close(self._master)
        self._is_closed = True

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 0.2)
        if not ready:
            return self.process.poll() is None
        try:
            news = os.read(self._master, 65536)
        except OSError:
            return False
        self.shown += news.decode(errors="replace")
        return bool(news)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if not self._is_closed:
            os.close(self._master)


class Program(Terminal):
    """Something else than pgjobs, with a terminal of its own."""

    @staticmethod
    def _command(arguments: tuple[object, ...]) -> list[str]:
        return [str(each) for each in arguments]
