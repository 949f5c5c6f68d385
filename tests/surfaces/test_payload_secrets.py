"""A secret in a payload is hidden at every door, or by a setting at none; who runs the task gets it."""

from __future__ import annotations

import sqlite3
from datetime import timedelta

import asyncpg
import pytest

from pgjobs.contrib.manager import JobManager
from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.cli.warm import run as run_command
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, token_of

JOB = "lab:modifiers:Rotate"
PAYLOAD = {"password": "hunter2", "deep": [{"api_key": "hunter2"}], "url": "https://u:hunter2@host/x", "a": 1}


pytestmark = pytest.mark.postgres_only


async def show_secrets(url: str) -> None:
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as file:
            file.execute("update settings set show_secrets = 1")
        return
    connection = await asyncpg.connect(url)
    await connection.execute("update pgjobs.settings set show_secrets = true")
    await connection.close()


async def told_by_sql(url: str, number: int, uuid: str, schedule: str) -> dict[str, str]:
    if url.startswith("sqlite"):
        return {}
    connection = await asyncpg.connect(url)
    queries = {
        "get_task": ("select * from pgjobs.get_task($1)", number),
        "get_generic_job": ("select * from pgjobs.get_generic_job($1)", number),
        "list_generic_jobs": ("select * from pgjobs.list_generic_jobs($1)", "lab"),
        "generic_jobs": ("select * from pgjobs.generic_jobs where id = $1", number),
        "show_task": ("select * from pgjobs.show_task($1)", uuid),
        "inspect_task": ("select * from pgjobs.inspect_task($1)", uuid),
        "get_schedule": ("select * from pgjobs.get_schedule($1)", schedule),
    }
    told = {name: repr(await connection.fetch(*query)) for name, query in queries.items()}
    await connection.close()
    return told


async def told_by_every_door(serve: Serve, queue: Queue, url: str) -> dict[str, str]:
    """All but the claim, before and after it; answers to whoever submits included."""
    with Api(serve(), token_of("root", is_superuser=True)) as root:
        held = root.register()["worker_id"]
        await queue.register_job(*JOB.split(":"), events="full")
        start = await queue.watch_events()
        body = {"name": "nightly", "room": "lab", "job": JOB, "cron": "@daily", "payload": PAYLOAD}
        scheduled = root.put("schedules", json=body)
        assert scheduled.status_code == 201, scheduled.text
        schedule, told = scheduled.json()["id"], {"schedule": scheduled.text}
        keyed = {"Idempotency-Key": "once"}
        for name in ("submit", "submit again"):
            made = root.post(f"rooms/lab/tasks/{JOB}", json={"payload": PAYLOAD}, headers=keyed)
            assert made.status_code == 202, made.text
            told[name] = made.text
        uuid = made.json()["id"]
        number = (await queue.get_task(task_uuid=uuid)).id
        claimed = root.post("tasks/claim", json={"worker_id": held})
        assert claimed.json()["task"]["payload"] == PAYLOAD
        for status in ("running", "completed"):
            told[status] = root.patch(f"tasks/{uuid}", json={"status": status}).text
        places = (
            "tasks", f"tasks/{uuid}", f"tasks/{uuid}/details", f"tasks/{uuid}/events", "rooms/lab/tasks",
            f"rooms/lab/jobs/{JOB}/tasks", f"schedules/{schedule}", "schedules",
        )  # fmt: skip
        told |= {place: root.get(place).text for place in places}
        with root.stream("GET", "events", headers={"Last-Event-ID": start}) as stream:
            heard = []
            for line in stream.iter_lines():
                heard.append(line)
                if "completed" in line:
                    break
            told["stream"] = "\n".join(heard)
    commands = (
        ("tasks", "show", uuid), ("tasks", "show", uuid, "--json"), ("tasks", "list", "--json"),
        ("schedules", "show", "lab:nightly"), ("schedules", "show", "lab:nightly", "--json"),
    )  # fmt: skip
    for command in commands:
        done = run_command(*command, PGJOBS_DATABASE_URL=url)
        assert done.returncode == 0, done.stderr
        told[" ".join(command)] = done.stdout
    told["Queue.get_task"] = repr(await queue.get_task(number))
    told["Queue.get_schedule"] = repr(await queue.get_schedule(schedule))
    return told | await told_by_sql(url, number, uuid, schedule)


WITH_PAYLOAD = {
    "submit", "submit again", "running", "completed", "schedule", "rooms/lab/tasks", "Queue.get_task",
    "Queue.get_schedule", "schedules show lab:nightly", "schedules show lab:nightly --json",
}  # fmt: skip


async def test_a_secret_in_a_payload_is_hidden_at_every_door(serve: Serve, queue: Queue, queue_url: str):
    told = await told_by_every_door(serve, queue, queue_url)
    assert [door for door, text in told.items() if "hunter2" in text] == []
    assert {door for door, text in told.items() if "host/x" in text} >= WITH_PAYLOAD, "the rest is still told"


async def test_by_a_setting_a_secret_is_shown_at_every_door(serve: Serve, queue: Queue, queue_url: str):
    await show_secrets(queue_url)
    told = await told_by_every_door(serve, queue, queue_url)
    with_payload = {door for door, text in told.items() if "host/x" in text}
    assert with_payload >= WITH_PAYLOAD
    assert {
        door for door in with_payload if told[door].count("hunter2") < len(("password", "api_key", "url"))
    } == set()


async def test_who_claims_a_task_gets_its_payload_as_it_is(queue: Queue):
    await queue.register_job(*JOB.split(":"), keep=True)
    await queue.submit_task(JOB, PAYLOAD)
    (lease,) = await queue.claim_tasks(holder="me", lease=timedelta(hours=1), in_room="lab")
    assert lease.payload == PAYLOAD
    manager = JobManager(queue)
    made = await manager.create_job("lab", "modifiers", "other", PAYLOAD, "ada")
    acquired = await manager.acquire_next_job("lab", "modifiers", 60, "me")
    assert acquired is not None
    assert acquired["payload"] == PAYLOAD
    for seen in (made, await manager.get_job(made["id"])):
        assert seen["payload"] == {
            **PAYLOAD,
            "password": "…",
            "deep": [{"api_key": "…"}],
            "url": "https://host/x",
        }
