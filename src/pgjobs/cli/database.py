"""How commands reach the database."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from pgjobs.errors import InvalidArgument

if TYPE_CHECKING:
    import asyncpg

    from pgjobs.queue.server import ServerQueue
    from pgjobs.settings import CellAddress, Settings

Result = TypeVar("Result")
DEVELOPMENT = Path(".pgjobs")
_PASSWORD = re.compile(r"://[^:/?#@]*:[^@]+@|[?&]password=.")
URL_IS_PUBLIC = (
    "pgjobs: warning: other users of this machine can read the password in --url; "
    "set PGJOBS_DATABASE_URL instead"
)


def warned(url: str | None) -> str | None:
    if url and _PASSWORD.search(url):
        typer.echo(URL_IS_PUBLIC, err=True)
    return url


def all_warned(urls: list[str] | None) -> list[str] | None:
    for url in urls or ():
        if _PASSWORD.search(url):
            typer.echo(URL_IS_PUBLIC, err=True)
            break
    return urls


Url: TypeAlias = Annotated[
    str | None,
    typer.Option(
        callback=warned,
        help="Database URL; else PGJOBS_DATABASE_URL, DATABASE_URL, or libpq's PGHOST, PGDATABASE, ….",
        show_default=False,
    ),
]


Urls: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--url",
        callback=all_warned,
        help="Database URL, or name=URL, several times for several cells; else PGJOBS_CELLS, or as with one.",
        show_default=False,
    ),
]


def cells_of(urls: Sequence[str] | None) -> list[CellAddress]:
    """The cells that options or PGJOBS_CELLS name; none where there is one database."""
    from pgjobs.settings import cell_at, cells_apart

    settings = settings_of(None)
    known = {cell.name: cell for cell in settings.cell_addresses()}
    cells = cells_apart([known.get(url) or cell_at(url) for url in urls or ()]) if len(urls or ()) > 1 else []
    cells = cells or ([] if urls else list(known.values()))
    if len(cells) < 2:
        return []
    for name in ("read_url", "listen_url"):
        if getattr(settings, name) is not None:
            raise InvalidArgument(
                f"PGJOBS_{name.upper()} names one database, and there are several cells",
                hint="Leave it out; the URL of a cell may name several servers.",
            )
    return cells


def url_of(urls: Sequence[str] | None) -> str | None:
    """The one URL that is given, if any."""
    return urls[0] if urls else None


def settings_of(url: str | None) -> Settings:
    from pydantic import SecretStr, ValidationError

    from pgjobs.settings import Settings, named_url

    try:
        settings = Settings(database_url=SecretStr(named_url(url))) if url else Settings()
    except ValidationError as error:
        # Not the whole error: it repeats the input, and the input may hold a password.
        problems = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidArgument("; ".join(problems)) from None
    if not settings.is_located and (found := development_url()) is not None:
        return settings.model_copy(update={"database_url": SecretStr(found)})
    return settings


def development_url(directory: Path = DEVELOPMENT) -> str | None:
    """The database that `pgjobs dev` runs in this directory."""
    if not directory.exists():
        return None
    from pgjobs.schema.embedded import EmbeddedPostgres

    server = EmbeddedPostgres.running_in(directory)
    return server.url if server is not None else None


def with_queue(url: str | None, call: Callable[[ServerQueue], Awaitable[Result]]) -> Result:
    """Runs one conversation with the queue."""

    async def run() -> Result:
        async with opened(settings_of(url).url()) as queue:
            return await call(queue)

    return drive(run())


def drive(conversation: Coroutine[Any, Any, Result]) -> Result:
    """Runs it to its end; the event loop is imported by whoever needs one, not by `--help`."""
    import asyncio

    return asyncio.run(conversation)


@asynccontextmanager
async def opened(url: str, *, waits: bool = False, **options: Any) -> AsyncIterator[ServerQueue]:
    """The queue at a URL. One that `waits` is opened before the database can be reached, if need be."""
    from pgjobs.drivers.transient import is_away
    from pgjobs.queue.server import ServerQueue

    try:
        queue = await ServerQueue.connect(url, **options)
    except ValueError:
        raise _not_understood() from None
    except Exception as error:
        if not (waits and is_away(error)):
            raise
        queue = await ServerQueue.connect(url, **options, min_size=0)
    async with queue:
        yield queue


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """One plain connection, for what is done before there is a queue."""
    from pgjobs.drivers.postgres.hosts import connector

    try:
        # No cached statements: a pooler may stand between.
        connection = await connector(settings.url())(settings.url(), statement_cache_size=0)
    except ValueError:
        raise _not_understood() from None
    try:
        yield connection
    finally:
        await connection.close()


def operator() -> str:
    """Who acts, for the audit trail."""
    return os.environ.get("PGJOBS_ACTOR") or getpass.getuser()


def _not_understood() -> InvalidArgument:
    # Not the reason given: a URL that cannot be parsed is quoted in parts, password included.
    return InvalidArgument("The database URL cannot be understood", hint="Percent-encode the password")
