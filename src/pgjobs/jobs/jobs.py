"""Jobs: handlers registered as jobs, with a submit call that keeps the handler's signature."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, overload

from pgjobs.errors import InvalidArgument
from pgjobs.jobs.context import TaskContext, running_task
from pgjobs.jobs.signatures import Signature
from pgjobs.jobs.typed import Middleware, Mode, Policy, TypedJob
from pgjobs.jobs.workflows import Workflow
from pgjobs.queue.queue import Queue
from pgjobs.upkeep.schedules import DeclaredSchedule

P = ParamSpec("P")
R = TypeVar("R")


class Jobs:
    """The jobs of a program. Name them with `@jobs.task`, run them with `Worker(queue, jobs)`."""

    def __init__(
        self,
        queue: Queue | str | None = None,
        *,
        room: str = "@global",
        category: str = "tasks",
        middleware: list[Middleware] | None = None,
    ) -> None:
        self.room = room
        self.category = category
        self.middleware = middleware or []
        self.registered: dict[str, TypedJob[..., Any]] = {}
        self.schedules: dict[tuple[str | None, str], DeclaredSchedule] = {}
        self._url = queue if isinstance(queue, str) else None
        self._queue = queue if isinstance(queue, Queue) else None
        self._known: set[str] = set()
        self._has_cells = False

    def use_cells(self) -> None:
        """Each handler's submits go to the queue its own task is from."""
        self._has_cells = True

    def use(self, queue: Queue | None) -> None:
        """Submits go to this queue from now on."""
        self._queue = queue
        self._known.clear()

    async def queue(self) -> Queue:
        """The queue tasks are submitted to, opened at first use; without a URL, the environment's."""
        if self._has_cells and (task := running_task()) is not None:
            return task.queue
        if self._queue is None:
            self.use(await Queue.connect(self._url))
        assert self._queue is not None
        return self._queue

    async def register(self) -> None:
        """Registers every job and schedule in the database, as a worker does when it starts."""
        for job in self.registered.values():
            await self.ensure_registered(job, again=True)
        for schedule in self.schedules.values():
            await schedule.register(await self.queue())

    async def close(self) -> None:
        if self._queue is not None:
            await self._queue.close()
            self.use(None)

    async def __aenter__(self) -> Self:
        await self.queue()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @overload
    def task(self, handler: Callable[Concatenate[TaskContext, P], Awaitable[R]], /) -> TypedJob[P, R]: ...
    @overload
    def task(self, handler: Callable[P, Awaitable[R]], /) -> TypedJob[P, R]: ...
    @overload
    def task(self, handler: Callable[Concatenate[TaskContext, P], R], /) -> TypedJob[P, R]: ...
    @overload
    def task(self, handler: Callable[P, R], /) -> TypedJob[P, R]: ...
    @overload
    def task(
        self,
        *,
        name: str | None = None,
        room: str | None = None,
        category: str | None = None,
        mode: Mode | None = None,
        concurrency: int | None = None,
        timeout: timedelta | None = None,
        max_attempts: int = 3,
        backoff_base: timedelta | None = None,
        backoff_cap: timedelta | None = None,
        max_age: timedelta | None = None,
        max_running: int | None = None,
        events: str | None = None,
        key: Callable[..., str | None] | None = None,
        max_running_per_key: int | None = None,
        rate: str | None = None,
        rate_per_key: str | None = None,
        fair: bool | None = None,
        ordered: bool | None = None,
        on_failure: str | None = None,
        permanent: tuple[type[BaseException], ...] = (),
    ) -> Registrar: ...

    def task(self, *handlers: Any, **options: Any) -> Any:
        """Registers a handler, with or without options: `@jobs.task` or `@jobs.task(name=…)`.

        `mode` is async for coroutine functions and thread for others; process is for
        work that keeps a core busy. `permanent` names errors that no retry would cure.

        `key` gives what a task is grouped by, of the arguments of its call; limits, rates, turns
        and order by key are those of `limit_job`.
        """
        registrar = Registrar(self, options)
        if not handlers:
            return registrar
        return registrar.register(handlers[0], sys._getframe(1).f_locals)  # noqa: SLF001

    def add(self, job: TypedJob[..., Any]) -> None:
        if job.address in self.registered:
            raise InvalidArgument(f"{job.address} is registered twice", hint="Pass name= to one of them.")
        self.registered[job.address] = job

    def add_schedule(self, schedule: DeclaredSchedule) -> None:
        if (schedule.room, schedule.name) in self.schedules:
            raise InvalidArgument(f"Schedule {schedule.name} is declared twice", hint="Name one of them.")
        self.schedules[schedule.room, schedule.name] = schedule

    def workflow(self, name: str) -> Workflow:
        """A workflow to add tasks to, and then to submit."""
        return Workflow(self, name)

    async def ensure_registered(self, job: TypedJob[..., Any], *, again: bool = False) -> None:
        """Registers a job in the database, once for each process, or again after it was retired."""
        if again or job.address not in self._known:
            await job.register(await self.queue())
            self._known.add(job.address)


class Registrar:
    """`@jobs.task(…)` with its options, waiting for the handler."""

    def __init__(self, jobs: Jobs, options: Mapping[str, Any]) -> None:
        self._jobs = jobs
        self._options = dict(options)

    @overload
    def __call__(self, handler: Callable[Concatenate[TaskContext, P], Awaitable[R]], /) -> TypedJob[P, R]: ...
    @overload
    def __call__(self, handler: Callable[P, Awaitable[R]], /) -> TypedJob[P, R]: ...
    @overload
    def __call__(self, handler: Callable[Concatenate[TaskContext, P], R], /) -> TypedJob[P, R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> TypedJob[P, R]: ...

    def __call__(self, handler: Callable[..., Any], /) -> Any:
        return self.register(handler, sys._getframe(1).f_locals)  # noqa: SLF001

    def register(self, handler: Callable[..., Any], namespace: Mapping[str, Any]) -> TypedJob[..., Any]:
        options = dict(self._options)
        is_async = inspect.iscoroutinefunction(handler)
        mode: Mode = options.pop("mode", None) or ("async" if is_async else "thread")
        if is_async != (mode == "async"):
            kind = "a coroutine" if is_async else "a plain"
            raise InvalidArgument(f"{handler.__name__} is {kind} function and cannot run in mode {mode!r}")
        job: TypedJob[..., Any] = TypedJob(
            self._jobs,
            handler,
            Signature(handler, namespace),
            room=options.pop("room", None) or self._jobs.room,
            category=options.pop("category", None) or self._jobs.category,
            name=options.pop("name", None) or handler.__name__,
            mode=mode,
            concurrency=options.pop("concurrency", None),
            timeout=options.pop("timeout", None),
            permanent=options.pop("permanent", ()),
            key=options.pop("key", None),
            policy=Policy(**options),
        )
        self._jobs.add(job)
        return job
