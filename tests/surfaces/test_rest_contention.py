"""Requests that met others in the database: deadlocks and serialization failures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import MAX_ATTEMPTS
from pgjobs.queue.queue import Queue
from tests.surfaces.rest_server import Api, problem_of

GIVES_WAY = """
  create sequence public.times;
  grant usage on sequence public.times to public;
  create function public.give_way() returns trigger language plpgsql as $$
  begin
    if nextval('public.times') <= {times} then
      raise sqlstate '{sqlstate}';
    end if;
    return new;
  end
  $$;
  create trigger giving_way before insert on pgjobs.workers for each row execute function public.give_way();
"""
FAILURES = ["40P01", "40001"]


@pytest.fixture
def queue_url(database_url: str) -> str:
    return database_url


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.mark.parametrize("sqlstate", FAILURES)
async def test_a_request_that_gave_way_to_another_is_tried_again(ada: Api, connection: Any, sqlstate: str):
    await connection.execute(GIVES_WAY.format(times=MAX_ATTEMPTS - 1, sqlstate=sqlstate))
    assert ada.post("workers").status_code == 201
    assert ada.get("workers").json()["total"] == 1


@pytest.mark.parametrize("sqlstate", FAILURES)
async def test_a_request_that_gives_way_every_time_is_told_to_come_back(
    ada: Api, connection: Any, sqlstate: str
):
    await connection.execute(GIVES_WAY.format(times=10**9, sqlstate=sqlstate))
    answer = ada.post("workers")
    assert (answer.status_code, problem_of(answer)) == (503, "database-unavailable")
    assert answer.headers["retry-after"] == "2"
    assert await connection.fetchval("select last_value from public.times") == MAX_ATTEMPTS


async def test_in_a_transaction_of_the_callers_nothing_is_tried_again(queue: Queue, connection: Any):
    """It is the whole transaction that gave way, and only the caller can begin it anew."""
    await connection.execute(GIVES_WAY.format(times=1, sqlstate="40P01"))
    with pytest.raises(asyncpg.DeadlockDetectedError):
        async with connection.transaction():
            await queue.bound_to(connection).register_worker()
    assert await connection.fetchval("select last_value from public.times") == 1
