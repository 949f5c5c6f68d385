"""`pgjobs top` and metrics over two cells, and what a setting of cells may look like."""

from __future__ import annotations

import asyncio
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pgjobs.contrib import prometheus as metrics
from pgjobs.errors import InvalidArgument
from pgjobs.queue.cells import Cells
from pgjobs.queue.server import ServerQueue
from pgjobs.settings import Settings, cell_at, cells_apart, cells_named, named_url
from tests.cells.conftest import TwoCells
from tests.surfaces.cli.warm import run

ONE, OTHER = (
    "postgresql://ada:hush@one,two:5433/shop?target_session_attrs=primary",
    "postgresql+asyncpg://b/us",
)


def test_cells_are_named_in_a_setting_whose_urls_may_have_commas():
    eu, us = cells_named(f"eu={ONE}, us={OTHER}")
    assert (eu.name, eu.url.get_secret_value()) == ("eu", ONE)
    assert (us.name, us.url.get_secret_value()) == ("us", "postgresql://b/us")


def test_a_cell_without_a_name_is_called_after_its_place_and_never_by_its_password():
    assert cell_at(ONE).name == "one,two:5433/shop"
    assert cell_at(f"eu={ONE}").name == "eu"
    assert "hush" not in f"{cell_at(ONE)} {cells_named(f'eu={ONE}')}"


@pytest.mark.parametrize(
    "text", ["", ONE, f"{ONE},us={OTHER}", f"a b={ONE}", "eu=sqlite:///x", f"eu={ONE},eu={OTHER}"]
)
def test_what_cannot_be_understood_is_refused_without_repeating_it(text: str):
    with pytest.raises(InvalidArgument) as refusal:
        cells_named(text)
    assert "hush" not in str(refusal.value)


def test_two_cells_of_one_name_are_refused():
    with pytest.raises(InvalidArgument, match="Two cells are called"):
        cells_apart([cell_at(OTHER), cell_at(OTHER)])


def test_commands_for_one_database_take_a_cell_by_its_name(monkeypatch: pytest.MonkeyPatch):
    for name in ("PGJOBS_DATABASE_URL", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGJOBS_CELLS", f"eu={ONE},us={OTHER}")
    assert named_url("eu") == ONE
    assert named_url("nowhere") == "nowhere"
    with pytest.raises(InvalidArgument, match="--url eu"):
        Settings().url()
    monkeypatch.setenv("PGJOBS_CELLS", f"eu={ONE}")
    assert Settings().url() == ONE


async def furnished(two: TwoCells) -> None:
    await two.eu.register_job("@global", "tasks", "calm")
    await two.us.register_job("@global", "tasks", "busy")
    await two.eu.submit_tasks("@global:tasks:calm", [{}])
    await two.us.submit_tasks("@global:tasks:busy", [{}, {}])


async def test_top_shows_the_busiest_jobs_of_all_cells_and_names_a_missing_one(two: TwoCells):
    await furnished(two)

    def top(*arguments: str):
        return asyncio.to_thread(run, "top", *arguments, PGJOBS_CELLS=two.setting)

    done = await top()
    assert done.returncode == 0, done.stderr
    names, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    shown = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(row["cell"], row["job"], row["due"]) for row in shown] == [
        ("us", "@global:tasks:busy", "2"),
        ("eu", "@global:tasks:calm", "1"),
    ]
    assert done.stderr == ""
    await two.relay.close()
    done = await top()
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["cell", "eu"]
    assert done.stderr.startswith("Not shown, because it cannot be asked: us (")
    told = json.loads((await top("--json")).stdout)
    assert told["cells"]["eu"]["waiting"] == 1
    assert list(told["missing"]) == ["us"]


async def test_top_of_one_url_is_as_it_was(two: TwoCells):
    await furnished(two)
    done = await asyncio.to_thread(run, "top", "--url", "us", PGJOBS_CELLS=two.setting)
    names, row = [line.split("\t") for line in done.stdout.splitlines()]
    assert names[0] == "job"
    assert row[0] == "@global:tasks:busy"


async def test_metrics_carry_the_cell_and_say_which_is_up(two: TwoCells, both: dict[str, ServerQueue]):
    await furnished(two)
    cells = Cells(both)

    async def numbers() -> dict[str, dict[str, float]]:
        families = text_string_to_metric_families((await metrics.render_cells(cells)).decode())
        return {one.name: {s.labels["cell"]: s.value for s in one.samples} for one in families if one.samples}

    told = await numbers()
    assert told["pgjobs_cell_up"] == {"eu": 1, "us": 1}
    assert told["jobs_queued"] == {"eu": 1, "us": 2}
    assert told["jobs_types"] == {"eu": 1, "us": 1}
    await two.relay.close()
    told = await numbers()
    assert told["pgjobs_cell_up"] == {"eu": 1, "us": 0}
    assert told["jobs_queued"] == {"eu": 1}


async def test_metrics_of_one_queue_have_no_such_label(two: TwoCells):
    await furnished(two)
    assert b"cell=" not in await metrics.render(two.eu)
