"""What the OpenAPI document says beyond the happy path."""

from __future__ import annotations

from typing import Any

from pgjobs.rest.problems import KNOWN, MEDIA_TYPE

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
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
    503: {"Retry-After": "Seconds after which trying again makes sense."},
    504: {"Retry-After": "Seconds after which trying again makes sense."},
}

Responses = dict[int | str, dict[str, Any]]


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
    return {status: _response(status, alike) for status, alike in by_status.items()}


def _response(status: int, names: list[str]) -> dict[str, Any]:
    example = {
        "type": f"/v1/problems/{names[0]}",
        "title": "…",
        "status": status,
        "detail": KNOWN[names[0]][1],
    }
    response: dict[str, Any] = {
        "description": " ".join(f"`{name}`: {KNOWN[name][1]}" for name in dict.fromkeys(names)),
        "content": {MEDIA_TYPE: {"schema": _SCHEMA, "example": example}},
    }
    if status in _HEADERS:
        response["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS[status].items()
        }
    return response
