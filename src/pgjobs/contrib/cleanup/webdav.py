"""WebDAV: `<base_url>/<job>/<run_id>/` is deleted, unless it holds `complete.json`."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Generator
from functools import cache
from urllib.parse import quote

import httpx

from pgjobs.contrib.cleanup.cleaners import COMPLETE_MARKER, CleanupError, Outcome, Run, setting
from pgjobs.contrib.cleanup.secrets import SecretResolver, environment_secret

TIMEOUT_SECONDS = 30.0
MISSING = (404, 410)
_CONFIGURATION = (httpx.InvalidURL, httpx.UnsupportedProtocol)


class WebDavCleaner:
    """Deletes collections on a WebDAV server. Redirects are not followed: they could lead anywhere."""

    def __init__(
        self,
        secrets: SecretResolver = environment_secret,
        *,
        client: Callable[[], httpx.AsyncClient] | None = None,
    ) -> None:
        self._secrets = secrets
        self._client = client or _new_client

    async def clean(self, run: Run) -> Outcome:
        base = setting(run.target, "base_url").rstrip("/")
        job, run_id = run.path()
        url = f"{base}/{quote(job, safe='')}/{quote(run_id, safe='')}/"
        login = await self._login(run)
        try:
            async with self._client() as client:
                if login is not None:
                    client.auth = login
                return await _clean(client, url)
        except _CONFIGURATION as error:
            raise CleanupError("config", f"base_url cannot be used: {error}") from error
        except httpx.TransportError as error:
            raise CleanupError("network", f"{type(error).__name__}: {error}") from error

    async def _login(self, run: Run) -> httpx.Auth | None:
        name = run.target.get("secret_name")
        if not name:
            return None
        secret = await self._secrets(str(name))
        if secret is None:
            raise CleanupError("config", f"There is no secret named {name}")
        user, colon, password = secret.partition(":")
        return httpx.BasicAuth(user, password) if colon else _Bearer(secret)


def _new_client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=TIMEOUT_SECONDS, verify=_trusted())


@cache
def _trusted() -> ssl.SSLContext:
    """Read once: the certificates of the world keep an event loop busy for tens of milliseconds."""
    return httpx.create_ssl_context()


class _Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


async def _clean(client: httpx.AsyncClient, url: str) -> Outcome:
    marker = await client.head(url + COMPLETE_MARKER)
    if marker.status_code in (httpx.codes.METHOD_NOT_ALLOWED, httpx.codes.NOT_IMPLEMENTED):
        marker = await client.request("PROPFIND", url + COMPLETE_MARKER, headers={"Depth": "0"})
    details = {"url": url, "http_status": marker.status_code}
    if marker.is_success:
        return Outcome("skip_complete", details)
    if marker.status_code not in MISSING:
        raise _refused(marker.request.method, marker)
    deleted = await client.request("DELETE", url, headers={"Depth": "infinity"})
    details["http_status"] = deleted.status_code
    if deleted.status_code in MISSING:
        return Outcome("skip_not_found", details)
    # 207 lists what could not be deleted.
    if not deleted.is_success or deleted.status_code == httpx.codes.MULTI_STATUS:
        raise _refused("DELETE", deleted)
    return Outcome("deleted", details)


def _refused(method: str, answer: httpx.Response) -> CleanupError:
    is_login = answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
    return CleanupError(
        "auth" if is_login else "http", f"{method} answered {answer.status_code} {answer.reason_phrase}"
    )
