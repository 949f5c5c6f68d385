"""Connections and sessions an application may already have, each inside a transaction of its own."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import asyncpg
import psycopg
from psycopg.types.string import TextLoader
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker


class Caller:
    """Somebody's connection or session, and how they execute, commit and roll back."""

    def __init__(self, connection: Any, execute: Any, commit: Any, rollback: Any) -> None:
        self.connection = connection
        self._execute, self._commit, self._rollback = execute, commit, rollback

    async def execute(self, statement: str) -> None:
        await _awaited(self._execute(statement))

    async def commit(self) -> None:
        await _awaited(self._commit())

    async def rollback(self) -> None:
        await _awaited(self._rollback())


async def _awaited(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


class AsyncpgCaller(Caller):
    """asyncpg has no commit on the connection: transactions are objects."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, connection.execute, None, None)
        self.transaction: Any = None

    async def begin(self) -> None:
        self.transaction = self.connection.transaction()
        await self.transaction.start()

    async def commit(self) -> None:
        await self.transaction.commit()
        await self.begin()

    async def rollback(self) -> None:
        await self.transaction.rollback()
        await self.begin()


@asynccontextmanager
async def plain_asyncpg(url: str) -> AsyncIterator[Caller]:
    connection = await asyncpg.connect(url)
    caller = AsyncpgCaller(connection)
    await caller.begin()
    yield caller
    await connection.close()


@asynccontextmanager
async def asyncpg_with_codecs(url: str) -> AsyncIterator[Caller]:
    async with plain_asyncpg(url) as caller:
        for name in ("json", "jsonb"):
            await caller.connection.set_type_codec(
                name, encoder=json.dumps, decoder=json.loads, schema="pg_catalog"
            )
        yield caller


@asynccontextmanager
async def asyncpg_from_a_pool(url: str) -> AsyncIterator[Caller]:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool, pool.acquire() as connection:
        caller = AsyncpgCaller(connection)
        await caller.begin()
        yield caller
        await caller.transaction.rollback()


@asynccontextmanager
async def plain_psycopg(url: str) -> AsyncIterator[Caller]:
    with psycopg.connect(url) as connection:
        yield Caller(connection, connection.execute, connection.commit, connection.rollback)


@asynccontextmanager
async def psycopg_like_django(url: str) -> AsyncIterator[Caller]:
    """Django decodes JSON in its model fields, so its connections hand out text."""
    async with plain_psycopg(url) as caller:
        caller.connection.adapters.register_loader("jsonb", TextLoader)
        caller.connection.prepare_threshold = None
        yield caller


@asynccontextmanager
async def psycopg_with_raw_cursors(url: str) -> AsyncIterator[Caller]:
    """Raw cursors write $1 instead of %s."""
    async with plain_psycopg(url) as caller:
        caller.connection.cursor_factory = psycopg.RawCursor
        yield caller


@asynccontextmanager
async def asynchronous_psycopg(url: str) -> AsyncIterator[Caller]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        yield Caller(connection, connection.execute, connection.commit, connection.rollback)


def _in_sqlalchemy(connection: Any) -> Caller:
    return Caller(
        connection, lambda sql: connection.execute(text(sql)), connection.commit, connection.rollback
    )


def _sqlalchemy(open_: Callable[[Any], Any]) -> Callable[[str], AbstractAsyncContextManager[Caller]]:
    @asynccontextmanager
    async def open_caller(url: str) -> AsyncIterator[Caller]:
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        with open_(engine) as connection:
            yield _in_sqlalchemy(connection)
        engine.dispose()

    return open_caller


def _asynchronous(
    open_: Callable[[Any], Any], dialect: str
) -> Callable[[str], AbstractAsyncContextManager[Caller]]:
    @asynccontextmanager
    async def open_caller(url: str) -> AsyncIterator[Caller]:
        engine = create_async_engine(url.replace("postgresql:", f"postgresql+{dialect}:"))
        async with open_(engine) as connection:
            yield _in_sqlalchemy(connection)
        await engine.dispose()

    return open_caller


@asynccontextmanager
async def _async_scoped(engine: Any) -> AsyncIterator[Any]:
    session = async_scoped_session(async_sessionmaker(engine), scopefunc=lambda: None)
    yield session
    await session.remove()


@contextmanager
def _scoped(engine: Any) -> Iterator[Any]:
    session = scoped_session(sessionmaker(engine))
    yield session
    session.remove()


CALLERS: dict[str, Callable[[str], AbstractAsyncContextManager[Caller]]] = {
    "asyncpg": plain_asyncpg,
    "asyncpg with codecs": asyncpg_with_codecs,
    "asyncpg from a pool": asyncpg_from_a_pool,
    "psycopg": plain_psycopg,
    "psycopg like Django": psycopg_like_django,
    "psycopg with raw cursors": psycopg_with_raw_cursors,
    "psycopg AsyncConnection": asynchronous_psycopg,
    "SQLAlchemy Connection": _sqlalchemy(lambda engine: engine.connect()),
    "SQLAlchemy Session": _sqlalchemy(Session),
    "SQLAlchemy scoped_session": _sqlalchemy(_scoped),
    "SQLAlchemy AsyncConnection": _asynchronous(lambda engine: engine.connect(), "asyncpg"),
    "SQLAlchemy AsyncSession": _asynchronous(AsyncSession, "asyncpg"),
    "SQLAlchemy async_scoped_session": _asynchronous(_async_scoped, "asyncpg"),
    "SQLAlchemy AsyncSession on psycopg": _asynchronous(AsyncSession, "psycopg"),
}
