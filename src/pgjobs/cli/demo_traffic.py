"""What `make demo` leaves to look at: jobs at work, some by themselves, a task that is blocked, a provider
that answers, a run that waits to be cleaned up after, and a workflow that waits for an approval."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pgjobs.contrib.cleanup import CleanupRunner
from pgjobs.errors import PgJobsError

if TYPE_CHECKING:
    import httpx

    from pgjobs.queue.records import Event
    from pgjobs.queue.server import ServerQueue
    from pgjobs.worker import Worker

log = logging.getLogger("pgjobs.demo")

DELIVER, GREET, REPORT = "@global:demo:Deliver", "@global:demo:Greet", "@global:demo:Report"
UPLOAD, EXPORT = "@global:demo:Upload", "@global:demo:Export"
PICTURES = "@global:demo:Pictures"
ONBOARDING = "onboarding"
PAPERS = ("contract", "photo", "bank details")
NODE = "demo"
NOBODYS = {"type": "webdav", "base_url": "https://files.example.org/exports", "secret_name": "demo"}
FOLDERS = ("cats", "clouds", "harbour", "mountains", "trains")
BEAT = 2.0
OFTEN = timedelta(seconds=25)
_DAY = timedelta(days=1)


@asynccontextmanager
async def demo_traffic(queue: ServerQueue, worker: Worker, base: str) -> AsyncIterator[None]:
    """Keeps the demo jobs busy for as long as it is entered."""
    import httpx

    from pgjobs.live.feed import feed_of

    token = await queue.create_token("demo", name="provider", is_superuser=True, lifetime=_DAY)
    headers = {"Authorization": f"Bearer {token.token}"}
    busy: list[asyncio.Task[None]] = []
    async with httpx.AsyncClient(
        base_url=f"{base}/v1/joblib", headers=headers, timeout=40, trust_env=False
    ) as client:
        pictures = await queue.register_provider(*PICTURES.split(":"), worker_id=worker.id)
        leave = await feed_of(queue).subscribe(_answers(client, str(pictures.provider_id)))
        try:
            busy += [
                asyncio.create_task(work)
                for work in (
                    _schedule(queue),
                    _one_of_each(queue),
                    _onboard(queue),
                    _submit(queue),
                    _ask(client),
                )
            ]
            yield
        finally:
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)
            leave()
            await feed_of(queue).close()
            await queue.revoke_token(token.id)


async def _schedule(queue: ServerQueue) -> None:
    """One that runs all the time, one at night, one that is paused.

    They stay when the demo is over; without overlap at most one task of each waits for the next time.
    """
    await queue.register_schedule(
        "hello", GREET, every=OFTEN, payload={"name": "Ada"}, owner="ada", overlap=False
    )
    await queue.register_schedule(
        "nightly report", REPORT, cron="30 2 * * *", timezone="Europe/Berlin", payload={"pages": 5},
        owner="bob", overlap=False,
    )  # fmt: skip
    monthly = await queue.register_schedule(
        "monthly export", EXPORT, cron="0 6 LW * *", timezone="Europe/Berlin", payload={"month": "this"},
        overlap=False,
    )  # fmt: skip
    if monthly.registered == "created":
        await queue.pause_schedule(
            str(monthly.schedule_id), actor="ops", reason="the connection breaks in the middle"
        )


async def _one_of_each(queue: ServerQueue) -> None:
    """One task that is blocked, and one run that leaves something behind; the same ones every time."""
    await queue.submit_task(UPLOAD, {"file": "holiday.zip"}, owner="ada", idempotency_key="demo")
    await queue.set_job_target(EXPORT, NOBODYS, node_id=NODE, actor="demo")
    export = await queue.submit_task(EXPORT, {"month": "last"}, idempotency_key="demo")
    await queue.wait_for(export.task_id, 60)
    if await queue.reconcile_cleanups(after=timedelta(), of_job=EXPORT):
        # The server's own cleaner looks once an hour, and says aloud what is meant to fail here.
        with _hushed("pgjobs.maintenance"):
            await CleanupRunner(queue, node_id=NODE).tick()


async def _onboard(queue: ServerQueue) -> None:
    """A workflow that waits for somebody's approval; when it has ended, another begins."""
    from pgjobs.cli.demo import announce, collect, greet, jobs, onboard

    while True:
        with _patience():
            newest = await queue.list_workflows(name=ONBOARDING, page_size=1)
            if not newest or newest[0].ended_at is not None:
                flow = jobs.workflow(ONBOARDING)
                papers = [flow.add(collect, paper, name=paper) for paper in PAPERS]
                account = flow.add(onboard, "Ada", after=papers, name="account")
                welcome = flow.add(greet, "Ada", after=account, name="welcome")
                flow.add(announce, after=[account, welcome], on_failure="run", name="announce")
                await flow.submit(queue)
        await asyncio.sleep(30 * BEAT)


async def _submit(queue: ServerQueue) -> None:
    beat = 0
    while True:
        with _patience():
            letters: list[Any] = [{"letter": beat * 10 + n} for n in range(_chance(1, 4))]
            await queue.submit_tasks(DELIVER, letters)
            if beat % 3 == 0:
                await queue.submit_task(GREET, {"name": "Ada"}, owner="ada")
            if beat % 15 == 0:
                await queue.submit_task(REPORT, {"pages": 25}, owner="bob")
        beat += 1
        await asyncio.sleep(BEAT)


async def _ask(client: httpx.AsyncClient) -> None:
    """Somebody who wants to know which pictures there are."""
    while True:
        with _patience():
            place = f"/rooms/@global/providers/{PICTURES}"
            await client.get(place, params={"folder": FOLDERS[_chance(0, 4)]}, headers={"Prefer": "wait=20"})
        await asyncio.sleep(3 * BEAT)


def _answers(client: httpx.AsyncClient, provider: str) -> Any:
    """The provider: hears a question, looks, answers."""

    async def receive(page: Sequence[Event]) -> None:
        for event in page:
            asked = event.fields or {}
            if event.kind == "provider_request" and asked.get("provider_id") == provider:
                await asyncio.sleep(1)
                with _patience():
                    answer = {"request_hash": asked["request_id"], "data": {"pictures": _chance(3, 40)}}
                    await client.post(f"/providers/{provider}/results", json=answer)

    return receive


@contextmanager
def _hushed(name: str) -> Iterator[None]:
    speaker = logging.getLogger(name)
    was_disabled, speaker.disabled = speaker.disabled, True
    try:
        yield
    finally:
        speaker.disabled = was_disabled


@contextmanager
def _patience() -> Iterator[None]:
    """A demo continues when something fails; it is logged."""
    import httpx

    try:
        yield
    except (PgJobsError, httpx.HTTPError, OSError) as error:
        log.info("the demo continues after: %s", error)


def _chance(low: int, high: int) -> int:
    return random.randint(low, high)  # noqa: S311
