"""The systems we measure ourselves against, each in an environment of its own."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.peers.environments import Environment, Node, OwnPython, Python


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
    is_http: bool = False
    """A server rather than a worker: takes part in the HTTP contest alone."""


OURS = Peer("pgjobs", OwnPython(), "play_pgjobs.py", drained=100_000)

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
    Peer(
        "zndraw-joblib",
        Python(
            "zndraw-joblib",
            ("zndraw-joblib==0.1.7", "sqlalchemy<2.1", "asyncpg", "uvicorn", "httptools", "uvloop"),
        ),
        "zndraw_joblib_app.py",
        120,
        is_http=True,
    ),
)
