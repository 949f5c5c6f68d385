"""How each kind of handler is called: in the event loop, in a thread, in another process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from pgjobs.errors import PayloadInvalid
from pgjobs.jobs.context import TaskContext
from pgjobs.jobs.typed import Middleware, TypedJob
from pgjobs.worker.processes import ProcessPool

Call = Callable[[TaskContext], Coroutine[Any, Any, Any]]


class PayloadMisfit(PayloadInvalid):
    """The payload does not fit the handler, so no attempt would."""


def call_for(
    job: TypedJob[..., Any], threads: ThreadPoolExecutor, processes: ProcessPool, middleware: list[Middleware]
) -> Call:
    """A function that makes the coroutine that runs one task of the job."""
    if job.mode == "async":
        call = _in_loop(job)
    elif job.mode == "thread":
        call = _in_thread(job, threads)
    else:
        call = _in_process(job, processes)
    for layer in reversed(middleware):
        call = _wrapped(layer, call)
    return call


def _in_loop(job: TypedJob[..., Any]) -> Call:
    handler, takes_task = job.handler, job.signature.takes_task

    def call(task: TaskContext) -> Coroutine[Any, Any, Any]:
        arguments = _arguments(job, task)
        coroutine: Coroutine[Any, Any, Any] = (
            handler(task, **arguments) if takes_task else handler(**arguments)
        )
        return coroutine

    return call


def _in_thread(job: TypedJob[..., Any], threads: ThreadPoolExecutor) -> Call:
    async def call(task: TaskContext) -> Any:
        arguments = _arguments(job, task)
        given = (task,) if job.signature.takes_task else ()
        context = copy_context()
        task.loop = asyncio.get_running_loop()
        result, error = await _uninterrupted(
            task.loop.run_in_executor(threads, _caught, lambda: context.run(job.handler, *given, **arguments))
        )
        if error is not None:
            raise error
        return result

    return call


def _caught(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """The result or the error: futures would take some errors for their own end, and not take others."""
    try:
        return call(), None
    except BaseException as error:
        return None, error


def _in_process(job: TypedJob[..., Any], processes: ProcessPool) -> Call:
    place = (job.handler.__module__, job.handler.__qualname__)

    async def call(task: TaskContext) -> Any:
        return await processes.run(place, _arguments(job, task))

    return call


def _wrapped(layer: Middleware, inner: Call) -> Call:
    async def call(task: TaskContext) -> Any:
        return await layer(task, lambda: inner(task))

    return call


def _arguments(job: TypedJob[..., Any], task: TaskContext) -> dict[str, Any]:
    try:
        return job.signature.arguments(task.payload)
    except PayloadInvalid as error:
        raise PayloadMisfit(error.message, detail=error.detail) from error


async def _uninterrupted(future: asyncio.Future[Any]) -> Any:
    """Waits to the end: a thread cannot be stopped, it can only look at `task.cancelled`."""
    while True:
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if future.done():
                return future.result()
