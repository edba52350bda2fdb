"""What two runs do not share: parts that only one has, and versions that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humetric.results.result import Result

SIMPLE = ("suite", "suite_version", "seed", "device", "precision", "chunk")
PER_SETTING = {"settings": "data and model of", "batch_size": "batch size on"}
AT_MOST = 6
"""Methods that a line names."""
PASSING = {"memory"}
"""Parts of the environment that change by themselves."""


def only_in(one: Result, other: Result) -> tuple[str, ...]:
    """What the first has scores of and the second has not, the largest parts first."""
    return tuple(_only_in(one, other))


def _only_in(one: Result, other: Result) -> Iterator[str]:
    parts = ["setting", "method", "metric"]
    mine, theirs = one.scores[parts].drop_duplicates(), other.scores[parts].drop_duplicates()
    for part in parts:
        extra = set(mine[part]) - set(theirs[part])
        yield from (f"{part} {name}" for name in sorted(extra))
        mine = mine[~mine[part].isin(extra)]
    known = set(theirs.itertuples(index=False, name=None))
    for setting, method, metric in sorted(set(mine.itertuples(index=False, name=None)) - known):
        yield f"{metric} of {method} on {setting}"
    yield from _more_cases(_cases(one), _cases(other))


Key = tuple[str, str, str]
"""(setting, method, metric)."""


def _more_cases(mine: Mapping[Key, set[str]], theirs: Mapping[Key, set[str]]) -> Iterator[str]:
    """Cases of what both have, summarised: of a setting as a whole where that is true."""
    common = sorted(mine.keys() & theirs.keys())
    for setting in dict.fromkeys(key[0] for key in common):
        here = [key for key in common if key[0] == setting]
        groups: dict[frozenset[str], list[Key]] = {}
        for key in here:
            groups.setdefault(frozenset(mine[key] - theirs[key]), []).append(key)
        for extra, keys in groups.items():
            if extra:
                count = f"{len(extra)} {'case' if len(extra) == 1 else 'cases'}"
                of = "" if len(keys) == len(here) else f" for {_summary(keys, here)}"
                yield f"{count} of {setting}{of}"


def _summary(keys: Sequence[Key], here: Sequence[Key]) -> str:
    """Methods, each with its metrics unless they are all that it has."""
    said = []
    for method in dict.fromkeys(key[1] for key in keys):
        metrics = [key[2] for key in keys if key[1] == method]
        whole = len(metrics) == sum(key[1] == method for key in here)
        said.append(method if whole else f"{method} by {' and '.join(metrics)}")
    return ", ".join(said[:AT_MOST]) + (
        f" and {len(said) - AT_MOST} more methods" if len(said) > AT_MOST else ""
    )


def _cases(result: Result) -> dict[Key, set[str]]:
    keys = ["setting", "method", "metric"]
    return {
        (str(key[0]), str(key[1]), str(key[2])): set(group["case"])
        for key, group in result.scores.groupby(keys)
    }


def version_differences(first: Result, second: Result) -> tuple[str, ...]:
    """What the runs were made with where it differs: ``name: first -> second``."""
    return tuple(
        f"{name}: {one} -> {two}"
        for name, one, two in _pairs(first, second)
        if one != two and one is not None and two is not None
    )


def _pairs(first: Result, second: Result) -> Iterator[tuple[str, Any, Any]]:
    one, two = first.provenance, second.provenance
    yield from ((name, one.get(name), two.get(name)) for name in SIMPLE)
    for name, said in PER_SETTING.items():
        yield from _inside(f"{said} ", one.get(name), two.get(name))
    yield from _inside("", one.get("environment"), two.get("environment"))
    for kind in ("methods", "metrics"):
        cards, others = getattr(first, kind), getattr(second, kind)
        for name in sorted(set(cards) & set(others)):
            label = f"{kind[:-1]} {name}"
            yield f"{label} version", cards[name].version, others[name].version
            yield from _inside(f"{label} ", cards[name].parameters, others[name].parameters)


def _inside(
    label: str, one: Mapping[str, Any] | None, two: Mapping[str, Any] | None
) -> Iterator[tuple[str, Any, Any]]:
    one, two = one or {}, two or {}
    for name in sorted((set(one) & set(two)) - PASSING):
        yield f"{label}{name}", one[name], two[name]
