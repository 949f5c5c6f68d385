"""The `pgjobs` command: data on stdout, talk on stderr."""

from __future__ import annotations

import sys

_EXTRAS = {
    "typer": "cli", "rich": "cli", "fastapi": "server", "uvicorn": "server", "socketio": "server",
    "httpx": "server", "jwt": "server", "jsonschema_rs": "server", "prometheus_client": "server",
}  # fmt: skip


def main() -> None:
    try:
        from pgjobs.cli.app import run

        run()
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get(missing.name or "")
        if extra is None:
            raise
        sys.exit(f"pgjobs: this needs: pip install 'pgjobs-server[{extra}]'")
