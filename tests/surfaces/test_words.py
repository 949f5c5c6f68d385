"""What users read uses the words of ARCHITECTURE.md and of the field: no text has one of the old ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from pgjobs.cli.app import app
from pgjobs.server.app import create_app

ROOT = Path(__file__).parents[2]
SQL = ROOT / "sql" / "postgres"
PACKAGE = ROOT / "src" / "pgjobs"


class Word(NamedTuple):
    """An old way to say something, where it stood, and the better one."""

    pattern: str
    example: str
    better: str


WORDS = (
    Word(
        r"what waits, what runs",
        "What waits, what runs, and what wants attention.",
        "Queue status and issues.",
    ),
    Word(r"wants? attention", "Nothing wants attention.", "No issues found."),
    Word(r"\bmore for later\b", "6 more for later", "6 scheduled"),
    Word(r"wait before a worker", "Wait before a worker takes a task", "Queue latency"),
    Word(r"\bplaces? in (?:the )?line\b", "its place in line", "its queue position"),
    Word(r"\b(?:in|into|out of) line\b", "It goes back into line, due now.", "It returns to the queue now."),
    Word(r"\bwhat happens?:", "What happens: it is retried", "Details: it is retried"),
    Word(r"\bchoose none\b|\bchosen\b", "Choose none / 20 chosen", "Clear selection / 20 selected"),
    Word(r"\bloosen a\b", "Loosen a filter", "Try removing a filter"),
    Word(r"\b(?:put|puts|set|sets) (?:\w+ ){0,2}aside\b", "The task is put aside", "Task ignored"),
    Word(r"\btak(?:e|es|en) (?:\w+ ){0,2}up again\b", "Take the task up again?", "Stop ignoring this task?"),
    Word(r"\bask(?:s|ed)? (?:\w+ ){0,2}to stop\b", "Ask to stop", "Request cancellation"),
    Word(r"\bsigns? of life\b", "with its next sign of life", "at its next heartbeat"),
    Word(r"\bleft alone\b", "would be left alone", "will be skipped"),
    Word(r"\bbroken off\b", "Broken off: 3 of 5", "Interrupted: 3 of 5"),
    Word(r"\b(?:go|goes|going|went) on\b", "What runs goes on.", "Running tasks continue."),
    Word(r"\bkinds? of work\b", "Registered kinds of work.", "Job types known to this queue."),
    Word(r"at once: any number", "At once: any number", "Concurrency limit: none"),
    Word(r"\bby the clocks?\b", "What runs by the clock.", "Recurring jobs."),
    Word(r"\b(?:made|makes?) up for\b", "is not made up for", "missed runs are not run later"),
    Word(r"\bheard of\b", "heard of 14 s ago", "last seen 14 s ago"),
    Word(r"\bkept / asked now\b|\basked now\b", "Kept / Asked now", "Cached / In flight"),
    Word(r"\bmay (?:operate|look)\b", "may operate / may look", "Operator / Read-only"),
    Word(r"\blooking every\b|\bresting\b", "Looking every 5 s / Resting", "Polling every 5 s / Paused"),
    Word(r"\blooks? by (?:it|them)sel", "workers look by themselves every few seconds", "workers poll"),
    Word(r"\bto the content\b", "To the content", "Skip to content"),
    Word(r"\bmends?\b|\bmended\b", "the SQL that mends it", "the SQL that fixes it"),
    Word(r"\bbroken promises?\b|promises that are broken", "broken promises", "invariant violations"),
    Word(
        r"\bnobody (?:starts?|started|serves|takes|owes|sweeps|moves|put)\b",
        "nobody starts it",
        "no process is starting it",
    ),
    Word(r"something else than the server", "Something else than the server answered", "Unexpected response"),
    Word(r"for how long it counts", "For how long it counts", "Days until it expires"),
    Word(r"seconds between looks", "Seconds between looks.", "Refresh interval in seconds."),
    Word(r"another site asked", "Another site asked for this", "Cross-site request refused"),
    Word(r"\bclean-ups?\b", "clean-up", "cleanup"),
    Word(
        r"\b(?:first|next|last|another|each|every|between) (?:try|tries)\b",
        "the next try",
        "the next attempt",
    ),
    Word(r"\bheed(?:s|ed)?\b", "its worker does not heed it", "its worker has not stopped"),
    Word(r"\bin hand\b|\bhands full\b|\bsomebody's hands\b", "3 in hand", "3 claimed or running"),
    Word(r"\bhow (?:it|things) stands?\b", "How it stands", "Status"),
    Word(r"\bhow-many-eth\b", "The how-many-eth lease", "Number of the attempt"),
    Word(r"\bout of turn\b", "Run a schedule now, out of turn", "Run a schedule now"),
    Word(r"\bpass(?:es|ed)? (?!over)(?:\w+ ){0,2}by\b(?! itself)", "a run is passed by", "a run is skipped"),
    Word(r"\bput(?:s|ting)? (?:\w+ ){0,2}away\b", "Put a job away", "Archive a job"),
    Word(r"\btak(?:e|es|en|ing) (?:\w+ ){0,2}away\b", "Take a worker away", "Remove a worker"),
    Word(r"\bhas? (?:a )?jobs? run by (?:it|them)sel", "Has a job run by itself", "Registers a schedule"),
    Word(r"\ball is well\b", "All is well.", "No issues found."),
)


def offences(texts: dict[str, str]) -> list[str]:
    """Where texts use an old word, with the better one."""
    return [
        f"{place}: {found[0]!r} in {text[max(0, found.start() - 40) : found.end() + 40]!r}; say {word.better!r}"
        for place, text in ((place, re.sub(r"\s+", " ", text)) for place, text in texts.items())
        for word in WORDS
        if (found := re.search(word.pattern, text, re.IGNORECASE))
    ]


def documents() -> dict[str, str]:
    """Every line of what is written to be read."""
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs" / "ops").iterdir(),
        *ROOT.glob("sql/**/*.md"),
    ]
    pages += (ROOT / "examples").iterdir()
    paragraphs = (
        (page, place, text) for page in pages if page.is_file() for place, text in paragraphs_of(page)
    )
    return {f"{page.relative_to(ROOT)}:{place}": text for page, place, text in paragraphs}


def paragraphs_of(page: Path) -> Iterator[tuple[int, str]]:
    place = 1
    for text in page.read_text(encoding="utf-8").split("\n\n"):
        yield place, text
        place += text.count("\n") + 2


def help_texts() -> dict[str, str]:
    """What `--help` says of every command, its arguments and options."""

    def of(command: Any, name: str) -> Iterator[tuple[str, str]]:
        yield name, f"{command.help or ''} {command.epilog or ''}"
        for parameter in command.params:
            yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
        for each in getattr(command, "commands", ()):
            yield from of(command.commands[each], f"{name} {each}")

    return dict(of(typer.main.get_command(app), "pgjobs"))


def openapi_texts() -> dict[str, str]:
    """Summaries and descriptions of the HTTP API, its problems included."""

    def of(part: Any, place: str) -> Iterator[tuple[str, str]]:
        if isinstance(part, dict):
            for key, value in part.items():
                if key in ("summary", "description", "title") and isinstance(value, str):
                    yield f"{place}/{key}", value
                else:
                    yield from of(value, f"{place}/{key}")
        elif isinstance(part, list):
            for number, value in enumerate(part):
                yield from of(value, f"{place}/{number}")

    return dict(of(create_app(url="sqlite://").openapi(), "openapi"))


_COMMENT = re.compile(r"comment on (\w+ [\w.]+(?:\([^)]*\))?) is\s+((?:'(?:[^']|'')*'\s*)+);")


def comments() -> dict[str, str]:
    """COMMENT ON of everything, as it is once all migrations and the code are installed."""
    files = [
        *sorted((SQL / "migrations").glob("*.sql")),
        *(path for path in SQL.rglob("*.sql") if "migrations" not in path.parts),
    ]
    return {
        found[1]: found[2] for path in files for found in _COMMENT.finditer(path.read_text(encoding="utf-8"))
    }


def sql_messages() -> dict[str, str]:
    """Texts in functions and views: refusals, hints, findings, what `why` answers."""
    homes = (
        SQL / "helpers",
        SQL / "verbs",
        SQL / "views",
        ROOT / "sql" / "sqlite" / "verbs",
        ROOT / "sql" / "sqlite" / "helpers",
    )
    found = {}
    for path in (path for home in homes for path in home.rglob("*.sql")):
        text = re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8"))
        for number, literal in enumerate(re.findall(r"'((?:[^']|'')*)'", text)):
            found[f"{path.relative_to(ROOT)} text {number}"] = literal
    return found


def python_texts() -> dict[str, str]:
    """Strings of the package: output of commands, errors, hints, log lines, docstrings."""
    return {
        f"{path.relative_to(ROOT)}:{node.lineno}": node.value
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def console_texts() -> dict[str, str]:
    """Lines of the console's components without their comments; texts live there."""
    scripts = (path for path in (PACKAGE / "server" / "console").rglob("*.js") if "vendor" not in path.parts)
    return {
        f"{path.relative_to(ROOT)}:{number}": re.sub(r"(^|\s)//.*", "", line)
        for path in scripts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    }


SOURCES = {
    source.__name__: source
    for source in (documents, help_texts, openapi_texts, comments, sql_messages, python_texts, console_texts)
}


@pytest.mark.parametrize("source", SOURCES)
def test_no_text_uses_an_old_word(source: str):
    texts = SOURCES[source]()
    assert texts
    found = offences(texts)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.example)
def test_each_old_word_is_found_and_its_better_one_is_not(word: Word):
    assert any(word.better in found for found in offences({"a text": f"Before it. {word.example} After it."}))
    assert offences({"a text": word.better}) == []


@pytest.mark.parametrize(
    "word",
    [
        "unique", "dead letter", "visibility timeout", "heartbeat", "backoff", "retry", "concurrency limit",
        "rate limit", "queue latency", "workflow", "debounce",
    ],
)  # fmt: skip
def test_the_glossary_has_the_words_that_people_search_for(word: str):
    assert word in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").lower()
