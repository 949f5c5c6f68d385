"""What passes by itself: a database that is cut off, restarting or without a primary; and deadlocks."""

from __future__ import annotations

import asyncpg

AWAY = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,
    # A deadlock, or what could not be serialized: this transaction was the one to give way.
    asyncpg.TransactionRollbackError,
    asyncpg.InterfaceError,
    # None of the servers is the primary, which is neither an error of Postgres nor of the interface.
    asyncpg.InternalClientError,
)


def is_away(error: BaseException) -> bool:
    """Whether trying again later can help; arguments and URLs that make no sense do not get better."""
    return isinstance(error, AWAY) and not isinstance(error, ValueError)
