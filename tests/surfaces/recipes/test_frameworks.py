"""The programs of docs/frameworks.md."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from starlette.testclient import TestClient

from pgjobs import Queue
from tests.surfaces.recipes.snippets import snippet


def program(containing: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(snippet("frameworks.md", containing), namespace)
    return namespace


async def submitted(url: str) -> list[Any]:
    async with await Queue.connect(url) as queue:
        return [(await queue.get_task(task.id)).payload for task in await queue.list_tasks()]


def test_fastapi_submits_and_asks(database_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PGJOBS_DATABASE_URL", database_url)
    with TestClient(program("FastAPI(")["app"]) as client:
        answer = client.post("/users/ada")
        assert answer.status_code == 202
        assert client.get(f"/tasks/{answer.json()['task']}").json() == {"status": "pending"}
    assert asyncio.run(submitted(database_url)) == [{"to": "ada"}]


def test_flask_submits(database_url: str, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("flask")
    monkeypatch.setenv("PGJOBS_DATABASE_URL", database_url)

    async def register() -> None:
        async with await Queue.connect(database_url) as queue:
            await queue.register_job("@global", "mail", "Welcome")

    asyncio.run(register())
    site = program("Flask(")
    with site["queue"]:
        answer = site["app"].test_client().post("/users/bob")
        assert answer.status_code == 202
    assert asyncio.run(submitted(database_url)) == [{"to": "bob"}]


@pytest.mark.parametrize("dialect", ["asyncpg", "psycopg"])
@pytest.mark.parametrize("commits", [True, False])
async def test_a_task_of_a_session_is_there_if_and_only_if_it_commits(
    database_url: str, dialect: str, commits: bool
):
    engine = create_async_engine(database_url.replace("://", f"+{dialect}://", 1))
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "mail", "Welcome")
        async with AsyncSession(engine) as session:
            await session.execute(text("create table users (name text)"))
            await session.commit()
            await program("bound_to")["create_user"](session, queue, "eve")
            assert await queue.list_tasks() == []
            await (session.commit() if commits else session.rollback())
            users = (await session.execute(text("select count(*) from users"))).scalar_one()
        assert (users, len(await queue.list_tasks())) == ((1, 1) if commits else (0, 0))
    await engine.dispose()
