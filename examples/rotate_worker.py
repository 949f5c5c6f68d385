"""A worker that rotates: python examples/rotate_worker.py http://127.0.0.1:8787 "$TOKEN"

Jobs in @global are a superuser's to register: pgjobs token create ada --superuser
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import socketio

from pgjobs.contrib.joblib import Api, Category, ClaimedTask, Extension, JobManager


class Rotate(Extension):
    """Turns a point about the origin, in steps of 90 degrees."""

    category: ClassVar[Category] = Category.MODIFIER
    angle: int = 90
    point: tuple[float, float] = (1.0, 0.0)

    def run(self, vis: Any = None, **kwargs: Any) -> dict[str, Any]:
        x, y = self.point
        for _ in range(self.angle // 90 % 4):
            x, y = -y, x
        return {"point": [x, y]}


def execute(task: ClaimedTask) -> Any:
    return task.extension.run(**task.run_kwargs)


def main(url: str, token: str) -> None:
    tsio = socketio.Client()
    with JobManager(Api(url, token), tsio, execute=execute) as manager:
        tsio.connect(url, auth={"token": token}, wait_timeout=10)
        manager.register(Rotate)
        print("serving", *manager, flush=True)
        manager.wait()
    tsio.disconnect()


if __name__ == "__main__":
    main(*sys.argv[1:])
