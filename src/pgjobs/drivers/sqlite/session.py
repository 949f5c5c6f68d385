"""A SQLite connection that runs verbs, in a transaction of its own or in the caller's."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from pgjobs.drivers.base import Row
from pgjobs.drivers.documents import encode
from pgjobs.drivers.sqlite.functions import Context
from pgjobs.drivers.sqlite.scripts import Verb, read_verb
from pgjobs.drivers.sqlite.values import to_microseconds, to_rows
from pgjobs.errors import DirectChange, InvalidArgument, SchemaBehind
from pgjobs.schema.release import numbered_files, pending_scripts, read_plain, sql_directory

Clock = Callable[[], datetime]


class Session:
    """Runs verb scripts on one connection, in the thread that calls it."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock | None = None) -> None:
        self.connection = connection
        self._clock = clock
        self._context = Context.of(connection)

    def call(self, name: str, arguments: Mapping[str, Any]) -> list[Row]:
        """One verb in a transaction of its own."""
        verb = read_verb(name)
        values = verb.bind(arguments)
        # Immediate, because a reader cannot become a writer once somebody else has written.
        self.connection.execute("begin" if verb.is_reading else "begin immediate")
        try:
            answer = self._run(verb, values)
            self.connection.commit()
        except BaseException:
            self.connection.rollback()
            raise
        return answer

    def call_within(self, name: str, arguments: Mapping[str, Any]) -> list[Row]:
        """One verb in the open transaction, which a refusal leaves as it was."""
        verb = read_verb(name)
        values = verb.bind(arguments)
        if _begins_implicitly(self.connection):
            self.connection.execute("begin immediate")
        self.connection.execute("savepoint pgjobs_verb")
        try:
            answer = self._run(verb, values)
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("rollback to pgjobs_verb")
                self.connection.execute("release pgjobs_verb")
            raise
        self.connection.execute("release pgjobs_verb")
        return answer

    def _run(self, verb: Verb, values: dict[str, Any]) -> list[Row]:
        cursor = self.connection.cursor()
        cursor.row_factory = None
        with self._verb_running():
            return to_rows(verb.name, *_run_steps(cursor, verb, values))

    @contextmanager
    def _verb_running(self) -> Iterator[None]:
        context = self._context
        context.now = to_microseconds(self._clock()) if self._clock else time.time_ns() // 1000
        context.refusal = None
        context.is_verb_running = True
        try:
            yield
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
                raise DirectChange(
                    str(error), detail="Rows are changed by verbs only, and some never."
                ) from error
            raise InvalidArgument(str(error)) from error
        except sqlite3.OperationalError as error:
            if context.refusal is not None:
                raise context.refusal from None
            self.require_current(error)
            raise
        finally:
            context.is_verb_running = False

    def require_current(self, error: sqlite3.Error) -> None:
        """Names the reason when something found no table because the file was not migrated."""
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            return
        try:
            applied = self.connection.execute("select number, name, checksum from migrations").fetchall()
        except sqlite3.OperationalError:
            applied = []
        scripts = [read_plain(path) for path in numbered_files(sql_directory("sqlite"))]
        if pending := pending_scripts(scripts, applied):
            raise SchemaBehind(
                "The SQLite file is behind this version of pgjobs",
                detail=f"Not installed: {pending[0].name}",
                hint="Call migrate() of the queue.",
            ) from error


def _begins_implicitly(connection: sqlite3.Connection) -> bool:
    """Whether Python would begin a transaction before a change, for the caller to commit."""
    is_autocommitting = connection.isolation_level is None or getattr(connection, "autocommit", None) is True
    return not connection.in_transaction and not is_autocommitting


def _run_steps(cursor: sqlite3.Cursor, verb: Verb, values: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Runs a verb's statements in order; the last one's columns and rows are the answer."""
    for step in verb.steps:
        if step.call is not None:
            names, rows = _run_steps(cursor, step.call.verb, step.call.values(values))
            values[step.call.into] = encode([dict(zip(names, row, strict=True)) for row in rows])
            continue
        cursor.execute(step.sql, values)
        names = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchall()
        if step.has_locals:
            found = rows[0] if rows else [None] * len(names)
            values.update(zip(names, found, strict=True))
    return names, rows
