"""Several servers in one URL, of which one can be written to."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple
from urllib.parse import unquote

import asyncpg

from pgjobs.drivers.transient import is_away

HOST_SECONDS = 3
"""How long one of several servers may take to answer; less than a worker waits for its heartbeat."""

Connect = Callable[..., Awaitable[Any]]
_SERVERS = re.compile(r"postgres(?:ql)?://(?:[^/?#]*@)?([^/?#]*)")
_SERVER = re.compile(r"(?:\[(?P<ipv6>[^]]+)\]|(?P<name>[^:]*))(?::(?P<port>\d+))?")


class Server(NamedTuple):
    host: str
    port: int | None


class Hosts:
    """Connects to the first server that is what the URL asks for, beginning with the last that was.

    asyncpg has one time limit for all of them together, so that one which does not answer
    at all, such as a primary without power, would use it up.
    """

    def __init__(self, servers: list[Server]) -> None:
        self._servers = servers

    async def connect(self, url: str, *, timeout: float = 60, **options: Any) -> Any:
        failure: BaseException | None = None
        for server in self._servers:
            try:
                connection = await asyncpg.connect(
                    url, **server._asdict(), timeout=min(timeout, HOST_SECONDS), **options
                )
            except Exception as error:
                if not is_away(error):
                    raise
                failure = error
            else:
                # Another list: a worker's heartbeat connects from a thread of its own.
                self._servers = sorted(self._servers, key=lambda other: other != server)
                return connection
        assert failure is not None
        raise failure


def connector(url: str) -> Connect:
    """What connects to the URL in the way of `asyncpg.connect`."""
    servers = servers_of(url)
    return Hosts(servers).connect if len(servers) > 1 else asyncpg.connect


def servers_of(url: str) -> list[Server]:
    """The servers a URL names before its database."""
    named = _SERVERS.match(url)
    parts = [_SERVER.fullmatch(part) for part in named[1].split(",")] if named and named[1] else []
    return [
        Server(part["ipv6"] or unquote(part["name"]), int(part["port"]) if part["port"] else None)
        for part in parts
        if part is not None
    ]
