"""The Postgres server of a test run: in memory where there is room, gone afterwards."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg

from pgjobs.schema.embedded import EmbeddedPostgres

_PREFIX = "pgjobs-tests-"
_NEEDED_SPACE = 2 * 1024**3
_OPTIONS = {"max_connections": "200", "max_prepared_transactions": "10", "shared_buffers": "128MB"}


@dataclass(frozen=True)
class PostgresServer:
    """Where the server is; the names are those that pytest-postgresql reads."""

    port: int
    password: str
    host: str = "127.0.0.1"
    user: str = "postgres"
    options: str = ""
    maintenance_dbname: str = "postgres"
    template_dbname: str | None = None

    def url(self, dbname: str = "postgres") -> str:
        return f"postgresql://{self.user}:{self.password}@{self.host}:{self.port}/{dbname}"


def start_server(binaries: Path | None = None) -> EmbeddedPostgres:
    _remove_leftovers()
    home = new_home()
    try:
        server = EmbeddedPostgres(
            home / "server", durable=_is_pictured(), options=_OPTIONS, binaries=binaries
        ).start()
        _hash_once(server)
        return server
    except BaseException:
        shutil.rmtree(home)
        raise


def _hash_once(server: EmbeddedPostgres) -> None:
    """The same password, asked for in the same way, without the thousands of rounds that slow down guessing."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", server.password.encode(), salt, 1)
    stored_key = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    parts = [
        base64.b64encode(part).decode()
        for part in (salt, stored_key, hmac.digest(salted, b"Server Key", "sha256"))
    ]
    verifier = f"SCRAM-SHA-256$1:{parts[0]}${parts[1]}:{parts[2]}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"alter role postgres password '{verifier}'")


def _is_pictured() -> bool:
    """On pictures of the console a server without fsync would show as a finding, which it is."""
    return "PGJOBS_SCREENSHOTS" in os.environ


def stop_server(server: EmbeddedPostgres) -> None:
    server.stop()
    shutil.rmtree(server.directory.parent)


def new_home() -> Path:
    """A new directory that another account can pass through, as a server started by root needs."""
    home = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_roomy_directory()))
    home.chmod(0o711)
    return home


def _roomy_directory() -> Path:
    memory = Path("/dev/shm")
    is_usable = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _NEEDED_SPACE
    return memory if is_usable else Path(tempfile.gettempdir())


def _remove_leftovers() -> None:
    # A server whose data directory vanishes stops by itself.
    for home in _roomy_directory().glob(f"{_PREFIX}*"):
        if not Path("/proc", home.name.split("-")[2]).exists():
            shutil.rmtree(home, ignore_errors=True)
