"""How many instructions a verb takes: counted by callgrind, so the same however busy the machine is.

A single-user Postgres runs a statement a number of times; the difference between two numbers is what
the calls between them took, without the server's start. `first` is the first call of a session, which
compiles and plans; `warm` is one of many.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.database import HERE, PAYLOAD
from pgjobs import Queue
from pgjobs.schema.binaries import find_binaries, unprivileged_account
from pgjobs.schema.embedded import EmbeddedPostgres

COMMITTED = HERE / "results" / "instructions.json"
GROWTH = 1.03
_WARM, _MORE = 12, 10


def _claim(quantity: int, job: int = 1) -> str:
    arguments = f"holder => 'bench', lease => '1 minute', job_ids => array[{job}], quantity => {quantity}"
    return f"pgjobs.claim_tasks({arguments})"


def _cycle(quantity: int) -> str:
    claimed = "select array_agg(task_id) as ids, array_agg(token) as tokens, count(payload) as n"
    completed = "lateral pgjobs.complete_tasks(c.ids, c.tokens)"
    return f"select count(*) from ({claimed} from {_claim(quantity)}) as c, {completed}"


def _submit(quantity: int, job: int = 1) -> str:
    payloads = f"array_fill('{PAYLOAD}'::jsonb, array[{quantity}])"
    return f"select count(*) from pgjobs.submit_tasks('{job}', {payloads})"


# Scan floors expire after a second, which a busy machine reaches after fewer calls than a quiet one:
# while instructions are counted, their clock stands still.
_STILL_CLOCK = (
    "create or replace function pgjobs._clock_ms() returns bigint language sql volatile "
    "return date_part('epoch', clock_timestamp())::bigint * 0 + 1767225600000"
)
_FLOOR_SUBMIT = f"insert into floor_queue (payload) select unnest(array_fill('{PAYLOAD}'::jsonb, array[1]))"
_FLOOR_CYCLE = (
    "with taken as materialized (update floor_queue set is_claimed = true where id = any (array("
    "select id from floor_queue where not is_claimed order by id limit 1 for update skip locked))"
    " returning id, payload) select count(payload) from taken"
)
_FLOOR_DELETE = (
    "delete from floor_queue where id = any (array(select id from floor_queue where is_claimed limit 1))"
)


@dataclass(frozen=True)
class Case:
    """Statements that make one call, and what one call is divided by."""

    name: str
    statements: tuple[str, ...]
    quantity: int = 1


# As a worker does that has room for more than one.
_WORKER = "00000000-0000-8000-8000-000000000001"
_WORK = (
    "select count(*) from (select array_agg(task_id) as ids, array_agg(token) as tokens, count(payload) as n"
    f" from pgjobs.claim_tasks(worker_id => '{_WORKER}', lease => '1 minute', job_ids => array[2],"
    " quantity => 33, start => true, durable => false)) as c,"
    " lateral pgjobs.complete_tasks(c.ids, c.tokens)"
)

CASES = (
    Case("submit one", (_submit(1),)),
    Case("submit one by submit_task", (f"select id from pgjobs.submit_task('1', '{PAYLOAD}'::jsonb)",)),
    Case("claim and complete one", (_cycle(1),)),
    Case("claim nothing", (f"select count(*) from {_claim(1, job=2)}",)),
    Case("submit one, and a worker's round", (_submit(1, job=2), _WORK)),
    Case("submit a hundred, each", (_submit(100),), 100),
    Case("claim and complete a hundred, each", (_cycle(100),), 100),
    Case("the floor: insert one", (_FLOOR_SUBMIT,)),
    Case("the floor: claim and delete one", (_FLOOR_CYCLE, _FLOOR_DELETE)),
    Case("the floor: a function that inserts one", (f"select floor_submit('{PAYLOAD}'::jsonb)",)),
)


@dataclass(frozen=True)
class Count:
    """Instructions of one call, in thousands."""

    first: float
    warm: float


class Counter:
    """Runs statements in copies of one prepared data directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._prepared = directory / "prepared" / "data"
        self._account = unprivileged_account()

    def prepare(self) -> str:
        """A queue with two jobs and a backlog, and the floor's; the version of the server."""
        with EmbeddedPostgres(self._prepared.parent, durable=False) as server:
            return asyncio.run(_fill(server.url))

    def count(self, case: Case) -> Count:
        start, first, warm, more = (self._total(case, calls) for calls in (0, 1, _WARM, _WARM + _MORE))
        thousands = 1000 * case.quantity
        return Count(round((first - start) / thousands, 1), round((more - warm) / _MORE / thousands, 1))

    def _total(self, case: Case, calls: int) -> int:
        with self._copy() as data:
            out = data.parent / "callgrind.out"
            command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"]
            command += [str(find_binaries() / "postgres"), "--single", "-D", str(data), "-F", "postgres"]
            run = subprocess.run(
                command,
                input="\n".join(_script(case, calls)) + "\n",
                capture_output=True,
                text=True,
                check=True,
                cwd="/",
                **self._unprivileged(),
            )
            if "ERROR" in run.stderr:
                raise RuntimeError(run.stderr)
            found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
            if found is None:
                raise RuntimeError("callgrind counted nothing")
            return int(found[1])

    def _unprivileged(self) -> dict[str, Any]:
        account = self._account
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self._directory) as place:
            data = Path(place) / "data"
            subprocess.run(["cp", "-a", str(self._prepared), str(data)], check=True)
            if self._account:
                shutil.chown(place, self._account.pw_uid, self._account.pw_gid)
            yield data


def _script(case: Case, calls: int) -> Iterator[str]:
    if calls:
        yield from (f"prepare call_{place} as {sql};" for place, sql in enumerate(case.statements))
    for _ in range(calls):
        yield from (f"execute call_{place};" for place in range(len(case.statements)))


async def _fill(url: str) -> str:
    async with await Queue.connect(url) as queue:
        await queue.migrate()
    connection = await asyncpg.connect(url)
    try:
        await connection.execute((HERE / "pgbench" / "floor.sql").read_text())
        for name in ("busy", "idle"):
            await connection.execute("select pgjobs.register_job('@global', 'bench', $1)", name)
        await connection.execute(
            "insert into pgjobs.workers (id, name, registered_at, last_heartbeat_at)"
            f" values ('{_WORKER}', 'bench', now(), 'infinity')"
        )
        await connection.execute(f"insert into pgjobs.worker_jobs values ('{_WORKER}', 2)")
        await connection.execute(_submit(5000))
        await connection.execute(
            f"insert into floor_queue (payload) select '{PAYLOAD}' from generate_series(1, 5000)"
        )
        await connection.execute(_STILL_CLOCK)
        await connection.execute("vacuum analyze")
        return str(await connection.fetchval("show server_version"))
    finally:
        await connection.close()


def measure(names: Sequence[str] = ()) -> tuple[str, dict[str, Count]]:
    """The server's version, and the counts of the cases (all, unless some are named)."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as place:
        Path(place).chmod(0o711)
        counter = Counter(Path(place))
        version = counter.prepare()
        return version, {case.name: counter.count(case) for case in CASES if not names or case.name in names}


def grown(found: dict[str, Count], committed: dict[str, dict[str, float]]) -> list[str]:
    """What takes noticeably more instructions than it was committed with."""
    return [
        f"{name}, {which}: {now:,.1f} thousand instructions instead of {before[which]:,.1f}"
        for name, count in found.items()
        if (before := committed.get(name))
        for which, now in asdict(count).items()
        if now > before[which] * GROWTH
    ]


def main() -> int:
    """Prints the counts; fails when one has grown, unless `--write` commits to it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/instructions.json")
    parser.add_argument("cases", nargs="*", help="names of cases; all of them without any")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.stderr.write("valgrind is not installed\n")
        return 2
    version, found = measure(options.cases)
    for name, count in found.items():
        print(f"{name:40} first {count.first:12,.1f}   warm {count.warm:10,.1f}   thousand instructions")
    if options.write:
        document = {"server": version, "counts": {name: asdict(count) for name, count in found.items()}}
        COMMITTED.write_text(json.dumps(document, indent=2) + "\n")
        return 0
    committed: dict[str, Any] = {"server": version, "counts": {}}
    if COMMITTED.exists():
        committed = json.loads(COMMITTED.read_text())
    if committed["server"] != version:
        print(f"The committed counts are of Postgres {committed['server']}; this is {version}: not compared.")
        return 0
    problems = grown(found, committed["counts"])
    for problem in problems:
        sys.stderr.write(f"Grown: {problem}\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
