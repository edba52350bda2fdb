"""Tables of simulated participants whose effect is known.

Chances of a right answer are linear in the effects, and random effects are uniform around zero and
small enough that no chance leaves [0, 1]: so the true mean over new participants and new items is
exactly what was put in.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

Draw = np.random.Generator


def around(draw: Draw, width: float, size: int | tuple[int, ...]) -> np.ndarray:
    return draw.uniform(-width, width, size)


def simulated_hase(
    draw: Draw,
    effects: Mapping[str, float],
    *,
    users: int = 6,
    items: int = 32,
    before: float = 0.6,
    user: float = 0.1,
    item: float = 0.1,
    own_change: float = 0.05,
    rating_slope: float = 0.0,
    cell: str = "text",
) -> pd.DataFrame:
    """Simulated users predict the same items before and after; ``effects`` are true changes."""
    of_item, item_change = around(draw, item, items), around(draw, own_change, items)
    rows = []
    for method, effect in effects.items():
        for u in range(users):
            of_user = around(draw, user, 1)[0]
            change = effect + around(draw, own_change, 1)[0] + item_change
            chance = before + of_user + of_item
            rating = draw.integers(1, 8, items)
            after = chance + change + rating_slope * (rating - 4)
            assert chance.min() >= 0
            assert after.min() >= 0
            assert max(chance.max(), after.max()) <= 1
            for phase, p in (("pre", chance), ("post", after)):
                right = draw.random(items) < p
                rows.append(
                    pd.DataFrame(
                        {
                            "participant": f"simulated-{cell}-{method}-{u}",
                            "condition": method,
                            "cell": cell,
                            "phase": phase,
                            "item": [f"i{i}" for i in range(items)],
                            "correct": right.astype(int),
                            "rating": rating if phase == "post" else np.nan,
                        }
                    )
                )
    return pd.concat(rows, ignore_index=True)


def simulated_gonzalez(
    draw: Draw,
    accuracies: Mapping[str, float],
    *,
    users: int = 10,
    items: int = 120,
    trials: int = 35,
    user: float = 0.15,
    item: float = 0.15,
    learning: float = 0.0,
    cell: str = "low-orig",
) -> pd.DataFrame:
    """Simulated participants answer batches of items; the first 15 trials are worse."""
    of_item = around(draw, item, items)
    rows = []
    for condition, accuracy in accuracies.items():
        for u in range(users):
            shown = (np.arange(trials) + u * trials) % items
            chance = accuracy + around(draw, user, 1)[0] + of_item[shown]
            chance = chance - learning * (np.arange(trials) < 15)
            assert chance.min() >= 0
            assert chance.max() <= 1
            right = draw.random(trials) < chance
            rows.append(
                pd.DataFrame(
                    {
                        "participant": f"simulated-{cell}-{condition}-{u}",
                        "condition": condition,
                        "cell": cell,
                        "trial": np.arange(1, trials + 1),
                        "item": [f"q{i}" for i in shown],
                        "model_output": "model",
                        "gold": "gold",
                        "response": np.where(right, "model", "gold"),
                        "response_time": draw.gamma(4, 8, trials),
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)


def simulated_arora(
    draw: Draw,
    effects: Mapping[str, float],
    *,
    users: int = 25,
    cohorts: int = 5,
    items: int = 10,
    user: float = 0.1,
    cohort: float = 0.05,
    noise: float = 0.15,
    cell: str = "bert",
) -> pd.DataFrame:
    """Simulated participants lower a confidence of .7 by .15 plus the effect of the condition."""
    of_cohort = around(draw, cohort, cohorts)
    rows = []
    for condition, effect in effects.items():
        for u in range(users):
            group = u % cohorts
            mean = 0.15 + effect + of_cohort[group] + around(draw, user, 1)[0]
            reduced = mean + around(draw, noise, items)
            edits = draw.integers(3, 9, items)
            on = draw.binomial(edits, 0.4)
            rows.append(
                pd.DataFrame(
                    {
                        "participant": f"simulated-{cell}-{condition}-{u}",
                        "condition": condition,
                        "cell": cell,
                        "cohort": f"c{group}",
                        "phase": "test",
                        "item": [f"c{group}-r{i}" for i in range(items)],
                        "correct": (draw.random(items) < 0.57).astype(int),
                        "confidence_before": 0.7,
                        "confidence_after": 0.7 - reduced,
                        "edits": edits,
                        "edits_highlighted": on,
                        "reduction_highlighted": reduced * draw.uniform(0.4, 0.8, items),
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)


def simulated_colin(
    draw: Draw,
    accuracies: Mapping[str, tuple[float, ...]],
    *,
    users: int = 40,
    trials: int = 7,
    user: float = 0.2,
    careless: float = 0.0,
    cell: str = "leaves",
) -> pd.DataFrame:
    """Simulated participants in three sessions; ``careless`` of them fail a catch trial."""
    rows = []
    for condition, sessions in accuracies.items():
        for u in range(users):
            who = f"simulated-{cell}-{condition}-{u}"
            own = around(draw, user, 1)[0]
            fails = draw.random() < careless
            for s, accuracy in enumerate(sessions, start=1):
                assert 0 <= accuracy + own <= 1
                right = draw.random(trials) < accuracy + own
                seconds = draw.gamma(4, 2, trials)
                rows += [
                    (who, condition, s, f"s{s}-{i}", int(right[i]), seconds[i], 0)
                    for i in range(trials)
                ]
                caught = int(not (fails and s == 2))
                rows.append((who, condition, s, f"s{s}-catch", caught, 3.0, 1))
    names = ["participant", "condition", "session", "item", "correct", "response_time", "catch"]
    return pd.DataFrame(rows, columns=names).assign(cell=cell, phase="test")


def simulated_prasad(
    draw: Draw,
    means: Mapping[str, float],
    *,
    cases: int = 60,
    seeds: int = 1,
    case: float = 0.2,
    slope: float = 0.1,
    noise: float = 0.15,
) -> pd.DataFrame:
    """Simulated alignments; ``means`` of c - c_random by model, e.g. {"bert-base": .2}."""
    of_case, of_size = draw.normal(0, case, cases), draw.normal(0, slope, cases)
    rows = []
    for model, mean in means.items():
        kind, _, size = model.partition("-")
        for seed in range(seeds):
            random = draw.normal(0.05, 0.1, cases)
            difference = mean + of_case + (size == "large") * of_size
            difference = difference + draw.normal(0, noise, cases)
            rows.append(
                pd.DataFrame(
                    {
                        "model": model,
                        "type": kind,
                        "size": size,
                        "oracle": "hard",
                        "case": [f"x{i}" for i in range(cases)],
                        "seed": seed,
                        "c": random + difference,
                        "c_random": random,
                        "accuracy": 0.5 + 0.01 * len(rows),
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)
