"""Secrets by name: targets name them, the environment or a resolver of yours holds them."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable

SecretResolver = Callable[[str], Awaitable[str | None]]
"""From the name of a secret to the secret, `user:password` or a bearer token; None where there is none."""


async def environment_secret(name: str) -> str | None:
    """`PGJOBS_SECRET_<NAME>`, in upper case with underscores for anything but letters and digits."""
    return os.environ.get("PGJOBS_SECRET_" + re.sub(r"[^A-Z0-9]", "_", name.upper())) or None
