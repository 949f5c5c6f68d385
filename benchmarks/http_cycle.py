"""Submit, claim, start and complete over HTTP: this package against zndraw-joblib 0.1.7.

    python benchmarks/http_cycle.py postgresql://localhost/postgres [--rounds 5] [--cycles 150] [--clients 4]

Creates two databases of its own on that server and a virtual environment for the
peer, runs both servers as one process each, and lets them take turns: A B A B.
Prints one JSON document with cycles per second and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx
import jwt

SECRET = "a secret for benchmarks only, long enough for HS256"
PEER_PACKAGES = ("zndraw-joblib==0.1.7", "sqlalchemy<2.1", "asyncpg", "uvicorn", "httptools", "uvloop")
PEER_APP = """
import asyncio, os
from contextlib import asynccontextmanager
from types import SimpleNamespace
from uuid import UUID
from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlmodel import SQLModel
from zndraw_auth import current_active_user, current_superuser
from zndraw_auth.db import Base, User, get_session_maker
from zndraw_joblib.exceptions import ProblemException, problem_exception_handler
from zndraw_joblib.router import router
from zndraw_joblib.settings import JobLibSettings
import zndraw_joblib.models

engine = create_async_engine(os.environ["PEER_URL"], pool_size=10)
makers = async_sessionmaker(engine, class_=AsyncSession, expire_on_commit=False)
user_id = UUID(int=7)

@asynccontextmanager
async def lifespan(app):
    async with engine.begin() as connection:
        for metadata in {Base.metadata, SQLModel.metadata}:
            await connection.run_sync(metadata.create_all)
    async with makers() as session:
        session.add(User(id=user_id, email="a@example.org", hashed_password="x", is_superuser=True))
        await session.commit()
    yield

app = FastAPI(lifespan=lifespan)
app.state.joblib_settings = JobLibSettings()
app.dependency_overrides[get_session_maker] = lambda: makers
user = SimpleNamespace(id=user_id, is_superuser=True, is_active=True)
app.dependency_overrides[current_active_user] = lambda: user
app.dependency_overrides[current_superuser] = lambda: user
app.add_exception_handler(ProblemException, problem_exception_handler)
app.include_router(router)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="a Postgres server on which databases may be created")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cycles", type=int, default=150, help="of the peer in each round; ours does more")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--peer", type=Path, help="a virtual environment that has the peer already")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="pgjobs-http-"))
    peer = options.peer or install_peer(home / "peer")
    ours_url = new_database(options.url, "pgjobs_http_ours")
    peer_url = new_database(options.url, "pgjobs_http_peer")
    with serving_ours(ours_url) as ours, serving_peer(peer, peer_url, home) as theirs:
        speeds: dict[str, list[float]] = {"pgjobs": [], "zndraw-joblib": []}
        for _ in range(options.rounds):
            # As long as the peer's turn, roughly: more cycles, because each is shorter.
            speeds["pgjobs"].append(run(ours, options.cycles * 5, options.clients))
            speeds["zndraw-joblib"].append(run(theirs, options.cycles, options.clients))
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    print(
        json.dumps(
            {
                "benchmark": "http_cycle",
                "unit": "cycles per second",
                "clients": options.clients,
                "rounds": {name: [round(value, 1) for value in values] for name, values in speeds.items()},
                "medians": {name: round(value, 1) for name, value in medians.items()},
                "ratio": round(medians["pgjobs"] / medians["zndraw-joblib"], 2),
            },
            indent=2,
        )
    )


def run(base: str, cycles: int, clients: int) -> float:
    """Cycles per second of some clients, each with a job and a worker of its own."""
    return asyncio.run(_run(base, cycles, clients))


async def _run(base: str, cycles: int, clients: int) -> float:
    token = jwt.encode({"sub": "bench", "is_superuser": True}, SECRET, algorithm="HS256")
    headers = {"Authorization": f"Bearer {token}"}
    async with contextlib.AsyncExitStack() as stack:
        made = [
            await stack.enter_async_context(
                httpx.AsyncClient(base_url=base, headers=headers, trust_env=False)
            )
            for _ in range(clients)
        ]
        workers = [await _register(client, f"Job{number}") for number, client in enumerate(made)]
        began = time.perf_counter()
        each = cycles // clients
        await asyncio.gather(*(_cycles(client, f"Job{n}", workers[n], each) for n, client in enumerate(made)))
        return each * clients / (time.perf_counter() - began)


async def _register(client: httpx.AsyncClient, name: str) -> str:
    body = {"category": "modifiers", "name": name, "schema": {}}
    answer = await client.put("/v1/joblib/rooms/bench/jobs", json=body)
    answer.raise_for_status()
    return str(answer.json()["worker_id"])


async def _cycles(client: httpx.AsyncClient, name: str, worker: str, cycles: int) -> None:
    for number in range(cycles):
        payload: dict[str, Any] = {"payload": {"number": number, "text": "x" * 80}}
        task = await client.post(f"/v1/joblib/rooms/bench/tasks/bench:modifiers:{name}", json=payload)
        assert task.status_code == 202, task.text
        claimed = (await client.post("/v1/joblib/tasks/claim", json={"worker_id": worker})).json()["task"]
        for status in ("running", "completed"):
            answer = await client.patch(f"/v1/joblib/tasks/{claimed['id']}", json={"status": status})
            assert answer.status_code == 200, answer.text


@contextlib.contextmanager
def serving_ours(url: str) -> Iterator[str]:
    environment = {**os.environ, "PGJOBS_DATABASE_URL": url, "PGJOBS_AUTH_SECRET": SECRET}
    pgjobs = [str(Path(sys.executable).with_name("pgjobs"))]
    subprocess.run([*pgjobs, "migrate"], env=environment, check=True, capture_output=True)
    port = free_port()
    with process([*pgjobs, "serve", "--port", str(port)], environment):
        yield wait_for(f"http://127.0.0.1:{port}")


@contextlib.contextmanager
def serving_peer(peer: Path, url: str, home: Path) -> Iterator[str]:
    (home / "peer_app.py").write_text(PEER_APP)
    environment = {**os.environ, "PEER_URL": url.replace("postgresql://", "postgresql+asyncpg://")}
    port = free_port()
    command = [str(peer / "bin/python"), "-m", "uvicorn", "peer_app:app", "--port", str(port)]
    with process([*command, "--app-dir", str(home), "--log-level", "error"], environment):
        yield wait_for(f"http://127.0.0.1:{port}")


@contextlib.contextmanager
def process(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.terminate()
        running.wait(20)


def wait_for(base: str) -> str:
    for _ in range(300):
        with contextlib.suppress(httpx.TransportError):
            httpx.get(f"{base}/openapi.json", trust_env=False)
            return base
        time.sleep(0.1)
    raise SystemExit(f"{base} does not answer")


def install_peer(target: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)
    subprocess.run([str(target / "bin/pip"), "install", "--quiet", *PEER_PACKAGES], check=True)
    return target


def new_database(url: str, name: str) -> str:
    async def create() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(f"drop database if exists {name} with (force)")
        await connection.execute(f"create database {name}")
        await connection.close()

    asyncio.run(create())
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
