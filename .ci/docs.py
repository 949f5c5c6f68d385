"""Builds the documentation as a site: the repository's pages in their places, references made from code."""

from __future__ import annotations

import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / ".ci"), str(ROOT / "src")]

from site_reference import cli_reference, rest_reference, sql_reference  # noqa: E402

NAV: list[tuple[str, list[str]]] = [
    ("Start", [
        "README.md", "docs/quickstart.md", "docs/concepts.md", "docs/glossary.md", "docs/not-for-you.md",
    ]),
    ("Guides", [
        "docs/worker.md", "docs/durable.md", "docs/limits.md", "docs/schedules.md",
        "docs/frameworks.md", "docs/django.md", "docs/testing.md",
        "docs/manager.md", "docs/live.md", "docs/console.md", "docs/operators-day.md", "docs/maintenance.md",
    ]),
    ("Run it", [
        "docs/deploy.md", "docs/managed-postgres.md", "docs/operations.md", "docs/scale.md",
        "docs/ops/README.md",
    ]),
    ("Doors", ["docs/cli.md", "docs/http.md", "docs/psql.md"]),
    ("Reference", ["reference/sql.md", "reference/rest.md", "reference/cli.md"]),
    ("Coming from", ["docs/coming-from.md"]),
    ("Project", [
        "ARCHITECTURE.md", "docs/guarantees.md", "docs/how-we-test.md", "docs/decisions/README.md",
        "sql/README.md", "benchmarks/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
    ]),
]  # fmt: skip
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src(?:set)?=\"([^\"]+)\"")
REFERENCES = {"sql": sql_reference, "rest": rest_reference, "cli": cli_reference}


def gather(into: Path) -> None:
    """Pages at the places they have in the repository, and whatever they link to."""
    found = [ROOT / page for _, pages in NAV for page in pages if (ROOT / page).exists()]
    seen: set[Path] = set()
    while found:
        path = found.pop()
        if path in seen or not path.is_relative_to(ROOT):
            continue
        seen.add(path)
        target = into / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        if path.suffix == ".md":
            links = (first or second for first, second in LINK.findall(path.read_text(encoding="utf-8")))
            linked = ((path.parent / link).resolve() for link in links if "://" not in link)
            found += [each for each in linked if each.is_file()]
    for name, reference in REFERENCES.items():
        page = into / "reference" / f"{name}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(reference(), encoding="utf-8")


def configuration(pages: Path, site: Path) -> dict[str, Any]:
    nav = [{title: [page for page in names if (pages / page).exists()]} for title, names in NAV]
    return {
        "site_name": "pgjobs",
        "docs_dir": str(pages),
        "site_dir": str(site),
        "nav": nav,
        "strict": True,
        "use_directory_urls": False,
        # Nothing is fetched from elsewhere when a page is read.
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.tabs", "navigation.top", "content.code.copy"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "plugins": ["search"],
        "extra": {"generator": False},
        "markdown_extensions": ["tables", "pymdownx.superfences", "pymdownx.highlight", "sane_lists"],
        "validation": {
            "nav": {"omitted_files": "ignore", "not_found": "warn"},
            "links": {
                "not_found": "warn",
                "anchors": "warn",
                "absolute_links": "warn",
                "unrecognized_links": "ignore",
            },
        },
    }


def build(site: Path) -> None:
    """Builds the site; raises when a link leads nowhere."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config.base import load_config

    with tempfile.TemporaryDirectory() as directory:
        pages = Path(directory, "pages")
        gather(pages)
        empty = Path(directory, "mkdocs.yml")
        empty.write_text("site_name: pgjobs\n")
        build_site(load_config(str(empty), **configuration(pages, site)))


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist/site").absolute())
