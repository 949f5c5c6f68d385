"""`pgjobs rooms`, and tokens that name rooms."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.cli.warm import run


@pytest.fixture
async def tenant(database_url: str) -> AsyncIterator[str]:
    name = f"tenant_of_{urlsplit(database_url).path[1:]}"
    owner = await asyncpg.connect(database_url)
    await owner.execute(f"create role {name} login; grant pgjobs_tenant to {name}")
    yield name
    await owner.execute(f"drop role {name}")
    await owner.close()


async def test_a_room_is_opened_to_a_login_and_closed_again(database_url: str, tenant: str):
    done = run("rooms", "grant", tenant, "lab", PGJOBS_DATABASE_URL=database_url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"Room lab is open to {tenant}.\n")
    listed = run("rooms", "list", "--room", "lab", PGJOBS_DATABASE_URL=database_url).stdout.splitlines()
    assert [line.split()[:2] for line in listed] == [["role", "room"], [tenant, "lab"]]
    assert (
        len(run("rooms", "list", "--role", "somebody", PGJOBS_DATABASE_URL=database_url).stdout.splitlines())
        == 1
    )
    done = run("rooms", "revoke", tenant, "lab", PGJOBS_DATABASE_URL=database_url)
    assert done.stderr == f"Room lab is closed to {tenant}.\n"
    done = run("rooms", "revoke", tenant, "lab", PGJOBS_DATABASE_URL=database_url)
    assert done.stderr == f"Room lab was not open to {tenant}.\n"
    refused = run("rooms", "grant", "pgjobs_worker", "lab", PGJOBS_DATABASE_URL=database_url)
    assert refused.returncode != 0
    assert "Role pgjobs_worker is no tenant" in refused.stderr


async def test_a_token_is_created_for_some_rooms(database_url: str):
    made = run("token", "create", "ada", "--room", "lab", "--room", "shop", PGJOBS_DATABASE_URL=database_url)
    assert made.stdout.startswith("pgj_")
    assert "lab, shop" in run("token", "list", PGJOBS_DATABASE_URL=database_url).stdout
    async with await Queue.connect(database_url, max_size=1) as queue:
        assert (await queue.verify_token(made.stdout.strip())).rooms == ["lab", "shop"]
    assert run("token", "create", "ada", "--room", "a:b", PGJOBS_DATABASE_URL=database_url).returncode != 0


def test_sqlite_makes_no_token_that_it_would_not_heed(sqlite_url: str):
    refused = run("token", "create", "ada", "--room", "lab", "--url", sqlite_url)
    assert refused.returncode != 0
    assert "need Postgres" in refused.stderr
