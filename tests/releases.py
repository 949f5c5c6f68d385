"""Releases that are not there yet."""

from __future__ import annotations

import re
from dataclasses import replace

from pgjobs.schema.release import Release
from pgjobs.schema.script import Script


def changed(release: Release, word: str) -> Release:
    """The same release, with another body for every function, view and trigger."""

    def remark(script: Script) -> Script:
        sql = re.sub(r"^as \$\$\n", f"as $$\n-- {word}\n", script.sql, flags=re.MULTILINE)
        sql = re.sub(r"^(create view \S+ as\n)", rf"\g<1>-- {word}\n", sql, flags=re.MULTILINE)
        sql = re.sub(r"^(create trigger \S+)", rf"\g<1> /* {word} */", sql, flags=re.MULTILINE)
        return replace(script, sql=sql)

    return replace(release, code=tuple(map(remark, release.code)))
