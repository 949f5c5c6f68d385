"""A queue that is a node of a cluster: numbers that say which, one key of public ids, partitions of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import psycopg
import pytest
from typer.testing import CliRunner

from pgjobs.cli.app import app
from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.errors import InvalidArgument
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.nodes import become_node, key_of_public_ids

JOB = "@global:tests:Noded"
HOUR = timedelta(hours=1)
BASE = 3 * 2**44


@pytest.fixture
async def psql(database_url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def queue(psql: Any) -> Queue:
    assert await become_node(psql, "pgjobs", 3)
    queue = Queue(BoundDriver(psql))
    await queue.register_job(*JOB.split(":"))
    return queue


async def bounds(psql: Any) -> list[tuple[int, int]]:
    rows = await psql.fetch("select lower, upper from pgjobs._partitions() where parent = 'outcomes'")
    return [(row["lower"], row["upper"]) for row in rows if row["lower"] is not None]


async def ended(queue: Queue, quantity: int = 1) -> list[int]:
    await queue.submit_tasks(JOB, [{}] * quantity)
    leases = await queue.claim_tasks(holder="me", lease=HOUR, in_room="@global", quantity=quantity)
    await queue.complete_tasks(leases)
    return [lease.task_id for lease in leases]


async def test_tasks_and_workflows_are_numbered_from_the_base_of_their_node(queue, psql):
    assert await ended(queue, 2) == [BASE + 1, BASE + 2]
    workflow = await psql.fetchval(
        "select workflow_id from pgjobs.submit_workflow('w', $1::jsonb)", f'[{{"name": "a", "job": "{JOB}"}}]'
    )
    assert workflow == BASE + 1
    assert await psql.fetchval("select pgjobs._first_number(512)") == 2**53


async def test_partitions_begin_at_the_base_and_retention_drops_them(queue, psql):
    assert await bounds(psql) == [(BASE, BASE + 250_000), (BASE + 250_000, BASE + 500_000)]
    await ended(queue, 3)
    await psql.execute("select setval('pgjobs.tasks_id_seq', $1)", BASE + 250_000)
    await ended(queue, 2)
    home = await psql.fetchval("select min(tableoid::regclass::text) from pgjobs.outcomes")
    assert home == f"pgjobs.outcomes_from_{BASE}"
    while await queue.prune_tasks(older_than=timedelta(), batch=100):
        pass
    await queue.sweep("storage")
    widths = [upper - lower for lower, upper in await bounds(psql)]
    assert (await bounds(psql))[0][0] == BASE + 250_000
    assert set(widths) == {250_000}


async def test_a_public_id_is_the_same_on_every_node_with_the_key(queue, psql, databases, migrated_template):
    key = await key_of_public_ids(psql, "pgjobs")
    task = await queue.get_task((await queue.submit_task(JOB)).task_id)
    with databases.new(migrated_template.template_dbname) as url:
        other = await asyncpg.connect(url)
        await other.execute("update pgjobs.secrets set task_key = sha256('another')")
        assert await other.fetchval("select pgjobs.task_id($1)", task.uuid) is None
        assert await become_node(other, "pgjobs", 4, key)
        assert await other.fetchval("select pgjobs.task_id($1)", task.uuid) == task.id
        assert not await become_node(other, "pgjobs", 4, key)
        await other.close()


async def test_a_queue_that_has_had_tasks_stays_the_node_it_is(queue, psql):
    await ended(queue)
    assert not await become_node(psql, "pgjobs", 3)
    with pytest.raises(asyncpg.PostgresError, match="numbers and public ids cannot change"):
        await become_node(psql, "pgjobs", 4)
    assert await ended(queue) == [BASE + 2]


async def test_jobs_and_workers_have_the_ids_that_the_cluster_gives(queue, psql):
    uuid = "6a1f3c9e-52b7-4d4b-8a44-0c8f2f0f7c11"
    statement = (
        "select job_id from pgjobs.register_job('@global', 'tests', $1, job_number => $2, job_uuid => $3)"
    )
    for _ in range(2):
        assert await psql.fetchval(statement, "Given", 70, uuid) == 70
    following = await queue.register_job("@global", "tests", "Following")
    assert following.job_id == 71
    with pytest.raises(asyncpg.PostgresError, match="under another number"):
        await psql.fetchval(statement, "Given", 72, uuid)
    worker = await queue.register_worker("w", jobs=["@global:tests:Given"], worker_id=uuid)
    assert str(worker.id) == uuid
    with pytest.raises(InvalidArgument, match="registered already"):
        await queue.register_worker("w", worker_id=uuid)


def test_migrate_makes_a_queue_a_node_with_the_key_of_another(database_url, databases, migrated_template):
    runner = CliRunner()
    with databases.new(migrated_template.template_dbname) as url:
        with psycopg.connect(url) as connection:
            connection.execute("update pgjobs.secrets set task_key = sha256('another')")
        for said in ("now", "already"):
            done = runner.invoke(app, ["migrate", "--url", url, "--node", "5", "--key-of", database_url])
            assert f"{said} node 5" in done.output, done.output
        keys = []
        for each in (url, database_url):
            with psycopg.connect(each) as connection:
                keys += connection.execute("select task_key from pgjobs.secrets").fetchall()
        assert keys[0] == keys[1]
        refused = runner.invoke(app, ["migrate", "--url", url, "--node", "512"])
        assert refused.exit_code != 0
