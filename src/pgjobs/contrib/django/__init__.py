"""Django's tasks on pgjobs: a backend, two commands and pages of the admin.

INSTALLED_APPS = [..., "pgjobs.contrib.django"]
TASKS = {"default": {"BACKEND": "pgjobs.contrib.django.PgjobsBackend"}}
"""

from __future__ import annotations

from typing import Any

__all__ = ["PgjobsBackend"]


def __getattr__(name: str) -> Any:
    # Later than the package: Django imports that before its settings can be read.
    if name == "PgjobsBackend":
        from pgjobs.contrib.django.backend import PgjobsBackend

        return PgjobsBackend
    raise AttributeError(name)
