"""Reads: asking a provider, and answering."""

from __future__ import annotations

import hashlib
import json
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from pgjobs.errors import ProviderTimeout
from pgjobs.queue.records import Provider
from pgjobs.queue.server import ServerQueue
from pgjobs.server.api.schemas import ReadAnswer, ReadPending
from pgjobs.server.auth.credentials import ActorDep, ActQueueDep
from pgjobs.server.bodies import read_body
from pgjobs.server.dependencies import ProviderNameDep, RoomDep, SettingsDep
from pgjobs.server.openapi import any_problem, headers, problems
from pgjobs.server.prefer import StatedWaitDep
from pgjobs.server.problems import ProblemDetail, ProblemException, ProblemRoute, UploadRoute, problem
from pgjobs.server.results import BackendDep, ResultBackend, error_key, notify, wait_for_answer
from pgjobs.server.settings import ApiSettings

router = APIRouter(route_class=ProblemRoute, tags=["providers"])
uploads = APIRouter(route_class=UploadRoute, tags=["providers"])

HashHeader = Annotated[
    str | None, Header(min_length=1, max_length=200, description="Then the body is the answer.")
]
_OF_ERRORS = range(400, 600)
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_UPLOAD = {
    "requestBody": {
        "description": "With `X-Request-Hash` the answer, as it is; else a document with the hash.",
        "content": {
            "application/json": {"schema": ReadAnswer.model_json_schema()},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.get(
    "/rooms/{room_id}/providers/{provider_name:path}",
    response_class=Response,
    responses={
        200: {
            "description": "The answer, in the provider's media type.",
            "content": {"*/*": {}},
            "headers": headers(Preference_Applied="`wait=N`, when the answer was waited for as asked."),
        },
        202: {
            "model": ReadPending,
            "description": "The provider was asked.",
            "headers": headers(Location="Where to ask again.", Retry_After="When, in seconds."),
        },
        **problems(
            "unauthorized",
            "forbidden",
            "invalid-room-id",
            "provider-not-found",
            "provider-failed",
            "provider-timeout",
        ),
        "default": any_problem("The problem that the provider has answered with."),
    },
)
async def read(
    request: Request,
    actor: ActorDep,
    room_id: RoomDep,
    provider_name: ProviderNameDep,
    queue: ActQueueDep,
    backend: BackendDep,
    settings: SettingsDep,
    stated: StatedWaitDep,
) -> Response:
    """Ask a provider; the query parameters are the question.

    Without `Prefer: wait=N` the answer is fetched later (202), unless the server waits by default.
    """
    provider = await queue.get_provider(provider_name, room=room_id)
    params = canonical(dict(request.query_params))
    request_hash = hashlib.sha256(params.encode()).hexdigest()
    key = result_key(provider.id, request_hash)
    answered = {"Content-Type": provider.content_type}
    if (data := await _kept(backend, key)) is not None:
        return Response(data, headers=answered)
    await _ask(queue, backend, provider, request_hash, params, actor.id, settings)
    if stated is None and not settings.provider_default_wait_seconds:
        return _pending(request, request_hash)
    wait = settings.provider_default_wait_seconds if stated is None else stated
    wait = min(wait, settings.provider_max_wait_seconds)
    data = await wait_for_answer(backend, key, wait)
    data = await _kept(backend, key) if data is None else data
    if data is None:
        raise ProviderTimeout(f"Provider '{provider.full_name}' did not respond within {wait} s")
    if stated is not None:
        answered["Preference-Applied"] = f"wait={wait}"
    return Response(data, headers=answered)


@uploads.post(
    "/providers/{provider_id}/results",
    status_code=204,
    response_class=Response,
    openapi_extra=_UPLOAD,
    responses=problems("unauthorized", "forbidden", "provider-not-found", "payload-too-large"),
)
async def answer(
    request: Request,
    provider_id: UUID,
    queue: ActQueueDep,
    actor: ActorDep,
    backend: BackendDep,
    settings: SettingsDep,
    x_request_hash: HashHeader = None,
    x_result_status: Annotated[str | None, Header(description="`error` says that the read failed.")] = None,
) -> Response:
    """Answer a read: for the provider's owner or a superuser."""
    await queue.get_provider(str(provider_id), actor=actor.id, is_superuser=actor.is_superuser)
    body = await read_body(request, settings.provider_result_max_bytes)
    request_hash, data = _answer_of(x_request_hash, body)
    key = result_key(provider_id, request_hash)
    if x_result_status == "error":
        await backend.store(error_key(key), data, settings.provider_inflight_ttl_seconds)
        await backend.delete(key)
    else:
        await backend.store(key, data, settings.provider_result_ttl_seconds)
        await backend.delete(error_key(key))
    await backend.release_inflight(inflight_key(key))
    await notify(backend, key)
    await queue.answer_read(str(provider_id), request_hash, actor=actor.id, is_superuser=actor.is_superuser)
    return Response(status_code=204)


def canonical(params: dict[str, str]) -> str:
    return json.dumps(params, sort_keys=True, separators=(",", ":"))


def result_key(provider_id: UUID, request_hash: str) -> str:
    return f"provider-result:{provider_id}:{request_hash}"


def inflight_key(key: str) -> str:
    return f"{key}:inflight"


async def _kept(backend: ResultBackend, key: str) -> bytes | None:
    """The kept answer, or its problem raised."""
    data = await backend.get(key)
    if data is None and (error := await backend.get(error_key(key))) is not None:
        raise _failure(error)
    return data


async def _ask(
    queue: ServerQueue,
    backend: ResultBackend,
    provider: Provider,
    request_hash: str,
    params: str,
    actor: str,
    settings: ApiSettings,
) -> None:
    """Passes the question on, unless somebody has."""
    lock = inflight_key(result_key(provider.id, request_hash))
    if not await backend.acquire_inflight(lock, settings.provider_inflight_ttl_seconds):
        return
    try:
        await queue.request_read(str(provider.id), request_hash, params, actor=actor)
    except BaseException:
        await backend.release_inflight(lock)
        raise


def _pending(request: Request, request_hash: str) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    location = request.scope.get("raw_path", request.url.path.encode()).decode("ascii", "replace") + query
    body = ReadPending(request_hash=request_hash).model_dump()
    return JSONResponse(body, 202, headers={"Location": location, "Retry-After": "2"})


def _answer_of(request_hash: str | None, body: bytes) -> tuple[str, bytes]:
    if request_hash is not None:
        return request_hash, body
    try:
        answer = ReadAnswer.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError([{**e, "loc": ("body", *e["loc"])} for e in error.errors()]) from error
    return answer.request_hash, json.dumps(answer.data, separators=(",", ":")).encode()


def _failure(stored: bytes) -> ProblemException:
    """The problem a provider answered with; anything but a problem document is its detail."""
    try:
        given: Any = json.loads(stored)
    except (ValueError, RecursionError):
        given = stored.decode("utf-8", "replace")
    if not isinstance(given, dict):
        given = {"detail": given}
    known = problem("provider-failed").problem
    status = given.get("status")
    # A boolean is an integer to Python, and is not in the range.
    status = status if isinstance(status, int) and status in _OF_ERRORS else known.status
    detail = given.get("detail", given.get("error", given))
    return ProblemException(
        ProblemDetail(
            type=_text(given, "type") or known.type,
            title=_text(given, "title") or _PHRASES.get(status, known.title),
            status=status,
            detail=_printable(detail if isinstance(detail, str) else json.dumps(detail)),
        )
    )


def _text(given: dict[str, Any], name: str) -> str | None:
    return _printable(given[name]) if isinstance(given.get(name), str) else None


def _printable(text: str) -> str:
    # JSON can spell half a character, which no answer could be encoded with.
    return text.encode("utf-8", "replace").decode()
