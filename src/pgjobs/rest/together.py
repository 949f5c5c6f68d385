"""Questions asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


@overload
async def together(first: Awaitable[A], second: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def together(first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], /) -> tuple[A, B, C]: ...


async def together(*questions: Awaitable[Any]) -> Any:
    """All answers; the first refusal, if any, once no question is under way any more."""
    answers = await asyncio.gather(*questions, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return answers
