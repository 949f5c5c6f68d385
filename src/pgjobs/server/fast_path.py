"""The requests a task lives by (submit, claim, start, end), straight to their endpoints.

FastAPI's way there, routing and dependencies, costs more than all that is done at its end.
Whatever is not plain still takes it: an overridden dependency, a body that does not fit, a
parameter that cannot be. So requests are judged in one place, and this one only hurries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar
from uuid import UUID

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgjobs.queue.server import ServerQueue
from pgjobs.server.api import tasks
from pgjobs.server.api.schemas import ClaimIn, ClaimOut, TaskIn, TaskOut, TaskUpdate
from pgjobs.server.auth.credentials import User, acting_user, confined, current_active_user, rooms_of_token
from pgjobs.server.dependencies import get_queue, get_waiters, named_job, settings_of, verify_writable_room
from pgjobs.server.internal import get_internal
from pgjobs.server.prefer import preferred_wait
from pgjobs.server.problems import BODY_LIMIT, problem_response
from pgjobs.server.settings import ApiSettings

Model = TypeVar("Model", bound=BaseModel)
Answering = Coroutine[Any, Any, BaseModel]

_CLAIM = "/v1/joblib/tasks/claim"
_SUBMIT = re.compile(r"/v1/joblib/rooms/([^/]+)/tasks/(.*)$")
_UPDATE = re.compile(r"/v1/joblib/tasks/([^/]+)$")
_ID: TypeAdapter[UUID] = TypeAdapter(UUID)
_WRITERS: dict[type, TypeAdapter[Any]] = {model: TypeAdapter(model) for model in (TaskOut, ClaimOut)}


class NotPlain(ValueError):
    """A request that the framework must look at."""


class FastPath:
    """Answers plain requests, and passes all others on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = _route(scope)
        if endpoint is None or not scope["app"].dependency_overrides.keys().isdisjoint(_DEPENDENCIES):
            await self._app(scope, receive, send)
            return
        message = await receive()
        request, response = Request(scope, receive), Response()
        try:
            answering = endpoint(request, response, _body(request, message))
        except (ValueError, RecursionError):
            await self._app(scope, _again(message, receive), send)
            return
        try:
            content = _WRITERS[type(answer := await answering)].dump_json(answer)
        except Exception as error:
            await problem_response(request, error)(scope, receive, send)
            return
        response.headers["content-length"] = str(len(content))
        response.headers["content-type"] = "application/json"
        await send(
            {"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers}
        )
        await send({"type": "http.response.body", "body": content})


def _submit(request: Request, response: Response, body: Any) -> Answering:
    room_id, job_name = _matched(_SUBMIT, request)
    given = TaskIn.model_validate(body)
    key = request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= 200:
        raise NotPlain
    trace = request.headers.get("traceparent"), request.headers.get("tracestate")
    response.status_code = 202

    async def answer() -> TaskOut:
        queue, settings, actor = await _asked_by(request)
        room, job = await verify_writable_room(room_id), await named_job(job_name)
        internal = await get_internal(request)
        return await tasks.submit_task(
            actor, room, job, given, response, queue, settings, internal, key, *trace
        )

    return answer()


def _claim(request: Request, response: Response, body: Any) -> Answering:
    given = ClaimIn.model_validate(body)

    async def answer() -> ClaimOut:
        queue, settings, actor = await _asked_by(request)
        waiters = await get_waiters(request, ServerQueue.of(await get_queue(request)))
        wait = await preferred_wait(request.headers.get("prefer"))
        return await tasks.claim_task(request, given, response, queue, actor, settings, waiters, wait)

    return answer()


def _update(request: Request, _response: Response, body: Any) -> Answering:
    (task_text,) = _matched(_UPDATE, request)
    task_id, given = _ID.validate_python(task_text), TaskUpdate.model_validate(body)
    token_text = request.headers.get("lease-token")
    token = None if token_text is None else _ID.validate_python(token_text)

    async def answer() -> TaskOut:
        queue, _, actor = await _asked_by(request)
        return await tasks.update_task(task_id, given, queue, actor, token)

    return answer()


async def _asked_by(request: Request) -> tuple[ServerQueue, ApiSettings, User]:
    queue, settings = ServerQueue.of(await get_queue(request)), await settings_of(request)
    user = await current_active_user(request, queue, settings)
    actor = await acting_user(user, settings, rooms_of_token)
    return confined(queue, actor.rooms), settings, actor


def _route(scope: Scope) -> Callable[[Request, Response, Any], Answering] | None:
    if scope["type"] != "http":
        return None
    match scope["method"], scope["path"]:
        case "POST", path if path == _CLAIM:
            return _claim
        case "POST", path if _SUBMIT.match(path):
            return _submit
        case "PATCH", path if _UPDATE.match(path):
            return _update
    return None


def _matched(pattern: re.Pattern[str], request: Request) -> tuple[str, ...]:
    found = pattern.match(request.scope["path"])
    if found is None:
        raise NotPlain
    return found.groups()


def _body(request: Request, message: Message) -> Any:
    content = message.get("body", b"")
    if message.get("more_body") or len(content) > BODY_LIMIT:
        raise NotPlain
    if request.headers.get("content-type") != "application/json":
        raise NotPlain
    return json.loads(content)


def _again(message: Message, receive: Receive) -> Receive:
    """Receives what was received already, then the rest."""
    waiting = [message]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


def _calls(dependant: Dependant) -> Iterator[Any]:
    for dependency in dependant.dependencies:
        yield dependency.call
        yield from _calls(dependency)


_DEPENDENCIES = frozenset(
    call
    for route in tasks.router.routes
    if isinstance(route, APIRoute)
    and route.endpoint in (tasks.submit_task, tasks.claim_task, tasks.update_task)
    for call in _calls(route.dependant)
)
