"""Providers of a worker: the documented example, and what may go wrong with an answer."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import socketio

from pgjobs.contrib.joblib import Api, JobManager, Provider
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api as Caller

SEED = """
from typing import Any, ClassVar
from pgjobs.contrib.joblib import JobManager, Provider

class FilesystemRead(Provider):
    category: ClassVar[str] = "filesystem"
    path: str = "/"
    glob: str | None = None

    def read(self, handler: Any) -> Any:
        if self.glob:
            return handler.glob(f"{self.path}/{self.glob}")
        return handler.ls(self.path, detail=True)

with JobManager(api, tsio=tsio) as manager:
    # Register a provider
    provider_id = manager.register_provider(
        FilesystemRead,
        name="local",
        handler=fsspec.filesystem("file"),
        room="@global",
    )

    # Access all handlers (used during job execution)
    print(manager.handlers)  # {"@global:filesystem:local": <LocalFileSystem>}
    look()

    # Unregister by full_name
    manager.unregister_provider("@global:filesystem:local")
    print(manager.handlers)
# disconnect() cleans up both providers and jobs
"""
ADDRESS = "rooms/lab/providers/@global:{}"
PATIENT = {"Prefer": "wait=15"}


@pytest.fixture
def queue_url(sqlite_url: str) -> str:
    """What the SDK does is the same on every driver."""
    return sqlite_url


class LocalFileSystem:
    """As much of a file system as the example asks for."""

    def __repr__(self) -> str:
        return "<LocalFileSystem>"

    def glob(self, pattern: str) -> list[str]:
        return [pattern.replace("*", "notes")]

    def ls(self, path: str, *, detail: bool) -> list[dict[str, Any]]:
        return [{"name": f"{path}notes.md", "detail": detail}]


class Echo(Provider):
    """Answers with what its handler makes of the question."""

    category: ClassVar[str] = "echo"
    word: str = ""

    def read(self, handler: Any) -> Any:
        return handler(self.word)


def test_the_documented_provider_runs_as_written(sdk, tsio, root, capsys):
    answers: list[Any] = []

    def look() -> None:
        address = ADDRESS.format("filesystem:local")
        schema = root.get(f"{address}/info").json()["schema"]
        assert set(schema["properties"]) == {"path", "glob"}
        questions: list[dict[str, str]] = [{"path": "/data", "glob": "*.md"}, {}]
        answers.extend(root.get(address, params=asked, headers=PATIENT).json() for asked in questions)

    fsspec = SimpleNamespace(filesystem=lambda _kind: LocalFileSystem())
    exec(SEED, {"api": sdk, "tsio": tsio, "fsspec": fsspec, "look": look})
    assert answers == [["/data/notes.md"], [{"name": "/notes.md", "detail": True}]]
    assert capsys.readouterr().out == "{'@global:filesystem:local': <LocalFileSystem>}\n{}\n"
    assert root.get("workers").json()["items"] == []


def test_a_provider_that_is_unregistered_while_it_reads_takes_nobody_with_it(sdk, tsio, root):
    reading, go_on = threading.Event(), threading.Event()

    def slow(word: str) -> str:
        reading.set()
        go_on.wait(15)
        return word

    with JobManager(sdk, tsio) as manager:
        manager.register_provider(Echo, name="slow", handler=slow)
        manager.register_provider(Echo, name="quick", handler=str.upper)
        assert root.get(ADDRESS.format("echo:slow")).status_code == 202
        assert reading.wait(15)
        manager.unregister_provider("@global:echo:slow")
        go_on.set()
        answer = root.get(ADDRESS.format("echo:quick?word=hi"), headers=PATIENT)
        assert answer.json() == "HI"
        assert not manager.stopping.is_set()


def test_an_answer_the_server_refuses_is_told_to_whoever_asked(serve: Serve, token: str):
    base = serve(provider_result_max_bytes=100)
    tsio = socketio.Client()
    tsio.connect(base, auth={"token": token}, transports=["websocket"], wait_timeout=10)
    with JobManager(Api(base, token), tsio) as manager, Caller(base, token) as root:
        manager.register_provider(Echo, name="big", handler=lambda word: word * 1000)
        answer = root.get(ADDRESS.format("echo:big?word=hi"), headers=PATIENT)
        assert answer.status_code == 502
        assert "exceeds 100 bytes" in answer.json()["detail"]
        assert not manager.stopping.is_set()
    tsio.disconnect()
