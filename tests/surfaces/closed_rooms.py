"""Two closed rooms: what goes on in the shop is none of the lab's business."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from pydantic import SecretStr

from pgjobs.server import ApiSettings
from tests.surfaces.rest_server import SECRET, Api, app_on, serving, token_of

SHARED = "@global:modifiers:Shared"
HIDDEN = "shop:modifiers:Hidden"
OWN = "lab:modifiers:Rotate"


@dataclass
class Stage:
    """Ada is a member of the lab, bob of the shop, and root sees all."""

    base: str
    ada: Api
    bob: Api
    root: Api
    hidden: dict[str, str]
    """Ids of what is in the shop, by the parameter that would name it."""
    own: dict[str, str]
    words: list[str]
    """What nobody outside the shop may read anywhere."""

    def leaks(self, text: str) -> list[str]:
        return [word for word in self.words if word in text]


@contextmanager
def closed_rooms(url: str, **settings: Any) -> Iterator[Stage]:
    settings = {"auth_secret": SecretStr(SECRET), "room_access": "members", **settings}
    with (
        serving(app_on(url, ApiSettings(**settings))) as base,
        Api(base, token_of("ada", rooms=["lab"])) as ada,
        Api(base, token_of("bob", rooms=["shop"])) as bob,
        Api(base, token_of("root", is_superuser=True)) as root,
    ):
        yield _staged(base, ada, bob, root)


def _staged(base: str, ada: Api, bob: Api, root: Api) -> Stage:
    shared = root.register("Shared", room="@global")
    root.register("AlsoHidden", room="shop", worker_id=shared["worker_id"])
    job = bob.register("Hidden", room="shop", schema={"title": "sesame"})
    held, waiting = (bob.submit(HIDDEN, "shop", word="sesame") for _ in range(2))
    bob.claim(job["worker_id"])
    behind = bob.submit(SHARED, "shop", word="sesame")
    provider = _made(bob.put("rooms/shop/providers", json={"category": "files", "name": "hidden"}))
    schedule = _made(
        root.put("schedules", json={"room": "shop", "name": "hidden", "job": HIDDEN, "every_seconds": 60})
    )
    flow = _made(
        bob.post(
            "rooms/shop/workflows", json={"name": "hidden", "tasks": [{"job": HIDDEN, "name": "sesame"}]}
        )
    )
    own_job = ada.register("Rotate", room="lab")
    own_task, own_shared = ada.submit(OWN, "lab"), ada.submit(SHARED, "lab")
    own_provider = _made(ada.put("rooms/lab/providers", json={"category": "files", "name": "disk"}))
    hidden = {
        "task_id": waiting["id"],
        "run_id": held["id"],
        "worker_id": job["worker_id"],
        "job_id": job["id"],
        "provider_id": provider["id"],
        "schedule_id": schedule["id"],
        "workflow_id": flow["id"],
    }
    own = {
        "task_id": own_task["id"],
        "shared_id": own_shared["id"],
        "worker_id": own_job["worker_id"],
        "shared_worker_id": shared["worker_id"],
        "provider_id": own_provider["id"],
    }
    words = ["shop", "sesame", "Hidden", "hidden", "bob", held["id"], behind["id"], *hidden.values()]
    return Stage(base, ada, bob, root, hidden, own, words)


def _made(answer: Any) -> dict[str, Any]:
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def unknown_ids(stage: Stage) -> dict[str, str]:
    return {name: str(uuid4()) for name in stage.hidden}
