"""Verb scripts: how they are read, and that every statement of every script fits the tables."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from pgjobs.drivers.sqlite.scripts import parse_verb, read_verb
from pgjobs.errors import InvalidArgument
from pgjobs.schema.release import sql_directory

SCRIPTS = sorted((sql_directory("sqlite") / "verbs").glob("*.sql"))
SCRIPT = """-- greet(
--   name text,
--   times integer = 2,
--   after interval = '3 seconds',
--   names text[] = null,
--   is_loud boolean = false
-- )
--
-- Says hello.
select 'Hello' as v_word;
-- include find_words
update greetings set count = count + 1;
select :v_word as word;
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "verbs").mkdir()
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers/find_words.sql").write_text(
        "-- Finds words.\n-- include deeper\nselect 2 as v_two;\n"
    )
    (tmp_path / "helpers/deeper.sql").write_text("select 1 as one;\n")
    path = tmp_path / "verbs/greet.sql"
    path.write_text(SCRIPT)
    return path


def test_a_script_names_its_arguments_and_defaults(script):
    arguments = parse_verb(script).arguments
    assert [(argument.name, argument.kind, argument.default) for argument in arguments] == [
        ("name", "text", None),
        ("times", "integer", 2),
        ("after", "interval", 3_000_000),
        ("names", "text[]", None),
        ("is_loud", "boolean", False),
    ]


def test_a_script_includes_others_in_place(script):
    assert [step.sql.split("\n")[-1] for step in parse_verb(script).steps] == [
        "select 'Hello' as v_word;",
        "select 1 as one;",
        "select 2 as v_two;",
        "update greetings set count = count + 1;",
        "select :v_word as word;",
    ]


def test_values_are_bound_as_sqlite_takes_them(script):
    values = parse_verb(script).bind({"name": "ada", "after": timedelta(minutes=1), "names": ["a", None]})
    assert values == {
        "name": "ada",
        "times": 2,
        "after": 60_000_000,
        "names": '["a", null]',
        "is_loud": False,
    }


def test_a_script_that_changes_nothing_is_known_as_reading(script):
    assert not parse_verb(script).is_reading
    assert read_verb("get_task").is_reading
    assert not read_verb("claim_tasks").is_reading


@pytest.mark.parametrize("header", ["", "-- other()\n", "-- greet\n", "-- greet(name)\n"])
def test_a_script_without_its_arguments_is_refused(script, header):
    script.write_text(header + "select 1;\n")
    with pytest.raises(InvalidArgument):
        parse_verb(script)


@pytest.mark.parametrize("source", SCRIPTS, ids=lambda source: source.stem)
async def test_every_statement_fits_the_tables(source, queue, job, connection):
    await queue.bound_to(connection).get_job(job)
    verb = parse_verb(source)
    known = {argument.name for argument in verb.arguments}
    for step in verb.steps:
        if step.call is not None:
            known.add(step.call.into)
            continue
        named = set(re.findall(r"(?<![\w:]):(\w+)", step.sql))
        assert named <= known, step.sql
        connection.execute(f"explain {step.sql}", dict.fromkeys(named))
        known |= set(re.findall(r"\bas (v_\w+)", step.sql))


@pytest.mark.parametrize(
    "path", sorted((sql_directory("sqlite") / "helpers").glob("*.sql")), ids=lambda p: p.stem
)
def test_every_shared_piece_is_used(path):
    include = f"-- include {path.stem}\n"
    others = [other for other in (sql_directory("sqlite")).glob("*/*.sql") if other != path]
    assert any(include in other.read_text() for other in others)
