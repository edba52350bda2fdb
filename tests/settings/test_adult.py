"""Adult: how its columns are read, and which rows are left out; on made-up and on real people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adult_support
import numpy as np
import pytest
from adult_support import MIRROR, needs_adult

from humetric.errors import HumetricError
from humetric.settings.adult import BANDS, LEFT_OUT, MISSING, OTHERS, adult, reader
from humetric.settings.files import SHIPPED

Made = dict[str, dict[str, list[Any]]]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    adult.cache_clear()
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path))
    yield adult_support.write(tmp_path)
    adult.cache_clear()


def test_numbers_bands_and_categories_come_from_the_training_rows(made: Made) -> None:
    columns = {c.name: c.categories for c in adult().columns}
    assert list(columns) == ["age", "job", "capital_gain", "hours"]
    assert columns["age"] == columns["hours"] == ()
    assert columns["job"] == ("baker", "clerk", "judge", OTHERS, MISSING)
    assert columns["capital_gain"] == BANDS


def test_rows_are_those_of_the_file(made: Made) -> None:
    data = adult()
    some = [g for g in made["train"]["capital_gain"] if g]
    middle = sorted(some)[len(some) // 2] if len(some) % 2 else np.median(some)
    for people, split in ((data.training, "train"), (data.pool, "test")):
        plain = made[split]
        for id, row, label in zip(people.ids, people.values, people.labels, strict=True):
            i = int(id.removeprefix(f"{split}-"))
            gain = plain["capital_gain"][i]
            told = [c.text(v) for c, v in zip(data.columns, row, strict=True)]
            job = plain["job"][i] or MISSING
            band = "none" if not gain else "low" if gain <= middle else "high"
            wanted = [str(plain["age"][i]), job, band, str(plain["hours"][i])]
            wanted[1] = OTHERS if job == adult_support.ODD else job
            assert told == wanted
            assert label == plain["income"][i]


def test_classes_are_as_frequent_and_nothing_is_learned_that_is_held_out(made: Made) -> None:
    data = adult()
    for people in (data.training, data.pool):
        assert len(set(np.bincount(people.labels))) == 1
        assert len(set(people.ids)) == len(people.ids)
    held = {tuple(row) for row in data.pool.values}
    assert not held & {tuple(row) for row in data.training.values}
    assert list(data.pool.ids) == sorted(data.pool.ids)
    again = {f"train-{i:06d}" for i in range(100, 200)} & set(data.training.ids)
    assert len(again) < 50, "those of the pool are gone, those that were not drawn may stay"
    start = data.training.labels[:60].mean()
    assert 0.2 < start < 0.8, "classes are mixed, as what fills removed columns must be"


def test_a_category_that_training_lacks_joins_the_others_or_is_refused() -> None:
    few = reader("job", ["a"] * 200 + ["b"])
    assert few.column.categories == ("a", OTHERS)
    assert (few.read("a"), few.read("b"), few.read("new"), few.read(None)) == (0, 1, 1, 1)
    with pytest.raises(HumetricError, match=r"one of 2 categories .* in column job but got 'new'"):
        reader("job", ["a", "b"]).read("new")


@needs_adult
class TestReal:
    @pytest.fixture(autouse=True)
    def mirror(self, monkeypatch: pytest.MonkeyPatch) -> None:
        adult.cache_clear()
        monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))

    def test_twelve_columns_of_the_study(self) -> None:
        data = adult()
        assert len(data.columns) == 12
        assert not set(LEFT_OUT) & {c.name for c in data.columns}
        assert [c.name for c in data.columns if c.number] == ["age", "hours_per_week"]
        assert len(data.pool.ids) == 2 * 3846
        held = {row.tobytes() for row in data.pool.values}
        assert not any(row.tobytes() in held for row in data.training.values)

    def test_no_name_of_a_category_is_in_a_shipped_file(self) -> None:
        names = {n for c in adult().columns for n in c.categories if len(n) > 6}
        names -= {OTHERS, MISSING, *BANDS}
        assert len(names) > 30
        for file in (SHIPPED / "tabular" / "adult").rglob("*.*"):
            held = file.read_bytes()
            assert not [n for n in names if n.encode() in held], file.name
