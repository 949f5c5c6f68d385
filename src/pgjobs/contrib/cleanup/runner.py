"""Runs cleaners: a bounded batch, then sleep until something is due or somebody asks."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from uuid import uuid4

from pgjobs.contrib.cleanup.cleaners import Cleaner, CleanupError, Outcome, Run
from pgjobs.contrib.cleanup.local_dir import LocalDirCleaner
from pgjobs.drivers.redaction import redact_document, redact_line
from pgjobs.errors import PgJobsError
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import CleanupLease

log = logging.getLogger("pgjobs.maintenance")

BATCH = 20
RECONCILE_BATCH = 200
LONGEST_SLEEP = 3600.0
SHORTEST_SLEEP = 1.0
MARK_AGAIN = 300.0
"""Marks are swept when they are ten minutes old."""


def default_cleaners() -> dict[str, Cleaner]:
    from pgjobs.contrib.cleanup.webdav import WebDavCleaner

    return {"local_dir": LocalDirCleaner(), "webdav": WebDavCleaner()}


class CleanupRunner:
    """Cleans up after runs that did not complete. As many as you like may run at once.

    With a `node_id` it cares for the targets of that node only. Without one it is the hub: it cares for
    the hub's targets, and for WebDAV targets of every node, which are reached from anywhere. Directories of
    other nodes are never its business.
    """

    def __init__(
        self,
        queue: Queue,
        cleaners: Mapping[str, Cleaner] | None = None,
        *,
        node_id: str | None = None,
        batch: int = BATCH,
    ) -> None:
        self._queue = queue.operators
        self._cleaners = dict(default_cleaners() if cleaners is None else cleaners)
        self._node_id = node_id
        self._batch = batch
        self._holder = f"cleaner {socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"[:200]
        self._woken = asyncio.Event()
        self._mark: int | None = None

    async def run(self) -> None:
        """Ticks until cancelled. Errors are logged and tried again a minute later."""
        stop = await self._queue.driver.listen("wake", self._notice)
        try:
            while True:
                try:
                    handled = await self.tick()
                    await self._sleep(is_busy=handled == self._batch)
                except Exception as error:
                    log.error("cannot clean up: %s", redact_line(f"{type(error).__name__}: {error}"))
                    await asyncio.sleep(60)
        finally:
            stop()
            if self._mark is not None:
                with suppress(Exception):
                    await self._queue.unmark_waiting(self._mark)

    async def tick(self) -> int:
        """Finds runs that need cleaning and tries a batch of those due, each once; how many it tried."""
        if created := await self._queue.reconcile_cleanups(RECONCILE_BATCH):
            log.info("%d incomplete runs are to be cleaned up", created)
        for tried in range(self._batch):
            if not await self._try_one():
                return tried
        return self._batch

    async def _try_one(self) -> bool:
        # One at a time: each has the whole time of its lease.
        leases = await self._queue.claim_cleanups(self._holder, node_id=self._node_id)
        for lease in leases:
            await self._attempt(lease)
        return bool(leases)

    async def _attempt(self, lease: CleanupLease) -> None:
        began = time.monotonic()
        try:
            outcome = await self._clean(lease)
        except CleanupError as error:
            await self._fail(lease, error.kind, str(error))
        except asyncio.CancelledError:
            # Nobody's fault: whoever comes next begins again.
            with suppress(Exception):
                await asyncio.shield(self._queue.release_task(lease.held))
            raise
        except Exception as error:
            await self._fail(lease, "unknown", f"{type(error).__name__}: {error}")
        else:
            details = {**outcome.details, "duration_ms": round((time.monotonic() - began) * 1000)}
            result = await asyncio.to_thread(redact_document, {"outcome": outcome.outcome, **details})
            await self._acknowledge(lease, self._queue.complete_task(lease.held, result))
            log.info("run %s of %s: %s", lease.run_id, lease.job, outcome.outcome)

    async def _clean(self, lease: CleanupLease) -> Outcome:
        kind = str(lease.target.get("type"))
        cleaner = self._cleaners.get(kind)
        if cleaner is None:
            raise CleanupError("config", f"There is no cleaner for targets of type {kind}")
        return await cleaner.clean(Run(str(lease.run_id), lease.job, lease.node, lease.target))

    async def _fail(self, lease: CleanupLease, kind: str, message: str) -> None:
        told = redact_line(message) or kind
        log.warning("run %s of %s: %s error: %s", lease.run_id, lease.job, kind, told)
        await self._acknowledge(lease, self._queue.fail_task(lease.held, told, kind=kind))

    async def _acknowledge(self, lease: CleanupLease, call: object) -> None:
        try:
            await call  # type: ignore[misc]
        except PgJobsError as error:
            # The lease has passed on, or the task is gone; what was removed stays removed.
            log.warning("run %s: %s", lease.run_id, redact_line(error.message))

    async def _sleep(self, *, is_busy: bool) -> None:
        """Until something is due, somebody asks, or an hour has passed. A mark does not last that long."""
        ends = time.monotonic() + LONGEST_SLEEP
        while (left := ends - time.monotonic()) > 0:
            self._woken.clear()
            waiting = await self._queue.await_cleanups(node_id=self._node_id, previous=self._mark)
            self._mark = waiting.mark
            # Whoever asked while the mark was being made has not seen it.
            if not is_busy and await self._try_one():
                return
            due = LONGEST_SLEEP if waiting.due_in is None else waiting.due_in.total_seconds()
            if due == 0:
                # A full batch leaves some for the next. Else it is not ours to take: never spin.
                due = SHORTEST_SLEEP if is_busy else 60.0
            pause = min(left, max(due, SHORTEST_SLEEP), MARK_AGAIN)
            try:
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            except TimeoutError:
                if due <= pause:
                    return
            else:
                return

    def _notice(self, payload: str) -> None:
        if not payload or str(self._mark) in payload.split(","):
            self._woken.set()
