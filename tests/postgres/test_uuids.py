"""Public ids as SQL makes and reads them, in numbers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, TypeAlias
from uuid import RFC_4122, UUID, uuid4

import asyncpg
import pytest

Connection: TypeAlias = "asyncpg.Connection[Any]"


@pytest.fixture
async def psql(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def numbers_of(psql: Connection, uuids: list[UUID]) -> list[int | None]:
    rows = await psql.fetch(
        "select pgjobs.task_id(u.id) as number from unnest($1::uuid[]) with ordinality as u (id, place)"
        " order by u.place",
        uuids,
    )
    return [row["number"] for row in rows]


async def test_ten_thousand_public_ids_are_distinct_well_formed_and_lead_back(psql):
    numbers = list(range(1, 10_001))
    rows = await psql.fetch("select pgjobs.task_uuid(n) as id from generate_series(1, 10000) as n order by n")
    uuids = [row["id"] for row in rows]
    assert len(set(uuids)) == 10_000
    assert {(uuid.version, uuid.variant) for uuid in uuids} == {(8, RFC_4122)}
    assert await numbers_of(psql, uuids) == numbers


@pytest.mark.parametrize("number", [1, 2**31, 2**32 + 1, 2**53 + 1, 2**60 - 1])
async def test_numbers_of_any_size_lead_back(psql, number):
    assert await psql.fetchval("select pgjobs.task_id(pgjobs.task_uuid($1))", number) == number


async def test_a_public_id_with_any_bit_changed_leads_nowhere(psql):
    uuid = await psql.fetchval("select pgjobs.task_uuid(42)")
    tampered = [UUID(int=uuid.int ^ (1 << bit)) for bit in range(128)]
    assert await numbers_of(psql, [uuid, *tampered]) == [42] + [None] * 128


async def test_strangers_lead_nowhere(psql):
    assert set(await numbers_of(psql, [uuid4() for _ in range(1_000)])) == {None}


async def test_another_key_makes_other_ids_and_disowns_the_old_ones(psql):
    before = await psql.fetchval("select pgjobs.task_uuid(42)")
    await psql.execute("update pgjobs.secrets set task_key = sha256('another')")
    assert await psql.fetchval("select pgjobs.task_uuid(42)") != before
    assert await numbers_of(psql, [before]) == [None]
