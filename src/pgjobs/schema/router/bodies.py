"""Bodies of functions that ask nodes: written around a call, or by hand in sql/router/verbs."""

from __future__ import annotations

import re

from pgjobs.schema.release import sql_directory
from pgjobs.schema.router.catalog import Function

ROOMS = "current_setting('pgjobs.rooms', true)"


CAUGHT = """get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;"""


def body_of(function: Function, name: str, declared: str, body: str, declarations: str = "") -> str:
    return (
        f"create or replace function {name}({declared})\nreturns {function.result} language plpgsql volatile security invoker"
        " set plan_cache_mode = auto as $route$\n#variable_conflict use_column\ndeclare\n  v_detail text;\n  v_hint text;\n"
        f"{declarations}begin\n{body}\nend\n$route$;\n"
    )


def asked(function: Function, node: str, **replaced: str) -> str:
    arguments = function.called(**replaced)
    call = f"pgjobs_router.node_{function.name}({node}, {ROOMS}{', ' if arguments else ''}{arguments})"
    return f"return query select * from {call};" if function.columns else f"perform {call};"


PARTS = {
    "submit_parts": ("submit_tasks", ("submit_tasks.parts.plpgsql", ", nodes integer[] default null")),
    "create_generic_part": (
        "create_generic_jobs",
        ("create_generic_jobs.part.plpgsql", ", job_name text default null"),
    ),
}
"""What verbs that are written by hand are made of: whose arguments it takes, and where it is."""

_MACRO = re.compile(r"\[\[(ask|call|arguments|caught)\b\s*(.*?)\]\](?!\])", re.DOTALL)


def by_hand(function: Function, name: str, file: str, extra: str = "") -> str:
    """A body from its file: `[[call node, argument = value]]` is the same verb at a node, `[[ask …]]` its rows."""
    text = (sql_directory("router") / "verbs" / file).read_text()

    def written(found: re.Match[str]) -> str:
        node, *changes = _split_arguments(found[2])
        if found[1] == "caught":
            return CAUGHT
        given = [node, *changes] if found[1] == "arguments" else changes
        replaced: dict[str, str] = {}
        for change in given:
            argument, _, value = change.partition("=")
            if value:
                replaced[argument.strip()] = value.strip()
        arguments = function.called(**replaced)
        if found[1] == "arguments":
            return arguments
        call = f"pgjobs_router.node_{function.name}({node.strip()}, {ROOMS}{', ' if arguments else ''}{arguments})"
        return call if found[1] == "call" else f"select * from {call}"

    written_out = _MACRO.sub(written, text)
    head, _, rest = written_out.partition("begin\n")
    declarations = head.partition("declare\n")[2]
    statements = rest.rstrip().removesuffix("end").rstrip()
    return body_of(function, name, function.declared + extra, statements, declarations)


def _split_arguments(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "(["
        depth -= letter in ")]"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
