"""What goes over the wire of steps, waits, signals and workflows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field

from pgjobs.queue.records import Step, Suspension, Workflow, WorkflowTask
from pgjobs.server.api.schemas import JSON_NUMBER, Name, Wire
from pgjobs.server.console_api.schemas import Redacted

OnFailure = Literal["cancel", "run", "hold"]
Whole = Annotated[int, Field(ge=0, le=32_767), JSON_NUMBER]
Attempts = Annotated[int, Field(ge=1, le=32_767), JSON_NUMBER]
Wait = Annotated[float, Field(ge=0, le=3_155_760_000), JSON_NUMBER]


class EntryIn(Wire):
    """A task of a workflow."""

    job: str = Field(min_length=1, max_length=700, description="In full: room:category:name.")
    name: Name | None = Field(default=None, description="What the workflow calls it; else task-N.")
    payload: dict[str, Any] = Field(default_factory=dict)
    after: list[Name] = Field(
        default_factory=list, max_length=10_000, description="Names of earlier tasks here, or ids of tasks."
    )
    on_failure: OnFailure | None = Field(default=None, description="If one of those does not complete.")
    priority: Whole | None = None
    max_attempts: Attempts | None = None

    def entry(self) -> dict[str, Any]:
        """As the verb takes it; what is left out is not in it."""
        return {name: value for name, value in self.model_dump().items() if value not in (None, [])}


class WorkflowIn(Wire):
    """Tasks to submit together."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "nightly",
                    "tasks": [
                        {"name": "fetch", "job": "@global:reports:Fetch"},
                        {"name": "merge", "job": "@global:reports:Merge", "after": ["fetch"]},
                    ],
                }
            ]
        }
    )

    name: Name
    tasks: list[EntryIn] = Field(min_length=1, max_length=10_000)


class WorkflowOut(Wire):
    """A workflow; its status is what its tasks say."""

    id: UUID
    number: int
    name: Redacted
    room: str
    status: str
    tasks: int
    running: int
    completed: int
    failed: int
    cancelled: int
    held: int
    created_at: datetime
    ended_at: datetime | None
    submitter: Redacted | None

    @classmethod
    def of(cls, flow: Workflow) -> Self:
        fields = {name: getattr(flow, name) for name in cls.model_fields if name not in ("id", "number")}
        return cls(id=flow.uuid, number=flow.id, **fields)


class WorkflowSubmitted(WorkflowOut):
    """A new workflow, with the ids of its tasks by name."""

    task_ids: dict[str, UUID]


class Workflows(Wire):
    """A page of workflows; `next` is the `cursor` of the next page, null at the end."""

    items: list[WorkflowOut]
    next: str | None


class WorkflowTaskOut(Wire):
    """A task of a workflow; its result is at the task."""

    id: UUID
    number: int
    name: Redacted
    job: str
    status: str
    phase: str | None
    error: Redacted | None
    reason: Redacted | None

    @classmethod
    def of(cls, task: WorkflowTask) -> Self:
        return cls(
            id=task.task_uuid,
            number=task.task_id,
            name=task.name,
            job=task.job,
            status=task.status,
            phase=task.phase,
            error=task.error,
            reason=task.reason,
        )


class WorkflowTasks(Wire):
    """A page of tasks; `next` is the `after` of the next page, null at the end."""

    items: list[WorkflowTaskOut]
    next: int | None


class Node(Wire):
    """A task in the graph of its workflow."""

    id: UUID
    number: int
    name: Redacted
    job: str
    status: str
    phase: str | None
    attempt: int
    started_at: datetime | None
    ended_at: datetime | None
    until: datetime | None = Field(description="When it is due, if it waits for a time.")
    signal: str | None = Field(description="The signal it waits for.")
    error: Redacted | None


class Graph(WorkflowOut):
    """A workflow as a graph: `edges` are pairs of numbers, parent and child."""

    nodes: list[Node]
    edges: list[tuple[int, int]]
    left_off: int = Field(description="How many of its tasks are not among the nodes.")

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        nodes = [{**node, "id": node["uuid"], "number": node["id"]} for node in document["nodes"]]
        return cls(**{**document, "id": document["uuid"], "number": document["id"], "nodes": nodes})


class StepOut(Wire):
    """A named piece of a handler whose result is kept, or the wait that the task is in."""

    number: int
    name: Redacted
    kind: Literal["step", "sleep", "signal", "call"]
    is_done: bool
    result: Any
    until: datetime | None
    saved_at: datetime

    @classmethod
    def of(cls, step: Step) -> Self:
        return cls.model_validate(step, from_attributes=True)


class Steps(Wire):
    """Steps in order; `next` is the `after` of the next page, null at the end."""

    items: list[StepOut]
    next: int | None


class StepIn(Wire):
    """The result of a step."""

    name: Name
    result: Any = None


class StepKept(Wire):
    """What is kept: the first result of that name."""

    number: int
    is_new: bool
    kept: Any


class SuspendIn(Wire):
    """What to wait for: a time, a signal, or whichever comes first."""

    name: Name
    delay_seconds: Wait | None = Field(default=None, description="Counted from the first time it is asked.")
    signal: Name | None = None

    @property
    def delay(self) -> timedelta | None:
        return None if self.delay_seconds is None else timedelta(seconds=self.delay_seconds)


class Suspended(Wire):
    """Whether the lease was given back; if not, the wait is over, with the signal's payload."""

    is_suspended: bool
    until: datetime | None
    result: Any

    @classmethod
    def of(cls, suspension: Suspension) -> Self:
        return cls.model_validate(suspension, from_attributes=True)


class CallIn(Wire):
    """Tasks to submit in a named step, and to wait for."""

    name: Name
    job: str = Field(min_length=1, max_length=700)
    payloads: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)
    priority: Whole | None = None
    max_attempts: Attempts | None = None


class CalledOut(Wire):
    """A task that was called and has ended."""

    number: int
    job: str | None
    status: str
    result: Any
    error: str | None
    reason: str | None


class CallsOut(Wire):
    """Whether the lease was given back; if not, what was called has ended."""

    is_suspended: bool
    items: list[CalledOut]


class SignalIn(Wire):
    """A named fact."""

    name: Name
    payload: Any = None


class SignalOut(Wire):
    """The first signal of a name counts: a second one is not new."""

    is_new: bool
    sent_at: datetime


class Kin(Wire):
    """A task that comes before or after another."""

    id: UUID
    number: int
    name: Redacted
    kind: Literal["parent", "call"]
    on_failure: OnFailure
    job: str | None
    status: str
    phase: str | None
    created_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None


class SomeKin(Wire):
    """The first hundred of them, and how many there are."""

    total: int
    items: list[Kin]


class SignalSeen(Wire):
    """A signal that was sent to a task."""

    name: Redacted
    payload: Any
    sent_at: datetime
    sender: Redacted | None


class OfWorkflow(Wire):
    """The workflow of a task, and what it calls the task."""

    id: UUID
    number: int
    name: Redacted
    task: Redacted


class FlowOut(Wire):
    """What a task has to do with others and with time."""

    steps: list[StepOut] = Field(description="The newest two hundred.")
    step_count: int
    signals: list[SignalSeen]
    waits_for: Literal["time", "signal", "calls", "parents", "held"] | None
    signal: str | None
    until: datetime | None
    workflow: OfWorkflow | None
    parents: SomeKin
    called: SomeKin
    children: SomeKin
