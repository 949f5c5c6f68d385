"""A real WebDAV server on a loopback port, and what runs would have written there or to a directory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from cheroot import wsgi
from wsgidav.fs_dav_provider import FilesystemProvider
from wsgidav.wsgidav_app import WsgiDAVApp

from pgjobs.contrib.cleanup import run_directory

USER, PASSWORD = "cleaner", "hunter2-of-the-dav"


class Place(Protocol):
    """Somewhere runs write."""

    root: Path

    @property
    def target(self) -> dict[str, Any]: ...


@dataclass
class LocalPlace:
    root: Path

    @property
    def target(self) -> dict[str, Any]:
        return {"type": "local_dir", "base_dir": str(self.root)}


@dataclass
class DavPlace:
    root: Path
    address: str
    secret_name: str = "dav"

    @property
    def target(self) -> dict[str, Any]:
        return {"type": "webdav", "base_url": f"{self.address}/", "secret_name": self.secret_name}


def write_run(place: Place, job: str, run_id: str, *, is_complete: bool = False) -> Path:
    """What a run writes: some files, and at the very end that it is complete."""
    directory = run_directory(place.root, job, run_id)
    (directory / "parts").mkdir(parents=True)
    (directory / "parts" / "1.bin").write_bytes(b"\0" * 1000)
    if is_complete:
        (directory / "complete.json").write_text("{}")
    return directory


@contextmanager
def answering(status: int, **headers: str) -> Iterator[tuple[str, list[str]]]:
    """A server that answers everything alike; its address, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0"}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()

        do_HEAD = do_DELETE = do_PROPFIND = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(20)


@contextmanager
def dav_serving(root: Path) -> Iterator[str]:
    """Serves the directory and gives its address."""
    root.mkdir(exist_ok=True)
    app = WsgiDAVApp(
        {
            "provider_mapping": {"/": FilesystemProvider(str(root))},
            "simple_dc": {"user_mapping": {"*": {USER: {"password": PASSWORD}}}},
            "http_authenticator": {
                "accept_basic": True,
                "accept_digest": False,
                "default_to_digest": False,
            },
            "verbose": 0,
            "logging": {"enable": False},
        }
    )
    server = wsgi.Server(("127.0.0.1", 0), app)
    server.prepare()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.bind_addr[1]}"
    finally:
        server.stop()
        thread.join(20)
