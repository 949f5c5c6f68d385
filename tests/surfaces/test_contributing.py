"""The walk through adding a verb leads to places that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_path_in_the_guide_is_there():
    paths = re.findall(r"`((?:sql|src|tests|docs)/[\w/.]+)`", GUIDE)
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_a_verb_has_four_places_by_hand_and_its_example_is_in_each():
    walk = GUIDE.partition("## Add a verb")[2].partition("\nThen run")[0]
    steps = re.split(r"^\d\. ", walk, flags=re.MULTILINE)[1:]
    assert len(steps) == 4
    for step in steps:
        path = re.search(r"`((?:sql|src|tests)/[\w/.]+\.\w+)`", step)
        assert path is not None, step
        assert "pause_job" in (ROOT / path[1]).read_text(encoding="utf-8"), path[1]
