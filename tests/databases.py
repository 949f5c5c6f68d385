"""Databases of a test's own, cloned over one connection per process: connecting costs as much as cloning."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import TracebackType

import psycopg
from psycopg import sql

from tests.server import PostgresServer


class Databases:
    """Makes and drops databases while it is open."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._numbers = count(1)
        self._connection = psycopg.connect(server.url(), autocommit=True)

    @contextmanager
    def new(self, template: str = "template1") -> Iterator[str]:
        """The address of a new database, dropped afterwards whoever is still connected."""
        name = f"test{next(self._numbers)}_{os.getpid()}"
        # Copying files takes half the time of writing every block to the log first.
        self._run("create database {} template {} strategy file_copy", name, template)
        try:
            yield self._server.url(name)
        finally:
            self._run("drop database if exists {} with (force)", name)

    def _run(self, statement: str, *names: str) -> None:
        self._connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def __enter__(self) -> Databases:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
