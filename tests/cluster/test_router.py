"""A queue of several nodes behind a coordinator: what is the same as on one, and what happens when nodes come and go."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import timedelta
from itertools import count
from typing import Any

import asyncpg
import pytest

from pgjobs.errors import Forbidden, InvalidArgument, JobUnavailable, TaskNotFound
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.router.catalog import functions_of
from pgjobs.schema.router.rules import RULES, Here
from tests.cluster.router import behind, has_plproxy, make_cluster, node_of
from tests.databases import Databases

JOB = "@global:tests:Work"
HOUR = timedelta(hours=1)
HOLDER: dict[str, Any] = {"holder": "me", "lease": HOUR, "in_room": "@global"}


@pytest.fixture(scope="module")
def urls(databases: Databases) -> Iterator[dict[int, str]]:
    """A coordinator, under 0, and the databases of nodes 1 to 4, of which 1 to 3 are its."""
    with ExitStack() as made:
        urls = {number: made.enter_context(databases.new()) for number in range(5)}
        if not asyncio.run(has_plproxy(urls[0])):
            pytest.skip("the server has no PL/Proxy: apt-get install postgresql-15-plproxy")
        asyncio.run(make_cluster(urls[0], {number: urls[number] for number in (1, 2, 3)}))
        yield urls


@pytest.fixture
async def queue(urls: dict[int, str]) -> AsyncIterator[Queue]:
    async with await Queue.connect(urls[0], max_size=8) as queue:
        await queue.register_job(*JOB.split(":"), max_attempts=3)
        yield queue


@pytest.fixture
async def psql(urls: dict[int, str]) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(urls[0])
    yield connection
    await connection.close()


_NAMES = count(1)


@pytest.fixture
async def job(queue: Queue) -> str:
    """One of the test's own."""
    name = f"Job{next(_NAMES)}"
    await queue.register_job("@global", name, name, max_attempts=3)
    return f"@global:{name}:{name}"


def of(job: str) -> dict[str, Any]:
    return HOLDER | {"in_category": job.split(":")[1]}


async def assert_promises_kept(urls: dict[int, str]) -> None:
    for number in (1, 2, 3):
        async with behind(urls[number]) as node:
            assert [rule.rule for rule in await node.check() if rule.violations] == []


def nodes_of(tasks: list[Any]) -> set[int]:
    return {task.task_id >> 44 for task in tasks}


async def submitted(queue: Queue, job: str, quantity: int, **options: Any) -> list[int]:
    return [(await queue.submit_task(job, {"n": number}, **options)).task_id for number in range(quantity)]


async def drained(queue: Queue, job: str) -> list[int]:
    done = []
    while leases := await queue.claim_tasks(**of(job), quantity=50):
        await queue.complete_tasks(leases)
        done += [lease.task_id for lease in leases]
    return done


async def test_tasks_spread_over_nodes_and_each_is_found_from_the_coordinator(queue, job, urls):
    ids = await submitted(queue, job, 40)
    assert {node_of(task_id) for task_id in ids} == {1, 2, 3}
    assert max(ids) < 2**53
    for task_id in ids[:6]:
        task = await queue.get_task(task_id)
        assert (task.id, (await queue.get_task(task_uuid=task.uuid)).id) == (task_id, task_id)
        assert (await queue.operators.why(task_id))[0].is_ok
    with pytest.raises(TaskNotFound):
        await queue.cancel_task(7)
    assert sorted(await drained(queue, job)) == sorted(ids)
    await assert_promises_kept(urls)


async def test_acknowledgements_for_tasks_of_several_nodes_are_answered_in_order(queue, job):
    await submitted(queue, job, 30)
    leases = await queue.claim_tasks(**of(job), quantity=30)
    assert len(nodes_of(leases)) == 3
    done = await queue.complete_tasks(leases, results=[{"of": lease.task_id} for lease in leases])
    assert [row.task_id for row in done] == [lease.task_id for lease in leases]
    assert (await queue.get_task(leases[-1].task_id)).result == {"of": leases[-1].task_id}


async def test_a_key_is_used_once_whichever_session_submits_it(queue, job, urls):
    keys = [f"key {number}" for number in range(40)]
    first = await queue.submit_tasks(job, [{}] * 40, idempotency_keys=keys)
    assert [task.item for task in first] == list(range(1, 41))
    assert len(nodes_of(first)) == 3
    async with behind(urls[0]) as other:
        for key, task in zip(keys, first, strict=True):
            again = (await other.submit_tasks(job, [{}], idempotency_keys=[key]))[0]
            assert (again.task_id, again.is_new) == (task.task_id, False)


async def test_lists_page_over_all_nodes_by_cursor_without_a_gap(queue, job):
    ids = await submitted(queue, job, 25)
    seen: list[int] = []
    cursor = None
    while page := await queue.list_tasks(job=job, page_size=7, cursor=cursor):
        seen += [task.id for task in page]
        cursor = (await queue.next_cursor([task.id for task in page], cursor)).next
    assert Counter(seen) == Counter(ids)
    assert seen == ids[::-1]


async def test_a_page_deeper_than_nodes_are_asked_for_is_refused(queue, job):
    assert await queue.list_tasks(job=job, page_size=10, page_offset=490) == []
    with pytest.raises(InvalidArgument, match="within the first 500 rows"):
        await queue.list_tasks(job=job, page_size=10, page_offset=491)


async def test_who_acts_for_members_of_rooms_sees_and_changes_only_theirs_on_every_node(queue, job):
    for room in ("lab", "den"):
        await submitted(queue, job, 12, room=room)
    seen = await queue.driver.call_in_rooms(["lab"], "list_tasks", job=job, page_size=50)
    assert {row["room"] for row in seen} == {"lab"}
    assert {node_of(row["id"]) for row in seen} == {1, 2, 3}
    with pytest.raises(Forbidden):
        await queue.driver.call_in_rooms(["lab"], "submit_tasks", job=job, payloads=[{}], room="den")
    task = (await queue.list_tasks(room="den", job=job, page_size=1))[0]
    with pytest.raises(TaskNotFound):
        await queue.driver.call_in_rooms(["lab"], "cancel_task", task_id=task.id)


async def test_every_verb_has_a_rule_and_is_declared_as_on_a_node(psql, urls):
    node = await asyncpg.connect(urls[1])
    there, here = [
        {function.name: function for function in await functions_of(each, "pgjobs")} for each in (node, psql)
    ]
    assert there == here
    assert set(RULES) == {name for name in there if not name.startswith("_")}
    described = """
        select p.proname, obj_description(p.oid, 'pg_proc'), array(select unnest(p.proacl)::text order by 1)
        from pg_proc as p where p.pronamespace = 'pgjobs'::regnamespace and p.proname !~ '^_'
    """
    assert sorted(map(tuple, await node.fetch(described))) == sorted(map(tuple, await psql.fetch(described)))
    await node.close()
    here_alone = {name for name, rule in RULES.items() if isinstance(rule, Here)}
    local = await psql.fetch("""
        select p.proname from pg_proc as p
        where p.pronamespace = 'pgjobs'::regnamespace and p.proname !~ '^_' and p.prosrc !~ 'pgjobs_router'
          and p.prorettype <> 'trigger'::regtype
    """)
    # Waiting marks are nobody's: see the guide.
    assert {row["proname"] for row in local} == here_alone | {"mark_waiting", "unmark_waiting"}


async def test_errors_come_through_with_state_detail_and_hint(queue, psql):
    with pytest.raises(asyncpg.PostgresError) as refused:
        await psql.fetch("select * from pgjobs.submit_task('nowhere:tests:Nothing')")
    assert refused.value.sqlstate == "PJ001"
    assert str(refused.value).startswith("Job nowhere:tests:Nothing does not exist")
    assert refused.value.hint == "select full_name from pgjobs.list_jobs()"


async def test_a_role_may_do_behind_a_coordinator_what_it_may_on_a_node(urls, job, postgres_server):
    owner = await asyncpg.connect(urls[0])
    await owner.execute(
        f"create role looker login password '{postgres_server.password}' in role pgjobs_readonly"
    )
    try:
        looker = await asyncpg.connect(urls[0], user="looker")
        await looker.fetch("select * from pgjobs.list_tasks()")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await looker.fetch("select * from pgjobs.submit_task($1)", job)
        # Going around the verb leads to the node, which refuses as well.
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await looker.fetch("select * from pgjobs_router.number_job('@global:a:B')")
        with pytest.raises(asyncpg.PostgresError, match="permission denied"):
            await looker.fetch("select * from pgjobs_router.node_archive_job(1, null, $1, null, null)", job)
        await looker.close()
    finally:
        await owner.execute("drop role looker")
        await owner.close()


async def test_a_submit_in_a_transaction_that_has_written_is_refused(psql, job):
    changing = psql.transaction()
    await changing.start()
    await psql.execute("create table mine (id integer)")
    with pytest.raises(asyncpg.PostgresError, match="within a transaction that has written"):
        await psql.fetch("select * from pgjobs.submit_task($1)", job)
    await changing.rollback()
    assert await psql.fetchval("select count(*) from pgjobs.list_tasks(job => $1)", job) == 0


async def test_a_view_of_tables_refuses_instead_of_being_empty(psql, job):
    await psql.fetch("select * from pgjobs.submit_task($1)", job)
    with pytest.raises(asyncpg.PostgresError, match="a coordinator has none"):
        await psql.fetch("select * from pgjobs.task")
    assert await psql.fetchval("select waiting from pgjobs.jobs_status where job = $1", job) == 1


async def test_the_limit_of_a_homed_job_is_never_exceeded_by_claims_at_every_node(queue, urls):
    name = "@global:homed:Homed"
    await queue.register_job(*name.split(":"), max_running=2)
    ids = await submitted(queue, name, 24)
    assert len({node_of(task_id) for task_id in ids}) == 1
    held = most = 0
    done: list[int] = []

    async def work(url: str) -> None:
        nonlocal held, most
        async with behind(url) as door:
            while len(done) < len(ids):
                leases = await door.claim_tasks(**of(name), quantity=3)
                held += len(leases)
                most = max(most, held)
                await asyncio.sleep(0)
                held -= len(leases)
                await door.complete_tasks(leases)
                done.extend(lease.task_id for lease in leases)

    async with asyncio.timeout(60):
        await asyncio.gather(*(work(urls[number]) for number in (0, 0, 1, 2, 3)))
    assert most == 2
    assert sorted(done) == sorted(ids)


async def test_a_homed_job_submitted_at_another_node_waits_there_and_why_says_so(queue, urls):
    name = "@global:homed2:Homed"
    await queue.register_job(*name.split(":"))
    await queue.limit_job(name, 1)
    home = (await queue.submit_task(name)).task_id >> 44
    other = next(number for number in (1, 2, 3) if number != home)
    async with behind(urls[other]) as node:
        astray = await node.submit_task(name)
        assert await node.claim_tasks(**of(name)) == []
        told = " ".join(row.answer for row in await queue.operators.why(astray.task_id))
        assert f"its home is node {home}" in told
        await queue.cancel_task(astray.task_id)


async def test_a_job_with_unfinished_tasks_on_several_nodes_gets_no_limit(queue, job):
    await submitted(queue, job, 30)
    with pytest.raises(JobUnavailable, match="a limit needs one home"):
        await queue.limit_job(job, 1)
    await drained(queue, job)
    assert (await queue.limit_job(job, 1)).max_running == 1


async def test_a_task_waits_for_tasks_of_one_node_only(queue, job):
    parents = await submitted(queue, job, 20)
    child = await queue.submit_task(job, after=[parents[0]])
    assert child.task_id >> 44 == parents[0] >> 44
    with pytest.raises(InvalidArgument, match="tasks of another node"):
        await queue.submit_task(job, after=parents)


async def test_jobs_have_one_number_everywhere_also_where_a_node_counted_on(queue, urls):
    numbers = []
    async with behind(urls[2]) as node:
        await node.register_job("@global", "own", "OfNodeTwo")
    await queue.register_job("@global", "own", "OfNodeTwo")
    await queue.register_job("@global", "own", "OfAll")
    for number in (0, 1, 2, 3):
        async with behind(urls[number]) as door:
            numbers.append(
                [(await door.get_job(f"@global:own:{name}")).id for name in ("OfNodeTwo", "OfAll")]
            )
    assert numbers == [numbers[0]] * 4


async def test_partitions_of_node_three_are_dropped_by_retention(queue, job, urls):
    base = 3 << 44
    while left := await queue.list_tasks(status="pending", page_size=100):
        await queue.operators.cancel_tasks([task.id for task in left])
    async with behind(urls[3]) as node:
        for _ in range(2):
            await node.submit_tasks(job, [{}] * 3)
            await node.complete_tasks(await node.claim_tasks(**of(job), quantity=50))
            there = await asyncpg.connect(urls[3])
            await there.execute("select setval('pgjobs.tasks_id_seq', $1)", base + 250_000)
            first = (
                "select min(lower) from pgjobs._partitions() where parent = 'outcomes' and lower is not null"
            )
            before = await there.fetchval(first)
            await there.close()
    while await queue.prune_tasks(older_than=timedelta(), batch=200):
        pass
    await queue.sweep("storage")
    there = await asyncpg.connect(urls[3])
    assert (before, await there.fetchval(first)) == (base, base + 250_000)
    await there.close()
