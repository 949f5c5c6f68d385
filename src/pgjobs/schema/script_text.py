"""The whole schema as one text, for a migration tool's own transaction."""

from __future__ import annotations

from pgjobs.schema.migrate import dump, read_release
from pgjobs.settings import Settings

_KEPT = "pgjobs.kept_search_path"
_BEGIN, _END = "-- begin\nbegin;\n", "-- commit\ncommit;\n"
_BEFORE = f"select set_config('{_KEPT}', current_setting('search_path'), true);\n"
_AFTER = f"""select set_config('search_path', current_setting('{_KEPT}'), true);
set local client_min_messages = default;
set local statement_timeout = default;
set local check_function_bodies = default;
set local lock_timeout = default;
"""
"""What the script sets for its transaction, which here continues."""


def sql(*, after: int = 0, roles: bool = True) -> str:
    """Installs the schema, or upgrades one whose last migration is number `after`.

    For Alembic: `op.execute(pgjobs.schema.sql())`. It neither begins nor commits, and is sent as it is:
    the driver must take several statements at once, as psycopg and psycopg2 do.
    """
    settings = Settings()
    release = read_release(
        settings.database_schema, settings.role_prefix, roles=roles and settings.manage_roles
    )
    whole = dump(release, after=after)
    return f"{_BEFORE}{whole.removeprefix(_BEGIN).removesuffix(_END)}{_AFTER}"
