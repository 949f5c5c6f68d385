"""`pgjobs dev`: database, server, worker and upkeep in one process, for a directory to play in."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgjobs.cli.database import DEVELOPMENT, Url, drive, opened, settings_of
from pgjobs.cli.exit_codes import INTERRUPTED
from pgjobs.cli.output import say
from pgjobs.errors import NotOnSqlite

if TYPE_CHECKING:
    import asyncio

    from pgjobs.queue.server import ServerQueue

_PORT = 8787
_LOOK_SECONDS = 0.5
_GRACE = timedelta(seconds=5)


def dev(
    *,
    url: Url = None,
    directory: Annotated[Path, typer.Option(help="Where the database keeps its files.")] = DEVELOPMENT,
    port: Annotated[
        int | None, typer.Option(help=f"Port of the HTTP API; {_PORT}, or a free one.", show_default=False)
    ] = None,
    jobs: Annotated[
        str, typer.Option(metavar="MODULE:JOBS", help="What the worker runs.")
    ] = "pgjobs.cli.demo:jobs",
    demo: Annotated[bool, typer.Option("--demo", help="First show what happens when a worker dies.")] = False,
    leave: Annotated[bool, typer.Option("--exit", help="End when it is up, or the demo is over.")] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0, envvar="DEMO_SECONDS", help="End after this long.")
    ] = None,
) -> None:
    """Run everything in one process. A Postgres of its own, server, worker, upkeep, demo jobs."""
    if leave or (demo and seconds is None and not sys.stdout.isatty()):
        seconds = 0
    with _database(url, directory) as place:
        is_interrupted = drive(_run(place, port, jobs, demo, seconds))
    if is_interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass(frozen=True)
class Place:
    """The database to use, and who is to be told where the HTTP API is."""

    url: str
    is_at: Callable[[str], None]


@contextmanager
def _database(url: str | None, directory: Path) -> Iterator[Place]:
    """The database that was named; else a Postgres here."""
    from pgjobs.cli.dev_home import reserved, started_postgres
    from pgjobs.schema.embedded import find_binaries
    from pgjobs.settings import Settings

    if url is not None or Settings().is_located:
        address = settings_of(url).url()
        if address.startswith("sqlite"):
            raise NotOnSqlite("pgjobs dev is not on SQLite", hint="Leave the URL out, or name a Postgres.")
        say("Using the database that --url or the environment names.")
        yield Place(address, lambda _: None)
        return
    find_binaries()
    with reserved(directory) as home:
        server = started_postgres(home.directory)
        try:
            yield Place(server.url, home.is_at)
        finally:
            server.stop()


async def _run(place: Place, port: int | None, jobs: str, demo: bool, seconds: float | None) -> bool:
    """Everything, until a signal, the terminal is gone or the time is over; whether Ctrl-C ended it."""
    import asyncio

    from pgjobs.cli.demo_script import tell
    from pgjobs.cli.demo_traffic import demo_traffic
    from pgjobs.cli.worker import load
    from pgjobs.worker import Worker

    url = place.url
    async with _stoppable() as (stopping, signals), opened(url) as queue:
        await queue.migrate()
        async with _serving(url, port) as base:
            place.is_at(base)
            if demo:
                await _unless(stopping, tell(queue, url))
            served = load(jobs)
            served.use(queue)
            if not stopping.is_set():
                async with (
                    Worker(queue, served, name="dev", sweep=None, grace=_GRACE) as worker,
                    demo_traffic(queue, worker, base) if demo and seconds != 0 else nullcontext(),
                ):
                    await _welcome(queue, base, served, is_short=seconds == 0, is_demo=demo)
                    await _unless(
                        stopping, asyncio.sleep(seconds) if seconds is not None else stopping.wait()
                    )
    return signal.SIGINT in signals


@asynccontextmanager
async def _stoppable() -> AsyncIterator[tuple[asyncio.Event, list[int]]]:
    """Set when it is time to end, and the signals that said so."""
    import asyncio

    stopping = asyncio.Event()
    signals: list[int] = []

    def stop(number: int) -> None:
        signals.append(number)
        stopping.set()

    numbers = {signal.SIGINT, signal.SIGTERM}
    # Under nohup it is ignored. A shell's background ignores SIGINT too, which is heeded all the same.
    minds_terminal = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    for number in numbers | ({signal.SIGHUP} if minds_terminal else set()):
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    watch = asyncio.create_task(_terminal_gone(minds_terminal))
    watch.add_done_callback(lambda ended: None if ended.cancelled() else stop(signal.SIGHUP))
    try:
        yield stopping, signals
    finally:
        watch.cancel()


async def _terminal_gone(minds_terminal: bool) -> None:
    """Returns when a terminal that was there is gone.

    Only a session's first process is sent SIGHUP then. A shell passes it on; make waits for us instead.
    """
    import asyncio
    import select

    terminals = select.poll()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if minds_terminal and stream is not None and stream.isatty():
            terminals.register(stream.fileno(), 0)
    while not terminals.poll(0):  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_SECONDS)


async def _unless(stopping: asyncio.Event, work: Any) -> None:
    """Does some work, but not after a signal."""
    import asyncio

    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(stopping.wait())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _serving(url: str, port: int | None) -> AsyncIterator[str]:
    """The HTTP API with its upkeep, in this event loop; gives its address."""
    import asyncio

    import uvicorn

    from pgjobs.cli.serve import server_config
    from pgjobs.server import ApiSettings, release_waiters
    from pgjobs.server.app import create_app
    from pgjobs.server.settings import ANY

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    settings = ApiSettings()
    ours: dict[str, Any] = {"sweeper_interval_seconds": 1.0, "allowed_categories": [ANY]}
    given = {name: value for name, value in ours.items() if name not in settings.model_fields_set}
    app = create_app(url=url, settings=ApiSettings(**given))
    server = Server(server_config(app, "127.0.0.1", _free(_PORT) if port is None else port))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        if serving.done():
            await serving
            raise OSError("The HTTP API did not start; is the port free?")
        await asyncio.sleep(0.01)
    number = server.servers[0].sockets[0].getsockname()[1]
    settings = app.state.pgjobs_settings
    if "session_cookie" not in settings.model_fields_set:
        # Browsers do not tell cookies apart by port: two of these would sign each other out.
        settings.session_cookie += f"_{number}"
    try:
        yield f"http://127.0.0.1:{number}"
    finally:
        await release_waiters(app)
        server.should_exit = True
        await serving


def _free(port: int) -> int:
    import socket

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port


async def _welcome(queue: ServerQueue, base: str, served: Any, *, is_short: bool, is_demo: bool) -> None:
    pgjobs = _program()
    if is_short:
        more = " --demo" if is_demo else ""
        say(f"Done. {pgjobs} dev{more}, on a terminal, stays up and says what to try next.")
        return
    from pgjobs.server.auth.sessions import sign_in_link

    link = await sign_in_link(queue, "dev", base=f"{base}/ui", is_superuser=True)
    count = len(served.registered)
    about = (
        f"{count} demo jobs are at work: see the console." if is_demo else f"A worker serves {count} jobs."
    )
    tried = [(pgjobs + " " + command, why) for command, why in _trials(list(served.registered))]
    width = max(len(command) for command, _ in tried)
    trials = "\n".join(f"  {command:<{width}}   # {why}" for command, why in tried)
    say(f"""
{about}

  Console    {link}
             (signs you in, once; later: {pgjobs} token create me --superuser)
  HTTP API   {base}/v1/joblib{_invitation(base, is_demo)}

In another terminal, in this directory, try:
{trials}
  TOKEN=$({pgjobs} token create me)
  curl -H "Authorization: Bearer $TOKEN" {base}/v1/joblib/rooms/@global/jobs

Ctrl-C ends it; what is in the database stays for the next time.""")


def _invitation(base: str, is_demo: bool) -> str:
    return (
        f"\n  Workflow   {base}/ui/#/workflows: one runs, sleeps, and waits for you to approve it"
        if is_demo
        else ""
    )


def _trials(addresses: list[str]) -> list[tuple[str, str]]:
    """What to try, each with what it shows; only with jobs that are there."""
    demo = {
        "@global:demo:Greet": "prints the task's number; tasks wait NUMBER prints its result",
        "@global:demo:Report": "takes twenty seconds; tasks show NUMBER tells how far it is",
        "@global:demo:Explode": "always fails; tasks why NUMBER says so, tasks retry NUMBER runs it again",
    }
    there = [address for address in demo if address in addresses] or addresses[:1]
    trials = [("top", "the busiest jobs, live; q quits")]
    trials += [(f"enqueue {each}", demo.get(each, "submits a task and prints its number")) for each in there]
    trials += [("tasks list", "newest first"), ("doctor", "what is wrong, and the SQL that fixes it")]
    return [*trials, ("psql", "the same by SQL: :top, :failed, :why (1);")]


def _program() -> str:
    """How this program is called from here: by name, or by path where the name finds another or none."""
    import shutil

    name = Path(sys.argv[0])
    found = shutil.which("pgjobs")
    if name.stem != "pgjobs" or (found is not None and Path(found).resolve() == name.resolve()):
        return "pgjobs"
    return os.path.relpath(name) if name.is_relative_to(Path.cwd()) or not name.is_absolute() else str(name)
