"""The console in a real Chromium, against a real server and a real Postgres."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_postgresql.executors import NoopExecutor

from pgjobs.server import ApiSettings
from tests.console.staging import Stage, set_stage
from tests.databases import Databases
from tests.surfaces.rest_server import SECRET, app_on, serving, token_of

SIZES = {"phone": (360, 740), "tablet": (768, 1024), "desk": (1440, 900)}
NAMES = ("chromium", "chromium-browser", "google-chrome")
# The address bar of a headless window draws two pages of its own, at the cost of the console's.
# Naming features replaces Playwright's choice of what keeps a browser to itself, so that is named again.
UNUSED = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
WATCH = """
  window.violations = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""

Open = Callable[..., Any]


class SkippedWithoutBrowsers(pytest.Module):
    """A module of tests that cannot be imported where playwright is missing."""

    def collect(self) -> Any:
        try:
            return super().collect()
        except self.CollectError:
            if find_spec("playwright") is not None:
                raise
        pytest.skip("playwright is not installed", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return SkippedWithoutBrowsers.from_parent(parent, path=module_path)


def driver_problem() -> str | None:
    """Why the Node that Playwright brings along does not run here; on a small system it lacks a library."""
    from playwright._impl._driver import compute_driver_executable, get_driver_env

    command = [*map(str, compute_driver_executable()), "--version"]
    done = subprocess.run(command, env=get_driver_env(), capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    missing = re.search(r"libatomic\.so\.1", done.stderr)
    said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return "it needs the package libatomic1" if missing else said


# Playwright keeps an event loop running in this thread: not for longer than a module, whose tests have none.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("PGJOBS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium: install the package chromium, or set PGJOBS_CHROMIUM to its path")
    if (problem := driver_problem()) is not None:
        pytest.skip(f"Playwright cannot start: {problem}")
    playwright.expect.set_options(timeout=20_000)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=found, args=["--no-sandbox", f"--disable-features={','.join(UNUSED)}"]
        )
        yield browser
        browser.close()


@dataclass(frozen=True)
class Console:
    """A served console, and what is on its stage."""

    base: str
    url: str
    stage: Stage

    def at(self, place: str) -> str:
        return f"{self.base}/ui/#{place}"


@pytest.fixture(scope="session")
def looked_at(databases: Databases, migrated_template: NoopExecutor) -> Iterator[Console]:
    """A staged queue that tests only look at."""
    with databases.new(migrated_template.template_dbname) as url:
        stage = set_stage(url)
        with serving(app_on(url, quiet())) as base:
            yield Console(base, url, stage)


@pytest.fixture
def console(database_url: str) -> Iterator[Console]:
    """An empty queue that the test may change."""
    with serving(app_on(database_url, quiet())) as base:
        yield Console(base, database_url, Stage())


def quiet() -> ApiSettings:
    """Without upkeep, which would end what is staged as silent or stuck, and begin what is not."""
    return ApiSettings(
        auth_secret=SecretStr(SECRET), sweeper_interval_seconds=3600, run_cleanup=False, run_schedules=False
    )


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Opens pages as a signed-in user; afterwards no page may have broken its policy or thrown."""
    contexts: list[Any] = []
    pages: list[Any] = []
    thrown: list[str] = []

    def open_page(
        console: Console,
        place: str = "/",
        *,
        size: str = "desk",
        user: str | None = "ops",
        is_superuser: bool = True,
        colours: str = "light",
        path: str = "/ui/",
    ) -> Any:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce"
        )
        contexts.append(context)
        context.set_default_timeout(20000)
        context.add_init_script(WATCH)
        if user is not None:
            root = path.removesuffix("/ui/")
            answer = context.request.post(
                f"{console.base}{root}/v1/joblib/session",
                headers={"Authorization": f"Bearer {token_of(user, is_superuser=is_superuser)}"},
            )
            assert answer.status == 201, answer.text()
        page = context.new_page()
        page.on("pageerror", lambda error: thrown.append(str(error)))
        pages.append(page)
        page.goto(f"{console.base}{path}#{place}")
        return page

    yield open_page
    broken = [violation for page in pages if not page.is_closed() for violation in _violations(page)]
    for context in contexts:
        context.close()
    assert broken == []
    assert thrown == []


def _violations(page: Any) -> list[str]:
    return list(page.evaluate("window.violations"))


@pytest.fixture(scope="session")
def screenshots(pytestconfig: pytest.Config) -> Path | None:
    """Where pictures go, if any are wanted: PGJOBS_SCREENSHOTS=docs/screenshots."""
    wanted = os.environ.get("PGJOBS_SCREENSHOTS")
    if not wanted:
        return None
    directory = Path(pytestconfig.rootpath, wanted)
    directory.mkdir(parents=True, exist_ok=True)
    return directory
