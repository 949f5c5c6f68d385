"""Directories: `<base_dir>/<job>/<run_id>` is removed, unless it holds `complete.json`."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgjobs.contrib.cleanup.cleaners import COMPLETE_MARKER, CleanupError, Outcome, Run, setting

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def run_directory(base_dir: str | Path, job: str, run_id: str) -> Path:
    """Where a run writes below its target."""
    return Path(base_dir, *Run(run_id, job, "", {}).path())


class LocalDirCleaner:
    """Removes directories on this machine.

    Each step below `base_dir` is opened from the one above and never through a
    link, so nothing outside can be reached, whoever swaps what meanwhile.
    """

    async def clean(self, run: Run) -> Outcome:
        try:
            return await asyncio.to_thread(_clean, run)
        except OSError as error:
            raise CleanupError("io", f"{error.strerror or error}: {'/'.join(run.path())}") from error


def _clean(run: Run) -> Outcome:
    base = setting(run.target, "base_dir")
    job, run_id = run.path()
    if not Path(base).is_absolute():
        raise CleanupError("config", "base_dir is not an absolute path")
    try:
        base_fd = os.open(base, _DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        # Perhaps a disk that is not mounted, or another node's: not the same as nothing to do.
        raise CleanupError("config", "base_dir is not a directory on this machine") from error
    details = {"path": f"{job}/{run_id}"}
    with _closing(base_fd):
        if not _is_directory(job, base_fd):
            return Outcome("skip_not_found", details)
        with _closing(os.open(job, _DIRECTORY | os.O_NOFOLLOW, dir_fd=base_fd)) as job_fd:
            if not _is_directory(run_id, job_fd):
                return Outcome("skip_not_found", details)
            with _closing(os.open(run_id, _DIRECTORY | os.O_NOFOLLOW, dir_fd=job_fd)) as run_fd:
                if _is_there(COMPLETE_MARKER, run_fd):
                    return Outcome("skip_complete", details)
            shutil.rmtree(run_id, dir_fd=job_fd)
    return Outcome("deleted", details)


def _is_directory(name: str, parent: int) -> bool:
    """Whether there is one; something else in its place is refused."""
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISLNK(mode):
        raise CleanupError("config", f"{name} is a symbolic link, which is not followed")
    if not stat.S_ISDIR(mode):
        raise CleanupError("config", f"{name} is not a directory")
    return True


def _is_there(name: str, parent: int) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
