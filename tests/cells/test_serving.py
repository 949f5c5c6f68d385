"""One server over two cells: requests find their cell, lists are merged, a missing cell is named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from pgjobs.errors import DatabaseUnavailable, InvalidArgument
from pgjobs.queue.server import ServerQueue
from pgjobs.server import ApiSettings
from pgjobs.server.app import create_app
from pgjobs.settings import CellAddress
from tests.cells.conftest import TwoCells
from tests.surfaces.rest_server import SECRET, problem_of, serving, token_of

API = "/v1/joblib"
ROOT = token_of("root", is_superuser=True)


def app_over(two: TwoCells, **settings: Any) -> FastAPI:
    given = {
        "auth_secret": SecretStr(SECRET),
        "room_cells": {"texas": "us"},
        "allowed_categories": ["*"],
        **settings,
    }
    cells = [CellAddress(name, SecretStr(url)) for name, url in two.urls.items()]
    return create_app(settings=ApiSettings(**given), cells=cells)


@asynccontextmanager
async def asking(base: str, token: str = ROOT) -> AsyncIterator[httpx.AsyncClient]:
    # Not blocking: the relay in front of one cell runs on this event loop.
    async with httpx.AsyncClient(
        base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False
    ) as client:
        yield client


@pytest.fixture
async def api(two: TwoCells) -> AsyncIterator[httpx.AsyncClient]:
    opened = serving(app_over(two))
    base = await asyncio.to_thread(opened.__enter__)
    try:
        async with asking(base) as client:
            yield client
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)


async def found(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


async def submitted(api: httpx.AsyncClient, room: str, quantity: int = 1) -> list[str]:
    job = f"{room}:tasks:work"
    await api.put(f"{API}/rooms/{room}/jobs", json={"category": "tasks", "name": "work"})
    tasks = [
        await found(await api.post(f"{API}/rooms/{room}/tasks/{job}", json={"payload": {"n": n}}), 202)
        for n in range(quantity)
    ]
    return [task["id"] for task in tasks]


async def numbers(queue: ServerQueue) -> int:
    return (await queue.count_found_tasks()).total


async def test_a_room_leads_to_its_cell_and_others_are_at_home(two: TwoCells, api: httpx.AsyncClient):
    await submitted(api, "texas", 2)
    await submitted(api, "paris")
    assert (await numbers(two.us), await numbers(two.eu)) == (2, 1)
    listed = await api.get(f"{API}/rooms/texas/tasks")
    assert listed.headers["PgJobs-Cell"] == "us"
    assert (await found(listed))["total"] == 2


async def test_a_request_may_name_its_cell(two: TwoCells, api: httpx.AsyncClient):
    await found(
        await api.put(
            f"{API}/rooms/paris/jobs",
            json={"category": "tasks", "name": "work"},
            headers={"PgJobs-Cell": "us"},
        ),
        201,
    )
    assert (await two.us.count_jobs(None)).total == 1
    assert (await two.eu.count_jobs(None)).total == 0
    refused = await api.get(f"{API}/overview", params={"cell": "mars"})
    assert problem_of(refused) == "validation-error"


async def test_ids_of_tasks_workers_and_jobs_lead_to_their_cell(two: TwoCells, api: httpx.AsyncClient):
    [task] = await submitted(api, "texas")
    job = (await found(await api.get(f"{API}/tasks", params={"limit": 1})))["items"][0]["job"]
    shown = await api.get(f"{API}/tasks/{task}")
    assert (await found(shown))["id"] == task
    assert shown.headers["PgJobs-Cell"] == "us"
    for part in ("details", "attempts", "events", "why"):
        answer = await api.get(f"{API}/tasks/{task}/{part}")
        assert (answer.status_code, answer.headers["PgJobs-Cell"]) == (200, "us")
    answer = await api.get(f"{API}/jobs/{job}/details")
    assert (await found(answer))["full_name"] == "texas:tasks:work"
    worker = (await found(await api.get(f"{API}/workers")))["items"][0]
    assert worker["cell"] == "us"
    claimed = await found(await api.post(f"{API}/tasks/claim", json={"worker_id": worker["id"]}))
    assert claimed["task"]["id"] == task
    for status in ("running", "completed"):
        await found(await api.patch(f"{API}/tasks/{task}", json={"status": status}))
    assert (await two.us.get_task(task_uuid=UUID(task))).status == "completed"
    nobody = await api.get(f"{API}/tasks/00000000-0000-4000-8000-000000000000")
    assert problem_of(nobody) == "task-not-found"


async def test_a_workflow_is_submitted_to_the_cell_of_its_room_and_found_by_its_id(
    two: TwoCells, api: httpx.AsyncClient
):
    await submitted(api, "texas")
    entries = [{"name": "first", "job": "texas:tasks:work"}]
    made = await found(
        await api.post(f"{API}/rooms/texas/workflows", json={"name": "nightly", "tasks": entries}), 201
    )
    assert [flow.uuid for flow in await two.us.list_workflows()] == [UUID(made["id"])]
    shown = await api.get(f"{API}/workflows/{made['id']}/graph")
    assert (shown.status_code, shown.headers["PgJobs-Cell"]) == (200, "us")


async def test_tasks_of_all_cells_come_newest_first_a_page_at_a_time(two: TwoCells, api: httpx.AsyncClient):
    for room in ("paris", "texas"):
        await submitted(api, room)
    expected = []
    for place in range(20):
        expected += await submitted(api, ("paris", "texas")[place % 3 == 0])
    seen: list[tuple[str, str]] = []
    before = None
    while True:
        page = await found(
            await api.get(f"{API}/tasks", params={"limit": 3} | ({"before": before} if before else {}))
        )
        assert len(page["items"]) <= 3
        seen += [(task["id"], task["cell"]) for task in page["items"]]
        if (before := page["next"]) is None:
            break
    assert [task for task, _ in seen[:20]] == expected[::-1]
    assert len({task for task, _ in seen}) == len(seen) == 22
    assert {cell for _, cell in seen} == {"eu", "us"}
    assert (await found(await api.get(f"{API}/tasks/count")))["total"] == 22
    only = await found(await api.get(f"{API}/tasks", params={"limit": 500, "cell": "us"}))
    assert {task["cell"] for task in only["items"]} == {"us"}
    assert problem_of(await api.get(f"{API}/tasks", params={"before": "nonsense"})) == "invalid-filter"


async def test_jobs_workers_and_schedules_of_all_cells_are_listed_with_their_cell(
    two: TwoCells, api: httpx.AsyncClient
):
    for room in ("paris", "texas"):
        await submitted(api, room)
        made = await api.put(
            f"{API}/schedules",
            json={"name": "nightly", "job": f"{room}:tasks:work", "room": room, "cron": "0 3 * * *"},
        )
        await found(made, 201)
    for path in ("jobs", "workers", "workers/status", "schedules"):
        page = await found(await api.get(f"{API}/{path}"))
        assert page["total"] == 2, path
        assert sorted(item["cell"] for item in page["items"]) == ["eu", "us"], path
        second = await found(await api.get(f"{API}/{path}", params={"limit": 1, "offset": 1}))
        assert [item["id"] for item in second["items"]] == [page["items"][1]["id"]], path
    assert [item["cell"] for item in (await found(await api.get(f"{API}/jobs")))["items"]] == ["us", "eu"]


async def test_what_one_cell_answers_asks_for_its_name(two: TwoCells, api: httpx.AsyncClient):
    for path in ("overview", "throughput", "errors", "database", "workflows"):
        refused = await api.get(f"{API}/{path}")
        assert problem_of(refused) == "validation-error"
        assert "eu, us" in refused.json()["detail"]
        assert (await api.get(f"{API}/{path}", headers={"PgJobs-Cell": "us"})).status_code == 200
    cells = (await found(await api.get(f"{API}/cells")))["items"]
    assert [(cell["cell"], cell["is_home"], cell["missing"]) for cell in cells] == [
        ("eu", True, None),
        ("us", False, None),
    ]


async def test_many_tasks_are_changed_in_the_cells_that_have_them(two: TwoCells, api: httpx.AsyncClient):
    ids = [*await submitted(api, "paris", 2), *await submitted(api, "texas", 3)]
    body: dict[str, Any] = {"verb": "cancel", "ids": ids[:3]}
    done = await found(await api.post(f"{API}/tasks/actions", json=body))
    assert (done["changed"], done["refused"]) == (3, 0)
    changed, before = 0, None
    while True:
        body = {"verb": "cancel", "filter": {"status": "pending"}, "before": before}
        done = await found(await api.post(f"{API}/tasks/actions", json=body))
        changed += done["changed"]
        if (before := done["next"]) is None:
            break
    assert changed == 2


async def test_a_missing_cell_is_named_its_ids_answer_503_and_the_others_go_on(
    two: TwoCells, api: httpx.AsyncClient
):
    [task] = await submitted(api, "texas")
    [other] = await submitted(api, "paris")
    unknown = await two.us.submit_task("texas:tasks:work")
    uuid = (await two.us.get_task(unknown.task_id)).uuid
    await two.relay.close()
    listed = await api.get(f"{API}/tasks")
    assert [one["id"] for one in (await found(listed))["items"]] == [other]
    assert listed.headers["PgJobs-Missing"].startswith('us; reason="')
    assert listed.headers["PgJobs-Cells"] == "eu,us"
    assert (await api.get(f"{API}/tasks/{other}")).status_code == 200
    await submitted(api, "paris")
    for gone in (task, uuid):
        assert problem_of(await api.get(f"{API}/tasks/{gone}")) == "database-unavailable"
    ready = await api.get("/readyz")
    assert (ready.status_code, ready.json()["cells"]["eu"]) == (200, "ok")
    assert ready.json()["cells"]["us"] != "ok"
    missing = [cell["missing"] for cell in (await found(await api.get(f"{API}/cells")))["items"]]
    assert missing[0] is None
    assert missing[1]
    async with two.relay:
        async with asyncio.timeout(20):
            while "PgJobs-Missing" in (listed := await api.get(f"{API}/tasks")).headers:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert {one["cell"] for one in (await found(listed))["items"]} == {"eu", "us"}
        assert (await found(await api.get(f"{API}/tasks/{task}")))["id"] == task


async def test_the_server_starts_while_one_cell_is_away_and_not_without_any(two: TwoCells):
    await two.relay.close()
    opened = serving(app_over(two))
    base = await asyncio.to_thread(opened.__enter__)
    try:
        async with asking(base) as api:
            await submitted(api, "paris")
            assert (
                problem_of(await api.get(f"{API}/rooms/texas/jobs/texas:tasks:x")) == "database-unavailable"
            )
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)
    two.eu_url = two.relay.url
    with pytest.raises(DatabaseUnavailable, match="No cell can be asked"):
        await started(two)


async def started(two: TwoCells, **settings: Any) -> None:
    """Starts the application as a server does, and stops it."""
    app = app_over(two, **settings)
    async with app.router.lifespan_context(app):
        pass


async def test_a_database_under_two_names_is_refused(two: TwoCells):
    two.eu_url = two.relay.url
    with pytest.raises(InvalidArgument, match="eu and us give their tasks the same ids"):
        await started(two)


async def test_a_room_at_home_in_no_cell_is_refused(two: TwoCells):
    with pytest.raises(InvalidArgument, match="there is no such cell"):
        await started(two, room_cells={"x": "mars"})


async def test_strangers_learn_nothing_of_cells(two: TwoCells, api: httpx.AsyncClient):
    for path in ("tasks", "cells", "jobs", "findings"):
        answer = await api.get(f"{API}/{path}", headers={"Authorization": "Bearer nonsense"})
        assert answer.status_code == 401
        assert not [name for name in answer.headers if name.lower().startswith("pgjobs")]
        assert "eu" not in answer.text


async def test_metrics_and_upkeep_reach_every_cell(two: TwoCells, api: httpx.AsyncClient):
    await submitted(api, "texas")
    text = (await api.get("/metrics")).text
    assert 'pgjobs_cell_up{cell="us"} 1.0' in text
    assert 'jobs_queued{cell="us"' in text


async def test_events_of_all_cells_come_in_one_stream_that_resumes(two: TwoCells, api: httpx.AsyncClient):
    await submitted(api, "paris")
    await submitted(api, "texas")
    cursor = await _rooms_heard(api, {"paris", "texas"}, None, lambda: _both(api))
    # What happens while nobody listens is told to whoever resumes.
    await _both(api)
    await _rooms_heard(api, {"paris", "texas"}, cursor, None)


async def _both(api: httpx.AsyncClient) -> None:
    await submitted(api, "paris")
    await submitted(api, "texas")


async def _rooms_heard(api: httpx.AsyncClient, wanted: set[str], cursor: str | None, then: Any) -> str:
    heard: set[str] = set()
    headers = {} if cursor is None else {"Last-Event-ID": cursor}
    acting = None
    opened = 0
    async with asyncio.timeout(20), api.stream("GET", f"{API}/events", headers=headers) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("id: "):
                cursor = line.removeprefix("id: ")
            if line.startswith("retry:"):
                opened += 1
                if opened == 2 and then is not None:
                    acting = asyncio.create_task(then())
            if line.startswith("data: "):
                heard.add(json.loads(line.removeprefix("data: "))["room"])
            if heard >= wanted and (acting is None or acting.done()):
                break
    assert cursor is not None
    return cursor
