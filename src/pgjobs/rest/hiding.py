"""Payloads and results as people may see them: what looks like a secret is hidden."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

HIDDEN = "•••"
_SECRET = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|api_?key|credential|authorization|private_?key|cookie|session_?id",
    re.IGNORECASE,
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def hidden(value: Any) -> Any:
    """The same document without secrets: by the names of members, and in URLs their credentials and query."""
    if isinstance(value, dict):
        return {name: HIDDEN if _is_secret(name, item) else hidden(item) for name, item in value.items()}
    if isinstance(value, list):
        return [hidden(item) for item in value]
    return _URL.sub(_bare, value) if isinstance(value, str) else value


def _is_secret(name: str, value: Any) -> bool:
    # The name of a secret is no secret, and neither is a flag or nothing.
    return bool(_SECRET.search(name)) and not name.endswith("_name") and value not in (None, True, False, "")


def _bare(found: re.Match[str]) -> str:
    """A URL without user, password, query and fragment."""
    try:
        parts = urlsplit(found[0])
    except ValueError:
        return HIDDEN
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"
