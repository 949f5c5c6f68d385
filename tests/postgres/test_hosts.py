"""URLs that name several servers: whichever answers and is what the URL asks for is used."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from pgjobs.drivers.postgres import hosts
from pgjobs.drivers.postgres.hosts import Server, servers_of
from pgjobs.queue.queue import Queue
from pgjobs.sync import Queue as SyncQueue


@pytest.fixture
def mute() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def deaf() -> Iterator[int]:
    """A port at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def among(url: str, *ports: int) -> str:
    """The URL with other servers named before its own."""
    address = urlsplit(url)
    user, _, place = address.netloc.rpartition("@")
    others = ",".join(f"127.0.0.1:{port}" for port in ports)
    return address._replace(netloc=f"{user}@{others},{place}", query="target_session_attrs=primary").geturl()


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        ("postgresql://a:5432,b:5433/shop", [Server("a", 5432), Server("b", 5433)]),
        (
            "postgres://me:p%40,ss@a,b/shop?target_session_attrs=primary",
            [Server("a", None), Server("b", None)],
        ),
        ("postgresql://[::1]:5432,[fe80::1]/shop", [Server("::1", 5432), Server("fe80::1", None)]),
        ("postgresql://%2Frun%2Fpostgresql/shop", [Server("/run/postgresql", None)]),
        ("postgresql:///shop", []),
        ("postgresql://", []),
    ],
)
def test_servers_are_read_from_the_url(url: str, servers: list[Server]):
    assert servers_of(url) == servers


async def test_a_server_that_is_away_is_passed_over(database_url: str, deaf: int):
    async with await Queue.connect(among(database_url, deaf)) as queue:
        assert (await queue.count_workers()).total == 0


async def test_a_server_that_never_answers_is_passed_over_in_time(
    database_url: str, mute: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hosts, "HOST_SECONDS", 0.2)
    async with await Queue.connect(among(database_url, mute), timeout=10) as queue:
        assert (await queue.count_workers()).total == 0


async def test_the_server_that_served_last_is_asked_first(
    database_url: str, mute: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hosts, "HOST_SECONDS", 0.5)
    url = among(database_url, mute)
    connect = hosts.connector(url)
    await (await connect(url)).close()
    monkeypatch.setattr(hosts, "HOST_SECONDS", 0)
    with pytest.raises(TimeoutError):
        await connect(url)
    monkeypatch.setattr(hosts, "HOST_SECONDS", 30)
    await (await connect(url)).close()


async def test_a_wrong_password_is_told_at_once(database_url: str, deaf: int):
    address = urlsplit(among(database_url, deaf))
    wrong = address._replace(netloc=f"postgres:wrong@{address.netloc.rpartition('@')[2]}").geturl()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await Queue.connect(wrong)


async def test_without_a_fitting_server_the_last_reason_is_given(database_url: str, deaf: int):
    url = among(database_url, deaf).replace("=primary", "=standby")
    with pytest.raises(asyncpg.TargetServerAttributeNotMatched):
        await Queue.connect(url)


def test_callers_without_an_event_loop_find_the_server_too(database_url: str, deaf: int):
    with SyncQueue.connect(among(database_url, deaf)) as queue:
        assert queue.count_workers().total == 0
