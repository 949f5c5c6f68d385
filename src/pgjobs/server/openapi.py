"""What the OpenAPI document says beyond the happy path, and says once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from fastapi import FastAPI

from pgjobs.server.problems import KNOWN, MEDIA_TYPE

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "An RFC 9457 problem.",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string", "description": "Address of the problem's documentation."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
    },
}
_HEADERS: dict[int, dict[str, str]] = {
    401: {"WWW-Authenticate": "Always `Bearer`."},
    429: {"Retry-After": "When to retry, in seconds."},
    503: {"Retry-After": "When to retry, in seconds."},
    504: {"Retry-After": "When to retry, in seconds."},
}
_MARK = "x-problems"

Responses = dict[int | str, dict[str, Any]]
Document = dict[str, Any]


def headers(**described: str) -> dict[str, Any]:
    """Response headers, by name with underscores for dashes."""
    return {
        name.replace("_", "-"): {"description": text, "schema": {"type": "string"}}
        for name, text in described.items()
    }


def problems(*names: str) -> Responses:
    """The problems an operation can answer with; every one can answer some."""
    by_status: dict[int, list[str]] = {}
    for name in (*names, "validation-error", "internal-error", "database-unavailable"):
        by_status.setdefault(KNOWN[name][0], []).append(name)
    return {status: _response(status, list(dict.fromkeys(alike))) for status, alike in by_status.items()}


def any_problem(description: str) -> dict[str, Any]:
    """A problem that nobody can tell in advance."""
    return {"description": description, "content": {MEDIA_TYPE: {"schema": _SCHEMA}}, _MARK: ["any"]}


def document_briefly(app: FastAPI, change: Callable[[Document], None] | None = None) -> None:
    """Has an application's document say once what our operations have in common."""
    make: Callable[[], Document] = app.openapi

    def openapi() -> Document:
        if app.openapi_schema is None:
            document = make()
            shorten(document)
            if change is not None:
                change(document)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def shorten(document: Document) -> None:
    """Replaces repetition by references, in the operations that tell our problems."""
    components = document.setdefault("components", {})
    _name_briefly(document)
    ours = [operation for operation in _operations(document) if _tells_problems(operation)]
    for operation in ours:
        for status, response in operation["responses"].items():
            if _MARK in response:
                operation["responses"][status] = _referred(components, response)
        for parameter in operation.get("parameters", ()):
            _plain(parameter)
    for title, schema in components.get("schemas", {}).items():
        if schema.get("title") == title:
            del schema["title"]
        for name, member in schema.get("properties", {}).items():
            schema["properties"][name] = _untitled(name, _nullable(member))
    _share_parameters(components, ours)


def _response(status: int, names: list[str]) -> dict[str, Any]:
    example = {
        "type": f"/v1/problems/{names[0]}",
        "title": "…",
        "status": status,
        "detail": KNOWN[names[0]][1],
    }
    response: dict[str, Any] = {
        "description": " ".join(f"`{name}`: {KNOWN[name][1]}" for name in names),
        "content": {MEDIA_TYPE: {"schema": _SCHEMA, "example": example}},
        _MARK: names,
    }
    if status in _HEADERS:
        response["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS[status].items()
        }
    return response


def _operations(document: Document) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        yield from (operation for operation in item.values() if isinstance(operation, dict))


def _name_briefly(document: Document) -> None:
    """An operation is called as its function is, without its path, where no other is called so."""
    suffixed = {
        re.sub(r"\W", "_", f"{path}_{method}"): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, dict) and _tells_problems(operation)
    }
    names = {suffix: operation["operationId"].removesuffix(suffix) for suffix, operation in suffixed.items()}
    times = Counter(names.values())
    for suffix, operation in suffixed.items():
        if times[names[suffix]] == 1:
            operation["operationId"] = names[suffix]


def _tells_problems(operation: dict[str, Any]) -> bool:
    return any(_MARK in response for response in operation.get("responses", {}).values())


def _referred(components: Document, response: dict[str, Any]) -> dict[str, str]:
    components.setdefault("schemas", {})["Problem"] = _SCHEMA
    name = ".".join(response[_MARK])
    content = {**response["content"][MEDIA_TYPE], "schema": {"$ref": "#/components/schemas/Problem"}}
    shared = {**response, "content": {MEDIA_TYPE: content}}
    del shared[_MARK]
    components.setdefault("responses", {})[name] = shared
    return {"$ref": f"#/components/responses/{name}"}


def _plain(parameter: dict[str, Any]) -> None:
    """No parameter is null, but left out; that it may be, and what it means, is said already."""
    if parameter.get("required") is False:
        del parameter["required"]
    schema = parameter["schema"]
    alternatives = [each for each in schema.pop("anyOf", ()) if each != {"type": "null"}]
    if len(alternatives) == 1:
        schema = {**alternatives[0], **schema}
    elif alternatives:
        schema["anyOf"] = alternatives
    parameter["schema"] = {
        name: value for name, value in schema.items() if name not in ("title", "description")
    }


def _untitled(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Without a title that is the name of the property in other letters."""
    if schema.get("title") == name.replace("_", " ").title():
        return {part: value for part, value in schema.items() if part != "title"}
    return schema


_ONLY_WITHOUT_NULL = frozenset({"enum", "const", "format"})


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """A type or null, said in a word instead of in two schemas."""
    match schema.get("anyOf"):
        case [{"type": str(kind)} as value, {"type": "null"}] if not _ONLY_WITHOUT_NULL & value.keys():
            rest = {name: part for name, part in schema.items() if name != "anyOf"}
            return {**value, "type": [kind, "null"], **rest}
    return schema


def _share_parameters(components: Document, operations: list[dict[str, Any]]) -> None:
    texts = Counter(_text(each) for operation in operations for each in operation.get("parameters", ()))
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for text in (text for text, times in texts.items() if times > 1):
        parameter = json.loads(text)
        taken[parameter["name"]] += 1
        number = taken[parameter["name"]]
        names[text] = parameter["name"] if number == 1 else f"{parameter['name']}-{number}"
        components.setdefault("parameters", {})[names[text]] = parameter
    for operation in operations:
        if "parameters" in operation:
            operation["parameters"] = [
                {"$ref": f"#/components/parameters/{names[_text(each)]}"} if _text(each) in names else each
                for each in operation["parameters"]
            ]


def _text(parameter: dict[str, Any]) -> str:
    return json.dumps(parameter)
