"""What SQL could store and programs cannot read is refused by every verb that stores something."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import asyncpg
import pytest

from pgjobs.drivers.documents import Unreadable, decode, decode_parts
from pgjobs.drivers.moments import FIRST, LAST
from pgjobs.queue.server import ServerQueue as Queue
from tests.postgres.stage import JOB

NUMBERS = {
    "1e5000": "1e5000",
    "-1e5000": "-1e5000",
    "five thousand digits": "1" * 5000,
    "4301 digits": "1" * 4301,
    "1e-5000": "1e-5000",
    "a fraction too large for floats": "1" + "0" * 400 + ".5",
    "a negative one": "-1" + "0" * 400 + ".5",
}
READABLE = ["1" * 4300, "-" + "1" * 4300, "1e300", "1.5e308", "1e-300", "0." + "1" * 4000, "1" * 308 + ".5"]
TIMES = ["infinity", "-infinity", "294276-01-01", "10000-01-01 00:00:00+00", "0001-01-01 BC", "4714-11-24 BC"]

VERBS = {
    "submit_task": f"select from pgjobs.submit_task('{JOB}', $1::text::jsonb)",
    "submit_tasks": f"select from pgjobs.submit_tasks('{JOB}', array['{{}}', $1::text]::jsonb[])",
    "submit_and_show": f"select from pgjobs.submit_and_show('{JOB}', '@global', $1::text::jsonb)",
    "create_generic_jobs": "select from pgjobs.create_generic_jobs('d', 'q', 't', array[$1::text::jsonb])",
    "register_schedule": f"select from pgjobs.register_schedule('s', '{JOB}', cron => '@daily', payload => $1::text::jsonb)",
    "register_job": "select from pgjobs.register_job('@global', 'tests', 'Other', schema => $1::text::jsonb)",
    "register_provider": "select from pgjobs.register_provider('@global', 'files', 'P', schema => $1::text::jsonb)",
    "set_job_target": f"select from pgjobs.set_job_target('{JOB}', jsonb_build_object('type', 'own', 'n', $1::text::jsonb))",
}
WITH_A_LEASE = {
    "complete_tasks": "select from pgjobs.complete_tasks(array[$2::bigint], array[$3::uuid], array[$1::text::jsonb])",
    "report_progress": "select from pgjobs.report_progress(array[$2::bigint], array[$3::uuid], array[$1::text::jsonb])",
}


@pytest.fixture
async def connection(stage: Any, database_url: str):
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def refused(connection: asyncpg.Connection, text: str, *values: Any) -> asyncpg.PostgresError:
    with pytest.raises(asyncpg.PostgresError) as caught:
        await connection.fetch(text, *values)
    return caught.value


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS.keys())
async def test_numbers_that_programs_cannot_read_are_refused(
    connection: asyncpg.Connection, queue: Queue, lease: Any, number: str
):
    for document in (number, f'{{"a": [{{"b": {number}}}]}}'):
        for verb, text in VERBS.items():
            error = await refused(connection, text, document)
            assert error.sqlstate in ("PJ013", "PJ014"), (verb, error)
        for verb, text in WITH_A_LEASE.items():
            error = await refused(connection, text, document, lease.task_id, lease.token)
            assert error.sqlstate == "PJ013", (verb, error)
    assert await queue.list_schedules() == []
    assert await connection.fetchval("select count(*) from pgjobs.tasks") == 1


async def test_numbers_that_programs_can_read_are_stored(connection: asyncpg.Connection, queue: Queue):
    documents = [f'{{"a": [{number}]}}' for number in READABLE] + [json.dumps({"text": "1" * 10_000})]
    stored = []
    for document in documents:
        await connection.execute(VERBS["submit_task"], document)
        stored.append(json.loads(await connection.fetchval("select $1::text::jsonb::text", document)))
    leases = await queue.claim_tasks(
        holder="me", lease=timedelta(minutes=1), in_room="@global", quantity=len(documents)
    )
    assert [lease.payload for lease in leases] == stored


@pytest.mark.parametrize("moment", TIMES)
async def test_times_that_programs_cannot_read_are_refused(connection: asyncpg.Connection, moment: str):
    for text in (
        f"select from pgjobs.submit_task('{JOB}', available_at => $1::text::timestamptz)",
        f"select from pgjobs.submit_tasks('{JOB}', array['{{}}']::jsonb[], available_at => $1::text::timestamptz)",
        "select from pgjobs.create_generic_jobs('d', 'q', 't', array['{}']::jsonb[], available_at => $1::text::timestamptz)",
    ):
        error = await refused(connection, text, moment)
        assert error.sqlstate == "PJ014", error
        assert "years 1 to 9999" in str(error)


@pytest.mark.parametrize("delay", ["8000 years", "270000 years", "178000000 years", "-1 second"])
async def test_delays_that_end_at_no_time_are_refused(connection: asyncpg.Connection, lease: Any, delay: str):
    submit = f"select from pgjobs.submit_task('{JOB}', delay => $1::text::interval)"
    release = (
        "select from pgjobs.release_tasks(array[$2::bigint], array[$3::uuid], delay => $1::text::interval)"
    )
    assert (await refused(connection, submit, delay)).sqlstate == "PJ014"
    assert (await refused(connection, release, delay, lease.task_id, lease.token)).sqlstate == "PJ014"


@pytest.mark.parametrize("option", ["backoff_cap", "max_age", "retain_completed", "retain_failed"])
async def test_policies_that_reach_beyond_all_times_are_refused(
    connection: asyncpg.Connection, queue: Queue, option: str
):
    register = f"select from pgjobs.register_job('@global', 'tests', 'Other', {option} => '200000 years')"
    await refused(connection, register)
    assert [job.name for job in await queue.list_jobs()] == ["Work"]


async def test_a_time_stored_by_somebody_else_is_read_as_the_nearest(queue: Queue, database_url: str):
    async with await Queue.connect(database_url) as other:
        await other.submit_task(JOB, delay=timedelta(days=1))
    connection = await asyncpg.connect(database_url)
    await connection.execute("set session_replication_role = replica")
    for moment, seen in (
        ("infinity", LAST),
        ("294276-01-01", LAST),
        ("4714-11-24 BC", FIRST),
        ("-infinity", FIRST),
    ):
        await connection.execute(f"update pgjobs.scheduled set run_at = '{moment}'")
        (task,) = await queue.list_tasks()
        assert task.due_at == seen
        assert task.due_at.astimezone().tzinfo is not None
    await connection.close()


def test_a_document_that_cannot_be_held_is_its_own_beginning():
    for text in ("1" * 5000, "[" * 5000 + "]" * 5000, "[" * 300 + "]" * 300, '{"a": 1' + "0" * 400 + ".5}"):
        value = decode(text)
        assert isinstance(value, Unreadable)
        assert value.startswith(text[:100])
        assert len(value) < 300
        assert json.dumps(value)


def test_what_was_written_around_it_can_still_be_read():
    number, deep = "1" * 5000, "[" * 300 + "]" * 300
    parts = decode_parts(f'[{{"id": 7, "payload": {{"a": {number}}}, "deep": {deep}}}]')
    assert parts[0]["id"] == 7
    assert isinstance(parts[0]["payload"]["a"], Unreadable)
    assert json.dumps(parts)


@pytest.mark.parametrize("moment", [FIRST, LAST])
@pytest.mark.parametrize("hours", [-12, 14])
def test_a_nearest_time_can_be_told_in_every_zone(moment: datetime, hours: int):
    there = moment.astimezone(timezone(timedelta(hours=hours)))
    assert datetime.fromisoformat(there.isoformat()) == moment
