"""What the environment allows an owner in a domain: `JOBS_QUOTA_*`; and how large documents may be."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from pgjobs.contrib.manager.settings import ManagerSettings
from pgjobs.errors import InvalidArgument, PayloadTooLarge
from pgjobs.queue.records import Json

MAX_QUEUED = "MAX_QUEUED"
SUBMITS_PER_MIN = "SUBMITS_PER_MIN"
MAX_INFLIGHT = "MAX_INFLIGHT"


def quota_of(
    name: str, domain: str, owner: str | None, environment: Mapping[str, str] | None = None
) -> int | None:
    """The quota of an owner in a domain; None when there is none, or no owner.

    The variable that says most decides: of domain and user, of the user, of the domain, of all.
    """
    if owner is None:
        return None
    known = os.environ if environment is None else environment
    own, user = _written(domain), f"USER_{_written(owner)}"
    for suffix in (f"_{own}_{user}", f"_{user}", f"_{own}", ""):
        variable = f"JOBS_QUOTA_{name}{suffix}"
        if said := known.get(variable, "").strip():
            if not re.fullmatch(r"-?[0-9]{1,9}", said):
                raise InvalidArgument(f"{variable} must be a whole number", detail=f"Got {said!r}.")
            return int(said) if int(said) > 0 else None
    return None


def fitting(document: Json, what: str, settings: ManagerSettings) -> Json:
    """The document, if `JOBS_MAX_JSON_BYTES` allows it; else it is refused, or only its size is kept."""
    most = settings.max_json_bytes
    if most is None or document is None:
        return document
    size = len(json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str).encode())
    if size <= most:
        return document
    if settings.json_truncate:
        return {"_truncated": True, "len_bytes": size}
    raise PayloadTooLarge(f"{what} too large", detail=f"It has {size} bytes; {most} are allowed.")


def _written(name: Any) -> str:
    return re.sub(r"[^A-Z0-9]", "_", str(name).upper())
