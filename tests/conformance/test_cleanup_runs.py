"""Cleaning up for real: what becomes of runs in directories and on a WebDAV server."""

from __future__ import annotations

import socket
from datetime import timedelta
from pathlib import Path

import pytest

from pgjobs.contrib.cleanup import (
    CleanupRunner,
    Outcome,
    Run,
    WebDavCleaner,
    run_directory,
)
from tests.conformance.cleaners import Recording
from tests.conformance.runs import (
    RUNS,
    WEEK,
    cleanup_of,
    failed_run,
    register_runs,
)
from tests.dav_server import DavPlace, LocalPlace, Place, answering, write_run

pytestmark = [pytest.mark.postgres_only, pytest.mark.usefixtures("dav_secrets")]


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
