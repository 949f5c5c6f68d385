"""Providers of one worker: registering them, and answering reads."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pgjobs.contrib.joblib.api import Calls, sendable
from pgjobs.contrib.joblib.extensions import Provider
from pgjobs.live.models import ProviderRequest

log = logging.getLogger("pgjobs.client")


@dataclass(frozen=True)
class RegisteredProvider:
    """A provider and what answers for it."""

    id: UUID
    cls: type[Provider]
    handler: Any


def answer(calls: Calls, provider: RegisteredProvider, request: ProviderRequest) -> None:
    """Reads what was asked for and uploads it; a failing read uploads its error."""
    path = f"/providers/{provider.id}/results"
    headers = {"X-Request-Hash": request.request_id, "Content-Type": provider.cls.content_type}
    try:
        result = provider.cls(**json.loads(request.params)).read(provider.handler)
        is_raw = isinstance(result, bytes | bytearray | memoryview)
        content = bytes(result) if is_raw else json.dumps(result, default=str).encode()
    except Exception as error:
        log.exception("provider %s cannot answer %s", request.provider_name, request.params)
        detail = f"{type(error).__name__}: {error}"
    else:
        try:
            calls.call("POST", path, headers=headers, content=content)
            return
        except ValueError as error:
            # Too large, perhaps. Whoever asked waits: better a reason than silence.
            detail = f"The answer was refused: {error}"
    headers |= {"X-Result-Status": "error", "Content-Type": "application/json"}
    calls.call("POST", path, headers=headers, content=json.dumps({"detail": sendable(detail)}).encode())
