"""A real PgBouncer in front of the test server, in transaction mode."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from pgjobs.schema.binaries import unprivileged_account
from tests.server import new_home

CONFIGURATION = """
[databases]
{database} = host={host} port={port} user={user} password={password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
logfile = {home}/pgbouncer.log
"""


def find_pgbouncer() -> str | None:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")


class Pooler:
    """PgBouncer in front of a database, which can be killed and started again at the same address."""

    def __init__(self, url: str, *, pool_size: int) -> None:
        self._home, self.port, self._pool_size = new_home(), _free_port(), pool_size
        self._account = unprivileged_account()
        self._configuration = self._home / "pgbouncer.ini"
        self._process: subprocess.Popen[bytes] | None = None
        self.aim_at(url)

    def aim_at(self, url: str) -> None:
        """Which server it is in front of, from its next start on."""
        self._address = urlsplit(url)
        self._configuration.write_text(
            CONFIGURATION.format(
                database=self._address.path[1:],
                host=self._address.hostname,
                port=self._address.port,
                user=self._address.username,
                password=self._address.password,
                listen_port=self.port,
                pool_size=self._pool_size,
                home=self._home,
            )
        )
        if account := self._account:
            for path in (self._home, self._configuration):
                shutil.chown(path, account.pw_uid, account.pw_gid)

    @property
    def url(self) -> str:
        """The same database through the pooler."""
        return self._address._replace(netloc=f"{self._address.username}@127.0.0.1:{self.port}").geturl()

    def start(self) -> None:
        account = self._account
        self._process = subprocess.Popen(
            [str(find_pgbouncer()), "-q", str(self._configuration)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )
        _wait_for(self.port, self._process, self._home)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=30)
        shutil.rmtree(self._home)


@contextmanager
def pgbouncer(url: str, *, pool_size: int) -> Iterator[str]:
    """The URL of the same database through the pooler."""
    pooler = Pooler(url, pool_size=pool_size)
    try:
        pooler.start()
        yield pooler.url
    finally:
        pooler.close()


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes], home: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            log = home / "pgbouncer.log"
            raise RuntimeError(f"pgbouncer did not start: {log.read_text() if log.exists() else 'no log'}")
        time.sleep(0.01)
    raise RuntimeError("pgbouncer does not answer")
