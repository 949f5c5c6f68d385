"""The console over several cells: all of them at once, one of them, and one that is away."""

from __future__ import annotations

from collections.abc import Iterator

import asyncpg
import pytest
from playwright.sync_api import expect
from pydantic import SecretStr
from pytest_postgresql.executors import NoopExecutor

from pgjobs.queue.queue import Queue
from pgjobs.server.app import create_app
from pgjobs.settings import CellAddress
from tests.console.conftest import Console, Open, quiet
from tests.console.staging import Stage, in_a_thread
from tests.databases import Databases
from tests.surfaces.processes import free_port
from tests.surfaces.rest_server import serving


async def furnish(url: str, room: str, *, is_copy: bool) -> None:
    if is_copy:
        connection = await asyncpg.connect(url)
        await connection.execute("select pgjobs._become_node(0, sha256('another'))")
        await connection.close()
    async with await Queue.connect(url) as queue:
        await queue.register_job(room, "tests", "Work")
        await queue.submit_tasks(f"{room}:tests:Work", [{}, {}])


@pytest.fixture
def over_cells(databases: Databases, migrated_template: NoopExecutor, database_url: str) -> Iterator[Console]:
    """Two cells that are there, and `far`, which nobody answers for."""
    with databases.new(migrated_template.template_dbname) as other:
        in_a_thread(furnish(database_url, "paris", is_copy=False))
        in_a_thread(furnish(other, "texas", is_copy=True))
        urls = {"eu": database_url, "us": other, "far": f"postgresql://127.0.0.1:{free_port()}/x"}
        cells = [CellAddress(name, SecretStr(url)) for name, url in urls.items()]
        with serving(create_app(settings=quiet(), cells=cells)) as base:
            yield Console(base, database_url, Stage())


def test_tasks_of_all_cells_are_listed_and_a_missing_cell_is_named(over_cells: Console, open_page: Open):
    page = open_page(over_cells, "/tasks")
    rows = page.get_by_role("table", name="Tasks").locator("tbody tr")
    expect(rows).to_have_count(4)
    assert sorted(row.locator("td").last.inner_text() for row in rows.all()) == ["eu", "eu", "us", "us"]
    expect(page.get_by_role("status").filter(has_text="Not shown")).to_contain_text("far")
    # An id leads to its cell.
    rows.filter(has_text="us").first.get_by_role("link").first.click()
    expect(page.get_by_text("texas").first).to_be_visible()
    with page.expect_event("load"):
        page.get_by_role("combobox", name="Cell").select_option("us")
    page.goto(over_cells.at("/tasks"))
    expect(page.get_by_role("table", name="Tasks").locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("status").filter(has_text="Not shown")).to_have_count(0)


def test_the_overview_shows_every_cell_and_leads_to_each(over_cells: Console, open_page: Open):
    page = open_page(over_cells)
    table = page.get_by_role("table", name="Cells")
    expect(table.locator("tbody tr")).to_have_count(3)
    expect(table.get_by_role("row", name="us")).to_contain_text("2")
    expect(table.get_by_role("row", name="far")).to_contain_text("gone")
    page.goto(over_cells.at("/database"))
    expect(page.get_by_role("heading", name="Choose a cell")).to_be_visible()
    page.get_by_role("button", name="us", exact=True).click()
    expect(page.get_by_role("combobox", name="Cell")).to_have_value("us")
    page.goto(over_cells.at("/"))
    expect(page.get_by_title("Opens waiting and scheduled tasks")).to_contain_text("2")


def test_where_there_is_one_database_nothing_is_said_of_cells(console: Console, open_page: Open):
    page = open_page(console)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.get_by_role("combobox", name="Cell")).to_have_count(0)
    expect(page.get_by_title("Opens waiting and scheduled tasks")).to_be_visible()
