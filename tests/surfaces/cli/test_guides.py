"""Every command of docs/operations.md and docs/cli.md runs as written."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError
from tests.server import new_home
from tests.surfaces.cli.commands import ROOT, every_command
from tests.surfaces.cli.guides import Guide, needs, quoted
from tests.surfaces.processes import free_port


@pytest.fixture
def home() -> Iterator[Path]:
    home = new_home()
    home.chmod(0o777)
    yield home
    shutil.rmtree(home)


@pytest.fixture
def server(home: Path) -> Iterator[EmbeddedPostgres]:
    try:
        with EmbeddedPostgres(home / "server", options={"max_connections": "60"}) as server:
            configuration = server.data / "postgresql.conf"
            # The standby is a copy, and has no socket directory of its own either.
            configuration.write_text(configuration.read_text() + "\nunix_socket_directories = ''\n")
            yield server
    except EmbeddedPostgresError as error:
        pytest.skip(str(error))


@pytest.mark.long
def test_the_operations_guide_works_from_installing_to_failover(home: Path, server: EmbeddedPostgres):
    needs("psql", "pgbouncer", "pg_dump", "curl")
    standby = free_port()
    guide = Guide(
        "operations.md",
        {
            "5432": str(server.port),
            "5433": str(standby),
            "6432": str(free_port()),
            "8787": str(free_port()),
            "# the primary is lost": f"kill -9 $(head -1 {quoted(server.data / 'postmaster.pid')})",
        },
    )
    here = home / "here"
    here.mkdir()
    here.chmod(0o777)
    try:
        done = guide.run(
            here, PGHOST="127.0.0.1", PGPORT=str(server.port), PGUSER="postgres", PGPASSWORD=server.password
        )
    finally:
        for pid in (here / "pgbouncer.pid", here / "standby" / "postmaster.pid"):
            if pid.exists():
                subprocess.run(["kill", pid.read_text().split()[0]], check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert '"sent to ada@example.org"' in done.stdout
    assert json.loads((here / "findings.json").read_text()) == {"items": []}
    assert server.password not in done.stdout + done.stderr


@pytest.mark.long
def test_the_guide_to_the_command_line_works(home: Path, server: EmbeddedPostgres):
    del server  # skips where there is no Postgres to start
    here = home / "here"
    here.mkdir()
    done = Guide("cli.md", {"--port 8787": f"--port {free_port()}"}).run(here)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert '"Hello, Ada!"' in done.stdout
    assert (here / "token").read_text().startswith("pgj_")


def test_every_command_is_in_the_guide():
    text = (ROOT / "docs" / "cli.md").read_text()
    named = every_command()
    assert len(named) > 30
    assert [name for name in named if f"pgjobs {name}" not in text] == []
