"""What may be told: texts, lines, documents and log records without what gives access.

The same rules as `sql/postgres/internal/disclosure.sql`; a test compares them.
"""

from __future__ import annotations

import logging
import re
from typing import Any

LIMIT = 8000
LINE = 500
HIDDEN = "…"

_SPACE = r" \t\n\r\f\v"
_WORD = rf"""[^{_SPACE}"'<>]"""
_BEFORE_PATH = rf"""{_SPACE}"'<>/?#\\"""
_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]*://)"
_SECRETS = r"pass(word|wd|phrase)|pwd|secret|token|(api|access)[_-]?key|signature|credential"
_SUSPICIOUS = (
    *("://", "pass", "pwd", "secret", "token", "key", "signature", "credential"),
    *("authorization", "bearer", "basic", "pgj_", "pgl_", "pgc_", "eyj"),
)
"""Without one of these no rule finds anything, unless somebody stands before an @, as nobody does in the
addresses of jobs. Plain searches, because every line of a log is looked at."""
_USER = re.compile(rf"""[^{_SPACE}"'<>/@]@""")
_RULES = [
    (re.compile(pattern, re.ASCII | flags), replacement)
    for pattern, flags, replacement in (
        # A user before the path, and something like one after it: hidden as a whole.
        (
            rf"{_SCHEME}[^{_BEFORE_PATH}@]*+@[^{_BEFORE_PATH}]*+[/?#\\]{_WORD}*@{_WORD}*",
            0,
            rf"\1{HIDDEN}",
        ),
        # No port has letters: a password with a slash in it.
        (
            rf"{_SCHEME}[^{_BEFORE_PATH}@:\[]*+:[0-9]*+[^{_BEFORE_PATH}@0-9][^{_BEFORE_PATH}@]*+[/?#\\]{_WORD}*@{_WORD}*",
            0,
            rf"\1{HIDDEN}",
        ),
        (
            rf"""{_SCHEME}[^{_BEFORE_PATH}]*+[/\\][^{_SPACE}"'<>?#]*[^{_SPACE}"'<>?#/]@{_WORD}*""",
            0,
            rf"\1{HIDDEN}",
        ),
        # The user; then query and fragment.
        (rf"{_SCHEME}[^{_BEFORE_PATH}]*@", 0, r"\1"),
        (rf"""([A-Za-z][A-Za-z0-9+.-]*://[^{_SPACE}"'<>?#]*+)[?#]{_WORD}*""", 0, r"\1"),
        # user:password@host without a scheme.
        (
            rf"""(^|[{_SPACE}"'<>(=,;{{\[])[^{_SPACE}"'<>/@:(=,;{{\[]++:[^{_SPACE}"'<>/@]++@([A-Za-z0-9\[])""",
            0,
            r"\1\2",
        ),
        (
            rf"""((proxy-)?authorization["']?[ \t]*[:=][ \t]*["']?)([a-z]+[ \t]+)?[^{_SPACE}"'<>,;]+""",
            re.IGNORECASE,
            rf"\1{HIDDEN}",
        ),
        (r"(bearer|basic|token)[ \t]+[a-z0-9._~+/=-]{16,}", re.IGNORECASE, rf"\1 {HIDDEN}"),
        (
            rf"""(({_SECRETS})s?["']?[ \t]*[:=][ \t]*)("[^"]*"?|'[^']*'?|[^{_SPACE}"'<>&,;]+)""",
            re.IGNORECASE,
            rf"\1{HIDDEN}",
        ),
        (r"(pg[jlc]_)[0-9a-f]{8,}", 0, rf"\1{HIDDEN}"),
        (r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?", 0, HIDDEN),
    )
]
_CUT_WORD = re.compile(rf"(^|[{_SPACE}])([^{_SPACE}]{{0,99}}|[^{_SPACE}]*[:@/?#=][^{_SPACE}]*)\Z")
_GAPS = re.compile("[\u0001-\u0020\u007f-\u00a0\u2028\u2029]+")
_SECRET_NAME = re.compile(rf"({_SECRETS}|authorization)s?\Z", re.ASCII | re.IGNORECASE)
_VALUES = frozenset({"default", "example", "examples", "const", "enum"})
"""Where a JSON schema names values."""


def redact(message: str) -> str:
    """A text without credentials: URLs lose user, password, query and fragment."""
    if len(message) > LIMIT:
        message = _CUT_WORD.sub(rf"\1{HIDDEN}", message[: LIMIT - 1])
    lowered = message.lower()
    if not any(sign in lowered for sign in _SUSPICIOUS) and not _USER.search(message):
        return message
    for pattern, replacement in _RULES:
        message = pattern.sub(replacement, message)
    return message


def redact_line(message: str) -> str:
    """The same in one line of at most 500 characters."""
    return _GAPS.sub(" ", redact(message)).strip(" ")[:LINE]


def redact_document(document: Any) -> Any:
    """A document with every text redacted, and without the values of members named like secrets."""
    if isinstance(document, str):
        return redact(document)
    if isinstance(document, list):
        return [redact_document(item) for item in document]
    if isinstance(document, dict):
        return {
            name: HIDDEN if _SECRET_NAME.search(name) else redact_document(value)
            for name, value in document.items()
        }
    return document


def redact_schema(schema: Any, *, is_secret: bool = False) -> Any:
    """A JSON schema: a member named like a secret is described, without values it could have."""
    if isinstance(schema, list):
        return [redact_schema(item, is_secret=is_secret) for item in schema]
    if not isinstance(schema, dict):
        return redact_document(schema)
    shown = {}
    for name, value in schema.items():
        is_named = _SECRET_NAME.search(name) is not None
        if (is_secret and name in _VALUES) or (is_named and not isinstance(value, dict | list)):
            shown[name] = HIDDEN
        elif name in _VALUES:
            shown[name] = redact_document(value)
        else:
            shown[name] = redact_schema(value, is_secret=is_secret or is_named)
    return shown


class RedactingFormatter(logging.Formatter):
    """Formats log records without credentials, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(redact(line) for line in super().format(record).split("\n"))
