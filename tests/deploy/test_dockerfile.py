"""The image: what its Dockerfile says, and, with PGJOBS_IMAGE_TEST=1, its steps taken in a fresh Debian."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.deploy.dockerfile import ROOT, Stage, Tree, network, sources, stages
from tests.surfaces.processes import free_port, wait_until
from tests.surfaces.rest_server import NO_TLS, SECRET

PACKAGES = "python3,python3-venv,python-is-python3,ca-certificates"


def image() -> Stage:
    return stages()[-1]


def test_the_image_does_not_run_as_root():
    user = image().last("USER")
    assert user is not None
    assert all(int(part) > 0 for part in user.split(":"))


def test_nothing_is_built_in_the_image_itself():
    build, image = stages()
    assert build.name == "build"
    assert not any("pip" in text for instruction, text in image.steps if instruction == "RUN")
    assert {base for base in (build.base, image.base) if "slim" not in base} == set()


def test_everything_that_is_copied_is_there_and_not_ignored():
    ignore = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
    kept = {line.removeprefix("!") for line in ignore if line.startswith("!")}
    assert ignore[0] == "*"
    copied = [
        name
        for stage in stages()
        for instruction, text in stage.steps
        if instruction == "COPY" and not (found := sources(text))[0]
        for name in found[1]
    ]
    assert {"src", "sql", "pyproject.toml"} <= set(copied)
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert [name for name in copied if not any(fnmatch.fnmatch(name, pattern) for pattern in kept)] == []


def test_one_image_serves_by_itself_and_takes_other_commands():
    assert image().command("ENTRYPOINT") == ["pgjobs"]
    assert image().command("CMD")[0] == "serve"


def test_the_health_check_asks_whether_the_server_is_ready():
    check = image().last("HEALTHCHECK") or ""
    _, path = json.loads(check.partition(" CMD ")[2])
    copied = [text.split() for instruction, text in image().steps if instruction == "COPY"]
    assert ["deploy/healthcheck.py", path] in copied
    assert "/readyz" in (ROOT / "deploy" / "healthcheck.py").read_text()


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Tree]:
    if "PGJOBS_IMAGE_TEST" not in os.environ:
        pytest.skip("takes minutes and the network: make image")
    if os.getuid() != 0 or not (debootstrap := shutil.which("debootstrap", path="/usr/sbin:/usr/bin")):
        pytest.skip("needs debootstrap and root")
    # A file system that knows users and devices; gone afterwards.
    home = Path(f"/var/tmp/pgjobs-image-{os.getpid()}")
    base = home / "base"
    given = os.environ.get("PGJOBS_IMAGE_BASE")
    try:
        home.mkdir()
        if given:
            # Not copytree, which would read /dev/zero to its end.
            subprocess.run(["cp", "-a", given, str(base)], check=True)
        else:
            bootstrap = [debootstrap, "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(base)]
            subprocess.run(bootstrap, check=True, stdout=subprocess.DEVNULL)
        for device in ("null", "urandom"):
            if not (base / "dev" / device).exists():
                subprocess.run(["cp", "-a", f"/dev/{device}", str(base / "dev")], check=True)
        for path in ("/etc/resolv.conf", "/etc/hosts", os.environ.get("PIP_CERT", "/etc/hosts")):
            (base / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, base / path.lstrip("/"))
        trees: dict[str, Tree] = {}
        for number, stage in enumerate(stages()):
            root = home / f"stage{number}"
            subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(root)], check=True)
            trees[stage.name or str(number)] = last = Tree(root, network()).take(stage, trees)
        yield last
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def container(built: Tree, *command: str, **environment: str) -> Iterator[tuple[subprocess.Popen[Any], int]]:
    """Runs a command as process 1 of its own, as an engine would; gives it and its pid outside."""
    mount = f"mount -t proc proc {built.root}/proc && exec " + " ".join(
        f"'{word}'" for word in built.command([*image().command("ENTRYPOINT"), *command])
    )
    outer = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", mount],
        env={**built.environment, **environment},
    )
    try:
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        yield outer, int(wait_until(children.read_text).split()[0])
    finally:
        outer.kill()
        outer.wait()


def is_healthy(built: Tree, pid: int, environment: dict[str, str]) -> bool:
    check = json.loads((image().last("HEALTHCHECK") or "").partition(" CMD ")[2])
    entered = ["nsenter", f"--target={pid}", "--mount", "--pid", *built.command(check)]
    done = subprocess.run(entered, env=environment, capture_output=True, check=False)
    return done.returncode == 0


def test_the_image_migrates_serves_and_works_as_its_user(built: Tree, empty_database_url: str):
    port = free_port()
    environment = {
        **built.environment,
        "PGJOBS_DATABASE_URL": empty_database_url,
        "PGJOBS_AUTH_SECRET": SECRET,
    }
    assert built.run(["id", "-u"]).strip() == (image().last("USER") or "").partition(":")[0]
    built.run(["pgjobs", "migrate", "--no-roles"], environment)
    shutil.copy(ROOT / "deploy" / "app" / "shop.py", built.at("/app/shop.py"))
    serve = image().command("CMD")
    serve[serve.index("0.0.0.0")] = "127.0.0.1"
    with container(built, *serve, "--port", str(port), **environment) as (server, pid):
        wait_until(lambda: is_healthy(built, pid, environment), 120)
        assert httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False, verify=NO_TLS).is_success
        with container(built, "worker", "shop:jobs", **environment) as (worker, worker_pid):
            assert is_healthy(built, worker_pid, environment)
            wait_until(lambda: "Welcome" in built.run(["pgjobs", "jobs", "list"], environment), 120)
            submitted = ["pgjobs", "enqueue", "@global:mail:Welcome", '{"to": "ada@example.org"}']
            task = built.run(submitted, environment).strip()
            assert "sent to ada" in built.run(
                ["pgjobs", "tasks", "wait", task, "--timeout", "30s"], environment
            )
            os.kill(worker_pid, signal.SIGTERM)
            assert worker.wait(30) == 0
        os.kill(pid, signal.SIGTERM)
        assert server.wait(30) == 0
