"""docs/http.md and docs/live.md work as written: a server, a task by hand, a worker, a provider, a host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.commands import ROOT
from tests.surfaces.cli.guides import Guide
from tests.surfaces.processes import free_port, wait_until
from tests.surfaces.rest_server import Api


def test_the_guides_to_http_and_to_live_events_work(empty_database_url: str, tmp_path: Path):
    if missing := [tool for tool in ("curl", "openssl") if shutil.which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    port = str(free_port())
    guide = Guide("http.md", {"8787": port, "postgresql://localhost/mydb": empty_database_url})
    live = Guide(
        "live.md",
        {
            "8787": port,
            "examples/": f"{ROOT}/examples/",
            "curl -N": "timeout 3 curl -sN",
            '?room=lab"': '?room=lab" || true',
        },
    )
    guide.script = f"{guide.script}\n{live.script}"
    guide.files |= live.files
    done = guide.run(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    said = done.stdout.splitlines()
    by_hand = ["{'angle': 90}", "completed", "{'turned': 90}"]
    assert [line for line in said if line in by_hand] == by_hand
    (task,) = [json.loads(line) for line in said if line.startswith('{"id"')]
    assert (task["status"], task["result"]) == ("completed", {"turned": 90.0})
    assert json.loads(said[-1]) == ["/host.py", "/submit.py", "/worker.py"]


def test_the_guides_host_serves_the_api_beside_its_own(database_url: str, tmp_path: Path):
    (tmp_path / "host.py").write_text(Guide("http.md").files["host.py"])
    port = free_port()
    host = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "host:app", "--port", str(port), "--log-level", "warning"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PGJOBS_DATABASE_URL": database_url},
    )
    try:
        with Api(f"http://127.0.0.1:{port}", None) as api:
            wait_until(lambda: _answers(api))
            worker = api.register(room="@global")["worker_id"]
            task = api.submit("@global:modifiers:Rotate", angle=1)
            assert api.claim(worker)["id"] == task["id"]
            assert api.update(task, "cancelled").json()["status"] == "cancelled"
    finally:
        host.terminate()
        assert host.wait(20) in (0, -15)


def _answers(api: Api) -> bool:
    import httpx

    try:
        return api.get("/v1/me").is_success
    except httpx.HTTPError:
        return False
