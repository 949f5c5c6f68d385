"""Submitting inside the caller's transaction, whichever library it belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import asyncpg
import psycopg
import pytest

from pgjobs import Jobs, Queue, Worker
from pgjobs.errors import InvalidArgument

jobs = Jobs()


@jobs.task
async def greet(name: str) -> str:
    return f"hello {name}"


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        jobs.use(queue)
        await jobs.register()
        yield queue
        jobs.use(None)


async def submitted(queue: Queue) -> list[int]:
    return [task.id for task in await queue.list_tasks()]


async def submits(connection: Any) -> int:
    return (await greet.with_options(connection=connection).submit("ada")).id


async def test_asyncpg(queue: Queue, database_url: str):
    connection = await asyncpg.connect(database_url)
    unwanted = connection.transaction()
    await unwanted.start()
    await submits(connection)
    await unwanted.rollback()
    async with connection.transaction():
        kept = await submits(connection)
    await connection.close()
    assert await submitted(queue) == [kept]


async def test_psycopg_async(queue: Queue, database_url: str):
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await submits(connection)
        await connection.rollback()
        kept = await submits(connection)
    assert await submitted(queue) == [kept]


async def test_sqlalchemy_async(queue: Queue, database_url: str):
    sqlalchemy = pytest.importorskip("sqlalchemy.ext.asyncio")
    engine = sqlalchemy.create_async_engine(database_url.replace("postgresql:", "postgresql+asyncpg:"))
    async with sqlalchemy.AsyncSession(engine) as session:
        await submits(session)
        await session.rollback()
        kept = await submits(session)
        await session.commit()
    await engine.dispose()
    assert await submitted(queue) == [kept]


async def test_a_job_takes_tasks_while_no_worker_runs(queue: Queue, database_url: str):
    async with Worker(queue, jobs):
        assert await (await greet.submit("ada")).result(timeout=30) == "hello ada"
    assert await queue.list_workers() == []
    connection = await asyncpg.connect(database_url)
    async with connection.transaction():
        kept = await submits(connection)
    await connection.close()
    assert (await queue.get_task(kept)).status == "pending"


def _with_psycopg(url: str) -> int:
    with psycopg.connect(url) as connection:
        greet.with_options(connection=connection).submit_sync("nobody")
        connection.rollback()
        return greet.with_options(connection=connection).submit_sync("ada")


def _with_sqlalchemy(url: str) -> int:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    orm = pytest.importorskip("sqlalchemy.orm")
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with orm.Session(engine) as session:
        greet.with_options(connection=session).submit_sync("nobody")
        session.rollback()
        kept = greet.with_options(connection=session).submit_sync("ada")
        session.commit()
    engine.dispose()
    return kept


def _with_django(url: str) -> int:
    settings = pytest.importorskip("django.conf").settings
    database = pytest.importorskip("django.db")
    parts = psycopg.conninfo.conninfo_to_dict(url)
    address = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts["dbname"],
        "USER": parts["user"],
        "PASSWORD": parts["password"],
        "HOST": parts["host"],
        "PORT": parts["port"],
    }
    if not settings.configured:
        settings.configure(DATABASES={"default": {}})
    database.connections.settings = database.connections.configure_settings({"default": address})
    connection = database.connections["default"]
    try:
        with database.transaction.atomic():
            greet.with_options(connection=connection).submit_sync("nobody")
            database.transaction.set_rollback(True)
        with database.transaction.atomic():
            return greet.with_options(connection=connection).submit_sync("ada")
    finally:
        connection.close()
        del database.connections["default"]


@pytest.mark.parametrize("submit", [_with_psycopg, _with_sqlalchemy, _with_django])
async def test_without_an_event_loop(queue: Queue, database_url: str, submit: Callable[[str], int]):
    kept = await asyncio.to_thread(submit, database_url)
    assert await submitted(queue) == [kept]


async def test_submit_sync_needs_somebodys_connection(queue: Queue, database_url: str):
    with pytest.raises(InvalidArgument, match="connection"):
        greet.submit_sync("ada")
    connection = await asyncpg.connect(database_url)
    with pytest.raises(RuntimeError, match="event loop"):
        greet.with_options(connection=connection).submit_sync("ada")
    await connection.close()
