"""The verbs in the manager's words, and what they take."""

from __future__ import annotations

from pgjobs.drivers import Driver
from pgjobs.queue._generated.verbs.manager import ManagerVerbs


class GenericCalls(ManagerVerbs):
    """The verbs in the manager's words."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver


def owner_text(owner: str | int | None) -> str | None:
    """An owner as it is stored: numbers are text."""
    return None if owner is None else str(owner)
