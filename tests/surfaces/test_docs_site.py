"""The documentation as a site: every link leads somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.commands import every_command
from tests.surfaces.cli.guides import Guide

ROOT = Path(__file__).parents[2]
FETCHED = re.compile(
    r"<(?:script|img|source|iframe)[^>]+(?:src|srcset)=\"?(https?:|//)[^>]*>|<link[^>]+href=\"?(?:https?:|//)[^>]*>"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    site = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, ".ci/docs.py", str(site)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    # A link that leads nowhere is a warning, and a warning ends it.
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    return site


def test_every_guide_is_a_page(site: Path):
    guides = {path.relative_to(ROOT).with_suffix(".html") for path in (ROOT / "docs").glob("*.md")}
    assert len(guides) > 10
    pages = {page.relative_to(site) for page in site.rglob("*.html")}
    assert {guide for guide in guides if guide.stem != "README"} - pages == set()


def test_no_page_fetches_anything_from_elsewhere(site: Path):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    assert [(page.name, found[0]) for page in pages for found in FETCHED.finditer(page.read_text())] == []


def test_the_references_name_every_verb_request_and_command(site: Path):
    sql, rest, cli = ((site / "reference" / f"{name}.html").read_text() for name in ("sql", "rest", "cli"))
    verbs = {path.stem for path in (ROOT / "sql/postgres/verbs").rglob("*.sql")}
    assert {verb for verb in verbs if f'id="{verb}"' not in sql} == set()
    assert "/v1/joblib/rooms/{room_id}/tasks/{job_name}" in rest
    assert [name for name in every_command() if f"pgjobs {name}" not in cli] == []


def test_the_quickstart_works_as_written(empty_database_url: str, tmp_path: Path):
    done = Guide("quickstart.md", {"postgresql://localhost/mydb": empty_database_url}).run(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert '"sent to ada@example.org"' in done.stdout
