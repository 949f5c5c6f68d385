"""The `pgjobs` command: data on stdout, talk on stderr."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from pgjobs.cli.app import run
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich", "click"):
            raise
        sys.exit("pgjobs: the command line needs: pip install 'pgjobs-server[cli]'")
    run()
