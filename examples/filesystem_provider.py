"""Answers what is in a directory: python examples/filesystem_provider.py http://127.0.0.1:8787 "$TOKEN" .

Then: curl -H "Authorization: Bearer $TOKEN" -H "Prefer: wait=10" \
    "http://127.0.0.1:8787/v1/joblib/rooms/lab/providers/@global:filesystem:local?path=/&glob=*.md"
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import socketio

from pgjobs.contrib.joblib import Api, JobManager, Provider


class Files:
    """A directory and nothing outside of it."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def ls(self, path: str) -> list[dict[str, Any]]:
        return [self._entry(found) for found in sorted(self._inside(path).iterdir())]

    def glob(self, path: str, pattern: str) -> list[str]:
        return [self._entry(found)["name"] for found in sorted(self._inside(path).glob(pattern))]

    def _inside(self, path: str) -> Path:
        place = (self._root / path.strip("/")).resolve()
        if not place.is_relative_to(self._root):
            raise PermissionError(f"{path} is outside of what this provider shows")
        return place

    def _entry(self, found: Path) -> dict[str, Any]:
        return {
            "name": f"/{found.relative_to(self._root)}",
            "type": "directory" if found.is_dir() else "file",
            "size": found.stat().st_size,
        }


class FilesystemRead(Provider):
    """What is in a directory, all of it or what matches."""

    category: ClassVar[str] = "filesystem"
    path: str = "/"
    glob: str | None = None

    def read(self, handler: Any) -> Any:
        if self.glob:
            return handler.glob(self.path, self.glob)
        return handler.ls(self.path)


def main(url: str, token: str, root: str) -> None:
    tsio = socketio.Client()
    with JobManager(Api(url, token), tsio) as manager:
        tsio.connect(url, auth={"token": token}, wait_timeout=10)
        manager.register_provider(FilesystemRead, name="local", handler=Files(Path(root)))
        print("answering for", *manager.handlers, flush=True)
        manager.wait()
    tsio.disconnect()


if __name__ == "__main__":
    main(*sys.argv[1:])
