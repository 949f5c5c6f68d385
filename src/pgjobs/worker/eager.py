"""Running a coroutine without an asyncio.Task of its own."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any


class Escaped(Exception):
    """What a coroutine raised that would end more than the coroutine."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(repr(error))
        self.error = error


_ESCAPES = (GeneratorExit, KeyboardInterrupt, SystemExit)


@types.coroutine
def stepped(
    begin: Callable[[], Coroutine[Any, Any, Any]], context: Context, suspended: Callable[[], None]
) -> Generator[Any, Any, Any]:
    """Awaits a new coroutine in a context of its own; `suspended` is called when it first has to wait.

    One that never waits costs a function call here, where a task of its own would cost
    two turns of the event loop. Raises `Escaped` for what the coroutine raised by itself and the
    event loop or the interpreter would take for their own end.
    """
    run = context.run
    try:
        coroutine = begin()
        send = coroutine.send
        signal = run(send, None)
    except StopIteration as end:
        return end.value
    except _ESCAPES as error:
        raise Escaped(error) from error
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
        except _ESCAPES as error:
            raise Escaped(error) from error
