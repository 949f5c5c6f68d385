"""Which instances of the models are checked, and what each seeded mistake breaks."""

from __future__ import annotations

from tests.model.spin import Instance

SMALL = (
    Instance("task", ("RETRIES=0", "RELEASES=0")),
    Instance("task", ("CANCELS=0", "RELEASES=0")),
    Instance("edges", ("PARENTS=1", "PASSES=1")),
    Instance("edges", ("RESOLVERS=1", "PASSES=1")),
)

LARGE = (
    Instance("task"),
    Instance("task", ("LIMIT=0",)),
    Instance("task", ("TASKS=3", "RETRIES=0", "RELEASES=0", "CANCELS=0", "LIMIT=2")),
    Instance("task", ("WORKERS=3", "RETRIES=0", "RELEASES=0", "CANCELS=0", "LIMIT=2")),
    Instance("edges", ("PARENTS=1",)),
    Instance("edges", ("RESOLVERS=1",)),
    Instance("edges", ("PARENTS=1", "CHILDREN=2", "RESOLVERS=1")),
    Instance("edges", ("PASSES=1",)),
)

_TOKEN = "token[t]==mine"
_LAPSED = "!(lapsed[t])"
_PLACES = "ready[t]+scheduled[t]"
_BLOCKED = "(submitted&(1<<c))"

SEEDED = (
    (Instance("task", ("RETRIES=0", "NO_TOKEN_CHECK")), _TOKEN),
    (Instance("task", ("RETRIES=0", "NO_END_CHECK")), _LAPSED),
    (Instance("task", ("RETRIES=0", "NO_RECOUNT")), "running<="),
    (Instance("task", ("RETRIES=0", "LIMIT=0", "NO_ROW_LOCK")), _PLACES),
    (Instance("task", ("RETRIES=0", "NO_SWEEP")), "invalid end state"),
    (Instance("task", ("RETRIES=0", "RELEASES=0", "REVIVES_OUTCOME")), _PLACES),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "NOTE_BY_SUBMIT")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "LOOK_FIRST")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "REPEATABLE_READ")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "STAMP_BY_OLD_XID")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "STAMP_BY_XMAX")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "STAMP_OWN_NOTE")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "GATE_AFTER_COUNT")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "MARKS_TAKEN_LATE")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "MARK_WITHOUT_LOCK")), _BLOCKED),
    (Instance("edges", ("PARENTS=1", "PASSES=1", "NO_NOTE")), _BLOCKED),
)
