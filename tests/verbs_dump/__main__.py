"""Writes what is generated from the verbs: `python -m tests.verbs_dump`."""

from __future__ import annotations

from tests.verbs_dump.files import ROOT, blocking, facade

if __name__ == "__main__":
    from tests.verbs_dump.catalog import read_verbs

    for made in (lambda: facade(read_verbs()), blocking):
        # The second is made from the classes that the first wrote.
        for path, text in made().items():
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")
