"""What Postgres refuses by number, type or SQLSTATE becomes an error of ours that names the argument."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from pgjobs import sync
from pgjobs.drivers.arguments import Call
from pgjobs.drivers.documents import Encoded
from pgjobs.drivers.signatures import Parameter, signature_of
from pgjobs.drivers.statements import Refusal, problem_of
from pgjobs.errors import Forbidden, InvalidArgument, LeaseLost, SchemaBehind, SchemaChanged
from pgjobs.queue.server import ServerQueue as Queue

VERBS = [path.stem for path in Path("sql/postgres/verbs").rglob("*.sql")]
JOB = "@global:tests:Echo"
DECLARED = """
select p.proname as verb, p.proargnames[1:p.pronargs] as names, p.pronargs - p.pronargdefaults as required,
  array(select format_type(t.type, null) from unnest(p.proargtypes::oid[]) with ordinality as t (type, place) order by place) as kinds
from pg_proc as p
where p.pronamespace = 'pgjobs'::regnamespace and p.prosecdef
"""

Act = Callable[..., Any]


@pytest.fixture(params=["asyncpg", "psycopg", "psycopg, bound", "asyncpg, bound"])
async def act(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Act]:
    """Calls a method of a queue, through each driver."""
    async with await Queue.connect(database_url, max_size=2) as queue:
        await queue.register_job("@global", "tests", "Echo")
        if request.param == "asyncpg":
            yield lambda verb, *args, **named: getattr(queue, verb)(*args, **named)
        elif request.param == "asyncpg, bound":
            connection = await asyncpg.connect(database_url)
            bound = queue.bound_to(connection)
            yield lambda verb, *args, **named: getattr(bound, verb)(*args, **named)
            await connection.close()
        else:
            with sync.Queue.connect(database_url) as opened, psycopg.connect(database_url) as own:
                blocking = opened.bound_to(own) if "bound" in request.param else opened
                yield lambda verb, *args, **named: asyncio.to_thread(getattr(blocking, verb), *args, **named)


async def test_drivers_know_the_arguments_that_the_catalogue_has(database_url):
    connection = await asyncpg.connect(database_url)
    rows = await connection.fetch(DECLARED)
    await connection.close()
    known = {
        row["verb"]: tuple(
            Parameter(name, kind.replace("timestamp with time zone", "timestamptz"), place < row["required"])
            for place, (name, kind) in enumerate(zip(row["names"] or [], row["kinds"], strict=True))
        )
        for row in rows
    }
    assert {verb: signature_of(verb).parameters for verb in VERBS} == {verb: known[verb] for verb in VERBS}


BAD: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], str]] = {
    "no job": ("submit_task", (None,), {}, "job is required"),
    "no room": ("register_job", (None, "c", "n"), {}, "room is required"),
    "a number for text": ("register_job", ("@global", "c", timedelta(1)), {}, "name must be text. Got "),
    "text for a number": ("submit_task", (JOB,), {"priority": "high"}, "priority must be a whole number. Got 'high'"),
    "an object for text": ("submit_task", (JOB,), {"owner": {"a": 1}}, "owner must be text. Got {'a': 1}"),
    "a number beyond integers": ("submit_task", (JOB,), {"priority": 2**40}, "priority must be a whole number"),
    "a NUL character": ("submit_task", (JOB,), {"project": "a\0"}, "project must be text"),
    "a lone surrogate": ("submit_task", (JOB,), {"owner": "\ud800"}, "owner must be text"),
    "text for a list": ("submit_task", (JOB,), {"tags": "red"}, "tags must be a list, each text"),
    "text for documents": ("submit_tasks", (JOB, "abc"), {}, "payloads must be a list of JSON documents"),
    "too many attempts": ("submit_task", (JOB,), {"max_attempts": 40_000}, "max_attempts must be between 1 and 10000"),
    "a delay of ages": ("submit_task", (JOB,), {"delay": timedelta(3_000_000)}, "delay must be between zero and 1000 years"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
async def test_an_argument_that_cannot_be_is_named(act, what):
    verb, args, named, message = BAD[what]
    with pytest.raises(InvalidArgument) as refused:
        await act(verb, *args, **named)
    assert str(refused.value).startswith(message)
    assert "$" not in str(refused.value)


async def test_a_time_that_postgres_cannot_hold_is_refused_by_us(act):
    with pytest.raises(InvalidArgument):
        await act("submit_task", JOB, delay=timedelta.max)


async def test_what_only_some_drivers_refuse_is_refused_by_us_as_well(act):
    with suppress(InvalidArgument):
        await act("register_job", "@global", "tests", "Other", jitter_share=True)


async def test_a_document_too_deep_for_postgres_is_refused_by_us(act):
    deep = Encoded("[" * 100_000 + "]" * 100_000)
    with pytest.raises(InvalidArgument, match="too large or too deep") as refused:
        await act("submit_tasks", JOB, [deep])
    assert "max_stack_depth" not in str(refused.value)


async def test_a_task_that_is_due_when_no_calendar_reaches_is_refused_from_sql_too(database_url):
    connection = await asyncpg.connect(database_url)
    await connection.execute("select pgjobs.register_job('@global', 'tests', 'Echo')")
    for due in ("12000-01-01", "infinity", "-infinity"):
        with pytest.raises(asyncpg.PostgresError, match="available_at must be a time") as refused:
            await connection.execute(f"select pgjobs.submit_task('{JOB}', available_at => '{due}')")
        assert refused.value.sqlstate == InvalidArgument.sqlstate
    await connection.close()


@pytest.mark.parametrize(
    ("sqlstate", "message", "expected"),
    [
        ("54001", "stack depth limit exceeded", InvalidArgument),
        ("22008", "timestamp out of range", InvalidArgument),
        ("22003", "smallint out of range", InvalidArgument),
        ("22P02", "invalid input syntax for type uuid", InvalidArgument),
        ("22P05", "unsupported Unicode escape sequence", InvalidArgument),
        ("22021", "invalid byte sequence for encoding", InvalidArgument),
        ("22007", "invalid input syntax for type interval", InvalidArgument),
        ("0A000", "cannot accept a value of type anyelement", InvalidArgument),
        ("0A000", "cached plan must not change result type", SchemaChanged),
        ("42883", "function pgjobs.pause_job(job => unknown) does not exist", SchemaBehind),
        ("42P01", 'relation "pgjobs.jobs" does not exist', SchemaBehind),
        ("42501", "permission denied for function pause_job", Forbidden),
        ("PJ007", "The lease is lost", LeaseLost),
        ("57014", "canceling statement due to user request", None),
        ("40001", "could not serialize access", None),
        (None, "the connection is closed", None),
    ],
)
def test_a_sqlstate_stands_for_one_of_our_errors(sqlstate, message, expected):
    problem = problem_of(Refusal(sqlstate, message), Call("pause_job", {"job": JOB}))
    assert type(problem) is (expected or type(None))


def test_a_number_is_a_name_where_only_the_context_has_it():
    call = Call("submit_task", {"job": JOB, "room": None, "owner": "ada"})
    refusal = Refusal("22P02", "invalid input syntax", context="unnamed portal parameter $2 = 'ada'")
    assert str(problem_of(refusal, call)) == "owner: invalid input syntax"
    told = "invalid input for query argument $2: 'ada' (out of luck)"
    assert str(problem_of(Refusal("22000", told), call)) == "owner: 'ada' (out of luck)"


async def test_a_traceback_says_what_to_do(empty_database_url):
    async with await Queue.connect(empty_database_url) as queue:
        with pytest.raises(SchemaBehind) as behind:
            await queue.submit_task(JOB)
    assert traceback.format_exception_only(behind.value)[0].endswith("does not exist. Run: pgjobs migrate\n")


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({}, "Not so"),
        ({"detail": "Seven."}, "Not so. Seven."),
        ({"hint": "Try eight."}, "Not so. Try eight."),
        ({"detail": "Seven.", "hint": "Try eight."}, "Not so. Seven. Try eight."),
    ],
)
def test_an_error_reads_as_message_detail_and_hint(parts, told):
    assert str(InvalidArgument("Not so", **parts)) == told
