"""The programs that docs show, found by something in them."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def snippet(page: str, containing: str) -> str:
    """The one block of Python on a page that has this in it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    [found] = [
        block
        for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if containing in block
    ]
    return str(found)
