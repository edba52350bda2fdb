"""What other libraries would ask a model by their defaults, for inputs of a setting's size."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

FILE = Path(__file__).with_name("defaults.toml")


class Default(BaseModel):
    """A metric or method as a library calls it, and what that costs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    of: str
    """humetric's metric or method that it stands beside."""
    library: str
    name: str
    rule: Literal["fixed", "values", "windows"]
    source: str
    count: int = 0
    step: int = 1
    times: int = 1
    size: int = 1
    stride: int = 1
    extra: int = 0
    least: int = 0
    unit: Literal["forward", "gradient"] = "forward"

    def calls(self, features: int, channels: int = 1, square: bool = False) -> int | None:
        """Rows that the model is asked for one case and method; None where the defaults refuse.

        ``features`` are pixels, words or columns, ``channels`` the numbers of each; ``square``: the
        features are those of a square image.
        """
        values = features * channels
        if values < self.least:
            return None
        if self.rule == "fixed":
            return self.count + self.extra
        if self.rule == "values":
            return self.times * math.ceil(values / self.step) + self.extra
        side = math.isqrt(features) if square else features
        along = max(0, math.ceil((side - self.size + 1) / self.stride))
        return along ** (2 if square else 1) + self.extra


def load_defaults() -> tuple[Default, ...]:
    """All that is known, in the order of the file."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["default"]
    return tuple(Default.model_validate(row) for row in rows)
