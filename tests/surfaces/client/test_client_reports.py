"""What a worker reports of its tasks, whatever they return or raise; the task never stays behind as running."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic import field_validator

from pgjobs.contrib.joblib import ClaimedTask, Extension, JobManager
from tests.surfaces.client.rotate import ROTATE, Rotate
from tests.surfaces.rest_server import Api as Caller

PATIENT = {"Prefer": "wait=15"}
UNKEPT: list[Any] = [float("nan"), "a\0b", "half \ud800", "x" * 2_000_000, {(1, 2): 3}, object()]
UNTOLD: list[BaseException] = [
    RuntimeError("a\0b"),
    OSError("half \ud800"),
    ValueError("x" * 2_000_000),
    SystemExit(3),
]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half characters in a log are more than some readers of test reports can take."""
    monkeypatch.setattr(logging.getLogger("pgjobs.client"), "disabled", True)


def ended(root: Caller, job: str = ROTATE, **payload: Any) -> dict[str, Any]:
    task = root.submit(job, **payload)
    return dict(root.get(f"tasks/{task['id']}", headers=PATIENT).json())


def test_a_result_that_cannot_be_kept_does_not_undo_the_work(sdk, root):
    def execute(task: ClaimedTask) -> Any:
        return UNKEPT[int(task.extension.angle)]

    with JobManager(sdk, execute=execute, polling_interval=0.1) as manager:
        manager.register(Rotate)
        for place in range(len(UNKEPT)):
            task = ended(root, angle=place)
            assert (task["status"], task["result"]) == ("completed", None), UNKEPT[place]


def test_whatever_a_task_raises_is_told_and_the_worker_goes_on(sdk, root):
    def execute(task: ClaimedTask) -> str:
        if task.extension.angle < len(UNTOLD):
            raise UNTOLD[int(task.extension.angle)]
        return "still here"

    with JobManager(sdk, execute=execute, polling_interval=0.1) as manager:
        manager.register(Rotate)
        for place, error in enumerate(UNTOLD):
            task = ended(root, angle=place)
            assert task["status"] == "failed"
            assert task["error"].startswith(f"{type(error).__name__}: {str(error)[:1]}")
        assert ended(root, angle=99)["result"] == "still here"


def test_a_validator_may_raise_anything(sdk, root):
    class Picky(Extension):
        angle: float = 0.0

        @field_validator("angle")
        @classmethod
        def find(cls, angle: float) -> float:
            if angle < 0:
                raise KeyError("no such angle")
            if angle > 360:
                raise ZeroDivisionError("beyond")
            return angle

    with JobManager(sdk, execute=lambda task: task.extension.angle, polling_interval=0.1) as manager:
        manager.register(Picky)
        job = "@global:modifiers:Picky"
        for angle in (-1, 361):
            task = ended(root, job, angle=angle)
            assert task["status"] == "failed"
            assert "does not fit" in task["error"]
        assert ended(root, job, angle=1)["result"] == 1


@pytest.mark.parametrize("is_told", [True, False])
def test_a_task_of_a_job_that_was_registered_for_the_worker_elsewhere_fails(sdk, root, is_told):
    with JobManager(sdk, polling_interval=0.1) as manager:
        worker_id = manager.create_worker()
        if is_told:
            manager.register(Rotate)
        root.register("Other", room="@global", worker_id=str(worker_id))
        task = root.submit("@global:modifiers:Other")
        assert manager.claim() is None
        assert "does not serve" in root.get(f"tasks/{task['id']}").json()["error"]
