"""How the HTTP API behaves: `PGJOBS_*` from the environment, or the older `ZNDRAW_JOBLIB_*` names."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, AliasGenerator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ANY = "*"

SECRET_BYTES = 32


def _names(field: str) -> AliasChoices:
    return AliasChoices(f"PGJOBS_{field}".upper(), f"ZNDRAW_JOBLIB_{field}".upper())


def _listed(given: Any) -> Any:
    """A list as a shell writes one, with commas; or as JSON."""
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("["):
        return json.loads(given)
    return [name.strip() for name in given.split(",") if name.strip()]


def _homes(given: Any) -> Any:
    """Cells by room as a shell writes them, `room=cell,room=cell`; or as JSON."""
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("{"):
        return json.loads(given)
    pairs = [pair.partition("=") for pair in _listed(given)]
    if not all(room.strip() and cell.strip() for room, _, cell in pairs):
        raise ValueError("must be room=cell,room=cell")
    return {room.strip(): cell.strip() for room, _, cell in pairs}


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

    room_access: Literal["open", "members"] = "open"
    public_reads: bool = True
    auth_secret: SecretStr | None = None
    auth_audience: str | None = Field(default=None, min_length=1)
    auth_issuer: str | None = Field(default=None, min_length=1)
    token_cache_seconds: float = Field(default=1, ge=0, le=60)
    session_seconds: int = Field(default=12 * 3600, ge=1)
    session_cookie: str = Field(default="pgjobs_session", pattern=r"^[\w-]+$")
    trusted_origins: list[str] = []

    header_timeout_seconds: float = Field(default=10, gt=0)
    body_timeout_seconds: float = Field(default=30, gt=0)

    trace_url: str | None = Field(default=None, pattern=r"^https?://[^\s{}]*\{trace_id\}[^\s{}]*$")
    """Where a trace is shown, with `{trace_id}` in its place."""

    room_cells: Annotated[dict[str, str], NoDecode, BeforeValidator(_homes)] = {}
    """Where there are several cells, which is home to which room; the first is home to all others."""

    run_schedules: bool = True
    run_cleanup: bool = True
    cleanup_node: str | None = None

    @model_validator(mode="after")
    def _closed_rooms_have_no_public_reads(self) -> Self:
        if self.is_closed and self.public_reads and "public_reads" in self.model_fields_set:
            raise ValueError(
                "PGJOBS_PUBLIC_READS=true would open every room: leave it out, or set it to false"
            )
        return self

    @property
    def is_closed(self) -> bool:
        """Whether only members see what is in a room."""
        return self.room_access == "members"

    @property
    def who_sees_what(self) -> str:
        """The mode in a sentence, for whoever starts or examines a server."""
        if self.is_closed:
            return "Rooms are closed: members and superusers see them (PGJOBS_ROOM_ACCESS=members)."
        return "Rooms are open: anybody with a token reads every room (PGJOBS_ROOM_ACCESS=open)."

    @property
    def has_weak_secret(self) -> bool:
        """Whether the secret is short enough to be guessed: HS256 wants as many bytes as its hash has."""
        return (
            self.auth_secret is not None and len(self.auth_secret.get_secret_value().encode()) < SECRET_BYTES
        )

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
