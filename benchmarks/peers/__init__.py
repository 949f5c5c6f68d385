"""The systems we measure ourselves against, each in an environment of its own."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.peers.environments import Environment, Node, OwnPython, Python, Revision


@dataclass(frozen=True)
class Peer:
    name: str
    environment: Environment
    program: str
    """Its player, in `programs`."""
    drained: int
    """Tasks worked through in a full turn: a few seconds for each, whatever its speed."""
    submits_many: bool = True
    has_idle_worker: bool = True
    needs_redis: bool = False
    only: str | None = None
    """The one contest it takes part in, where that is not its own kind of thing in all others."""

    def takes_part(self, contest: str) -> bool:
        return self.only == (contest if contest in _OF_THEIR_OWN else None)


OURS = Peer("pgjobs", OwnPython(), "play_pgjobs.py", drained=100_000)

_OF_THEIR_OWN = ("http", "workflows", "before")
"""Contests whose peers take part in no other."""

BEFORE = Peer("pgjobs before", Revision("before", ("51fbf67",)), "play_pgjobs.py", 100_000, only="before")
"""As it was before tasks could wait for anything."""

PEERS = (
    Peer("Graphile Worker", Node("graphile-worker", ("graphile-worker@0.18",)), "play_graphile.mjs", 100_000),
    Peer("PgQueuer", Python("pgqueuer", ("pgqueuer[asyncpg]==1.6.*", "uvloop")), "play_pgqueuer.py", 30_000),
    Peer("pg-boss", Node("pg-boss", ("pg-boss@12.35",)), "play_pgboss.mjs", 60_000),
    Peer(
        "pgmq",
        Python("pgmq", ("pgmq==1.1.4", "asyncpg", "uvloop")),
        "play_pgmq.py",
        60_000,
        has_idle_worker=False,
    ),
    Peer(
        "Procrastinate", Python("procrastinate", ("procrastinate==3.10.*",)), "play_procrastinate.py", 1_500
    ),
    Peer(
        "SAQ on Redis",
        Python("saq", ("saq[redis]==0.26.*", "hiredis", "typing-extensions", "uvloop")),
        "play_saq.py",
        4_000,
        submits_many=False,
        has_idle_worker=False,
        needs_redis=True,
    ),
    Peer("Awa", Python("awa", ("awa-pg==0.6.*",)), "play_awa.py", 20_000),
    Peer(
        "zndraw-joblib",
        Python(
            "zndraw-joblib",
            ("zndraw-joblib==0.1.7", "sqlalchemy<2.1", "asyncpg", "uvicorn", "httptools", "uvloop"),
        ),
        "zndraw_joblib_app.py",
        120,
        only="http",
    ),
    Peer("DBOS", Python("dbos", ("dbos==3.3.*",)), "play_dbos.py", 400, only="workflows"),
    Peer(
        "Absurd",
        Python("absurd", ("absurd-sdk==0.5.1", "absurdctl==0.5.1", "psycopg[binary]")),
        "play_absurd.py",
        1_000,
        only="workflows",
    ),
    BEFORE,
)
