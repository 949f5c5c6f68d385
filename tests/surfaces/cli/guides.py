"""Runs the shell commands of a guide, in the order it gives them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pgjobs.schema.binaries import find_binaries, unprivileged_account
from tests.surfaces.cli.commands import ROOT, environment

NOT_FOR_ROOT = ("pg_ctl", "pg_basebackup", "pgbouncer")


class Guide:
    """The blocks of docs/<name>; `changed` are places that differ in a test, ports for example."""

    def __init__(self, name: str, changed: Mapping[str, str] | None = None) -> None:
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        for plain, instead in (changed or {}).items():
            assert plain in text, plain
            text = text.replace(plain, instead)
        self.script = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
        self.files = dict(re.findall(r"^```\w+\n[#;] (\S+\.\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE))

    def commands(self) -> set[str]:
        """Every `pgjobs` command the guide shows, without its options."""
        return set(re.findall(r"\bpgjobs ((?:tasks |jobs |workers |token )?[a-z-]+)", self.script))

    def run(self, directory: Path, **more: str) -> subprocess.CompletedProcess[str]:
        for name, content in self.files.items():
            (directory / name).write_text(content)
        tools = directory / "tools"
        tools.mkdir()
        _program(tools / "pgjobs", f'exec {sys.executable} -m pgjobs.cli "$@"')
        _program(tools / "python", f'exec {sys.executable} "$@"')
        path = f"{tools}:{_search_path()}"
        if account := unprivileged_account():
            drop = f"setpriv --reuid={account.pw_uid} --regid={account.pw_gid} --clear-groups"
            for name in NOT_FOR_ROOT:
                _program(tools / name, f'PATH=${{PATH#*:}} exec {drop} {name} "$@"')
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"trap 'jobs -p | xargs -r kill' EXIT\nset -x\n{self.script}"],
            cwd=directory,
            env=environment(PATH=path, **more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def needs(*tools: str) -> None:
    """Skips a guide that uses what this machine does not have."""
    if missing := [tool for tool in tools if shutil.which(tool, path=_search_path()) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")


def _search_path() -> str:
    return f"{find_binaries()}:{os.environ['PATH']}:/usr/sbin"


def _program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def quoted(value: object) -> str:
    return shlex.quote(str(value))
