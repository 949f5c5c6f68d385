"""SQLite through the standard library, for tests."""

from pgjobs.drivers.sqlite.driver import SqliteDriver as SqliteDriver
