"""One job with its handler: how it is submitted, and with which policy it is registered."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, Literal, NewType, ParamSpec, TypeVar

from pgjobs.drivers.connect import driver_for_connection
from pgjobs.errors import InvalidArgument, JobNotFound
from pgjobs.jobs.context import TaskContext
from pgjobs.jobs.handles import TaskHandle
from pgjobs.jobs.signatures import Signature
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Registration, Submitted
from pgjobs.queue.run_sync import run
from pgjobs.settings import Settings
from pgjobs.upkeep.schedules import DeclaredSchedule

if TYPE_CHECKING:
    from pgjobs.jobs.jobs import Jobs

P = ParamSpec("P")
R = TypeVar("R")
Mode = Literal["async", "thread", "process"]
Middleware = Callable[[TaskContext, Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Runs around a handler: do something, `return await call_next()`, do something."""
UniqueFor = Literal["waiting", "unfinished"]
Payload = NewType("Payload", object)
"""A payload that was checked against its handler's signature."""

_LARGEST_BATCH = 10_000


class KeyedPayload(dict[str, Any]):
    """A payload that knows the key its call was given."""

    key: str | None = None


@dataclass(frozen=True)
class Policy:
    """What the database does about failed attempts and old tasks; None keeps what is registered."""

    max_attempts: int = 3
    backoff_base: timedelta | None = None
    backoff_cap: timedelta | None = None
    max_age: timedelta | None = None
    max_running: int | None = None
    events: str | None = None
    max_running_per_key: int | None = None
    rate: str | None = None
    rate_per_key: str | None = None
    fair: bool | None = None
    ordered: bool | None = None
    on_failure: str | None = None


@dataclass(frozen=True)
class Options:
    """How a task is submitted; None leaves it to the job or the database."""

    room: str | None = None
    priority: int | None = None
    delay: timedelta | None = None
    available_at: datetime | None = None
    max_attempts: int | None = None
    submitter: str | None = None
    owner: str | None = None
    project: str | None = None
    tags: Sequence[str] | None = None
    idempotency_key: str | None = None
    key: str | None = None
    unique: UniqueFor | timedelta | None = None
    unique_by: str | None = None
    unique_fields: Sequence[str] | None = None
    debounce: timedelta | None = None
    max_wait: timedelta | None = None
    replace: Sequence[str] | None = None
    connection: Any = None

    def of_verb(self) -> dict[str, Any]:
        """The arguments of the submit verb; keys and a connection are not among them."""
        return {name: getattr(self, name) for name in _OF_VERB}

    def of_unique(self) -> dict[str, Any]:
        """What makes a task unique, as arguments of the verb; nothing where it is not."""
        given = {name: getattr(self, name) for name in _OF_UNIQUE if getattr(self, name) is not None}
        if isinstance(self.unique, timedelta):
            return given | {"unique_while": "period", "unique_period": self.unique}
        return given | ({} if self.unique is None else {"unique_while": self.unique})


_OF_SCHEDULE = ("room", "priority", "max_attempts", "owner", "project", "tags")
_OF_UNIQUE = ("unique_by", "unique_fields", "debounce", "max_wait", "replace")
_OF_VERB = tuple(
    field.name
    for field in fields(Options)
    if field.name not in ("idempotency_key", "key", "connection", "unique", *_OF_UNIQUE)
)


class TypedJob(Generic[P, R]):
    """A job and its handler. Calling it runs the handler here; `submit` has a worker run it."""

    def __init__(
        self,
        jobs: Jobs,
        handler: Callable[..., Any],
        signature: Signature,
        *,
        room: str,
        category: str,
        name: str,
        mode: Mode,
        concurrency: int | None,
        timeout: timedelta | None,
        permanent: tuple[type[BaseException], ...],
        policy: Policy,
        key: Callable[..., str | None] | None = None,
    ) -> None:
        if concurrency is not None and concurrency < 1:
            raise InvalidArgument(f"{name}: concurrency must be at least 1")
        if timeout is not None and timeout <= timedelta(0):
            raise InvalidArgument(f"{name}: timeout must be longer than zero")
        if mode == "process":
            _require_importable(handler, signature)
        self.jobs = jobs
        self.handler = handler
        self.signature = signature
        self.room, self.category, self.name = room, category, name
        self.address = f"{room}:{category}:{name}"
        self.mode = mode
        self.concurrency = concurrency
        self.timeout = timeout
        self.permanent = permanent
        self.policy = policy
        self.key = key
        self.options = Options()

    def __repr__(self) -> str:
        return f"<job {self.address}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the handler here and now, as the plain function it is."""
        return self.handler(*args, **kwargs)

    def with_options(self, **options: Any) -> TypedJob[P, R]:
        """The same job, submitted with other `Options`; `connection` submits in that transaction."""
        changed = copy.copy(self)
        try:
            changed.options = replace(self.options, **options)
        except TypeError as error:
            raise InvalidArgument(f"with_options: {error}") from None
        return changed

    def schedule(
        self,
        name: str | None = None,
        *,
        cron: str | None = None,
        every: timedelta | None = None,
        timezone: str | None = None,
        payload: Payload | None = None,
        missed: str | None = None,
        overlap: bool | None = None,
    ) -> None:
        """Has it run by itself, by cron or every so often; workers register that when they start.

        Its tasks are submitted with the options of `with_options`, as far as they can be repeated.
        """
        options = {name: getattr(self.options, name) for name in _OF_SCHEDULE}
        self.jobs.add_schedule(
            DeclaredSchedule(
                name=name or self.name,
                job=self.address,
                cron=cron,
                every=every,
                timezone=timezone,
                payload=self.signature.payload((), {}) if payload is None else payload,
                missed=missed,
                overlap=overlap,
                **options,
            )
        )

    def payload(self, *args: P.args, **kwargs: P.kwargs) -> Payload:
        """The checked payload of a call, for `submit_many`."""
        payload = self.signature.payload(args, kwargs)
        if self.key is None:
            return Payload(payload)
        keyed = KeyedPayload(payload)
        keyed.key = _checked_key(self.name, self.key(*args, **kwargs))
        return Payload(keyed)

    def _keys(self, payloads: Sequence[Payload]) -> list[str | None] | None:
        """What tasks are grouped by, one for each payload; None where the job has no keys."""
        if self.options.key is not None:
            return [self.options.key] * len(payloads)
        keys = [getattr(payload, "key", None) for payload in payloads]
        return keys if any(key is not None for key in keys) else None

    async def submit(self, *args: P.args, **kwargs: P.kwargs) -> TaskHandle[R]:
        if unique := self.options.of_unique():
            return await self._submit_unique(self.payload(*args, **kwargs), unique)
        key = self.options.idempotency_key
        keys = None if key is None else [key]
        return (await self.submit_many([self.payload(*args, **kwargs)], idempotency_keys=keys))[0]

    def submit_sync(self, *args: P.args, **kwargs: P.kwargs) -> int:
        """Submits from code without an event loop, in the transaction of `with_options(connection=…)`.

        For psycopg, SQLAlchemy and Django connections; gives the task's id. The job must be
        registered already, by a worker or by `jobs.register()`.
        """
        if self.options.connection is None:
            raise InvalidArgument("submit_sync needs with_options(connection=…)")
        if self.options.of_unique():
            raise InvalidArgument("submit_sync submits no unique tasks", hint="Call Queue.submit_unique.")
        key = self.options.idempotency_key
        driver = driver_for_connection(self.options.connection, schema=Settings().database_schema)
        submitting = Queue(driver).submit_tasks(
            self.address,
            payloads := [self.payload(*args, **kwargs)],
            idempotency_keys=None if key is None else [key],
            keys=self._keys(payloads),
            **self.options.of_verb(),
        )
        return run(submitting)[0].task_id

    async def submit_many(
        self, payloads: Iterable[Payload], *, idempotency_keys: Sequence[str | None] | None = None
    ) -> list[TaskHandle[R]]:
        """Submits many tasks in a few round trips; all or nothing only inside a transaction of yours."""
        if self.options.of_unique():
            raise InvalidArgument("Unique tasks are submitted one by one", hint="Use submit.")
        queue = await self.jobs.queue()
        await self.jobs.ensure_registered(self)
        pending = list(payloads)
        submitted: list[Submitted] = []
        for start in range(0, len(pending), _LARGEST_BATCH):
            batch = slice(start, start + _LARGEST_BATCH)
            keys = None if idempotency_keys is None else idempotency_keys[batch]
            submitted += await self._submit(queue, pending[batch], keys)
        decode = self.signature.result
        return [TaskHandle(queue, item.task_id, is_new=item.is_new, decode=decode) for item in submitted]

    async def _submit_unique(self, payload: Payload, unique: dict[str, Any]) -> TaskHandle[R]:
        queue = await self.jobs.queue()
        await self.jobs.ensure_registered(self)
        connection = self.options.connection
        keys = self._keys([payload])
        submitted = await (queue if connection is None else queue.bound_to(connection)).submit_unique(
            self.address,
            payload,
            idempotency_key=self.options.idempotency_key,
            key=keys[0] if keys else None,
            **self.options.of_verb(),
            **unique,
        )
        return TaskHandle(
            queue,
            submitted.task_id,
            is_new=submitted.is_new,
            decode=self.signature.result,
            outcome=submitted.outcome,
        )

    async def _submit(
        self, queue: Queue, payloads: list[Payload], keys: Sequence[str | None] | None
    ) -> list[Submitted]:
        options: dict[str, Any] = {
            "idempotency_keys": keys,
            "keys": self._keys(payloads),
            **self.options.of_verb(),
        }
        if self.options.connection is not None:
            return await queue.bound_to(self.options.connection).submit_tasks(
                self.address, payloads, **options
            )
        try:
            return await queue.submit_tasks(self.address, payloads, **options)
        except JobNotFound:
            # Retired by an operator, or with the last worker linked to it.
            await self.jobs.ensure_registered(self, again=True)
            return await queue.submit_tasks(self.address, payloads, **options)

    async def register(self, queue: Queue) -> Registration:
        return await queue.register_job(
            self.room,
            self.category,
            self.name,
            schema=self.signature.schema(),
            replace_schema=True,
            keep=True,
            **asdict(self.policy),
        )


def _checked_key(name: str, key: Any) -> str | None:
    if key is not None and not isinstance(key, str):
        raise InvalidArgument(f"{name}: key must give text or None", detail=f"Got {key!r:.200}.")
    return key


def _require_importable(handler: Callable[..., Any], signature: Signature) -> None:
    """Another process finds a handler by its name, so it must have one at the top of a module."""
    if handler.__name__ == "<lambda>" or "<locals>" in handler.__qualname__:
        raise InvalidArgument(
            f"{handler.__qualname__} cannot run in another process",
            detail="It is not at the top level of a module, so it cannot be pickled.",
            hint="Move it to the top level, or use mode='thread'.",
        )
    if signature.takes_task:
        raise InvalidArgument(
            f"{handler.__qualname__} cannot take the running task into another process",
            hint="Take its arguments only, or use mode='thread'.",
        )
