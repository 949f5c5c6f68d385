"""What acknowledgements say and hear, one item for each job."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from pgjobs.contrib.manager.words import required
from pgjobs.errors import (
    BY_SQLSTATE,
    InvalidArgument,
    InvalidTransition,
    LeaseLost,
    PgJobsError,
    TaskNotFound,
)
from pgjobs.queue.records import (
    Acknowledged,
    Failed,
    GenericCompleted,
    GenericFailed,
    GenericJob,
    Json,
    Renewed,
)

STATUSES = {"pending": "queued", "claimed": "processing", "running": "processing", "ignored": "quarantined"}
_NO_TOKEN = UUID(int=0)
_SAID = {
    TaskNotFound.sqlstate: ("does not exist", None),
    LeaseLost.sqlstate: (
        "is no longer leased to this worker",
        "The lease lapsed or passed to another worker; stop working on the job.",
    ),
    InvalidTransition.sqlstate: (
        "was ended under another completion_token",
        "Whoever did has reported it; there is nothing left to do.",
    ),
}
"""What acknowledgements are refused for, and what to do, in the manager's words."""


class Completed(NamedTuple):
    """A job to complete."""

    id: int
    lease_id: str
    result: Json = None
    completion_token: str | None = None


class Failure(NamedTuple):
    """A job to fail; `kind` selects the error policy of its job type, if there is one.

    `error` is a text, or the exception: then its class is the kind unless another is named.
    """

    id: int
    lease_id: str
    error: str | BaseException
    retryable: bool = True
    kind: str | None = None
    error_code: str | None = None
    error_class: str | None = None
    error_stack: str | None = None
    completion_token: str | None = None

    def told(self) -> tuple[str, str | None]:
        """Error and kind as text."""
        required(error=self.error, retryable=self.retryable)
        kind = self.error_code or self.kind or self.error_class
        if isinstance(self.error, BaseException):
            name = type(self.error).__name__
            said = str(self.error)
            text = f"{name}: {said}" if said else name
            kind = kind or name
        else:
            text = f"{self.error_class}: {self.error}" if self.error_class else self.error
        if self.error_stack:
            text = f"{text}\n{self.error_stack}"
        return _storable(text), _storable(kind)[:200] if isinstance(kind, str) else kind


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Mapping[str, Any]):
    """What became of one acknowledged job; `problem` says why nothing changed."""

    id: int
    status: str | None = None
    available_at: datetime | None = None
    leased_until: datetime | None = None
    cancel_requested: bool = False
    problem: PgJobsError | None = None
    repeated: bool = False

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dataclass_fields__)

    def __len__(self) -> int:
        return len(self.__dataclass_fields__)

    def settled(self) -> Outcome:
        """Itself, or its problem raised."""
        if self.problem is not None:
            raise self.problem
        return self


def outcome_of(item: Acknowledged | Failed | Renewed | GenericCompleted | GenericFailed) -> Outcome:
    if item.problem is not None:
        return Outcome(item.task_id, problem=_problem(item.task_id, item.problem))
    match item:
        case Renewed():
            return Outcome(
                item.task_id,
                "processing",
                leased_until=item.until,
                cancel_requested=item.cancel_requested,
            )
        case Failed():
            return Outcome(item.task_id, _word(item.status), available_at=item.run_at)
        case GenericFailed():
            return Outcome(
                item.task_id, _word(item.status), available_at=item.run_at, repeated=item.is_repeated
            )
        case GenericCompleted():
            return Outcome(item.task_id, _word(item.status), repeated=item.is_repeated)
        case _:
            return Outcome(item.task_id, _word(item.status))


def held(leases: Sequence[tuple[int, str]]) -> list[tuple[int, UUID]]:
    """Leases as the queue wants them. What is no lease's id is not the current lease either."""
    for id_, lease_id in leases:
        required(id=id_, lease_id=lease_id)
    return [(id_, _token(lease_id)) for id_, lease_id in leases]


def by_worker(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Acknowledgements given as mappings, for each worker; `job_id` is another name of `id`."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        given = dict(item)
        if "job_id" in given:
            given["id"] = given.pop("job_id")
        required(id=given.get("id"), worker_id=given.get("worker_id"), lease_id=given.get("lease_id"))
        groups.setdefault(given.pop("worker_id"), []).append(given)
    yield from groups.items()


class RememberedLeases:
    """The leases one manager acquired and has not seen end, the latest few thousand."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._leases: OrderedDict[int, tuple[str, str]] = OrderedDict()

    def remember(self, jobs: Iterable[GenericJob]) -> None:
        for job in jobs:
            self._leases[job.id] = (job.worker_id or "", job.lease_id or "")
            self._leases.move_to_end(job.id)
        while len(self._leases) > self._limit:
            self._leases.popitem(last=False)

    def of(self, job_id: int) -> tuple[str, str]:
        """Worker and lease id."""
        try:
            return self._leases[job_id]
        except KeyError:
            raise InvalidArgument(
                f"This manager does not hold job {job_id}", hint="Name its worker_id and lease_id."
            ) from None

    def forget(self, job_ids: Iterable[int]) -> None:
        for job_id in job_ids:
            self._leases.pop(job_id, None)


def _storable(text: str) -> str:
    """Text that a database can hold, whatever an exception says; what is no text is refused later."""
    if not isinstance(text, str):
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _problem(job_id: int, sqlstate: str) -> PgJobsError:
    problem = BY_SQLSTATE.get(sqlstate, PgJobsError)
    if said := _SAID.get(sqlstate):
        return problem(f"Job {job_id} {said[0]}", hint=said[1])
    return problem(f"Job {job_id}: {(problem.__doc__ or sqlstate).strip()}")


def _word(status: str | None) -> str | None:
    return STATUSES.get(status, status) if status is not None else None


def _token(lease_id: str) -> UUID:
    try:
        return UUID(str(lease_id))
    except ValueError:
        return _NO_TOKEN
