"""The pytest plugin, used as docs/testing.md says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server import PostgresServer

GUIDE = Path(__file__).parents[2] / "docs" / "testing.md"


def run_guide(directory: Path, *arguments: str) -> str:
    for name, program in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        (directory / name).write_text(program)
    (directory / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    ended = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr


def test_the_guide_works_on_sqlite(tmp_path: Path):
    assert "5 passed, 1 skipped" in run_guide(tmp_path, "--pgjobs-url", "sqlite")


def test_the_guide_works_on_a_server_one_has(tmp_path: Path, postgres_server: PostgresServer):
    assert "6 passed" in run_guide(tmp_path, "--pgjobs-url", postgres_server.url())


def test_the_guide_works_on_an_embedded_server(
    tmp_path: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("PGJOBS_TEST_URL", raising=False)
    assert "6 passed" in run_guide(tmp_path)


def test_the_plugin_imports_little():
    program = (
        "import sys, pgjobs.contrib.pytest_plugin; print('pydantic' in sys.modules, 'asyncpg' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["False", "False"]


USES_THE_URL = """
from pgjobs import sync

def test_a_manager(pgjobs_url):
    with sync.JobManager(pgjobs_url) as manager:
        assert manager.create_job("chatbooks", "default", "export")["status"] == "queued"
"""


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
def test_the_database_of_a_test_is_migrated_wherever_it_is(
    tmp_path: Path, request: pytest.FixtureRequest, place: str
):
    url = "sqlite" if place == "sqlite" else request.getfixturevalue("postgres_server").url()
    (tmp_path / "test_url.py").write_text(USES_THE_URL)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pgjobs-url", url]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in ended.stdout, ended.stdout
