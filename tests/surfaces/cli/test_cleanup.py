"""`pgjobs cleanup`, on every driver."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from pgjobs.contrib.cleanup import CleanupError
from pgjobs.queue.server import ServerQueue as Queue
from tests.dav_server import LocalPlace, write_run
from tests.surfaces.cli.conftest import Pgjobs
from tests.surfaces.incomplete_runs import RUNS, Failing, incomplete_runs, tick

pytestmark = pytest.mark.postgres_only


async def test_list_and_show_tell_how_it_stands(pgjobs: Pgjobs, queue: Queue, queue_url: str):
    runs = await incomplete_runs(queue, queue_url, 3)
    await tick(queue, local_dir=Failing(CleanupError("auth", "answered 401")))
    await queue.retry_cleanup(runs[1])
    listed = pgjobs("cleanup", "list")
    assert listed.returncode == 0
    rows = [line.split("\t") for line in listed.stdout.splitlines()]
    assert rows[0][:5] == ["run", "job", "node", "target", "status"]
    assert rows[1][0] == str(runs[1])
    assert sorted(row[4] for row in rows[1:]) == ["blocked", "blocked", "queued"]
    shown = pgjobs("cleanup", "show", runs[0])
    assert "answered 401" in shown.stdout
    assert "blocked" in shown.stdout
    assert "/nowhere" in shown.stdout
    one = pgjobs("cleanup", "list", "--status", "queued", "--status", "done", "--json")
    body = json.loads(one.stdout)
    assert (body["total"], body["items"][0]["run_id"]) == (1, str(runs[1]))
    detail = json.loads(pgjobs("cleanup", "show", runs[0], "--json").stdout)
    assert [event["kind"] for event in detail["events"]] == ["attempt", "blocked"]
    assert pgjobs("cleanup", "list", "--node", "elsewhere").stdout.count("\n") == 1
    assert pgjobs("cleanup", "list", "--job", RUNS, "--target-type", "local_dir").stdout.count("\n") == 4


async def test_operators_act_from_the_shell(pgjobs: Pgjobs, queue: Queue, queue_url: str):
    (run,) = await incomplete_runs(queue, queue_url)
    ignored = pgjobs("cleanup", "ignore", run, "--reason", "the disk is gone", PGJOBS_ACTOR="ada")
    assert (ignored.returncode, ignored.stdout) == (0, "")
    assert "is ignored" in ignored.stderr
    task = await queue.get_cleanup(run)
    assert (task.ignored_by_user_id, task.ignore_reason) == ("ada", "the disk is gone")
    assert json.loads(pgjobs("cleanup", "unignore", run, "--json").stdout)["status"] == "queued"
    await tick(queue, local_dir=Failing(CleanupError("network", "no route")))
    assert pgjobs("cleanup", "retry-now", run).returncode == 0
    assert (await queue.get_cleanup(run)).status == "queued"


async def test_refusals_have_their_codes(pgjobs: Pgjobs, queue: Queue, queue_url: str):
    (run,) = await incomplete_runs(queue, queue_url)
    await queue.claim_cleanups("cleaner")
    for action in ("retry-now", "ignore", "unignore"):
        busy = pgjobs("cleanup", action, run)
        assert busy.returncode == 4, busy.stderr
        assert "running" in busy.stderr
        assert pgjobs("cleanup", action, uuid4()).returncode == 3
    assert pgjobs("cleanup", "show", uuid4()).returncode == 3
    assert pgjobs("cleanup", "show", "nonsense").returncode == 2
    assert pgjobs("cleanup", "list", "--status", "lost").returncode == 2
    assert pgjobs("cleanup", "ignore", run, "--reason", "x" * 201).returncode == 2


async def test_a_node_without_a_server_cleans_up_from_cron(
    pgjobs: Pgjobs, queue: Queue, queue_url: str, tmp_path: Path
):
    place = LocalPlace(tmp_path / "targets")
    (run,) = await incomplete_runs(queue, queue_url, target=place.target, node_id="agent-7")
    left = write_run(place, RUNS, str(run))
    assert "Attempted 0." in pgjobs("cleanup", "run", "--once", "--node", "hub").stderr
    assert left.exists()
    assert "Attempted 1." in pgjobs("cleanup", "run", "--once", "--node", "agent-7").stderr
    assert not left.exists()


async def test_nodes_that_nobody_cleans_up_for_are_listed(pgjobs: Pgjobs, database_url: str):
    async with await Queue.connect(database_url) as queue:
        await incomplete_runs(queue, database_url, node_id="agent-7")
    listed = pgjobs("cleanup", "nodes", "--url", database_url)
    assert listed.returncode == 0, listed.stderr
    row = listed.stdout.splitlines()[1].split("\t")
    assert row[:5] == ["agent-7", "local_dir", "1", "1", "no process"]
    assert row[6] == "-- on that machine: pgjobs cleanup run --node agent-7"
    (item,) = json.loads(pgjobs("cleanup", "nodes", "--json", "--url", database_url).stdout)["items"]
    assert (item["node_id"], item["is_served"]) == ("agent-7", False)
