"""`pgjobs psql` becomes psql, and its password is nowhere to be seen."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from pgjobs.cli.psql import libpq_variables
from pgjobs.errors import InvalidArgument
from tests.surfaces.cli.commands import run


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_psql_is_connected_with_what_the_url_says(database_url: str):
    done = run("psql", "--url", database_url, "-A", "-t", "-c", "select current_database()")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().splitlines()[-1] == database_url.rpartition("/")[2]


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
