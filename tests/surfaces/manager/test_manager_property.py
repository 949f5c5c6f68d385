"""However acquire, renew, complete, fail, expire and crash interleave, there is one valid lease at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgjobs import sync
from pgjobs.contrib.manager import GenericJob, ManagerSettings
from pgjobs.errors import LeaseLost

LEASE = 10
# No sum of these is ten: nothing happens at the very moment a lease ends.
STEPS = (3, 8)
WORKERS = ("w1", "w2")
MOVES = st.one_of(
    st.tuples(st.just("acquire"), st.sampled_from(WORKERS)),
    # A lease that lapses and a job that comes back are what it is all about.
    st.just(("pass", 8)),
    st.tuples(st.sampled_from(["renew", "complete", "fail", "release", "forget"]), st.integers(0, 7)),
    st.tuples(st.just("cancel"), st.integers(1, 9)),
    st.tuples(st.just("pass"), st.sampled_from(STEPS)),
    st.tuples(st.just("sweep"), st.none()),
)
domains = count()


@dataclass
class Held:
    """A lease as its worker remembers it, however long ago that was."""

    job: GenericJob
    until: float


@dataclass
class World:
    """What must be true, told by a clock of whole steps."""

    manager: Any
    advance: Callable[[float], None]
    domain: str
    time: float = 0
    held: list[Held] = field(default_factory=list)
    current: dict[int, Held] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)

    def is_valid(self, held: Held) -> bool:
        return self.current.get(held.job.id) is held and self.time < held.until

    def acquire(self, worker: str) -> None:
        job = self.manager.acquire_next_job(self.domain, "q", LEASE, worker)
        if job is None:
            return
        assert job.id not in self.ended, "a job that ended was handed out again"
        assert not (job.id in self.current and self.is_valid(self.current[job.id])), (
            "two valid leases of one job"
        )
        assert all(job.lease_id != other.job.lease_id for other in self.held), "a lease was given twice"
        held = self.current[job.id] = Held(job, self.time + LEASE)
        self.held.append(held)

    def acknowledge(self, verb: str, place: int) -> None:
        if not self.held:
            return
        held = self.held[place % len(self.held)]
        identity = (held.job.id, held.job.worker_id, held.job.lease_id)
        call = {
            "renew": lambda: self.manager.renew_job_lease(held.job.id, LEASE, *identity[1:]),
            "complete": lambda: self.manager.complete_job(*identity),
            "fail": lambda: self.manager.fail_job(*identity, error="no"),
            "release": lambda: self.manager.release_job(*identity),
        }[verb]
        before = self.manager.get_job(held.job.id)
        try:
            outcome = call()
        except LeaseLost:
            assert not self.is_valid(held), f"a valid lease was refused to {verb}"
            assert self.manager.get_job(held.job.id) == before, "a refused call changed something"
            return
        if not self.is_valid(held):
            # Only an answer that was given before may be given again.
            assert verb in ("complete", "fail")
            assert self.manager.get_job(held.job.id) == before, "a lease that is over changed something"
            return
        if verb == "renew":
            held.until = self.time + LEASE
            return
        del self.current[held.job.id]
        if outcome["status"] != "queued":
            self.ended.add(held.job.id)

    def step(self, move: tuple[str, Any]) -> None:
        match move:
            case "acquire", worker:
                self.acquire(worker)
            case "pass", seconds:
                self.time += seconds
                self.advance(seconds)
            case "sweep", _:
                self.manager.queue.sweep()
            case "cancel", place:
                jobs = self.manager.list_jobs(self.domain, status="queued")
                if place < len(jobs):
                    self.manager.cancel_job(jobs[place].id)
                    self.ended.add(jobs[place].id)
            case "forget", place:
                # A crash: nobody renews or ends it, its lease lapses.
                if self.held:
                    self.held.pop(place % len(self.held))
            case verb, place:
                self.acknowledge(verb, place)


def live(manager: Any, advance: Callable[[float], None], moves: list[tuple[str, Any]]) -> None:
    world = World(manager, advance, f"domain{next(domains)}")
    manager.create_jobs(world.domain, "q", "t", [{}, {}], max_retries=50)
    for move in moves:
        world.step(move)
    assert [rule for rule in manager.queue.check() if rule.violations] == []


@contextmanager
def sqlite_manager() -> Iterator[tuple[Any, Callable[[float], None]]]:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]

    def advance(seconds: float) -> None:
        now[0] += timedelta(seconds=seconds)

    with sync.JobManager("sqlite://", settings=ManagerSettings(), clock=lambda: now[0]) as manager:
        manager.queue.migrate()
        yield manager, advance


@settings(max_examples=150, deadline=None)
@given(moves=st.lists(MOVES, min_size=10, max_size=80))
def test_no_job_is_processed_twice_under_a_valid_lease_on_sqlite(moves):
    with sqlite_manager() as (manager, advance):
        live(manager, advance, moves)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(moves=st.lists(MOVES, min_size=10, max_size=40))
def test_no_job_is_processed_twice_under_a_valid_lease_on_postgres(postgres_manager, moves):
    manager, advance = postgres_manager
    live(manager, advance, moves)


@pytest.fixture
def postgres_manager(database_url: str) -> Iterator[tuple[Any, Callable[[float], None]]]:
    with (
        psycopg.connect(database_url, autocommit=True) as connection,
        sync.JobManager(database_url, settings=ManagerSettings()) as manager,
    ):

        def advance(seconds: float) -> None:
            connection.execute(
                "update pgjobs.test_clock set shift = shift + %s", [timedelta(seconds=seconds)]
            )

        yield manager, advance
