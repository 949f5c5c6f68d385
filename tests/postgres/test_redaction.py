"""What may be told is the same in SQL and in Python, and never what gives access."""

from __future__ import annotations

import asyncio
import json
import logging
import string
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pgjobs.drivers.redaction import LINE, RECORD, RedactingFormatter, redact, redact_document, redact_line
from tests.hostile_texts import hostile_texts

CASES = {
    "https://user:secret@host/dav?token=1#x": "https://host/dav",
    "GET https://host:8443/a?x=1 failed": "GET https://host:8443/a failed",
    "postgresql://app:hunter2@db.internal:5432/jobs": "postgresql://db.internal:5432/jobs",
    "https://user:p@ss@host/": "https://host/",
    "https://user:pa/ss@host/x": "https://…",
    "https://user:p@s/s@host/x": "https://…",
    "https://user:p?ss@host/x": "https://…",
    "https://tok3n@host/": "https://host/",
    "https://host/@global:modifiers:Rotate/1": "https://host/@global:modifiers:Rotate/1",
    "http://[::1]:8080/x?y": "http://[::1]:8080/x",
    "<https://u:s@host/x>": "<https://host/x>",
    "'https://u:s@host/x?y' is bad": "'https://host/x' is bad",
    "cannot log in as ada:hunter2@host": "cannot log in as host",
    "Authorization: Basic dXNlcjpzZWNyZXQ= was sent": "Authorization: … was sent",
    '{"Authorization": "Bearer abc.def"}': '{"Authorization": "…"}',
    "password=hunter2, user=ada": "password=…, user=ada",
    "api_key: 'a b c' x": "api_key: … x",
    "as pgj_0123456789abcdef0123": "as pgj_…",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln": "Bearer …",
    "sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln to": "sent … to",
    "sent eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ. to": "sent … to",
    "id=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ": "id=…",
    "in xeyJeyJhbGciOiJub25l.a.b.c": "in x….c",
    "no eyJ.eyJshort.a nor eyJhbGciOiJub25lIn0": "no eyJ.eyJshort.a nor eyJhbGciOiJub25lIn0",
    "a:b@[c:d@e (f:g@h": "[e (h",
    "1.a://u@h/x b,c://u@h": "1.a://h/x b,c://h",
    "a://h/x?b://h/y@z": "a://h/x",
    "secret_name: webdav": "secret_name: webdav",
    "is it @global:mail:Welcome #7?": "is it @global:mail:Welcome #7?",
    "Timed out after 30 s at 12:30": "Timed out after 30 s at 12:30",
    "": "",
}
LONG = "x" * 7990 + " https://user:hunter2hunter2@host/"


@pytest.fixture
def ask(database_url: str) -> Iterator[Any]:
    """Asks Postgres, synchronously: hypothesis knows no coroutines."""
    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(asyncpg.connect(database_url))
    yield lambda query, *values: loop.run_until_complete(connection.fetchval(query, *values))
    loop.run_until_complete(connection.close())
    loop.close()


@pytest.mark.parametrize(
    "text", [*CASES, LONG, "y" * 9000, LONG.replace(" ", "\n"), LONG.replace(" ", ""), "ab " * 4000]
)
def test_sql_and_python_tell_the_same(ask: Any, text: str):
    told = redact(text)
    assert told == CASES.get(text, told)
    assert ask("select pgjobs._redact($1)", text) == told
    assert redact(told) == told
    assert len(told) <= 8000
    assert "hunter2" not in told


secrets = st.text(string.ascii_letters + string.digits + "!$&*()_-+=.~%:@é", min_size=6, max_size=12).map(
    lambda text: f"S{text}S"
)
users = st.text(string.ascii_letters, min_size=1, max_size=8)
places = st.sampled_from(["host", "dav.example:8443", "[::1]", "10.0.0.1:80"])
paths = st.sampled_from(["", "/", "/dav", "/dav/@global:a:b/1", "/a%20b/"])
queries = st.sampled_from(["", "?token={}", "?a=1&key={}", "#{}", "/?x={}#y"])


@st.composite
def hostile_urls(draw: Any) -> tuple[str, str]:
    """A URL, and the secret it holds somewhere."""
    secret = draw(secrets)
    scheme = draw(st.sampled_from(["https", "HTTP", "webdav+ssl", "postgresql"]))
    user = draw(st.sampled_from(["{u}:{s}@", "{s}@", ":{s}@", "{u}:{s}/x@", "{u}:{s}?x@", "{u}:{s}#@@"]))
    query = draw(queries).format(secret)
    return f"{scheme}://{user.format(u=draw(users), s=secret)}{draw(places)}{draw(paths)}{query}", secret


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=words, url=hostile_urls(), after=words)
def test_no_url_keeps_its_secret(ask: Any, before: str, url: tuple[str, str], after: str):
    text = f"{before} {url[0]} {after}"
    told = redact(text)
    assert ask("select pgjobs._redact($1)", text) == told
    assert url[1] not in told
    assert redact(told) == told


hostile_pieces = st.sampled_from(
    [
        *"@:/?#\\ \n\"'<>[]=,;",
        "://",
        "https://",
        "user:secret",
        "ada:hunter2",
        "password=",
        "Authorization: ",
        "bearer ",
        "token ",
        "eyJ",
        "eyJhbGciOiJub25lIn0",
        "pgj_",
        "0123456789abcdef",
        "a://",
        "u@h",
        *"(&.-_+{",
        "a",
        "9",
        "é",
        "…",
    ]
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(hostile_pieces, words), max_size=12).map("".join))
def test_any_text_is_told_alike(ask: Any, text: str):
    assert ask("select pgjobs._redact($1)", text) == redact(text)
    line = redact_line(text)
    assert ask("select pgjobs._redact_line($1)", text) == line
    assert line.splitlines() in ([line], [])


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.one_of(hostile_pieces, users), max_size=8).map("".join))
def test_no_rule_finds_anything_in_what_is_taken_for_harmless(text: str):
    assume(redact(text) == text)
    # A line that arouses suspicion has all of them looked at.
    assert redact(f"{text}\neyj") == f"{text}\neyj"


@pytest.mark.parametrize("text", ["a\nb\r\nc\u2028d\u0085e", "é" * 600, "  x  ", "\n"])
def test_a_line_is_one_line_of_at_most_500_characters(ask: Any, text: str):
    line = redact_line(text)
    assert ask("select pgjobs._redact_line($1)", text) == line
    assert len(line) <= LINE
    assert len(line.splitlines()) <= 1
    assert line.encode().decode() == line


DOCUMENT = {
    "type": "webdav",
    "base_url": "https://user:secret@host/dav?token=1",
    "secret_name": "webdav",
    "password": "hunter2",
    "headers": [{"X-Api-Key": "hunter2", "x": 1}, None, True, "a:hunter2@b"],
    "nested": {"refresh_token": ["hunter2"]},
}


def test_documents_are_told_alike(ask: Any):
    told = redact_document(DOCUMENT)
    assert json.loads(ask("select pgjobs._redact_document($1)", json.dumps(DOCUMENT))) == told
    assert told["base_url"] == "https://host/dav"
    assert told["secret_name"] == "webdav"
    assert "hunter2" not in json.dumps(told)


def test_hostile_texts_are_told_alike(ask: Any):
    told = {name: redact(text) for name, text in hostile_texts(1500).items()}
    texts = list(hostile_texts(1500).values())
    query = (
        "select array_agg(pgjobs._redact(t) order by n) from unnest($1::text[]) with ordinality as u (t, n)"
    )
    assert dict(zip(told, ask(query, texts), strict=True)) == told


def test_of_a_huge_log_record_the_middle_is_left_out():
    text = "\n".join(f"{number} https://u:hunter2@host/{'x' * 900}" for number in range(200))
    record = logging.LogRecord("pgjobs", logging.ERROR, __file__, 1, text, None, None)
    line = RedactingFormatter("%(message)s").format(record)
    assert len(line) <= RECORD + 100
    assert line.startswith("0 https://host/")
    assert "\n199 https://host/" in line
    assert "characters left out]" in line
    assert "hunter2" not in line


def test_logs_are_redacted_with_their_tracebacks():
    record = logging.LogRecord(
        "pgjobs", logging.ERROR, __file__, 1, "at %s", ("https://u:hunter2@host/",), None
    )
    try:
        raise ValueError("https://u:hunter2@host/?token=hunter2")
    except ValueError as error:
        record.exc_info = (ValueError, error, error.__traceback__)
    line = RedactingFormatter("%(levelname)s %(message)s").format(record)
    assert line.startswith("ERROR at https://host/\nTraceback")
    assert "ValueError: https://host/" in line
    assert "hunter2" not in line.replace('raise ValueError("https://u:hunter2@host/?token=hunter2")', "")
