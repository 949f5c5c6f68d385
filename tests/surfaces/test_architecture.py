"""ARCHITECTURE.md is one page, and what it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "pgjobs"
SQL = ROOT / "sql" / "postgres"
WALK = PAGE.partition("function by function\n")[2].partition("\n## ")[0]


def functions_in(module: Path) -> set[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    defined = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, defined)} | {
        f"{each.name}.{node.name}" for each in classes for node in each.body if isinstance(node, defined)
    }


def rows() -> list[tuple[list[str], list[str]]]:
    """Modules and functions of each line of the walk."""
    lines = (line.split("|") for line in WALK.splitlines() if line.startswith("| `"))
    return [(re.findall(r"`([\w/]+\.py)`", line[1]), re.findall(r"`([\w.]+)`", line[2])) for line in lines]


def test_it_is_one_page():
    assert len(PAGE.splitlines()) <= 120


@pytest.mark.parametrize(("modules", "functions"), rows())
def test_the_walk_names_functions_that_are_there(modules: list[str], functions: list[str]):
    assert functions
    there = set().union(*(functions_in(PACKAGE / module) for module in modules))
    assert set(functions) - there == set()


@pytest.mark.parametrize(
    "place",
    sorted(set(re.findall(r"`((?:[\w/]+/)?[\w]+\.(?:py|sql|md)|(?:sql|server|contrib)/[\w/]+/)`", PAGE))),
)
def test_a_file_that_it_names_is_there(place: str):
    homes = (ROOT, PACKAGE, SQL, ROOT / "benchmarks", ROOT / "tests" / "verbs_dump")
    assert any((home / place).exists() for home in homes)
