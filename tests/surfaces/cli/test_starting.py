"""How commands start: quickly, plainly, and with the database that was meant."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from pgjobs import __version__
from pgjobs.cli.app import COMMANDS
from pgjobs.queue.server import ServerQueue as Queue
from tests.server import PostgresServer
from tests.surfaces.cli.commands import Terminal, environment, every_command, run
from tests.surfaces.cli.conftest import Pgjobs, failed_tasks
from tests.surfaces.incomplete_runs import incomplete_runs

HEAVY = {
    "asyncio",
    "asyncpg",
    "pydantic",
    "pydantic_settings",
    "fastapi",
    "rich",
    "uvicorn",
    "psycopg",
    "socketio",
    "httpx",
}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("tasks", "--help"),
        ("tasks", "retry", "--help"),
        ("dev", "--help"),
        ("schedules", "add", "--help"),
    ],
)
def test_help_loads_nothing_that_is_slow_to_load(arguments: tuple[str, ...]):
    program = f"""
import sys
from pgjobs.cli import main
sys.argv = ["pgjobs", *{arguments!r}]
try:
    main()
finally:
    loaded = {{name.partition(".")[0] for name in sys.modules}}
    print("loaded", *sorted(loaded & {HEAVY!r}), "pgjobs.queue" in sys.modules, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Usage: pgjobs")
    # Options of a command are checked by pydantic, in typer itself.
    own = "" if arguments == ("--help",) else "pydantic "
    assert done.stderr in ("loaded False\n", f"loaded {own}False\n")


def test_the_list_of_commands_imports_none_of_them():
    program = """
import sys
from pgjobs.cli import main
sys.argv = ["pgjobs", "--help"]
try:
    main()
finally:
    print("loaded", *sorted(name for name in sys.modules if name.startswith("pgjobs")), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stderr.split()[1:] == [
        "pgjobs", "pgjobs.cli", "pgjobs.cli.app", "pgjobs.cli.exit_codes", "pgjobs.cli.lazy", "pgjobs.errors",
        "pgjobs.version",
    ]  # fmt: skip


def test_the_list_of_commands_says_what_their_help_says():
    for name, later in COMMANDS.items():
        said = " ".join((later.load(name).help or "").split())
        assert said.startswith(later.summary.rstrip(".")), name


def test_the_version_is_told():
    assert run("--version").stdout == f"{__version__}\n"


def test_the_benchmark_gets_the_options_it_knows():
    done = run("bench", "--no-such-option")
    assert done.returncode == 2
    assert "run.py: error: unrecognized arguments: --no-such-option" in done.stderr


async def test_a_terminal_gets_colours_and_a_pipe_does_not(
    queue_url: str, pgjobs: Pgjobs, queue: Queue, job: str
):
    await failed_tasks(queue, job, 1)
    with Terminal("tasks", "list", PGJOBS_DATABASE_URL=queue_url) as terminal:
        assert terminal.end() == 0
    assert "\x1b[31mfailed" in terminal.shown
    with Terminal("tasks", "list", PGJOBS_DATABASE_URL=queue_url, NO_COLOR="1") as terminal:
        assert terminal.end() == 0
    assert "\x1b[31m" not in terminal.shown
    assert "\x1b" not in pgjobs("tasks", "list", FORCE_COLOR="1").stdout


@pytest.mark.postgres_only
async def test_nothing_is_coloured_or_moves_in_a_pipe(pgjobs: Pgjobs, queue: Queue, queue_url: str, job: str):
    [task] = await failed_tasks(queue, job, 1)
    [run] = await incomplete_runs(queue, queue_url)
    worker = next(worker.id for worker in await queue.list_workers() if worker.name == "clumsy")
    await queue.register_job("@global", "mail", "Unused", keep=True)
    unused, schedule = "@global:mail:Unused", "@global:nightly"
    token = await queue.create_token("ada")
    flow = (await queue.submit_workflow("pair", [{"job": job}])).id
    commands: list[tuple[object, ...]] = [
        ("--help",), ("tasks", "retry", "--help"), ("tasks", "nothing"), ("tasks", "list", "--json"),
        ("tasks", "list"), ("tasks", "show", task), ("tasks", "why", task), ("tasks", "wait", task),
        ("tasks", "log", task), ("tasks", "steps", task), ("tasks", "resubmit", task), ("tasks", "ignore", task), ("tasks", "unignore", task),
        ("tasks", "signal", task, "approved"), ("tasks", "cancel", task), ("workflows", "list"),
        ("workflows", "show", flow), ("workflows", "cancel", flow), ("workflows", "retry", flow),
        ("tasks", "retry", "--status", "cancelled", "--yes"),
        ("tasks", "prune", "--older-than", "0s", "--yes"), ("enqueue", job), ("enqueue", job, "--lines"),
        ("jobs", "list"), ("jobs", "show", job), ("jobs", "pause", job), ("jobs", "resume", job),
        ("jobs", "limit", job), ("jobs", "keys", job), ("jobs", "policy", job),
        ("quotas", "set", "--owner", "ada", "--waiting", "500"), ("quotas", "list"),
        ("jobs", "archive", unused), ("jobs", "unarchive", unused), ("jobs", "retire", unused),
        ("jobs", "delete", unused, "--yes"), ("schedules", "add", "nightly", job, "--cron", "@daily"),
        ("schedules", "list"), ("schedules", "show", schedule), ("schedules", "run", schedule),
        ("schedules", "pause", schedule), ("schedules", "resume", schedule), ("schedules", "remove", schedule),
        ("schedules", "preview", "--every", "10m"), ("workers", "list"), ("workers", "show", worker),
        ("workers", "retire", worker), ("cleanup", "list"), ("cleanup", "show", run), ("cleanup", "nodes"),
        ("cleanup", "retry-now", run), ("cleanup", "ignore", run), ("cleanup", "unignore", run),
        ("cleanup", "run", "--once"), ("token", "create", "bob"), ("token", "list"),
        ("token", "revoke", token.id), ("rooms", "list"), ("doctor",), ("top",), ("sweep",), ("migrate",), ("openapi",),
    ]  # fmt: skip
    for arguments in commands:
        stdin = "{}\n{}\n" if "--lines" in arguments else ""
        done = pgjobs(*arguments, stdin=stdin, FORCE_COLOR="1", CLICOLOR_FORCE="1", TERM="xterm-256color")
        assert done.returncode in (0, 6, 7) or "nothing" in arguments, (arguments, done.stderr)
        assert done.stdout or done.stderr, arguments
        assert "\x1b" not in done.stdout + done.stderr, arguments
        assert "\r" not in done.stdout + done.stderr, arguments
    run_here = {" ".join(map(str, each[:2])) for each in commands} | {str(each[0]) for each in commands}
    # Those that do not end by themselves, are another program, or need a login or several databases.
    assert {name for name in every_command() if name not in run_here} == {
        "dev", "worker", "serve", "psql", "bench", "rooms grant", "rooms revoke",
        "cluster init", "cluster add", "cluster drain", "cluster status",
    }  # fmt: skip


@pytest.fixture
def four_databases(postgres_server: PostgresServer, tmp_path: Path) -> list[str]:
    files = [f"sqlite:///{tmp_path / name}.db" for name in ("flag", "own", "common")]
    for url in files:
        assert run("migrate", "--url", url).returncode == 0
    return files


def test_the_flag_comes_before_the_variables_and_libpq_comes_last(
    four_databases: list[str], database_url: str, postgres_server: PostgresServer
):
    flag, own, common = four_databases
    libpq: dict[str, Any] = {
        "PGHOST": postgres_server.host,
        "PGPORT": str(postgres_server.port),
        "PGUSER": postgres_server.user,
        "PGPASSWORD": postgres_server.password,
        "PGDATABASE": database_url.rpartition("/")[2],
    }
    variables: dict[str, Any] = {"PGJOBS_DATABASE_URL": own, "DATABASE_URL": common}

    def token_of(*arguments: str, **more: Any) -> str:
        done = run("token", "list", *arguments, **libpq, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[1].split("\t")[1]

    for name, url in (("flag", flag), ("own", own), ("common", common)):
        assert run("token", "create", name, "--url", url).returncode == 0
    assert run("token", "create", "libpq", **libpq).returncode == 0
    assert token_of("--url", flag, **variables) == "flag"
    assert token_of(**variables) == "own"
    assert token_of(DATABASE_URL=common) == "common"
    assert token_of() == "libpq"


def test_a_sqlite_file_is_migrated_like_a_database(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    looked = run("migrate", "--url", url, "--dry-run")
    assert looked.returncode == 0, looked.stderr
    assert looked.stdout.startswith("migrations/0001")
    assert run("tasks", "list", "--url", url).returncode == 5
    first, again = run("migrate", "--url", url), run("migrate", "--url", url)
    assert (first.returncode, first.stdout) == (0, looked.stdout)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "The SQLite file is up to date.\n")
    assert run("tasks", "list", "--url", url).returncode == 0


def test_a_migration_shows_its_progress_on_a_terminal(empty_database_url: str):
    with Terminal("migrate", "--no-roles", "--url", empty_database_url) as terminal:
        assert terminal.end() == 0
    assert "Migrate" in terminal.shown
    assert "━" in terminal.shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_jobs(shell: str, tmp_path: Path):
    script = run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert script.returncode == 0, script.stderr
    assert "_PGJOBS_COMPLETE=complete_" in script.stdout
    if (program := shutil.which(shell)) is not None:
        file = tmp_path / "completion"
        file.write_text(script.stdout)
        read = subprocess.run([program, "-n", str(file)], capture_output=True, text=True, check=False)
        assert (read.returncode, read.stderr) == (0, "")


def test_bash_completes_what_was_begun(tmp_path: Path):
    script = run("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1").stdout
    [function] = re.findall(r"complete .*-F (\w+) pgjobs", script)
    tool = tmp_path / "pgjobs"
    tool.write_text(f"#!{sys.executable}\nimport sys\nfrom pgjobs.cli import main\nsys.exit(main())\n")
    tool.chmod(0o755)

    def completed(*words: str) -> list[str]:
        begun = " ".join(f"'{word}'" for word in words)
        asked = (
            f"COMP_WORDS=({begun}); COMP_CWORD={len(words) - 1}; {function} pgjobs; echo ${{COMPREPLY[@]}}"
        )
        done = subprocess.run(
            ["bash", "-c", f"{script}\n{asked}"],
            env=environment(PATH=f"{tmp_path}:{os.environ['PATH']}"),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    assert completed("pgjobs", "do") == ["doctor"]
    assert completed("pgjobs", "tasks", "un") == ["unignore"]
    assert completed("pgjobs", "tasks", "list", "--stat") == ["--status"]


def test_completion_offers_jobs_and_stays_silent_without_a_database(database_url: str):
    async def register() -> None:
        async with await Queue.connect(database_url) as queue:
            await queue.register_job("@global", "mail", "Welcome")

    import asyncio

    asyncio.run(register())
    asked = {"_PGJOBS_COMPLETE": "complete_bash", "COMP_WORDS": "pgjobs jobs show @glo", "COMP_CWORD": "3"}
    program = [sys.executable, "-c", "import sys; sys.argv=['pgjobs']; from pgjobs.cli import main; main()"]

    def complete(**more: str) -> str:
        done = subprocess.run(
            program, env=environment(**asked, **more), capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        return done.stdout.strip()

    assert complete(PGJOBS_DATABASE_URL=database_url) == "@global:mail:Welcome"
    assert complete() == ""


async def test_a_pooler_is_gone_through_when_the_environment_says_so(database_url: str):
    async with await Queue.connect(database_url) as plain:
        assert isinstance(plain.driver.pool, asyncpg.Pool)  # type: ignore[attr-defined]
    done = run(
        "jobs", "list", PGJOBS_DATABASE_URL=database_url, PGJOBS_POOLED="true", PGJOBS_LISTEN_URL=database_url
    )
    assert done.returncode == 0, done.stderr
