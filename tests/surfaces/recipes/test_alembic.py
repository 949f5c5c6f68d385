"""The schema through a migration tool: docs/frameworks.md has the migration as it is run here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

import pgjobs.schema
from pgjobs.sync import Queue
from tests.surfaces.recipes.snippets import snippet

pytest.importorskip("alembic")
INI = """
[alembic]
script_location = migrations
sqlalchemy.url = {url}
"""
ENV = """
from alembic import context
from sqlalchemy import create_engine
with create_engine(context.config.get_main_option("sqlalchemy.url")).connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
"""
BEGINNING = 'revision, down_revision = "0001", None\n'


def test_nothing_in_the_text_looks_like_a_bind_parameter():
    assert re.findall(r"(?<![:\w\\]):(\w+)(?!:)", pgjobs.schema.sql()) == []


def test_alembic_installs_the_whole_queue_in_its_own_transaction(empty_database_url: str, tmp_path: Path):
    (tmp_path / "alembic.ini").write_text(INI.format(url=empty_database_url.replace("://", "+psycopg://", 1)))
    versions = tmp_path / "migrations" / "versions"
    versions.mkdir(parents=True)
    (tmp_path / "migrations" / "env.py").write_text(ENV)
    (versions / "0001.py").write_text(BEGINNING + snippet("frameworks.md", "op.execute"))
    command = [sys.executable, "-m", "alembic", "upgrade", "head"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    with psycopg.connect(empty_database_url) as connection:
        [(revision,)] = connection.execute("select version_num from public.alembic_version").fetchall()
    assert revision == "0001"
    with Queue.connect(empty_database_url) as queue:
        queue.register_job("@global", "mail", "Welcome")
        task = queue.submit_task("@global:mail:Welcome").task_id
        assert queue.get_task(task).status == "pending"
        assert {rule.violations for rule in queue.check()} == {0}
    doctor = [sys.executable, "-m", "pgjobs.cli", "migrate", "--dry-run", "--url", empty_database_url]
    said = subprocess.run(doctor, capture_output=True, text=True, check=True)
    assert "up to date" in said.stdout + said.stderr


def test_the_transaction_goes_on_as_it_was(empty_database_url: str):
    names = ("search_path", "lock_timeout", "statement_timeout", "check_function_bodies")
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("set search_path = somewhere, public")
        connection.commit()

        def settings() -> list[object]:
            return [connection.execute(f"show {name}").fetchone() for name in names]

        before = settings()
        connection.execute(pgjobs.schema.sql(roles=False))
        assert settings() == before
        connection.rollback()
        assert connection.execute("select to_regnamespace('pgjobs')").fetchone() == (None,)
