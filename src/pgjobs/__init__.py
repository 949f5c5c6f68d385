"""A job system that lives in Postgres."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgjobs.queue import Queue as Queue

__version__ = "0.1.0"

_HOMES = {"Queue": "pgjobs.queue"}


def __getattr__(name: str) -> Any:
    # Imported on first use: the command line must start quickly.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pgjobs' has no attribute {name!r}")
