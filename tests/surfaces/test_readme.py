"""What the README shows, run as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from pgjobs import Queue

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_program_prints_what_its_comment_says(database_url):
    program = next(block for block in blocks("python") if "asyncio.run" in block)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PGJOBS_DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("{'sent': True}\n", "")


@pytest.mark.parametrize("commit", [True, False])
async def test_a_task_submitted_in_a_transaction_exists_if_and_only_if_it_commits(database_url, commit):
    body = next(block for block in blocks("python") if "bound_to" in block)
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "mail", "Welcome")
        connection = await asyncpg.connect(database_url)
        await connection.execute("create table users (name text)")
        source = "async def example(connection, queue):\n" + "".join(
            f"    {line}\n" for line in body.splitlines()
        )
        if not commit:
            source += "        raise LookupError\n"
        namespace: dict[str, object] = {}
        exec(source, namespace)
        try:
            await namespace["example"](connection, queue)  # type: ignore[operator]
        except LookupError:
            assert not commit
        assert len(await queue.list_tasks()) == int(commit)
        assert await connection.fetchval("select count(*) from users") == int(commit)
        await connection.close()


async def test_every_statement_runs_in_psql(database_url):
    async with await Queue.connect(database_url) as queue:
        [first, console] = blocks("sql")
        connection = await asyncpg.connect(database_url)
        await connection.execute(first)
        [task] = await queue.list_tasks()
        held = await connection.fetchrow("select task_id, token from pgjobs.leases")
        assert held is not None
        await queue.fail_task((held["task_id"], held["token"]), "no disk", retryable=False)
        await connection.execute(console.replace("42", str(task.id)))
        assert (await queue.get_task(task.id)).status == "pending"
        await connection.close()
