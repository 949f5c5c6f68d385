"""`pgjobs bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import typer

from pgjobs.errors import PgJobsError

_ROOT = Path(__file__).parents[3]


def bench(context: typer.Context) -> None:
    """Measure throughput on this machine; options go to benchmarks/run.py (--quick, --only, --url)."""
    program = _ROOT / "benchmarks" / "run.py"
    if not program.exists():
        raise PgJobsError(
            "The benchmarks are not part of an installed package", hint="Run it in a checkout of the source"
        )
    command = [sys.executable, str(program), *context.args]
    raise typer.Exit(subprocess.run(command, check=False).returncode)  # noqa: S603
