"""deploy/compose.yaml is a compose file, and starts things in their order."""

from __future__ import annotations

from typing import Any

import pytest

from pgjobs.cli.worker import load
from tests.deploy.dockerfile import ROOT, stages

yaml = pytest.importorskip("yaml")
FILE = ROOT / "deploy" / "compose.yaml"


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())["services"]
    return found


def validated(text: str) -> list[str]:
    compose_spec = pytest.importorskip("compose_spec")
    # Merge keys are YAML's, and resolved before the file is understood.
    plain = yaml.safe_dump(yaml.safe_load(text))
    names: list[str] = compose_spec.PyCompose.from_yaml(plain).service_names()
    return names


def test_the_file_is_a_compose_file():
    assert set(validated(FILE.read_text())) == {"postgres", "migrate", "server", "worker"}
    with pytest.raises(ValueError, match="stop_grase_period"):
        validated(FILE.read_text().replace("stop_grace_period", "stop_grase_period"))


def test_servers_and_workers_start_when_the_schema_is_there():
    waits = {name: service.get("depends_on", {}) for name, service in services().items()}
    assert waits["migrate"] == {"postgres": {"condition": "service_healthy"}}
    for name in ("server", "worker"):
        assert waits[name] == {"migrate": {"condition": "service_completed_successfully"}}


def test_one_image_does_all_three():
    ours = [service for service in services().values() if service.get("image") == "pgjobs"]
    assert len(ours) == 3
    assert {service["build"]["dockerfile"] for service in ours} == {"deploy/Dockerfile"}
    assert stages()[-1].command("ENTRYPOINT") == ["pgjobs"]


def test_only_this_machine_reaches_the_server_and_nobody_the_database():
    published = {name: service.get("ports") for name, service in services().items() if "ports" in service}
    assert published == {"server": ["127.0.0.1:8787:8787"]}


def test_no_secret_has_a_default():
    assert ":-" not in FILE.read_text()


def test_a_worker_has_time_to_finish(monkeypatch):
    worker = services()["worker"]
    grace = int(worker["command"][worker["command"].index("--grace") + 1])
    assert int(worker["stop_grace_period"].removesuffix("s")) > grace
    monkeypatch.chdir(ROOT / "deploy" / worker["volumes"][0].partition(":")[0])
    assert load(worker["command"][1]).category == "mail"
