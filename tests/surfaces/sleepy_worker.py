"""A worker whose tasks take as long as they say, for tests: url token use-sockets heartbeat."""

from __future__ import annotations

import sys
import time
from typing import Any, ClassVar

import socketio

from pgjobs.contrib.joblib import Api, Category, ClaimedTask, Extension, JobManager, Provider


class Sleep(Extension):
    """Takes its time."""

    category: ClassVar[Category] = Category.MODIFIER
    seconds: float = 0.0

    def run(self, vis: Any = None, **kwargs: Any) -> float:
        time.sleep(self.seconds)
        return self.seconds


class Dream(Provider):
    """Knows what was dreamt."""

    category: ClassVar[str] = "dreams"

    def read(self, handler: Any) -> Any:
        return handler


def execute(task: ClaimedTask) -> Any:
    return task.extension.run()


def main(url: str, token: str, use_sockets: str, heartbeat: str) -> None:
    tsio = socketio.Client() if use_sockets == "yes" else None
    with JobManager(Api(url, token), tsio, execute=execute, heartbeat_interval=float(heartbeat)) as manager:
        if tsio is not None:
            tsio.connect(url, auth={"token": token}, wait_timeout=10)
        manager.register(Sleep, room="lab")
        manager.register_provider(Dream, name="last", handler="sheep", room="lab")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        manager.wait()
    if tsio is not None:
        tsio.disconnect()


if __name__ == "__main__":
    main(*sys.argv[1:])
