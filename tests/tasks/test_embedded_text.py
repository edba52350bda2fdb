"""Embedded text settings load by name, with the texts and predictions on record."""

import json

import pytest
import torch

from humetric.data.embedded.texts import marks_of, segments_of
from humetric.errors import HumetricError
from humetric.models.convnet import WEIGHTS
from humetric.tasks.embedded_text import samples_of
from humetric.tasks.named import embedded_settings, load_setting

SETTINGS = [s for s in embedded_settings() if not s.startswith(("image/", "tabular/"))]


def test_all_are_known() -> None:
    assert len(SETTINGS) == 4 + 4 + 6


@pytest.mark.parametrize("id", SETTINGS)
def test_a_setting_has_the_recorded_texts_labels_and_outputs(id: str) -> None:
    setting = load_setting(id, 6)
    listing = json.loads((WEIGHTS / id / "cases.json").read_text())
    rows = listing["cases"][:6]
    assert len(setting) == 6
    assert setting.texts is not None
    samples = samples_of(id, rows, listing["data"])
    assert [tuple(raw) for raw in setting.texts.raw] == [segments_of(s) for s in samples]
    if not id.startswith("qa/"):
        assert setting.target.tolist() == [row["predicted"] for row in rows]
        assert setting.label.tolist() == [row["label"] for row in rows]
        return
    for case, row in enumerate(rows):
        for tokens, characters in ((setting.target, "predicted"), (setting.label, "label")):
            first, last = tokens[case].tolist()
            place = setting.texts.offset[case]
            assert [int(place[first][0]), int(place[last][1])] == row[characters]


def test_marks_are_kept_by_segment() -> None:
    for id, segments in (("sentiment/reviews/bert", 1), ("nli/inference/bow", 2)):
        listing = json.loads((WEIGHTS / id / "cases.json").read_text())
        for sample in samples_of(id, listing["cases"][:6], listing["data"]):
            marks = marks_of(sample)
            assert len(marks) == len(segments_of(sample)) == segments
            for text, places in zip(segments_of(sample), marks, strict=True):
                assert all(0 <= start < stop <= len(text) for start, stop in places)


def test_other_texts_than_the_recorded_ones_are_refused() -> None:
    rows = [{"index": 3, "sha256": "0" * 64}]
    with pytest.raises(HumetricError, match="1 of 1 are others"):
        samples_of("sentiment/reviews/bert", rows, "reviews")


def test_versions_of_a_question_share_ids_but_not_passages() -> None:
    plain, hard = (load_setting(f"qa/{v}/high", 6) for v in ("original", "adversarial"))
    assert plain.ids == hard.ids
    assert torch.equal(plain.label, hard.label)
    assert plain.texts is not None
    assert hard.texts is not None
    for one, other in zip(plain.texts.raw, hard.texts.raw, strict=True):
        assert one[0] == other[0]
        assert other[1].startswith(one[1] + " ")
