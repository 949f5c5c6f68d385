"""A Django project whose tasks run on pgjobs, each test in the project's own process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.surfaces.recipes.snippets import snippet

PROJECT = Path(__file__).parent / "project"
ROOT = Path(__file__).parents[3]
OTHER = "PGJOBS_DJANGO_PYTHON"
"""A Python with another Django: how CI runs the same tests on Django 6."""


def pythons() -> list[str]:
    return [sys.executable, *filter(None, [os.environ.get(OTHER)])]


def in_project(python: str, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "SHOP_DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "settings",
        # The other Python has packages of its own.
        "PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '') if python == sys.executable else ''}",
    }
    return subprocess.run(
        [python, *arguments],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(params=pythons(), ids=lambda python: Path(python).parts[-3])
def python(request: pytest.FixtureRequest) -> str:
    found = in_project(request.param, "", "-c", "import django; print(*django.VERSION[:2])")
    if found.returncode != 0:
        pytest.skip("not installed: django")
    needed = "django.tasks" if int(found.stdout.split()[0]) >= 6 else "django_tasks"
    if in_project(
        request.param, "", "-c", f"import importlib.util as u; assert u.find_spec('{needed}')"
    ).returncode:
        pytest.skip(f"not installed: {needed}")
    return str(request.param)


def test_tasks_of_django_run_on_pgjobs(python: str, database_url: str):
    """In a database whose clock the project can move."""
    migrated = in_project(python, database_url, "manage.py", "pgjobs_migrate")
    assert migrated.returncode == 0, migrated.stderr
    ran = in_project(python, database_url, "-m", "unittest", "-v", "behaviour")
    assert ran.returncode == 0, ran.stderr[-6000:]
    counted = re.search(r"^Ran (\d+) tests", ran.stderr, re.MULTILINE)
    assert counted is not None
    assert int(counted[1]) >= 20


def test_the_project_has_no_migrations_to_make(python: str, empty_database_url: str):
    checked = in_project(
        python, empty_database_url, "manage.py", "makemigrations", "--check", "--dry-run", "shop"
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert in_project(python, empty_database_url, "manage.py", "check").returncode == 0


def test_a_worker_stops_when_it_is_told(python: str, empty_database_url: str):
    in_project(python, empty_database_url, "manage.py", "pgjobs_migrate", "--no-roles")
    refused = in_project(python, empty_database_url, "manage.py", "pgjobs_worker", "--queue", "nowhere")
    assert (refused.returncode, "has no queue nowhere" in refused.stderr) == (1, True)


def test_the_program_of_the_guide_submits_a_task(python: str, empty_database_url: str):
    in_project(python, empty_database_url, "manage.py", "pgjobs_migrate", "--no-roles")
    in_project(python, empty_database_url, "manage.py", "migrate")
    version = in_project(python, "", "-c", "import django; print(django.VERSION[0])").stdout.strip()
    # The backport has the same names in another package.
    package = "django.tasks" if int(version) >= 6 else "django_tasks"
    program = snippet("django.md", "welcome.enqueue").replace("django.tasks", package)
    beginning = "import django\ndjango.setup()\nfrom django.contrib.auth.models import User\n"
    ran = in_project(python, empty_database_url, "-c", beginning + program)
    assert ran.returncode == 0, ran.stderr[-2000:]
    with psycopg.connect(empty_database_url) as connection:
        found = connection.execute("select job, status, tags from pgjobs.task").fetchall()
    assert found == [("@global:django:mail", "pending", ["__main__.welcome"])]


def test_the_settings_of_the_guide_name_what_is_there(python: str):
    settings = snippet("django.md", "INSTALLED_APPS")
    assert in_project(python, "", "-c", settings).returncode == 0
    for name in ("pgjobs.contrib.django", "pgjobs.contrib.django.PgjobsBackend"):
        assert f'"{name}"' in settings
        assert f'"{name}"' in (PROJECT / "settings.py").read_text()
