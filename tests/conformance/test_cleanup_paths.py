"""Cleaning up never leaves the directory of the run."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pgjobs.contrib.cleanup import (
    CleanupError,
    CleanupRunner,
    LocalDirCleaner,
    Run,
    WebDavCleaner,
    run_directory,
)
from tests.conformance.runs import (
    RUNS,
    cleanup_of,
)
from tests.dav_server import DavPlace, LocalPlace, Place, write_run

pytestmark = [pytest.mark.postgres_only, pytest.mark.usefixtures("dav_secrets")]


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
