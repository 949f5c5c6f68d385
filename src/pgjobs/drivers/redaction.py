"""What may be told: texts, lines, documents and log records without what gives access.

The same rules as `sql/postgres/helpers/base/redaction.sql`; a test compares them.
"""

from __future__ import annotations

import logging
import re
from typing import Any

LIMIT = 8000
LINE = 500
RECORD = 64_000
HIDDEN = "…"

_SPACE = r" \t\n\r\f\v"
_GAP = rf"""{_SPACE}"'<>"""
_BEFORE_PATH = rf"{_GAP}/?#\\"
_OPENING = r"(=,;{\["
_NAME = "[A-Za-z0-9_-]"
_SECRETS = r"pass(word|wd|phrase)|pwd|secret|token|(api|access)[_-]?key|signature|credential"
_SUSPICIOUS = (
    *("://", "pass", "pwd", "secret", "token", "key", "signature", "credential"),
    *("authorization", "bearer", "basic", "pgj_", "pgl_", "pgc_", "eyj"),
)
"""Without one of these no rule finds anything, unless somebody stands before an @, as nobody does in the
addresses of jobs. Plain searches, because every line of a log is looked at."""
_USER = re.compile(rf"[^{_GAP}/@]@")

# No rule looks at a character more than a few times, whatever the text: each begins where a run of characters
# begins (the lookbehinds), takes what it can without giving back, and what follows is looked up once.
_WORDS = re.compile(rf"[^{_GAP}]+")
_SCHEME = r"(?<![A-Za-z0-9+.-])([0-9+.-]*+[A-Za-z][A-Za-z0-9+.-]*+://)"
_URL = re.compile(_SCHEME)
_USER_THEN_PATH = re.compile(rf"{_SCHEME}[^{_BEFORE_PATH}@]*+@[^{_BEFORE_PATH}]*+[/?#\\]")
_PORT_WITH_LETTERS = re.compile(
    rf"{_SCHEME}[^{_BEFORE_PATH}@:\[]*+:[0-9]*+[^{_BEFORE_PATH}@0-9][^{_BEFORE_PATH}@]*+[/?#\\]"
)
_PATH = re.compile(rf"{_SCHEME}[^{_BEFORE_PATH}]*+[/\\]")
_USER_IN_PATH = re.compile(r"[^?#/]@")
_QUERY = re.compile(r"[?#]")
_USER_OF_URL = re.compile(rf"{_SCHEME}[^{_BEFORE_PATH}]*@")
_BEFORE_AT = re.compile(rf"(?<![^{_GAP}/@])[^{_GAP}/@]++(?=@[A-Za-z0-9\[])")
_LOGIN = re.compile(rf"(^|[{_GAP}{_OPENING}])[^{_GAP}/@:{_OPENING}]++:(?=[^{_GAP}/@])")
_RULES = [
    (re.compile(pattern, re.ASCII | flags), replacement)
    for pattern, flags, replacement in (
        (
            rf"""((proxy-)?authorization["']?[ \t]*[:=][ \t]*["']?)([a-z]+[ \t]+)?[^{_GAP},;]+""",
            re.IGNORECASE,
            rf"\1{HIDDEN}",
        ),
        (r"(bearer|basic|token)[ \t]+[a-z0-9._~+/=-]{16,}", re.IGNORECASE, rf"\1 {HIDDEN}"),
        (
            rf"""(({_SECRETS})s?["']?[ \t]*[:=][ \t]*)("[^"]*"?|'[^']*'?|[^{_GAP}&,;]+)""",
            re.IGNORECASE,
            rf"\1{HIDDEN}",
        ),
        (r"(pg[jlc]_)[0-9a-f]{8,}", 0, rf"\1{HIDDEN}"),
        (
            rf"(?<!{_NAME})(?={_NAME}++\.{_NAME})({_NAME}*?)eyJ{_NAME}{{8,}}+\.{_NAME}++(\.{_NAME}*+)?",
            0,
            rf"\1{HIDDEN}",
        ),
    )
]
_GAPS = re.compile("[\u0001-\u0020\u007f-\u00a0\u2028\u2029]+")
_SECRET_NAME = re.compile(rf"({_SECRETS}|authorization)s?\Z", re.ASCII | re.IGNORECASE)
_VALUES = frozenset({"default", "example", "examples", "const", "enum"})
"""Where a JSON schema names values."""


def redact(message: str) -> str:
    """A text without credentials: URLs lose user, password, query and fragment."""
    if len(message) > LIMIT:
        message = _without_cut_word(message[: LIMIT - 1])
    if is_harmless(message):
        return message
    if "://" in message:
        message = _WORDS.sub(_redact_urls, message)
    if "@" in message:
        message = _without_logins(message)
    for pattern, replacement in _RULES:
        message = pattern.sub(replacement, message)
    return message


def is_harmless(message: str) -> bool:
    """Whether a text has nothing in it that any rule looks for."""
    lowered = message.lower()
    return not any(sign in lowered for sign in _SUSPICIOUS) and not _USER.search(message)


def _without_cut_word(message: str) -> str:
    """A text that was cut, without what may be the beginning of a URL or a token."""
    begin = 1 + max(message.rfind(space) for space in " \t\n\r\f\v")
    word = message[begin:]
    is_telling = len(word) < 100 or any(sign in word for sign in ":@/?#=")
    return f"{message[:begin]}{HIDDEN}" if is_telling else message


def _redact_urls(found: re.Match[str]) -> str:
    """A word without what its URLs should not tell."""
    word = found[0]
    if "://" not in word:
        return word
    if "@" in word:
        word = _without_users(word)
    url = _URL.search(word)
    query = _QUERY.search(word, url.end()) if url else None
    return word[: query.start()] if query else word


def _without_users(word: str) -> str:
    last = word.rfind("@")
    # A user before the path, and something like one after it; no port has letters, so that is a password with
    # a slash in it: hidden as a whole. If the first such URL has no @ after it, no later one has.
    for pattern in (_USER_THEN_PATH, _PORT_WITH_LETTERS):
        url = pattern.search(word)
        if url is not None and url.end() <= last:
            word = f"{word[: url.end(1)]}{HIDDEN}"
            last = word.rfind("@")
    return _USER_OF_URL.sub(r"\1", _without_users_in_paths(word))


def _without_users_in_paths(word: str) -> str:
    url = _PATH.search(word)
    while url is not None:
        query = _QUERY.search(word, url.end())
        end = query.start() if query else len(word)
        if _USER_IN_PATH.search(word, url.end(), end):
            return f"{word[: url.end(1)]}{HIDDEN}"
        # What begins before the query has the rest of the same path.
        url = _PATH.search(word, end)
    return word


def _without_logins(message: str) -> str:
    """A text without user:password before @host, where there is no scheme."""
    told, copied = [], 0
    for before in _BEFORE_AT.finditer(message):
        login = _LOGIN.search(message, max(before.start() - 1, copied), before.end())
        if login is not None:
            told.append(message[copied : login.end(1)])
            copied = before.end() + 1
    return "".join((*told, message[copied:]))


def redact_line(message: str) -> str:
    """The same in one line of at most 500 characters."""
    return _GAPS.sub(" ", redact(message)).strip(" ")[:LINE]


def redact_document(document: Any) -> Any:
    """A document with every text redacted, and without the values of members named like secrets."""
    if isinstance(document, str):
        # A long one without anything to hide is not cut either: whoever gave it reads it back.
        return document if is_harmless(document) else redact(document)
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


_TURNS = {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def unturned(text: str) -> str:
    """A text whose controls of the direction of writing are shown: they can make it read as another."""
    return text.translate(_TURNS)


class RedactingFormatter(logging.Formatter):
    """Formats log records without credentials, tracebacks included.

    Of a record with more than 64,000 characters the middle is left out: a process that serves others
    writes it.
    """

    def format(self, record: logging.LogRecord) -> str:
        lines = _without_middle(super().format(record)).split("\n")
        return unturned("\n".join(map(redact, lines)))


def _without_middle(text: str) -> str:
    if len(text) <= RECORD:
        return text
    # Where lines begin and end, lest a cut leaves half a password.
    head, tail = text[: RECORD // 2].rpartition("\n")[0], text[-RECORD // 2 :].partition("\n")[2]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[{left_out} characters left out]\n{tail}".strip("\n")
