"""Ten times the text is ten times the work, whatever it says: in Python and in SQL."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from pgjobs.drivers import redaction
from pgjobs.drivers.redaction import redact, redact_document, redact_line
from tests.hostile_texts import hostile_texts

TIMES = 30
"""Ten times the text may cost this many times as much: a hundred times would be quadratic."""
LOOKS = 6


class Backend:
    """A session of Postgres, and the processor time it has used."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._connection = self._loop.run_until_complete(asyncpg.connect(url))
        self._pid = self.ask("select pg_backend_pid()")

    def ask(self, query: str, *values: Any) -> Any:
        return self._loop.run_until_complete(self._connection.fetchval(query, *values))

    def clock(self) -> float:
        """Seconds on a processor, where the system tells; a busy machine changes nothing about them."""
        try:
            return int(Path(f"/proc/{self._pid}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            return time.monotonic()

    def close(self) -> None:
        self._loop.run_until_complete(self._connection.close())
        self._loop.close()


@pytest.fixture
def backend(database_url: str) -> Iterator[Backend]:
    backend = Backend(database_url)
    yield backend
    backend.close()


def disproportionate(
    work: Callable[[str], object], small: dict[str, str], large: dict[str, str], clock: Callable[[], float]
) -> list[str]:
    """The first text whose large version costs far more than its size; a dear look is taken again."""

    def cost(text: str) -> float:
        began = clock()
        work(text)
        return clock() - began

    for name, text in large.items():
        little, much = cost(small[name]), cost(text)
        for _ in range(LOOKS):
            if much <= TIMES * little:
                break
            little, much = max(little, cost(small[name])), min(much, cost(text))
        else:
            return [f"{name}: {little:.6f} s, then {much:.6f} s"]
    return []


def parts_of(texts: dict[str, str], beginnings: tuple[str, ...]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name.startswith(beginnings)}


def test_redaction_in_python_is_linear(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redaction, "LIMIT", 10**9)
    small, medium = hostile_texts(1_000), hostile_texts(10_000)
    assert disproportionate(redact_line, small, medium, time.thread_time) == []
    few = ("'' then", "'https://u:p/' then")
    medium, large = parts_of(medium, few), parts_of(hostile_texts(100_000), few)
    assert disproportionate(redact, medium, large, time.thread_time) == []


def test_cutting_a_long_text_is_linear(monkeypatch: pytest.MonkeyPatch):
    def work(text: str) -> str:
        monkeypatch.setattr(redaction, "LIMIT", len(text) - 500)
        return redact(f"{text[:-700]} {text}")

    assert disproportionate(work, hostile_texts(1_000), hostile_texts(10_000), time.thread_time) == []


def test_redaction_in_sql_is_linear(backend: Backend):
    def work(text: str) -> int:
        return int(backend.ask("select length(pgjobs._redact($1))", text))

    assert disproportionate(work, hostile_texts(800), hostile_texts(8_000), backend.clock) == []


def nested(text: str, depth: int = 60) -> Any:
    document: Any = [text[place : place + 500] for place in range(0, len(text), 500)]
    for _ in range(depth):
        document = {"a": document}
    return document


@pytest.mark.parametrize("depth", [0, 60])
def test_redaction_of_documents_is_linear(backend: Backend, depth: int):
    few = ("'' then", "'a://u@h/' then")
    small, large = parts_of(hostile_texts(10_000), few), parts_of(hostile_texts(100_000), few)

    def in_python(text: str) -> object:
        return redact_document(nested(text, depth))

    assert disproportionate(in_python, small, large, time.thread_time) == []

    def in_sql(text: str) -> object:
        return backend.ask("select pgjobs._redact_document($1)", json.dumps(nested(text, depth)))

    few_pieces = dict(list(large.items())[::6])
    assert disproportionate(in_sql, small, few_pieces, backend.clock) == []


def test_searching_tasks_for_a_text_is_linear(backend: Backend):
    def work(text: str) -> int:
        return int(backend.ask("select position(lower($2) in lower($1))", text, text[:199] + "z"))

    assert disproportionate(work, hostile_texts(10_000), hostile_texts(100_000), backend.clock) == []
