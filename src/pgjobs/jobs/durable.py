"""What a handler may do to survive its worker: named steps, waits, signals and calls of other tasks."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, get_type_hints, overload
from uuid import UUID

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from pgjobs.drivers.documents import Encoded, encode
from pgjobs.errors import InvalidArgument, JobNotFound, LeaseLost, PayloadInvalid, PgJobsError
from pgjobs.queue.records import Called, Json, Step
from pgjobs.queue.run_sync import run

if TYPE_CHECKING:
    from pgjobs.jobs.typed import Payload, TypedJob
    from pgjobs.queue.queue import Queue

P = ParamSpec("P")
R = TypeVar("R")
_PAGE = 500


class Suspended(BaseException):
    """Ends a handler whose task waits now; its worker has nothing more to do. Let it pass."""


class CallFailed(PgJobsError):
    """A task that was called has failed, or was cancelled; `called` tells how."""

    def __init__(self, called: Called) -> None:
        why = called.error or called.reason or "no reason given"
        super().__init__(f"Task {called.called_id} of {called.called_job} is {called.status}: {why}")
        self.called = called


@dataclass(frozen=True)
class StepRetry:
    """How a step that raises is repeated within its attempt."""

    attempts: int = 3
    delay: timedelta = timedelta(seconds=1)
    factor: float = 2.0


@dataclass
class StepTransaction:
    """A step and its effect in one transaction: use `connection` unless `is_done`; set `result`."""

    is_done: bool
    connection: Any = None
    result: Json = None


class DurableTask:
    """The part of `TaskContext` that outlives an attempt.

    Names are the task's own: a name used twice in one attempt is refused, so loops number their rounds.
    """

    __slots__ = ("_names", "_steps", "is_suspended")

    if TYPE_CHECKING:
        id: int
        token: UUID
        job: Any
        queue: Queue
        loop: asyncio.AbstractEventLoop | None
        interruption: Any

    is_suspended: bool
    _steps: dict[str, Step] | None
    _names: set[str]

    @overload
    async def step(
        self,
        name: str,
        function: Callable[..., Awaitable[R]],
        /,
        *args: Any,
        retry: StepRetry | None = None,
        **kwargs: Any,
    ) -> R: ...

    @overload
    async def step(
        self,
        name: str,
        function: Callable[..., R],
        /,
        *args: Any,
        retry: StepRetry | None = None,
        **kwargs: Any,
    ) -> R: ...

    async def step(
        self,
        name: str,
        function: Callable[..., Any],
        /,
        *args: Any,
        retry: StepRetry | None = None,
        **kwargs: Any,
    ) -> Any:
        """Runs a function once for all attempts: a later attempt reads its result back."""
        kept = await self._kept(name)
        if kept is not None:
            return _result(function, kept.result)
        value = await _tried(lambda: _called(function, args, kwargs), retry)
        await self._save(self.queue, name, _document(name, function, value))
        return value

    def step_sync(
        self,
        name: str,
        function: Callable[..., R],
        /,
        *args: Any,
        retry: StepRetry | None = None,
        **kwargs: Any,
    ) -> R:
        """The same from a synchronous handler, in its thread."""
        kept = self._wait(self._kept(name))
        if kept is not None:
            return cast("R", _result(function, kept.result))
        value = _tried_sync(lambda: function(*args, **kwargs), retry)
        self._wait(self._save(self.queue, name, _document(name, function, value)))
        return value

    @asynccontextmanager
    async def step_transaction(self, name: str) -> AsyncIterator[StepTransaction]:
        """A transaction in which effect and step commit together: exactly once, or not at all."""
        kept = await self._kept(name)
        if kept is not None:
            yield StepTransaction(is_done=True, result=kept.result)
            return
        async with self.queue.driver.transaction() as connection:
            step = StepTransaction(is_done=False, connection=connection)
            yield step
            await self._save(self.queue.bound_to(connection), name, step.result)

    @contextmanager
    def step_transaction_sync(self, name: str, connection: Any) -> Iterator[StepTransaction]:
        """The same from a synchronous handler, in the transaction of a connection that it commits."""
        kept = self._wait(self._kept(name))
        step = StepTransaction(kept is not None, connection, None if kept is None else kept.result)
        yield step
        if not step.is_done:
            run(self._save(self.queue.bound_to(connection), name, step.result))

    async def sleep(self, name: str, duration: timedelta) -> None:
        """Gives worker and slot back for so long, counted from the first time it is reached."""
        kept = await self._kept(name)
        if kept is None or not kept.is_done:
            await self._flush_log()
            self._go_on_or_leave(
                await self._held(self.queue.suspend_task(self.id, self.token, name, delay=duration))
            )

    def sleep_sync(self, name: str, duration: timedelta) -> None:
        self._wait(self.sleep(name, duration))

    async def wait_for_signal(self, name: str, *, timeout: timedelta | None = None) -> Json:
        """The payload of the task's signal of that name; None when the time was over before one came."""
        kept = await self._kept(name)
        if kept is not None and kept.is_done:
            return kept.result
        await self._flush_log()
        return self._go_on_or_leave(
            await self._held(self.queue.suspend_task(self.id, self.token, name, delay=timeout, signal=name))
        )

    def wait_for_signal_sync(self, name: str, *, timeout: timedelta | None = None) -> Json:
        return self._wait(self.wait_for_signal(name, timeout=timeout))

    async def call(self, name: str, job: TypedJob[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """What another task returns, submitted once and awaited without a slot; raises `CallFailed`."""
        return (await self.call_all(name, job, [job.payload(*args, **kwargs)]))[0]

    def call_sync(self, name: str, job: TypedJob[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._wait(self.call(name, job, *args, **kwargs))

    async def call_all(self, name: str, job: TypedJob[..., R], payloads: Sequence[Payload]) -> list[R]:
        """What many tasks return, in order of payloads; raises `CallFailed` for the first that did not."""
        await self._kept(name)
        await self._flush_log()
        try:
            called = await self._call(name, job, payloads)
        except JobNotFound:
            await job.register(self.queue)
            called = await self._call(name, job, payloads)
        if any(each.is_suspended for each in called):
            raise self._leaving()
        failed = next((each for each in called if each.status != "completed"), None)
        if failed is not None:
            raise CallFailed(failed)
        return [job.signature.result(each.result) for each in called]

    def call_all_sync(self, name: str, job: TypedJob[..., R], payloads: Sequence[Payload]) -> list[R]:
        return self._wait(self.call_all(name, job, payloads))

    async def parents(self) -> dict[str, Any]:
        """The results of the tasks this one ran after, by name; None for those that did not complete."""
        jobs = self.job.jobs.registered
        parents = await self.queue.list_parents(self.id)
        return {
            each.name: jobs[each.job].signature.result(each.result)
            if each.status == "completed" and each.job in jobs
            else each.result
            for each in parents
        }

    def parents_sync(self) -> dict[str, Any]:
        return self._wait(self.parents())

    async def kept_progress(self) -> Json:
        """What was last reported, in this attempt or in an earlier one."""
        return (await self.queue.get_task(self.id)).progress

    def kept_progress_sync(self) -> Json:
        return self._wait(self.kept_progress())

    async def _flush_log(self) -> None:
        raise NotImplementedError

    async def _kept(self, name: str) -> Step | None:
        """The step of that name, if an earlier attempt came so far; refuses a name that was used already."""
        if name in self._names:
            raise InvalidArgument(
                f"Step {name!r} is used twice in one attempt", hint="Name each round of a loop."
            )
        self._names.add(name)
        if self._steps is None:
            steps: list[Step] = []
            while (
                len(page := await self.queue.list_steps(self.id, after=steps[-1].number if steps else None))
                == _PAGE
            ):
                steps += page
            self._steps = {step.name: step for step in [*steps, *page]}
        return self._steps.get(name)

    async def _save(self, queue: Queue, name: str, document: Json) -> None:
        saved = await self._held(queue.save_step(self.id, self.token, name, document))
        if not saved.is_new:
            raise InvalidArgument(
                f"Step {name!r} was saved meanwhile", detail="Another holder of the lease was first."
            )

    async def _call(self, name: str, job: TypedJob[..., Any], payloads: Sequence[Payload]) -> list[Called]:
        options = job.options
        return await self._held(
            self.queue.call_tasks(
                self.id, self.token, name, job.address, payloads,
                priority=options.priority, max_attempts=options.max_attempts,
            )
        )  # fmt: skip

    async def _held(self, saying: Awaitable[R]) -> R:
        try:
            return await saying
        except LeaseLost:
            # Not interrupt(): the cancellation would hit a rollback.
            self.interruption = "lost"
            raise

    def _go_on_or_leave(self, answer: Any) -> Json:
        if answer.is_suspended:
            raise self._leaving()
        return answer.result

    def _leaving(self) -> Suspended:
        self.is_suspended = True
        return Suspended()

    def _wait(self, saying: Coroutine[Any, Any, R]) -> R:
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(saying, self.loop).result()


async def _called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(*args, **kwargs)
    value = await asyncio.to_thread(function, *args, **kwargs)
    return await value if inspect.isawaitable(value) else value


async def _tried(call: Callable[[], Awaitable[Any]], retry: StepRetry | None) -> Any:
    pause = retry.delay.total_seconds() if retry else 0.0
    for _ in range(retry.attempts - 1 if retry else 0):
        try:
            return await call()
        except Exception:
            await asyncio.sleep(pause)
            pause *= retry.factor if retry else 1.0
    return await call()


def _tried_sync(call: Callable[[], R], retry: StepRetry | None) -> R:
    pause = retry.delay.total_seconds() if retry else 0.0
    for _ in range(retry.attempts - 1 if retry else 0):
        try:
            return call()
        except Exception:
            time.sleep(pause)
            pause *= retry.factor if retry else 1.0
    return call()


@lru_cache(maxsize=1024)
def _adapter(function: Callable[..., Any]) -> TypeAdapter[Any] | None:
    try:
        returned = get_type_hints(inspect.unwrap(function)).get("return", Any)
    except (NameError, TypeError):
        return None
    return None if returned in (Any, type(None)) else TypeAdapter(returned)


def _document(name: str, function: Callable[..., Any], value: Any) -> Encoded:
    adapter = _adapter(function)
    try:
        return Encoded(encode(value if adapter is None else adapter.dump_python(value, mode="json")))
    except PydanticSerializationError as error:
        raise PayloadInvalid(f"The result of step {name!r} is not JSON", detail=str(error)) from error


def _result(function: Callable[..., Any], document: Json) -> Any:
    adapter = _adapter(function)
    return document if adapter is None else adapter.validate_python(document)
