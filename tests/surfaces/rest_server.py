"""A real HTTP server on a loopback port, and clients for it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import httpx
import jwt
import uvicorn
from fastapi import FastAPI

from pgjobs.server import ApiSettings, release_waiters
from pgjobs.server.app import create_app

# Nothing here speaks TLS, and reading the certificates of the world takes longer than most tests.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
SECRET = "a secret that only tests know, long enough for HS256"


def token_of(user: str, *, is_superuser: bool = False, secret: str = SECRET, **claims: Any) -> str:
    return jwt.encode({"sub": user, "is_superuser": is_superuser, **claims}, secret, algorithm="HS256")


def app_on(url: str, settings: ApiSettings) -> FastAPI:
    """A stand-alone application that shares its routes, which say the same in each, with all others.

    FastAPI makes them at an application's first request, and takes longer than most tests.
    """
    app = create_app(url=url, settings=settings)
    for place, route in enumerate(first_app().router.routes):
        if hasattr(route, "original_router"):
            app.router.routes[place] = route
    return app


@cache
def first_app() -> FastAPI:
    return create_app(url="sqlite://")


class QuickServer(uvicorn.Server):
    """Stops when it is told to; uvicorn looks every tenth of a second, and then waits for another."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on"))
        self._told = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._told.set()

    async def main_loop(self) -> None:
        # Every tenth tick, that is once a second, uvicorn renews the date it tells.
        tick = 0
        while not await self.on_tick(tick):
            tick += 10
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), 1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        await self.lifespan.shutdown()


@contextmanager
def serving(app: FastAPI, *, release: bool = True) -> Iterator[str]:
    """Serves the application in a thread of its own and gives its address."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        server = QuickServer(app)
        loop = asyncio.new_event_loop()

        def run() -> None:
            asyncio.set_event_loop(loop)
            try:
                loop.run_until_complete(server.serve(sockets=[listening]))
            finally:
                loop.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < deadline, "the server is slow to start"
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            if release:
                asyncio.run_coroutine_threadsafe(release_waiters(app), loop).result(10)
            loop.call_soon_threadsafe(server.stop)
            thread.join(20)
            assert not thread.is_alive(), "the server did not stop"


class Api(httpx.Client):
    """One user's view of the API; addresses start below /v1/joblib unless they start with a slash."""

    def __init__(self, base: str, token: str | None) -> None:
        super().__init__(
            base_url=base,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=30,
            trust_env=False,
            verify=NO_TLS,
        )

    def _merge_url(self, url: Any) -> httpx.URL:
        text = str(url)
        return super()._merge_url(text if text.startswith(("/", "http")) else f"/v1/joblib/{text}")

    def register(self, name: str = "Rotate", room: str = "lab", **body: Any) -> dict[str, Any]:
        answer = self.put(f"rooms/{room}/jobs", json={"category": "modifiers", "name": name, **body})
        assert answer.status_code in (200, 201), answer.text
        return dict(answer.json())

    def submit(self, job: str = "lab:modifiers:Rotate", room: str = "lab", **payload: Any) -> dict[str, Any]:
        answer = self.post(f"rooms/{room}/tasks/{job}", json={"payload": payload})
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def claim(self, worker_id: str) -> dict[str, Any]:
        answer = self.post("tasks/claim", json={"worker_id": worker_id})
        assert answer.status_code == 200, answer.text
        task = answer.json()["task"]
        assert task is not None
        return dict(task)

    def update(self, task: dict[str, Any], status: str, **body: Any) -> httpx.Response:
        return self.patch(f"tasks/{task['id']}", json={"status": status, **body})


def problem_of(answer: httpx.Response) -> str:
    """The problem an answer tells, in its proper form."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body = answer.json()
    assert body["status"] == answer.status_code
    assert body["title"]
    assert None not in body.values()
    prefix, _, name = body["type"].rpartition("/")
    assert prefix == "/v1/problems"
    return str(name)
