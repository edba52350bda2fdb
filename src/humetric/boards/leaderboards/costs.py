"""What published results took, and what other libraries' defaults would have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from humetric.boards.leaderboards.defaults import Default, load_defaults
from humetric.boards.metric_board import markdown_table
from humetric.boards.of_settings import duration
from humetric.results.result import Result

LIBRARIES = ("Quantus", "captum", "Xplique")


class Cost(NamedTuple):
    """Model calls of one case and one method, on a setting."""

    setting: str
    of: str
    """A metric or a method."""
    ours: float
    others: Mapping[str, float | None]
    """By library, of the mean case; None where its defaults refuse, absent where it has none."""


def costs(result: Result) -> list[Cost]:
    """Every metric and method that another library has too, setting by setting.

    Ours of a metric are calls that were counted, shared questions divided among the methods that
    share them; of a method they are the questions that it asks, whoever answered them before.
    """
    known = load_defaults()
    found = []
    for setting in sorted(result.spent):
        about = result.provenance["about"][setting]
        features, channels = about.get("features", []), about.get("channels", 1)
        if not features:
            continue
        ours = {m: calls / pairs for m, (calls, pairs) in result.spent[setting].metrics.items()}
        ours |= {method: calls for (of, method), calls in result.calls.items() if of == setting}
        for of in dict.fromkeys(default.of for default in known):
            if of in ours:
                others = {
                    default.library.partition(" ")[0]: _mean(default, setting, features, channels)
                    for default in known
                    if default.of == of
                }
                found.append(Cost(setting, of, ours[of], others))
    return found


def _mean(default: Default, setting: str, features: Sequence[int], channels: int) -> float | None:
    """Over the cases; None where the defaults refuse one of them."""
    square = setting.startswith("image/")
    calls = [default.calls(n, channels, square) for n in features]
    some = [n for n in calls if n is not None]
    return sum(some) / len(some) if len(some) == len(calls) else None


def brief(results: Sequence[Result]) -> list[str]:
    """A table for the index: the least and the most over settings."""
    listed = [cost for result in results for cost in costs(result)]
    lines = []
    for of in dict.fromkeys(cost.of for cost in listed):
        some = [cost for cost in listed if cost.of == of]
        others = [_range([c.others[name] for c in some if name in c.others]) for name in LIBRARIES]
        lines.append([of, _range([cost.ours for cost in some]), *others])
    return markdown_table(["calls per case and method", "humetric", *LIBRARIES], lines)


def in_full(result: Result) -> list[str]:
    """Every setting in a line for each metric and method."""
    lines = [
        [c.setting, c.of, _number(c.ours), *(_other(c.others, name) for name in LIBRARIES)]
        for c in costs(result)
    ]
    return markdown_table(["setting", "metric or method", "humetric", *LIBRARIES], lines)


def sources() -> list[str]:
    """Where the numbers of other libraries come from."""
    lines = [[d.of, d.library, f"`{d.name}`", _rule(d), d.source] for d in load_defaults()]
    return markdown_table(["for", "library", "default", "rows of a case", "source"], lines)


def totals(result: Result) -> str:
    """Time and calls of all settings, in a sentence."""
    spent = result.spent.values()
    seconds, calls = sum(s.seconds for s in spent), sum(s.calls for s in spent)
    gradients = sum(s.gradients for s in spent)
    return (
        f"{duration(seconds)}, {calls:,} forward rows and {gradients:,} gradient rows for "
        f"{len(result.spent)} settings"
    )


def _rule(default: Default) -> str:
    rows = {
        "fixed": f"{default.count}",
        "values": "numbers of the input" + f" x {default.times}" * (default.times > 1),
        "windows": f"windows of {default.size}, moved by {default.stride}",
    }[default.rule]
    rows += f" + {default.extra}" * bool(default.extra)
    rows += " gradients" * (default.unit == "gradient")
    return rows + f"; refuses fewer than {default.least} numbers" * bool(default.least)


def _range(values: Sequence[float | None]) -> str:
    some = [v for v in values if v is not None]
    if not values:
        return "—"
    if not some:
        return "refused"
    low, high = _number(min(some)), _number(max(some))
    said = low if low == high else f"{low} to {high}"
    return said + " or refused" * (len(some) < len(values))


def _other(others: Mapping[str, float | None], name: str) -> str:
    if name not in others:
        return "—"
    calls = others[name]
    return "refused" if calls is None else _number(calls)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{round(value, 9):.1f}"
