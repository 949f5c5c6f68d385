"""Whether version, changelog and tag speak of one release: `make release`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADING = re.compile(r"^## (?P<version>\d+\.\d+\.\d+) \((?P<date>\d{4}-\d{2}-\d{2})\)$", re.MULTILINE)


def problems(root: Path) -> list[str]:
    """What is in the way of releasing what is checked out in `root`."""
    version = re.search(r'^VERSION = "(.+)"$', (root / "src/pgjobs/version.py").read_text(), re.MULTILINE)
    released = HEADING.search((root / "CHANGELOG.md").read_text())
    if version is None or released is None:
        return ["CHANGELOG.md has no heading like ## 1.2.3 (2030-01-31), or version.py has no VERSION"]
    found = []
    if version[1] != released["version"]:
        found.append(
            f"version.py says {version[1]}, the newest release in CHANGELOG.md is {released['version']}"
        )
    if _git(root, "status", "--porcelain"):
        found.append("there are changes that are not committed")
    tag = f"v{version[1]}"
    if _git(root, "tag", "--list", tag) and tag not in _git(root, "tag", "--points-at", "HEAD").split():
        found.append(f"{tag} is there already, on another commit: raise the version")
    return found


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)  # noqa: S603, S607
    return done.stdout.strip()


def main() -> int:
    """Prints what is in the way, or the command that makes the tag."""
    found = problems(ROOT)
    for problem in found:
        sys.stderr.write(f"Not ready: {problem}\n")
    if not found:
        version = re.search(r'^VERSION = "(.+)"$', (ROOT / "src/pgjobs/version.py").read_text(), re.MULTILINE)
        sys.stdout.write(f"Ready: git tag -a v{version[1] if version else ''}\n")
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
