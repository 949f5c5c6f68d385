"""The manifests of deploy/kubernetes, by Kubernetes' own schemas."""

from __future__ import annotations

from typing import Any

import pytest

from tests.deploy.dockerfile import ROOT, stages

yaml = pytest.importorskip("yaml")
MANIFESTS = ROOT / "deploy" / "kubernetes"
OLDEST, NEWEST = "1.29", "1.34"


def documents(name: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all((MANIFESTS / name).read_text()) if document]


def listed() -> list[str]:
    found: list[str] = documents("kustomization.yaml")[0]["resources"]
    return found


def everything() -> dict[tuple[str, str], dict[str, Any]]:
    found = [document for name in listed() for document in documents(name)]
    return {(document["kind"], document["metadata"]["name"]): document for document in found}


def pods() -> dict[str, dict[str, Any]]:
    kinds = ("Deployment", "Job")
    return {
        name: each["spec"]["template"]["spec"] for (kind, name), each in everything().items() if kind in kinds
    }


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_every_manifest_fits_its_schema(version: str):
    validate = pytest.importorskip("kubernetes_validate")
    for document in everything().values():
        validate.validate(document, version, strict=True)
    broken = everything()["PodDisruptionBudget", "pgjobs-server"]
    broken["spec"]["minAvailabel"] = 1
    with pytest.raises(validate.ValidationError, match="minAvailabel"):
        validate.validate(broken, version, strict=True)


def test_every_file_is_applied_but_the_one_that_needs_keda():
    files = {path.name for path in MANIFESTS.glob("*.yaml")}
    assert files - set(listed()) == {"kustomization.yaml", "scaledobject.yaml"}


def test_everything_is_in_one_namespace():
    assert {
        each["metadata"].get("namespace", each["metadata"]["name"]) for each in everything().values()
    } == {"pgjobs"}


def test_no_pod_may_do_more_than_it_must():
    user = int((stages()[-1].last("USER") or "").partition(":")[0])
    for name, pod in pods().items():
        assert pod["securityContext"]["runAsUser"] == user, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in pod["containers"]:
            limits = container["securityContext"]
            assert limits["capabilities"] == {"drop": ["ALL"]}, name
            assert limits["readOnlyRootFilesystem"], name
            assert not limits["allowPrivilegeEscalation"], name
            assert container["resources"]["limits"].keys() == {"memory"}, name


def test_a_database_that_is_away_restarts_no_server():
    container = pods()["pgjobs-server"]["containers"][0]
    paths = {
        probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")
    }
    assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}


def test_selectors_find_their_pods():
    labels = {
        name: each["spec"]["template"]["metadata"]["labels"]
        for (kind, name), each in everything().items()
        if kind == "Deployment"
    }
    for (kind, name), each in everything().items():
        if kind in ("Deployment", "PodDisruptionBudget"):
            assert each["spec"]["selector"]["matchLabels"].items() <= labels[name].items()
        elif kind == "Service":
            assert each["spec"]["selector"].items() <= labels[name].items()


def test_a_worker_has_time_to_finish():
    pod = pods()["pgjobs-worker"]
    arguments = pod["containers"][0]["args"]
    assert pod["terminationGracePeriodSeconds"] > int(arguments[arguments.index("--grace") + 1])
