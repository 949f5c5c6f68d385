"""Postgres through asyncpg."""

from pgjobs.drivers.postgres.driver import BoundDriver as BoundDriver
from pgjobs.drivers.postgres.driver import PostgresDriver as PostgresDriver
