"""How the page of findings counts, lists and names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humetric.agreement.across import Tier
from humetric.boards.metric_board import signed

TIER_NAMES: dict[Tier, str] = {
    "judged": "published or replica",
    "stand-in": "stand-in",
    "toy": "toy",
}


def joined(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def span(low: float, high: float) -> str:
    """An interval."""
    return "unknown" if math.isnan(low) else f"{signed(low)} to {signed(high)}"
