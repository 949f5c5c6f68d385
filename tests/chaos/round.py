"""One round: tasks are submitted and worked on while things go wrong, then everything is counted."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from pgjobs import Queue
from tests.chaos import flows
from tests.chaos.faults import FAULTS, Unavailable
from tests.chaos.ground import Ground, until_there
from tests.chaos.http_client import JOB, ROOM
from tests.reliability.ledger_worker import record
from tests.surfaces.rest_server import NO_TLS, token_of

Say = Callable[[str], None]
HTTP_EVERY = 16
FLOWS_SHARE = 5
_PATIENCE = 45
_SINGLES = """
select (t.payload ->> 'number')::int
from pgjobs.tasks as t
join pgjobs.jobs as j on j.id = t.job_id
where j.name in ('record', 'Echo')
"""
_ENDED = "select count(*)::int from pgjobs.outcomes"


@dataclass
class Plan:
    """What a round does. A fifth of the tasks are in workflows, a twentieth go through HTTP, the others through SQL."""

    tasks: int
    seed: int = 1
    seconds: float = 1800
    faults: Sequence[str] = tuple(FAULTS)
    pause: float = 1.0


@dataclass
class Result:
    """What came of it."""

    tasks: int
    seed: int
    seconds: float = 0
    workflows: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    lost: int = 0
    doubled: int = 0
    failed: int = 0
    refused: int = 0
    violations: int = 0
    unfinished: int = 0
    postgres: str = ""

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.doubled or self.failed or self.violations or self.unfinished)


async def run(plan: Plan, say: Say) -> Result:
    result = Result(plan.tasks, plan.seed)
    began = time.monotonic()
    with TemporaryDirectory() as directory:
        async with Ground(Path(directory), seed=plan.seed) as ground:
            acknowledged: dict[int, Any] = {}
            begun: set[int] = set()
            result.workflows = plan.tasks // FLOWS_SHARE // flows.EACH
            singles = plan.tasks - result.workflows * flows.EACH
            by_http = range(0, singles, HTTP_EVERY)
            by_sql = [number for number in range(singles) if number % HTTP_EVERY]
            with suppress(TimeoutError):
                # Connected before anything goes wrong: it is what a program does when it starts.
                async with (
                    await Queue.connect(ground.url, max_size=4) as queue,
                    asyncio.timeout(plan.seconds),
                    asyncio.TaskGroup() as group,
                ):
                    group.create_task(_submit_by_sql(queue, by_sql, acknowledged))
                    group.create_task(_submit_by_http(ground, by_http, acknowledged))
                    group.create_task(
                        flows.submit(ground, queue, range(result.workflows), begun, random.Random(plan.seed))
                    )
                    group.create_task(_break(ground, plan, result, say))
            await _settle(ground, plan, 60 + plan.seconds / 4)
            await _count(ground, singles, acknowledged, result)
            lost, doubled = await flows.count(ground, begun)
            result.lost, result.doubled = result.lost + lost, result.doubled + doubled
            result.unfinished += result.workflows - len(begun)
    result.seconds = round(time.monotonic() - began, 1)
    return result


async def _submit_by_sql(queue: Queue, numbers: Sequence[int], acknowledged: dict[int, Any]) -> None:
    for batch in _batches(numbers, 20):

        async def submit(batch: Sequence[int] = batch) -> list[int]:
            payloads = [{"number": number} for number in batch]
            keys = [str(number) for number in batch]
            return [
                task.task_id
                for task in await queue.submit_tasks(record.address, payloads, idempotency_keys=keys)
            ]

        acknowledged.update(zip(batch, await until_there(submit), strict=True))


async def _submit_by_http(ground: Ground, numbers: Sequence[int], acknowledged: dict[int, Any]) -> None:
    headers = {"Authorization": f"Bearer {token_of('ada', is_superuser=True)}"}
    async with httpx.AsyncClient(
        base_url=f"{ground.server.base}/v1/joblib/", headers=headers, trust_env=False, verify=NO_TLS
    ) as client:

        async def submit(number: int) -> None:
            while True:
                with suppress(httpx.HTTPError, KeyError, ValueError):
                    answer = await client.post(
                        f"rooms/{ROOM}/tasks/{JOB}",
                        json={"payload": {"number": number}},
                        headers={"Idempotency-Key": str(number)},
                    )
                    if answer.is_success:
                        acknowledged[number] = answer.json()["id"]
                        return
                await asyncio.sleep(0.1)

        for batch in _batches(numbers, 8):
            await asyncio.gather(*(submit(number) for number in batch))


def _batches(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for begin in range(0, len(numbers), size):
        yield numbers[begin : begin + size]


async def _break(ground: Ground, plan: Plan, result: Result, say: Say) -> None:
    """One fault after the other, in an order of its own each time, until nearly all tasks have ended."""
    luck = random.Random(plan.seed)
    injected = Counter[str]()
    for turn in itertools.count():
        for name in luck.sample(list(plan.faults), len(plan.faults)):
            if name in result.skipped:
                continue
            (ended,) = await ground.ask(_ENDED)
            # Every fault at least once, however few tasks there are.
            if turn and ended >= plan.tasks * 0.97:
                result.faults = dict(injected)
                return
            try:
                await FAULTS[name](ground, luck)
            except Unavailable as reason:
                result.skipped[name] = str(reason)
                continue
            injected[name] += 1
            result.faults = dict(injected)
            say(f"{ended:>7} of {plan.tasks} tasks ended, {injected.total()} faults, last {name}")
            _rehire(ground)
            await asyncio.sleep(luck.uniform(0.2, 1) * plan.pause)
            await _recover(ground, ended, plan.pause)


async def _recover(ground: Ground, ended: int, pause: float) -> None:
    """However slow the machine, something is done between two faults, unless nothing is left to do."""
    with suppress(TimeoutError):
        async with asyncio.timeout(15 * pause):
            while (await ground.ask(_ENDED))[0] <= ended:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


def _rehire(ground: Ground) -> None:
    """Whoever could not reach the database when they started has ended, as they should."""
    for crew, size in ((ground.crew, 3), (ground.flows, 2), (ground.clients, 3)):
        for process in [one for one in crew.processes if one.poll() is not None]:
            crew.processes.remove(process)
        for _ in range(size - len(crew.processes)):
            crew.hire()


async def _settle(ground: Ground, plan: Plan, seconds: float) -> None:
    """Nothing goes wrong any more: what is left must end by itself, and somebody must always get on."""
    best, since = 0, time.monotonic()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (ended := (await ground.ask(_ENDED))[0]) < plan.tasks:
                if ended > best:
                    best, since = ended, time.monotonic()
                elif time.monotonic() > since + _PATIENCE:
                    return
                _rehire(ground)
                await asyncio.sleep(0.3)


async def _count(ground: Ground, singles: int, acknowledged: dict[int, Any], result: Result) -> None:
    accepted = ground.told("accepted")
    result.postgres = (await ground.ask("select current_setting('server_version')"))[0]
    result.unfinished = singles - len(acknowledged) + (await ground.ask(_open()))[0]
    # By number: what HTTP calls a task is not its key.
    submitted = Counter(await ground.ask(_SINGLES))
    ledger = Counter(await ground.ask("select number from ledger where name is null"))
    tokens = set(await ground.ask("select token::text from pgjobs.outcomes where token is not null"))
    told = dict(accepted)
    by_sql = {number for number in acknowledged if number % HTTP_EVERY}
    result.lost = len(acknowledged.keys() - submitted.keys()) + len(by_sql - ledger.keys())
    result.lost += len(set(told.values()) - tokens)
    result.doubled = sum(times - 1 for counts in (submitted, ledger) for times in counts.values())
    result.doubled += len(set(accepted)) - len(told)
    result.failed = (
        await ground.ask("select count(*)::int from pgjobs.outcomes where status <> 'completed'")
    )[0]
    result.refused = len(ground.told("refused")) + sum(
        crew.log.count("lease is lost") for crew in ground.crews
    )
    result.violations = (await ground.ask("select coalesce(sum(violations), 0)::int from pgjobs.check()"))[0]


def _open() -> str:
    return "select count(*)::int from pgjobs.tasks as t where not exists (select from pgjobs.outcomes as o where o.task_id = t.id)"
