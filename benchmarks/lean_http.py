"""A client that does so little that the server is what is measured: one connection, JSON, HTTP/1.1."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit


class LeanClient:
    """Asks and waits for the answer, over a connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: str) -> None:
        self._reader = reader
        self._writer = writer
        self._headers = headers

    async def ask(self, method: str, path: str, body: Any) -> Any:
        """The answer's JSON; anything but a success is an error."""
        content = json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}Content-Length: {len(content)}\r\n\r\n"
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        status, _, lines = answer.partition(b"\r\n")
        fields = dict(line.lower().split(b":", 1) for line in lines.split(b"\r\n") if line)
        given = await self._reader.readexactly(int(fields[b"content-length"]))
        if not status.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{method} {path}: {status.decode()} {given.decode()}")
        return json.loads(given)


@asynccontextmanager
async def lean_client(base: str, token: str) -> AsyncIterator[LeanClient]:
    place = urlsplit(base)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    headers = (
        f"Host: {place.netloc}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nAccept: application/json\r\n"
    )
    try:
        yield LeanClient(reader, writer, headers)
    finally:
        writer.close()
