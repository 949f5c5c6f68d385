"""What it looks like when there is no database to write to: cut off, restarting, or without a primary."""

from __future__ import annotations

import asyncpg

AWAY = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InterfaceError,
    # None of the servers is the primary, which is neither an error of Postgres nor of the interface.
    asyncpg.InternalClientError,
)


def is_away(error: BaseException) -> bool:
    """Whether trying again later can help; arguments and URLs that make no sense do not get better."""
    return isinstance(error, AWAY) and not isinstance(error, ValueError)
