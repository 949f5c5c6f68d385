"""Runs a Spin model: exhaustively, in a directory of its own, with what was found told in a sentence."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_COMPILER = ("-w", "-DSAFETY", "-DMEMLIM=8000")


@dataclass(frozen=True)
class Instance:
    """A model with the sizes and the seeded mistake it is checked with."""

    model: str
    defines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.model, *self.defines))


@dataclass(frozen=True)
class Verdict:
    """What Spin says: the property that is broken, if any, and how much was looked at."""

    broken: str | None
    states: int
    seconds: float
    is_complete: bool
    trail: str = ""


def is_installed() -> bool:
    return shutil.which("spin") is not None and shutil.which("gcc") is not None


def verify(instance: Instance, directory: Path, *, seconds: float = 600) -> Verdict:
    """Looks at every state that the instance can reach, or ends at the first that breaks a property."""
    model = shutil.copy(HERE / f"{instance.model}.pml", directory)
    defines = [f"-D{define}" for define in instance.defines]
    _run(["spin", "-a", *defines, str(model)], directory, 60)
    # The optimiser takes longer than it saves where a mistake is found at once.
    effort = "-O0" if _is_seeded(instance) else "-O1"
    _run(["gcc", effort, *_COMPILER, "-o", "pan", "pan.c"], directory, 300)
    said = _run(["./pan", "-m1000000"], directory, seconds)
    broken = re.search(r"^pan:\d+: (.*) \(at depth", said, re.MULTILINE)
    trail = _run(["spin", "-t", "-p", *defines, str(model)], directory, 60) if broken else ""
    return Verdict(
        broken=broken[1] if broken else None,
        states=int(float(_found(r"([\d.e+]+) states, stored", said))),
        seconds=float(_found(r"elapsed time ([\d.e+-]+) seconds", said)),
        is_complete="Search not completed" not in said and "max search depth too small" not in said,
        trail=trail,
    )


def _is_seeded(instance: Instance) -> bool:
    return any("=" not in define for define in instance.defines)


def _found(pattern: str, said: str) -> str:
    found = re.search(pattern, said)
    assert found is not None, said
    return found[1]


def _run(command: list[str], directory: Path, seconds: float) -> str:
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, check=False, timeout=seconds
    )
    assert done.returncode == 0 or command[0] != "gcc", done.stderr
    assert "syntax error" not in done.stdout, done.stdout
    return done.stdout
