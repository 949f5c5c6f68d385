"""Who may do what: roles hold functions and views, never tables, and guards hold against everybody."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import jwt
import pytest
from starlette.testclient import TestClient

from benchmarks.console import CLEANUPS, REQUESTS
from pgjobs import Jobs, Worker
from pgjobs.errors import Forbidden
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.migrate import migrate, read_release, sql_directory
from pgjobs.server.app import create_app
from pgjobs.server.settings import ApiSettings

ROLES = ("readonly", "producer", "worker", "operator", "api", "tenant")
GRANT = re.compile(r"grant (execute on function|select on) ([^;]+?)\s+to ([^;]+);")
JOB = "@global:tests:Echo"
MINUTE = timedelta(minutes=1)
RELATIONS_REACHED = """
select c.relname, p.privilege
from pg_class as c
cross join unnest('{select,insert,update,delete,truncate,references,trigger,usage}'::text[]) as p (privilege)
where c.relnamespace = to_regnamespace('pgjobs')
  and case
    when c.relkind = 'S' and p.privilege in ('select', 'update', 'usage')
      then has_sequence_privilege($1, c.oid, p.privilege)
    when c.relkind = any ('{r,p,v,m}') and p.privilege in ('select', 'insert', 'update', 'references')
      then has_any_column_privilege($1, c.oid, p.privilege)
    when c.relkind = any ('{r,p,v,m}') and p.privilege in ('delete', 'truncate', 'trigger')
      then has_table_privilege($1, c.oid, p.privilege)
  end
"""

login_numbers = count(1)
Connection: TypeAlias = "asyncpg.Connection[Any]"


def granted(role: str, what: str) -> set[str]:
    """Names of functions or views that the file of grants gives to a role."""
    text = re.sub(r"--.*", "", (sql_directory("postgres") / "grants.sql").read_text())
    names: set[str] = set()
    for kind, objects, roles in GRANT.findall(re.sub(r"\s+", " ", text)):
        if kind == what and f"pgjobs_{role}" in roles.split(", "):
            names |= {name.removeprefix("pgjobs.") for name in objects.split(", ")}
    return names


@pytest.fixture
async def admin(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
def login(database_url: str, admin: Connection) -> Callable[[str], Any]:
    """A URL for somebody who is a member of one role and nothing else."""

    @asynccontextmanager
    async def as_member(role: str) -> AsyncIterator[str]:
        name = f"login{next(login_numbers)}_of_{role}_in_{urlsplit(database_url).path[1:]}"
        await admin.execute(f"create role {name} login password 'secret'; grant pgjobs_{role} to {name}")
        address = urlsplit(database_url)
        try:
            yield address._replace(netloc=f"{name}:secret@{address.hostname}:{address.port}").geturl()
        finally:
            await admin.execute(f"drop role {name}")

    return as_member


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_may_call_exactly_the_functions_it_was_granted(admin, role):
    expected = granted(role, "execute on function")
    rows = await admin.fetch(
        "select p.proname, has_function_privilege($1, p.oid, 'execute') as may from pg_proc as p"
        " where p.pronamespace = to_regnamespace('pgjobs')",
        f"pgjobs_{role}",
    )
    assert expected
    assert {row["proname"] for row in rows if row["may"]} == expected


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_may_look_at_exactly_the_views_it_was_granted_and_touch_no_table(admin, role):
    rows = await admin.fetch(RELATIONS_REACHED, f"pgjobs_{role}")
    expected = granted(role, "select on")
    assert "problems" in expected
    assert expected.isdisjoint({"task", "job"}) == (role == "tenant")
    assert {(row["relname"], row["privilege"]) for row in rows} == {(name, "select") for name in expected}


@pytest.mark.parametrize(
    ("role", "forbidden"),
    [
        ("readonly", {"get_task", "watch_task", "submit_tasks", "cancel_task", "claim_tasks", "retry_task"}),
        ("producer", {"claim_tasks", "complete_tasks", "register_job", "retry_task", "prune_tasks", "sweep"}),
        ("worker", {"retry_task", "ignore_task", "archive_job", "prune_tasks", "refuse", "end_attempts"}),
        ("operator", {"claim_tasks", "complete_tasks", "renew_tasks", "end_attempts", "cleanup_worker"}),
        ("api", {"end_attempts", "enter_lane", "take_outcome", "lock_leases", "wake", "floor_set"}),
        (
            "tenant",
            {"sweep", "list_tokens", "verify_token", "grant_room", "task_id", "find_tasks", "running"},
        ),
    ],
)
def test_the_file_of_grants_keeps_the_roles_apart(role, forbidden):
    assert granted(role, "execute on function") & forbidden == set()


async def test_a_worker_login_lives_its_whole_life_with_functions_alone(login):
    async with login("worker") as url, await Queue.connect(url, max_size=2) as queue:
        await queue.register_job("@global", "tests", "Echo", max_attempts=3)
        worker = await queue.register_worker("night shift", jobs=[JOB])
        await queue.submit_tasks(JOB, [{"n": n} for n in range(4)])
        done, failed, released = await queue.claim_tasks(worker.id, quantity=3, lease=MINUTE)
        assert [lease.payload for lease in (done, failed, released)] == [{"n": 0}, {"n": 1}, {"n": 2}]
        await queue.start_task(done)
        await queue.report_progress([done], [{"done": 0.5}])
        assert (await queue.renew_task(done, 2 * MINUTE)).problem is None
        assert (await queue.complete_task(done, {"ok": True})).status == "completed"
        assert (await queue.fail_task(failed, "no route to host")).status == "pending"
        assert (await queue.release_task(released)).status == "pending"
        assert (await queue.get_task(done.task_id)).result == {"ok": True}
        assert (await queue.wait_for(done.task_id, 1)).status == "completed"
        assert (await queue.mark_waiting(worker.id)).mark
        await queue.heartbeat_worker(worker.id)
        assert {step.error for step in await queue.sweep()} == {None}
        assert (await queue.retire_worker(worker.id)).failed == 0


async def test_a_server_runs_as_the_role_that_was_made_for_it(login, database_url):
    """Every page of the console is asked for, and upkeep runs meanwhile."""
    async with await Queue.connect(database_url, max_size=1) as queue:
        await queue.register_job(*JOB.split(":"))
        await queue.register_schedule("often", JOB, every=MINUTE)
        schedule = (await queue.get_schedule("@global:often")).uuid
        task = (await queue.get_task((await queue.submit_task(JOB)).task_id)).uuid
        worker = (await queue.register_worker(jobs=[JOB])).id
        flow = (await queue.submit_workflow("wide", [{"job": JOB}])).uuid
    known = {"task": task, "schedule": schedule, "run": task, "job": JOB, "worker": worker}
    known |= {"workflow": flow, "wide_workflow": flow, "flow_task": task}
    known["hour_ago"] = "2026-01-01T00:00:00Z"
    settings = ApiSettings(auth_secret="s" * 32)
    token = jwt.encode({"sub": "ops", "is_superuser": True}, "s" * 32, algorithm="HS256")
    async with login("api") as url:
        app = create_app(url=url, settings=settings)
        with TestClient(app, headers={"Authorization": f"Bearer {token}"}) as client:
            assert client.get("/metrics").status_code == 200
            refused = {}
            for path in REQUESTS.values():
                address = path if path.startswith("/") else f"/v1/joblib/{path}"
                answer = client.get(
                    address.format(**known)
                    .replace("@global:bench:job7", JOB)
                    .replace("job7", JOB.split(":")[2])
                )
                refused[path] = answer.status_code
            # By now it listens.
            assert client.get("/readyz").json() == {"status": "ok"}
        refused = {path: status for path, status in refused.items() if status != 200}
        assert refused == {f"{CLEANUPS}/{{run}}": 404}
        async with await Queue.connect(url, max_size=1) as queue:
            assert [step for step in await queue.sweep() if step.error] == []


async def test_a_worker_runs_as_the_role_that_was_made_for_it(login):
    jobs = Jobs(category="tests")
    ran = asyncio.Event()

    @jobs.task(max_running=1)
    async def report() -> None:
        ran.set()

    report.schedule("reports", every=timedelta(seconds=1))
    async with login("worker") as url, await Queue.connect(url, max_size=5) as queue, Worker(queue, jobs):
        async with asyncio.timeout(30):
            await ran.wait()


async def test_a_worker_login_reaches_no_table_and_no_sequence(admin, login):
    relations = await admin.fetch(
        "select c.oid::regclass::text as name, c.relkind::text as kind from pg_class as c"
        " where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = any ('{r,S}')"
    )
    statements = [
        statement
        for relation in relations
        for statement in (
            [f"select nextval('{relation['name']}')", f"table {relation['name']}"]
            if relation["kind"] == "S"
            else [
                f"table {relation['name']}",
                f"insert into {relation['name']} default values",
                f"delete from {relation['name']}",
                f"truncate {relation['name']}",
            ]
        )
    ]
    statements += ["update pgjobs.leases set until = null", "update pgjobs.jobs set paused_at = null"]
    async with login("worker") as url:
        connection = await asyncpg.connect(url)
        await connection.execute("set search_path = pg_catalog, pgjobs, pg_temp")
        refused = [statement for statement in statements if await is_refused(connection, statement)]
        await connection.close()
    assert refused == statements


async def is_refused(connection: Connection, statement: str) -> bool:
    try:
        await connection.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        return True
    return False


async def test_a_producer_submits_and_waits_but_cannot_acknowledge(login, database_url):
    async with await Queue.connect(database_url) as queue, login("producer") as url:
        await queue.register_job("@global", "tests", "Echo")
        async with await Queue.connect(url) as producer:
            task = await producer.submit_task(JOB, {"n": 1})
            (lease,) = await queue.claim_tasks(holder="somebody", lease=MINUTE, in_room="@global")
            with pytest.raises(Forbidden):
                await producer.complete_task(lease)
            with pytest.raises(Forbidden):
                await producer.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
            await queue.complete_task(lease, {"n": 2})
            assert (await producer.wait_for(task.task_id, 10)).result == {"n": 2}


async def test_a_reader_sees_tasks_but_neither_payloads_nor_results(login, database_url):
    async with await Queue.connect(database_url) as queue, login("readonly") as url:
        await queue.register_job("@global", "tests", "Echo")
        task = await queue.submit_task(JOB, {"secret": "payload"})
        async with await Queue.connect(url) as reader:
            (seen,) = await reader.list_tasks(room="@global")
            assert seen.id == task.task_id
            with pytest.raises(Forbidden):
                await reader.get_task(task.task_id)
        connection = await asyncpg.connect(url)
        assert "secret" not in str(await connection.fetch("select * from pgjobs.task"))
        for relation in ("task_document", "tasks", "outcomes", "secrets"):
            assert await is_refused(connection, f"table pgjobs.{relation}")
        await connection.close()


async def test_an_operator_operates_but_cannot_work(login, database_url):
    async with await Queue.connect(database_url) as queue, login("operator") as url:
        await queue.register_job("@global", "tests", "Echo")
        task = await queue.submit_task(JOB)
        async with await Queue.connect(url) as operator:
            assert (await operator.ignore_task(task.task_id, actor="ann")).status == "ignored"
            assert (await operator.retry_task(task.task_id, actor="ann")).status == "pending"
            assert (await operator.pause_job(JOB)).paused_at is not None
            assert {rule.violations for rule in await operator.check()} == {0}
            with pytest.raises(Forbidden):
                await operator.claim_tasks(holder="ann", lease=MINUTE, in_room="@global")


async def test_roles_have_the_prefix_that_was_asked_for(empty_database_url):
    address = urlsplit(empty_database_url)
    prefix = f"team_of_{address.path[1:]}"
    admin = await asyncpg.connect(empty_database_url)
    await migrate(admin, read_release(role_prefix=prefix))
    try:
        rows = await admin.fetch("select rolname from pg_roles where starts_with(rolname, $1)", prefix)
        assert {row["rolname"] for row in rows} == {f"{prefix}_{role}" for role in ROLES}
        await admin.execute(f"create role {prefix}_login login password 'secret' in role {prefix}_worker")
        url = address._replace(netloc=f"{prefix}_login:secret@{address.hostname}:{address.port}").geturl()
        async with await Queue.connect(url) as queue:
            await queue.register_job("@global", "tests", "Echo")
            await queue.submit_task(JOB)
            (lease,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
            assert (await queue.complete_task(lease)).status == "completed"
            with pytest.raises(Forbidden):
                await queue.pause_job(JOB)
    finally:
        for role in ("login", *ROLES):
            await admin.execute(f"drop owned by {prefix}_{role}; drop role {prefix}_{role}")
        await admin.close()


async def test_an_ordinary_login_can_install_and_run_a_queue_without_roles(empty_database_url):
    address = urlsplit(empty_database_url)
    database = address.path[1:]
    owner = f"owner_of_{database}"
    admin = await asyncpg.connect(empty_database_url)
    await admin.execute(f"create role {owner} login password 'secret'")
    await admin.execute(f"grant create on database {database} to {owner}")
    url = address._replace(netloc=f"{owner}:secret@{address.hostname}:{address.port}").geturl()
    connection = await asyncpg.connect(url)
    try:
        await migrate(connection, read_release(roles=False))
        async with await Queue.connect(url) as queue:
            await queue.register_job("@global", "tests", "Echo")
            await queue.submit_task(JOB)
            (lease,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
            assert (await queue.complete_task(lease)).status == "completed"
        with pytest.raises(asyncpg.PostgresError) as refusal:
            await connection.execute("delete from pgjobs.outcomes")
        assert refusal.value.sqlstate == "PJ020"
    finally:
        await connection.close()
        await admin.execute(f"drop owned by {owner}; drop role {owner}")
        await admin.close()
