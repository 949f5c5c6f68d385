"""Answers leave the server in one write, and streams begin at once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from pgjobs.cli.serve import server_config
from pgjobs.server.coalesced_http import CoalescedTransport

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Wire:
    """Remembers what was written, and whether it was closed."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed
        self.writes.append(data)

    def close(self) -> None:
        self.is_closed = True

    def get_extra_info(self, name: str) -> str:
        return f"{name} of the wire"


async def test_head_and_body_are_one_write():
    wire = Wire()
    transport = CoalescedTransport(wire)
    for _ in range(2):
        transport.write(HEAD)
        transport.write(b"body")
    await asyncio.sleep(0)
    assert wire.writes == [HEAD + b"body"] * 2


async def test_a_stream_begins_before_it_has_anything_to_say():
    wire = Wire()
    transport = CoalescedTransport(wire)
    transport.write(HEAD)
    assert wire.writes == []
    await asyncio.sleep(0)
    transport.write(b"data: 1\n\n")
    assert wire.writes == [HEAD, b"data: 1\n\n"]


async def test_closing_loses_nothing():
    wire = Wire()
    transport = CoalescedTransport(wire)
    transport.write(HEAD)
    transport.close()
    await asyncio.sleep(0)
    assert (wire.writes, wire.is_closed) == ([HEAD], True)


async def test_everything_else_is_asked_of_the_transport():
    assert CoalescedTransport(Wire()).get_extra_info("peername") == "peername of the wire"


@pytest.fixture
async def address() -> AsyncIterator[tuple[str, int]]:
    """A server as the command configures it; /stream begins an answer and says no more."""
    forever = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-said", b"yes")]})
        if scope["path"] == "/stream":
            await forever.wait()
        await send({"type": "http.response.body", "body": scope["method"].encode()})

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(server_config(app, "127.0.0.1", 0))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        yield listening.getsockname()
        forever.set()
        server.should_exit = True
        await serving


@asynccontextmanager
async def asking(address: tuple[str, int], *requests: bytes) -> AsyncIterator[asyncio.StreamReader]:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"".join(b"%s HTTP/1.1\r\nHost: here\r\n\r\n" % request for request in requests))
    yield reader
    writer.close()


ANSWERS = {b"GET": b"3\r\nGET\r\n0\r\n\r\n", b"HEAD": b"", b"DELETE": b"6\r\nDELETE\r\n0\r\n\r\n"}


async def test_requests_sent_together_are_answered_in_order_and_whole(address):
    async with asking(address, *(b"%s /" % method for method in ANSWERS)) as reader:
        for method, body in ANSWERS.items():
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            assert b"x-said: yes" in head, method
            assert await asyncio.wait_for(reader.readexactly(len(body)), 10) == body


async def test_the_head_of_a_stream_arrives_while_it_is_silent(address):
    async with asking(address, b"GET /stream") as reader:
        assert b"x-said: yes" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
