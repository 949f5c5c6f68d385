"""The classes for callers without an event loop: the coroutines of a class, none of them awaited."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

from tests.verbs_dump.emitting import HOMES, docstring, module

_NAME = re.compile(r"(?<![.\w\"'])[A-Za-z]\w*")
_OWN = frozenset({"connect", "close", "wait_for"})
"""What the classes around them have by hand."""


def blocking_files(cls: type) -> dict[str, str]:
    """For each class that `cls` is made of and that has coroutines, a file; by the name of its module."""
    files = {}
    for part in cls.__mro__:
        if methods := _coroutines(part):
            files[part.__name__.removesuffix("Verbs").lower()] = _file(part, methods)
    return files


def _coroutines(cls: type) -> dict[str, Any]:
    return {
        name: method
        for name, method in vars(cls).items()
        if inspect.iscoroutinefunction(method) and not name.startswith("_") and name not in _OWN
    }


def _file(cls: type, methods: dict[str, Any]) -> str:
    homes = _homes(cls, methods)
    body = (
        f"class Blocking{cls.__name__}:\n"
        f"{docstring(f'The same as `{cls.__name__}`, blocking')}\n"
        f"    _wrapped: {cls.__name__}\n\n" + "\n".join(map(_method, methods.values()))
    )
    return module(f"`{cls.__name__}` for callers without an event loop.", body, homes)


def _method(method: Any) -> str:
    signature = inspect.signature(method)
    written = ", ".join(_written(list(signature.parameters.values())))
    passed = ", ".join(_passed(each) for each in list(signature.parameters.values())[1:])
    return (
        f"    def {method.__name__}({written}) -> {signature.return_annotation}:\n"
        f"{docstring(inspect.getdoc(method) or '', ' ' * 8) if _is_short(method) else _long(method)}"
        f"        return run(self._wrapped.{method.__name__}({passed}))\n"
    )


def _is_short(method: Any) -> bool:
    return "\n" not in (inspect.getdoc(method) or "")


def _long(method: Any) -> str:
    text = "\n".join(f"        {line}".rstrip() for line in (inspect.getdoc(method) or "").splitlines())
    return f'        """{text.strip()}\n        """\n'


def _written(parameters: list[inspect.Parameter]) -> list[str]:
    written = ["self"]
    is_starred = False
    for each in parameters[1:]:
        if each.kind is each.KEYWORD_ONLY and not is_starred:
            written.append("*")
            is_starred = True
        stars = "**" if each.kind is each.VAR_KEYWORD else ""
        default = "" if each.default is each.empty else f" = {each.default!r}"
        written.append(f"{stars}{each.name}: {each.annotation}{default}")
    return written


def _passed(each: inspect.Parameter) -> str:
    if each.kind is each.VAR_KEYWORD:
        return f"**{each.name}"
    return f"{each.name}={each.name}" if each.kind is each.KEYWORD_ONLY else each.name


def _homes(cls: type, methods: dict[str, Any]) -> dict[str, str]:
    """Where the names in the annotations come from: the module that defines them, or uses them."""
    known = vars(sys.modules[cls.__module__])
    homes = {cls.__name__: cls.__module__, "run": "pgjobs.queue.run_sync"}
    for method in methods.values():
        signature = inspect.signature(method)
        annotations = [
            signature.return_annotation,
            *(each.annotation for each in signature.parameters.values()),
        ]
        for name in _NAME.findall(" ".join(map(str, annotations))):
            if name in known and name not in HOMES:
                homes[name] = known[name].__module__ if inspect.isclass(known[name]) else cls.__module__
    return homes
