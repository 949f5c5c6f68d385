"""Rules that hold for every endpoint alike: lists, problems, names."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI

from pgjobs.errors import InvalidRoom
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import current_active_user, current_superuser, install
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, problem_of, serving, token_of
from tests.surfaces.test_rest_host import USER, hosting

JOB = "lab:modifiers:Rotate"
LISTS = [
    "workers",
    "rooms/lab/jobs",
    f"rooms/lab/jobs/{JOB}/tasks",
    "rooms/lab/workers",
    "rooms/lab/tasks",
    "rooms/lab/providers",
]
STATUSES = {
    "job-not-found": 404, "task-not-found": 404, "worker-not-found": 404, "provider-not-found": 404,
    "schedule-not-found": 404,
    "schema-conflict": 409, "invalid-task-transition": 409, "lease-lost": 409, "no-workers-available": 409,
    "invalid-category": 400, "invalid-room-id": 400, "unauthorized": 401, "forbidden": 403,
    "payload-too-large": 413, "payload-invalid": 422, "validation-error": 422, "room-locked": 423,
    "internal-job-not-configured": 503, "provider-timeout": 504, "not-on-sqlite": 501, "quota-exceeded": 429,
}  # fmt: skip


@pytest.fixture
def three_of_each(ada: Api, root: Api) -> None:
    """Three jobs, workers, providers, and tasks and schedules of the first job."""
    for number in range(3):
        ada.register("Rotate" if number == 0 else f"Rotate{number}")
        ada.put("rooms/lab/providers", json={"category": "filesystem", "name": f"disk{number}"})
        ada.submit(number=number)
        root.put("schedules", json={"name": f"often{number}", "job": JOB, "every_seconds": 3600 + number})


@pytest.mark.parametrize("path", [*LISTS, pytest.param("schedules", marks=pytest.mark.postgres_only)])
def test_every_list_has_the_same_pages(ada: Api, three_of_each: None, path: str):
    whole = ada.get(path).json()
    assert set(whole) == {"items", "total", "total_relation", "limit", "offset"}
    assert (whole["limit"], whole["offset"], whole["total_relation"]) == (50, 0, "eq")
    assert len(whole["items"]) == whole["total"] >= 3
    pages = [ada.get(path, params={"limit": 1, "offset": place}).json() for place in range(whole["total"])]
    assert [page["items"] for page in pages] == [[item] for item in whole["items"]]
    assert {(page["total"], page["limit"]) for page in pages} == {(whole["total"], 1)}
    empty = ada.get(path, params={"limit": 0}).json()
    assert (empty["items"], empty["total"], empty["limit"]) == ([], whole["total"], 0)
    beyond = ada.get(path, params={"offset": 100}).json()
    assert (beyond["items"], beyond["total"], beyond["offset"]) == ([], whole["total"], 100)
    assert ada.get(path, params={"limit": 500}).json()["limit"] == 500
    for page in ({"limit": 501}, {"limit": -1}, {"offset": -1}, {"limit": "all"}):
        refused = ada.get(path, params=page)
        assert (refused.status_code, problem_of(refused)) == (422, "validation-error")


def test_lists_are_newest_first(ada: Api, three_of_each: None):
    for path in ("rooms/lab/tasks", f"rooms/lab/jobs/{JOB}/tasks"):
        shown = [task["payload"]["number"] for task in ada.get(path).json()["items"]]
        assert shown == [2, 1, 0]
    shown = [job["name"] for job in ada.get("rooms/lab/jobs").json()["items"]]
    assert shown == ["Rotate2", "Rotate1", "Rotate"]


def test_problems_have_their_statuses(ada: Api):
    kinds = {problem: ada.get(f"/v1/problems/{problem}").json() for problem in STATUSES}
    assert {problem: kind["status"] for problem, kind in kinds.items()} == STATUSES
    assert {kind["type"] for kind in kinds.values()} == {f"/v1/problems/{problem}" for problem in STATUSES}


def test_problems_say_where_they_happened_and_what_was_wrong(ada: Api):
    missing = ada.get(f"rooms/lab/jobs/{JOB}")
    assert missing.json()["instance"] == f"/v1/joblib/rooms/lab/jobs/{JOB}"
    assert JOB in missing.json()["detail"]
    ada.register()
    wrong = ada.post(f"rooms/lab/tasks/{JOB}", json={"payload": 3}).json()
    assert [(error["pointer"], bool(error["detail"])) for error in wrong["errors"]] == [("/payload", True)]
    unauthorized = ada.get("workers", headers={"Authorization": "Bearer nonsense"})
    assert (unauthorized.status_code, unauthorized.json()["instance"]) == (401, "/v1/joblib/workers")


def test_refusals_use_the_words_that_clients_look_for(serve: Serve):
    with Api(serve(require_workers=True), token_of("ada")) as ada:
        ada.register()
        for room in ("a@b", "a:b"):
            for refused in (
                ada.get(f"rooms/{room}/jobs"),
                ada.put(f"rooms/{room}/jobs", json={"category": "modifiers", "name": "Rotate"}),
                ada.post(f"rooms/{room}/tasks/{JOB}", json={}),
            ):
                expected = f"Room ID '{room}' contains invalid characters (@ or :)"
                assert (refused.status_code, refused.json()["detail"]) == (400, expected)
        elsewhere = f"Job '{JOB}' is not accessible from room 'elsewhere'"
        for hidden in (
            ada.get(f"rooms/elsewhere/jobs/{JOB}"),
            ada.post(f"rooms/elsewhere/tasks/{JOB}", json={}),
        ):
            assert (problem_of(hidden), hidden.json()["detail"]) == ("job-not-found", elsewhere)
        worker = ada.get(f"rooms/lab/jobs/{JOB}").json()["workers"][0]
        ada.submit()
        ada.delete(f"workers/{worker}")
        lonely = ada.post(f"rooms/lab/tasks/{JOB}", json={})
        assert problem_of(lonely) == "no-workers-available"
        assert lonely.json()["detail"] == f"Job '{JOB}' has no connected workers"


@pytest.mark.parametrize("room", ["a@b", "a:b", "", "@nobody"])
async def test_verbs_refuse_a_room_in_the_same_words(queue: Queue, room: str):
    with pytest.raises(InvalidRoom) as refused:
        await queue.register_job(room, "modifiers", "Rotate")
    assert refused.value.message == f"Room ID '{room}' contains invalid characters (@ or :)"


def test_a_room_that_cannot_be_is_refused_by_every_list(ada: Api):
    for path in (path for path in LISTS if path.startswith("rooms/")):
        for room in ("a@b", "a:b", "@nobody", "%20@"):
            answer = ada.get(path.replace("rooms/lab", f"rooms/{room}"))
            assert (answer.status_code, problem_of(answer)) == (400, "invalid-room-id")


def test_the_shared_rooms_can_always_be_read(ada: Api):
    for room in ("@global", "@internal"):
        for path in ("jobs", "tasks", "workers", "providers"):
            assert ada.get(f"rooms/{room}/{path}").json()["total"] == 0


async def test_urgent_tasks_are_claimed_before_older_ones(ada: Api, queue: Queue):
    worker = ada.register()["worker_id"]
    old, _, urgent = [await queue.submit_task(JOB, room="lab", priority=level) for level in (5, 7, 1)]
    shown = [(await queue.get_task(task.task_id)).uuid for task in (urgent, old)]
    assert [ada.claim(worker)["id"] for _ in shown] == [str(uuid) for uuid in shown]


def test_places_in_line_are_told_in_every_answer(ada: Api):
    worker = ada.register()["worker_id"]
    tasks = [ada.submit() for _ in range(3)]
    assert [task["queue_position"] for task in tasks] == [1, 2, 3]
    assert ada.claim(worker)["queue_position"] is None
    assert [ada.get(f"tasks/{task['id']}").json()["queue_position"] for task in tasks] == [None, 1, 2]
    listed = ada.get("rooms/lab/tasks").json()["items"]
    assert [task["queue_position"] for task in listed] == [2, 1, None]


def test_a_host_says_who_a_superuser_is(queue_url: str, queue: Queue):
    """Both dependencies are the host's: its own routes may use them too."""
    app = hosting(queue_url)
    plain = type("User", (), {"id": "ann", "is_superuser": False})()
    app.dependency_overrides[current_active_user] = lambda: plain
    app.dependency_overrides[current_superuser] = lambda: USER

    @app.get("/own")
    async def own(user: Annotated[Any, Depends(current_superuser)]) -> str:
        return str(user.id)

    install(app)
    with serving(app) as base, Api(base, None) as api:
        assert api.get("/own").json() == str(USER.id)
        assert api.get("/v1/me").json() == {"id": "ann", "is_superuser": False}
        refused = api.put("rooms/@global/jobs", json={"category": "modifiers", "name": "Rotate"})
        assert problem_of(refused) == "forbidden"


def test_the_routers_own_paths_are_the_documented_ones(queue_url: str, queue: Queue):
    app = FastAPI()
    install(app)
    paths = {path for path in app.openapi()["paths"] if path.startswith("/v1/joblib/")}
    assert {f"/v1/joblib/{path}" for path in ("workers", "tasks/claim", "events")} <= paths
