"""Cleaning up after runs that did not complete: cleaners for what they left, and who runs them."""

from __future__ import annotations

from pgjobs.maintenance.cleaners import Cleaner, CleanupError, Outcome, Run
from pgjobs.maintenance.local_dir import LocalDirCleaner, run_directory
from pgjobs.maintenance.runner import CleanupRunner, default_cleaners
from pgjobs.maintenance.secrets import SecretResolver, environment_secret
from pgjobs.maintenance.webdav import WebDavCleaner

__all__ = [
    "Cleaner",
    "CleanupError",
    "CleanupRunner",
    "LocalDirCleaner",
    "Outcome",
    "Run",
    "SecretResolver",
    "WebDavCleaner",
    "default_cleaners",
    "environment_secret",
    "run_directory",
]
