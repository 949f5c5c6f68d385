"""The programs of docs/worker.md run and print what the guide says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "worker.md"
PRINTED = {
    "shop.py": "order 17: 2 to ada@example.com",
    "reports.py": "title='MOON' pages=42\n3 4\nforbidden",
    "ledger.py": "completed {'booked': 100}",
    "timed.py": "",
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
