"""The thing people run: claims tasks and hands them to their handlers."""

from __future__ import annotations

from pgjobs.worker.cells import CellsWorker
from pgjobs.worker.worker import Worker

__all__ = ["CellsWorker", "Worker"]
