"""Hostile rows of durable work: steps, signals, log lines, keys, workflows, by verbs or around them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import asyncpg

from tests.surfaces.hostile.rows import CATEGORY, JOB, NAMES, ROOM, TEXTS, TIMES, around_guards

SHARED = f"{ROOM}:{CATEGORY}:Shared"


@dataclass
class DurableScene:
    """Where those rows are."""

    tasks: dict[str, int] = field(default_factory=dict)
    workflows: list[int] = field(default_factory=list)


async def stage_durable(connection: asyncpg.Connection) -> DurableScene:
    scene = DurableScene()
    await connection.execute("select pgjobs.register_job($1, $2, 'Shared', keep => true)", ROOM, CATEGORY)
    await connection.execute(
        "select pgjobs.limit_job($1, fair => true, max_running_per_key => 2, rate_per_key => '1000/s')",
        SHARED,
    )
    await _names(connection, scene)
    await _texts(connection, scene)
    await _times(connection, scene)
    return scene


async def _names(connection: asyncpg.Connection, scene: DurableScene) -> None:
    """As keys, and as what workflows and their tasks are called."""
    for name, text in NAMES.items():
        number = await connection.fetchval("select id from pgjobs.submit_task($1, key => $2)", SHARED, text)
        scene.tasks[f"key: {name}"] = number
        entries = [
            {"name": text, "job": JOB, "payload": {"n": 1}},
            {"name": "second", "job": JOB, "after": [text], "on_failure": "hold"},
        ]
        rows = await connection.fetch(
            "select * from pgjobs.submit_workflow($1, $2::jsonb, submitter => $1)", text, json.dumps(entries)
        )
        scene.workflows.append(rows[0]["workflow_id"])
        scene.tasks[f"named: {name}"] = rows[1]["task_id"]


async def _texts(connection: asyncpg.Connection, scene: DurableScene) -> None:
    """As results, payloads of signals, log lines, progress of before, and names where any text fits."""
    for name, text in TEXTS.items():
        await _everything(connection, scene, f"said: {name}", text, "now")


async def _times(connection: asyncpg.Connection, scene: DurableScene) -> None:
    for moment in TIMES:
        await _everything(connection, scene, f"kept: {moment}", moment, moment)


async def _everything(
    connection: asyncpg.Connection, scene: DurableScene, name: str, text: str, moment: str
) -> None:
    number = scene.tasks[name] = await connection.fetchval("select id from pgjobs.submit_task($1)", JOB)
    parent = await connection.fetchval("select id from pgjobs.submit_task($1)", JOB)
    short, value = text[:200], json.dumps([text])
    async with around_guards(connection):
        for place, result in enumerate(("[1e5000]", value, "[" * 5000 + "]" * 5000), 1):
            await connection.execute(
                "insert into pgjobs.steps (task_id, number, name, kind, result, is_done, until, total_bytes, saved_at) "
                f"values ($1, $2, $3, 'step', $4::text::jsonb, true, '{moment}', 1, '{moment}')",
                number, place, f"{place} {short}"[:200], result,
            )  # fmt: skip
            await connection.execute(
                "insert into pgjobs.signals (task_id, name, payload, sent_at, sender) "
                f"values ($1, $2, $3::text::jsonb, '{moment}', $4)",
                number, f"{place} {short}"[:200], result, text,
            )  # fmt: skip
            await connection.execute(
                "insert into pgjobs.task_log (task_id, attempt, number, at, level, message, total_bytes) "
                f"values ($1, 1, $2, '{moment}', 'error', $3, 1)",
                number, place, text,
            )  # fmt: skip
        await connection.execute("insert into pgjobs.kept_progress values ($1, '[1e5000]')", number)
        await connection.execute(
            "insert into pgjobs.dependencies (task_id, after_id, kind, name, place, on_failure) "
            "values ($1, $2, 'parent', $3, 1, 'cancel')",
            number, parent, short,
        )  # fmt: skip
