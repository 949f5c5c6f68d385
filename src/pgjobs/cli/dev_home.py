"""Where `pgjobs dev` keeps its database: a directory with room for one run at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pwd import struct_passwd
from typing import IO, Any

from pgjobs.cli.output import say
from pgjobs.errors import Conflict


class DevHome:
    """A directory that is ours until we end, however that happens."""

    def __init__(self, directory: Path, lock: IO[str]) -> None:
        self.directory = directory
        self._lock = lock

    def is_at(self, address: str) -> None:
        """Writes down where this run is reached, for whoever tries to start another."""
        self._lock.write(address)
        self._lock.flush()


@contextmanager
def reserved(directory: Path) -> Iterator[DevHome]:
    """The directory, made if need be; refused while another run is in it."""
    directory = _made(directory, _postgres_account())
    with (directory / "dev.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            address = lock.read().strip()
            raise Conflict(
                "pgjobs dev already runs in this directory",
                detail=f"Its console is at {address}/ui/" if address else "It is still starting",
                hint="Use that one, end it first, or start another with --directory",
            ) from None
        lock.truncate(0)
        yield DevHome(directory, lock)
        lock.truncate(0)


def _postgres_account() -> struct_passwd | None:
    """Whom Postgres runs as, if that is somebody else and there is a Postgres."""
    from pgjobs.schema.binaries import EmbeddedPostgresError, find_binaries, unprivileged_account

    try:
        find_binaries()
        return unprivileged_account()
    except EmbeddedPostgresError:
        return None


def _made(directory: Path, account: struct_passwd | None) -> Path:
    """Where the files are: elsewhere if the account may not enter here."""
    import tempfile

    from pgjobs.schema.binaries import can_reach

    if account is not None and not can_reach(account, directory.absolute().parent):
        if not directory.exists():
            directory.unlink(missing_ok=True)
            directory.symlink_to(tempfile.mkdtemp(prefix="pgjobs-dev-"))
            directory.chmod(0o711)
        directory = directory.resolve()
        say(f"{account.pw_name} may not enter this directory, so its files are in {directory}.")
    elif not directory.exists():
        directory.mkdir(parents=True)
        directory.chmod(0o700 if account is None else 0o711)
    return directory


def started_postgres(directory: Path) -> Any:
    """The directory's own server, ours to stop, also if a run that was killed left it running."""
    from pgjobs.schema.embedded import EmbeddedPostgres, find_binaries

    find_binaries()
    if (left := EmbeddedPostgres.running_in(directory)) is not None:
        say("An earlier run was killed and left its Postgres behind; restarting it.")
        left.stop_whoever_runs()
    say(f"Starting a Postgres of its own in {directory} …")
    return EmbeddedPostgres(directory).start()
