"""A request that does not arrive is not waited for: its connection is closed."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from pgjobs.cli.serve import server_config
from pgjobs.server import ApiSettings

SHORT, LONG = 0.2, 600.0
PATIENCE = 20
HEAD = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"


async def echo(request: Request) -> PlainTextResponse:
    try:
        return PlainTextResponse(await request.body())
    except ClientDisconnect:
        return PlainTextResponse("gone")


async def slow(request: Request) -> PlainTextResponse:
    await asyncio.sleep(4 * SHORT)
    return PlainTextResponse("slow answer")


Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
async def connect(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """Opens connections to a server with short or long times."""
    header, body = request.param
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"]), Route("/slow", slow)])
    settings = ApiSettings(header_timeout_seconds=header, body_timeout_seconds=body)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(server_config(app, "127.0.0.1", 0, settings))
        serving = asyncio.create_task(server.serve(sockets=[listening]))

        async def opened(sent: bytes) -> Wire:
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            writer.write(sent)
            return reader, writer

        yield opened
        server.should_exit = True
        await serving


async def all_of(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(PATIENCE):
        return await reader.read()


@pytest.mark.parametrize("connect", [(SHORT, LONG)], indirect=True)
@pytest.mark.parametrize("sent", [b"", b"GET", b"POST /echo HTTP/1.1\r\n", HEAD], ids=repr)
async def test_a_head_that_does_not_come_is_not_waited_for(connect: Any, sent: bytes):
    reader, writer = await connect(sent)
    assert (await all_of(reader)).startswith(b"HTTP/1.1 408 ")
    writer.close()


@pytest.mark.parametrize("connect", [(SHORT, LONG)], indirect=True)
async def test_a_head_that_trickles_is_not_waited_for(connect: Any):
    reader, writer = await connect(b"GET /slow HTTP/1.1\r\n")

    async def trickle() -> None:
        while True:
            writer.write(b"X-More: 1\r\n")
            await asyncio.sleep(SHORT / 10)

    trickling = asyncio.create_task(trickle())
    assert (await all_of(reader)).startswith(b"HTTP/1.1 408 ")
    trickling.cancel()
    writer.close()


@pytest.mark.parametrize("connect", [(LONG, SHORT)], indirect=True)
@pytest.mark.parametrize("sent", [b"", b"12345"], ids=repr)
async def test_a_body_that_does_not_come_is_not_waited_for(
    connect: Any, sent: bytes, caplog: pytest.LogCaptureFixture
):
    reader, writer = await connect(HEAD + b"\r\n" + sent)
    assert (await all_of(reader)).startswith(b"HTTP/1.1 408 ")
    writer.close()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("connect", [(SHORT, SHORT)], indirect=True)
async def test_answers_may_take_their_time_and_connections_be_used_again(connect: Any):
    reader, writer = await connect(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /sl")
    async with asyncio.timeout(PATIENCE):
        assert b"200 OK" in await reader.readuntil(b"slow answer")
        writer.write(b"ow HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in await reader.readuntil(b"slow answer")
        writer.write(HEAD + b"\r\n1234567890")
        assert b"200 OK" in await reader.readuntil(b"1234567890")
    writer.close()
