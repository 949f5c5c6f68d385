"""What users subclass: extensions are jobs, providers answer reads."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

from pydantic import BaseModel


class Category(StrEnum):
    """The categories a server allows unless it is told otherwise."""

    MODIFIER = "modifiers"
    SELECTION = "selections"
    ANALYSIS = "analysis"


class Extension(BaseModel):
    """A job whose parameters are the fields. Override `run`."""

    category: ClassVar[str] = Category.MODIFIER

    def run(self, vis: Any = None, **kwargs: Any) -> Any:
        """Does the work; does nothing unless overridden."""


class Provider(BaseModel):
    """A kind of question whose parameters are the fields. Override `read`."""

    category: ClassVar[str]
    content_type: ClassVar[str] = "application/json"

    def read(self, handler: Any) -> Any:
        """Answers the question with the handler that was registered: what JSON can hold, or bytes."""
        raise NotImplementedError


def category_of(cls: type[BaseModel]) -> str:
    """A class's category, an enum's member or text."""
    category = getattr(cls, "category", Category.MODIFIER)
    return str(getattr(category, "value", category))
