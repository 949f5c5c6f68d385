"""Cleaning up for real: directories, a WebDAV server, cleaners that meet, stop and are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pgjobs.maintenance import (
    CleanupError,
    CleanupRunner,
    LocalDirCleaner,
    Outcome,
    Run,
    WebDavCleaner,
    run_directory,
)
from pgjobs.queue import Queue
from tests.conformance.runs import RUNS, WEEK, cleanup_of, failed_run, register_runs
from tests.dav_server import PASSWORD, USER, DavPlace, LocalPlace, Place, answering, dav_serving, write_run

LOOPBACK = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGJOBS_SECRET_DAV", f"{USER}:{PASSWORD}")
    monkeypatch.setenv("PGJOBS_SECRET_WRONG_ONE", f"{USER}:wrong")
    for name, value in LOOPBACK.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def dav(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DavPlace]:
    root = tmp_path_factory.mktemp("dav")
    with dav_serving(root) as address:
        yield DavPlace(root, address)


@pytest.fixture(params=["local_dir", "webdav"])
def place(request: pytest.FixtureRequest, tmp_path: Path, dav: DavPlace) -> Place:
    if request.param == "webdav":
        return dav
    (tmp_path / "targets").mkdir()
    return LocalPlace(tmp_path / "targets")


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def eventually(holds: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@contextmanager
def deaf_server() -> Iterator[str]:
    """Accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


class Recording:
    """A cleaner that only remembers."""

    def __init__(self, *, pause: float = 0, error: Exception | None = None) -> None:
        self.runs: list[str] = []
        self.error = error
        self._pause = pause

    async def clean(self, run: Run) -> Outcome:
        self.runs.append(run.run_id)
        await asyncio.sleep(self._pause)
        if self.error is not None:
            raise self.error
        return Outcome("deleted")


# What becomes of a run


async def test_an_incomplete_run_is_deleted_a_complete_one_is_not_and_a_missing_one_is_no_error(
    queue, clock, place
):
    await register_runs(queue, place.target)
    broken, complete, missing = [await failed_run(queue) for _ in range(3)]
    left = write_run(place, RUNS, str(broken))
    kept = write_run(place, RUNS, str(complete), is_complete=True)
    await clock.advance(WEEK)
    assert await CleanupRunner(queue).tick() == 3
    assert not left.exists()
    assert (kept / "parts" / "1.bin").exists()
    ends = {run: (await queue.list_cleanup_events(run))[-1].kind for run in (broken, complete, missing)}
    assert ends == {broken: "deleted", complete: "skip_complete", missing: "skip_not_found"}
    assert {task.status for task in await queue.list_cleanups()} == {"done"}
    details = (await queue.list_cleanup_events(broken))[-1].fields_json
    assert details["duration_ms"] >= 0
    assert str(broken) in details.get("path", details.get("url", ""))


async def test_a_job_with_a_slash_in_its_name_has_a_directory_of_its_own(queue, clock, place):
    job = "lab:backups:a/b %2F é"
    await register_runs(queue, place.target, job)
    run = await failed_run(queue, job)
    left = write_run(place, job, str(run))
    await clock.advance(WEEK)
    await CleanupRunner(queue).tick()
    assert not left.exists()
    assert left.parent.parent == place.root
    assert (await queue.list_cleanup_events(run))[-1].kind == "deleted"


async def test_wrong_credentials_block(queue, clock, dav):
    run = await cleanup_of(queue, clock, target=dav.target | {"secret_name": "wrong one"})
    left = write_run(dav, RUNS, str(run))
    await CleanupRunner(queue).tick()
    task = await queue.get_cleanup(run)
    assert (task.status, task.last_error_kind) == ("blocked", "auth")
    assert "401" in task.last_error
    assert timedelta(hours=6) <= task.next_attempt_at - task.updated_at <= timedelta(hours=6, seconds=600)
    assert left.exists()
    assert [event.kind for event in await queue.list_cleanup_events(run)] == ["attempt", "blocked"]


@pytest.mark.parametrize(
    ("target", "about"),
    [
        ({"type": "webdav", "base_url": "http://127.0.0.1:1/", "secret_name": "no such"}, "no such"),
        ({"type": "local_dir", "base_dir": "/no/such/directory"}, "base_dir"),
        ({"type": "tape"}, "tape"),
    ],
)
async def test_what_needs_configuration_blocks(queue, clock, target, about):
    run = await cleanup_of(queue, clock, target=target)
    await CleanupRunner(queue).tick()
    task = await queue.get_cleanup(run)
    assert (task.status, task.last_error_kind) == ("blocked", "config")
    assert about in task.last_error


async def test_a_refused_connection_is_retried_with_the_tables_delays_and_abandoned_in_the_end(
    queue, clock, dav
):
    port = unused_port()
    target = {"type": "webdav", "base_url": f"http://127.0.0.1:{port}/", "secret_name": "dav"}
    run = await cleanup_of(queue, clock, target=target)
    runner = CleanupRunner(queue)
    for attempt in range(1, 20):
        assert await runner.tick() == 1
        task = await queue.get_cleanup(run)
        assert (task.status, task.attempts, task.last_error_kind) == ("retrying", attempt, "network")
        delay = task.next_attempt_at - task.updated_at
        expected = timedelta(seconds=min(60 * 2 ** (attempt - 1), 6 * 3600))
        assert expected - timedelta(milliseconds=10) <= delay <= expected + timedelta(seconds=30.01)
        assert await runner.tick() == 0
        await clock.advance(delay + timedelta(seconds=1))
    assert await runner.tick() == 1
    assert (await queue.get_cleanup(run)).status == "abandoned"
    await clock.advance(days=1)
    assert await runner.tick() == 0

    # Somebody repairs the server, and asks to try again.
    write_run(dav, RUNS, str(run))
    await queue.retry_cleanup(run, actor="ada")
    assert (await queue.get_cleanup(run)).status == "queued"
    assert await CleanupRunner(queue, {"webdav": _Moved(dav.address)}).tick() == 1
    assert (await queue.get_cleanup(run)).status == "done"
    assert not run_directory(dav.root, RUNS, str(run)).exists()


class _Moved:
    """The server, come back at another address."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def clean(self, run: Run) -> Outcome:
        moved = Run(run.run_id, run.job, run.node_id, {**run.target, "base_url": self._address})
        return await WebDavCleaner().clean(moved)


@pytest.mark.parametrize(
    ("answer", "kind", "asked"),
    [
        (503, "http", ["HEAD"]),
        (423, "http", ["HEAD"]),
        (403, "auth", ["HEAD"]),
        (405, "http", ["HEAD", "PROPFIND"]),
    ],
)
async def test_what_a_server_answers_says_how_soon_to_try_again(queue, clock, answer, kind, asked):
    with answering(answer) as (address, requests):
        run = await cleanup_of(queue, clock, target={"type": "webdav", "base_url": address})
        await CleanupRunner(queue).tick()
    task = await queue.get_cleanup(run)
    assert task.last_error_kind == kind
    assert f"answered {answer}" in task.last_error
    assert [request.partition(" ")[0] for request in requests] == asked


async def test_a_redirect_is_not_followed(queue, clock, dav):
    with answering(307, Location=f"{dav.address}/elsewhere?token=secret") as (address, requests):
        run = await cleanup_of(queue, clock, target={"type": "webdav", "base_url": address})
        await CleanupRunner(queue).tick()
    assert (await queue.get_cleanup(run)).last_error == "HEAD answered 307 Temporary Redirect"
    assert len(requests) == 1


async def test_any_other_error_is_unknown_and_retried(queue, clock):
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    await CleanupRunner(queue, {"tape": Recording(error=ZeroDivisionError("a\nb"))}).tick()
    task = await queue.get_cleanup(run)
    assert (task.status, task.last_error_kind) == ("retrying", "unknown")
    assert task.last_error == "ZeroDivisionError: a b"


async def test_other_types_plug_in(queue, clock):
    cleaner = Recording()
    run = await cleanup_of(queue, clock, target={"type": "tape", "drive": 3})
    assert await CleanupRunner(queue, {"tape": cleaner}).tick() == 1
    assert cleaner.runs == [str(run)]
    assert (await queue.get_cleanup(run)).status == "done"


# Nothing outside


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    precious = tmp_path / "outside" / "precious"
    precious.mkdir(parents=True)
    (precious / "1.bin").write_bytes(b"\0")
    return precious


@pytest.mark.parametrize(
    "run_id", ["..", ".", "", "../outside", "/etc", "a/../..", "x\0", "..\\outside", "a/b"]
)
@pytest.mark.parametrize("kind", ["local_dir", "webdav"])
async def test_a_run_id_never_leads_outside(tmp_path, outside, run_id, kind, dav):
    base = tmp_path / "base"
    (base / RUNS).mkdir(parents=True)
    place: Place = LocalPlace(base) if kind == "local_dir" else DavPlace(base, dav.address)
    cleaner = LocalDirCleaner() if kind == "local_dir" else WebDavCleaner()
    with pytest.raises(CleanupError) as refused:
        await cleaner.clean(Run(run_id, RUNS, "hub", place.target))
    assert refused.value.kind == "config"
    assert (outside / "1.bin").exists()
    assert (base / RUNS).is_dir()


@pytest.mark.parametrize("job", ["..", "../outside", "../../outside", "a:b:../../../outside"])
async def test_a_jobs_name_never_leads_outside(tmp_path, outside, job):
    base = tmp_path / "base"
    base.mkdir()
    run = Run("precious", job, "hub", LocalPlace(base).target)
    with suppress(CleanupError):
        assert (await LocalDirCleaner().clean(run)).outcome == "skip_not_found"
    assert (outside / "1.bin").exists()


@pytest.mark.parametrize("step", ["run", "job"])
async def test_a_link_in_place_of_a_directory_is_not_followed(tmp_path, outside, step):
    base = tmp_path / "base"
    (base / RUNS).mkdir(parents=True)
    if step == "run":
        (base / RUNS / "r1").symlink_to(outside)
    else:
        (base / RUNS).rmdir()
        (base / RUNS).symlink_to(outside.parent)
        (outside.parent / "r1").mkdir()
    with pytest.raises(CleanupError) as refused:
        await LocalDirCleaner().clean(Run("r1", RUNS, "hub", LocalPlace(base).target))
    assert refused.value.kind == "config"
    assert (outside / "1.bin").exists()


async def test_a_link_inside_a_run_is_removed_and_what_it_points_to_stays(tmp_path, outside):
    place = LocalPlace(tmp_path / "base")
    left = write_run(place, RUNS, "r1")
    (left / "parts" / "link").symlink_to(outside)
    (left / "up").symlink_to("..")
    assert (await LocalDirCleaner().clean(Run("r1", RUNS, "hub", place.target))).outcome == "deleted"
    assert not left.exists()
    assert left.parent.is_dir()
    assert (outside / "1.bin").exists()


async def test_a_directory_swapped_for_a_link_meanwhile_leads_nowhere(tmp_path, outside):
    """Somebody swaps the run's directory for a link, again and again, while it is cleaned."""
    place = LocalPlace(tmp_path / "base")
    stop = threading.Event()
    spot = run_directory(place.root, RUNS, "r1")
    write_run(place, RUNS, "r1")

    def swap() -> None:
        aside = spot.with_name("aside")
        while not stop.is_set():
            with suppress(OSError):
                spot.rename(aside)
                spot.symlink_to(outside)
                spot.unlink()
                aside.rename(spot)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(200):
            with suppress(CleanupError):
                await LocalDirCleaner().clean(Run("r1", RUNS, "hub", place.target))
            with suppress(OSError):
                write_run(place, RUNS, "r1")
    finally:
        stop.set()
        swapping.join()
    assert (outside / "1.bin").exists()


async def test_something_that_cannot_be_removed_is_an_io_error(queue, clock, tmp_path, monkeypatch):
    place = LocalPlace(tmp_path)
    run = await cleanup_of(queue, clock, target=place.target)
    write_run(place, RUNS, str(run))

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("shutil.rmtree", refuse)
    await CleanupRunner(queue).tick()
    task = await queue.get_cleanup(run)
    assert (task.status, task.last_error_kind) == ("retrying", "io")
    assert task.last_error.startswith("Permission denied")
    assert timedelta(seconds=299) <= task.next_attempt_at - task.updated_at <= timedelta(seconds=361)


# Cleaners that meet, stop and are killed


async def test_two_cleaners_never_share_a_task(queue, clock, home):
    await register_runs(queue, {"type": "tape"})
    runs = [str(await failed_run(queue)) for _ in range(30)]
    await clock.advance(WEEK)
    one, two = Recording(pause=0.005), Recording(pause=0.005)
    async with await _another(queue, home) as other:
        tried = await asyncio.gather(
            CleanupRunner(queue, {"tape": one}).tick(), CleanupRunner(other, {"tape": two}).tick()
        )
    assert sum(tried) == 30
    assert Counter(one.runs + two.runs) == Counter(runs)
    assert one.runs
    assert two.runs
    assert await queue.count_cleanups(statuses=["done"]) == 30


async def _another(queue: Queue, home: Any) -> Queue:
    """The same queue over connections of its own."""
    options = {"clock": home.clock.now} if home.url.startswith("sqlite") else {}
    return await Queue.connect(home.url, **options)


async def test_a_tick_tries_at_most_its_batch(queue, clock):
    await register_runs(queue, {"type": "tape"})
    for _ in range(25):
        await failed_run(queue)
    await clock.advance(WEEK)
    cleaner = Recording()
    runner = CleanupRunner(queue, {"tape": cleaner})
    assert [await runner.tick() for _ in range(3)] == [20, 5, 0]
    assert len(cleaner.runs) == 25


async def test_a_failing_task_is_tried_once_per_tick(queue, clock):
    await cleanup_of(queue, clock, target={"type": "tape"})
    cleaner = Recording(error=CleanupError("network", "no route"))
    assert await CleanupRunner(queue, {"tape": cleaner}).tick() == 1
    assert len(cleaner.runs) == 1


class Counting:
    """A driver that counts the verbs it is asked for."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.calls: list[str] = []

    async def call(self, verb: str, **arguments: Any) -> Any:
        self.calls.append(verb)
        return await self._driver.call(verb, **arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)


@contextmanager
def running(runner: CleanupRunner) -> Iterator[None]:
    task = asyncio.ensure_future(runner.run())
    try:
        yield
    finally:
        task.cancel()


@pytest.mark.parametrize("stage", ["nothing", "retrying", "of another node"])
async def test_a_cleaner_with_nothing_to_do_asks_nothing(queue, clock, stage):
    cleaner = Recording(error=CleanupError("network", "no route"))
    node = None
    if stage != "nothing":
        await cleanup_of(queue, clock, target={"type": "tape"})
    if stage == "retrying":
        await CleanupRunner(queue, {"tape": cleaner}).tick()
    if stage == "of another node":
        node = "agent-7"
    driver = Counting(queue.driver)
    with running(CleanupRunner(Queue(driver), {"tape": cleaner}, node_id=node)):  # type: ignore[arg-type]
        await eventually(lambda: _is(driver.calls.count("claim_cleanups") == 2))
        asked = len(driver.calls)
        await asyncio.sleep(2)
        assert driver.calls[asked:] == []
    assert driver.calls[:asked] == [
        "reconcile_cleanups",
        "claim_cleanups",
        "await_cleanups",
        "claim_cleanups",
    ]


async def _is(holds: bool) -> bool:
    return holds


async def test_retry_now_wakes_a_sleeping_cleaner(queue, clock):
    cleaner = Recording(error=CleanupError("auth", "401"))
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    driver = Counting(queue.driver)
    with running(CleanupRunner(Queue(driver), {"tape": cleaner})):  # type: ignore[arg-type]
        await eventually(lambda: _is(driver.calls.count("await_cleanups") >= 1))
        assert (await queue.get_cleanup(run)).status == "blocked"
        cleaner.error = None
        await queue.retry_cleanup(run, actor="ada")
        await eventually(lambda: _is_done(queue, run))
    assert len(cleaner.runs) == 2


async def test_unignore_wakes_a_sleeping_cleaner(queue, clock):
    cleaner = Recording()
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    await queue.ignore_cleanup(run)
    driver = Counting(queue.driver)
    with running(CleanupRunner(Queue(driver), {"tape": cleaner})):  # type: ignore[arg-type]
        await eventually(lambda: _is(driver.calls.count("await_cleanups") >= 1))
        await queue.unignore_cleanup(run)
        await eventually(lambda: _is_done(queue, run))


async def _is_done(queue: Queue, run: UUID) -> bool:
    return (await queue.get_cleanup(run)).status == "done"


async def test_a_cleaner_that_is_stopped_gives_its_task_back(queue, clock):
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    task = asyncio.ensure_future(CleanupRunner(queue, {"tape": Recording(pause=60)}).tick())
    await eventually(lambda: _has_status(queue, run, "running"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    shown = await queue.get_cleanup(run)
    assert (shown.status, shown.attempts) == ("queued", 0)


async def _has_status(queue: Queue, run: UUID, status: str) -> bool:
    return (await queue.get_cleanup(run)).status == status


async def test_a_cleaner_killed_midway_is_retried_by_another(queue, clock, home, tmp_path):
    with deaf_server() as address:
        target = {"type": "webdav", "base_url": address, "secret_name": "dav"}
        run = await cleanup_of(queue, clock, target=target)
        source = Path(__file__).parents[2] / "src"
        environment = {**os.environ, "PYTHONPATH": str(source), "PGJOBS_DATABASE_URL": home.url}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from pgjobs.cli import main; main()",
            "cleanup",
            "run",
            env=environment,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await eventually(lambda: _has_status(queue, run, "running"))
        finally:
            process.send_signal(signal.SIGKILL)
            await process.wait()
    assert (await queue.get_cleanup(run)).status == "running"
    await clock.advance(minutes=31)
    await queue.sweep("leases")
    assert (await queue.get_cleanup(run)).status == "retrying"
    await clock.advance(minutes=2)
    assert await CleanupRunner(queue, {"webdav": Recording()}).tick() == 1
    assert (await queue.get_cleanup(run)).status == "done"
    assert [event.kind for event in await queue.list_cleanup_events(run)] == [
        "attempt",
        "failed",
        "attempt",
        "deleted",
    ]
