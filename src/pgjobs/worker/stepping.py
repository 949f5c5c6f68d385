"""Running a coroutine without an asyncio.Task of its own."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any


@types.coroutine
def stepped(
    coroutine: Coroutine[Any, Any, Any], context: Context, suspended: Callable[[], None]
) -> Generator[Any, Any, Any]:
    """Awaits a coroutine in a context of its own; `suspended` is called when it first has to wait.

    One that never waits costs a function call here, where a task of its own would cost
    two turns of the event loop.
    """
    run, send = context.run, coroutine.send
    try:
        signal = run(send, None)
    except StopIteration as end:
        return end.value
    suspended()
    while True:
        step: Callable[[Any], Any]
        given: Any
        try:
            given = yield signal
            step = send
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:
            given, step = error, coroutine.throw
        try:
            signal = run(step, given)
        except StopIteration as end:
            return end.value
