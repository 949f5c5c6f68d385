"""Looking at a real streaming standby: every verb of the read-only role, and a server that reads from it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from pgjobs.cli.app import app as commands
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.embedded import EmbeddedPostgres
from pgjobs.server import ApiSettings
from pgjobs.server.app import create_app
from tests.postgres.test_roles import granted
from tests.reliability.nodes import Pair
from tests.surfaces.rest_server import SECRET, token_of

JOB = "@global:tests:Work"
MINUTE = timedelta(minutes=1)
CALLS = """
select p.proname as name, format('select * from pgjobs.%I(%s)', p.proname, coalesce((
  select string_agg(format('%s => %s::%s', p.proargnames[t.place], coalesce(v.value, '?'), format_type(t.kind, null)), ', ')
  from unnest(p.proargtypes) with ordinality as t (kind, place)
  left join jsonb_each_text($2::jsonb) as v on v.key = p.proargnames[t.place]
  where t.place <= p.pronargs - p.pronargdefaults or p.proname = 'why' and t.place = 1
), '')) as call
from pg_proc as p
where p.pronamespace = 'pgjobs'::regnamespace and p.proname = any ($1) and p.prosecdef
order by 1
"""
UNKNOWN_THERE = {"findings", "show_findings", "providers_status"}
"""What a standby answers differently, and says so: it holds no unlogged tables."""
TOKEN = {"authorization": f"Bearer {token_of('ada', is_superuser=True)}"}


@asynccontextmanager
async def readonly(server: EmbeddedPostgres | None) -> AsyncIterator[asyncpg.Connection[Any]]:
    assert server is not None
    connection = await asyncpg.connect(server.url)
    try:
        await connection.execute("set role pgjobs_readonly")
        yield connection
    finally:
        await connection.close()


async def caught_up(pair: Pair) -> None:
    """What is committed on the primary now is shown by its standby."""
    assert pair.standby is not None
    primary, standby = await asyncpg.connect(pair.primary.url), await asyncpg.connect(pair.standby.url)
    written = await primary.fetchval("select pg_current_wal_insert_lsn()")
    async with asyncio.timeout(30):
        while await standby.fetchval("select pg_last_wal_replay_lsn() < $1", written):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await primary.close()
    await standby.close()


async def furnished(queue: Queue) -> dict[str, str]:
    """Something of everything that can be looked at; SQL of the values that verbs ask for, by name."""
    await queue.register_job("@global", "tests", "Work", max_attempts=2)
    await queue.limit_job(JOB, 5, max_running_per_key=2)
    worker = await queue.register_worker("crew", jobs=[JOB])
    await queue.submit_tasks(JOB, [{"n": 1}, {"n": 2}], keys=["a", "b"])
    [lease] = await queue.claim_tasks(worker_id=worker.id, lease=MINUTE, quantity=1)
    await queue.start_tasks([lease])
    await queue.complete_tasks([lease], [{"fine": True}])
    later = await queue.submit_task(JOB, {"n": 3}, delay=timedelta(hours=1))
    await queue.register_schedule("nightly", JOB, cron="0 3 * * *")
    provider = await queue.register_provider("@global", "files", "Local", worker_id=worker.id)
    await queue.store_read(f"read:{provider.provider_id}:1", b"kept", MINUTE)
    await queue.mark_waiting(worker_id=worker.id)
    await queue.sweep()
    task = await queue.get_task(later.task_id)
    quoted = {
        "task_uuid": task.uuid, "job": JOB, "room": "@global", "provider": "@global:files:Local", "worker_id": worker.id,
        "run_id": task.uuid, "moment": "now", "role": "pgjobs_readonly", "payload": "{}", "line": "x",
        "domain": "@global", "queue": "tests",
    }  # fmt: skip
    return {
        **{name: f"'{value}'" for name, value in quoted.items()},
        **dict.fromkeys(("task_id", "id"), str(task.id)),
        "task_ids": f"array[{task.id}]",
    }


async def answer(connection: asyncpg.Connection[Any], call: str) -> list[tuple[Any, ...]] | str:
    """Rows without what changes while one looks, or which of our own refusals it was."""
    try:
        rows = await connection.fetch(call)
    except asyncpg.PostgresError as error:
        if re.fullmatch("PJ...", error.sqlstate or ""):
            return str(error.sqlstate)
        raise AssertionError(f"{call}: {error.sqlstate} {error}") from error
    return [tuple(map(_steady, row.values())) for row in rows]


def _steady(value: Any) -> Any:
    """Ages and moments go on while one looks."""
    return (
        re.sub(r"\d+ (ms|s|min)\b", "n s", value)
        if isinstance(value, str)
        else isinstance(value, int) and value
    )


async def test_a_standby_answers_every_verb_of_the_read_only_role_and_a_server_reads_from_it(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
):
    await every_verb_and_view_answers(pair)
    await a_server_reads_from_it(pair, monkeypatch)


async def every_verb_and_view_answers(pair: Pair) -> None:
    """As on the primary; what cannot be known on a standby is said."""
    async with await Queue.connect(pair.url) as queue:
        known = await furnished(queue)
    await caught_up(pair)
    async with readonly(pair.standby) as standby, readonly(pair.primary) as primary:
        assert await standby.fetchval("select pg_is_in_recovery()")
        rows = await primary.fetch(
            CALLS, sorted(granted("readonly", "execute on function")), json.dumps(known)
        )
        calls = {row["name"]: row["call"] for row in rows}
        assert len(calls) > 50
        assert [call for call in calls.values() if "?" in call] == []
        views = {view: f"select * from pgjobs.{view}" for view in granted("readonly", "select on")}
        moving = {
            "storage",
            "throughput",
            "overview",
            "top",
            "metrics",
            "list_metrics",
            "replication_position",
        }
        for name, call in {**calls, **views}.items():
            there, here = await answer(standby, call), await answer(primary, call)
            if name in UNKNOWN_THERE | moving | {"show_database", "watch_events", "list_events"}:
                assert (len(there) > 0) == (len(here) > 0) or name in UNKNOWN_THERE, call
            else:
                assert there == here, call
        told = await standby.fetch("select * from pgjobs.findings where subject = 'server'")
        assert [row["message"][:18] for row in told] == ["This is a standby:"]
        [provider] = await standby.fetch("select * from pgjobs.providers_status()")
        assert (provider["is_alive"], provider["kept"], provider["in_flight"]) == (True, None, None)


@asynccontextmanager
async def served(queue: Queue) -> AsyncIterator[FastAPI]:
    app = create_app(queue, settings=ApiSettings(auth_secret=SECRET, run_schedules=False, run_cleanup=False))
    async with app.router.lifespan_context(app):
        yield app


def browser(app: FastAPI) -> httpx.AsyncClient:
    """Somebody with cookies of their own."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://jobs", headers=TOKEN)


async def seen(client: httpx.AsyncClient) -> tuple[int, str]:
    """How many tasks a list shows, and who answered."""
    answer = await client.get("/v1/joblib/tasks")
    assert answer.status_code == 200, answer.text
    return len(answer.json()["items"]), answer.headers["PgJobs-Read"]


async def until(client: httpx.AsyncClient, source: str) -> tuple[int, str]:
    async with asyncio.timeout(30):
        while source not in (found := await seen(client))[1]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return found


async def replay(pair: Pair, what: str) -> None:
    assert pair.standby is not None
    connection = await asyncpg.connect(pair.standby.url)
    await connection.execute(f"select pg_wal_replay_{what}()")
    await connection.close()


async def a_server_reads_from_it(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is late or away, or whoever asks has just written."""
    assert pair.standby is not None
    monkeypatch.setenv("PGJOBS_READ_URL", pair.standby.url)
    monkeypatch.setenv("PGJOBS_READ_MAX_LAG_SECONDS", "3")
    monkeypatch.setenv("PGJOBS_DATABASE_URL", pair.primary.url)
    async with (
        await Queue.connect(pair.url) as queue,
        served(queue) as app,
        browser(app) as writer,
        browser(app) as other,
    ):
        was = len(await queue.list_tasks())
        is_now = was + 1
        assert re.fullmatch(r"standby; lag=\d\.\d", (await until(other, "standby"))[1])
        await caught_up(pair)
        await replay(pair, "pause")
        answer = await writer.post("/v1/joblib/rooms/@global/tasks/@global:tests:Work", json={"payload": {}})
        assert answer.status_code == 202
        # The one who wrote is shown it, by cookie or by header; others see what was, for a while.
        assert await seen(writer) == (is_now, 'primary; reason="you have just written"')
        moment = {"PgJobs-Written-At": answer.headers["PgJobs-Written-At"]}
        told = await other.get("/v1/joblib/tasks", headers=moment)
        assert (len(told.json()["items"]), told.headers["PgJobs-Read"][:7]) == (is_now, "primary")
        assert (await seen(other))[0] == was
        assert "s behind" in (await until(other, "primary"))[1]
        assert (await seen(other))[0] == is_now
        # What is not there yet is asked of the primary, whoever asks.
        await replay(pair, "resume")
        assert (await until(writer, "standby"))[0] == is_now
        watched = await asyncio.to_thread(CliRunner().invoke, commands, ["top", "--once"])
        assert "Read from a standby, up to 0." in watched.stderr, watched.output
        metrics = await other.get("/metrics")
        assert "jobs_backlog" in metrics.text
        assert metrics.headers["PgJobs-Read"].startswith("standby")

        await asyncio.to_thread(pair.standby.stop)
        assert (await seen(other))[0] == is_now
        await until(other, "standby is away")
        await asyncio.to_thread(pair.standby.start)
        assert (await until(other, "standby"))[0] == is_now
        # Without a primary the standby answers however late it may be: that is more than nothing.
        await pair.kill_primary()
        await asyncio.sleep(3.2)
        assert (await seen(other))[0] == is_now
        assert (await seen(other))[1].startswith("standby; lag=")
