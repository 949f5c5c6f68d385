"""`Prefer: wait=N`."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Header

_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,9})\"?(?=$|[,;\s])", re.IGNORECASE)


async def preferred_wait(
    prefer: Annotated[
        str | None, Header(description="`wait=N` waits up to N seconds for the answer.")
    ] = None,
) -> int:
    """Seconds the caller is willing to wait; 0 for none, and for nonsense."""
    found = _WAIT.search(prefer or "")
    return int(found[1]) if found else 0


WaitDep = Annotated[int, Depends(preferred_wait)]
