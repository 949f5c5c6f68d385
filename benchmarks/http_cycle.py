"""Submit, claim, start and complete over HTTP: our API against zndraw-joblib on the same Postgres."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import jwt

from benchmarks.database import Bench
from benchmarks.lean_http import LeanClient, lean_client
from benchmarks.peers import PEERS
from benchmarks.peers.environments import PROGRAMS
from benchmarks.peers.players import Unplayable, free_port
from benchmarks.scenario import Bar, Samples, Scale, Scenario
from pgjobs import Queue

HTTP_PEER = next(peer for peer in PEERS if peer.only == "http")
SECRET = "a secret for benchmarks only, long enough for HS256"
CLIENTS = 16
FEW = 4
CYCLES = 120
"""Of the peer in a full turn; ours does five times as many, for they are shorter."""


async def http(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Clients go through the four requests of a task, each with a job and a worker of its own."""
    samples.modes["pgjobs"] = "pgjobs serve, one process"
    samples.modes[HTTP_PEER.name] = "zndraw-joblib 0.1.7, uvicorn with uvloop and httptools, one process"
    cycles = CLIENTS * max(1, int(CYCLES * scale.share) // CLIENTS)
    async with AsyncExitStack() as stack:
        bases = {"pgjobs": (await stack.enter_async_context(_serving_ours(bench)), cycles * 5)}
        if HTTP_PEER in bench.peers:
            try:
                base = await stack.enter_async_context(_serving_peer(bench))
                bases[HTTP_PEER.name] = (base, cycles)
            except Unplayable as reason:
                samples.skip(HTTP_PEER.name, str(reason))
        for _ in range(scale.rounds):
            for name, (base, quantity) in bases.items():
                samples.add(name, await _cycles_per_second(base, quantity, CLIENTS))
                samples.add(f"{name}, {FEW} clients", await _cycles_per_second(base, quantity, FEW))


async def _cycles_per_second(base: str, cycles: int, quantity: int) -> float:
    token = jwt.encode({"sub": "bench", "is_superuser": True}, SECRET, algorithm="HS256")
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(lean_client(base, token)) for _ in range(quantity)]
        workers = [await _register(client, f"Job{number}") for number, client in enumerate(clients)]
        began = time.perf_counter()
        each = cycles // quantity
        await asyncio.gather(
            *(_cycles(client, f"Job{n}", workers[n], each) for n, client in enumerate(clients))
        )
        return each * quantity / (time.perf_counter() - began)


async def _register(client: LeanClient, name: str) -> str:
    body = {"category": "modifiers", "name": name, "schema": {}}
    return str((await client.ask("PUT", "/v1/joblib/rooms/bench/jobs", body))["worker_id"])


async def _cycles(client: LeanClient, name: str, worker: str, cycles: int) -> None:
    for number in range(cycles):
        payload = {"payload": {"number": number, "text": "x" * 80}}
        await client.ask("POST", f"/v1/joblib/rooms/bench/tasks/bench:modifiers:{name}", payload)
        claimed = (await client.ask("POST", "/v1/joblib/tasks/claim", {"worker_id": worker}))["task"]
        for status in ("running", "completed"):
            task = await client.ask("PATCH", f"/v1/joblib/tasks/{claimed['id']}", {"status": status})
            assert task["status"] == status


@asynccontextmanager
async def _serving_ours(bench: Bench) -> AsyncIterator[str]:
    pgjobs = [sys.executable, "-c", "from pgjobs.cli import main; main()"]
    async with bench.server.database("http") as url:
        environment = {"PGJOBS_DATABASE_URL": url, "PGJOBS_AUTH_SECRET": SECRET}
        async with await Queue.connect(url) as queue:
            await queue.migrate()
        async with serving([*pgjobs, "serve"], environment) as base:
            yield base


@asynccontextmanager
async def _serving_peer(bench: Bench) -> AsyncIterator[str]:
    command = [str(HTTP_PEER.environment.path / "bin/python"), "-m", "uvicorn", "zndraw_joblib_app:app"]
    async with bench.server.database(HTTP_PEER.name) as url:
        environment = {"PEER_URL": url.replace("postgresql://", "postgresql+asyncpg://")}
        async with serving(
            [*command, "--app-dir", str(PROGRAMS), "--log-level", "error"], environment
        ) as base:
            yield base


@asynccontextmanager
async def serving(command: list[str], environment: dict[str, str]) -> AsyncIterator[str]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *command,
        "--port",
        str(port),
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        base = f"http://127.0.0.1:{port}"
        await _answers(base, process)
        yield base
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _answers(base: str, process: asyncio.subprocess.Process) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(600):
            if process.returncode is not None:
                break
            try:
                await client.get(f"{base}/openapi.json")
            except httpx.TransportError:
                await asyncio.sleep(0.1)
            else:
                return
    raise Unplayable("its server does not answer")


SCENARIOS = [
    Scenario(
        "http",
        f"submit + claim + start + complete over HTTP, {CLIENTS} and {FEW} clients",
        "cycles/s",
        http,
        tuple(
            Bar(
                f"HTTP cycle submit + claim + start + complete, {quantity} clients "
                "÷ zndraw-joblib on the same Postgres",
                f"pgjobs{suffix}",
                f"{HTTP_PEER.name}{suffix}",
                10,
                15,
            )
            for quantity, suffix in ((CLIENTS, ""), (FEW, f", {FEW} clients"))
        ),
        minutes=1.3,
        is_contest=True,
    )
]
