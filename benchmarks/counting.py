"""A Postgres proxy that counts the queries passing through it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

_ENCRYPTION_REQUESTS = (80877103, 80877104)


class Proxy:
    """`url` leads through it; `queries` have passed so far, simple or prepared."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self.port = 0
        self.queries = 0

    def through(self, url: str) -> str:
        """The same database, reached through the proxy."""
        parts = urlsplit(url)
        credentials = parts.netloc.rpartition("@")[0]
        return urlunsplit(
            parts._replace(netloc=f"{credentials}@127.0.0.1:{self.port}", query="sslmode=disable")
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = self._parts.hostname or "127.0.0.1", self._parts.port or 5432
        try:
            answers, questions = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        copying = asyncio.create_task(_copy(answers, writer))
        try:
            await self._forward(reader, questions, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            questions.close()
            copying.cancel()
            writer.close()

    async def _forward(
        self, reader: asyncio.StreamReader, questions: asyncio.StreamWriter, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            length = await reader.readexactly(4)
            body = await reader.readexactly(int.from_bytes(length) - 4)
            if int.from_bytes(body[:4]) not in _ENCRYPTION_REQUESTS:
                break
            writer.write(b"N")
        questions.write(length + body)
        while True:
            head = await reader.readexactly(5)
            body = await reader.readexactly(int.from_bytes(head[1:]) - 4)
            self.queries += head[:1] in (b"Q", b"E")
            questions.write(head + body)
            await questions.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def counting_proxy(url: str) -> AsyncIterator[Proxy]:
    """A proxy before the server of `url`, for connections without TLS."""
    proxy = Proxy(url)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
