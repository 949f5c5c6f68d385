"""The list of mutations: what is replaced by what, why that would matter, and which tests ought to notice."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Mutation:
    """One small mistake."""

    area: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]

    @property
    def key(self) -> str:
        """Known again for as long as the mistake is the same."""
        return hashlib.sha256(f"{self.file}\x00{self.old}\x00{self.new}".encode()).hexdigest()[:12]

    def apply(self, root: Path) -> None:
        file = root / self.file
        file.write_text(file.read_text().replace(self.old, self.new))


def mutations() -> list[Mutation]:
    return [
        Mutation(path.stem, **{**entry, "tests": tuple(entry["tests"])})
        for path in sorted(HERE.glob("*.toml"))
        for entry in tomllib.loads(path.read_text())["mutation"]
    ]
