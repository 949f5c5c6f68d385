"""`make release` says what is in the way of a release, and gives the command for its tag when nothing is."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from pgjobs import __version__

ROOT = Path(__file__).parents[2]
RELEASED = "# Changelog\n\n## 0.2.0 (2030-02-01)\n\n- More.\n\n## 0.1.0 (2030-01-01)\n\n- Something.\n"


def checker():
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci/release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Tests", "-c", "user.email=tests@localhost", "-c", "tag.gpgSign=false")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, version: str, changelog: str) -> None:
    (root / "src/pgjobs/version.py").write_text(f'VERSION = "{version}"\n')
    (root / "CHANGELOG.md").write_text(changelog)
    git(root, "add", ".")
    git(root, "commit", "--no-gpg-sign", "--allow-empty", "-m", version)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that released 0.1.0 and is about to release 0.2.0."""
    (tmp_path / "src/pgjobs").mkdir(parents=True)
    git(tmp_path, "init", "-q")
    commit(tmp_path, "0.1.0", RELEASED.partition("## 0.2.0")[0])
    git(tmp_path, "tag", "-a", "v0.1.0", "-m", "0.1.0")
    commit(tmp_path, "0.2.0", RELEASED)
    return tmp_path


def test_a_project_whose_version_changelog_and_tags_agree_is_ready(project: Path):
    assert checker().problems(project) == []
    git(project, "tag", "-a", "v0.2.0", "-m", "0.2.0")
    assert checker().problems(project) == [], "the tag that it asked for changes nothing"


def test_a_version_without_a_date_is_not_released(project: Path):
    commit(project, "0.2.0", RELEASED.replace("2030-02-01", "unreleased"))
    assert checker().problems(project) == ["CHANGELOG.md gives 0.2.0 no date: write ## 0.2.0 (2030-01-31)"]


def test_what_changed_since_a_release_is_not_released_under_its_version(project: Path):
    commit(project, "0.1.0", RELEASED)
    found = checker().problems(project)
    assert found[0] == "version.py says 0.1.0, the newest section of CHANGELOG.md is 0.2.0"
    assert "v0.1.0 is there already, on another commit: raise the version" in found


def test_a_version_is_tagged_once_and_those_before_it_are_tagged(project: Path):
    git(project, "tag", "-a", "v0.2.0", "-m", "0.2.0")
    commit(project, "0.2.0", f"{RELEASED}- A word more.\n")
    assert checker().problems(project) == ["v0.2.0 is there already, on another commit: raise the version"]
    git(project, "tag", "-d", "v0.1.0", "v0.2.0")
    assert checker().problems(project) == ["0.1.0 is released and has no tag: git tag -a v0.1.0 COMMIT"]


def test_a_version_has_one_section_and_nothing_is_left_uncommitted(project: Path):
    commit(project, "0.2.0", f"{RELEASED}\n## 0.1.0 (2029-12-31)\n")
    (project / "more.txt").write_text("more")
    assert checker().problems(project) == [
        "CHANGELOG.md has two sections 0.1.0",
        "there are changes that are not committed",
    ]


def test_here_version_and_changelog_agree():
    module = checker()
    sections = list(module.HEADING.finditer((ROOT / "CHANGELOG.md").read_text("utf-8")))
    versions = [found["version"] for found in sections]
    assert versions[0] == __version__
    assert (len(set(versions)), versions[-1]) == (len(versions), "0.1.0")
    assert all(module.DATE.fullmatch(found["state"]) for found in sections[1:])
