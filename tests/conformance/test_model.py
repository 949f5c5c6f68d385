"""The queue against a model of it: whatever order verbs come in, both agree on every task."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any, TypeVar
from uuid import UUID

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

from pgjobs.errors import InvalidTransition, JobNotFound, LeaseLost, PgJobsError, WorkerNotFound
from pgjobs.queue.records import Lease
from tests.conformance.conftest import assert_promises_kept
from tests.conformance.homes import Home
from tests.conformance.model import BACKOFF, DELAY, LEASE, RENEWAL, STEP, Model, Task

Answer = TypeVar("Answer")
SETTINGS = settings(
    max_examples=30,
    stateful_step_count=40,
    deadline=None,
    derandomize="CI" in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)
PICKS = st.integers(0, 1000)
WORKERS_PER_PASS = 100
numbers = count(1)


def seconds(number: int) -> timedelta:
    return timedelta(seconds=number)


class QueueAgainstModel(RuleBasedStateMachine):
    def __init__(self, home: Home, runner: asyncio.Runner) -> None:
        super().__init__()
        self.home, self.queue, self.runner = home, home.queue, runner
        self.model = Model()
        self.leases: list[Lease] = []
        self.failed: set[UUID] = set()
        self.stopped: set[UUID] = set()
        self.workers: list[UUID] = []
        self.job = f"lab:model:Example {next(numbers)}"
        self.job_id = self.run(self.register()).job_id

    def run(self, call: Awaitable[Answer]) -> Answer:
        async def awaited() -> Answer:
            return await call

        return self.runner.run(awaited())

    def refused(self, problem: type[PgJobsError], call: Awaitable[Any]) -> None:
        with pytest.raises(problem):
            self.run(call)

    def register(self, **options: Any) -> Any:
        return self.queue.register_job(
            *self.job.split(":"),
            backoff_base=seconds(BACKOFF),
            backoff_cap=seconds(100 * BACKOFF),
            jitter_share=0.0,
            **options,
        )

    # producers

    @rule(
        quantity=st.integers(1, 3),
        attempts=st.integers(1, 3),
        priority=st.integers(1, 10),
        later=st.booleans(),
    )
    def submit(self, quantity: int, attempts: int, priority: int, later: bool) -> None:
        call = self.queue.submit_tasks(
            self.job,
            [{}] * quantity,
            max_attempts=attempts,
            priority=priority,
            delay=seconds(DELAY) if later else None,
        )
        if self.model.is_retired:
            self.refused(JobNotFound, call)
            return
        for submitted in self.run(call):
            run_at = self.model.now + DELAY if later else None
            self.model.tasks[submitted.task_id] = Task(attempts, run_at=run_at)

    # workers

    @rule()
    def come(self) -> None:
        worker = self.run(self.queue.register_worker()).id
        registered = self.run(self.register(worker_id=worker)).registered
        assert registered == ("reactivated" if self.model.is_retired else "unchanged")
        self.model.is_retired = False
        self.model.heartbeats[worker] = self.model.now
        self.workers.append(worker)

    @precondition(lambda self: self.workers)
    @rule(pick=PICKS)
    def heartbeat(self, pick: int) -> None:
        worker = self.workers[pick % len(self.workers)]
        if worker not in self.model.heartbeats:
            self.refused(WorkerNotFound, self.queue.heartbeat_worker(worker))
            return
        self.run(self.queue.heartbeat_worker(worker))
        self.model.heartbeats[worker] = self.model.now

    @precondition(lambda self: self.workers)
    @rule(pick=PICKS)
    def leave(self, pick: int) -> None:
        worker = self.workers[pick % len(self.workers)]
        if worker not in self.model.heartbeats:
            self.refused(WorkerNotFound, self.queue.retire_worker(worker))
            return
        self.run(self.queue.retire_worker(worker))
        self.model.clean_up(worker)

    @precondition(lambda self: self.workers)
    @rule(pick=PICKS, quantity=st.integers(1, 4), start=st.booleans(), has_end=st.booleans())
    def claim(self, pick: int, quantity: int, start: bool, has_end: bool) -> None:
        worker = self.workers[pick % len(self.workers)]
        call = self.queue.claim_tasks(
            worker, quantity=quantity, start=start, lease=seconds(LEASE) if has_end else None
        )
        if worker not in self.model.heartbeats:
            self.refused(WorkerNotFound, call)
            return
        self.take(self.run(call), quantity, worker, start=start, has_end=has_end)
        self.model.heartbeats[worker] = self.model.now

    @rule(quantity=st.integers(1, 4))
    def claim_as_somebody(self, quantity: int) -> None:
        leases = self.run(
            self.queue.claim_tasks(
                holder="somebody", lease=seconds(LEASE), job_ids=[self.job_id], quantity=quantity
            )
        )
        self.take(leases, quantity, None, start=False, has_end=True)

    def take(self, leases: list[Lease], quantity: int, worker: Any, *, start: bool, has_end: bool) -> None:
        self.model.promote()
        due, taken = self.model.due(), [lease.task_id for lease in leases]
        assert len(set(taken)) == len(taken) <= quantity
        assert set(taken) <= due
        assert bool(taken) == bool(due)
        for lease in leases:
            assert lease.token not in {held.token for held in self.leases}
            self.model.take(lease, worker, start=start, has_end=has_end)
            assert lease.attempt == self.model.tasks[lease.task_id].attempt
        self.leases += leases

    # acknowledgements, also by those whose lease is long gone

    def lease(self, pick: int) -> Lease:
        return self.leases[-1 - pick % len(self.leases)]

    @precondition(lambda self: self.leases)
    @rule(pick=PICKS)
    def start(self, pick: int) -> None:
        lease = self.lease(pick)
        task = self.model.tasks[lease.task_id]
        if not self.model.holds(lease):
            self.refused(LeaseLost, self.queue.start_task(lease))
            return
        started = self.run(self.queue.start_task(lease))
        assert started.cancel_requested == task.is_cancel_requested
        task.status = "running"

    @precondition(lambda self: self.leases)
    @rule(pick=PICKS)
    def renew(self, pick: int) -> None:
        lease = self.lease(pick)
        task = self.model.tasks[lease.task_id]
        if not self.model.holds(lease):
            self.refused(LeaseLost, self.queue.renew_task(lease, seconds(RENEWAL)))
            return
        renewed = self.run(self.queue.renew_task(lease, seconds(RENEWAL)))
        assert renewed.cancel_requested == task.is_cancel_requested
        assert (renewed.until is None) == (task.until is None)
        if task.until is not None:
            task.until = max(task.until, self.model.now + RENEWAL)

    @precondition(lambda self: self.leases)
    @rule(pick=PICKS)
    def complete(self, pick: int) -> None:
        lease = self.lease(pick)
        task = self.model.tasks[lease.task_id]
        is_repeated = task.status == "completed" and task.token == lease.token
        if not self.model.holds(lease) and not is_repeated:
            self.refused(LeaseLost, self.queue.complete_task(lease))
            return
        assert self.run(self.queue.complete_task(lease)).status == "completed"
        task.end("completed")

    @precondition(lambda self: self.leases)
    @rule(pick=PICKS, is_retryable=st.booleans())
    def fail(self, pick: int, is_retryable: bool) -> None:
        lease = self.lease(pick)
        task = self.model.tasks[lease.task_id]
        call = self.queue.fail_tasks([lease], ["broken"], retryable=[is_retryable])
        was_held = self.model.holds(lease)
        answer = self.run(call)[0]
        if was_held:
            task.end_attempt(self.model.now, is_retryable=is_retryable)
            assert answer.status == task.status
            (self.failed if task.status != "cancelled" else self.stopped).add(lease.token)
        elif lease.token not in self.stopped:
            assert answer.problem == (None if lease.token in self.failed else LeaseLost.sqlstate)

    @precondition(lambda self: self.leases)
    @rule(pick=PICKS, later=st.booleans())
    def release(self, pick: int, later: bool) -> None:
        lease = self.lease(pick)
        task = self.model.tasks[lease.task_id]
        call = self.queue.release_task(lease, delay=seconds(DELAY) if later else None)
        if not self.model.holds(lease):
            self.refused(LeaseLost, call)
            return
        self.run(call)
        if task.is_cancel_requested:
            task.end("cancelled")
        else:
            task.wait(task.attempt - 1, self.model.now + DELAY if later else None)

    # operators

    def task(self, pick: int) -> tuple[int, Task]:
        numbers = sorted(self.model.tasks, reverse=True)
        number = numbers[pick % len(numbers)]
        return number, self.model.tasks[number]

    @precondition(lambda self: self.model.tasks)
    @rule(pick=PICKS, force=st.booleans())
    def cancel(self, pick: int, force: bool) -> None:
        number, task = self.task(pick)
        call = self.queue.cancel_task(number, force=force)
        if task.status == "pending" or (task.is_leased and force):
            self.run(call)
            task.end("cancelled")
        elif task.is_leased:
            self.run(call)
            task.is_cancel_requested = True
        else:
            self.refused(InvalidTransition, call)

    @precondition(lambda self: self.model.tasks)
    @rule(pick=PICKS)
    def retry(self, pick: int) -> None:
        number, task = self.task(pick)
        is_scheduled = task.status == "pending" and task.run_at is not None
        if is_scheduled or task.status in ("failed", "cancelled", "ignored"):
            self.run(self.queue.retry_task(number))
            task.wait(0)
        else:
            self.refused(InvalidTransition, self.queue.retry_task(number))

    @precondition(lambda self: self.model.tasks)
    @rule(pick=PICKS)
    def ignore(self, pick: int) -> None:
        number, task = self.task(pick)
        if task.status in ("pending", "failed"):
            self.run(self.queue.ignore_task(number))
            task.end("ignored")
        else:
            self.refused(InvalidTransition, self.queue.ignore_task(number))

    @precondition(lambda self: self.model.tasks)
    @rule(pick=PICKS)
    def unignore(self, pick: int) -> None:
        number, task = self.task(pick)
        if task.status == "ignored":
            self.run(self.queue.unignore_task(number))
            task.wait(0)
        else:
            self.refused(InvalidTransition, self.queue.unignore_task(number))

    # time

    @rule(steps=st.integers(1, 3), is_alive=st.booleans())
    def advance(self, steps: int, is_alive: bool) -> None:
        self.run(self.home.clock.advance(seconds=steps * STEP))
        self.model.now += steps * STEP
        for worker in self.model.heartbeats if is_alive else ():
            self.run(self.queue.heartbeat_worker(worker))
            self.model.heartbeats[worker] = self.model.now

    @rule()
    def sweep(self) -> None:
        # A pass takes at most a hundred workers, and those of earlier examples may be more.
        for _ in range(10):
            steps = self.run(self.queue.sweep())
            assert {step.error for step in steps} == {None}
            if sum(step.changed for step in steps if step.swept == "workers") < WORKERS_PER_PASS:
                break
        self.model.sweep()

    @invariant()
    def agree(self) -> None:
        shown = self.run(self.queue.list_tasks(job=self.job, page_size=500))
        assert {task.id: (task.status, task.attempt) for task in shown} == {
            number: (task.status, task.attempt) for number, task in self.model.tasks.items()
        }
        self.run(assert_promises_kept(self.home))


def test_every_order_of_verbs_ends_where_the_model_ends(home: Home) -> None:
    with asyncio.Runner() as runner:
        own = type(home)(home.url)
        own.clock.shift = home.clock.shift
        runner.run(own.open())
        try:
            run_state_machine_as_test(partial(QueueAgainstModel, own, runner), settings=SETTINGS)  # type: ignore[arg-type]
        finally:
            home.clock.shift = own.clock.shift
            runner.run(own.close())
