"""How commands reach the database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, TypeAlias

import asyncpg
import typer
from pydantic import SecretStr, ValidationError

from pgjobs.errors import InvalidArgument
from pgjobs.settings import Settings

Url: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Database URL; else PGJOBS_DATABASE_URL, then DATABASE_URL.", show_default=False),
]


def settings_of(url: str | None) -> Settings:
    try:
        return Settings(database_url=SecretStr(url)) if url else Settings()
    except ValidationError as error:
        # Not the whole error: it repeats the input, and the input may hold a password.
        problems = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidArgument("; ".join(problems)) from None


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    try:
        # No cached statements: a pooler may stand between.
        connection = await asyncpg.connect(settings.url(), statement_cache_size=0)
    except ValueError:
        # Not its text: a URL that cannot be parsed is quoted in parts, password included.
        raise InvalidArgument(
            "The database URL cannot be understood", hint="Percent-encode the password"
        ) from None
    try:
        yield connection
    finally:
        await connection.close()
