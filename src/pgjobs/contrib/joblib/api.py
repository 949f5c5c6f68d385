"""How the client reaches the server, and what its refusals mean."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import httpx

log = logging.getLogger("pgjobs.client")

Result = TypeVar("Result")

PREFIX = "/v1/joblib"
LONGEST_PAUSE_SECONDS = 30.0
LONGEST_ERROR = 10_000

FATAL = (KeyError, PermissionError, ValueError)
"""What the server refuses will be refused again; anything else may pass."""


class ApiManager(Protocol):
    """What a host application brings: an HTTP client, its headers, the server's address."""

    http: httpx.Client

    def get_headers(self) -> dict[str, str]: ...

    @property
    def base_url(self) -> str: ...


class Api:
    """The plainest `ApiManager`: an address and a bearer token."""

    def __init__(self, base_url: str, token: str | None = None, *, timeout: float = 30.0) -> None:
        self.base_url = base_url.rstrip("/")
        self.http = httpx.Client(timeout=timeout)
        self._token = token

    def get_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}


class Calls:
    """Calls of the API that raise what its problems stand for."""

    def __init__(self, api: ApiManager, *, max_unreachable_seconds: float, max_startup_retries: int) -> None:
        self.api = api
        self._max_unreachable_seconds = max_unreachable_seconds
        self._max_startup_retries = max_startup_retries
        self._failing_since: float | None = None

    def call(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any
    ) -> httpx.Response:
        try:
            api = self.api
            response = api.http.request(
                method,
                f"{api.base_url}{PREFIX}{path}",
                headers={**api.get_headers(), **(headers or {})},
                **options,
            )
            raise_for_problem(response)
        except FATAL:
            self._failing_since = None
            raise
        except Exception:
            self._failing_since = self._failing_since or time.monotonic()
            raise
        self._failing_since = None
        return response

    def call_at_startup(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The same, tried again for a while: server and worker may have been started together."""
        for attempt in range(1, self._max_startup_retries):
            try:
                return self.call(method, path, **options)
            except FATAL:
                raise
            except Exception as error:
                pause = min(0.5 * 2.0 ** (attempt - 1), LONGEST_PAUSE_SECONDS) * random.uniform(0.7, 1.3)  # noqa: S311
                log.warning("%s %s failed (%s), again in %.1f s", method, path, type(error).__name__, pause)
                time.sleep(pause)
        return self.call(method, path, **options)

    def call_until_reached(self, call: Callable[[], Result], is_over: Callable[[float], bool]) -> Result:
        """Repeats a call as long as an unreachable server is tolerated; `is_over` pauses and may end it."""
        pause = 0.2
        while True:
            try:
                return call()
            except FATAL:
                raise
            except Exception as error:
                if self.is_unreachable() or is_over(pause):
                    raise
                log.warning("the server cannot be reached (%s), again soon", type(error).__name__)
                pause = min(pause * 2, 5.0)

    def is_unreachable(self) -> bool:
        """Whether the server has been silent for longer than is tolerated."""
        since = self._failing_since
        return since is not None and time.monotonic() - since > self._max_unreachable_seconds


def sendable(error: str) -> str:
    """An error's text as a server takes it: bounded, without what JSON or a database cannot hold."""
    text = error[:LONGEST_ERROR].replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode()


def in_path(name: str) -> str:
    """A room or a full name as part of an address."""
    return quote(name, safe="@:")


def raise_for_problem(response: httpx.Response) -> None:
    """404 is KeyError, 401 and 403 PermissionError, 409, 422 and the like ValueError, the rest httpx's."""
    if response.is_success:
        if response.content and "json" not in response.headers.get("content-type", ""):
            # Something on the way answered in the server's place; that may pass, as its absence does.
            raise httpx.DecodingError("The answer is not the server's", request=response.request)
        return
    match response.status_code:
        case 404:
            raise KeyError(_detail(response))
        case 401 | 403:
            raise PermissionError(_detail(response))
        case 400 | 409 | 413 | 422:
            raise ValueError(_detail(response))
    response.raise_for_status()


def _detail(response: httpx.Response) -> str:
    try:
        problem = response.json()
        return str(problem.get("detail") or problem["title"])
    except (ValueError, KeyError, AttributeError, TypeError):
        return f"{response.status_code} {response.reason_phrase}"
