"""Installing and upgrading the schema: what belongs to a release, and how a database gets there."""

from __future__ import annotations


def sql(*, after: int = 0, roles: bool = True) -> str:
    """The schema as one text for a migration tool such as Alembic: `op.execute(pgjobs.schema.sql())`."""
    from pgjobs.schema.script_text import sql

    return sql(after=after, roles=roles)
