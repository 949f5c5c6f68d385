"""`pgjobs cluster`: several databases behind one coordinator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pgjobs.cli.database import Url, connected, drive, settings_of
from pgjobs.cli.output import print_table, say
from pgjobs.errors import InvalidArgument

if TYPE_CHECKING:
    from pgjobs.schema.router.cluster import Node
    from pgjobs.schema.runner import Connection
    from pgjobs.settings import Settings

cluster = typer.Typer(
    help="Several databases behind one coordinator.", no_args_is_help=True, rich_markup_mode=None
)

Numbered: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--node",
        metavar="N=URL",
        help="A node: its number, 0 to 511, and its database. Its first one keeps what there is once.",
    ),
]
WithPassword: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--with-password",
        help="Keep the URL's password at the coordinator, where every role of the queue can read it.",
    ),
]
_COLUMNS = ("node", "answers", "unfinished", "slots", "homes", "state", "address")


@cluster.command()
def init(node: Numbered, url: Url = None, with_password: WithPassword = False) -> None:
    """Make a coordinator of the database and nodes of others; repeat it after an upgrade.

    A node's queue is installed or upgraded. It has had no tasks, but for the first one if that is node 0.
    """
    drive(_init(settings_of(url), node, with_password))
    say(f"The cluster has {len(node)} nodes." if len(node) != 1 else "The cluster has one node.")


@cluster.command()
def add(node: Numbered, url: Url = None, with_password: WithPassword = False) -> None:
    """Add a node under load: it learns the jobs and takes its share of keys."""
    moved = drive(_add(settings_of(url), node, with_password))
    say(f"Added. {moved} of 1,024 slots moved.")


@cluster.command()
def drain(
    number: Annotated[int, typer.Argument(help="The node's number.")],
    url: Url = None,
    interval: Annotated[float, typer.Option(min=0.05, help="Polling interval in seconds.")] = 2,
    once: Annotated[bool, typer.Option("--once", help="Do not wait until the node is empty.")] = False,
) -> None:
    """Send nothing new to a node, and wait until nothing is unfinished there."""
    left = drive(_drain(settings_of(url), number, interval, once))
    say(
        f"Node {number} is empty."
        if not left
        else f"Node {number} takes nothing new; {left} are unfinished there."
    )


@cluster.command()
def status(
    url: Url = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Bring nodes that were away up to the others first.")
    ] = False,
) -> None:
    """List the nodes and whether they answer; exits with 6 while one does not."""
    repaired, nodes = drive(_status(settings_of(url), repair))
    for number in repaired:
        say(f"Node {number} knows the jobs of the others again.")
    print_table(_COLUMNS, (_row(node) for node in nodes))
    if not all(node.answers for node in nodes):
        raise typer.Exit(6)


def _row(node: Node) -> tuple[Any, ...]:
    states = [
        name
        for name, holds in (
            ("home", node.is_home),
            ("draining", node.is_draining),
            ("behind", node.is_behind),
        )
        if holds
    ]
    answers = "yes" if node.answers else "no"
    return (node.number, answers, node.unfinished, node.slots, node.homes, " ".join(states), node.address)


def _numbered(texts: Sequence[str]) -> list[tuple[int, str]]:
    found = []
    for text in texts:
        number, _, url = text.partition("=")
        if not number.isdigit() or int(number) > 511 or "://" not in url:
            raise InvalidArgument(
                "A node is written N=URL", detail=f"Got {number}=…", hint="--node 1=postgresql://…"
            )
        found.append((int(number), url))
    return found


@asynccontextmanager
async def _nodes(
    settings: Settings, texts: Sequence[str], with_password: bool
) -> AsyncIterator[list[tuple[int, Connection, str]]]:
    """Connections to migrated queues."""
    from pgjobs.schema.migrate import migrate, read_release
    from pgjobs.schema.router.cluster import address_of

    release = read_release(settings.database_schema, settings.role_prefix, roles=settings.manage_roles)
    async with AsyncExitStack() as stack:
        nodes = []
        for number, url in _numbered(texts):
            of_node = settings_of(url)
            connection = await stack.enter_async_context(connected(of_node))
            await migrate(connection, release)
            nodes.append((number, connection, address_of(url, with_password=with_password)))
        yield nodes


async def _init(settings: Settings, texts: Sequence[str], with_password: bool) -> None:
    from pgjobs.schema.router import cluster as clusters

    async with connected(settings) as coordinator, _nodes(settings, texts, with_password) as nodes:
        await clusters.init(
            coordinator,
            nodes,
            schema=settings.database_schema,
            role_prefix=settings.role_prefix or settings.database_schema,
        )


async def _add(settings: Settings, texts: Sequence[str], with_password: bool) -> int:
    from pgjobs.schema.router import cluster as clusters

    schema = settings.database_schema
    moved = 0
    async with _coordinator(settings) as coordinator, _nodes(settings, texts, with_password) as nodes:
        for number, connection, address in nodes:
            await clusters.join(coordinator, connection, number, address, schema=schema)
            moved += await clusters.take_slots(coordinator, number, schema=schema)
    return moved


async def _drain(settings: Settings, number: int, interval: float, once: bool) -> int:
    from pgjobs.schema.router import cluster as clusters

    async with _coordinator(settings) as coordinator:
        while True:
            left = await clusters.drain(coordinator, number, schema=settings.database_schema)
            if not left or once:
                return left
            await asyncio.sleep(interval)


async def _status(settings: Settings, repair: bool) -> tuple[list[int], list[Node]]:
    from pgjobs.schema.router import cluster as clusters

    async with _coordinator(settings) as coordinator:
        schema = settings.database_schema
        repaired = await clusters.repair(coordinator, schema=schema) if repair else []
        return repaired, await clusters.status(coordinator, schema=schema)


@asynccontextmanager
async def _coordinator(settings: Settings) -> AsyncIterator[Connection]:
    from pgjobs.schema.router.cluster import is_coordinator

    async with connected(settings) as connection:
        if not await is_coordinator(connection, settings.database_schema):
            raise InvalidArgument("This database is no coordinator", hint="Run: pgjobs cluster init")
        yield connection
