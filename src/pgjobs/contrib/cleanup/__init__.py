"""Cleaning up after runs that did not complete: cleaners for what they left, and who runs them."""

from __future__ import annotations

from pgjobs.contrib.cleanup.cleaners import Cleaner, CleanupError, Outcome, Run
from pgjobs.contrib.cleanup.local_dir import LocalDirCleaner, run_directory
from pgjobs.contrib.cleanup.runner import CleanupRunner, default_cleaners
from pgjobs.contrib.cleanup.secrets import SecretResolver, environment_secret
from pgjobs.contrib.cleanup.webdav import WebDavCleaner

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
