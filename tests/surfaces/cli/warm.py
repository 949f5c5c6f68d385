"""Commands in processes forked from one that has everything imported already: starting is what takes long.

What depends on how a command starts is tested with processes of its own.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from tests.surfaces.cli.commands import ROOT, Done, environment


class Warm:
    """The process that forks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.surfaces.cli.warm"],
            cwd=ROOT,
            env=environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object, stdin: str | None = "", cwd: Path | None = None, **more: str) -> Done:
        argv = ["pgjobs", *map(str, arguments)]
        with tempfile.TemporaryDirectory() as directory:
            files = [Path(directory, name) for name in ("in", "out", "err")]
            files[0].write_text(stdin or "")
            wish = {
                "argv": argv,
                "environment": environment(**more),
                "cwd": str(cwd or ROOT),
                "files": list(map(str, files)),
            }
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(wish) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return Done(argv, code, files[1].read_text(), files[2].read_text())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


@cache
def _warm() -> Warm:
    warm = Warm()
    atexit.register(warm.close)
    return warm


def run(*arguments: object, stdin: str | None = "", cwd: Path | None = None, **more: str) -> Done:
    """In a pipe; nobody is there to answer questions."""
    return _warm().run(*arguments, stdin=stdin, cwd=cwd, **more)


def _import_everything() -> None:
    """What commands import when they run, so that what is forked has it."""
    import pgjobs

    for module in walk_packages(pgjobs.__path__, "pgjobs."):
        # Programs of their own, and what is there for hosts that bring its package.
        if not module.name.endswith("__main__") and not module.name.startswith("pgjobs.contrib.django"):
            import_module(module.name)
    gc.freeze()


def _serve() -> None:
    _import_everything()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(wish: dict[str, Any]) -> None:
    from pgjobs.cli import main

    signal.alarm(120)
    os.environ.clear()
    os.environ.update(wish["environment"])
    os.chdir(wish["cwd"])
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (name, flag) in enumerate(zip(wish["files"], flags, strict=True)):
        os.dup2(os.open(name, flag), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.argv = wish["argv"]
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    _serve()
