"""Whether version, changelog and tags speak of one release: `make release`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADING = re.compile(r"^## (?P<version>\S+)(?: \((?P<state>.+)\))?$", re.MULTILINE)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def problems(root: Path) -> list[str]:
    """What is in the way of releasing what is checked out in `root`."""
    version = version_of(root)
    sections = [(found["version"], found["state"]) for found in HEADING.finditer(_changelog(root))]
    if version is None or not sections:
        return ["CHANGELOG.md has no heading like ## 1.2.3 (2030-01-31), or version.py has no VERSION"]
    newest, state = sections[0]
    versions = [name for name, _ in sections]
    twice = sorted({name for name in versions if versions.count(name) > 1})
    found = [f"CHANGELOG.md has two sections {name}" for name in twice]
    if version != newest:
        found.append(f"version.py says {version}, the newest section of CHANGELOG.md is {newest}")
    if not DATE.fullmatch(state or ""):
        found.append(f"CHANGELOG.md gives {newest} no date: write ## {newest} (2030-01-31)")
    if _git(root, "status", "--porcelain"):
        found.append("there are changes that are not committed")
    return [*found, *_problems_of_tags(root, version, versions)]


def _problems_of_tags(root: Path, version: str, versions: list[str]) -> list[str]:
    """A version is tagged once, where it was made; what people upgrade from can be checked out."""
    tags = set(_git(root, "tag", "--list").split())
    earlier = sorted(set(versions[1:]) - {version})
    untagged = [name for name in earlier if f"v{name}" not in tags]
    found = [f"{name} is released and has no tag: git tag -a v{name} COMMIT" for name in untagged]
    if f"v{version}" in tags and f"v{version}" not in _git(root, "tag", "--points-at", "HEAD").split():
        found.append(f"v{version} is there already, on another commit: raise the version")
    return found


def version_of(root: Path) -> str | None:
    found = re.search(
        r'^VERSION = "(.+)"$', (root / "src/pgjobs/version.py").read_text("utf-8"), re.MULTILINE
    )
    return found[1] if found else None


def _changelog(root: Path) -> str:
    return (root / "CHANGELOG.md").read_text("utf-8")


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)  # noqa: S603, S607
    return done.stdout.strip()


def main() -> int:
    """Prints what is in the way, or the command that makes the tag."""
    found = problems(ROOT)
    for problem in found:
        sys.stderr.write(f"Not ready: {problem}\n")
    if not found:
        sys.stdout.write(f"Ready: git tag -a v{version_of(ROOT)}\n")
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
