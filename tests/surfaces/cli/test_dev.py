"""`pgjobs dev` and `make demo`, run in a directory of their own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError, find_binaries
from tests.server import new_home
from tests.surfaces.cli.commands import ROOT, Program, Terminal, start
from tests.surfaces.cli.warm import run

try:
    find_binaries()
except EmbeddedPostgresError:
    pytestmark = pytest.mark.skip("there is no Postgres to embed")

NOWHERE = {"PGJOBS_PG_BIN": "/nonexistent"}


@pytest.fixture
def here() -> Iterator[Path]:
    """A directory that the account which runs Postgres can enter."""
    home = new_home()
    (home / "here").mkdir()
    yield home / "here"
    shutil.rmtree(home)


def test_the_demo_ends_by_itself_and_loses_nothing(here: Path):
    done = run("dev", "--demo", "--port", 0, cwd=here)
    assert done.returncode == 0, done.stderr
    told = dict(line.split("\t") for line in done.stdout.splitlines()[1:])
    assert told["completed"] == "300"
    assert told["invariant violations (pgjobs.check)"] == "0"
    assert int(told["needed more than one attempt"]) > 0
    assert "kill -9" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert EmbeddedPostgres.running_in(here / ".pgjobs") is None, "it was stopped"


def test_everything_runs_in_one_process_and_other_commands_find_it(here: Path):
    process = start("dev", "--port", 0, cwd=here)
    try:
        assert process.stderr is not None
        link = ""
        while not link:
            line = process.stderr.readline()
            assert line, "it did not start"
            link = "".join(re.findall(r"http://\S*sign_in=\S+", line))
        with httpx.Client(trust_env=False, follow_redirects=False) as browser:
            answer = browser.get(link)
            assert answer.status_code == 303, answer.text
            assert browser.get(link).status_code == 401, "it counts once"
            assert [*browser.cookies] == [f"pgjobs_session_{answer.url.port}"], "it is that of this server"
            console = browser.get(str(answer.next_request.url)) if answer.next_request else answer
            assert (console.status_code, "text/html" in console.headers["content-type"]) == (200, True)
        token = run("token", "create", "me", cwd=here).stdout.strip()
        registered = httpx.put(
            f"http://{answer.url.netloc.decode()}/v1/joblib/rooms/lab/jobs",
            json={"category": "of my own", "name": "Job"},
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
        )
        assert registered.status_code == 201, registered.text
        submitted = run("enqueue", "@global:demo:Greet", '{"name": "Ada"}', cwd=here)
        assert submitted.returncode == 0, submitted.stderr
        waited = run("tasks", "wait", submitted.stdout.strip(), "--timeout", "30s", cwd=here)
        assert (waited.returncode, waited.stdout) == (0, '"Hello, Ada!"\n'), waited.stderr
        password = (here / ".pgjobs" / "password").read_text()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert password not in out + err
        assert "Traceback" not in err
    finally:
        process.kill()
    gone = run("tasks", "list", cwd=here)
    assert (gone.returncode, "No database URL" in gone.stderr) == (2, True)


def test_it_ends_when_its_time_is_over(here: Path):
    done = run("dev", "--port", 0, cwd=here, DEMO_SECONDS="0.1")
    assert done.returncode == 0, done.stderr
    tried = re.findall(r"^  pgjobs (.+?) +# \S", done.stderr, re.MULTILINE)
    assert tried == [
        "top",
        "enqueue @global:demo:Greet",
        "enqueue @global:demo:Report",
        "enqueue @global:demo:Explode",
        "tasks list",
        "doctor",
        "psql",
    ]
    again = run("dev", "--exit", "--port", 0, cwd=here)
    assert (again.returncode, "Starting a Postgres" in again.stderr) == (0, True), "its files are found again"


def test_without_postgres_it_says_what_to_install(here: Path):
    done = run("dev", "--port", 0, cwd=here, **NOWHERE)
    assert (done.returncode, done.stdout) == (1, "")
    assert "No Postgres binaries found in /nonexistent" in done.stderr
    assert "pip install 'pgjobs-server[embedded]'" in done.stderr
    assert not (here / ".pgjobs").exists()


def test_a_sqlite_file_is_refused(here: Path):
    done = run("dev", "--port", 0, "--url", "sqlite:///jobs.db", cwd=here)
    assert (done.returncode, done.stdout) == (4, "")
    assert "pgjobs dev is not on SQLite" in done.stderr
    assert list(here.iterdir()) == []


def test_a_database_that_was_named_is_used_instead(here: Path, database_url: str):
    done = run("dev", "--exit", "--port", 0, "--url", database_url, cwd=here)
    assert done.returncode == 0, done.stderr
    assert not (here / ".pgjobs").exists()
    assert "@global:demo:Greet" in run("jobs", "list", "--url", database_url).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres as somebody else")
def test_below_a_private_directory_the_server_keeps_its_files_elsewhere(here: Path):
    here.chmod(0o700)
    try:
        done = run("dev", "--exit", "--port", 0, cwd=here)
        assert done.returncode == 0, done.stderr
        elsewhere = (here / ".pgjobs").resolve()
        assert "may not enter" in done.stderr
        assert (elsewhere / "data").exists()
        assert run("dev", "--exit", "--port", 0, cwd=here).returncode == 0, "and finds them again"
    finally:
        shutil.rmtree((here / ".pgjobs").resolve(), ignore_errors=True)


def test_without_postgres_no_account_is_asked_for_to_run_it(here: Path):
    here.chmod(0o700)
    done = run("dev", "--exit", "--port", 0, cwd=here, **NOWHERE)
    assert (done.returncode, "may not enter" in done.stderr) == (1, False), done.stderr
    assert not (here / ".pgjobs").is_symlink()
    assert not (here / ".pgjobs").exists()


def test_on_a_terminal_the_demo_shows_a_bar_and_stays(here: Path):
    with Terminal("dev", "--demo", "--port", 0, cwd=here) as terminal:
        terminal.until("Ctrl-C ends it", 120)
        assert "━" in terminal.shown
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == 130


def test_closing_the_terminal_stops_the_database_too(here: Path):
    with Terminal("dev", "--port", 0, cwd=here) as terminal:
        terminal.until("Ctrl-C ends it", 120)
        assert EmbeddedPostgres.running_in(here / ".pgjobs") is not None
        terminal.close()
        assert terminal.process.wait(60) == 0
    assert EmbeddedPostgres.running_in(here / ".pgjobs") is None


def test_closing_the_terminal_of_make_ends_the_demo_too(here: Path):
    venv = here / "venv"
    (venv / "bin").mkdir(parents=True)
    program = venv / "bin" / "pgjobs"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pgjobs.cli "$@"\n')
    program.chmod(0o755)
    (here / "pyproject.toml").touch()
    (venv / ".installed").touch()
    make = ["make", "-f", str(ROOT / "Makefile"), f"VENV={venv}", "demo", "ARGS=--port 0"]
    with Program(*make, cwd=here, MAKEFLAGS="") as terminal:
        terminal.until("Ctrl-C ends it", 120)
        assert EmbeddedPostgres.running_in(here / ".pgjobs") is not None
        terminal.close()
        terminal.process.wait(60)
    assert EmbeddedPostgres.running_in(here / ".pgjobs") is None


def test_a_second_run_in_a_directory_is_refused_and_told_where_the_first_is(here: Path):
    with Terminal("dev", "--port", 0, cwd=here) as first:
        [address] = re.findall(r"HTTP API +(http://\S+?)/v1", first.until("Ctrl-C ends it", 120))
        second = run("dev", "--port", 0, cwd=here)
        assert second.returncode == 4
        assert second.stderr == (
            "pgjobs: pgjobs dev already runs in this directory. "
            f"Its console is at {address}/ui/. Use that one, end it first, or start another with --directory\n"
        )
        assert httpx.get(f"{address}/readyz", trust_env=False).status_code == 200, "the first goes on"
        first.process.send_signal(signal.SIGINT)
        assert first.end() == 130
    assert run("dev", "--exit", "--port", 0, cwd=here).returncode == 0


def test_a_server_that_a_killed_run_left_behind_is_not_left_behind_again(here: Path):
    with Terminal("dev", "--port", 0, cwd=here) as killed:
        killed.until("Ctrl-C ends it", 120)
    assert EmbeddedPostgres.running_in(here / ".pgjobs") is not None
    done = run("dev", "--exit", "--port", 0, cwd=here)
    assert (done.returncode, "left its Postgres behind" in done.stderr) == (0, True), done.stderr
    assert EmbeddedPostgres.running_in(here / ".pgjobs") is None


def test_under_nohup_it_goes_on_without_a_terminal(here: Path):
    with Terminal("dev", "--port", 0, cwd=here, hangup="SIG_IGN") as terminal:
        terminal.until("Ctrl-C ends it", 120)
        terminal.process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            terminal.process.wait(2)
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == 130
