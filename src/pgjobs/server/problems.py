"""Errors as RFC 9457 problems, on our own routes only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from pgjobs.drivers.transient import is_away
from pgjobs.errors import (
    BY_SQLSTATE,
    DatabaseUnavailable,
    NotOnSqlite,
    PayloadTooLarge,
    PgJobsError,
    QuotaExceeded,
    SchemaBehind,
    SchemaChanged,
)
from pgjobs.server.bodies import limited

log = logging.getLogger("pgjobs.rest")

Handle = Callable[[Request], Coroutine[Any, Any, Response]]

BODY_LIMIT = 1024 * 1024
MEDIA_TYPE = "application/problem+json"

_ERRORS: list[type[PgJobsError]] = [*BY_SQLSTATE.values(), SchemaBehind, SchemaChanged, DatabaseUnavailable]
KNOWN: dict[str, tuple[int, str]] = {
    **{error.problem: (error.status, (error.__doc__ or "").strip()) for error in _ERRORS},
    "not-found": (404, "There is nothing at this address."),
    "method-not-allowed": (405, "The address does not answer this method."),
    "invalid-filter": (400, "A filter or page has a value it cannot have."),
    "internal-error": (500, "An error in the server; not caused by the request."),
    "provider-failed": (502, "The provider answered the read with an error."),
}
"""Every problem of this API: its status and what it means."""

_BY_STATUS = {
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    413: "payload-too-large",
    422: "validation-error",
    423: "room-locked",
    500: "internal-error",
}
_HEADERS: dict[str, dict[str, str]] = {
    "unauthorized": {"WWW-Authenticate": "Bearer"},
    "internal-job-not-configured": {"Retry-After": "2"},
    "provider-timeout": {"Retry-After": "2"},
    "database-unavailable": {"Retry-After": "2"},
}


class FieldProblem(BaseModel):
    """One thing that is wrong with a request."""

    pointer: str
    detail: str


class ProblemDetail(BaseModel):
    """An RFC 9457 problem."""

    model_config = ConfigDict(extra="allow")

    type: str = "about:blank"
    title: str
    status: int
    detail: str | None = None
    instance: str | None = None
    errors: list[FieldProblem] | None = None


class ProblemException(Exception):
    """A problem on its way to the caller; what a host's own dependencies may raise."""

    def __init__(self, problem: ProblemDetail, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem.title)
        self.problem = problem
        self.headers = headers


def problem(
    name: str,
    detail: str | None = None,
    errors: Sequence[FieldProblem] | None = None,
    headers: Mapping[str, str] | None = None,
) -> ProblemException:
    """One of the known problems, ready to be raised."""
    status, _ = KNOWN[name]
    body = ProblemDetail(
        type=f"/v1/problems/{name}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        errors=list(errors) if errors else None,
    )
    return ProblemException(body, headers or _HEADERS.get(name))


def as_problem(error: Exception) -> ProblemException:  # noqa: PLR0911
    """The problem an exception stands for."""
    match error:
        case ProblemException():
            return error
        case NotOnSqlite():
            return problem(error.problem, f"{error.message}. {error.hint}")
        case QuotaExceeded():
            return problem(error.problem, error.message, headers={"Retry-After": str(error.retry_after)})
        case PgJobsError():
            return problem(error.problem if error.problem in KNOWN else "internal-error", error.message)
        case RequestValidationError():
            errors = [FieldProblem(pointer=_pointer(e["loc"]), detail=e["msg"]) for e in error.errors()]
            return problem("validation-error", "The request is not valid", errors)
        case HTTPException(status_code=400) if error.__cause__ is not None:
            # What FastAPI makes of a body it could not even read or parse.
            cause = error.__cause__
            if isinstance(cause, PgJobsError):
                return as_problem(cause)
            return problem("validation-error", "The body cannot be parsed")
        case HTTPException():
            return _from_http(error)
    if is_away(error):
        # Not its text to the caller, which may tell strangers about the database.
        log.warning("the database is away: %s: %s", type(error).__name__, error)
        return problem("database-unavailable")
    log.error("unexpected error", exc_info=error)
    return problem("internal-error")


def problem_response(request: Request, error: Exception) -> JSONResponse:
    answer = as_problem(error)
    body = {"instance": request.url.path, **answer.problem.model_dump(exclude_none=True)}
    return JSONResponse(body, answer.problem.status, headers=answer.headers, media_type=MEDIA_TYPE)


async def problem_exception_handler(request: Request, error: Exception) -> JSONResponse:
    """For `app.add_exception_handler(ProblemException, …)` in a host application."""
    return problem_response(request, error)


class ProblemRoute(APIRoute):
    """Answers every error of its endpoint with a problem, and limits the body."""

    body_limit: int | None = BODY_LIMIT

    def get_route_handler(self) -> Handle:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                if self.body_limit is not None:
                    return await handle(limited(request, self.body_limit))
                return await handle(request)
            except Exception as error:
                refused = await _refusal(request, handle) if _is_of_the_body(error) else None
                return problem_response(request, refused or error)

        return answer


class UploadRoute(ProblemRoute):
    """The same for endpoints that limit their bodies themselves."""

    body_limit = None


def _is_of_the_body(error: Exception) -> bool:
    """Whether the body was refused as such, before anybody asked who calls."""
    match error:
        case PayloadTooLarge() | HTTPException(status_code=400):
            return True
        case RequestValidationError():
            return any(each["type"] == "json_invalid" for each in error.errors())
    return False


async def _refusal(request: Request, handle: Handle) -> Exception | None:
    """What the caller is refused for, whatever the body says.

    FastAPI reads the body before it asks who calls. With one that fits no endpoint it gets
    as far as that, and no further.
    """

    async def nonsense() -> Message:
        return {"type": "http.request", "body": b'"fits nothing"', "more_body": False}

    try:
        await handle(Request(request.scope, nonsense))
    except Exception as refused:
        return refused if as_problem(refused).problem.status in (401, 403) else None
    return None


def _from_http(error: HTTPException) -> ProblemException:
    name = _BY_STATUS.get(error.status_code)
    if name is not None:
        known = problem(name, str(error.detail))
        return ProblemException(known.problem, {**(known.headers or {}), **(error.headers or {})})
    title = HTTPStatus(error.status_code).phrase
    body = ProblemDetail(title=title, status=error.status_code, detail=str(error.detail))
    return ProblemException(body, error.headers)


def _pointer(location: Sequence[Any]) -> str:
    parts = location[1:] if location and location[0] == "body" else location
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


__all__ = [
    "BODY_LIMIT",
    "KNOWN",
    "ProblemDetail",
    "ProblemException",
    "ProblemRoute",
    "UploadRoute",
    "as_problem",
    "problem",
    "problem_exception_handler",
    "problem_response",
]
