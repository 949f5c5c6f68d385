"""`pgjobs bench`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from pgjobs.errors import PgJobsError

_ROOT = Path(__file__).parents[3]


def bench(context: typer.Context) -> None:
    """Measure throughput on this machine; options go to benchmarks/run.py (--quick, --only, …)."""
    program = _ROOT / "benchmarks" / "run.py"
    if not program.exists():
        raise PgJobsError(
            "The benchmarks are not part of an installed package", hint="Run it in a checkout of the source"
        )
    # Instead of this process, so that whoever ends it ends the measuring.
    os.execv(sys.executable, [sys.executable, str(program), *context.args])  # noqa: S606
