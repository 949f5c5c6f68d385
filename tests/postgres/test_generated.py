"""What is generated from the verbs is what is committed: methods, records, types, and their blocking twins."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import asyncpg
import pytest

from pgjobs import sync
from pgjobs.contrib.manager import JobManager
from pgjobs.queue.operators import Operators
from pgjobs.queue.queue import Queue
from pgjobs.queue.server import ServerQueue
from pgjobs.schema.release import sql_directory
from tests.verbs_dump import overrides
from tests.verbs_dump.catalog import Verb, rows_of, verbs_of
from tests.verbs_dump.files import ROOT, blocking, facade

MOST_NAMES = 82
"""Tasks, jobs, workers and schedules have 66 of them, durable work and workflows 13, sharing 3."""


@pytest.fixture
async def verbs(database_url: str) -> tuple[Verb, ...]:
    connection = await asyncpg.connect(database_url)
    try:
        return verbs_of(await rows_of(connection))
    finally:
        await connection.close()


def committed() -> set[Path]:
    return {path.relative_to(ROOT) for path in (ROOT / "src").rglob("*.py") if "_generated" in path.parts}


async def test_generated_files_are_as_make_verbs_writes_them(verbs):
    written = facade(verbs) | blocking()
    different = [str(path) for path, text in written.items() if (ROOT / path).read_text("utf-8") != text]
    assert different == [], "run: make verbs"
    assert committed() == set(written)


async def test_a_verb_that_goes_leaves_its_class_and_the_signatures(verbs):
    fewer = tuple(verb for verb in verbs if verb.name != "pause_job")
    lost = {str(path) for path, text in facade(fewer).items() if text != (ROOT / path).read_text("utf-8")}
    assert lost == {
        "src/pgjobs/drivers/_generated/signatures.py",
        "src/pgjobs/queue/_generated/verbs/jobs.py",
    }


def test_overrides_are_about_verbs_records_and_columns_that_are_there():
    verbs = {path.stem for path in (sql_directory("postgres") / "verbs").rglob("*.sql")}
    named = set(overrides.BY_HAND | overrides.ONE | overrides.MANY | overrides.OPTIONAL | overrides.NOTHING)
    named |= {verb for moved in overrides.FACADES.values() for verb in moved}
    named |= overrides.ALSO_POSITIONAL.keys() | overrides.CLAIMS.keys() | overrides.SUBMITS.keys()
    assert named - verbs == set()
    text = "".join((ROOT / path).read_text("utf-8") for path in committed())
    records = set(
        re.findall(r"^class (\w+)\(.*Record|^class (\w+)\(Task|^class (\w+)\(Schedule", text, re.MULTILINE)
    )
    known = {name for found in records for name in found if name}
    given = overrides.ALSO_NULLABLE.keys() | overrides.NEVER_NULL.keys() | overrides.OMITTED.keys()
    given |= {key.partition(".")[0] for key in overrides.TYPES}
    assert (overrides.RECORDS.keys() | given | overrides.EXTENDS.keys()) - known == set()


def test_generated_files_are_short_enough_to_read():
    lengths = {str(path): len((ROOT / path).read_text("utf-8").splitlines()) for path in committed()}
    assert {path: lines for path, lines in lengths.items() if lines > 400} == {}


def test_a_queue_has_what_applications_call_and_servers_have_the_rest():
    public = {name for name in dir(Queue) if not name.startswith("_")}
    assert len(public) <= MOST_NAMES
    assert {name for name in public if "show" in name or "token" in name or "session" in name} == set()
    assert public < set(dir(Operators)) < set(dir(ServerQueue))


@pytest.mark.parametrize(
    ("asynchronous", "blocking"),
    [(Queue, sync.Queue), (Operators, sync.Operators), (JobManager, sync.JobManager)],
)
def test_a_blocking_class_has_every_coroutine_under_the_same_signature(asynchronous, blocking):
    own = {"connect", "close", "wait_for"}
    coroutines = {
        name: method
        for name, method in inspect.getmembers(asynchronous, inspect.iscoroutinefunction)
        if not name.startswith("_") and name not in own
    }
    assert len(coroutines) > 10
    for name, method in coroutines.items():
        there = inspect.signature(getattr(blocking, name))
        assert not inspect.iscoroutinefunction(getattr(blocking, name)), name
        assert there == inspect.signature(method), name
