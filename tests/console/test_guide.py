"""The guide's program runs, its pictures are there, and its keys are those of the help."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.testclient import TestClient

from tests.console.test_looks import PICTURED

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "console.md").read_text(encoding="utf-8")
DAY = (ROOT / "docs" / "operators-day.md").read_text(encoding="utf-8")


def test_the_program_serves_the_console_below_its_prefix():
    [program] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    namespace: dict[str, object] = {}
    exec(program, namespace)
    client = TestClient(namespace["app"])  # type: ignore[arg-type]
    page = client.get("/queue/ui/")
    assert page.status_code == 200
    assert 'src="app.js"' in page.text
    assert client.get("/queue/ui/app.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/queue/ui/vendor/manifest.json").json()


def test_pictures_and_pages_that_are_named_exist():
    for name in re.findall(r"\]\(([\w./-]+)\)", GUIDE + DAY):
        assert (ROOT / "docs" / name).is_file(), name


def test_every_page_is_pictured_in_light_and_dark_and_quick_to_load():
    for size, names in PICTURED.items():
        for name in names:
            for colours in ("light", "dark"):
                picture = ROOT / "docs" / "screenshots" / f"{name}-{size}-{colours}.png"
                assert 10_000 < picture.stat().st_size < 200_000, picture.name


def test_the_day_is_told_with_the_pictures_that_its_test_takes_in_their_order():
    shown = re.findall(r"screenshots/day-([\w-]+)\.png", DAY)
    test = (ROOT / "tests" / "console" / "test_operators_day.py").read_text(encoding="utf-8")
    assert shown == re.findall(r'day\.take\("([\w-]+)"\)', test)
    assert len(shown) == 9


def test_the_keys_are_those_of_the_help():
    keys = (ROOT / "src" / "pgjobs" / "server" / "console" / "keys.js").read_text(encoding="utf-8")
    named = re.findall(r"`([^`]+)`", GUIDE.split("## Keyboard")[1].split("##")[0])
    assert named
    for key in named:
        assert f"<kbd>{key}</kbd>" in keys
