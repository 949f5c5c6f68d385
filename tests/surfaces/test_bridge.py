"""Live events over a real Socket.IO connection, on every driver."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import socketio
from socketio.exceptions import ConnectionError as Refused

from tests.surfaces.ears import Ear, eventually, listening
from tests.surfaces.rest_server import token_of

JOB = "lab:modifiers:Rotate"


async def in_thread(call: Any, *arguments: Any, **options: Any) -> Any:
    return await asyncio.to_thread(call, *arguments, **options)


async def test_a_connection_without_a_valid_token_is_refused(base):
    forged = token_of("ada", secret="x" * 40)
    for auth in (
        None,
        {},
        {"token": ""},
        {"token": "nonsense"},
        {"token": forged},
        {"token": "pgj_1"},
        "token",
    ):
        ear = Ear()
        answers: list[Any] = []
        ear.client.on("connect_error", answers.append)
        with pytest.raises(Refused):
            await ear.client.connect(base, auth=auth, transports=["websocket"], retry=False, wait_timeout=10)
        assert [answer["data"]["type"] for answer in answers] == ["/v1/problems/unauthorized"]


async def test_a_token_may_come_in_the_header_or_be_an_api_token(base, queue):
    token = await queue.create_token("ada")
    for options in (
        {"headers": {"Authorization": f"Bearer {token_of('ada')}"}},
        {"auth": {"token": token.token}},
    ):
        ear = Ear()
        await ear.client.connect(base, transports=["websocket"], **options)
        await ear.join("lab")
        await ear.client.disconnect()


async def test_a_task_is_told_of_at_every_step(base, ada):
    worker = ada.register()["worker_id"]
    async with listening(base, "ada", "lab") as ear:
        assert await ear.ask("join_job_room", job_name=JOB, worker_id=worker) == {"status": "ok"}
        task = await in_thread(ada.submit)
        pending = await ear.hears_status(task["id"], "pending")
        assert ear.named("task_available") == [{"job_name": JOB, "room_id": "lab", "task_id": task["id"]}]
        assert (pending["name"], pending["room_id"], pending["queue_position"]) == (JOB, "lab", 1)
        assert (pending["started_at"], pending["completed_at"], pending["worker_id"]) == (None, None, None)
        await in_thread(ada.claim, worker)
        claimed = await ear.hears_status(task["id"], "claimed")
        assert (claimed["worker_id"], claimed["queue_position"]) == (worker, None)
        await in_thread(ada.update, task, "running")
        assert (await ear.hears_status(task["id"], "running"))["started_at"]
        await in_thread(ada.update, task, "failed", error="it broke")
        failed = await ear.hears_status(task["id"], "failed")
        assert failed["error"] == "it broke"
        assert failed["completed_at"] >= failed["started_at"] >= failed["created_at"]
        assert ear.statuses(task["id"]) == ["pending", "claimed", "running", "failed"]


async def test_steps_that_were_missed_are_told_one_by_one_all_the_same(base, ada, queue):
    worker = ada.register()["worker_id"]
    async with listening(base, "ada", "lab") as ear:
        task = await in_thread(ada.submit)
        await in_thread(ada.claim, worker)
        for status in ("running", "completed"):
            await in_thread(ada.update, task, status)
        await ear.hears_status(task["id"], "completed")
        assert ear.statuses(task["id"]) == ["pending", "claimed", "running", "completed"]


async def test_every_change_of_status_is_told_whoever_made_it(base, queue):
    await queue.register_job(*JOB.split(":"), events="full", max_attempts=2, backoff_base=timedelta(0))
    worker = await queue.register_worker(jobs=[JOB], actor="ada")

    async def claimed(*, start: bool = False) -> Any:
        return (await queue.claim_tasks(worker.id, start=start))[0]

    async with listening(base, "ada", "lab") as ear:
        task_id = (await queue.submit_task(JOB)).task_id
        uuid = str((await queue.get_task(task_id)).uuid)
        await queue.release_task(await claimed())
        held = await claimed()
        await queue.start_tasks([held])
        await queue.fail_task(held, "first")
        await queue.sweep("scheduled")
        await queue.fail_task(await claimed(start=True), "last")
        await queue.retry_task(task_id)
        await queue.ignore_task(task_id)
        await queue.unignore_task(task_id)
        await queue.cancel_task(task_id)
        cancelled = await ear.hears_status(uuid, "cancelled")
        assert cancelled["completed_at"]
        told = ear.statuses(uuid)
        assert told[:6] == ["pending", "claimed", "pending", "claimed", "running", "pending"]
        assert told[6:9] == ["pending", "running", "failed"]
        assert told[9:] == ["pending", "pending", "pending", "cancelled"]


async def test_rooms_hear_only_of_themselves(base, ada, root):
    root.register(room="@global")
    async with listening(base, "ada", "lab") as here, listening(base, "ada", "hall") as there:
        task = await in_thread(ada.submit, "@global:modifiers:Rotate", "lab")
        await here.hears_status(task["id"], "pending")
        other = await in_thread(ada.submit, "@global:modifiers:Rotate", "hall")
        await there.hears_status(other["id"], "pending")
        assert {data["room_id"] for data in there.named("task_status_event")} == {"hall"}
        assert here.named("task_available") == there.named("task_available") == []
        assert await here.ask("leave_room", room_id="lab") == {"status": "ok"}
        await in_thread(ada.submit, "@global:modifiers:Rotate", "lab")
        last = await in_thread(ada.submit, "@global:modifiers:Rotate", "hall")
        await there.hears_status(last["id"], "pending")
        assert len(here.named("task_status_event")) == 1


async def test_a_task_submitted_for_later_is_available_when_it_is_due(base, ada, queue):
    worker = ada.register()["worker_id"]
    async with listening(base, "ada", "lab") as ear:
        await ear.ask("join_job_room", job_name=JOB, worker_id=worker)
        later = await queue.submit_task(JOB, delay=timedelta(milliseconds=400))
        uuid = str((await queue.get_task(later.task_id)).uuid)
        await ear.hears_status(uuid, "pending")
        assert ear.named("task_available") == []

        async def is_due() -> bool:
            await queue.sweep("scheduled")
            return bool(ear.named("task_available"))

        await eventually(is_due)


async def test_internal_tasks_are_not_offered_to_workers(base, queue):
    await queue.register_job("@internal", "modifiers", "Secret", events="full")
    worker = await queue.register_worker(actor="ada")
    async with listening(base, "ada", "@internal") as ear:
        await ear.ask("join_job_room", job_name="@internal:modifiers:Secret", worker_id=str(worker.id))
        await queue.submit_task("@internal:modifiers:Secret")
        await ear.hears("task_status_event")
        assert ear.named("task_available") == []


async def test_jobs_and_workers_that_come_and_go_are_told_to_their_room(base, ada):
    async with listening(base, "ada", "lab") as ear:
        worker = (await in_thread(ada.register))["worker_id"]
        await ear.hears("jobs_invalidate")
        ear.heard.clear()
        await in_thread(ada.delete, f"workers/{worker}")
        await ear.hears("jobs_invalidate")
        assert ear.heard[0] in (("jobs_invalidate", {}), ("jobs_invalidate", None))


async def test_each_way_a_job_or_its_workers_change_is_told_to_the_room_alone(base, queue):
    def register() -> Any:
        return queue.register_job("lab", "modifiers", "Rotate")

    async with listening(base, "ada", "lab") as here, listening(base, "ada", "hall") as there:

        async def is_told(change: Any) -> Any:
            here.heard.clear()
            answer = await change
            await here.hears("jobs_invalidate")
            return answer

        await is_told(register())
        worker = await is_told(queue.register_worker(jobs=[JOB]))
        await is_told(queue.retire_worker(worker.id))
        await is_told(register())
        await is_told(queue.retire_job(JOB))
        await is_told(register())
        await is_told(queue.delete_job(JOB))
        await queue.register_job("hall", "modifiers", "Rotate")
        await there.hears("jobs_invalidate")
        assert len(there.heard) == 1


async def test_a_worker_of_many_jobs_that_goes_is_told_of_once(base, queue):
    await queue.register_job(*JOB.split(":"), events="full")
    jobs = [f"lab:modifiers:Job{number}" for number in range(5)]
    for job in jobs:
        await queue.register_job(*job.split(":"))
    worker = await queue.register_worker(jobs=jobs)
    async with listening(base, "ada", "lab") as ear:
        await queue.retire_worker(worker.id)
        task = await queue.submit_task(JOB)
        await ear.hears_status(str((await queue.get_task(task.task_id)).uuid), "pending")
        assert len(ear.named("jobs_invalidate")) == 1


async def test_a_task_that_comes_back_is_offered_again(base, queue):
    await queue.register_job(*JOB.split(":"), events="full", max_attempts=2, backoff_base=timedelta(0))
    worker = await queue.register_worker(jobs=[JOB], actor="ada")
    async with listening(base, "ada", "lab") as ear:
        await ear.ask("join_job_room", job_name=JOB, worker_id=str(worker.id))
        task_id = (await queue.submit_task(JOB)).task_id
        offer = {"job_name": JOB, "room_id": "lab", "task_id": str((await queue.get_task(task_id)).uuid)}

        async def is_offered() -> None:
            await ear.hears("task_available")
            assert ear.named("task_available") == [offer]
            ear.heard.clear()

        async def claimed() -> Any:
            return (await queue.claim_tasks(worker.id))[0]

        await is_offered()
        await queue.release_task(await claimed())
        await is_offered()
        await queue.ignore_task(task_id)
        await queue.unignore_task(task_id)
        await is_offered()
        await queue.fail_task(await claimed(), "first")
        await queue.sweep("scheduled")
        await is_offered()
        await queue.fail_task(await claimed(), "last")
        await queue.retry_task(task_id)
        await is_offered()


async def test_a_read_goes_to_the_provider_and_the_answer_is_told_to_its_room(base, ada, bob):
    body = {"category": "filesystem", "name": "local"}
    async with listening(base, "bob", "lab") as browser, listening(base, "ada") as provider:
        shown = (await in_thread(ada.put, "rooms/lab/providers", json=body)).json()
        await browser.hears("providers_invalidate")
        name = "lab:filesystem:local"
        joined = await provider.ask("join_provider_room", provider_name=name, worker_id=shown["worker_id"])
        assert joined == {"status": "ok"}
        address = f"rooms/lab/providers/{name}?path=/data"
        pending = await in_thread(bob.get, address)
        assert pending.status_code == 202
        await provider.hears("provider_request")
        request_hash = pending.json()["request_hash"]
        assert provider.named("provider_request") == [
            {"request_id": request_hash, "provider_name": name, "params": '{"path":"/data"}'}
        ]
        uploaded = await in_thread(
            ada.post, f"providers/{shown['id']}/results", json={"request_hash": request_hash, "data": ["a"]}
        )
        assert uploaded.status_code == 204
        await browser.hears("provider_result_ready")
        assert browser.named("provider_result_ready") == [
            {"provider_name": name, "request_hash": request_hash}
        ]
        assert (await in_thread(bob.get, address)).json() == ["a"]
        # Whoever asked is told to look for an error too.
        broken = await in_thread(bob.get, f"rooms/lab/providers/{name}?path=/broken")
        browser.heard.clear()
        failed = {"X-Result-Status": "error", "X-Request-Hash": broken.json()["request_hash"]}
        await in_thread(ada.post, f"providers/{shown['id']}/results", json={"detail": "oh"}, headers=failed)
        await browser.hears("provider_result_ready")
        assert (await in_thread(bob.get, f"rooms/lab/providers/{name}?path=/broken")).status_code == 502
        assert browser.named("provider_request") == []


async def test_whoever_leaves_a_room_hears_no_more_of_it(base, ada):
    worker = ada.register()["worker_id"]
    shown = ada.put(
        "rooms/lab/providers", json={"category": "filesystem", "name": "local", "worker_id": worker}
    )
    provider, address = shown.json()["full_name"], f"rooms/lab/providers/{shown.json()['full_name']}"
    rooms = (("job", {"job_name": JOB}), ("provider", {"provider_name": provider}))
    async with listening(base, "ada", "lab") as ear:
        for kind, named in rooms:
            await ear.ask(f"join_{kind}_room", worker_id=worker, **named)
        await in_thread(ada.submit)
        await in_thread(ada.get, f"{address}?path=/first")
        await ear.hears("task_available", "provider_request")
        for kind, named in rooms:
            assert await ear.ask(f"leave_{kind}_room", worker_id=worker, **named) == {"status": "ok"}
        await in_thread(ada.get, f"{address}?path=/second")
        last = await in_thread(ada.submit)
        await ear.hears_status(last["id"], "pending")
        assert (len(ear.named("task_available")), len(ear.named("provider_request"))) == (1, 1)
    # Whoever left the room is still connected with the worker, until it is not.
    await eventually(lambda: ada.get("workers").json()["items"] == [])


async def test_providers_that_go_are_told_to_their_room_however_they_went(base, ada):
    body = {"category": "filesystem", "name": "local"}
    async with listening(base, "bob", "lab") as browser:
        for goes in ("providers/{id}", "workers/{worker_id}"):
            shown = (await in_thread(ada.put, "rooms/lab/providers", json=body)).json()
            await browser.hears("providers_invalidate")
            browser.heard.clear()
            assert (await in_thread(ada.delete, goes.format(**shown))).status_code == 204
            await browser.hears("providers_invalidate")
            browser.heard.clear()


async def test_nobody_joins_with_a_worker_that_is_not_theirs(base, ada, bob):
    mine = ada.register()["worker_id"]
    shown = ada.put("rooms/lab/providers", json={"category": "filesystem", "name": "local"}).json()
    own = bob.post("workers").json()["id"]
    async with listening(base, "bob") as ear:

        async def status(event: str, **data: Any) -> Any:
            return (await ear.ask(event, **data))["status"]

        assert await status("join_job_room", job_name=JOB, worker_id=mine) == 403
        assert await status("join_job_room", job_name=JOB, worker_id=str(uuid4())) == 404
        assert await status("join_job_room", job_name=JOB, worker_id="nobody") == 404
        assert await status("join_job_room", job_name=JOB) == 422
        provider = {"provider_name": shown["full_name"]}
        assert await status("join_provider_room", worker_id=shown["worker_id"], **provider) == 403
        assert await status("join_provider_room", worker_id=own, **provider) == 403
        assert await status("join_room", room_id="a:b") == 400
    assert mine in [worker["id"] for worker in ada.get("workers").json()["items"]]


async def test_a_lost_connection_takes_its_worker_away_at_once(base, ada):
    worker = ada.register()["worker_id"]
    task = ada.submit()
    ada.claim(worker)
    ada.update(task, "running")
    async with listening(base, "bob", "lab") as browser:
        async with listening(base, "ada") as ear:
            await ear.ask("join_job_room", job_name=JOB, worker_id=worker)
        failed = await browser.hears_status(task["id"], "failed")
        assert failed["error"] == "Worker disconnected"
        await browser.hears("jobs_invalidate")
    assert (await in_thread(ada.get, "workers")).json()["items"] == []
    assert (await in_thread(ada.get, f"tasks/{task['id']}")).json()["status"] == "failed"


async def test_a_worker_with_another_connection_stays(base, ada):
    worker = ada.register()["worker_id"]
    async with listening(base, "ada") as stays:
        await stays.ask("join_job_room", job_name=JOB, worker_id=worker)
        async with listening(base, "ada") as goes:
            await goes.ask("join_job_room", job_name=JOB, worker_id=worker)
        # A later request of the same server is answered after it has noticed the disconnect.
        async with listening(base, "ada"):
            pass
        items = (await in_thread(ada.get, "workers")).json()["items"]
        assert [item["id"] for item in items] == [worker]
        assert isinstance(stays.client, socketio.AsyncClient)
