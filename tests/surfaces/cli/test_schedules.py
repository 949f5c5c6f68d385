"""`pgjobs schedules`."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.cli.commands import Done, Terminal
from tests.surfaces.cli.conftest import Pgjobs

pytestmark = pytest.mark.postgres_only

NIGHTLY = "@global:nightly"


@pytest.fixture
def nightly(pgjobs: Pgjobs, job: str) -> str:
    done = pgjobs("schedules", "add", "nightly", job, "--cron", "30 2 * * *", "--timezone", "Europe/Berlin")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def table(done: Done) -> list[dict[str, str]]:
    assert done.returncode == 0, done.stderr
    names, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [dict(zip(names, row, strict=True)) for row in rows]


async def test_a_schedule_is_added_changed_and_left_as_it_is(pgjobs: Pgjobs, queue: Queue, job: str):
    command = (
        "schedules", "add", "nightly", job, "--cron", "30 2 * * *", "--timezone", "Europe/Berlin",
        "--payload", '{"to": "ada"}', "--priority", 3, "--max-attempts", 4, "--missed", "skip", "--no-overlap",
        "--owner", "ada", "--project", "p", "--tag", "night", "--tag", "mail", "--room", "lab",
    )  # fmt: skip
    added = pgjobs(*command, PGJOBS_ACTOR="ops")
    assert (added.returncode, added.stdout) == (0, "lab:nightly\n")
    assert added.stderr.startswith("lab:nightly is created. At 02:30 every day; next ")
    schedule = await queue.get_schedule("lab:nightly")
    assert (schedule.cron, schedule.timezone, schedule.payload) == (
        "30 2 * * *", "Europe/Berlin", {"to": "ada"},
    )  # fmt: skip
    assert (schedule.priority, schedule.max_attempts, schedule.missed, schedule.overlap) == (
        3,
        4,
        "skip",
        False,
    )
    assert (schedule.owner, schedule.project, schedule.tags) == ("ada", "p", ["night", "mail"])
    assert "is unchanged." in pgjobs(*command).stderr
    changed = pgjobs("schedules", "add", "nightly", job, "--every", "1h30m", "--room", "lab")
    assert changed.stderr.startswith("lab:nightly is changed. Every 90 minutes; next ")
    assert (await queue.get_schedule("lab:nightly")).payload == {}
    [event] = [one for one in await queue.list_events() if one.kind == "schedule_registered"]
    assert event.actor == "ops"


async def test_a_payload_may_come_from_a_file_or_a_pipe(
    pgjobs: Pgjobs, queue: Queue, job: str, tmp_path: Path
):
    file = tmp_path / "payload.json"
    file.write_text('{"from": "a file"}')
    for given, stdin, payload in (
        (f"@{file}", "", {"from": "a file"}), ("-", '{"from": "a pipe"}', {"from": "a pipe"}),
    ):  # fmt: skip
        done = pgjobs("schedules", "add", "n", job, "--every", "10m", "--payload", given, stdin=stdin)
        assert done.returncode == 0, done.stderr
        assert (await queue.get_schedule("@global:n")).payload == payload
    for wrong in (f"@{tmp_path / 'none'}", "{", "@"):
        done = pgjobs("schedules", "add", "n", job, "--every", "10m", "--payload", wrong)
        assert (done.returncode, "--payload" in done.stderr) == (2, True), wrong


async def test_schedules_are_listed_with_what_is_next_and_how_the_last_run_stands(
    pgjobs: Pgjobs, queue: Queue, job: str, nightly: str
):
    pgjobs("schedules", "add", "often", job, "--every", "10m", "--room", "lab")
    await queue.run_schedule("lab:often")
    pgjobs("schedules", "pause", nightly)
    first, second = table(pgjobs("schedules", "list"))
    assert (first["schedule"], first["job"], first["runs"], first["last"], first["state"]) == (
        "lab:often", job, "Every 10 minutes", "pending", "active",
    )  # fmt: skip
    assert datetime.fromisoformat(first["next"])
    assert (second["schedule"], second["timezone"], second["next"], second["state"]) == (
        nightly, "Europe/Berlin", "", "paused",
    )  # fmt: skip
    assert [row["schedule"] for row in table(pgjobs("schedules", "list", "--room", "lab"))] == ["lab:often"]
    assert len(table(pgjobs("schedules", "list", "--job", job))) == 2
    assert "--limit" in pgjobs("schedules", "list", "--limit", 2).stderr


async def test_a_schedule_is_shown_with_its_times_and_runs(pgjobs: Pgjobs, queue: Queue, nightly: str):
    run = await queue.run_schedule(nightly)
    shown = pgjobs("schedules", "show", nightly).stdout.splitlines()
    assert f"full_name            {NIGHTLY}" in shown
    assert "words                At 02:30 every day" in shown
    upcoming = [line.split(maxsplit=1)[1] for line in shown if line.startswith("upcoming ")]
    assert len(upcoming) == 5
    assert {(time[11:19], time[19:] in ("+01:00", "+02:00")) for time in upcoming} == {("02:30:00", True)}
    [line] = [line for line in shown if line.startswith("run ")]
    assert line.endswith(f"pending {run.task_uuid}")
    assert pgjobs("schedules", "show", (await queue.get_schedule(nightly)).uuid).stdout.splitlines() == shown


async def test_no_secret_of_a_payload_is_shown(pgjobs: Pgjobs, queue: Queue, job: str):
    payload = {"url": "https://ada:hunter2@example.org/?sig=deadbeef", "password": "hunter2"}
    await queue.register_schedule("nightly", job, cron="@daily", payload=payload)
    for command in (("show", NIGHTLY), ("show", NIGHTLY, "--json"), ("list",), ("list", "--json")):
        done = pgjobs("schedules", *command)
        assert done.returncode == 0, done.stderr
        assert not {word for word in ("hunter2", "deadbeef") if word in done.stdout + done.stderr}
    assert "https://example.org/" in pgjobs("schedules", "show", NIGHTLY).stdout


async def test_a_schedule_is_run_paused_resumed_and_removed(pgjobs: Pgjobs, queue: Queue, nightly: str):
    run = pgjobs("schedules", "run", nightly, "--reason", "just once", PGJOBS_ACTOR="ops")
    assert run.returncode == 0, run.stderr
    assert (await queue.get_task(int(run.stdout))).submitter == f"schedule {NIGHTLY}"
    paused = pgjobs("schedules", "pause", nightly, "--reason", "holidays", PGJOBS_ACTOR="ops")
    assert (paused.returncode, paused.stdout) == (0, "")
    assert paused.stderr == f"{NIGHTLY} is paused. At 02:30 every day, once it is resumed.\n"
    resumed = pgjobs("schedules", "resume", nightly, PGJOBS_ACTOR="ops")
    assert resumed.stderr.startswith(f"{NIGHTLY} is active. At 02:30 every day; next ")
    removed = pgjobs("schedules", "remove", nightly, PGJOBS_ACTOR="ops")
    assert (removed.returncode, removed.stdout, removed.stderr) == (0, "", f"{NIGHTLY} is removed.\n")
    assert await queue.list_schedules() == []
    acts = [(event.kind, event.message) for event in await queue.list_events() if event.actor == "ops"]
    assert acts == [
        ("schedule_run", "just once"), ("schedule_paused", "holidays"), ("schedule_resumed", None),
        ("schedule_retired", None),
    ]  # fmt: skip


def test_times_are_printed_beforehand_by_the_clocks_of_the_place(pgjobs: Pgjobs):
    berlin = ("--cron", "0 9 * * MON-FRI", "--timezone", "Europe/Berlin")
    done = pgjobs("schedules", "preview", *berlin, "--quantity", 3)
    assert done.returncode == 0, done.stderr
    times = [datetime.fromisoformat(line) for line in done.stdout.splitlines()]
    assert [(time.hour, time.weekday() < 5) for time in times] == [(9, True)] * 3
    assert done.stderr == "At 09:00 on Monday through Friday, in the time zone Europe/Berlin.\n"
    document = json.loads(pgjobs("schedules", "preview", *berlin, "--quantity", 3, "--json").stdout)
    assert [datetime.fromisoformat(time) for time in document["upcoming"]] == times


@pytest.mark.parametrize("verb", ["show", "run", "pause", "resume", "remove"])
def test_an_unknown_schedule_is_not_found(pgjobs: Pgjobs, verb: str):
    done = pgjobs("schedules", verb, "@global:none")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("pgjobs: Schedule @global:none does not exist")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (("--cron", "tomorrow"), 2),
        (("--every", "soon"), 2),
        (("--every", "0.5s"), 2),
        ((), 2),
        (("--cron", "@daily", "--every", "10m"), 2),
        (("--cron", "@daily", "--timezone", "Moon/Base"), 2),
        (("--cron", "@daily", "--missed", "never"), 2),
        (("--cron", "@daily", "--priority", "11"), 2),
        (("--cron", "@daily", "--room", "a:b"), 2),
    ],
)
async def test_a_schedule_that_cannot_be_is_refused(
    pgjobs: Pgjobs, queue: Queue, job: str, given: tuple[str, ...], code: int
):
    done = pgjobs("schedules", "add", "n", job, *given)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr
    assert await queue.list_schedules() == []


async def test_a_job_that_is_missing_or_put_away_is_not_scheduled(pgjobs: Pgjobs, queue: Queue, nightly: str):
    assert pgjobs("schedules", "add", "n", "@global:mail:None", "--every", "10m").returncode == 3
    await queue.archive_job("@global:mail:Welcome")
    assert pgjobs("schedules", "add", "n", "@global:mail:Welcome", "--every", "10m").returncode == 4
    assert pgjobs("schedules", "run", nightly).returncode == 4


def test_a_terminal_gets_a_table(queue_url: str, nightly: str):
    with Terminal("schedules", "list", PGJOBS_DATABASE_URL=queue_url) as terminal:
        assert terminal.end() == 0
    assert "Europe/Berlin" in terminal.shown
    assert "\t" not in terminal.shown
    assert "─" in terminal.shown
