"""The image's health: a server must be ready; a worker or a migration is healthy while it runs."""

import sys
import urllib.request
from pathlib import Path

PORT_OPTION = "--port"


def main() -> int:
    command = Path("/proc/1/cmdline").read_text(encoding="utf-8").split("\0")
    if "serve" not in command:
        return 0
    port = command[command.index(PORT_OPTION) + 1] if PORT_OPTION in command else "8787"
    # A proxy of the environment has no business between a server and itself.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/readyz", timeout=4):
            return 0
    except OSError as error:
        sys.stderr.write(f"not ready: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
