"""`pgjobs serve` and `pgjobs token`, as an operator runs them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from pgjobs.cli.serve import refuse_weak_secret
from pgjobs.server import ApiSettings
from tests.surfaces.processes import wait_until
from tests.surfaces.rest_server import NO_TLS, SECRET, Api, token_of

PGJOBS = str(Path(sys.executable).with_name("pgjobs"))


def environment(url: str, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PGJOBS_")}
    return {**inherited, "PGJOBS_DATABASE_URL": url, **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_server_serves_and_stops_gracefully(database_url: str):
    port = free_port()
    server = subprocess.Popen(
        [PGJOBS, "serve", "--port", str(port)],
        env=environment(database_url, PGJOBS_AUTH_SECRET=SECRET),
        stderr=subprocess.PIPE,
        text=True,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(base, server)
        with Api(base, token_of("ada")) as ada:
            answer = ada.get("/v1/me", headers={"X-Request-ID": "my-own-id"})
            assert answer.headers["x-request-id"] == "my-own-id"
            ada.register()
            task = ada.submit()
            answers = []
            poll = threading.Thread(
                target=lambda: answers.append(ada.get(f"tasks/{task['id']}", headers={"Prefer": "wait=60"}))
            )
            poll.start()
            wait_until(lambda: listens_for_endings(database_url))
            server.send_signal(signal.SIGTERM)
            poll.join(30)
            assert [answer.json()["status"] for answer in answers] == ["pending"]
        server.wait(30)
    finally:
        server.kill()
        log = server.communicate()[1]
    assert log.startswith("Rooms are open: anybody with a token reads every room")
    assert "GET /v1/me 200" in log
    assert "my-own-id" in log
    assert "/readyz" not in log


def listens_for_endings(url: str) -> bool:
    """The server does, from the first long poll of a task on."""
    with psycopg.connect(url) as connection:
        listening = connection.execute(
            "select from pg_stat_activity where datname = current_database() and query ilike 'listen %ended%'"
        )
        return listening.fetchone() is not None


def wait_until_ready(base: str, server: subprocess.Popen[str]) -> None:
    for _ in range(300):
        assert server.poll() is None
        try:
            if httpx.get(f"{base}/readyz", trust_env=False, verify=NO_TLS).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server is not ready")


def test_without_authentication_only_loopback_is_served(database_url: str):
    refused = subprocess.run(
        [PGJOBS, "serve", "--host", "0.0.0.0", "--port", "0"],
        env=environment(database_url),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert refused.returncode != 0
    assert "Refusing to listen on 0.0.0.0 without authentication" in refused.stderr


def test_a_secret_that_can_be_guessed_is_served_on_loopback_only(database_url: str):
    refused = subprocess.run(
        [PGJOBS, "serve", "--host", "0.0.0.0", "--port", "0"],
        env=environment(database_url, PGJOBS_AUTH_SECRET="é" * 15),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert refused.returncode != 0
    assert "PGJOBS_AUTH_SECRET has fewer than 32 bytes" in refused.stderr
    assert "openssl rand" in refused.stderr


@pytest.mark.parametrize(("secret", "is_warned"), [("x" * 31, True), ("x" * 32, False), (None, False)])
def test_on_loopback_a_weak_secret_is_warned_of(
    secret: str | None, is_warned: bool, capsys: pytest.CaptureFixture[str]
):
    refuse_weak_secret("127.0.0.1", ApiSettings(auth_secret=secret and SecretStr(secret)))
    assert ("fewer than 32 bytes" in capsys.readouterr().err) is is_warned


def test_tokens_are_created_listed_and_revoked(database_url: str):
    def run(*arguments: str) -> str:
        command = [PGJOBS, "token", *arguments]
        done = subprocess.run(
            command, env=environment(database_url), capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    token = run("create", "robot", "--name", "builds", "--superuser", "--days", "7")
    assert token.startswith("pgj_")

    def listed() -> dict[str, str]:
        names, row = (line.split("\t") for line in run("list").split("\n"))
        return dict(zip(names, [*row, ""], strict=False))

    shown = listed()
    assert token not in shown.values()
    assert (shown["user"], shown["name"], shown["superuser"], shown["revoked"]) == (
        "robot",
        "builds",
        "yes",
        "",
    )
    run("revoke", shown["id"])
    assert listed()["revoked"]
