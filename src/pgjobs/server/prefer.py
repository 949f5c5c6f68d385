"""`Prefer: wait=N`."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Header

_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,9})\"?(?=$|[,;\s])", re.IGNORECASE)

PreferHeader = Annotated[str | None, Header(description="`wait=N` waits up to N seconds for the answer.")]


async def stated_wait(prefer: PreferHeader = None) -> int | None:
    """Seconds the caller says to wait, 0 included; None for no word of it, and for nonsense."""
    found = _WAIT.search(prefer or "")
    return int(found[1]) if found else None


async def preferred_wait(prefer: PreferHeader = None) -> int:
    """Seconds the caller is willing to wait; 0 for none, and for nonsense."""
    return await stated_wait(prefer) or 0


WaitDep = Annotated[int, Depends(preferred_wait)]
StatedWaitDep = Annotated[int | None, Depends(stated_wait)]
