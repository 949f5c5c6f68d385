"""What the newest release holds, and releases that are not there yet."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pgjobs.schema.release import Release
from pgjobs.schema.script import Script

_SQL = Path(__file__).parents[1] / "sql"


def newest_migration(dialect: str) -> int:
    """The number of the last migration of `postgres` or `sqlite`."""
    return max(int(path.name.split("_")[0]) for path in (_SQL / dialect / "migrations").glob("*.sql"))


def changed(release: Release, word: str) -> Release:
    """The same release, with another body for every function, view and trigger."""

    def remark(script: Script) -> Script:
        sql = re.sub(r"^as \$\$\n", f"as $$\n-- {word}\n", script.sql, flags=re.MULTILINE)
        sql = re.sub(r"^(create view \S+ as\n)", rf"\g<1>-- {word}\n", sql, flags=re.MULTILINE)
        sql = re.sub(r"^(create trigger \S+)", rf"\g<1> /* {word} */", sql, flags=re.MULTILINE)
        return replace(script, sql=sql)

    return replace(release, code=tuple(map(remark, release.code)))
