"""What the demo leaves to look at in the console."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import SecretStr

from pgjobs import Worker
from pgjobs.cli import demo_traffic
from pgjobs.cli.demo import jobs
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import ApiSettings
from pgjobs.server.app import create_app
from tests.surfaces.rest_server import SECRET, serving
from tests.surfaces.worker.patience import until

pytestmark = pytest.mark.postgres_only


@pytest.mark.long
async def test_the_demo_shows_all_that_the_console_is_for(database_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(demo_traffic, "BEAT", 0.2)
    monkeypatch.setattr(demo_traffic, "OFTEN", timedelta(seconds=1))
    async with await Queue.connect(database_url) as queue:
        await queue.migrate()
        with serving(
            create_app(url=database_url, settings=ApiSettings(auth_secret=SecretStr(SECRET)))
        ) as base:
            jobs.use(queue)
            async with (
                Worker(queue, jobs, name="dev") as worker,
                demo_traffic.demo_traffic(queue, worker, base),
            ):
                await until(lambda: shows_it_all(queue), timeout=60)
            assert [token for token in await queue.list_tokens("demo") if token.revoked_at is None] == []


async def shows_it_all(queue: Queue) -> bool:
    delivered = await queue.list_tasks(job=demo_traffic.DELIVER, page_size=200)
    [upload, *_] = [*await queue.list_tasks(job=demo_traffic.UPLOAD), None]
    [cleanup, *_] = [*await queue.list_cleanups(), None]
    schedules = {schedule.name: schedule for schedule in await queue.list_schedules()}
    answered = sum(provider.kept or 0 for provider in await queue.providers_status())
    return (
        {"completed"} < {task.phase or task.status for task in delivered}
        and any(task.phase == "retrying" for task in delivered)
        and upload is not None
        and upload.phase == "blocked"
        and cleanup is not None
        and (cleanup.status, cleanup.attempts) == ("blocked", 1)
        and answered > 0
        and {name: schedule.state for name, schedule in schedules.items()}
        == {"hello": "active", "nightly report": "active", "monthly export": "paused"}
        and "completed" in {run.status for run in schedules["hello"].recent}
    )


async def test_what_the_demo_schedules_is_left_as_people_left_it(queue: Queue):
    jobs.use(queue)
    await jobs.register()
    await demo_traffic._schedule(queue)
    await queue.resume_schedule("@global:monthly export")
    await queue.pause_schedule("@global:hello")
    await demo_traffic._schedule(queue)
    states = {schedule.name: schedule.state for schedule in await queue.list_schedules()}
    assert states == {"hello": "paused", "nightly report": "active", "monthly export": "active"}


async def test_runs_of_other_jobs_are_not_cleaned_up_before_their_time(queue: Queue):
    await queue.register_job("lab", "backups", "Nightly")
    await queue.set_job_target("lab:backups:Nightly", {"type": "local_dir", "base_dir": "/srv"})
    await queue.submit_task("lab:backups:Nightly")
    leases = await queue.claim_tasks(holder="agent", lease=timedelta(minutes=1), in_room="lab", start=True)
    await queue.fail_tasks(leases, ["gone"], retryable=[False])
    jobs.use(queue)
    await jobs.register()
    async with Worker(queue, jobs):
        await demo_traffic._one_of_each(queue)
    assert [task.job_name for task in await queue.list_cleanups()] == [demo_traffic.EXPORT]
