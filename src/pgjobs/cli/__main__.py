"""`python -m pgjobs.cli`."""

from __future__ import annotations

from pgjobs.cli import main

main()
