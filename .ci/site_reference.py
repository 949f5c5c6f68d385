"""References made from what they describe: comments of SQL, the OpenAPI document, the help of commands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SQL = Path(__file__).parents[1] / "sql" / "postgres"
FUNCTION = re.compile(r"^create function pgjobs\.(\w+)(\(.*?)\nlanguage", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^comment on (\w+) pgjobs\.([\w.]+) is\s+'((?:[^']|'')*)'", re.MULTILINE)


def sql_reference() -> str:
    """Every verb with its arguments and columns, and every view with its columns."""
    return "\n".join(["# SQL reference", "", *_verbs(), "## Views", "", *_views()])


def _verbs() -> Iterator[str]:
    for noun in sorted(path for path in (SQL / "verbs").iterdir() if path.is_dir()):
        yield f"## {noun.name.capitalize()}\n"
        for path in sorted(noun.glob("*.sql")):
            text = path.read_text(encoding="utf-8")
            said = {name: _plain(says) for kind, name, says in COMMENT.findall(text) if kind == "function"}
            for name, signature in FUNCTION.findall(text):
                yield f"### {name}\n"
                yield f"{_with_example(said.get(name, ''))}\n"
                yield f"```sql\npgjobs.{name}{signature}\n```\n"


def _views() -> Iterator[str]:
    comments = [
        found
        for path in sorted((SQL / "views").glob("*.sql"))
        for found in COMMENT.findall(path.read_text(encoding="utf-8"))
    ]
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for kind, name, says in comments:
        if kind == "column":
            view, _, column = name.partition(".")
            columns[view].append((column, _plain(says)))
    for kind, name, says in comments:
        if kind == "view":
            yield f"### {name}\n"
            yield f"{_with_example(_plain(says))}\n"
            if columns[name]:
                yield "| column | |\n|---|---|"
                yield "\n".join(f"| `{column}` | {_cell(means)} |" for column, means in columns[name]) + "\n"


def _plain(quoted: str) -> str:
    return quoted.replace("''", "'")


def _with_example(says: str) -> str:
    text, _, example = says.partition(" Example: ")
    return f"{_escaped(text)}\n\n```sql\n{example}\n```" if example else _escaped(text)


def rest_reference() -> str:
    """Every request, with what it takes and answers."""
    from pgjobs.server.app import create_app

    document = create_app(url="sqlite://").openapi()
    tags: dict[str, list[str]] = defaultdict(list)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["other"])[0]
            resolved = [_resolved(document, each) for each in operation.get("parameters", [])]
            tags[tag].append("\n".join(_operation(method, path, {**operation, "parameters": resolved})))
    said = "The same as a document: `pgjobs openapi`, or `GET /openapi.json` of a server."
    lines = ["# REST reference", "", said, ""]
    for tag in sorted(tags):
        lines += [f"## {tag.capitalize()}", "", *tags[tag]]
    return "\n".join(lines)


def _resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """What a reference within the document refers to."""
    if "$ref" not in part:
        return part
    for name in part["$ref"].removeprefix("#/").split("/"):
        document = document[name]
    return document


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### `{method.upper()} {path}`\n"
    if says := operation.get("description") or operation.get("summary"):
        yield f"{_escaped(says)}\n"
    if parameters := operation["parameters"]:
        yield "| parameter | in | |\n|---|---|---|"
        for parameter in parameters:
            yield f"| `{parameter['name']}` | {parameter['in']} | {_cell(parameter.get('description', ''))} |"
        yield ""
    if body := operation.get("requestBody"):
        yield f"Body: {_schema_name(body)}\n"
    answers = (f"{code} {_schema_name(answer)}".strip() for code, answer in operation["responses"].items())
    yield f"Answers: {', '.join(answers)}\n"


def _schema_name(described: dict[str, Any]) -> str:
    found = re.search(r"#/components/schemas/(\w+)", str(described.get("content", "")))
    return f"`{found[1]}`" if found else ""


def cli_reference() -> str:
    """Every command's help."""
    from typer.main import get_command

    from pgjobs.cli.app import app

    def shown(command: Any, context: Any, level: int) -> Iterator[str]:
        yield f"{'#' * level} {context.command_path}\n"
        yield f"```text\n{command.get_help(context)}\n```\n"
        for name in getattr(command, "list_commands", lambda _: [])(context):
            inner = command.get_command(context, name)
            yield from shown(inner, type(context)(inner, info_name=name, parent=context), min(level + 1, 3))

    root = get_command(app)
    context = root.context_class(root, info_name="pgjobs")
    return "# Command line reference\n\n" + "\n".join(shown(root, context, 2))


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|").replace("\n", " ")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("[", "\\[")
