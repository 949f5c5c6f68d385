"""The steps of deploy/Dockerfile, and a machine that takes them: a directory tree and chroot."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
CHROOT = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin") or "chroot"
KNOWN = {
    "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD",
}  # fmt: skip


@dataclass
class Stage:
    """One FROM and what follows it."""

    base: str
    name: str | None
    steps: list[tuple[str, str]] = field(default_factory=list)

    def last(self, instruction: str) -> str | None:
        return next((text for name, text in reversed(self.steps) if name == instruction), None)

    def command(self, instruction: str) -> list[str]:
        """An exec form, as ENTRYPOINT and CMD have."""
        found: list[str] = json.loads(self.last(instruction) or "[]")
        return found


def stages() -> list[Stage]:
    text = re.sub(r"\\\n\s*", " ", DOCKERFILE.read_text(encoding="utf-8"))
    found: list[Stage] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        instruction, _, rest = line.partition(" ")
        assert instruction in KNOWN, line
        if instruction == "FROM":
            base, _, name = rest.partition(" AS ")
            found.append(Stage(base, name or None))
        else:
            found[-1].steps.append((instruction, rest))
    return found


def sources(copy: str) -> tuple[str | None, list[str], str]:
    """From which stage, what, and to where a COPY copies."""
    words = shlex.split(copy)
    stage = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else None
    return stage, words[:-1], words[-1]


class Tree:
    """What a stage makes of a base, a step at a time."""

    def __init__(self, root: Path, network: Mapping[str, str]) -> None:
        self.root = root
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/"}
        self.directory = "/"
        self.user = "0:0"
        self._network = network

    def take(self, stage: Stage, others: Mapping[str, Tree]) -> Tree:
        for instruction, text in stage.steps:
            if instruction == "WORKDIR":
                self.directory = text
                self.at(text).mkdir(parents=True, exist_ok=True)
            elif instruction == "ENV":
                self.environment |= dict(word.split("=", 1) for word in shlex.split(text))
            elif instruction == "USER":
                self.user = text
            elif instruction == "COPY":
                self._copy(text, others)
            elif instruction == "RUN":
                self.run(["/bin/sh", "-c", text], self._network)
        return self

    def at(self, path: str) -> Path:
        return self.root / str(Path(self.directory, path)).lstrip("/")

    def command(self, words: Sequence[str]) -> list[str]:
        inside = f"cd {shlex.quote(self.directory)} && exec {shlex.join(words)}"
        return [CHROOT, f"--userspec={self.user}", str(self.root), "/bin/sh", "-c", inside]

    def run(self, words: Sequence[str], more: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            self.command(words),
            env={**self.environment, **(more or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    def _copy(self, text: str, others: Mapping[str, Tree]) -> None:
        stage, names, to = sources(text)
        for name in names:
            source = others[stage].root / name.lstrip("/") if stage else ROOT / name
            target = self.at(to)
            if to.endswith("/"):
                target = target / source.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target, symlinks=True, ignore=ignored, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)


def network() -> dict[str, str]:
    """How this machine reaches a package index, which a build on it may use too."""
    wanted = ("_proxy", "_PROXY", "PIP_", "SSL_CERT_FILE")
    return {
        name: value for name, value in os.environ.items() if name.startswith(wanted) or name.endswith(wanted)
    }
