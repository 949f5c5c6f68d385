"""Whatever the pages ask for is among the requests that are measured with two million tasks."""

from __future__ import annotations

import re
from pathlib import Path

import pgjobs
from benchmarks.console import REQUESTS

CONSOLE = Path(pgjobs.__file__).parent / "console"
ASKED = re.compile(r"""(?<![.\w])(?:get|pages)\((?:leaving, )?[`"]([^`"]+)[`"]""")
ONCE = {"session"}
"""Asked when a page opens, whatever there is in the queue."""


def test_every_request_of_a_page_is_measured():
    measured = {path.partition("?")[0].format(task="${id}", schedule="${id}") for path in REQUESTS.values()}
    asked: set[str] = set()
    for path in [*CONSOLE.glob("*.js"), *CONSOLE.glob("p*/*.js")]:
        asked |= set(ASKED.findall(path.read_text(encoding="utf-8")))
    assert {"tasks", "jobs", "tasks/${id}/why"} <= asked
    assert {place for place in asked if not place.startswith("${")} - ONCE - measured == set()
