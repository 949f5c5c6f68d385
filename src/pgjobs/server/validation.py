"""Payloads against their job's JSON Schema: offline, compiled once, whatever the schema says."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from pgjobs.errors import PayloadInvalid
from pgjobs.queue.server import ServerQueue
from pgjobs.server import schema_check
from pgjobs.server.problems import FieldProblem, problem
from pgjobs.server.settings import ApiSettings

CHEAP = 3_000_000
LARGE = 50_000
ENDLESS = 10**18
SECONDS = 3.0

_REPEAT = re.compile(r"\{(\d*),?(\d*)")

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def check_payload(
    queue: ServerQueue, job_name: str, room_id: str | None, payload: Any, settings: ApiSettings
) -> None:
    """Refuses a payload that its job's schema does not allow, where payloads are validated."""
    if not settings.validate_payloads:
        return
    job = await queue.get_job(job_name, room=None if settings.cross_room_jobs else room_id)
    schema = json.dumps(job.schema, sort_keys=True)
    found = await _check(schema, payload)
    if found:
        errors = [FieldProblem(pointer=pointer, detail=detail) for pointer, detail in found]
        raise problem("payload-invalid", "The payload does not fit the job's schema", errors)


async def _check(schema: str, payload: Any) -> list[tuple[str, str]]:
    """What is wrong; nothing that takes longer than some milliseconds is done in this process."""
    if len(schema) > LARGE:
        return await _check_apart(schema, payload)
    try:
        validator, size = _compiled(schema)
    except schema_check.UnusableSchema as error:
        raise PayloadInvalid(f"The job's schema cannot be used: {error}") from None
    # Every value is looked at by every part of the expanded schema at worst, and every part may complain.
    if size * (len(json.dumps(payload)) + 200) <= CHEAP:
        return schema_check.problems_of(validator, payload)
    return await _check_apart(schema, payload)


async def _check_apart(schema: str, payload: Any) -> list[tuple[str, str]]:
    """In a process of its own, because a schema can ask for more work than ever ends."""
    async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(2)):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            schema_check.__file__,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        question = f"[{schema}, {json.dumps(payload)}]".encode()
        try:
            answer, _ = await asyncio.wait_for(process.communicate(question), SECONDS)
        except TimeoutError:
            raise PayloadInvalid("Checking the payload against the job's schema takes too long") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if process.returncode:
        raise PayloadInvalid("The payload cannot be checked against the job's schema")
    found: list[tuple[str, str]] = json.loads(answer)
    return found


@lru_cache(maxsize=256)
def _compiled(schema: str) -> tuple[Any, int]:
    document = json.loads(schema)
    return schema_check.compile_schema(document), expanded_size(document)


def expanded_size(schema: Any) -> int:
    """How many parts a schema has once every reference is replaced by what it refers to."""
    known: dict[int, int] = {}

    def size(part: Any) -> int:
        if not isinstance(part, dict | list):
            return 1
        if id(part) not in known:
            # Endless until known, which is what a part that contains itself is.
            known[id(part)] = ENDLESS
            children = [*(part.values() if isinstance(part, dict) else part), *_targets(schema, part)]
            known[id(part)] = min(1 + sum(map(size, children)) + sum(map(_weight, _patterns(part))), ENDLESS)
        return known[id(part)]

    try:
        return size(schema)
    except RecursionError:
        return ENDLESS


def _patterns(part: Any) -> list[str]:
    if not isinstance(part, dict):
        return []
    named = part.get("patternProperties")
    patterns = [part.get("pattern"), *(named if isinstance(named, dict) else ())]
    return [pattern for pattern in patterns if isinstance(pattern, str)]


def _weight(pattern: str) -> int:
    """How many states a pattern may have: each of them can be looked at for every character."""
    weight = len(pattern)
    for least, most in _REPEAT.findall(pattern):
        weight = min(weight * max(1, int(least[:6] or 1), int(most[:6] or 1)), ENDLESS)
    return weight


def _targets(schema: Any, part: Any) -> list[Any]:
    if not isinstance(part, dict):
        return []
    references = [part[word] for word in ("$ref", "$dynamicRef", "$recursiveRef") if word in part]
    return [_target(schema, reference) for reference in references]


def _target(schema: Any, reference: Any) -> Any:
    """What a reference refers to; the whole for one that is not a plain path."""
    found = schema
    for name in str(reference).removeprefix("#").split("/")[1:]:
        key = name.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or key not in found:
            return schema
        found = found[key]
    return found
