"""`JOBS_*`, and which domains have moved to this manager."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

import pgjobs
from pgjobs.contrib.manager import ManagerSettings, backend_for


def test_defaults_are_those_of_the_contract(monkeypatch):
    for name in ("MAX_LEASE_SECONDS", "HEARTBEAT_SECONDS", "MAX_CONCURRENCY", "ENABLE_METRICS"):
        monkeypatch.delenv(f"JOBS_{name}", raising=False)
    settings = ManagerSettings()
    assert (settings.max_lease_seconds, settings.enable_metrics) == (60, True)
    assert settings.lease(3600) == timedelta(seconds=60)
    assert settings.lease(5) == timedelta(seconds=5)


def test_operators_raise_the_cap_by_the_environment(monkeypatch):
    monkeypatch.setenv("JOBS_MAX_LEASE_SECONDS", "900")
    monkeypatch.setenv("JOBS_MAX_CONCURRENCY", "16")
    monkeypatch.setenv("JOBS_ENABLE_METRICS", "false")
    settings = ManagerSettings()
    assert settings.lease(3600) == timedelta(seconds=900)
    assert (settings.max_concurrency, settings.enable_metrics) == (16, False)


@pytest.mark.parametrize(("lease", "heartbeat"), [(1, 2), (4, 2), (30, 15), (60, 30), (600, 30)])
def test_a_heartbeat_is_half_the_lease_between_two_and_thirty_seconds(lease, heartbeat):
    assert ManagerSettings(max_lease_seconds=600).heartbeat(lease) == heartbeat


def test_a_configured_heartbeat_counts(monkeypatch):
    monkeypatch.setenv("JOBS_HEARTBEAT_SECONDS", "7")
    assert ManagerSettings().heartbeat(60) == 7
    monkeypatch.setenv("JOBS_HEARTBEAT_SECONDS", "90")
    with pytest.raises(ValidationError):
        ManagerSettings()


@pytest.mark.parametrize(
    ("environment", "backend"),
    [
        ({}, "core"),
        ({"PGJOBS_JOBS_BACKEND": "legacy"}, "legacy"),
        ({"TLDW_JOBS_BACKEND": "prompt_studio"}, "prompt_studio"),
        ({"PGJOBS_JOBS_BACKEND": "core", "TLDW_JOBS_BACKEND": "prompt_studio"}, "core"),
        ({"PROMPT_STUDIO_JOBS_BACKEND": "core", "TLDW_JOBS_BACKEND": "prompt_studio"}, "core"),
        ({"PROMPT_STUDIO_JOBS_BACKEND": " ", "PGJOBS_JOBS_BACKEND": "legacy"}, "legacy"),
        ({"CHATBOOKS_JOBS_BACKEND": "legacy"}, "core"),
    ],
)
def test_a_domain_overrides_the_default_backend(environment, backend):
    assert backend_for("prompt-studio", environment) == backend


def test_the_backend_is_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("CHATBOOKS_JOBS_BACKEND", "legacy")
    assert pgjobs.backend_for("chatbooks") == "legacy"


def test_a_blocking_manager_tells_its_settings_too(tmp_path):
    with pgjobs.sync.JobManager(
        f"sqlite:///{tmp_path / 'jobs.db'}", settings=ManagerSettings(max_concurrency=9)
    ) as jm:
        assert (jm.settings.max_concurrency, jm.settings.heartbeat(60)) == (9, 30)


def test_the_package_offers_its_names():
    assert pgjobs.JobManager.__module__ == "pgjobs.contrib.manager.jobs"
    assert pgjobs.sync.JobManager is not pgjobs.JobManager
