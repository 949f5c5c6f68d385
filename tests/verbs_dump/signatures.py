"""What drivers need to know of each verb: the types of its arguments and of its columns."""

from __future__ import annotations

from collections.abc import Sequence

from tests.verbs_dump.catalog import Verb
from tests.verbs_dump.emitting import module
from tests.verbs_dump.overrides import WRITTEN

_DOCUMENTATION = '''"""Of each verb the arguments, and the columns of its answer or the relation that has these.

`?` after an argument: it may be left out. `~` after a column: a document that SQL wrote around what callers gave.
"""
'''


def signature_file(verbs: Sequence[Verb]) -> str:
    lines = "".join(f"    {verb.name!r}: {_signature(verb)!r},\n" for verb in verbs)
    relations = {verb.relation: _columns(verb) for verb in verbs if verb.relation is not None}
    answers = "".join(f"    {name!r}: {columns!r},\n" for name, columns in sorted(relations.items()))
    body = f"SIGNATURES = {{\n{lines}}}\n{_DOCUMENTATION}\nRELATIONS = {{\n{answers}}}\n"
    return module("The types of what verbs take and answer.", body, {})


def _signature(verb: Verb) -> str:
    arguments = (f"{each.name} {each.kind}{'' if each.is_required else '?'}" for each in verb.arguments)
    return f"{', '.join(arguments)} -> {verb.relation or _columns(verb)}"


def _columns(verb: Verb) -> str:
    return ", ".join(f"{each.name} {each.kind}{'~' if each.name in WRITTEN else ''}" for each in verb.columns)
