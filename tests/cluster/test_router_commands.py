"""`pgjobs cluster`, run as people run it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from pgjobs.cli.app import app
from tests.cluster.router import behind, has_plproxy, node_of

JOB = "@global:tests:Work"


@pytest.fixture
def urls(databases):
    with databases.new() as coordinator, databases.new() as one, databases.new() as two:
        if not asyncio.run(has_plproxy(coordinator)):
            pytest.skip("the server has no PL/Proxy: apt-get install postgresql-15-plproxy")
        yield coordinator, one, two


def run(*arguments: str, expected: int = 0) -> str:
    done = CliRunner().invoke(app, ["cluster", *arguments])
    assert done.exit_code == expected, done.output
    return done.stdout + done.stderr if arguments[0] != "status" else done.stdout


async def submitted(url: str, quantity: int) -> list[int]:
    async with behind(url) as queue:
        await queue.register_job(*JOB.split(":"))
        return [(await queue.submit_task(JOB)).task_id for _ in range(quantity)]


async def completed(url: str) -> int:
    async with behind(url) as queue:
        leases = await queue.claim_tasks(
            holder="me", lease=timedelta(hours=1), in_room="@global", quantity=100
        )
        return len(await queue.complete_tasks(leases))


def test_one_queue_with_tasks_becomes_a_cluster_grows_and_shrinks(urls):
    coordinator, one, two = urls
    CliRunner().invoke(app, ["migrate", "--url", one])
    old = asyncio.run(submitted(one, 3))
    assert {node_of(task_id) for task_id in old} == {0}
    run("init", "--url", coordinator, "--node", f"0={one}", "--with-password")
    # Repeated, as after an upgrade.
    assert "one node" in run("init", "--url", coordinator, "--node", f"0={one}", "--with-password")
    assert asyncio.run(submitted(coordinator, 1)) == [4]
    assert "512 of 1,024 slots" in run("add", "--url", coordinator, "--node", f"7={two}", "--with-password")
    ids = asyncio.run(submitted(coordinator, 20))
    assert {node_of(task_id) for task_id in ids} == {0, 7}
    told = run("status", "--url", coordinator)
    rows = [line.split("\t") for line in told.splitlines()]
    assert rows[0][:3] == ["node", "answers", "unfinished"]
    assert [row[:2] for row in rows[1:]] == [["0", "yes"], ["7", "yes"]]
    assert sum(int(row[2]) for row in rows[1:]) == 24
    assert "password=***" in told
    assert "takes nothing new" in run("drain", "7", "--once", "--url", coordinator)
    assert asyncio.run(completed(coordinator)) == 24
    assert "Node 7 is empty" in run("drain", "7", "--url", coordinator)
    assert {node_of(task_id) for task_id in asyncio.run(submitted(coordinator, 10))} == {0}


def test_what_cannot_be_is_refused_in_words(urls):
    coordinator, one, _ = urls
    for arguments, words in (
        (("status", "--url", one), "no coordinator"),
        (("init", "--url", coordinator, "--node", one), "written N=URL"),
        (("init", "--url", coordinator, "--node", f"512={one}"), "written N=URL"),
    ):
        done = CliRunner().invoke(app, ["cluster", *arguments])
        assert words in str(done.exception)
    run("init", "--url", coordinator, "--node", f"1={one}", "--with-password")
    done = CliRunner().invoke(app, ["migrate", "--url", coordinator])
    assert "is a coordinator" in str(done.exception)
    done = CliRunner().invoke(app, ["cluster", "drain", "1", "--url", coordinator])
    assert "tokens, sessions" in str(done.exception)


def test_status_exits_with_six_and_names_a_node_that_is_away(urls, databases):
    coordinator, one, _ = urls
    with databases.new() as three:
        nodes = [part for number, url in ((1, one), (2, three)) for part in ("--node", f"{number}={url}")]
        run("init", "--url", coordinator, *nodes, "--with-password")
    rows = [line.split("\t") for line in run("status", "--url", coordinator, expected=6).splitlines()]
    assert [row[:2] for row in rows[1:]] == [["1", "yes"], ["2", "no"]]
