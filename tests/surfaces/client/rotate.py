"""The job most tests of the SDK serve."""

from __future__ import annotations

from typing import Any, ClassVar

from pgjobs.contrib.joblib import Category, Extension

ROTATE = "@global:modifiers:Rotate"


class Rotate(Extension):
    """Turns what it is given."""

    category: ClassVar[Category] = Category.MODIFIER
    angle: float = 0.0

    def run(self, vis: Any = None, **kwargs: Any) -> Any:
        return {"turned": self.angle, **kwargs}
