"""A piece of SQL with a name, and how it wants to be run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgjobs.errors import MigrationFailed

IN_TRANSACTION = "in a transaction"
OUTSIDE_TRANSACTION = "outside a transaction"
IN_BATCHES = "in batches"
WITH_CODE = "with the code"
WAYS = (IN_TRANSACTION, OUTSIDE_TRANSACTION, IN_BATCHES, WITH_CODE)

_RUNS = re.compile(r"-- runs: (.+)")


@dataclass(frozen=True)
class Script:
    """A file, rendered, or the part that begins on a line; the checksum is that of the file as shipped."""

    name: str
    sql: str
    checksum: str
    line: int = 1

    @property
    def number(self) -> int:
        return int(self.name[:4])

    @property
    def runs(self) -> str:
        """How a migration runs, as its first line says: `-- runs: in batches`."""
        first = _RUNS.match(self.sql)
        if first is None:
            return IN_TRANSACTION
        if first[1] not in WAYS:
            raise MigrationFailed(
                f"{self.name}: unknown way to run: {first[1]}", hint=f"One of: {', '.join(WAYS)}"
            )
        return first[1]
