"""The table of hostile rows: whatever SQL can be brought to store, by verbs or around them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import asyncpg

ROOM = "lab"
CATEGORY = "tests"
JOB = f"{ROOM}:{CATEGORY}:Work"
NEIGHBOURS = 40

_CONTROLS = "".join(map(chr, range(1, 32))) + "\x7f" + "".join(map(chr, range(0x80, 0xA0)))
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
_ANSI = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\x9b31m"
TEXTS = {
    "control characters": _CONTROLS,
    "bidi controls": f"user{_BIDI}txt.exe",
    "ANSI escapes": _ANSI,
    "a script": "</script><script>alert(1)</script>",
    "SQL": "'; drop table pgjobs.tasks; --",
    "markup": "[red]bold[/red] [link=http://x]y[/link]",
    "format directives": "%s %(a)s {0} {a.b} $1 \\1 %n",
    "line ends": "a\r\nb\u2028c\u2029d\x85e",
    "not characters": "\ufffe\uffff\U0010ffff\ufeff",
    "combining": "e" + "\u0301" * 500,
    "a surrogate pair": "\U0001f4a9",
    "looks like NaN": "NaN",
    "looks like null": "null",
    "one word of 100 kB": "x" * 100_000,
}


def _nested(levels: int) -> str:
    return "[" * levels + "]" * levels


PAYLOADS: Mapping[str, str] = {
    # numbers
    "1e5000": '{"a": 1e5000}',
    "-1e5000": '{"a": -1e5000}',
    "10^5000 in digits": f'{{"a": 1{"0" * 5000}}}',
    "1e-5000": '{"a": 1e-5000}',
    "1e100000": '{"a": 1e100000}',
    "beyond floats, with a fraction": f'{{"a": 1{"0" * 400}.5}}',
    "an integer of 4300 digits": f'{{"a": {"1" * 4300}}}',
    "many of them": f'{{"a": [{", ".join(["1e5000"] * 50)}]}}',
    "a long number far down": '{"a": {"b": [{"c": [1, 2, {"d": 1e5000}]}]}}',
    "NaN as text": '{"a": ["NaN", "Infinity", "-Infinity", "1e5000"]}',
    "a negative zero": '{"a": -0.0}',
    # shapes
    "null": "null",
    "true": "true",
    "a number": "7",
    "a text": '"text"',
    "an empty text": '""',
    "an array": "[1, 2, 3]",
    "empty": "{}",
    "an empty name": '{"": 1}',
    "64 levels": f'{{"a": {_nested(63)}}}',
    "150 levels": f'{{"a": {_nested(150)}}}',
    "250 levels": f'{{"a": {_nested(250)}}}',
    "900 levels": f'{{"a": {_nested(900)}}}',
    "5000 levels": f'{{"a": {_nested(5000)}}}',
    "5000 levels of objects": '{"a":' * 5000 + "1" + "}" * 5000,
    "a thousand members": json.dumps({f"m{number}": number for number in range(1000)}),
    "a name of 100 kB": json.dumps({"x" * 100_000: 1}),
    "one word of 1 MB": json.dumps({"a": "x" * 1_000_000}),
    "more than may be": json.dumps({"a": "y" * 1_200_000}),
    # texts
    **{f"payload: {name}": json.dumps({"a": text}) for name, text in TEXTS.items()},
    **{f"name: {name}": json.dumps({text: 1}) for name, text in TEXTS.items() if len(text) < 1000},
}
UNREADABLE = frozenset(
    {"1e5000", "-1e5000", "10^5000 in digits", "1e100000", "beyond floats, with a fraction", "many of them"}
    | {"a long number far down", "250 levels", "900 levels", "5000 levels", "5000 levels of objects"}
)
"""Payloads that no handler can be given."""
REFUSED = UNREADABLE | {"1e-5000", "150 levels", "more than may be"}
"""Payloads that submit refuses."""

TIMES = (
    "infinity",
    "-infinity",
    "294276-12-31",
    "10000-01-01 00:00:00+00",
    "9999-12-31 23:59:59.999999+00",
    "0001-01-01 00:00:00+00",
    "0001-12-31 BC",
    "4714-11-24 00:00:00+00 BC",
)

NAMES = {
    "RTL": "\u05e9\u05dc\u05d5\u05dd",
    "bidi": "a\u202eb",
    "quotes": "o'\"`\\",
    "a slash": "a/b",
    "dots": "..",
    "a dot": ".",
    "percent": "100%25%2e%",
    "markup": "[red]<b>&amp;",
    "ANSI": "\x1b[31mred",
    "lines": "a\nb\tc",
    "200 characters": "n" * 200,
    "200 wide ones": "\U0001f4a9" * 200,
    "spaces": "  a  ",
    "a question": "a?b=c#d;e",
    "SQL": "'; drop table x; --",
    "plus": "a+b c",
}


@dataclass
class Scene:
    """Where the rows are."""

    hostile: dict[str, int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    neighbours: list[int] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    rooms: list[str] = field(default_factory=list)

    @property
    def quantity(self) -> int:
        return len(self.hostile)


class Intruder:
    """A superuser who writes around verbs and guards."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def submit(self, payload: str, **labels: Any) -> int:
        """By the verb."""
        named = "".join(f", {name} => ${place}" for place, name in enumerate(labels, 3))
        number: int = await self._connection.fetchval(
            f"select id from pgjobs.submit_task($1, $2::text::jsonb{named})", JOB, payload, *labels.values()
        )
        return number

    async def insert(self, payload: str = "{}", created_at: str | None = None, **home: str) -> int:
        """Around it: a body, and a row where its status says; times are SQL."""
        created = f"'{created_at}'::timestamptz" if created_at else "pgjobs._now()"
        number: int = await self._connection.fetchval(
            "insert into pgjobs.tasks (job_id, room, payload, priority, max_attempts, created_at) "
            f"select id, room, $1::text::jsonb, 5, 3, {created} from pgjobs.jobs where full_name = $2 returning id",
            payload,
            JOB,
        )
        (table, columns), *_ = list(home.items()) or [("ready", "")]
        await getattr(self, f"_in_{table}")(number, columns)
        return number

    async def run(self, sql: str, *values: Any) -> None:
        await self._connection.execute(sql, *values)

    async def _in_ready(self, number: int, due_at: str) -> None:
        due = f"'{due_at}'::timestamptz" if due_at else "t.created_at"
        await self.run(
            "insert into pgjobs.ready (job_id, priority, due_at, task_id, is_again) "
            f"select t.job_id, 5, {due}, t.id, {bool(due_at)} from pgjobs.tasks as t where t.id = $1",
            number,
        )

    async def _in_scheduled(self, number: int, run_at: str) -> None:
        await self.run(
            "insert into pgjobs.scheduled (task_id, run_at, job_id, priority) "
            f"select t.id, '{run_at}', t.job_id, 5 from pgjobs.tasks as t where t.id = $1",
            number,
        )

    async def _in_leases(self, number: int, moment: str) -> None:
        await self.run(
            "insert into pgjobs.leases (task_id, job_id, token, holder, attempt, due_at, claimed_at, until, started_at, "
            "progress, cancel_requested_at, cancel_reason) "
            f"select t.id, t.job_id, gen_random_uuid(), 'somebody', 1, '{moment}', '{moment}', '{moment}', '{moment}', "
            f"'[1e5000]', '{moment}', $2 from pgjobs.tasks as t where t.id = $1",
            number,
            TEXTS["control characters"],
        )

    async def _in_outcomes(self, number: int, moment: str) -> None:
        await self.run(
            "insert into pgjobs.outcomes (task_id, job_id, status, attempt, token, holder, claimed_at, started_at, "
            "ended_at, result) "
            f"select t.id, t.job_id, 'completed', 1, gen_random_uuid(), 'somebody', '{moment}', '{moment}', "
            f"'{moment}', '[1e5000]' from pgjobs.tasks as t where t.id = $1",
            number,
        )


async def stage(connection: asyncpg.Connection) -> Scene:
    """Everything at once, with innocent tasks of the same job before, between and after."""
    scene = Scene()
    intruder = Intruder(connection)
    await connection.execute(
        "select pgjobs.register_job($1, $2, 'Work', max_attempts => 3, keep => true)", ROOM, CATEGORY
    )
    await _neighbours(intruder, scene, NEIGHBOURS // 2)
    await _payloads(intruder, connection, scene)
    await _texts(intruder, connection, scene)
    await _names(intruder, connection, scene)
    await _times(intruder, connection, scene)
    await _neighbours(intruder, scene, NEIGHBOURS // 2)
    return scene


async def _neighbours(intruder: Intruder, scene: Scene, quantity: int) -> None:
    for _ in range(quantity):
        scene.neighbours.append(await intruder.submit(f'{{"n": {len(scene.neighbours)}}}'))


async def _payloads(intruder: Intruder, connection: asyncpg.Connection, scene: Scene) -> None:
    for name, payload in PAYLOADS.items():
        try:
            scene.hostile[name] = await intruder.submit(payload)
        except asyncpg.PostgresError as error:
            if error.sqlstate not in ("PJ012", "PJ013"):
                raise
            scene.refused.add(name)
            async with around_guards(connection):
                scene.hostile[name] = await intruder.insert(payload)


async def _texts(intruder: Intruder, connection: asyncpg.Connection, scene: Scene) -> None:
    """Texts as errors, results, reasons, messages and details of events."""
    for name, text in TEXTS.items():
        async with around_guards(connection):
            number = await intruder.insert(json.dumps({"a": text[:1000]}), outcomes="now")
            scene.hostile[f"ended: {name}"] = number
            await intruder.run(
                "update pgjobs.outcomes set status = 'failed', result = null, error = $2, error_kind = $3, reason = $2 "
                "where task_id = $1",
                number,
                text,
                text[:200],
            )
            await intruder.run(
                "insert into pgjobs.attempts (task_id, attempt, status, token, ended_at, error, error_kind, reason) "
                "values ($1, 1, 'failed', gen_random_uuid(), pgjobs._now(), $2, $3, $2)",
                number,
                text,
                text[:200],
            )
            await intruder.run(
                "insert into pgjobs.events (at, kind, task_id, job_id, room, status, actor, message, fields) "
                "select pgjobs._now(), 'failed', t.id, t.job_id, t.room, 'failed', $3, $2, "
                "jsonb_build_object('error_kind', $3::text, 'n', 1e5000, 'text', $2::text) "
                "from pgjobs.tasks as t where t.id = $1",
                number,
                text,
                text[:200],
            )


async def _names(intruder: Intruder, connection: asyncpg.Connection, scene: Scene) -> None:
    for name, text in NAMES.items():
        scene.hostile[f"labels: {name}"] = await intruder.submit(
            "{}", submitter=text, owner=text, project=text, tags=[text, text], idempotency_key=text
        )
        await intruder.run("select pgjobs.register_worker($1)", text)
        await intruder.run("select pgjobs.register_job('lab', 'tests', $1, keep => true)", text)
        scene.jobs.append(f"lab:tests:{text}")
        await intruder.run("select pgjobs.submit_task($1)", f"lab:tests:{text}")
        await intruder.run("select pgjobs.register_schedule($1, $2, cron => '@yearly')", text, JOB)
        try:
            await intruder.run("select pgjobs.register_job($1, $2, 'Work', keep => true)", text, text)
        except asyncpg.PostgresError as error:
            if error.sqlstate not in ("PJ009", "PJ010"):
                raise
        else:
            scene.rooms.append(text)
            scene.jobs.append(f"{text}:{text}:Work")
            await intruder.run("select pgjobs.submit_task($1)", f"{text}:{text}:Work")


async def _times(intruder: Intruder, connection: asyncpg.Connection, scene: Scene) -> None:
    for moment in TIMES:
        async with around_guards(connection):
            for name, home in {
                "created": {},
                "due": {"ready": moment},
                "scheduled": {"scheduled": moment},
                "leased": {"leases": moment},
                "ended": {"outcomes": moment},
            }.items():
                created = moment if name == "created" else None
                scene.hostile[f"{name}: {moment}"] = await intruder.insert(created_at=created, **home)
            number = await intruder.insert(created_at=moment, outcomes=moment)
            scene.hostile[f"everything: {moment}"] = number
            await intruder.run(
                "insert into pgjobs.attempts (task_id, attempt, status, token, claimed_at, started_at, ended_at, error) "
                f"values ($1, 1, 'failed', gen_random_uuid(), '{moment}', '{moment}', '{moment}', 'x')",
                number,
            )
            await intruder.run(
                "insert into pgjobs.events (at, kind, task_id, job_id, room, status, message, fields) "
                f"select '{moment}', 'retrying', t.id, t.job_id, t.room, 'pending', 'x', "
                f"jsonb_build_object('run_at', '{moment}'::timestamptz) from pgjobs.tasks as t where t.id = $1",
                number,
            )
            await intruder.run(
                "insert into pgjobs.workers (name, registered_at, last_heartbeat_at) "
                f"values ('at ' || $1, '{moment}', '{moment}')",
                moment,
            )
            await intruder.run(
                "insert into pgjobs.uncounted (job_id, measure, at, task_ids, claimed_at) "
                f"select t.job_id, 'completed', '{moment}', array[t.id], array['{moment}'::timestamptz] "
                "from pgjobs.tasks as t where t.id = $1",
                number,
            )
            await intruder.run(
                "insert into pgjobs.jobs (room, category, name, created_at, paused_at, archived_at, keep, schema) "
                f"values ('lab', 'tests', 'at ' || $1, '{moment}', '{moment}', '{moment}', true, "
                """'{"maximum": 1e5000}')""",
                moment,
            )
            await intruder.run(
                "insert into pgjobs.schedules (room, name, job_id, cron, timezone, payload, priority, missed, overlap, "
                "created_at, paused_at, last_run_at) "
                f"select 'lab', 'at ' || $1, j.id, '@yearly', 'UTC', '[1e5000]', 5, 'once', true, '{moment}', "
                f"'{moment}', '{moment}' from pgjobs.jobs as j where j.full_name = $2",
                moment,
                JOB,
            )
            for missed, every in (("once", "'1 hour'"), ("each", "'1 hour'"), ("skip", "null")):
                await intruder.run(
                    "insert into pgjobs.schedules (room, name, job_id, cron, every, timezone, payload, priority, missed, "
                    "overlap, created_at, next_run_at) "
                    f"select 'lab', $3 || ' at ' || $1, j.id, case when {every} is null then '@yearly' end, {every}, "
                    f"'UTC', '{{}}', 5, $3, true, '{moment}', '{moment}' from pgjobs.jobs as j where j.full_name = $2",
                    moment,
                    JOB,
                    missed,
                )
            await intruder.run(
                "insert into pgjobs.schedule_runs (schedule_id, due_at, reason) "
                f"select s.id, '{moment}', 'none' from pgjobs.schedules as s where s.full_name = 'lab:at ' || $1",
                moment,
            )
            await intruder.run(
                "insert into pgjobs.api_tokens (token_hash, user_id, name, created_at, expires_at) "
                f"values (sha256($1::text::bytea), 'ada', $1, '{moment}', '{moment}')",
                moment,
            )


class around_guards:  # noqa: N801
    """A transaction in which no trigger fires."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._transaction = connection.transaction()

    async def __aenter__(self) -> None:
        await self._transaction.start()
        await self._connection.execute("set local session_replication_role = replica")

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        await (self._transaction.commit() if kind is None else self._transaction.rollback())
