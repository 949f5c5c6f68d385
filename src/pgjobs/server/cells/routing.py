"""Which cell a request is for, where a server has several.

In this order: the cell it names; the home of the room in its path; the cell that knows the task, worker,
job, provider, schedule, workflow or cleanup it names; the home of the room in its body; the first cell.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from pgjobs.errors import DatabaseUnavailable, InvalidArgument
from pgjobs.queue.cells import Answers, Cells
from pgjobs.queue.server import ServerQueue

CELL_HEADER = "PgJobs-Cell"
"""Names the cell a request is for, and the one that answers it."""
CELLS_HEADER = "PgJobs-Cells"
"""All cells of the server."""
MISSING_HEADER = "PgJobs-Missing"
"""Cells that a list leaves out because they cannot be asked."""

_REMEMBERED = 100_000
_OF_ONE_CELL = ("/overview", "/throughput", "/errors", "/database", "/sweep", "/workflows")
"""What no room or id leads to one cell, and cannot be merged."""

Look = Callable[[ServerQueue, str], Awaitable[Any]]
_LOOKS: dict[str, Look] = {
    "task": lambda queue, of: queue.get_task(task_uuid=UUID(of)),
    "worker": lambda queue, of: queue.driver.call("inspect_worker", worker_id=UUID(of)),
    "job": lambda queue, of: queue.get_job(of),
    "provider": lambda queue, of: queue.get_provider(of),
    "schedule": lambda queue, of: queue.get_schedule(of),
    "cleanup": lambda queue, of: queue.get_cleanup(UUID(of)),
    "workflow": lambda queue, of: queue.get_workflow(workflow_uuid=UUID(of)),
}
_IN_PATH = {
    "task_id": "task",
    "worker_id": "worker",
    "provider_id": "provider",
    "schedule_id": "schedule",
    "run_id": "cleanup",
    "workflow_id": "workflow",
    "job_id": "job",
    "job": "job",
}


class ServerCells:
    """The cells of a server, and what leads to each."""

    def __init__(self, cells: Cells, room_cells: Mapping[str, str]) -> None:
        for room, cell in room_cells.items():
            if cell not in cells.queues:
                raise InvalidArgument(
                    f"PGJOBS_ROOM_CELLS: room {room} is to be at home in {cell}, and there is no such cell",
                    hint=f"The cells are {', '.join(cells.queues)}.",
                )
        self.cells = cells
        self._room_cells = dict(room_cells)
        self._known: dict[tuple[str, str], str] = {}

    def of_room(self, room: str) -> str:
        """The cell that is home to a room."""
        return self._room_cells.get(room, self.cells.home)

    def named_in(self, request: Request) -> str | None:
        """The cell that a request names, if any."""
        cell = request.headers.get(CELL_HEADER) or request.query_params.get("cell")
        if cell and cell not in self.cells.queues:
            raise InvalidArgument(f"There is no cell {cell[:100]}; there are {', '.join(self.cells.queues)}")
        return cell or None

    async def serving(self, request: Request, response: Response) -> ServerQueue:
        """The queue of the cell a request is for; the answer says which."""
        cell = await self._of(request)
        response.headers[CELL_HEADER] = cell
        response.headers[CELLS_HEADER] = ",".join(self.cells.queues)
        return self.cells.queues[cell]

    async def knowing(self, kind: str, of: str) -> str | None:
        """The cell that knows something by its id or name; None if all say that there is no such thing."""
        if (known := self._known.get((kind, of))) is not None:
            return known
        try:
            found: Answers[Any] = await self.cells.ask(lambda queue: _LOOKS[kind](queue, of))
        except Exception as refusal:
            if getattr(refusal, "status", None) in (404, 422):
                return None
            raise
        if not found.by_cell:
            raise DatabaseUnavailable(
                f"No cell that can be asked knows this {kind}, and these cannot: {', '.join(found.missing)}"
            )
        home = self.of_room(of.partition(":")[0])
        cell = home if home in found.by_cell else next(iter(found.by_cell))
        if ":" not in of:
            self._remember(kind, of, cell)
        return cell

    def _remember(self, kind: str, of: str, cell: str) -> None:
        # A name may be registered elsewhere tomorrow; an id stays where it is.
        while len(self._known) >= _REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[kind, of] = cell

    async def _of(self, request: Request) -> str:
        if (cell := self.named_in(request)) is not None:
            return cell
        path = request.path_params
        if "room_id" in path:
            return self.of_room(path["room_id"])
        for name, kind in _IN_PATH.items():
            of = path.get(name)
            if of is not None and (_is_id(of) or (kind == "job" and of.count(":") > 1)):
                return await self.knowing(kind, of) or self.cells.home
        if job := request.query_params.get("job"):
            return await self.knowing("job", job) or self.cells.home
        if request.url.path.endswith(_OF_ONE_CELL):
            names = ", ".join(self.cells.queues)
            raise InvalidArgument(
                f"One cell answers this: name it in the header {CELL_HEADER} or as ?cell=. There are {names}"
            )
        return await self._of_body(request)

    async def _of_body(self, request: Request) -> str:
        """A claim names its worker; a schedule its room or its job's."""
        where = request.method, request.url.path.rpartition("/v1/joblib")[2]
        if where not in (("POST", "/tasks/claim"), ("PUT", "/schedules")):
            return self.cells.home
        try:
            body = await request.json()
        except (json.JSONDecodeError, UnicodeDecodeError):
            body = None
        body = body if isinstance(body, dict) else {}
        if _is_id(worker := body.get("worker_id")):
            return await self.knowing("worker", str(worker)) or self.cells.home
        room = body.get("room") or str(body.get("job", "")).partition(":")[0]
        return self.of_room(room) if isinstance(room, str) else self.cells.home


def tell_cells(request: Request, response: Response) -> None:
    """Names the cells to somebody who is known, where there are several."""
    if (cells := cells_of(request)) is not None:
        response.headers[CELLS_HEADER] = ",".join(cells.cells.queues)


def cells_of(request: Request) -> ServerCells | None:
    """The cells of the server that is asked; None where it has one database."""
    cells: ServerCells | None = getattr(request.app.state, "pgjobs_cells", None)
    return cells


def _is_id(text: Any) -> bool:
    try:
        UUID(str(text))
    except ValueError:
        return False
    return True
