"""Configuration: `PGJOBS_*` from the environment, or keyword arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgjobs.errors import InvalidArgument

_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_LIBPQ = ("PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE")
_DRIVER_OF_URL = re.compile(r"^(postgres(?:ql)?)\+\w+://")
_CELL_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}"
_CELL = re.compile(rf"(?:^|[,\s])\s*({_CELL_NAME})=(?=postgres(?:ql)?(?:\+\w+)?://)")
_CELL_FORM = "Write name=url,name=url, for example eu=postgresql://one/shop,us=postgresql://two/shop."


def identifier(name: str) -> str:
    """A name that needs no quoting wherever the SQL files mention it."""
    if not _IDENTIFIER.fullmatch(name):
        raise ValueError(
            "must be up to 40 lower-case letters, digits and underscores, and not start with a digit"
        )
    if name.startswith("pg_"):
        raise ValueError("names starting with pg_ belong to Postgres")
    return name


def _own_schema(name: str) -> str:
    # Upgrades drop and re-create every function and view of the schema.
    if name in ("public", "information_schema"):
        raise ValueError("must be a schema that holds nothing but the queue")
    return identifier(name)


def _without_driver(url: str) -> str:
    return _DRIVER_OF_URL.sub(r"\1://", url)


def _plain_url(url: SecretStr | None) -> SecretStr | None:
    return url and SecretStr(_without_driver(url.get_secret_value()))


@dataclass(frozen=True, slots=True)
class CellAddress:
    """One of several databases with a queue each: what it is called, and where it is."""

    name: str
    url: SecretStr


def cells_named(text: str) -> list[CellAddress]:
    """Reads `name=url,name=url`; a URL may have commas of its own."""
    starts = list(_CELL.finditer(text))
    if not starts or text[: starts[0].start()].strip():
        # Not the text: it may hold passwords.
        raise InvalidArgument("The cells cannot be understood", hint=_CELL_FORM)
    ends = [start.start() for start in starts[1:]] + [len(text)]
    found = [
        (start[1], text[start.end() : end].strip(", \n")) for start, end in zip(starts, ends, strict=True)
    ]
    return cells_apart([CellAddress(name, SecretStr(_without_driver(url))) for name, url in found])


def cell_at(url: str) -> CellAddress:
    """A cell by URL or by `name=url`; without a name it is called after its server and database."""
    if _CELL.match(url):
        (cell,) = cells_named(url)
        return cell
    if not url.startswith(("postgresql", "postgres")):
        raise InvalidArgument("A cell is a Postgres database", hint="Write name=postgresql://….")
    parts = urlsplit(url)
    place = f"{parts.netloc.rpartition('@')[2]}/{parts.path.strip('/')}".strip("/")
    return CellAddress(place or "postgres", SecretStr(_without_driver(url)))


def cells_apart(cells: Sequence[CellAddress]) -> list[CellAddress]:
    """The cells, each under a name of its own."""
    names = [cell.name for cell in cells]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(f"Two cells are called {name}", hint=_CELL_FORM)
    return list(cells)


class Settings(BaseSettings):
    """Where the queue lives and how to reach it."""

    model_config = SettingsConfigDict(env_prefix="PGJOBS_", populate_by_name=True, extra="ignore")

    database_url: Annotated[SecretStr | None, AfterValidator(_plain_url)] = Field(
        default=None, validation_alias=AliasChoices("PGJOBS_DATABASE_URL", "DATABASE_URL")
    )
    database_schema: Annotated[str, AfterValidator(_own_schema)] = Field(
        default="pgjobs", validation_alias="PGJOBS_SCHEMA"
    )
    role_prefix: Annotated[str, AfterValidator(identifier)] = Field(
        default_factory=lambda validated: validated.get("database_schema", "pgjobs")
    )
    manage_roles: bool = True
    pool_min_size: int = Field(default=1, ge=0)
    pool_max_size: int = Field(default=10, ge=1)
    is_pooled: bool = Field(default=False, validation_alias="PGJOBS_POOLED")
    listen_url: Annotated[SecretStr | None, AfterValidator(_plain_url)] = None
    read_url: Annotated[SecretStr | None, AfterValidator(_plain_url)] = None
    """A standby for lists, the console and dashboards of a server, and `pgjobs top`."""
    read_max_lag_seconds: float = Field(default=5, gt=0, le=3600)
    """A standby that may be further behind is not asked."""
    cells: SecretStr | None = None
    """Several databases with a queue each, as `name=url,name=url`, for workers, servers and `pgjobs top`."""

    @property
    def is_located(self) -> bool:
        """Whether anything says which database to use."""
        return (
            self.database_url is not None
            or self.cells is not None
            or any(os.environ.get(name) for name in _LIBPQ)
        )

    def cell_addresses(self) -> list[CellAddress]:
        """The cells of `PGJOBS_CELLS`, or none."""
        return [] if self.cells is None else cells_named(self.cells.get_secret_value())

    def url(self) -> str:
        """The database URL in clear, for connecting only; without one, libpq's variables say where."""
        if self.database_url is None:
            if cells := self.cell_addresses():
                if len(cells) == 1:
                    return cells[0].url.get_secret_value()
                names = ", ".join(cell.name for cell in cells)
                raise InvalidArgument(
                    f"PGJOBS_CELLS names several databases: {names}",
                    hint=f"Choose one, for example --url {cells[0].name}.",
                )
            if self.is_located:
                return "postgresql://"
            raise InvalidArgument(
                "No database URL", hint="Set PGJOBS_DATABASE_URL, for example postgresql://localhost/mydb"
            )
        return self.database_url.get_secret_value()


def named_url(url: str) -> str:
    """The URL of a cell by its name in `PGJOBS_CELLS`, or of `name=url`; any other as it is."""
    if _CELL.match(url):
        return cell_at(url).url.get_secret_value()
    known = {cell.name: cell.url for cell in Settings().cell_addresses()} if "/" not in url else {}
    return known[url].get_secret_value() if url in known else url
