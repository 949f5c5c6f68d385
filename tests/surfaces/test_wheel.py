"""What is installed holds everything that is served and run, and the licences of what is not ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
FOR_DEVELOPERS = {".sqlfluff", "schema.txt"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    built = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [path] = built.glob("*.whl")
    return ZipFile(path)


def files_of(*places: str) -> dict[str, Path]:
    """What the repository has in these places, by the name it should have in the wheel."""
    found = {}
    for place in places:
        for path in (ROOT / place).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.name not in FOR_DEVELOPERS:
                name = path.relative_to(ROOT).as_posix()
                found[name.removeprefix("src/") if name.startswith("src/") else f"pgjobs/{name}"] = path
    return found


def test_it_holds_the_console_the_sql_and_the_types(wheel: ZipFile):
    held = set(wheel.namelist())
    expected = files_of("src/pgjobs", "sql")
    assert set(expected) - held == set()
    for name in (
        "pgjobs/server/console/index.html",
        "pgjobs/server/console/style/tokens.css",
        "pgjobs/py.typed",
    ):
        assert name in held
    for name, path in expected.items():
        assert wheel.read(name) == path.read_bytes(), name


def test_it_holds_nothing_else(wheel: ZipFile):
    known = files_of("src/pgjobs", "sql")
    others = [name for name in wheel.namelist() if name not in known and ".dist-info/" not in name]
    assert others == []


def test_vendored_libraries_come_with_their_licences(wheel: ZipFile):
    manifest = json.loads(wheel.read("pgjobs/server/console/vendor/manifest.json"))
    assert manifest
    for entry in manifest:
        assert wheel.read(f"pgjobs/server/console/vendor/{entry['file']}") is not None
        assert wheel.read(f"pgjobs/server/console/vendor/{entry['licence_file']}").strip()
    [licence] = [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]
    assert b"MIT" in wheel.read(licence)
