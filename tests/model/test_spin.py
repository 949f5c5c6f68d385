"""The models of a task's life and of children that wait: every state is looked at, every seeded mistake is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.model.instances import LARGE, SEEDED, SMALL
from tests.model.spin import HERE, Instance, is_installed, verify

needs_spin = pytest.mark.skipif(not is_installed(), reason="spin and gcc are not installed")


@needs_spin
@pytest.mark.parametrize("instance", SMALL, ids=str)
def test_no_state_that_can_be_reached_breaks_a_property(instance: Instance, tmp_path: Path):
    verdict = verify(instance, tmp_path)
    assert verdict.broken is None, verdict.trail[-4000:]
    assert verdict.is_complete
    assert verdict.states > 100_000


@needs_spin
@pytest.mark.parametrize(
    ("instance", "broken"),
    SEEDED,
    ids=lambda value: str(value) if value in {one for one, _ in SEEDED} else "",
)
def test_a_seeded_mistake_is_found(instance: Instance, broken: str, tmp_path: Path):
    verdict = verify(instance, tmp_path)
    assert verdict.broken is not None, f"{instance} was not found"
    assert broken.replace(" ", "") in verdict.broken.replace(" ", "")


def test_every_mistake_that_a_model_knows_is_seeded():
    known = set()
    for model in ("task", "edges"):
        text = (HERE / f"{model}.pml").read_text()
        sizes = set(re.findall(r"^#define ([A-Z_]+) \d", text, re.MULTILINE))
        known |= {
            (model, name)
            for name in re.findall(r"^#ifn?def ([A-Z_]+)$", text, re.MULTILINE)
            if name not in sizes
        }
    seeded = {(one.model, define) for one, _ in SEEDED for define in one.defines if "=" not in define}
    assert known == seeded
    assert not [one for one in (*SMALL, *LARGE) if any("=" not in define for define in one.defines)]
