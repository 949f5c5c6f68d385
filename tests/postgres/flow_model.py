"""What durable work promises, in plain Python: tasks that wait for parents, a time or a signal."""

from __future__ import annotations

from dataclasses import dataclass, field

ENDED = ("completed", "failed", "cancelled")
WAITING = ("dependent", "held", "sleeping", "waiting")


@dataclass
class Task:
    parents: frozenset[int] = frozenset()
    on_failure: str = "cancel"
    place: str = "due"
    """What is shown of it: its phase while it is pending, else its status."""
    until: int | None = None
    signal: str | None = None
    sent: set[str] = field(default_factory=set)


@dataclass
class Model:
    now: int = 0
    tasks: dict[int, Task] = field(default_factory=dict)

    def in_place(self, *places: str) -> list[int]:
        return sorted(number for number, task in self.tasks.items() if task.place in places)

    def is_blocked(self, task: Task) -> bool:
        return any(self.tasks[parent].place not in ENDED for parent in task.parents)

    def submit(self, number: int, parents: frozenset[int], on_failure: str) -> None:
        self.tasks[number] = Task(parents, on_failure)
        if parents:
            self.tasks[number].place = "dependent"
            self._release(self.tasks[number])

    def end(self, number: int, status: str) -> None:
        """One that did not complete cancels children at once, though others of their parents may run."""
        task = self.tasks[number]
        task.place, task.until, task.signal = status, None, None
        children = [(each, child) for each, child in self.tasks.items() if number in child.parents]
        for each, child in children:
            if child.place not in ("dependent", "held"):
                continue
            if status != "completed" and child.on_failure == "cancel":
                self.end(each, "cancelled")
            else:
                self._release(child)

    def _release(self, child: Task) -> None:
        if self.is_blocked(child):
            return
        completed = all(self.tasks[parent].place == "completed" for parent in child.parents)
        if completed or child.on_failure == "run":
            child.place = "due"
        elif child.on_failure == "hold":
            child.place = "held"
        else:
            number = next(each for each, task in self.tasks.items() if task is child)
            self.end(number, "cancelled")

    def retry(self, number: int) -> None:
        """Waits again for parents that have not ended; those that failed are no hindrance any more."""
        task = self.tasks[number]
        task.place = "dependent" if self.is_blocked(task) else "due"

    def send(self, number: int, signal: str) -> bool:
        """Whether it is the first of its name."""
        task = self.tasks[number]
        is_new = signal not in task.sent
        task.sent.add(signal)
        if task.place == "waiting" and task.signal == signal:
            task.place, task.signal = "due", None
        return is_new

    def advance(self, seconds: int) -> None:
        self.now += seconds
        for task in self.tasks.values():
            if task.place == "sleeping" and task.until is not None and task.until <= self.now:
                task.place, task.until = "due", None
