"""Django's databases by URL, for connections that are not Django's."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from django.db import connections

_NAMES = ("user", "password", "host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey")


def url_of(alias: str) -> str:
    """The database Django knows by this alias; what it leaves out libpq's variables say."""
    given = connections[alias].get_connection_params()
    known = {name: str(given[name]) for name in _NAMES if given.get(name)}
    return f"postgresql:///{quote(str(given['dbname']), safe='')}?{urlencode(known, quote_via=quote)}"
