"""Workflows in the console: the graph, what waits for a signal, what came before and after a task."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from playwright.sync_api import expect

from pgjobs.queue.flow import SubmittedWorkflow
from pgjobs.queue.records import Lease
from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.test_actions import JOB, confirm, uuid_of, with_queue


def entry(name: str, *after: str) -> dict[str, Any]:
    return {"name": name, "job": JOB, "after": list(after)}


async def submit(queue: Queue, *entries: dict[str, Any], name: str = "nightly") -> SubmittedWorkflow:
    await queue.register_job(*JOB.split(":"), events="full")
    return await queue.submit_workflow(name, list(entries))


async def claim(queue: Queue, quantity: int = 1) -> list[Lease]:
    return await queue.claim_tasks(
        holder="me", lease=timedelta(hours=1), in_room="@global", quantity=quantity, start=True
    )


def test_an_approval_is_given_by_a_click_and_the_graph_follows(console: Console, open_page: Open):
    async def begin(queue: Queue) -> SubmittedWorkflow:
        flow = await submit(queue, entry("account"), entry("welcome", "account"))
        (lease,) = await claim(queue)
        await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
        return flow

    flow = with_queue(console, begin)
    page = open_page(console, "/workflows")
    page.get_by_role("link", name="nightly").click()
    graph = page.get_by_role("group", name="Graph of 2 tasks")
    expect(graph.locator('[data-node="account"]')).to_contain_text("signal approved")
    page.get_by_role("button", name="Send signal approved").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("send_signal")
    confirm(page, "Send signal")
    expect(page.get_by_role("button", name="Send signal approved")).to_have_count(0)

    async def end(queue: Queue) -> Any:
        (lease,) = await claim(queue)
        answer = await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
        await queue.complete_task(lease)
        return answer.result

    assert with_queue(console, end) == {"by": "ops"}
    expect(graph.locator('[data-node="account"]')).to_contain_text("completed")
    with_queue(console, end_one)
    expect(page.locator(".head")).to_contain_text("completed")
    assert with_queue(console, lambda queue: queue.get_workflow(flow.id)).status == "completed"


async def end_one(queue: Queue) -> None:
    (lease,) = await claim(queue)
    await queue.complete_task(lease)


def test_a_task_offers_the_signal_it_waits_for(console: Console, open_page: Open):
    async def begin(queue: Queue) -> str:
        await queue.register_job(*JOB.split(":"))
        await queue.register_worker("mailer", jobs=[JOB])
        task = await queue.submit_task(JOB)
        (lease,) = await claim(queue)
        await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
        return await uuid_of(queue, task.task_id)

    task = with_queue(console, begin)
    page = open_page(console, f"/tasks/{task}")
    expect(page.locator("[data-why]")).to_contain_text("It waits for the signal approved.")
    page.locator("[data-why]").get_by_role("button", name="Send signal approved").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("not json")
    page.get_by_role("dialog").get_by_role("button", name="Send signal", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("not JSON")
    page.get_by_role("dialog").get_by_role("textbox").fill('{"by": "ada"}')
    confirm(page, "Send signal")
    expect(page.locator(".head")).not_to_contain_text("suspended")
    status = with_queue(console, lambda queue: queue.get_task(task_uuid=UUID(task)))
    assert (status.status, status.phase) == ("pending", "due")


def test_a_task_shows_its_steps_between_parents_and_children(console: Console, open_page: Open):
    async def begin(queue: Queue) -> tuple[str, str]:
        flow = await submit(queue, entry("fetch"), entry("merge", "fetch"), entry("mail", "merge"))
        await end_one(queue)
        (lease,) = await claim(queue)
        await queue.save_step(lease.task_id, lease.token, "charge", {"id": 7})
        await queue.suspend_task(lease.task_id, lease.token, "trial", delay=timedelta(days=14))
        return await uuid_of(queue, flow.tasks["merge"]), await uuid_of(queue, flow.tasks["mail"])

    merge, mail = with_queue(console, begin)
    page = open_page(console, f"/tasks/{merge}")
    parents, itself, children = (
        page.get_by_role("region", name=name) for name in ("Parents", "This task", "Children")
    )
    expect(parents.get_by_role("listitem")).to_have_count(1)
    expect(parents).to_contain_text("completed")
    expect(itself).to_contain_text("charge")
    expect(itself).to_contain_text("sleeps")
    expect(page.locator("[data-why]")).to_contain_text("It sleeps until")
    expect(page.locator("[data-why]").get_by_role("button")).to_have_count(0)
    page.get_by_role("link", name="nightly").wait_for()
    children.get_by_role("link").click()
    page.wait_for_url(f"**/tasks/{mail}")


def test_what_failed_is_retried_and_a_workflow_cancelled(console: Console, open_page: Open):
    async def begin(queue: Queue) -> SubmittedWorkflow:
        flow = await submit(queue, entry("fetch"), entry("merge", "fetch"))
        (lease,) = await claim(queue)
        await queue.fail_task(lease, "broken", retryable=False)
        await queue.sweep("waits")
        return flow

    flow = with_queue(console, begin)
    page = open_page(console, f"/workflows/{flow.uuid}")
    head = page.locator(".head")
    expect(head).to_contain_text("failed")
    head.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("dialog")).to_contain_text("retry_workflow")
    confirm(page, "Retry", "mended")
    expect(head).to_contain_text("waiting")
    head.get_by_role("button", name="Cancel").click()
    confirm(page, "Cancel workflow", "no longer needed")
    expect(head).to_contain_text("cancelled")
    assert with_queue(console, lambda queue: queue.get_workflow(flow.id)).cancelled == 2


def test_a_thousand_tasks_can_be_read(console: Console, open_page: Open):
    fan = [f"page-{number}" for number in range(980)]
    row = [f"row-{number}" for number in range(18)]

    async def begin(queue: Queue) -> SubmittedWorkflow:
        return await submit(
            queue,
            entry("top"),
            *(entry(name, "top") for name in fan),
            *(entry(name, row[place - 1] if place else "top") for place, name in enumerate(row)),
            entry("bottom", *fan, row[-1]),
        )

    flow = with_queue(console, begin)
    page = open_page(console, f"/workflows/{flow.uuid}")
    graph = page.get_by_role("group", name="Graph of 1,000 tasks")
    folded = graph.get_by_role("group")
    expect(folded).to_have_count(2)
    expect(graph.get_by_role("group", name="980 tasks of Welcome, side by side")).to_contain_text(
        "980 dependent"
    )
    expect(graph.get_by_role("group", name="18 tasks of Welcome, one after the other")).to_be_visible()
    expect(graph.locator(".square")).to_have_count(998)
    box = graph.locator("svg").bounding_box()
    assert box["width"] < 1400
    assert box["height"] < 900

    async def end_top(queue: Queue) -> None:
        await end_one(queue)
        await queue.complete_tasks(await claim(queue, 100))

    with_queue(console, end_top)
    expect(graph.get_by_role("group", name="980 tasks of Welcome")).to_contain_text("100 completed")
    page.get_by_role("button", name="Show a box for each task").click()
    expect(graph.locator("[data-node]")).to_have_count(1000)
    page.get_by_role("button", name="Fold tasks that are alike").click()
    expect(graph.locator("[data-node]")).to_have_count(2)
    rows = page.get_by_role("table", name="Tasks of the workflow").locator("tbody tr")
    expect(rows).to_have_count(100)


def test_readers_look_and_do_not_act(console: Console, open_page: Open):
    async def begin(queue: Queue) -> SubmittedWorkflow:
        flow = await submit(queue, entry("account"))
        (lease,) = await claim(queue)
        await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
        return flow

    flow = with_queue(console, begin)
    page = open_page(
        console, f"/workflows/{flow.uuid}?do=send_signal&of=x+approved", user="ada", is_superuser=False
    )
    expect(page.get_by_role("heading", name="Waiting for somebody")).to_be_visible()
    expect(page.get_by_role("button", name="Send signal approved")).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)
