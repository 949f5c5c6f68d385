"""A small round of the conformance suite through a coordinator with three nodes; `make cluster` has all of it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.differences import DIFFERENCES

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "tests" / "conformance"
SMALL = ("test_complete.py", "test_idempotency.py")


def test_every_difference_is_a_test_that_exists_and_is_named_once():
    functions = {
        node.name
        for path in SUITE.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    named = [name for names in DIFFERENCES.values() for name in names]
    assert sorted(set(named)) == sorted(named)
    assert set(named) <= functions


def test_the_product_keeps_its_promises_through_a_coordinator(postgres_server):
    chosen = [SUITE] if "PGJOBS_ROUTER_TASKS" in os.environ else [SUITE / name for name in SMALL]
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "0",
            "-q",
            "-p",
            "no:cacheprovider",
            "--no-header",
            *map(str, chosen),
        ],
        cwd=ROOT,
        env=os.environ | {"PGJOBS_CONFORMANCE_THROUGH": "router"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "the server has no PL/Proxy" in run.stdout:
        pytest.skip("the server has no PL/Proxy: apt-get install postgresql-15-plproxy")
    assert run.returncode == 0, run.stdout[-4000:]
    assert " passed" in run.stdout
