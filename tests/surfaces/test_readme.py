"""What the README shows, run as written."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from pgjobs import Queue
from tests.surfaces.cli.guides import Guide, needs
from tests.surfaces.processes import free_port

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_every_command_works_in_its_order_with_the_program_as_written(
    empty_database_url: str, tmp_path: Path
):
    needs("curl")
    changed = {"8787": str(free_port()), "postgresql://localhost/mydb": empty_database_url}
    done = Guide("../README.md", changed).run(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    said = done.stdout.splitlines()
    assert ("{'sent': True}" in said, '{"sent": true}' in said) == (True, True), said
    submitted = json.loads(next(line for line in said if line.startswith('{"id"')))
    assert submitted["job_name"] == "@global:mail:Welcome"


async def test_every_door_names_a_job_that_the_worker_serves(database_url: str, tmp_path: Path):
    [program] = [block for block in blocks("python") if "# myapp.py" in block]
    namespace: dict[str, Any] = {"__name__": "myapp"}
    exec(program, namespace)
    served = set(namespace["jobs"].registered)
    named = set(re.findall(r"@global:mail:\w+", README))
    assert named == served == {"@global:mail:Welcome"}
    async with await Queue.connect(database_url) as queue:
        connection = await asyncpg.connect(database_url)
        await connection.execute(blocks("sql")[0])
        await connection.close()
        namespace["jobs"].use(queue)
        await namespace["jobs"].register()
        assert [job.full_name for job in await queue.list_jobs()] == ["@global:mail:Welcome"]


def test_the_first_lines_install_what_the_next_line_needs():
    extras = re.search(r'pip install "pgjobs-server\[([a-z,]+)\]"\n\$ pgjobs migrate', README)
    assert extras is not None
    assert {"cli", "server"} <= set(extras[1].split(","))
    assert set(re.findall(r"`(\w+)` \(", README[: README.index("<picture>")])) | set(
        extras[1].split(",")
    ) == (EXTRAS - {"dev", "bench", "docs"})


def test_it_is_short_enough_to_be_read():
    assert len(README.splitlines()) <= 150


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
    [statements] = blocks("sql")
    connection = await asyncpg.connect(database_url)
    await connection.execute(statements)
    assert await connection.fetchval("select count(*) from pgjobs.leases") == 1
    await connection.close()
