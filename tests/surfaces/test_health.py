"""`/livez` and `/readyz`: ready is who reaches a current database and hears its notifications."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest

from pgjobs.queue.queue import Queue
from pgjobs.server.app import create_app

Look = Callable[[str], Awaitable[tuple[int, dict[str, str]]]]


class Relay:
    """A way to the database that can be closed and opened again."""

    def __init__(self, url: str) -> None:
        self._there = urlsplit(url)
        self._port = 0
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        user = self._there.netloc.rpartition("@")[0]
        return self._there._replace(netloc=f"{user}@127.0.0.1:{self._port}").geturl()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._there.hostname, self._there.port)
        self._writers |= {writer, back}
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while news := await reader.read(65536):
            writer.write(news)
    writer.close()


@pytest.fixture
async def relay(database_url: str) -> AsyncIterator[Relay]:
    relay = Relay(database_url)
    await relay.open()
    yield relay
    relay.close()


@asynccontextmanager
async def asked(queue: Queue) -> AsyncIterator[Look]:
    """Asks a server of this queue how it is."""
    transport = httpx.ASGITransport(create_app(queue))
    async with httpx.AsyncClient(transport=transport, base_url="http://pgjobs") as client:

        async def look(path: str) -> tuple[int, dict[str, str]]:
            answer = await client.get(path)
            return answer.status_code, answer.json()

        yield look


async def until(look: Look, status: int) -> dict[str, str]:
    async with asyncio.timeout(30):
        while True:
            code, body = await look("/readyz")
            if code == status:
                return body


async def test_a_server_with_a_current_database_is_ready(queue: Queue):
    async with asked(queue) as look:
        assert await look("/livez") == (200, {"status": "ok"})
        assert await look("/readyz") == (200, {"status": "ok"})


async def test_a_server_whose_database_was_not_migrated_is_not_ready(empty_database_url: str):
    async with await Queue.connect(empty_database_url) as queue, asked(queue) as look:
        assert await look("/livez") == (200, {"status": "ok"})
        assert await look("/readyz") == (503, {"status": "unavailable", "reason": "SchemaBehind"})


async def test_a_server_stays_ready_when_a_newer_version_has_migrated_its_database(
    queue: Queue, database_url: str
):
    """Or a rolling upgrade would take away all servers at once."""
    connection = await asyncpg.connect(database_url)
    await connection.execute("update pgjobs.installed_code set checksum = 'another', version = '99.0'")
    await connection.close()
    async with asked(queue) as look:
        assert await look("/readyz") == (200, {"status": "ok"})


async def test_a_server_that_lost_its_database_is_not_ready_until_it_is_back(relay: Relay):
    async with await Queue.connect(relay.url, min_size=0) as queue, asked(queue) as look:
        assert (await look("/readyz"))[0] == 200
        relay.close()
        body = await until(look, 503)
        assert body["status"] == "unavailable"
        assert relay.url not in str(body)
        assert (await look("/livez"))[0] == 200
        await relay.open()
        await until(look, 200)


async def test_a_server_that_hears_no_notifications_is_not_ready_until_it_does(
    relay: Relay, database_url: str
):
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with await Queue.connect(database_url, listen_url=relay.url) as queue, asked(queue) as look:
        await queue.driver.listen("wake", heard.put_nowait)
        assert (await look("/readyz"))[0] == 200
        relay.close()
        assert await until(look, 503) == {"status": "unavailable", "reason": "NotListening"}
        await relay.open()
        await until(look, 200)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "rooms/lab/jobs"), ("POST", "rooms/lab/tasks/lab:tests:Echo"), ("POST", "tasks/claim")],
)
async def test_requests_are_answered_with_try_again_while_the_database_is_away(
    relay: Relay, method: str, path: str
):
    async with await Queue.connect(relay.url, min_size=0) as queue:
        relay.close()
        transport = httpx.ASGITransport(create_app(queue))
        async with httpx.AsyncClient(transport=transport, base_url="http://pgjobs/v1/joblib/") as client:
            answer = await client.request(
                method, path, json={}, headers={"Authorization": "Bearer pgj_unknown"}
            )
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert answer.json()["type"] == "/v1/problems/database-unavailable"
    assert "detail" not in answer.json()
