"""`pgjobs serve` and `pgjobs openapi`."""

from __future__ import annotations

import ipaddress
import json
import logging
import signal
from types import FrameType
from typing import Annotated, Any

import typer

from pgjobs.cli.database import Urls, cells_of, drive, opened, settings_of, url_of
from pgjobs.drivers.redaction import RedactingFormatter
from pgjobs.errors import InvalidArgument


def serve(
    url: Urls = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 picks a free one.")] = 8787,
) -> None:
    """Serve the HTTP API."""
    from pgjobs.server import ApiSettings
    from pgjobs.server.app import create_app

    cells = cells_of(url)
    # Who may do what is known in the first cell.
    address = cells[0].url.get_secret_value() if cells else settings_of(url_of(url)).url()
    settings = ApiSettings()
    if not is_loopback(host) and not drive(_has_auth(address, settings)):
        raise InvalidArgument(
            f"Refusing to listen on {host} without authentication",
            hint="Set PGJOBS_AUTH_SECRET, create a token with: pgjobs token create, or listen on 127.0.0.1",
        )
    refuse_weak_secret(host, settings)
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # The format does not name them, and looking them up for every request costs as much as the line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    typer.echo(settings.who_sees_what, err=True)
    app = create_app(settings=settings, cells=cells) if cells else create_app(settings=settings, url=address)
    run_server(app, host, port, settings)


def openapi() -> None:
    """Print the OpenAPI document of the HTTP API."""
    from pgjobs.server.app import create_app

    typer.echo(json.dumps(create_app().openapi(), indent=2))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_weak_secret(host: str, settings: Any) -> None:
    """Refuses a secret that can be guessed where strangers could try; warns where they cannot."""
    if not settings.has_weak_secret:
        return
    message = "PGJOBS_AUTH_SECRET has fewer than 32 bytes, so tokens could be forged"
    hint = "Make one with: openssl rand -hex 32"
    if not is_loopback(host):
        raise InvalidArgument(f"Refusing to listen on {host}: {message}", hint=hint)
    typer.echo(f"Warning: {message}. {hint}", err=True)


def run_server(app: Any, host: str, port: int, settings: Any) -> None:
    """Serves until a signal comes; then long polls are answered and requests finished first."""
    import asyncio

    import uvicorn

    from pgjobs.server import release_waiters

    class Server(uvicorn.Server):
        loop: asyncio.AbstractEventLoop | None = None

        async def startup(self, sockets: Any = None) -> None:
            self.loop = asyncio.get_running_loop()
            await super().startup(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # A signal may come before the loop runs; nobody waits then.
            if self.loop is not None:
                self.loop.call_soon_threadsafe(lambda: asyncio.ensure_future(release_waiters(app)))
            super().handle_exit(sig, frame)

    server = Server(server_config(app, host, port, settings))
    server.run()
    if not server.started:
        raise SystemExit(1)
    if signal.SIGINT in getattr(server, "_captured_signals", ()):
        raise SystemExit(130)


def server_config(app: Any, host: str, port: int, settings: Any = None) -> Any:
    import uvicorn

    from pgjobs.server import ApiSettings
    from pgjobs.server.slow_requests import timed_http

    settings = settings or ApiSettings()
    return uvicorn.Config(
        app,
        http=timed_http(settings.header_timeout_seconds, settings.body_timeout_seconds),
        host=host,
        port=port,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=10,
    )


async def _has_auth(address: str, settings: Any) -> bool:
    if settings.auth_secret is not None:
        return True
    async with opened(address) as queue:
        return any(token.revoked_at is None for token in await queue.list_tokens(page_size=500))
