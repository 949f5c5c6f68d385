"""API tokens that were verified a moment ago: a request with one needs no question of its own."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from weakref import WeakKeyDictionary

from pgjobs.queue.records import Bearer
from pgjobs.queue.server import ServerQueue

MOST = 4096
"""So many tokens are remembered for one queue; the oldest go first."""

_of_queues: WeakKeyDictionary[ServerQueue, OrderedDict[bytes, tuple[float, Bearer]]] = WeakKeyDictionary()


async def verified(token: str, queue: ServerQueue, seconds: float) -> Bearer:
    """Whom a token stands for, asked of the database unless it said so within these seconds.

    Refusals are not remembered. What is remembered is the hash, so that no token stays in memory.
    """
    if seconds <= 0:
        return await queue.verify_token(token)
    known = _of_queues.setdefault(queue, OrderedDict())
    key = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
    remembered = known.get(key)
    if remembered is not None and time.monotonic() < remembered[0]:
        return remembered[1]
    until = time.monotonic() + seconds
    known.pop(key, None)
    bearer = await queue.verify_token(token)
    known[key] = (until, bearer)
    known.move_to_end(key)
    if len(known) > MOST:
        known.popitem(last=False)
    return bearer
