"""Configuration: `PGJOBS_*` from the environment, or keyword arguments."""

from __future__ import annotations

import os
import re
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgjobs.errors import InvalidArgument

_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_LIBPQ = ("PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE")
_DRIVER_OF_URL = re.compile(r"^(postgres(?:ql)?)\+\w+://")


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


def _plain_url(url: SecretStr | None) -> SecretStr | None:
    return url and SecretStr(_DRIVER_OF_URL.sub(r"\1://", url.get_secret_value()))


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

    @property
    def is_located(self) -> bool:
        """Whether anything says which database to use."""
        return self.database_url is not None or any(os.environ.get(name) for name in _LIBPQ)

    def url(self) -> str:
        """The database URL in clear, for connecting only; without one, libpq's variables say where."""
        if self.database_url is None:
            if self.is_located:
                return "postgresql://"
            raise InvalidArgument(
                "No database URL", hint="Set PGJOBS_DATABASE_URL, for example postgresql://localhost/mydb"
            )
        return self.database_url.get_secret_value()
