"""Two sides timed against each other, and what benchmarks tell the reader at the end."""

from __future__ import annotations

from collections.abc import Callable

from measure import PAIRS, Action, Ratio, Timed, measure, ratio_of
from pytest_benchmark.fixture import BenchmarkFixture

Figure = Callable[[str], None]
"""Adds a line to the figures at the end of the output."""
Note = Callable[[str], None]
"""Adds a text to what is said about pins."""


class Race:
    """Times two sides in turn, records the ratio, and holds it against a bound."""

    def __init__(self, benchmark: BenchmarkFixture, figure: Figure) -> None:
        self.benchmark, self.figure = benchmark, figure

    def __call__(
        self,
        name: str,
        numerator: Action,
        denominator: Action,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> Ratio:
        """Assert a bound on the median of (numerator's seconds / denominator's seconds).

        pytest-benchmark runs and times the denominator; the numerator runs as the set-up of each
        round, so that the two alternate. A first result beyond the bound may be the machine's
        fault: then the measurement is repeated once, with twice the pairs, and that one counts.
        """

        def holds(ratio: Ratio) -> bool:
            above = at_least is None or ratio.value >= at_least
            return above and (at_most is None or ratio.value <= at_most)

        sides = Timed(numerator), Timed(denominator)
        self.benchmark.pedantic(sides[1], setup=sides[0], rounds=PAIRS, warmup_rounds=1)
        found = ratio_of(sides)
        repeated = not holds(found)
        if repeated:
            self.benchmark.extra_info["first_ratio"] = found.value
            found = measure(numerator, denominator, 2 * PAIRS)
        bound = f">= {at_least}" if at_least is not None else f"<= {at_most}"
        text = f"{name}: {found}, bound {bound}{', second attempt' if repeated else ''}"
        self.benchmark.extra_info.update(found.info() | {"bound": bound, "repeated": repeated})
        self.figure(text)
        assert holds(found), text
        return found
