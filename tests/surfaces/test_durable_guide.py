"""The programs of docs/durable.md run and print what the guide says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "durable.md"
PRINTED = {
    "onboard.py": "['page 0', 'page 1', 'page 2']\nsleeping 1",
    "nightly.py": "completed {'fetch': 9, 'fetch-2': 10, 'merge': 19, 'notify': 'merge completed'}",
}


def programs() -> dict[str, str]:
    return dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", GUIDE.read_text(), re.DOTALL))


def test_every_program_is_tried():
    assert set(programs()) == set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_a_program_of_the_guide_prints_what_it_says(name: str, database_url: str, tmp_path: Path):
    (tmp_path / name).write_text(programs()[name])
    ended = subprocess.run(
        [sys.executable, name],
        cwd=tmp_path,
        env={**os.environ, "PGJOBS_DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == PRINTED[name]
