"""The SQL files: where they are, what they mean under another schema's name, what they hash to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

from pgjobs.errors import MigrationFailed, SchemaAhead
from pgjobs.schema.objects import Object, read_objects
from pgjobs.schema.script import Script
from pgjobs.version import VERSION

_NUMBERED = re.compile(r"(\d{4})_\w+\.sql")
_SCHEMA = re.compile(
    r"""(?<![\w/-])pgjobs(?=\.)           # pgjobs.tasks, 'pgjobs.floor_1'
      | (?<=')pgjobs(?=')                 # to_regnamespace('pgjobs')
      | (?<=\bschema\ )pgjobs\b           # on schema pgjobs
      | (?<=\bexists\ )pgjobs\b           # create schema if not exists pgjobs
      | (?<=\bpg_catalog,\ )pgjobs\b      # set search_path = pg_catalog, pgjobs, pg_temp
    """,
    re.VERBOSE,
)
_ROLE = re.compile(r"\bpgjobs(?=_(?:readonly|producer|worker|operator|api|tenant)\b)")


@dataclass(frozen=True)
class Release:
    """Everything this version installs into one schema."""

    schema: str
    migrations: tuple[Script, ...]
    code: tuple[Script, ...]
    grants: tuple[Script, ...]
    version: str = VERSION

    def is_older_than(self, version: str | None) -> bool:
        return version is not None and _numbers(self.version) < _numbers(version)

    @cached_property
    def objects(self) -> tuple[Object, ...]:
        """The code, object by object, in the order in which a fresh schema is made."""
        return read_objects(self.schema, ((script.name, script.sql) for script in self.code))

    @cached_property
    def code_checksum(self) -> str:
        return _sha256("\0".join(f"{item.kind} {item.name} {item.checksum}" for item in self.objects))

    @cached_property
    def grants_checksum(self) -> str | None:
        return _combined(self.grants) if self.grants else None


def sql_directory(dialect: str) -> Path:
    """The directory of one dialect's files, in an installed wheel or in a source checkout."""
    package = Path(__file__).parents[1]
    for root in (package / "sql", package.parents[1] / "sql"):
        if (root / dialect).is_dir():
            return root / dialect
    raise MigrationFailed(f"The {dialect} SQL files are missing from this installation")


def verb_file(verb: str) -> Path | None:
    """The file of one verb of Postgres, whatever its noun."""
    if not verb.isidentifier():
        return None
    return next((sql_directory("postgres") / "verbs").glob(f"*/{verb}.sql"), None)


def render(sql: str, schema: str, role_prefix: str) -> str:
    """The same SQL for a queue that lives in `schema` and whose roles start with `role_prefix`."""
    return _ROLE.sub(role_prefix, _SCHEMA.sub(schema, sql))


def read_release(
    schema: str = "pgjobs",
    role_prefix: str | None = None,
    *,
    roles: bool = True,
    directory: Path | None = None,
) -> Release:
    """Reads and renders the Postgres files; without `roles`, who may do what is left to the caller."""
    prefix = role_prefix or schema
    if directory is None:
        return _shipped_release(schema, prefix, roles)
    return _release_in(directory, schema, prefix, roles)


@cache
def _shipped_release(schema: str, prefix: str, roles: bool) -> Release:
    # Every health check asks, and hundreds of files take longer than the rest of it.
    return _release_in(sql_directory("postgres"), schema, prefix, roles)


def _release_in(root: Path, schema: str, prefix: str, roles: bool) -> Release:
    def scripts(*paths: Path) -> tuple[Script, ...]:
        return tuple(_read(path, root, schema, prefix) for path in paths if path.exists())

    return Release(
        schema=schema,
        migrations=tuple(_read(path, path.parent, schema, prefix) for path in numbered_files(root)),
        code=scripts(
            *sorted((root / "helpers").rglob("*.sql")),
            *(root / "views" / f"{name}.sql" for name in ("tasks", "cleanups", "schedules", "workflows")),
            *sorted((root / "verbs").rglob("*.sql")),
            root / "views" / "operators.sql",
            root / "plans.sql",
            root / "triggers.sql",
            root / "lockdown.sql",
        ),
        grants=scripts(root / "grants.sql") if roles else (),
    )


def numbered_files(root: Path) -> list[Path]:
    """The migrations of one dialect, in order."""
    paths = sorted((root / "migrations").glob("*.sql"))
    for path in paths:
        if not _NUMBERED.fullmatch(path.name):
            raise MigrationFailed(f"{path.name} is not named like 0001_what_it_does.sql")
    for path, following in pairwise(paths):
        if path.name[:4] == following.name[:4]:
            raise MigrationFailed(f"{path.name} and {following.name} have the same number")
    return paths


def pending_scripts(scripts: Iterable[Script], applied: Iterable[tuple[int, str, str]]) -> tuple[Script, ...]:
    """The migrations that are not among the `applied` (number, name, checksum), which must all be known."""
    pending = {script.number: script for script in scripts}
    for number, name, checksum in sorted(applied):
        script = pending.pop(number, None)
        if script is None:
            raise ahead(name)
        if script.checksum != checksum:
            raise MigrationFailed(
                f"{script.name} was changed after it was applied",
                detail=f"The database has {name} with another checksum",
                hint="Restore the file and put the change into a new migration",
            )
    return tuple(pending.values())


def ahead(found: str) -> SchemaAhead:
    return SchemaAhead(
        f"The database is newer than this version of pgjobs: it has {found}", hint="Upgrade pgjobs-server"
    )


def read_plain(path: Path) -> Script:
    """A file without anything to render."""
    sql = path.read_text(encoding="utf-8")
    return Script(path.name, sql, _sha256(sql))


def _read(path: Path, root: Path, schema: str, role_prefix: str) -> Script:
    plain = read_plain(path)
    return Script(path.relative_to(root).as_posix(), render(plain.sql, schema, role_prefix), plain.checksum)


def _combined(scripts: Iterable[Script]) -> str:
    return _sha256("\0".join(f"{script.name}\0{script.sql}" for script in scripts))


def _numbers(version: str) -> tuple[int, ...]:
    """What two releases are compared by; what follows the numbers (rc1, .dev0) is left out."""
    leading = re.match(r"[\d.]*", version)
    return tuple(int(number) for number in leading[0].split(".") if number) if leading else ()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
