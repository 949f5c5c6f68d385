"""A Postgres of one's own, for development and tests."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pgjobs.schema.binaries import (
    EmbeddedPostgresError,
    can_reach,
    copy_install,
    find_binaries,
    unprivileged_account,
)

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "find_binaries"]

_ACCEPTING = ("ready", "standby")
_NOT_DURABLE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


class EmbeddedPostgres:
    """A server on 127.0.0.1 that keeps its files under `directory`; not durable means fast, for tests.

    Starting where a server already runs attaches to it, and then stopping leaves it alone.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        durable: bool = True,
        port: int | None = None,
        options: Mapping[str, str] | None = None,
        binaries: Path | None = None,
    ) -> None:
        self.directory = Path(directory).absolute()
        self.durable = durable
        self.port = port
        self._options = {**({} if durable else _NOT_DURABLE), **(options or {})}
        self._chosen_binaries = binaries
        self._account = unprivileged_account()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def password(self) -> str:
        return (self.directory / "password").read_text()

    @property
    def url(self) -> str:
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/postgres"

    @classmethod
    def running_in(cls, directory: Path | str) -> Self | None:
        """The server that keeps its files there, if it runs."""
        server = cls(directory)
        server.port = server._listening_port()
        return server if server.port is not None else None

    def start(self) -> Self:
        # Whoever makes the directory sets its mode; another start may do so at the same time.
        with suppress(FileExistsError):
            self.directory.mkdir(parents=True)
            # Another account that runs Postgres must pass through, but may not look around.
            self.directory.chmod(0o711 if self._account else 0o700)
        with self._exclusively():
            if (running := self._listening_port()) is not None:
                self.port = running
                return self
            binaries = self._binaries()
            if not self.data.exists():
                self._initialise(binaries)
            self.port = self.port or _free_port()
            self._launch(binaries)
        return self

    def stop(self) -> None:
        if process := self._process:
            self._process = None
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)

    def stop_whoever_runs(self) -> None:
        """Also a server that another process started, and that it left behind."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        while _is_alive(pid):
            time.sleep(0.01)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        with (self.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _listening_port(self) -> int | None:
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            pid, port, status = int(lines[0]), int(lines[3]), lines[7].strip()
        except (FileNotFoundError, IndexError, ValueError):
            return None
        return port if status in _ACCEPTING and _is_alive(pid) and _listens(port) else None

    def _binaries(self) -> Path:
        binaries = self._chosen_binaries or find_binaries()
        if self._account is None:
            return binaries
        if not can_reach(self._account, self.directory):
            raise EmbeddedPostgresError(
                f"Postgres does not run as root, and {self._account.pw_name} cannot enter {self.directory}",
                hint="Choose a directory that is not below a private one, such as a home directory",
            )
        is_reachable = can_reach(self._account, binaries)
        return binaries if is_reachable else copy_install(binaries, self.directory / "install")

    def _initialise(self, binaries: Path) -> None:
        password = _private_file(self.directory / "password")
        password.write_text(secrets.token_urlsafe(24))
        # Renamed when complete: an interrupted initdb must not look like a database.
        unfinished = self.directory / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        self._give_away(unfinished)
        with tempfile.NamedTemporaryFile("w") as copy:
            copy.write(self.password)
            copy.flush()
            self._give_away(Path(copy.name))
            command = [str(binaries / "initdb"), f"--pgdata={unfinished}", f"--pwfile={copy.name}"]
            command += ["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]
            command += [] if self.durable else ["--no-sync"]
            initdb = subprocess.run(command, capture_output=True, text=True, check=False, **self._identity())
        if initdb.returncode:
            raise EmbeddedPostgresError(f"initdb failed: {initdb.stderr.strip()}")
        unfinished.rename(self.data)

    def _launch(self, binaries: Path) -> None:
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": str(self.port)}
        command = [str(binaries / "postgres"), "-D", str(self.data)]
        for name, value in (settings | self._options).items():
            command += ["-c", f"{name}={value}"]
        with _private_file(self.directory / "server.log").open("ab") as log:
            # In a session of its own: a Ctrl-C must reach those who use the server first.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._identity(),
            )
        while self._listening_port() is None:
            if self._process.poll() is not None:
                self._process = None
                log_lines = (self.directory / "server.log").read_text(errors="replace").splitlines()
                raise EmbeddedPostgresError("Postgres did not start: " + " ".join(log_lines[-3:]))
            time.sleep(0.01)

    def _give_away(self, path: Path) -> None:
        if self._account:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def _identity(self) -> dict[str, Any]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        identity: dict[str, Any] = {"env": environment, "cwd": "/"}
        if self._account:
            identity |= {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}
        return identity


def _private_file(path: Path) -> Path:
    path.touch(mode=0o600)
    return path


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
