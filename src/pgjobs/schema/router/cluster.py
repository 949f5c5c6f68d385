"""Cells behind one address: making a coordinator, and nodes that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from pgjobs.errors import InvalidArgument
from pgjobs.schema.migrate import migrate, read_release
from pgjobs.schema.nodes import become_node, key_of_public_ids
from pgjobs.schema.release import render
from pgjobs.schema.router.catalog import functions_of
from pgjobs.schema.router.generate import hidden_views, router_sql
from pgjobs.schema.runner import Connection

_ROLES = ("readonly", "producer", "worker", "operator", "api", "tenant")
_PASSED_ON = ("sslmode", "sslrootcert", "sslcert", "sslkey", "options", "connect_timeout", "passfile")


@dataclass(frozen=True)
class Node:
    """One node of a cluster, as its coordinator knows it."""

    number: int
    address: str
    is_home: bool
    is_draining: bool
    is_behind: bool
    slots: int
    homes: int
    answers: bool
    unfinished: int | None


def address_of(url: str, *, with_password: bool = False) -> str:
    """What PL/Proxy connects to. Whoever calls is who is connected, so it names nobody."""
    parts = urlsplit(url)
    found = {
        "host": parts.hostname or "",
        "port": str(parts.port or 5432),
        "dbname": unquote(parts.path.lstrip("/")),
        "connect_timeout": "3",
    }
    found |= {name: value for name, value in parse_qsl(parts.query) if name in _PASSED_ON}
    if with_password and parts.password:
        found["password"] = unquote(parts.password)
    quoted = (f"{name}='{_escaped(value)}'" for name, value in found.items() if value)
    return " ".join(quoted)


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("'", r"\'")


async def is_coordinator(connection: Connection, schema: str) -> bool:
    return bool(await connection.fetchval("select to_regclass($1) is not null", f"{schema}_router.nodes"))


async def install_router(
    coordinator: Connection, node: Connection, *, schema: str = "pgjobs", role_prefix: str = "pgjobs"
) -> None:
    """Makes the verbs of a coordinator those of a node; once more after each upgrade."""
    functions = await functions_of(node, schema)
    async with coordinator.transaction():
        for sql in (router_sql(functions), hidden_views(await _views(coordinator, schema)), _grants()):
            named = render(sql, schema, role_prefix).replace("pgjobs_router", f"{schema}_router")
            await coordinator.execute(named)


async def join(
    coordinator: Connection, node: Connection, number: int, address: str, *, schema: str = "pgjobs"
) -> None:
    """Makes a migrated queue a node of the cluster: it knows the jobs of the others, and has no slots yet."""
    key = await key_of_public_ids(coordinator, schema)
    await become_node(node, schema, number, key)
    router = f"{schema}_router"
    is_first = not await coordinator.fetchval(f"select exists (select from {router}.nodes)")
    async with coordinator.transaction():
        known = await coordinator.fetchval(
            f"select address from {router}.nodes where number = $1",
            number,
        )
        await coordinator.execute(
            f"insert into {router}.nodes (number, address, is_home, is_behind) values ($1, $2, $3, $4)"
            " on conflict (number) do update set address = excluded.address",
            number,
            address,
            is_first,
            not is_first and known is None,
        )
        if not is_first and known is None:
            await coordinator.execute(f"select {router}.catch_up($1)", number)


async def share_slots(coordinator: Connection, numbers: Sequence[int], *, schema: str = "pgjobs") -> None:
    """The first time: slots go round. A queue that has had tasks before still knows their keys."""
    await coordinator.execute(f"select {schema}_router.share_slots($1)", list(numbers))


async def init(
    coordinator: Connection,
    nodes: Sequence[tuple[int, Connection, str]],
    *,
    schema: str = "pgjobs",
    role_prefix: str = "pgjobs",
) -> None:
    """Makes a coordinator of a database and nodes of queues without tasks, all of them migrated. Can be repeated."""
    if not nodes:
        raise InvalidArgument("A cluster has at least one node")
    await migrate(coordinator, read_release(schema, role_prefix))
    is_new = not await is_coordinator(coordinator, schema)
    if is_new:
        # The first node may have tasks already: their public ids stay.
        await become_node(coordinator, schema, 0, await key_of_public_ids(nodes[0][1], schema))
    await install_router(coordinator, nodes[0][1], schema=schema, role_prefix=role_prefix)
    for number, node, address in nodes:
        await join(coordinator, node, number, address, schema=schema)
    await share_slots(coordinator, [number for number, _, _ in nodes], schema=schema)


async def take_slots(coordinator: Connection, number: int, *, schema: str = "pgjobs") -> int:
    """Gives a node its share of slots, taken from those who have most. Says how many."""
    moved: int = await coordinator.fetchval(f"select {schema}_router.take_slots($1)", number)
    return moved


async def drain(coordinator: Connection, number: int, *, schema: str = "pgjobs") -> int:
    """One step of emptying a node: nothing new goes there. Says how much is unfinished there."""
    left: int = await coordinator.fetchval(f"select {schema}_router.drain($1)", number)
    return left


async def status(coordinator: Connection, *, schema: str = "pgjobs") -> list[Node]:
    """Every node, and whether it answers."""
    return [Node(**row) for row in await coordinator.fetch(f"select * from {schema}_router.status()")]


async def repair(coordinator: Connection, *, schema: str = "pgjobs") -> list[int]:
    """Brings nodes that were away up to the others."""
    rows = await coordinator.fetch(
        f"select number from {schema}_router.nodes where is_behind and {schema}_router.catch_up(number)"
    )
    return [row["number"] for row in rows]


async def _views(connection: Connection, schema: str) -> list[tuple[str, list[tuple[str, str]]]]:
    rows = await connection.fetch(_OF_TABLES, schema)
    return [(row["name"], list(zip(row["columns"], row["types"], strict=True))) for row in rows]


def _grants() -> str:
    roles = ", ".join(f"pgjobs_{role}" for role in _ROLES)
    return (
        f"grant usage on schema pgjobs_router to {roles};\n"
        "revoke all on all functions in schema pgjobs_router from public;\n"
        f"grant execute on all functions in schema pgjobs_router to {roles};\n"
        "revoke all on function pgjobs_router.take_slots, pgjobs_router.share_slots, pgjobs_router.drain, pgjobs_router.status"
        f" from {roles};"
    )


_OF_TABLES = """
select c.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns,
  array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
where c.relnamespace = $1::regnamespace and c.relkind = 'v' and c.relname not in ('problems', 'installed')
  and not exists (select from pg_proc as p where p.pronamespace = c.relnamespace and p.proname = c.relname)
group by c.relname
"""
