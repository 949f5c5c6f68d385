"""What passes by itself: a database that is cut off, restarting or without a primary; and deadlocks."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import Any

import asyncpg

TRANSIENT = (
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
    return isinstance(error, TRANSIENT) and not isinstance(error, ValueError)


_CLASSES = ("08", "53", "58")
"""No connection; too many of them, no memory, no room on the disk; errors of the machine."""
_STATES = frozenset({"25006", "57014", "57P01", "57P02", "57P03"})
"""A server that only reads; a statement or session ended by an operator; a server going down or coming up."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_MARK = "pgjobs: the database could not be reached, or was lost"


def mark_outage(error: BaseException) -> None:
    """Says of an error that there was no connection, where its own class cannot tell whose."""
    error.add_note(_MARK)


def is_outage(error: BaseException) -> bool:
    """Whether an error of a handler comes from the infrastructure rather than from the handler.

    An OSError alone does not: it may be whatever the handler works with that cannot be reached.
    """
    return any(_is_outage(cause) for cause in _causes(error))


def _is_outage(error: BaseException) -> bool:
    if _MARK in getattr(error, "__notes__", ()):
        return True
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    # asyncpg and psycopg call it so.
    state: Any = getattr(error, "sqlstate", None)
    if not isinstance(state, str):
        return False
    # A time limit of the handler's own has the same state.
    is_own = state == "57014" and "timeout" in str(error)
    return (state in _STATES and not is_own) or state.startswith(_CLASSES)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from; SQLAlchemy calls that `orig`."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        original = getattr(cause, "orig", None)
        if isinstance(original, BaseException):
            yield original
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
