"""Every operation of the API, as its own document names them: what is new is tested too."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tests.surfaces.rest_server import first_app

_NAMES = {"room_id": "lab", "job_name": "a:b:c", "provider_name": "a:b:c"}
_ID = "00000000-0000-4000-8000-000000000000"


class Operation(NamedTuple):
    """How to ask for it, with names and ids of nothing that exists."""

    method: str
    path: str
    tag: str
    has_parameters: bool

    @property
    def is_change(self) -> bool:
        return self.method != "GET"


@cache
def operations() -> list[Operation]:
    paths = first_app().openapi()["paths"]
    found = [
        Operation(method.upper(), _filled(path), operation["tags"][0], "{" in path)
        for path, item in paths.items()
        for method, operation in item.items()
    ]
    assert len(found) > 60
    return found


def _filled(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda named: _NAMES.get(named[1], _ID), path)
