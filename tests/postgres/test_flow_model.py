"""Tasks with edges, waits and signals against a model of them: whatever order verbs come in, both agree."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any, Literal, TypeVar

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pgjobs.errors import InvalidTransition
from pgjobs.queue.records import Lease
from pgjobs.queue.server import ServerQueue as Queue
from tests.postgres.flow_model import ENDED, WAITING, Model
from tests.postgres.stage import JOB, Stage

Answer = TypeVar("Answer")
SETTINGS = settings(
    max_examples=int(os.environ.get("PGJOBS_FLOW_EXAMPLES", "12")),
    stateful_step_count=40,
    deadline=None,
    derandomize="CI" in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)
PICKS = st.integers(0, 1000)
SIGNALS = st.sampled_from(["approved", "paid"])
ON_FAILURE = st.sampled_from(["cancel", "run", "hold"])
NAP, STEP = 3600, 7200
LEASE = timedelta(days=200)
numbers = count(1)


class FlowAgainstModel(RuleBasedStateMachine):
    """Each example leaves its tasks behind, all ended, and looks at its own only."""

    def __init__(self, stage: Stage, runner: asyncio.Runner) -> None:
        super().__init__()
        self.stage, self.queue, self.runner = stage, stage.queue, runner
        self.model = Model()
        self.leases: dict[int, Lease] = {}

    def run(self, call: Awaitable[Answer]) -> Answer:
        async def awaited() -> Answer:
            return await call

        return self.runner.run(awaited())

    def pick(self, pick: int, *places: str) -> int:
        found = self.model.in_place(*places)
        return found[pick % len(found)]

    @rule(picks=st.sets(PICKS, max_size=3), on_failure=ON_FAILURE)
    def submit(self, picks: set[int], on_failure: Literal["cancel", "run", "hold"]) -> None:
        known = sorted(self.model.tasks)
        parents = frozenset(known[-1 - pick % len(known)] for pick in picks) if known else frozenset[int]()
        options: dict[str, Any] = {"after": sorted(parents), "on_failure": on_failure} if parents else {}
        submitted = self.run(self.queue.submit_task(JOB, **options))
        self.model.submit(submitted.task_id, parents, on_failure if parents else "cancel")

    @rule(quantity=st.integers(1, 5))
    def claim(self, quantity: int) -> None:
        due = self.model.in_place("due")
        leases = self.run(
            self.queue.claim_tasks(holder="me", lease=LEASE, in_room="@global", quantity=quantity, start=True)
        )
        assert {lease.task_id for lease in leases} <= set(due)
        assert len(leases) == min(quantity, len(due))
        for lease in leases:
            self.model.tasks[lease.task_id].place = "running"
            self.leases[lease.task_id] = lease

    @precondition(lambda self: self.model.in_place("running"))
    @rule(pick=PICKS, completes=st.booleans())
    def end(self, pick: int, completes: bool) -> None:
        number = self.pick(pick, "running")
        if completes:
            self.run(self.queue.complete_task(self.leases[number]))
        else:
            self.run(self.queue.fail_task(self.leases[number], "broken", retryable=False))
        self.model.end(number, "completed" if completes else "failed")

    @precondition(lambda self: self.model.in_place("running"))
    @rule(pick=PICKS)
    def sleep(self, pick: int) -> None:
        number = self.pick(pick, "running")
        lease = self.leases[number]
        answer = self.run(
            self.queue.suspend_task(number, lease.token, f"nap {next(numbers)}", delay=timedelta(seconds=NAP))
        )
        assert answer.is_suspended
        task = self.model.tasks[number]
        task.place, task.until = "sleeping", self.model.now + NAP

    @precondition(lambda self: self.model.in_place("running"))
    @rule(pick=PICKS, signal=SIGNALS)
    def wait(self, pick: int, signal: str) -> None:
        number = self.pick(pick, "running")
        lease, task = self.leases[number], self.model.tasks[number]
        answer = self.run(self.queue.suspend_task(number, lease.token, signal, signal=signal))
        assert answer.is_suspended == (signal not in task.sent)
        if answer.is_suspended:
            task.place, task.signal = "waiting", signal

    @precondition(lambda self: self.model.tasks)
    @rule(pick=PICKS, signal=SIGNALS)
    def send(self, pick: int, signal: str) -> None:
        number = self.pick(pick, "due", "running", *WAITING, *ENDED)
        call = self.queue.send_signal(number, signal)
        task = self.model.tasks[number]
        if task.place in ENDED and signal not in task.sent:
            with pytest.raises(InvalidTransition):
                self.run(call)
        else:
            assert self.run(call).is_new == self.model.send(number, signal)

    @precondition(lambda self: self.model.in_place("due", "running", *WAITING))
    @rule(pick=PICKS)
    def cancel(self, pick: int) -> None:
        number = self.pick(pick, "due", "running", *WAITING)
        self.run(self.queue.cancel_task(number, force=True))
        self.model.end(number, "cancelled")

    @precondition(lambda self: self.model.in_place("failed", "cancelled"))
    @rule(pick=PICKS)
    def retry(self, pick: int) -> None:
        number = self.pick(pick, "failed", "cancelled")
        self.run(self.queue.retry_task(number))
        self.model.retry(number)

    @rule()
    def advance(self) -> None:
        self.run(self.stage.advance(seconds=STEP))
        self.run(self.queue.sweep("scheduled"))
        self.model.advance(STEP)

    @invariant()
    def agree(self) -> None:
        """What the net of a sweep would find must have had a note before."""
        assert [rule for rule in self.run(self.queue.check()) if rule.violations] == []
        self.run(self.queue.sweep("waits"))
        shown = self.run(self.queue.list_tasks(page_size=500))
        assert {
            task.id: task.phase if task.status == "pending" else task.status
            for task in shown
            if task.id in self.model.tasks
        } == {number: task.place for number, task in self.model.tasks.items()}

    def teardown(self) -> None:
        self.run(self.end_all())

    async def end_all(self) -> None:
        for number in self.model.in_place("due", "running", *WAITING):
            task = await self.queue.get_task(number)
            if task.status not in ENDED:
                await self.queue.cancel_task(number, force=True)


def test_every_order_of_edges_waits_and_signals_ends_where_the_model_ends(database_url: str) -> None:
    with asyncio.Runner() as runner:

        async def enter() -> Stage:
            queue = await Queue.connect(database_url)
            await queue.register_job(*JOB.split(":"), max_attempts=3)
            watcher = await asyncpg.connect(database_url)
            # No lease ends by the steps of the clock.
            await watcher.execute("update pgjobs.settings set max_lease = '1 year'")
            return Stage(database_url, queue, watcher)

        stage = runner.run(enter())
        try:
            run_state_machine_as_test(partial(FlowAgainstModel, stage, runner), settings=SETTINGS)  # type: ignore[arg-type]
        finally:
            runner.run(stage.close())
            runner.run(stage.queue.close())
