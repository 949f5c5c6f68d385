"""Commands that are imported when somebody runs them: a list of them must not take as long as all of them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

_PASSING = {"allow_extra_args": True, "ignore_unknown_options": True}


@dataclass(frozen=True)
class Later:
    """Where a command is, what a list says of it, and whether it passes on options it does not know."""

    module: str
    summary: str
    is_passing: bool = False

    def load(self, name: str) -> Any:
        found = getattr(import_module(f"pgjobs.cli.{self.module}"), name)
        # Plain help: what draws boxes costs more time to import than everything else here.
        app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        app.callback()(lambda: None)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name, context_settings=_PASSING if self.is_passing else None)(found)
        return typer.main.get_group(app).commands[name]


class _Loaded(MutableMapping[str, Any]):
    """Commands by name, each imported when it is asked for."""

    def __init__(self, later: dict[str, Later]) -> None:
        self._later = later
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._later[name].load(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._later[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._later)

    def __len__(self) -> int:
        return len(self._later)

    def __contains__(self, name: object) -> bool:
        return name in self._later


def lazy_group(later: dict[str, Later]) -> type[TyperGroup]:
    """A group of these commands."""

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = _Loaded(later)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            width = formatter.width - 6 - max(map(len, later))
            with formatter.section("Commands"):
                formatter.write_dl([(name, _cut(each.summary, width)) for name, each in later.items()])

    return LazyGroup


def _cut(text: str, width: int) -> str:
    """Whole words that fit."""
    if len(text) <= width:
        return text
    return text[: width - 2].rsplit(" ", 1)[0] + "..."
