"""The methods: one for each verb, in a class for each noun."""

from __future__ import annotations

from collections.abc import Sequence

from tests.verbs_dump import overrides
from tests.verbs_dump.catalog import Argument, Verb
from tests.verbs_dump.emitting import TYPES, docstring, module
from tests.verbs_dump.records import python_type, record_homes, record_of

_MOVED = {verb: facade for facade, verbs in overrides.FACADES.items() for verb in verbs}


def facade_files(verbs: Sequence[Verb]) -> dict[str, str]:
    """The text of each file, by the name of its module."""
    facades: dict[str, list[Verb]] = {}
    for verb in sorted(verbs, key=lambda verb: verb.name):
        if verb.name not in overrides.BY_HAND:
            facades.setdefault(_facade_of(verb), []).append(verb)
    homes = record_homes(verbs)
    return {name: _file(name, members, homes) for name, members in facades.items()}


def class_of(facade: str) -> str:
    return f"{facade.removesuffix('s').capitalize()}Verbs"


def _facade_of(verb: Verb) -> str:
    return _MOVED.get(verb.name) or ("leases" if verb.is_about_leases else verb.noun)


def _file(name: str, verbs: list[Verb], homes: dict[str, str]) -> str:
    methods = "\n".join(_method(verb) for verb in verbs)
    body = f"class {class_of(name)}:\n{docstring(f'The verbs of {name}')}\n    driver: Driver\n\n{methods}"
    return module(f"The verbs of {name}.", body, homes)


def _method(verb: Verb) -> str:
    head = f"    async def {verb.name}({_parameters(verb)}) -> {_answer(verb)}:\n{docstring(verb.words, ' ' * 8)}"
    call = _call(verb)
    if verb.name in overrides.SUBMITS:
        span = f"submitting(job, {overrides.SUBMITS[verb.name]}, trace_context)"
        return f"{head}        with {span} as carried:\n            rows = {call}\n{_returned(verb)}"
    if _answer(verb) == "None":
        return f"{head}        {call}\n"
    return f"{head}        rows = {call}\n{_returned(verb)}"


def _answer(verb: Verb) -> str:
    if verb.name in overrides.NOTHING or not verb.columns:
        return "None"
    kind = record_of(verb) or python_type(verb.columns[0].kind)
    if _is_many(verb):
        return f"list[{kind}]"
    return f"{kind} | None" if verb.name in overrides.OPTIONAL else kind


def _is_many(verb: Verb) -> bool:
    if verb.name in overrides.ONE or verb.name.startswith("count_"):
        return False
    return verb.name in overrides.MANY or verb.name.endswith("s")


def _returned(verb: Verb) -> str:
    record = record_of(verb)
    indent = " " * 8
    if record is None:
        column = verb.columns[0]
        if _is_many(verb):
            return f'{indent}return [row["{column.name}"] for row in rows]\n'
        typed = f'{column.name}: {python_type(column.kind)} = rows[0]["{column.name}"]'
        return f"{indent}{typed}\n{indent}return {column.name}\n"
    if _is_many(verb):
        return f"{indent}return {record}.each(rows)\n"
    if verb.name in overrides.OPTIONAL:
        return f"{indent}return {record}.of(rows[0]) if rows else None\n"
    return f"{indent}return {record}.of(rows[0])\n"


def _parameters(verb: Verb) -> str:
    """As SQL has them; a pair of lists about leases is one sequence of leases."""
    arguments = list(verb.arguments)
    required = sum(argument.is_required for argument in arguments)
    positional = overrides.ALSO_POSITIONAL.get(verb.name, required or 1)
    written = [_parameter(argument) for argument in arguments]
    if len(arguments) > positional:
        written.insert(positional, "*")
    if verb.is_about_leases:
        written[:2] = ["held: Held"]
    return ", ".join(["self", *written])


def _parameter(argument: Argument) -> str:
    if argument.kind.endswith("[]"):
        item = TYPES[argument.kind[:-2]]
        kind = f"Sequence[{item} | None]" if argument.name in overrides.NULL_ITEMS else f"Sequence[{item}]"
    else:
        kind = TYPES[argument.kind]
    if argument.is_required:
        return f"{argument.name}: {kind}"
    return f"{argument.name}: {kind}{'' if kind == 'Json' else ' | None'} = None"


def _call(verb: Verb) -> str:
    arguments = [f"{argument.name}={_passed(verb, argument)}" for argument in verb.arguments]
    if verb.is_about_leases:
        arguments[:2] = ["**named(held)"]
    given = ", ".join(arguments)
    if names := overrides.CLAIMS.get(verb.name):
        return f'await readable_claim(self.driver, "{verb.name}", {names}, {given})'
    return f'await self.driver.call("{verb.name}", {given})'


def _passed(verb: Verb, argument: Argument) -> str:
    if argument.name == "trace_context" and verb.name in overrides.SUBMITS:
        return "carried"
    return f"{argument.name} or None" if argument.name in overrides.EMPTY_IS_NONE else argument.name
