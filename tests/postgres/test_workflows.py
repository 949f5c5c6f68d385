"""Workflows: tasks submitted together, with a status that they give it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, TaskNotFound, WorkflowNotFound
from tests.postgres.durable import claim, end_all, standing
from tests.postgres.stage import JOB


def entry(name, *after, **more):
    return {"name": name, "job": JOB, **({"after": list(after)} if after else {}), **more}


DIAMOND = [entry("top"), entry("left", "top"), entry("right", "top"), entry("bottom", "left", "right")]


async def submit(queue, tasks=DIAMOND, name="nightly", **options):
    return await queue.submit_workflow(name, tasks, **options)


async def status(queue, flow):
    return (await queue.get_workflow(flow.id)).status


async def fail_next(queue):
    (lease,) = await claim(queue)
    await queue.fail_task(lease, "broken", retryable=False)
    await queue.sweep("waits")


async def test_a_workflow_runs_in_the_order_of_its_edges(queue):
    flow = await submit(queue)
    ids = flow.tasks
    assert list(ids) == ["top", "left", "right", "bottom"]
    assert await end_all(queue) == list(ids.values())
    done = await queue.get_workflow(flow.id)
    assert (done.name, done.status, done.tasks, done.completed, done.room) == (
        "nightly",
        "completed",
        4,
        4,
        "@global",
    )
    assert done.ended_at is not None


async def test_its_status_is_what_its_tasks_say(queue):
    flow = await submit(queue)
    assert await status(queue, flow) == "pending"
    (lease,) = await claim(queue)
    assert await status(queue, flow) == "running"
    await queue.complete_task(lease)
    assert await status(queue, flow) == "running"
    await queue.fail_task((await claim(queue))[0], "broken", retryable=False)
    assert await status(queue, flow) == "running"
    await end_all(queue)
    await queue.sweep()
    for lease in await claim(queue):
        await queue.complete_task(lease)


async def test_children_read_their_parents_by_name(queue):
    flow = await submit(queue)
    await queue.complete_task((await claim(queue))[0], "t")
    left, right = await claim(queue)
    await queue.complete_task(left, "l")
    await queue.complete_task(right, "r")
    parents = await queue.list_parents(flow.tasks["bottom"])
    assert [(parent.name, parent.result) for parent in parents] == [("left", "l"), ("right", "r")]


async def test_tasks_of_several_jobs_and_priorities_keep_their_own(queue):
    await queue.register_job("@global", "tests", "Other", max_attempts=7)
    flow = await submit(
        queue,
        [
            entry("a", payload={"n": 1}, priority=2),
            {"name": "b", "job": "@global:tests:Other", "after": ["a"], "payload": [2]},
            entry("c", "a", "b", max_attempts=9),
        ],
        owner="ada",
        tags=["nightly"],
    )
    a, b, c = [await queue.get_task(task_id) for task_id in flow.tasks.values()]
    assert (a.payload, a.priority, a.owner, a.tags) == ({"n": 1}, 2, "ada", ["nightly"])
    assert (b.job, b.payload, b.max_attempts, b.phase) == ("@global:tests:Other", [2], 7, "dependent")
    assert (c.max_attempts, c.phase) == (9, "dependent")


async def test_entries_may_run_after_existing_tasks(queue):
    before = (await queue.submit_task(JOB)).task_id
    ended = (await queue.submit_task(JOB)).task_id
    await queue.complete_task((await claim(queue))[1])
    flow = await submit(queue, [entry("a", before), entry("b", ended), entry("c", "a", "b")])
    assert await standing(queue, flow.tasks["a"]) == ("pending", "dependent")
    assert await standing(queue, flow.tasks["b"]) == ("pending", "due")


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "array of 1 to"),
        ({"name": "a"}, "array of 1 to"),
        ([1], "not an object"),
        ([{"name": "a"}], "job must be a string"),
        ([entry("a", payloads=1)], "only name, job, payload"),
        ([entry("a"), entry("a")], "are called 'a'"),
        ([entry("")], "1 to 200 characters"),
        ([entry("a", "b"), entry("b")], "earlier entries"),
        ([entry("a", "a")], "earlier entries"),
        ([entry("a", -1)], "earlier entries"),
        ([entry("a", 1.5)], "earlier entries"),
        ([{"name": "a", "job": JOB, "after": "b"}], "after must be an array"),
        ([entry("a"), entry("b", "a", on_failure="explode")], "cancel, run or hold"),
        ([entry("a", priority=11)], "between 1 and 10"),
        ([entry("a", max_attempts="many")], "max_attempts must be a number"),
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_nothing(queue, tasks, message):
    with pytest.raises(InvalidArgument) as refused:
        await submit(queue, tasks)
    assert message in f"{refused.value.message} {refused.value.detail}"
    assert await queue.list_tasks() == []
    assert await queue.list_workflows() == []


@pytest.mark.parametrize("after", [999, 2])
async def test_an_unknown_parent_is_refused(queue, after):
    """Also one whose number this very workflow would have given out."""
    with pytest.raises(TaskNotFound):
        await submit(queue, [entry("a"), entry("b", after)])
    assert await queue.list_tasks() == []


async def test_an_unknown_job_is_refused(queue):
    with pytest.raises(JobNotFound):
        await submit(queue, [entry("a"), {"name": "b", "job": "@global:no:Such", "after": ["a"]}])
    assert await queue.list_tasks() == []


async def test_an_unknown_workflow_is_refused(queue):
    for verb in (queue.get_workflow, queue.get_workflow_graph, queue.cancel_workflow, queue.retry_workflow):
        with pytest.raises(WorkflowNotFound):
            await verb(999)


async def test_workflows_are_listed_newest_first(queue):
    flows = [await submit(queue, [entry("a")], name=name) for name in ("x", "y", "x")]
    assert [flow.id for flow in await queue.list_workflows()] == [flow.id for flow in reversed(flows)]
    assert [flow.id for flow in await queue.list_workflows(name="x", page_size=1)] == [flows[2].id]
    assert [flow.id for flow in await queue.list_workflows(before=flows[1].id)] == [flows[0].id]
    assert await queue.list_workflows(room="lab-7") == []


async def test_a_cancelled_workflow_ends_what_has_not_ended(queue):
    flow = await submit(queue)
    await queue.complete_task((await claim(queue))[0])
    left, right = await claim(queue)
    cancelled = await queue.cancel_workflow(flow.id, reason="enough")
    assert cancelled.status == "running"
    await queue.fail_tasks([left, right], ["stopped", "stopped"])
    done = await queue.get_workflow(flow.id)
    assert (done.status, done.completed, done.cancelled) == ("cancelled", 1, 3)


async def test_a_retried_workflow_keeps_what_completed(queue):
    flow = await submit(queue)
    await queue.complete_task((await claim(queue))[0], "kept")
    left, right = await claim(queue)
    await queue.complete_task(left, "kept as well")
    await queue.fail_task(right, "broken", retryable=False)
    await queue.sweep("waits")
    assert await status(queue, flow) == "failed"
    assert await standing(queue, flow.tasks["bottom"]) == ("cancelled", None)
    assert (await queue.retry_workflow(flow.id, actor="ada")).status == "running"
    assert await end_all(queue) == [flow.tasks["right"], flow.tasks["bottom"]]
    assert await status(queue, flow) == "completed"
    assert (await queue.get_task(flow.tasks["left"])).result == "kept as well"


async def test_a_retry_leaves_what_somebody_cancelled(queue):
    flow = await submit(queue)
    await queue.cancel_task(flow.tasks["left"])
    await fail_next(queue)
    await queue.retry_workflow(flow.id)
    assert await standing(queue, flow.tasks["left"]) == ("cancelled", None)
    assert await standing(queue, flow.tasks["top"]) == ("pending", "due")
    assert await standing(queue, flow.tasks["right"]) == ("pending", "dependent")
    await end_all(queue)
    await queue.sweep("waits")
    assert await standing(queue, flow.tasks["bottom"]) == ("cancelled", None)


async def test_a_held_workflow_says_so(queue):
    flow = await submit(queue, [entry("a"), entry("b", "a", on_failure="hold")])
    await fail_next(queue)
    assert await status(queue, flow) == "held"
    await queue.retry_workflow(flow.id)
    await end_all(queue)
    assert await status(queue, flow) == "completed"


async def test_a_workflow_is_shown_as_a_graph(queue):
    flow = await submit(queue)
    ids = flow.tasks
    shown = await queue.get_workflow_graph(flow.id)
    assert [node["name"] for node in shown["nodes"]] == ["top", "left", "right", "bottom"]
    assert shown["edges"] == [
        [ids["top"], ids["left"]],
        [ids["top"], ids["right"]],
        [ids["left"], ids["bottom"]],
        [ids["right"], ids["bottom"]],
    ]
    part = await queue.get_workflow_graph(flow.id, most=2)
    assert (len(part["nodes"]), len(part["edges"]), part["left_off"]) == (2, 1, 2)


async def test_its_tasks_come_with_results_in_pages(queue):
    flow = await submit(queue)
    await queue.complete_task((await claim(queue))[0], 1)
    (first,) = await queue.list_workflow_tasks(flow.id, page_size=1)
    assert (first.name, first.status, first.result) == ("top", "completed", 1)
    rest = await queue.list_workflow_tasks(flow.id, after=first.task_id)
    assert [task.name for task in rest] == ["left", "right", "bottom"]


async def test_a_workflow_goes_with_its_last_task(stage, queue):
    flow = await submit(queue)
    await end_all(queue)
    await stage.advance(days=100)
    assert len(await queue.prune_tasks(older_than=timedelta(days=1))) == 4
    with pytest.raises(WorkflowNotFound):
        await queue.get_workflow(flow.id)


async def test_a_workflow_is_submitted_in_the_callers_transaction(queue, first):
    await submit(first.queue)
    await first.rollback()
    assert await queue.list_workflows() == []
    assert await queue.list_tasks() == []


async def test_a_long_chain_and_a_wide_fan_in_end(queue):
    chain = [entry(f"c{n}", *([f"c{n - 1}"] if n else [])) for n in range(300)]
    wide = [entry(f"w{n}", "c299") for n in range(1500)]
    last = [entry("last", *[f"w{n}" for n in range(1500)])]
    flow = await submit(queue, chain + wide + last)
    await end_all(queue)
    assert await status(queue, flow) == "completed"


async def test_why_says_what_a_task_waits_for(stage, queue):
    flow = await submit(
        queue, [entry("a"), entry("b"), entry("c", "a", "b"), entry("d", "c", on_failure="hold")]
    )

    async def reason(task_id):
        rows = await queue.operators.why(task_id)
        return next(row.answer for row in rows if not row.is_ok)

    assert await reason(flow.tasks["c"]) == "It waits for 2 of 2 parents: a, b."
    first, second = await claim(queue)
    await queue.complete_task(first)
    assert await reason(flow.tasks["c"]) == "It waits for 1 of 2 parents: b."
    await queue.suspend_task(second.task_id, second.token, "approved", signal="approved")
    assert await reason(second.task_id) == "It waits for the signal approved."
    await queue.send_signal(second.task_id, "approved")
    (second,) = await claim(queue)
    await queue.suspend_task(second.task_id, second.token, "nap", delay=timedelta(hours=2))
    assert (await reason(second.task_id)).startswith("It sleeps until ")
    await stage.advance(hours=3)
    (second,) = await claim(queue)
    await queue.call_tasks(second.task_id, second.token, "call", JOB, [{}, {}])
    assert (await reason(second.task_id)).startswith("It waits for 2 of 2 called tasks: ")
    await end_all(queue)
    other = await submit(queue, [entry("a"), entry("b", "a", on_failure="hold")])
    await fail_next(queue)
    assert (
        await reason(other.tasks["b"])
        == f"It is held, because its parent {other.tasks['a']} did not complete."
    )
