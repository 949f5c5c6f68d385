"""SQLite speaks the same verbs: names, arguments, types and defaults as in the Postgres catalog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import asyncpg
import pytest

import pgjobs
from pgjobs.drivers.sqlite.functions import task_id, task_uuid
from pgjobs.drivers.sqlite.scripts import parse_verb
from pgjobs.schema.release import sql_directory

SCRIPTS = sorted((sql_directory("sqlite") / "verbs").glob("*.sql"))

# How the catalog and the scripts write the same default.
_WRITTEN = {"NULL": "null", "'00:00:01'": "'1 second'", "'00:01:00'": "'1 minute'", "'01:00:00'": "'1 hour'"}

ARGUMENTS = """
select
  p.proname as verb,
  p.proargnames[1:p.pronargs] as names,
  array(
    select format_type(t.kind, null)
    from unnest(p.proargtypes) with ordinality as t (kind, place)
    order by t.place
  ) as kinds,
  array(select pg_get_function_arg_default(p.oid, n) from generate_series(1, p.pronargs) as n) as defaults
from pg_proc as p
where p.pronamespace = 'pgjobs'::regnamespace
"""


@pytest.fixture
async def functions(database_url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Of each function of the schema, its arguments as (name, type, default)."""
    connection = await asyncpg.connect(database_url)
    rows = await connection.fetch(ARGUMENTS)
    await connection.close()
    return {row["verb"]: _arguments(row) for row in rows}


def _arguments(row: Any) -> list[tuple[Any, ...]]:
    kinds = [_plain_type(kind) for kind in row["kinds"]]
    defaults = [_plain_default(expression) for expression in row["defaults"]]
    return list(zip(row["names"] or (), kinds, defaults, strict=True))


def _plain_type(kind: str) -> str:
    return {"timestamp with time zone": "timestamptz"}.get(kind, kind)


def _plain_default(expression: str | None) -> str | None:
    """`'{}'::jsonb` as the scripts write it; None for an argument that must be given."""
    if expression is None:
        return None
    text = re.sub(r"::[\w\s\[\]]+$", "", expression)
    return _WRITTEN.get(text, text)


def _header(path: Path) -> list[tuple[Any, ...]]:
    return [(argument.name, argument.kind, argument.literal) for argument in parse_verb(path).arguments]


async def test_scripts_take_the_arguments_of_their_functions(functions):
    scripts = {path.stem: _header(path) for path in SCRIPTS}
    assert len(scripts) > 30
    assert scripts == {verb: functions.get(verb) for verb in scripts}


async def test_a_public_id_is_made_the_same_way(database_url):
    connection = await asyncpg.connect(database_url)
    key = await connection.fetchval("select task_key from pgjobs.secrets")
    for number in (1, 42, 2**31, 2**59):
        uuid = str(await connection.fetchval("select pgjobs.task_uuid($1)", number))
        assert task_uuid(number, key) == uuid
        assert task_id(uuid, key) == number
    await connection.close()


def test_every_verb_that_python_calls_has_a_script_or_is_listed_as_missing():
    sources = [path.read_text(encoding="utf-8") for path in Path(pgjobs.__file__).parent.rglob("*.py")]
    verbs = {verb for source in sources for verb in re.findall(r'driver(?:\.call\(|,)\s*"(\w+)"', source)}
    assert len(verbs) > 30
    readme = (sql_directory("sqlite") / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| missing |")[2].partition("\n\n")[0]
    assert verbs - {path.stem for path in SCRIPTS} == set(re.findall(r"`(\w+)`", table))
