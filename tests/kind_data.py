"""What methods with more than a map show of a case, as they hand it over."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]


def lime(names: list[str], at: list[int], weights: list[float], label: int = 1) -> Data:
    """Weights of some features of a linear model, whose sum and baseline are its estimate."""
    features = [
        {"feature": names[i], "index": i, "weight": w} for i, w in zip(at, weights, strict=True)
    ]
    return {
        "features": features, "intercept": 0.24, "sum": sum(weights),
        "probability": 0.24 + sum(weights), "class": label, "samples": 1000,
    }  # fmt: skip


def rule(names: list[str], at: list[int], reached: bool = True, label: int = 1) -> Data:
    """A rule of some features."""
    conditions = [
        {"feature": names[i], "index": i, "gain": 0.31 / (1 + k)} for k, i in enumerate(at)
    ]
    return {
        "conditions": conditions, "precision": 0.9731, "precision_low": 0.95099,
        "precision_high": 0.9888, "coverage": 0.25, "coverage_low": 0.224, "coverage_high": 0.2781,
        "wanted": 0.95, "reached": reached, "tests": 223, "drawn": 1000, "samples": 2310,
        "class": label,
    }  # fmt: skip


def path(
    names: list[str], edits: dict[int, tuple[str, str]], shown: int = 4, label: int = 1
) -> Data:
    """A path from a margin of 5.21 to one of -0.32, in even steps."""
    count = len(edits)
    steps = [
        {
            "step": k, "index": i, "feature": names[i], "from": old, "to": new,
            "margin": 5.21 - 5.53 * k / count,
        }
        for k, (i, (old, new)) in enumerate(edits.items(), 1)
    ]  # fmt: skip
    return {
        "start": 5.21, "steps": steps, "class": label, "edits": count,
        "crossing": 37 if count else 0, "samples": 10000, "shown": shown,
    }  # fmt: skip


def prototype(
    case: str | list[list[str]], importances: list[tuple[str, int, float]], prediction: int = 1
) -> Data:
    """A prototype of class 1."""
    return {
        "similarity": 9.96, "class": 1, "case": case, "label": 1, "threshold": 0.05, "fixed": False,
        "importances": [
            {"feature": f, "index": i, "importance": v} for f, i, v in importances
        ],
        "prediction": prediction,
    }  # fmt: skip


def of_words(names: list[str]) -> Data:
    """All kinds of a text of at least six words."""
    edits = {i: (names[i], f"{'new ' * (i == 2)}other{i}") for i in range(6)}
    return {
        "lime": lime(names, [4, 2, 1, 0, 3], [0.05, 0.04, -0.06, -0.11, 0.75]),
        "rule": rule(names, [1, 3]),
        "path": path(names, edits),
        "prototype": prototype("Routine and rather silly .", []),
    }


COLUMNS = (
    "age", "workclass", "education", "marital status", "occupation", "relationship", "sex",
    "capital gain", "capital loss", "hours per week", "region", "union member",
)  # fmt: skip
ROW = (
    "38", "Private", "Bachelors", "Married-civ-spouse", "Exec-managerial", "Husband", "Male",
    "0", "0", "45", "United-States", "no",
)  # fmt: skip
OTHER = (
    "41", "Private", "Masters", "Married-civ-spouse", "Prof-specialty", "Husband", "Male",
    "7298", "0", "50", "United-States", "no",
)  # fmt: skip


def of_columns(label: int = 1) -> Data:
    """All kinds of a row of the census-like table, as composite shows them."""
    names = list(COLUMNS)
    edits = {2: ("Bachelors", "11th"), 9: ("45", "20"), 3: ("Married-civ-spouse", "Divorced")}
    likened = [("education", 2, 0.62), ("hours per week", 9, 0.21), ("capital gain", 7, -0.11)]
    return {
        "lime": lime(names, [3, 2, 9, 7, 0], [0.31, 0.14, 0.07, -0.12, 0.05], label),
        "rule": rule(names, [3, 2], label=label),
        "path": path(names, edits, 1, label),
        "prototype": prototype([list(pair) for pair in zip(COLUMNS, OTHER, strict=True)], likened),
    }
