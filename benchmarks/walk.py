"""Which functions of ours a task meets over HTTP, from submit to completion: the walk in ARCHITECTURE.md.

Runs the application in this process, sends it the four requests a task lives by (submit, claim, start,
complete) until nothing is new to it any more, and writes down what is called in the fifth round.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import asyncpg
import jwt
from pydantic import SecretStr

import pgjobs
from pgjobs import Queue
from pgjobs.schema.embedded import EmbeddedPostgres
from pgjobs.server import ApiSettings
from pgjobs.server.app import create_app

HOME = Path(pgjobs.__file__).parent
SECRET = "only for this process, and long enough for HS256"
HTTP = "/v1/joblib"
ROUNDS = 5


@dataclass
class Walk:
    """What one request met: functions in the order in which they were first called, and statements."""

    functions: dict[str, None] = field(default_factory=dict)
    statements: list[FrameType] = field(default_factory=list)

    @property
    def modules(self) -> set[str]:
        return {name.partition(" ")[0] for name in self.functions}

    def note(self, frame: FrameType) -> None:
        code = frame.f_code
        # A coroutine that goes on is a call again, of the same frame.
        if code is asyncpg.Connection.fetch.__code__ and frame not in self.statements:
            self.statements.append(frame)
        place = Path(code.co_filename)
        is_named = not code.co_name.startswith("<") and "<locals>" not in code.co_qualname
        if is_named and place.is_relative_to(HOME):
            self.functions[f"{place.relative_to(HOME)} {code.co_qualname}"] = None


@contextmanager
def noted(walk: Walk) -> Iterator[None]:
    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            walk.note(frame)

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


class Client:
    """Sends requests as uvicorn hands them on: small bodies in one piece."""

    def __init__(self, app: Any) -> None:
        token = jwt.encode({"sub": "ada"}, SECRET, algorithm="HS256")
        self._app = app
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    async def ask(
        self, walk: Walk, method: str, path: str, body: Any, **headers: str
    ) -> tuple[dict[str, str], Any]:
        """The headers and the document of the answer."""
        given = {**self._headers, **headers}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8787),
        }  # fmt: skip
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        with noted(walk):
            await self._app(scope, receive, send)
        content = b"".join(message.get("body", b"") for message in sent)
        if not 200 <= sent[0]["status"] < 300:
            raise RuntimeError(f"{method} {path}: {content.decode()}")
        return {key.decode(): value.decode() for key, value in sent[0]["headers"]}, json.loads(content)


async def walks(url: str) -> dict[str, Walk]:
    """What each request meets once everything is warm."""
    async with await Queue.connect(url) as queue:
        await queue.migrate()
    app = create_app(url=url, settings=ApiSettings(auth_secret=SecretStr(SECRET), run_schedules=False))
    async with app.router.lifespan_context(app):
        client = Client(app)
        job = {"category": "modifiers", "name": "Rotate"}
        _, registered = await client.ask(Walk(), "PUT", f"{HTTP}/rooms/lab/jobs", job)
        for _ in range(ROUNDS):
            found = await _round(client, registered["worker_id"])
    return found


async def _round(client: Client, worker: str) -> dict[str, Walk]:
    found = {name: Walk() for name in ("submit", "claim", "start", "complete")}
    submit = f"{HTTP}/rooms/lab/tasks/lab:modifiers:Rotate"
    _, task = await client.ask(found["submit"], "POST", submit, {"payload": {"angle": 90}})
    headers, _ = await client.ask(found["claim"], "POST", f"{HTTP}/tasks/claim", {"worker_id": worker})
    lease, place = headers["lease-token"], f"{HTTP}/tasks/{task['id']}"
    await client.ask(found["start"], "PATCH", place, {"status": "running"}, lease_token=lease)
    completed = {"status": "completed", "result": {"turned": 90}}
    await client.ask(found["complete"], "PATCH", place, completed, lease_token=lease)
    return found


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pgjobs-walk-") as place:
        Path(place).chmod(0o755)
        with EmbeddedPostgres(Path(place) / "server", durable=False) as server:
            found = asyncio.run(walks(server.url))
    everything = Walk()
    for name, walk in found.items():
        trips = f"{len(walk.statements)} round trips"
        print(f"{name}: {len(walk.functions)} functions, {len(walk.modules)} modules, {trips}")
        for function in walk.functions:
            if function not in everything.functions:
                print(f"  {function}")
        everything.functions.update(walk.functions)
    print(f"together: {len(everything.functions)} functions, {len(everything.modules)} modules")


if __name__ == "__main__":
    main()
