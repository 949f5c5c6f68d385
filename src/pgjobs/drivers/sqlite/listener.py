"""Notifications without a server: tables that every process reads when the file has changed."""

from __future__ import annotations

import sqlite3


class Mailbox:
    """Reads what is new, as channels and payloads; belongs to the thread of its connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version = self._number("pragma data_version")
        self._last_notification = self._number("select coalesce(max(id), 0) from notifications")
        self._last_event = self._newest_event()

    def read_if_changed(self) -> list[tuple[str, str]]:
        """What is new after somebody else has written, which is cheap to see."""
        version = self._number("pragma data_version")
        if version == self._version:
            return []
        self._version = version
        return self.read()

    def read(self) -> list[tuple[str, str]]:
        rows = self._connection.execute(
            "select id, channel, payload from notifications where id > ? order by id",
            (self._last_notification,),
        ).fetchall()
        if rows:
            self._last_notification = rows[-1][0]
        news = [(channel, payload) for _, channel, payload in rows]
        newest_event = self._newest_event()
        if newest_event > self._last_event:
            self._last_event = newest_event
            news.append(("events", ""))
        return news

    def _newest_event(self) -> int:
        return self._number("select coalesce(max(id), 0) from events")

    def _number(self, query: str) -> int:
        return int(self._connection.execute(query).fetchone()[0])
