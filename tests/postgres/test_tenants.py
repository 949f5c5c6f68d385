"""Logins that are confined to rooms: every function and view they hold, and everything they do not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from pgjobs import Jobs, Worker
from pgjobs.drivers.confined import MEMBER_VERBS
from pgjobs.errors import Forbidden, InvalidArgument, JobNotFound, TaskNotFound, WorkerNotFound
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.release import sql_directory
from tests.postgres.test_catalog import CALLS, functions
from tests.postgres.test_roles import granted

MINUTE = timedelta(minutes=1)
SHARED = "@global:mail:Send"
HIDDEN = "shop:orders:Hidden"
OWN = "lab:orders:Own"
NOBODY = "00000000-0000-4000-8000-000000000000"

# What each function tells or does to a tenant who names something of another room: the
# SQLSTATE, or how many rows. What is granted later fails until it is put here.
MATRIX: dict[str, tuple[str, Any]] = {
    "_now": ("_now()", 1),
    "_present": ("_present()", 1),
    "_task_mask": ("_task_mask('\\x00'::bytea, '\\x00'::bytea)", None),
    "_uuid_of": ("_uuid_of(1, '\\x00'::bytea)", None),
    "help": ("help('submit_task')", None),
    "my_rooms": ("my_rooms()", 1),
    "get_job": ("get_job('{job}')", "PJ001"),
    "list_jobs": ("list_jobs('shop')", "PJ011"),
    "count_jobs": ("count_jobs('shop')", "PJ011"),
    "get_task": ("get_task({task})", "PJ002"),
    "list_tasks": ("list_tasks('shop')", "PJ011"),
    "count_tasks": ("count_tasks('shop')", "PJ011"),
    "list_attempts": ("list_attempts({task})", "PJ002"),
    "list_task_events": ("list_task_events({task})", "PJ002"),
    "watch_task": ("watch_task({task})", "PJ002"),
    "why": ("why({task})", 1),
    "overview": ("overview()", 1),
    "jobs_status": ("jobs_status(array[{job_id}])", 0),
    "throughput": ("throughput('{job}')", "PJ001"),
    "submit_tasks": ("submit_tasks('{job}', array['{{}}'::jsonb])", "PJ001"),
    "submit_task": ("submit_task('{shared}', room => 'shop')", "PJ011"),
    "submit_unique": ("submit_unique('{shared}', room => 'shop')", "PJ011"),
    "cancel_task": ("cancel_task({task})", "PJ002"),
    "cancel_tasks": ("cancel_tasks(array[{task}]) as c where c.problem <> 'PJ002'", 0),
    "register_job": ("register_job('shop', 'orders', 'Hidden')", "PJ011"),
    "register_worker": ("register_worker(jobs => array['{shared}'])", "PJ011"),
    "heartbeat_worker": ("heartbeat_worker('{worker}')", "PJ003"),
    "retire_worker": ("retire_worker('{worker}', is_superuser => true)", "PJ003"),
    "claim_tasks": ("claim_tasks(holder => 'me', lease => '1 min', job_ids => array[{job_id}])", 0),
    "mark_waiting": ("mark_waiting(in_room => 'shop')", "PJ011"),
    "start_tasks": ("start_tasks(array[{task}], array['{nobody}'::uuid]) as c where c.problem <> 'PJ002'", 0),
    "report_progress": (
        "report_progress(array[{task}], array['{nobody}'::uuid], array['1'::jsonb]) as c where c.problem <> 'PJ002'",
        0,
    ),
    "renew_tasks": (
        "renew_tasks(array[{task}], array['{nobody}'::uuid], '1 min') as c where c.problem <> 'PJ002'",
        0,
    ),
    "complete_tasks": ("complete_tasks(array[{task}], array['{nobody}'::uuid]) as c where c.problem <> 'PJ002'", 0),
    "fail_tasks": (
        "fail_tasks(array[{task}], array['{nobody}'::uuid], array['x']) as c where c.problem <> 'PJ002'",
        0,
    ),
    "release_tasks": ("release_tasks(array[{task}], array['{nobody}'::uuid]) as c where c.problem <> 'PJ002'", 0),
    "_never": ("_never()", 1),
    "_wait_phase": ("_wait_phase('time')", 1),
    "save_step": ("save_step({task}, '{nobody}'::uuid, 'charge')", "PJ002"),
    "list_steps": ("list_steps({task})", "PJ002"),
    "suspend_task": ("suspend_task({task}, '{nobody}'::uuid, 'nap', delay => '1 min')", "PJ002"),
    "call_tasks": (
        "call_tasks({task}, '{nobody}'::uuid, 'pages', '{shared}', array['1'::jsonb])", "PJ002"
    ),
    "send_signal": ("send_signal({task}, 'approved')", "PJ002"),
    "list_parents": ("list_parents({task})", "PJ002"),
    "submit_workflow": ("submit_workflow('flow', '[{{\"job\": \"{shared}\"}}]', room => 'shop')", "PJ011"),
    "get_workflow": ("get_workflow({flow})", "PJ024"),
    "list_workflows": ("list_workflows('shop')", "PJ011"),
    "list_workflow_tasks": ("list_workflow_tasks({flow})", "PJ024"),
    "get_workflow_graph": ("get_workflow_graph({flow})", "PJ024"),
    "cancel_workflow": ("cancel_workflow({flow})", "PJ024"),
    "append_log": (
        """append_log(array[{task}], array['{nobody}'::uuid], array['[{{"message": "x"}}]'::jsonb]) as c
        where c.problem <> 'PJ002'""",
        0,
    ),
    "list_log": ("list_log({task})", "PJ002"),
    "next_cursor": ("next_cursor(array[{task}])", 1),
}  # fmt: skip
VIEWS = {"my_tasks", "problems", "overview", "jobs_status", "throughput"}
WITHOUT_ROOMS = {
    "preview_schedule",
    "unmark_waiting",
    "watch_events",
    "_now",
    "_present",
    "_never",
    "_wait_phase",
    "_task_mask",
    "_uuid_of",
    "help",
    "next_cursor",
}
CONFINING = {"_rooms", "_enter", "_look_into", "_is_closed", "_own_jobs", "_tasks_in_reach"}

numbers = count(1)


class House:
    """A tenant of the lab, and what is in the shop."""

    def __init__(self, url: str, admin: Queue, role: str, names: dict[str, Any]) -> None:
        self.url, self.admin, self.role, self.names = url, admin, role, names


@asynccontextmanager
async def tenant(url: str, admin: Queue, *rooms: str) -> AsyncIterator[tuple[str, str]]:
    """A login with the role for tenants, and its address."""
    name = f"tenant{next(numbers)}_of_{urlsplit(url).path[1:]}"
    owner = await asyncpg.connect(url)
    try:
        await owner.execute(f"create role {name} login password 'secret'; grant pgjobs_tenant to {name}")
        for room in rooms:
            await admin.grant_room(name, room)
        address = urlsplit(url)
        yield name, address._replace(netloc=f"{name}:secret@{address.hostname}:{address.port}").geturl()
    finally:
        await owner.execute(f"drop role {name}")
        await owner.close()


@pytest.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    async with await Queue.connect(database_url, max_size=2) as admin:
        for room, category, name in (job.split(":") for job in (SHARED, HIDDEN, OWN)):
            await admin.register_job(room, category, name, keep=True)
        worker = await admin.register_worker("theirs", jobs=[HIDDEN, SHARED])
        hidden = (await admin.submit_task(HIDDEN, {"word": "sesame"})).task_id
        await admin.submit_task(SHARED, {"word": "sesame"}, room="shop")
        flow = await admin.submit_workflow("theirs", [{"job": SHARED, "payload": "sesame"}], room="shop")
        async with tenant(database_url, admin, "lab") as (role, url):
            names = {
                "flow": flow.id,
                "job": HIDDEN, "job_id": (await admin.get_job(HIDDEN)).id, "task": hidden, "worker": worker.id,
                "shared": SHARED, "nobody": NOBODY,
            }  # fmt: skip
            yield House(url, admin, role, names)


def test_every_function_and_view_of_tenants_is_known_to_obey():
    assert granted("tenant", "execute on function") == MATRIX.keys()
    assert granted("tenant", "select on") == VIEWS


async def test_no_function_shows_or_changes_anything_of_another_room(house: House):
    connection = await asyncpg.connect(house.url)
    await connection.execute("set search_path = pgjobs")
    told: dict[str, Any] = {}
    for name, (call, expected) in MATRIX.items():
        try:
            rows = await connection.fetch(f"select * from {call.format(**house.names)}")
        except asyncpg.PostgresError as error:
            told[name] = error.sqlstate
        else:
            told[name] = len(rows) if expected is not None else None
            assert "sesame" not in str(rows), name
    await connection.close()
    assert told == {name: expected for name, (_, expected) in MATRIX.items()}
    assert (await house.admin.get_task(house.names["task"])).status == "pending"
    assert {w.name for w in await house.admin.list_workers()} == {"theirs"}


async def test_what_exists_in_another_room_is_told_like_what_does_not(house: House):
    connection = await asyncpg.connect(house.url)
    for call, hidden, unknown in (
        ("get_job('{}')", HIDDEN, "shop:orders:Nothing"),
        ("get_task({})", house.names["task"], 4711),
        ("cancel_task({})", house.names["task"], 4711),
        ("why({})", house.names["task"], 4711),
        ("heartbeat_worker('{}')", house.names["worker"], NOBODY),
        ("submit_task('{}')", HIDDEN, "shop:orders:Nothing"),
        ("throughput('{}')", HIDDEN, "shop:orders:Nothing"),
    ):
        told = []
        for named in (hidden, unknown):
            try:
                answer = str(await connection.fetch(f"select * from pgjobs.{call.format(named)}"))
            except asyncpg.PostgresError as error:
                answer = str((error.sqlstate, str(error), error.detail, error.hint))
            told.append(
                re.sub(rf"(?<=[Tt]ask ){named}\b", "?", answer).replace(f"{named}:", "?:")
                if isinstance(named, int)
                else answer.replace(str(named), "?")
            )
        assert told[0] == told[1], call
    await connection.close()


async def test_views_show_a_tenants_own_rooms(house: House):
    await house.admin.submit_task(OWN)
    await house.admin.submit_task(SHARED, room="lab")
    connection = await asyncpg.connect(house.url)
    rows = await connection.fetch("select job, room from pgjobs.my_tasks order by id")
    assert [tuple(row) for row in rows] == [(OWN, "lab"), (SHARED, "lab")]
    assert (
        await connection.fetchval("select count(*) from pgjobs.my_tasks where id = $1", house.names["task"])
        == 0
    )
    assert [row["job"] for row in await connection.fetch("select job from pgjobs.jobs_status")] == [OWN]
    overview = await connection.fetchrow("select jobs, workers, waiting from pgjobs.overview")
    assert tuple(overview or ()) == (1, 0, 1)
    # A function of the tenant's own, however cheap it says it is, sees no row of the others.
    await connection.execute(
        "create function pg_temp.peep(text) returns boolean language plpgsql cost 0.0000001 as"
        " $$ begin raise notice '%', $1; return true; end $$"
    )
    heard: list[str] = []
    connection.add_log_listener(lambda _, message: heard.append(message.message))
    await connection.fetch("select id from pgjobs.my_tasks where pg_temp.peep(room)")
    assert set(heard) == {"lab"}
    await connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "select * from pgjobs.tasks", "select * from pgjobs.task", "select * from pgjobs.settings",
        "select * from pgjobs.secrets", "select * from pgjobs.api_tokens", "select * from pgjobs.room_grants",
        "select * from pgjobs.list_tokens()", "select * from pgjobs.create_token('eve', is_superuser => true)",
        "select * from pgjobs.list_room_grants()", "select pgjobs.grant_room(current_user::text, 'shop')",
        "select pgjobs._rooms()", "select pgjobs.task_id((select null::uuid))", "select * from pgjobs.failed",
        "select * from pgjobs.sweep()", "select * from pgjobs.find_tasks()", "set role pgjobs_producer",
    ],
)  # fmt: skip
async def test_nothing_else_is_within_a_tenants_reach(house: House, statement: str):
    connection = await asyncpg.connect(house.url)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(statement)
    await connection.close()


async def test_a_setting_cannot_widen_what_a_tenant_sees(house: House):
    connection = await asyncpg.connect(house.url)
    for rooms in ("{shop}", "{lab,shop}", ""):
        await connection.execute("select set_config('pgjobs.rooms', $1, false)", rooms)
        with pytest.raises(asyncpg.PostgresError) as refusal:
            await connection.execute("select * from pgjobs.list_tasks('shop')")
        assert refusal.value.sqlstate == "PJ011"
    await connection.execute(
        "reset role; set role pgjobs_tenant; select set_config('pgjobs.rooms', '', false)"
    )
    assert await connection.fetch("select * from pgjobs.list_tasks()") == []
    assert await connection.fetch("select * from pgjobs.my_rooms()") == []
    await connection.close()


async def test_a_tenant_lives_in_its_room_by_functions_alone(house: House):
    async with await Queue.connect(house.url, max_size=2) as queue:
        assert (await queue.register_job("lab", "orders", "New", max_attempts=3)).registered == "created"
        worker = await queue.register_worker("ours", jobs=["lab:orders:New"])
        assert worker.owner == f"role:{house.role}"
        task = (await queue.submit_task("lab:orders:New", {"n": 1}, submitter="root")).task_id
        shared = (await queue.submit_task(SHARED, room="lab")).task_id
        assert (await queue.get_task(task)).submitter == f"role:{house.role}"
        assert [t.id for t in await queue.list_tasks()] == [shared, task]
        assert [t.id for t in await queue.list_tasks(owner="nobody")] == []
        (lease,) = await queue.claim_tasks(worker.id, lease=MINUTE)
        await queue.start_task(lease)
        assert (await queue.complete_task(lease, {"ok": True})).status == "completed"
        assert (await queue.get_task(task)).result == {"ok": True}
        assert (await queue.cancel_task(shared)).status == "cancelled"
        assert (await queue.mark_waiting(worker.id)).mark
        assert (await queue.retire_worker(worker.id)).failed == 0
        for call, refusal in (
            (queue.submit_task(SHARED, room="shop"), Forbidden),
            (queue.submit_task(SHARED), Forbidden),
            (queue.submit_task(HIDDEN, room="lab"), JobNotFound),
            (queue.get_task(house.names["task"]), TaskNotFound),
            (queue.heartbeat_worker(house.names["worker"], actor="root"), WorkerNotFound),
            (queue.register_job("@global", "orders", "New"), Forbidden),
            (queue.register_job("shop", "orders", "New", is_superuser=True), Forbidden),
        ):
            with pytest.raises(refusal):
                await call
    assert [rule for rule in await house.admin.check() if rule.violations] == []


async def test_tenants_cannot_touch_one_anothers_workers(house: House, database_url: str):
    async with (
        tenant(database_url, house.admin, "lab") as (_, other_url),
        await Queue.connect(house.url, max_size=1) as ours,
        await Queue.connect(other_url, max_size=1) as theirs,
    ):
        worker = await ours.register_worker(jobs=[OWN])
        await ours.submit_task(OWN)
        for act in (theirs.heartbeat_worker, theirs.retire_worker, theirs.claim_tasks):
            with pytest.raises(WorkerNotFound):
                await act(worker.id)
        mark = (await ours.mark_waiting(worker.id)).mark
        other = await theirs.register_worker()
        await theirs.mark_waiting(other.id, previous=mark)
        admin = await asyncpg.connect(database_url)
        assert await admin.fetchval("select count(*) from pgjobs.waiting_marks where id = $1", mark) == 1
        await admin.close()


async def test_a_group_of_logins_shares_its_rooms(house: House, database_url: str):
    owner = await asyncpg.connect(database_url)
    async with (
        tenant(database_url, house.admin) as (member, url),
        tenant(database_url, house.admin, "shop") as (group, _),
        await Queue.connect(url, max_size=1) as queue,
    ):
        assert await queue.list_tasks() == []
        await owner.execute(f"grant {group} to {member}")
        assert {task.room for task in await queue.list_tasks()} == {"shop"}
        assert await house.admin.revoke_room(group, "shop")
        assert await queue.list_tasks() == []
        assert not await house.admin.revoke_room(group, "shop")
    await owner.close()


async def test_only_a_role_that_can_be_confined_is_granted_rooms(house: House, database_url: str):
    owner = await asyncpg.connect(database_url)
    name = f"both_of_{urlsplit(database_url).path[1:]}"
    await owner.execute(f"create role {name}; grant pgjobs_tenant, pgjobs_readonly to {name}")
    try:
        for role, words in (
            (name, "every room"),
            ("nobody_at_all", "no role"),
            ("pgjobs_worker", "no tenant"),
        ):
            with pytest.raises(InvalidArgument, match=words):
                await house.admin.grant_room(role, "lab")
    finally:
        await owner.execute(f"drop role {name}")
        await owner.close()
    assert [(g.role, g.room) for g in await house.admin.list_room_grants()] == [(house.role, "lab")]


async def test_other_logins_are_confined_to_nothing(house: House, database_url: str):
    """Neither a worker's login nor a program that borrows the rights of another."""
    owner = await asyncpg.connect(database_url)
    name = f"stranger_of_{urlsplit(database_url).path[1:]}"
    await owner.execute(
        f"""
        create role {name} login password 'secret';
        create function place_order() returns bigint language sql security definer
        as $$ select id from pgjobs.submit_task('{HIDDEN}') $$
        """
    )
    address = urlsplit(database_url)._replace()
    url = address._replace(netloc=f"{name}:secret@{address.hostname}:{address.port}").geturl()
    stranger = await asyncpg.connect(url)
    assert await stranger.fetchval("select place_order()") > 0
    await stranger.close()
    await owner.execute(f"drop function place_order(); drop role {name}")
    await owner.close()


async def test_a_worker_runs_with_a_tenants_login(house: House):
    jobs = Jobs(room="lab", category="orders")
    ran = asyncio.Event()

    @jobs.task()
    async def double(n: int) -> int:
        ran.set()
        return 2 * n

    async with await Queue.connect(house.url, max_size=5) as queue, Worker(queue, jobs, sweep=None):
        task = (await queue.submit_task("lab:orders:double", {"n": 21})).task_id
        async with asyncio.timeout(30):
            await ran.wait()
        assert (await queue.wait_for(task, 20)).result == 42


async def test_every_verb_that_members_and_tenants_call_asks_for_their_rooms(database_url: str):
    connection = await asyncpg.connect(database_url)
    known = await functions(connection)
    await connection.close()
    for verb in sorted((MEMBER_VERBS | MATRIX.keys()) - WITHOUT_ROOMS):
        seen, waiting = {verb}, [verb]
        while waiting:
            called = set(CALLS.findall(known[waiting.pop()]["definition"])) & known.keys() - seen
            seen |= called
            waiting += called
        assert seen & CONFINING, f"{verb} never asks pgjobs._rooms()"


def test_no_code_names_the_role_for_tenants():
    """Its prefix can be chosen, and code is the same whatever it is."""
    root = sql_directory("postgres")
    named = [path.name for path in root.rglob("*.sql") if "pgjobs_tenant" in path.read_text()]
    assert sorted(named) == ["grants.sql", "revoke_roles.sql"]
