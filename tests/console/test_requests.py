"""Whatever the pages ask for is among the requests that are measured with two million tasks."""

from __future__ import annotations

import re
from pathlib import Path

import pgjobs
from benchmarks.console import REQUESTS

CONSOLE = Path(pgjobs.__file__).parent / "server" / "console"
ASKED = re.compile(r"""(?<![.\w])(?:get|pages)\((?:leaving, )?([`"][^`"]+[`"]|[A-Z]+\b)""")
NAMED = re.compile(r"""const ([A-Z]+) = ("/[^"]+");""")
PLACE = re.compile(r"\$?\{[^}]+\}")
ONCE = {"session", "cells"}
"""Asked when a page opens, whatever there is in the queue; the second only where there are several."""


def test_every_request_of_a_page_is_measured():
    measured = {PLACE.sub("*", path.partition("?")[0]) for path in REQUESTS.values()}
    asked: set[str] = set()
    for path in [*CONSOLE.glob("*.js"), *CONSOLE.glob("p*/*.js")]:
        text = path.read_text(encoding="utf-8")
        for name, value in NAMED.findall(text):
            text = text.replace(f"${{{name}}}", value.strip('"')).replace(f"({name},", f"({value},")
        asked |= {PLACE.sub("*", place.strip('`"')) for place in ASKED.findall(text)}
    assert {"tasks", "jobs", "tasks/*/why", "/api/maintenance/incomplete-cleanup/*"} <= asked
    assert asked - ONCE - measured == set()
