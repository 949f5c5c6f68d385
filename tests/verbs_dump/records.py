"""The records: one frozen dataclass for each kind of row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.verbs_dump import overrides
from tests.verbs_dump.catalog import Column, Verb
from tests.verbs_dump.emitting import TYPES, camel, docstring, module

_BY_SOURCE = {source: name for name, sources in overrides.RECORDS.items() for source in sources}


def record_of(verb: Verb) -> str | None:
    """The record that a verb's rows are; None for a single value, or none at all."""
    if verb.name in overrides.NOTHING:
        return None
    if name := _BY_SOURCE.get(verb.name) or _BY_SOURCE.get(verb.relation or ""):
        return name
    if verb.relation is not None:
        return camel(verb.relation)
    return f"{camel(verb.name)}Result" if len(verb.columns) > 1 else None


def records_by_noun(verbs: Iterable[Verb]) -> dict[str, dict[str, Verb]]:
    """Of each noun its records, each with the first verb that answers with it."""
    seen: set[str] = set()
    nouns: dict[str, dict[str, Verb]] = {}
    for verb in sorted(verbs, key=lambda verb: (verb.noun, verb.name)):
        name = None if verb.name in overrides.BY_HAND else record_of(verb)
        if name is not None and name not in seen:
            seen.add(name)
            nouns.setdefault(verb.noun, {})[name] = verb
    return nouns


def record_files(verbs: Sequence[Verb]) -> dict[str, str]:
    """The text of each file, by the name of its module."""
    by_noun = records_by_noun(verbs)
    homes = record_homes(verbs)
    files = {
        noun: module(f"What the verbs of {noun} answer with.", _classes(records), homes)
        for noun, records in by_noun.items()
    }
    names = sorted(homes)
    # The names are quoted there, and imported all the same.
    files["__init__"] = module("Every record.", f"__all__ = {names!r}\n", homes, used=set(names))
    return files


def record_homes(verbs: Sequence[Verb]) -> dict[str, str]:
    return {
        name: f"pgjobs.queue._generated.records.{noun}"
        for noun, records in records_by_noun(verbs).items()
        for name in records
    }


def _classes(records: dict[str, Verb]) -> str:
    order = sorted(records, key=lambda name: (name in overrides.EXTENDS, name))
    return "\n\n".join(_class(name, records[name], records) for name in order)


def _class(name: str, verb: Verb, others: dict[str, Verb]) -> str:
    extended = overrides.EXTENDS.get(name)
    bases = [extended] if extended else [overrides.BEHAVIOURS.get(name), "Record"]
    inherited = columns_of(others[extended]) if extended else []
    names = {column.name for column in inherited}
    lines = [
        f"    {column.name}: {_type(name, column)}\n"
        for column in columns_of(verb, name)
        if column.name not in names
    ]
    what = f"A row of the relation `{verb.relation}`" if verb.relation else f"A row of `{verb.name}`"
    options = "frozen=True, slots=True" + (", eq=False" if name == "GenericJob" else "")
    return (
        f"@dataclass({options})\nclass {name}({', '.join(base for base in bases if base)}):\n"
        + docstring(f"{what}: {verb.words[:1].lower()}{verb.words[1:]}" if not verb.relation else what)
        + "\n"
        + "".join(lines)
    )


def columns_of(verb: Verb, name: str | None = None) -> list[Column]:
    omitted = overrides.OMITTED.get(name or "", [])
    return [column for column in verb.columns if column.name not in omitted]


def _type(record: str, column: Column) -> str:
    bases = [record, *([overrides.EXTENDS[record]] if record in overrides.EXTENDS else [])]
    known = next(
        (overrides.TYPES[key] for base in bases if (key := f"{base}.{column.name}") in overrides.TYPES), None
    )
    kind = known or python_type(column.kind)
    if kind != "Json" and _may_be_null(bases, column.name):
        return f"{kind} | None"
    return kind


def python_type(kind: str) -> str:
    return f"list[{TYPES[kind[:-2]]}]" if kind.endswith("[]") else TYPES[kind]


def _may_be_null(records: list[str], column: str) -> bool:
    if any(column in overrides.NEVER_NULL.get(record, ()) for record in records):
        return False
    also = any(column in overrides.ALSO_NULLABLE.get(record, ()) for record in records)
    return also or column in overrides.NULLABLE
