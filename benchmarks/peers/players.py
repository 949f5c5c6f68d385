"""A player: one system in a process of its own, asked one thing at a time by lines of JSON."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.peers import Peer

_ANSWER = b'{"answer"'
_PATIENCE = 300


class Unplayable(Exception):
    """The peer could not do what it was asked; the message says why."""


class Player:
    """`mode` names how the system is used, with its version."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Any) -> None:
        self.name = name
        self.mode = ""
        self.url = ""
        self._process = process
        self._log = log

    async def ask(self, question: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": question, **arguments}).encode() + b"\n")
        try:
            async with asyncio.timeout(_PATIENCE):
                while line := await self._process.stdout.readline():
                    if line.startswith(_ANSWER):
                        return json.loads(line)["answer"]
        except TimeoutError as error:
            raise Unplayable(f"no answer to {question} within {_PATIENCE} s") from error
        raise Unplayable(f"ended while asked to {question}: {self._last_words()}")

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines()]
        return " ".join([line for line in lines if line][-2:])[:400]


@asynccontextmanager
async def playing(peer: Peer, url: str) -> AsyncIterator[Player]:
    """The peer's player on an empty database, ready to be asked."""
    async with _store(peer, url) as store:
        with tempfile.TemporaryFile() as log:
            process = await asyncio.create_subprocess_exec(
                *peer.environment.command(peer.program),
                store,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=2**22,
            )
            try:
                player = Player(peer.name, process, log)
                player.mode = await player.ask("prepare")
                yield player
            finally:
                if process.returncode is None:
                    process.kill()
                await process.wait()


@asynccontextmanager
async def _store(peer: Peer, url: str) -> AsyncIterator[str]:
    if not peer.needs_redis:
        yield url
        return
    server = shutil.which("redis-server")
    if server is None:
        raise Unplayable("redis-server is not installed")
    with tempfile.TemporaryDirectory(prefix="pgjobs-redis-") as directory:
        port = free_port()
        options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", directory, "--save", ""]
        process = await asyncio.create_subprocess_exec(server, *options, stdout=asyncio.subprocess.DEVNULL)
        try:
            await _listens(port)
            yield f"redis://127.0.0.1:{port}"
        finally:
            process.terminate()
            await process.wait()


async def _listens(port: int) -> None:
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return
    raise Unplayable("redis-server does not answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
