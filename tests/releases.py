"""What the newest release holds, releases of before, and releases that are not there yet."""

from __future__ import annotations

import re
import tarfile
from dataclasses import replace
from pathlib import Path

from pgjobs.schema.release import Release
from pgjobs.schema.script import Script

RELEASED = {
    path.name.removesuffix(".tar.xz"): path for path in Path(__file__).parent.glob("released/*.tar.xz")
}
"""Programs of releases: `git archive v0.1.0 sql/postgres src/pgjobs tests/reliability/ledger_worker.py | xz -9e`."""

_SQL = Path(__file__).parents[1] / "sql"


def newest_migration(dialect: str) -> int:
    """The number of the last migration of `postgres` or `sqlite`."""
    return max(int(path.name.split("_")[0]) for path in (_SQL / dialect / "migrations").glob("*.sql"))


def unpack(version: str, directory: Path) -> Path:
    """The root of what a release installs and runs."""
    with tarfile.open(RELEASED[version]) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(directory)
    return directory


def changed(release: Release, word: str) -> Release:
    """The same release, with another body for every function, view and trigger."""

    def remark(script: Script) -> Script:
        sql = re.sub(r"^as \$\$\n", f"as $$\n-- {word}\n", script.sql, flags=re.MULTILINE)
        sql = re.sub(r"^(create view \S+ as\n)", rf"\g<1>-- {word}\n", sql, flags=re.MULTILINE)
        sql = re.sub(r"^(create trigger \S+)", rf"\g<1> /* {word} */", sql, flags=re.MULTILINE)
        return replace(script, sql=sql)

    return replace(release, code=tuple(map(remark, release.code)))
