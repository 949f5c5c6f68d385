"""Configuration of the job manager: `JOBS_*`, and which domains have moved to it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal, Self, TypeAlias, get_args

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgjobs.errors import InvalidArgument

CORE = "core"
"""The backend this package is; any other name is the host application's own."""

OnLostLease: TypeAlias = Literal["raise", "return"]
"""What acknowledging under a lost lease does: raise `LeaseLost`, or return `False`."""

_DEFAULT_BACKENDS = ("PGJOBS_JOBS_BACKEND", "TLDW_JOBS_BACKEND")


class ManagerSettings(BaseSettings):
    """How long leases last, how often they are renewed, how much runs at once."""

    model_config = SettingsConfigDict(env_prefix="JOBS_", extra="ignore")

    max_lease_seconds: float = Field(default=60, gt=0)
    heartbeat_seconds: float | None = Field(default=None, ge=2, le=30)
    max_concurrency: int = Field(default=4, ge=1)
    enable_metrics: bool = True
    on_lost_lease: OnLostLease = "raise"
    upkeep_seconds: float = Field(default=60, ge=0)
    require_completion_token: bool = False
    quarantine_threshold: int = Field(default=3, ge=0)
    adaptive_lease: bool = False
    max_json_bytes: int | None = Field(default=None, ge=1)
    json_truncate: bool = False

    def with_lost_leases(self, on_lost_lease: OnLostLease | None) -> Self:
        """The same settings, with another answer to lost leases if one is named."""
        if on_lost_lease is None:
            return self
        if on_lost_lease not in get_args(OnLostLease):
            raise InvalidArgument(f"on_lost_lease must be raise or return, not {on_lost_lease!r}")
        return self.model_copy(update={"on_lost_lease": on_lost_lease})

    def lease(self, seconds: float, name: str = "lease_seconds") -> timedelta:
        """A lease as asked for, but not above the cap; `name` is what the caller calls it."""
        if seconds is None:
            raise InvalidArgument(f"{name} is required")
        try:
            return timedelta(seconds=min(seconds, self.max_lease_seconds))
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidArgument(
                f"{name} must be a number of seconds", detail=f"Got {seconds!r}."
            ) from error

    def heartbeat(self, lease_seconds: float) -> float:
        """Seconds between two renewals: as configured, else half the lease, between 2 and 30."""
        if self.heartbeat_seconds is not None:
            return self.heartbeat_seconds
        return min(max(self.lease(lease_seconds).total_seconds() / 2, 2), 30)


def backend_for(domain: str, environment: Mapping[str, str] | None = None) -> str:
    """Which backend serves a domain: `<DOMAIN>_JOBS_BACKEND`, else `PGJOBS_JOBS_BACKEND`, else core."""
    known = os.environ if environment is None else environment
    own = re.sub(r"[^A-Z0-9]", "_", domain.upper()) + "_JOBS_BACKEND"
    for name in (own, *_DEFAULT_BACKENDS):
        if backend := known.get(name, "").strip():
            return backend
    return CORE
