"""A queue with an hour behind it, made by verbs alone: some work succeeds, some fails, some waits."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import asyncpg

from pgjobs.queue.records import Lease, Worker
from pgjobs.queue.server import ServerQueue as Queue
from tests.console.staged_schedules import stage_schedules
from tests.console.staged_workflows import stage_workflow

Answer = TypeVar("Answer")

WELCOME = "@global:mail:Welcome"
THUMBNAIL = "studio:render:Thumbnail"
TRANSCODE = "studio:render:Transcode"
SPECTRUM = "lab:analysis:Spectrum"
INVOICE = "@global:billing:Invoice"
UPLOAD = "lab:storage:Upload"
BACKUP = "lab:backups:Nightly"
LEGACY = "lab:analysis:Legacy fit"
SCHEDULED = {
    "refresh-thumbnails": THUMBNAIL,
    "daily-mail": WELCOME,
    "nightly-backup": BACKUP,
    "month-end": INVOICE,
}
ADDRESS = "https://ada:hunter2@files.example.org/drop?sig=deadbeef#part"
MINUTE = timedelta(minutes=1)


@dataclass
class Stage:
    """The tasks a test wants to talk about, by public id."""

    ids: dict[str, str] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)


@dataclass
class Time:
    """The movable clock of a test's database."""

    connection: Any
    ago: timedelta

    async def set(self, ago: timedelta) -> None:
        self.ago = ago
        await self.connection.execute("update pgjobs.test_clock set shift = $1", -ago)

    async def pass_by(self, seconds: float) -> None:
        await self.set(self.ago - timedelta(seconds=seconds))


def set_stage(url: str) -> Stage:
    return in_a_thread(_set(url))


def in_a_thread(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Runs something in a loop of its own: in this thread Playwright's is running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def _set(url: str) -> Stage:
    stage = Stage()
    connection = await asyncpg.connect(url)
    time = Time(connection, timedelta(minutes=61))
    await time.set(time.ago)
    # A page that is looked at slowly should not fall silent meanwhile.
    await connection.execute("update pgjobs.settings set worker_timeout = '10 minutes'")
    async with await Queue.connect(url) as queue:
        await _register(queue, stage)
        await _incomplete_runs(queue, connection, time)
        await stage_schedules(queue, time, SCHEDULED, stage.workers["mailer"], stage.workers["renderer-1"])
        await time.set(timedelta(minutes=61))
        await _an_hour(queue, stage, time)
        await _the_last_minute(queue, stage, time)
        await queue.sweep("rollups")
        await time.set(timedelta())
        for name in ("renderer-1", "renderer-2", "mailer"):
            await queue.heartbeat_worker(stage.workers[name].id, clock=datetime.now(UTC))
            stage.ids[name] = str(stage.workers[name].id)
        await queue.sweep("rollups")
        await queue.sweep("errors")
    await connection.execute("vacuum analyze")
    await connection.close()
    return stage


async def _register(queue: Queue, stage: Stage) -> None:
    jobs: dict[str, dict[str, Any]] = {
        WELCOME: {"max_attempts": 3},
        INVOICE: {"max_attempts": 5, "backoff_base": 10 * MINUTE},
        THUMBNAIL: {"max_attempts": 3, "events": "full"},
        TRANSCODE: {"max_attempts": 2, "events": "full"},
        SPECTRUM: {"schema": {"type": "object", "properties": {"sample": {"type": "integer"}}}},
        UPLOAD: {"max_attempts": 8, "backoff_base": 30 * MINUTE},
        LEGACY: {},
    }
    for job, options in jobs.items():
        await queue.register_job(*job.split(":", 2), **options)
    served = {
        "mailer": [WELCOME, INVOICE],
        "renderer-1": [THUMBNAIL, TRANSCODE],
        "renderer-2": [THUMBNAIL, TRANSCODE, UPLOAD],
    }
    for name, addresses in served.items():
        stage.workers[name] = await queue.register_worker(name, jobs=addresses, actor="ops")


async def _an_hour(queue: Queue, stage: Stage, time: Time) -> None:
    chance = random.Random(7)
    # Each minute's work begins ten seconds into it and ends within it, whenever the stage is set.
    begun = timedelta(seconds=datetime.now(UTC).second - 10)
    meanwhile = {
        25: lambda: _what_runs_left_behind(queue),
        14: lambda: _what_waits(queue, stage),
        9: lambda: _what_is_put_away(queue, stage),
        7: lambda: _a_workflow(queue, stage, time),
    }
    for minute in range(60, 1, -1):
        await time.set(timedelta(minutes=minute) + begun)
        if minute in meanwhile:
            await meanwhile[minute]()
        busy = 10 + int(8 * abs((minute % 30) - 15) / 15) + chance.randint(0, 5)
        await queue.submit_tasks(WELCOME, [{"to": f"user-{n}@example.org"} for n in range(busy)])
        await queue.submit_tasks(THUMBNAIL, [{"image": n} for n in range(busy // 2)], room="studio")
        await time.pass_by(chance.choice([0.2, 0.5, 1, 2, 4]))
        for name in ("mailer", "renderer-1"):
            await queue.heartbeat_worker(stage.workers[name].id)
            leases = await queue.claim_tasks(stage.workers[name].id, quantity=60, start=True)
            await time.pass_by(chance.choice([0.4, 1, 2]))
            if minute % 9 == 0:
                await queue.fail_tasks(leases[:1], ["SMTP 550: mailbox unavailable"], retryable=[False])
                leases = leases[1:]
            await queue.complete_tasks(leases, [{"ok": True}] * len(leases))
    await queue.sweep("rollups")


async def _incomplete_runs(queue: Queue, connection: Any, time: Time) -> None:
    """A clean-up that was given up."""
    await connection.execute("update pgjobs.settings set cleanup_after = '1 microsecond'")
    await time.set(timedelta(days=10))
    await queue.register_job(*BACKUP.split(":"))
    await queue.set_job_target(BACKUP, {"type": "local_dir", "base_dir": "/srv/backups"}, node_id="hub")
    await _incomplete_run(queue)
    for _ in range(20):
        [lease] = await queue.claim_cleanups("cleaner")
        await queue.fail_task(lease.held, "No route to host nas-2.example.org", kind="network")
        await time.pass_by(6.2 * 3600)


async def _what_runs_left_behind(queue: Queue) -> None:
    webdav = {"type": "webdav", "base_url": "https://dav.example.org/backups", "secret_name": "dav"}
    await queue.set_job_target(BACKUP, webdav, node_id="agent-7")
    for error, kind in (
        ("403 Forbidden from https://ada:hunter2@dav.example.org/backups?sig=deadbeef#part", "auth"),
        ("Connection refused by dav.example.org", "network"),
    ):
        await _incomplete_run(queue)
        [lease] = await queue.claim_cleanups("cleaner")
        await queue.fail_task(lease.held, error, kind=kind)
    await _incomplete_run(queue)
    [lease] = await queue.claim_cleanups("cleaner")
    await queue.complete_task(lease.held, {"outcome": "deleted"})
    run = await _incomplete_run(queue)
    await queue.ignore_cleanup(run, actor="ops", reason="kept for the auditors")
    await _incomplete_run(queue)
    await queue.claim_cleanups("cleaner", lease=timedelta(hours=24))
    await _incomplete_run(queue)


async def _incomplete_run(queue: Queue) -> UUID:
    submitted = await queue.submit_task(BACKUP, {"volume": "home"})
    job_id = (await queue.get_job(BACKUP)).id
    leases = await queue.claim_tasks(holder="agent", lease=MINUTE, job_ids=[job_id], start=True)
    await queue.fail_tasks(leases, ["the agent went away"])
    await queue.reconcile_cleanups()
    return (await queue.get_task(submitted.task_id)).uuid


async def _the_last_minute(queue: Queue, stage: Stage, time: Time) -> None:
    """What a page shows first: a bit of everything, under way or just over."""
    mailer = stage.workers["mailer"].id
    for ago in (75, 62, 50):
        await time.set(timedelta(seconds=ago))
        await _some_succeed(queue, stage, time, 8)
    await _failing(queue, stage)
    await time.set(timedelta(seconds=31))
    await _some_succeed(queue, stage, time, 4)
    await time.set(timedelta(seconds=20))
    await _under_way(queue, stage, time)
    await time.set(timedelta(seconds=4))
    await queue.submit_tasks(WELCOME, [{"to": "ada@example.org"}, {"to": "bob@example.org"}])
    leases = await queue.claim_tasks(mailer, quantity=2, start=True)
    await time.pass_by(0.8)
    await queue.fail_task(leases[1], "SMTP 451: mailbox busy, try again later", kind="network")
    await queue.complete_task(leases[0], {"ok": True})


async def _some_succeed(queue: Queue, stage: Stage, time: Time, count: int) -> None:
    await queue.submit_tasks(WELCOME, [{"to": "everybody@example.org"}] * count)
    await queue.submit_tasks(THUMBNAIL, [{"image": n} for n in range(count // 4)], room="studio")
    for name in ("mailer", "renderer-1"):
        leases = await queue.claim_tasks(stage.workers[name].id, quantity=count, start=True)
        await time.pass_by(1.4)
        await queue.complete_tasks(leases)


async def _under_way(queue: Queue, stage: Stage, time: Time) -> None:
    worker = stage.workers["renderer-1"].id
    for n, name in enumerate(("running", "running2", "claimed")):
        task = await queue.submit_task(
            TRANSCODE, {"file": f"talk-{n}.mp4", "preset": "1080p"}, room="studio", owner="ada"
        )
        await _note(queue, stage, name, task.task_id)
    held = await queue.claim_tasks(worker, quantity=2, start=True)
    await queue.report_progress(
        held,
        [{"done": 312, "total": 480, "message": "frame 312 of 480"}, {"done": 40, "total": 480}],
    )
    stopped = await queue.get_task(task_uuid=UUID(stage.ids["running2"]))
    await queue.cancel_task(stopped.id, actor="ops", reason="wrong preset")
    await time.pass_by(6)
    await queue.claim_tasks(stage.workers["renderer-2"].id, quantity=1)


async def _what_waits(queue: Queue, stage: Stage) -> None:
    for number in range(6):
        task = await queue.submit_task(SPECTRUM, {"sample": number}, room="lab", owner="ada", tags=["night"])
        await _note(queue, stage, "nobody", task.task_id)
    await queue.pause_job(INVOICE, actor="ops", reason="prices are being changed")
    await _note(queue, stage, "paused", (await queue.submit_task(INVOICE, {"customer": 7})).task_id)
    task = await queue.submit_task(THUMBNAIL, {"image": 900}, room="studio", delay=timedelta(hours=3))
    await _note(queue, stage, "later", task.task_id)


async def _a_workflow(queue: Queue, stage: Stage, time: Time) -> None:
    now = time.ago
    stage.ids |= await stage_workflow(queue, time)
    await time.set(now)


async def _what_is_put_away(queue: Queue, stage: Stage) -> None:
    task = await queue.submit_task(LEGACY, {}, room="lab")
    await queue.cancel_task(task.task_id, actor="ops", reason="replaced by Spectrum")
    await _note(queue, stage, "cancelled", task.task_id)
    await queue.archive_job(LEGACY, actor="ops")
    registered = await queue.register_provider(
        "lab", "files", "Archive disk", worker_id=stage.workers["renderer-2"].id
    )
    for number in range(3):
        key = f"provider-result:{registered.provider_id}:{number:064x}"
        await queue.store_read(key, b"{}", 30 * MINUTE)
    await queue.register_provider("@global", "catalog", "Products", worker_id=stage.workers["mailer"].id)


async def _failing(queue: Queue, stage: Stage) -> None:
    worker = stage.workers["renderer-2"].id
    secret = {"file": "a.bin", "target": ADDRESS, "api_key": "k-12345", "size": 1048576}
    endings: dict[str, dict[str, Any]] = {
        "retrying": {"error": "ConnectionError: files.example.org refused the connection", "kind": "network"},
        "blocked": {"error": "401 Unauthorized: the upload token has expired", "kind": "auth"},
        "failed": {
            "error": "ValueError: checksum of part 3 differs\nexpected 9f2c, got 41aa",
            "kind": "data",
        },
        "ignored": {"error": "ValueError: file is empty", "kind": "data"},
    }
    for name, ending in endings.items():
        task = await queue.submit_task(UPLOAD, secret, room="lab", owner="bob", idempotency_key=f"up-{name}")
        [lease] = await queue.claim_tasks(worker, quantity=1, start=True)
        assert isinstance(lease, Lease)
        await queue.fail_task(
            lease, ending["error"], kind=ending["kind"], retryable=name in ("retrying", "blocked")
        )
        await _note(queue, stage, name, task.task_id)
    task_id = (await queue.find_tasks(matching="up-ignored", room="lab")).found[0]["id"]
    stage.ids["ignored"] = task_id
    ignored = await queue.list_tasks(status="failed", job=UPLOAD, room="lab")
    await queue.ignore_task(ignored[0].id, actor="ops", reason="the customer sent it again")


async def _note(queue: Queue, stage: Stage, name: str, task_id: int) -> None:
    stage.ids[name] = str((await queue.get_task(task_id)).uuid)
