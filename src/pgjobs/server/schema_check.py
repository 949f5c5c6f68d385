"""Checks a document against a JSON Schema. Also a program of its own, which can be stopped.

Run as a program it reads `[schema, document]` and writes what is wrong, and nothing
else of this package is imported: it starts in a moment.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import jsonschema_rs

MAX_ERRORS = 20


class UnusableSchema(ValueError):
    """The schema is not one, or needs something from elsewhere."""


def compile_schema(schema: Any) -> Any:
    """A validator that fetches nothing, and whose patterns cannot backtrack."""
    try:
        return jsonschema_rs.validator_for(
            schema, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise UnusableSchema(str(error).partition("\n")[0][:300]) from None


def problems_of(validator: Any, document: Any) -> list[tuple[str, str]]:
    """Where a document is wrong, and why; the first few."""
    errors = zip(validator.iter_errors(document), range(MAX_ERRORS), strict=False)
    return [(_pointer(error.instance_path), error.message[:500]) for error, _ in errors]


def _refuse(uri: str) -> Any:
    raise LookupError(f"{uri} is not fetched")


def _pointer(path: list[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


if __name__ == "__main__":
    given_schema, given_document = json.load(sys.stdin)
    json.dump(problems_of(compile_schema(given_schema), given_document), sys.stdout)
