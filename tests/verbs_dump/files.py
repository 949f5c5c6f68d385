"""Which file holds what: the façade, from the catalog, and its blocking twin, from the façade."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.verbs_dump.catalog import Verb
from tests.verbs_dump.emitting import formatted
from tests.verbs_dump.facade import facade_files
from tests.verbs_dump.records import record_files
from tests.verbs_dump.signatures import signature_file

ROOT = Path(__file__).parents[2]
_QUEUE = Path("src/pgjobs/queue/_generated")
_MANAGER = Path("src/pgjobs/contrib/manager/_generated")
_DRIVERS = Path("src/pgjobs/drivers/_generated")


def facade(verbs: Sequence[Verb]) -> dict[Path, str]:
    files = {_DRIVERS / "signatures.py": signature_file(verbs)}
    for folder, texts in (("records", record_files(verbs)), ("verbs", facade_files(verbs))):
        files |= {_QUEUE / folder / f"{name}.py": text for name, text in texts.items()}
    return formatted(files, ROOT)


def blocking() -> dict[Path, str]:
    from pgjobs.contrib.manager import JobManager
    from pgjobs.queue.operators import Operators
    from tests.verbs_dump.blocking import blocking_files

    files = {
        folder / "sync" / f"{name}.py": text
        for folder, cls in ((_QUEUE, Operators), (_MANAGER, JobManager))
        for name, text in blocking_files(cls).items()
    }
    return formatted(files, ROOT)
