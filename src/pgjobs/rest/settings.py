"""How the HTTP API behaves: `PGJOBS_*` from the environment, or the older `ZNDRAW_JOBLIB_*` names."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AliasChoices, AliasGenerator, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ANY = "*"


def _names(field: str) -> AliasChoices:
    return AliasChoices(f"PGJOBS_{field}".upper(), f"ZNDRAW_JOBLIB_{field}".upper())


def _listed(given: Any) -> Any:
    """A list as a shell writes one, with commas; or as JSON."""
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("["):
        return json.loads(given)
    return [name.strip() for name in given.split(",") if name.strip()]


class ApiSettings(BaseSettings):
    """Limits, waiting times and switches of the HTTP API."""

    model_config = SettingsConfigDict(
        alias_generator=AliasGenerator(validation_alias=_names), populate_by_name=True, extra="ignore"
    )

    allowed_categories: Annotated[list[str], NoDecode, BeforeValidator(_listed)] = [
        "modifiers",
        "selections",
        "analysis",
    ]
    long_poll_max_wait_seconds: int = Field(default=120, ge=0)
    worker_timeout_seconds: int = Field(default=60, ge=1)
    internal_task_timeout_seconds: int = Field(default=3600, ge=1)
    sweeper_interval_seconds: float = Field(default=30, gt=0)
    provider_result_ttl_seconds: int = Field(default=300, ge=1)
    provider_inflight_ttl_seconds: int = Field(default=30, ge=1)
    provider_max_wait_seconds: int = Field(default=30, ge=0)
    provider_default_wait_seconds: int = Field(default=0, ge=0)
    provider_result_max_bytes: int = Field(default=64 * 1024 * 1024, ge=1)

    cross_room_jobs: bool = False
    require_workers: bool = False
    validate_payloads: bool = False
    durable_claims: bool = False

    public_reads: bool = True
    auth_secret: SecretStr | None = None
    session_seconds: int = Field(default=12 * 3600, ge=1)
    session_cookie: str = Field(default="pgjobs_session", pattern=r"^[\w-]+$")
    trusted_origins: list[str] = []

    run_schedules: bool = True
    run_cleanup: bool = True
    cleanup_node: str | None = None

    @property
    def worker_timeout(self) -> timedelta | None:
        """How long a worker may be silent; None unless it was set: the database's own setting counts then."""
        return self._if_set("worker_timeout_seconds")

    @property
    def internal_timeout(self) -> timedelta | None:
        """How long an `@internal` task may take; None unless it was set, as above."""
        return self._if_set("internal_task_timeout_seconds")

    def allows_category(self, category: str) -> bool:
        return ANY in self.allowed_categories or category in self.allowed_categories

    def _if_set(self, name: str) -> timedelta | None:
        return timedelta(seconds=getattr(self, name)) if name in self.model_fields_set else None


JobLibSettings = ApiSettings
"""The name the host applications of the older package know."""
