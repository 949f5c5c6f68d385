"""`pgjobs enqueue` and `pgjobs tasks`."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.cli.commands import Terminal
from tests.surfaces.cli.conftest import Pgjobs, failed_tasks


async def test_a_task_is_submitted_with_all_that_can_be_said_of_it(pgjobs: Pgjobs, queue: Queue, job: str):
    done = pgjobs(
        "enqueue", job, '{"to": "ada"}', "--priority", 2, "--delay", "1h30m", "--owner", "ada", "--project", "moon",
        "--tag", "a", "--tag", "b", "--max-attempts", 4, "--key", "once", PGJOBS_ACTOR="grace",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    task = await queue.get_task(int(done.stdout))
    assert (task.payload, task.priority, task.max_attempts, task.tags) == ({"to": "ada"}, 2, 4, ["a", "b"])
    assert (task.owner, task.project, task.submitter, task.idempotency_key) == (
        "ada",
        "moon",
        "grace",
        "once",
    )
    assert task.phase == "scheduled"
    again = pgjobs("enqueue", job, "--key", "once")
    assert again.stdout == done.stdout
    assert "submitted before" in again.stderr


async def test_many_tasks_come_from_lines_of_json(pgjobs: Pgjobs, queue: Queue, job: str):
    done = pgjobs("enqueue", job, "--lines", stdin='{"n": 1}\n\n{"n": 2}\n')
    numbers = [int(line) for line in done.stdout.split()]
    assert [(await queue.get_task(number)).payload for number in numbers] == [{"n": 1}, {"n": 2}]
    assert done.stderr == "Submitted 2 tasks.\n"
    one = pgjobs("enqueue", job, "-", stdin='{"n": 3}')
    assert (await queue.get_task(int(one.stdout))).payload == {"n": 3}


async def test_lists_are_filtered_paged_and_plain_in_a_pipe(pgjobs: Pgjobs, queue: Queue, job: str):
    failed = await failed_tasks(queue, job, 3, error="no\x1b[31m disk\r\there\nTraceback")
    await queue.submit_task(job)
    listed = pgjobs("tasks", "list", "--status", "failed", "--limit", 2)
    assert listed.returncode == 0, listed.stderr
    names, *rows = [line.split("\t") for line in listed.stdout.splitlines()]
    assert names[:4] == ["id", "job", "room", "status"]
    assert [(row[0], row[1], row[3]) for row in rows] == [(str(n), job, "failed") for n in failed[:0:-1]]
    assert rows[0][-1] == "no [31m disk  here"
    assert f"--before {failed[1]}" in listed.stderr
    rest = pgjobs("tasks", "list", "--status", "failed", "--before", failed[1])
    assert [line.split("\t")[0] for line in rest.stdout.splitlines()[1:]] == [str(failed[0])]
    assert "\x1b" not in listed.stdout + listed.stderr


async def test_controls_of_the_direction_of_writing_are_shown_as_escapes(
    pgjobs: Pgjobs, queue: Queue, job: str
):
    turns = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    [number] = await failed_tasks(queue, job, 1, error=f"safe{turns}gpj.exe")
    told = [pgjobs("tasks", "list").stdout, pgjobs("tasks", "show", number).stdout]
    told.append(pgjobs("tasks", "wait", number).stderr)
    told.append(pgjobs("tasks", "list", "--job", f"lab:x:{turns}").stderr)
    escaped = "".join(f"\\u{ord(turn):04x}" for turn in turns)
    assert [escaped in text for text in told] == [True] * len(told), told
    assert not set(turns) & set("".join(told))


async def test_a_task_is_shown_by_number_and_by_public_id(pgjobs: Pgjobs, queue: Queue, job: str):
    [number] = await failed_tasks(queue, job, 1)
    task = await queue.get_task(number)
    by_number, by_id = pgjobs("tasks", "show", number), pgjobs("tasks", "show", task.uuid)
    assert by_number.returncode == 0, by_number.stderr
    assert by_number.stdout == by_id.stdout
    for line in (
        f"job                  {job}",
        "error                no disk",
        'payload              {"number": 0}',
    ):
        assert line in by_number.stdout.splitlines()


async def test_a_traceback_is_left_out_of_lists_and_drawn_in_lines_for_people(
    pgjobs: Pgjobs, queue: Queue, queue_url: str, job: str
):
    [number] = await failed_tasks(queue, job, 1, "no disk\nTraceback:\n  in write()")
    listed = pgjobs("tasks", "list").stdout.splitlines()
    assert listed[1].endswith("\tno disk")
    assert pgjobs("tasks", "wait", number).stderr == f"Task {number} is failed: no disk\n"
    piped = pgjobs("tasks", "show", number).stdout.splitlines()
    assert "error                no disk Traceback:   in write()" in piped
    with Terminal("tasks", "show", number, PGJOBS_DATABASE_URL=queue_url) as terminal:
        assert terminal.end() == 0
    drawn = [line.rstrip() for line in terminal.shown.splitlines()]
    place = drawn.index("error                no disk")
    indent = " " * 21
    assert drawn[place + 1 : place + 3] == [f"{indent}Traceback:", f"{indent}  in write()"]
    assert drawn[-1].startswith("attempt 1            failed ")
    assert drawn[-1].endswith(" no disk")


async def test_one_task_is_submitted_without_a_bar_and_many_with_one(queue: Queue, queue_url: str, job: str):
    with Terminal("enqueue", job, PGJOBS_DATABASE_URL=queue_url) as terminal:
        assert terminal.end() == 0
    assert terminal.shown.strip().isdigit()
    with Terminal("enqueue", job, "--lines", PGJOBS_DATABASE_URL=queue_url) as terminal:
        terminal.type("{}\n{}\n\x04")
        assert terminal.end() == 0
    assert "Submitting" in terminal.shown
    assert "2/2" in terminal.shown


async def test_named_tasks_are_retried_cancelled_ignored_and_unignored(
    pgjobs: Pgjobs, queue: Queue, job: str
):
    [number] = await failed_tasks(queue, job, 1)
    for verb, status, said in (
        ("ignore", "ignored", "the target is gone"), ("unignore", "pending", "it is back"),
        ("cancel", "cancelled", "asked by ada"), ("retry", "pending", "try again"),
    ):  # fmt: skip
        done = pgjobs("tasks", verb, number, "--reason", said, PGJOBS_ACTOR="grace")
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[1].split("\t") == [str(number), "@global:mail:Welcome", status]
        assert (await queue.get_task(number)).status == status
    events = await queue.list_events(of_task=number, page_size=500)
    audited = {(event.kind, event.actor, event.message) for event in events if event.actor == "grace"}
    assert {("ignored", "grace", "the target is gone"), ("retried", "grace", "try again")} <= audited


async def test_many_are_chosen_by_filters_and_asked_about_first(pgjobs: Pgjobs, queue: Queue, job: str):
    failed = await failed_tasks(queue, job, 7)
    other = await queue.submit_task(job)
    looked = pgjobs("tasks", "retry", "--job", job, "--dry-run")
    assert looked.returncode == 0, looked.stderr
    assert sorted(int(line.split("\t")[0]) for line in looked.stdout.splitlines()[1:]) == failed
    assert "Retry would change 7 tasks; nothing was changed" in looked.stderr
    asked = pgjobs("tasks", "retry", "--job", job)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert "7  @global:mail:Welcome" in asked.stderr
    assert {task.status for task in await queue.list_tasks() if task.id != other.task_id} == {"failed"}
    done = pgjobs("tasks", "retry", "--job", job, "--yes", "--reason", "disk replaced")
    assert done.returncode == 0, done.stderr
    assert {task.status for task in await queue.list_tasks()} == {"pending"}
    assert "Retry: done for 7 tasks." in done.stderr


async def test_on_a_terminal_the_question_is_answered_there(queue_url: str, queue: Queue, job: str):
    await failed_tasks(queue, job, 3)
    for answer, code, status in (("n", 1, "failed"), ("y", 0, "cancelled")):
        verb = ("cancel", "--status", "pending") if answer == "y" else ("retry", "--status", "failed")
        if answer == "y":
            for task in await queue.list_tasks():
                await queue.retry_task(task.id)
        with Terminal("tasks", *verb, PGJOBS_DATABASE_URL=queue_url) as terminal:
            terminal.until("3 tasks? [y/N]")
            terminal.type(f"{answer}\n")
            assert terminal.end() == code
        assert {task.status for task in await queue.list_tasks()} == {status}
    assert "━" in terminal.shown, "a progress bar"
    with Terminal("tasks", "prune", "--older-than", "0s", "--yes", PGJOBS_DATABASE_URL=queue_url) as terminal:
        assert terminal.end() == 0
    assert "━" in terminal.shown


async def test_tasks_that_moved_on_do_not_hold_up_the_others(pgjobs: Pgjobs, queue: Queue, job: str):
    failed = await failed_tasks(queue, job, 2)
    waiting = (await queue.submit_task(job)).task_id
    done = pgjobs("tasks", "retry", failed[0], waiting, failed[1])
    assert done.returncode == 4
    assert "done for 2 tasks, refused for 1" in done.stderr
    assert {(await queue.get_task(number)).status for number in failed} == {"pending"}


async def test_waiting_ends_with_the_result(pgjobs: Pgjobs, queue: Queue, job: str):
    task = await queue.submit_task(job)
    worker = await queue.register_worker("quick", jobs=[job])
    [lease] = await queue.claim_tasks(worker.id, start=True)
    await queue.complete_task(lease, {"sent": True})
    done = pgjobs("tasks", "wait", task.task_id)
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, {"sent": True}, "")


async def test_pruning_tells_first_and_then_removes(pgjobs: Pgjobs, queue: Queue, job: str):
    await failed_tasks(queue, job, 3)
    await queue.submit_task(job)
    looked = pgjobs("tasks", "prune", "--older-than", "0s", "--dry-run")
    assert len(looked.stdout.splitlines()) == 4, looked.stderr
    assert pgjobs("tasks", "prune", "--older-than", "0s").returncode == 2
    assert len(await queue.list_tasks()) == 4
    done = pgjobs("tasks", "prune", "--older-than", "0s", "--yes")
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "Removed 3 tasks.\n")
    assert len(await queue.list_tasks()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("tasks", "retry"),
        ("tasks", "retry", "1", "--job", "a:b:c"),
        ("tasks", "show", "no-such-thing"),
        ("tasks", "list", "--status", "tired"),
        ("tasks", "list", "--limit", "501"),
        ("enqueue", "a:b:c", "{"),
        ("enqueue", "a:b:c", "--delay", "soon"),
        ("enqueue", "a:b:c", "--lines", "--key", "x"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(arguments: tuple[str, ...], tmp_path):
    from tests.surfaces.cli.commands import run

    done = run(*arguments, PGJOBS_DATABASE_URL=f"sqlite:///{tmp_path / 'none.db'}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "none.db").exists()


@pytest.mark.postgres_only
async def test_the_log_of_a_task_is_shown_and_followed_to_its_end(pgjobs: Pgjobs, queue: Queue, job: str):
    task = (await queue.submit_task(job)).task_id
    assert pgjobs("tasks", "log", task).stderr == f"Task {task} has no log lines.\n"
    (lease,) = await queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global")
    await queue.append_log([lease], [[{"message": "begun"}, {"message": "odd\n\x1b[31mred", "dropped": 2}]])
    await queue.complete_task(lease)
    shown = pgjobs("tasks", "log", task, "--follow")
    first, second, gap, third, fourth = shown.stdout.splitlines()
    assert first == "Attempt 1"
    assert second.endswith(" info     begun")
    assert gap == "  … 2 lines not kept"
    assert third.endswith(" info     odd")
    assert fourth.strip() == "[31mred"
    last = pgjobs("tasks", "log", task, "--lines", 1, "--json")
    assert [json.loads(line)["number"] for line in last.stdout.splitlines()] == [4]


@pytest.mark.postgres_only
async def test_a_failed_task_is_replaced_by_a_copy_whose_hidden_secrets_are_kept(
    pgjobs: Pgjobs, queue: Queue, job: str
):
    task = await queue.submit_task(job, {"to": "nobody", "api_key": "k-12345"}, owner="ada")
    leases = await queue.claim_tasks(holder="h", lease=timedelta(minutes=1), in_room="@global")
    await queue.fail_tasks(leases, ["no such mailbox"], retryable=[False])
    edited = '{"to": "ada", "api_key": "…"}'
    done = pgjobs("tasks", "resubmit", task.task_id, edited, "--replace", "--reason", "typo")
    assert (done.returncode, done.stderr) == (0, f"The copy takes the place of task {task.task_id}.\n")
    copy = await queue.get_task(int(done.stdout))
    assert (copy.status, copy.owner) == ("pending", "ada")
    assert (await queue.get_task(task.task_id)).status == "ignored"
    beside = pgjobs("tasks", "resubmit", copy.id)
    assert int(beside.stdout) > copy.id
    # Only whoever claims a task sees its secrets.
    claimed = await queue.claim_tasks(holder="h", lease=timedelta(minutes=1), in_room="@global", quantity=9)
    assert [lease.payload for lease in claimed] == [{"to": "ada", "api_key": "k-12345"}] * 2
    assert pgjobs("tasks", "resubmit", copy.id, "{").returncode == 2
    assert pgjobs("tasks", "resubmit", 10**9).returncode == 3
