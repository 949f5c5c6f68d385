"""Making a queue one of the nodes of a cluster."""

from __future__ import annotations

from pgjobs.schema.runner import Connection


async def become_node(connection: Connection, schema: str, number: int, key: bytes | None = None) -> bool:
    """Numbers the tasks of a queue that has had none from a node's base on; says whether that was new."""
    statement = f"select {schema}._become_node($1, $2)"
    return bool(await connection.fetchval(statement, number, key))


async def key_of_public_ids(connection: Connection, schema: str) -> bytes:
    """What a queue makes public ids with, for its owner."""
    key: bytes = await connection.fetchval(f"select task_key from {schema}.secrets")  # noqa: S608
    return key
