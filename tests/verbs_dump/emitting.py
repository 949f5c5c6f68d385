"""Python text for verbs: names, types and the head of every generated file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Set
from pathlib import Path

HEADER = "Written by `make verbs`, from the SQL files; change those."

TYPES = {
    "bigint": "int",
    "boolean": "bool",
    "bytea": "bytes",
    "float8": "float",
    "integer": "int",
    "interval": "timedelta",
    "jsonb": "Json",
    "numeric": "float",
    "real": "float",
    "smallint": "int",
    "text": "str",
    "timestamptz": "datetime",
    "uuid": "UUID",
}

HOMES = {
    "Any": "typing",
    "Awaitable": "collections.abc",
    "Callable": "collections.abc",
    "Driver": "pgjobs.drivers",
    "Json": "pgjobs.queue.base",
    "Literal": "typing",
    "Mapping": "collections.abc",
    "Record": "pgjobs.queue.base",
    "Sequence": "collections.abc",
    "UUID": "uuid",
    "dataclass": "dataclasses",
    "datetime": "datetime",
    "readable_claim": "pgjobs.queue.claims",
    "submitting": "pgjobs.drivers.tracing",
    "timedelta": "datetime",
    **dict.fromkeys(("Held", "OneHeld", "named"), "pgjobs.queue.held"),
    **dict.fromkeys(("CleanupStatus", "GenericStatus", "JobState"), "pgjobs.queue.base"),
    **dict.fromkeys(("Severity", "ShownStatus", "Status"), "pgjobs.queue.base"),
    **dict.fromkeys(("ByColumnName", "CanEnd", "HeldCleanup"), "pgjobs.queue.behaviours"),
    **dict.fromkeys(("InWords", "ScheduleRun"), "pgjobs.queue.behaviours"),
}
"""Where the names come from that generated files use."""

_OURS = 'lint.isort.known-first-party=["pgjobs"]'
_NAME = re.compile(r"(?<![.\w\"])[A-Za-z]\w*")
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
_QUOTED = re.compile(r'""".*?"""|"[^"\n]*"|\'[^\'\n]*\'', re.DOTALL)


def module(title: str, body: str, homes: Mapping[str, str], *, used: Set[str] = frozenset()) -> str:
    """A whole file: its docstring, the imports that the body needs, and the body."""
    used = used | set(_NAME.findall(_QUOTED.sub("", body)))
    own = set(_CLASS.findall(body))
    known = {name: home for name, home in {**HOMES, **homes}.items() if name not in own}
    wanted: dict[str, list[str]] = {}
    for name in sorted(used & known.keys()):
        wanted.setdefault(known[name], []).append(name)
    imports = "".join(f"from {home} import {', '.join(names)}\n" for home, names in sorted(wanted.items()))
    return f'"""{title}\n\n{HEADER}\n"""\n\nfrom __future__ import annotations\n\n{imports}\n\n{body}'


def docstring(words: str, indent: str = "    ") -> str:
    text = words.rstrip(".").replace("\\", "\\\\")
    return f'{indent}"""{text}."""\n' if text else ""


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def formatted(files: Mapping[Path, str], root: Path) -> dict[Path, str]:
    """The same as ruff would have it."""
    return {path: _ruffed(text, path, root) for path, text in files.items()}


def _ruffed(text: str, path: Path, root: Path) -> str:
    sort = ["check", "--fix", "--quiet", "--select", "I", "--config", _OURS]
    for arguments in (sort, ["format", "--quiet"]):
        command = [
            str(Path(sys.executable).with_name("ruff")),
            *arguments,
            "--stdin-filename",
            str(path),
            "-",
        ]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, cwd=root
        ).stdout
    return text
