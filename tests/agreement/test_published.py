"""What the bundled studies' own scores give: the numbers that the papers print."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from humetric.agreement.report import KEY, Agreement, agreement, rows
from humetric.human.read import load_studies


@cache
def found(variant: str = "") -> Agreement:
    return agreement(load_studies(variants=[variant] if variant else []))


def row(which: Agreement, **key: Any) -> dict[str, Any]:
    (one,) = [r for r in rows(which) if all(r.get(k) == v for k, v in key.items())]
    return one


@pytest.mark.parametrize(
    ("metric", "cell", "variant", "r"),
    [
        ("deletion", "husky-wolf", "", -0.93),
        ("deletion", "imagenet", "", 0.81),
        ("complexity", "imagenet", "", 0.93),
        ("deletion", "leaves", "", -0.46),
        ("deletion", "leaves", "plotted", -0.50),
        ("complexity", "leaves", "plotted", -0.31),
        ("perceptual-similarity", "all, raw", "", -0.75),
        ("perceptual-similarity", "all, raw", "plotted", -0.77),
        ("perceptual-similarity", "husky-wolf", "", -0.97),
    ],
)
def test_correlations_of_colin_et_al(metric: str, cell: str, variant: str, r: float) -> None:
    """Pearson's r as the paper has it, or as it must be with the table instead of the plot."""
    coefficient = "pearson" if cell == "all, raw" else "pearson-raw"
    got = row(
        found(variant),
        metric=metric,
        study="colin2022",
        cell=cell,
        measure="utility",
        coefficient=coefficient,
    )
    assert got["value"] == pytest.approx(r, abs=0.0101)


def test_a_metric_is_not_judged_by_the_study_it_was_derived_from() -> None:
    (whole,) = [a for a in found().across if a.metric == "perceptual-similarity"]
    assert whole.in_sample == ("colin2022",)
    assert whole.studies == 0
    assert whole.verdict == "too few studies"
    assert all(c.in_sample for c in found().cells if c.metric == "perceptual-similarity")


def test_one_study_decides_nothing() -> None:
    assert set(found().verdicts().values()) == {"too few studies"}


def test_every_measure_is_compared_and_one_per_study_is_primary() -> None:
    listed = rows(found())
    measures = {r["measure"] for r in listed if r["study"] == "colin2022" and r.get("cell")}
    assert {"utility", "utility-printed", "accuracy-1", "total-time"} <= measures
    assert {r["measure"] for r in listed if r.get("primary")} == {"utility"}
    keys = [
        (r["metric"], r["study"], r["cell"], r["measure"], r["coefficient"], r["level"])
        for r in listed
        if r.get("cell")
    ]
    assert len(keys) == len(set(keys))


def test_rows_have_keys_of_their_own() -> None:
    listed = rows(found())
    keys = [tuple(r[name] for name in KEY) for r in listed]
    assert len(keys) == len(set(keys))
    assert {type(r["in_sample"]) for r in listed} == {bool}
    whole = row(found(), metric="perceptual-similarity", study=None, coefficient="t")
    assert whole["in_sample_studies"] == ["colin2022"]
    assert whole["value_with_control"] is None


def test_the_settings_line_names_what_the_numbers_depend_on() -> None:
    line = found("plotted").settings_line()
    assert "colin2022 v1" in line["human data"]
    assert "+plotted" in line["human data"]
    assert "utility" in line["measure"]
    assert "Holm over the" in line["correction"]


def test_selections_leave_corrections_alone() -> None:
    some = agreement(load_studies(), only_metrics=["deletion"])
    assert {c.metric for c in some.cells} == {"deletion"}
    (mine,) = some.across
    (whole,) = [a for a in found().across if a.metric == "deletion"]
    assert mine.holm == whole.holm
    assert mine.test == whole.test
