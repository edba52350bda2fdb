"""Inference on real pairs: what trains, what is explained, which cases, what informed models read.

On made-up pairs, except for the last tests, which need the mirror and the encoder.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from text_support import SPECIAL, wordpiece

from humetric.errors import HumetricError
from humetric.models import pretrained
from humetric.models.bag_of_words import BagOfWords
from humetric.models.text import TextModel
from humetric.models.text_cases import choose_shared
from humetric.models.text_fit import Marks, Recipe
from humetric.models.text_inputs import twice
from humetric.settings import corpora, files, inference, reasons, text
from humetric.settings.corpora import Corpus, Sample, plain
from humetric.settings.declared import Training
from humetric.settings.text import Learner

ROOT = Path(__file__).parents[2]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))
real = pytest.mark.skipif(
    not all((MIRROR / "datasets" / name).is_dir() for name in ("snli", "esnli", "anli")),
    reason=f"no SNLI, e-SNLI and ANLI in {MIRROR}; set HUMETRIC_MIRROR",
)
THINGS = ("film", "plot", "acting", "soup", "river", "mill", "end")


def pair(i: int, split: str = "") -> Sample:
    """Entailed: the same; contradicted: not; neutral: another thing."""
    thing, other, label = THINGS[i % 7], THINGS[(i + 1) % 7], i % 3
    said = (f"the {thing} was slow", f"the {other} was slow", f"the {thing} was not slow")[label]
    reason = (
        f"it says that the {thing} was slow",
        f"the {other} may be good",
        "slow is not not slow",
    )
    return Sample(f"p{i}", (f"The {thing} was slow, number {i}", said), label,
                  (f"{reason[label]} {i}",), split)  # fmt: skip


def corpus(pool: list[Sample]) -> Corpus:
    train = [pair(i) for i in range(1000, 1090)]
    return Corpus("made-up", "nli", (), corpora.RELATIONS, train=lambda: train, pool=lambda: pool)


def small(kind: str, head: str, classes: int, *_: str) -> TextModel:
    """In the place of models with MiniLM's word vectors."""
    return BagOfWords(wordpiece().get_vocab_size(), classes, 8, hidden=16)


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> Learner:
    """A bag of words on a few made-up pairs, a third of which it may read with reasons."""
    pool = [pair(i, "one" if i < 300 else "two") for i in range(600)]
    made = corpus(pool)
    monkeypatch.setattr(pretrained, "tokenizer", lambda *_: wordpiece())
    monkeypatch.setattr(pretrained, "untrained", small)
    special = tuple(wordpiece().token_to_id(name) for name in SPECIAL)
    monkeypatch.setattr(pretrained, "marks", lambda *_: Marks(special, special[4], special[1]))
    monkeypatch.setattr(pretrained, "_base", lambda *_: "none")
    monkeypatch.setattr(reasons, "ESNLI", made)
    monkeypatch.setattr(reasons, "READ", 200)
    recipe = Recipe("bow", {}, texts=30, epochs=1, batch=16)
    monkeypatch.setattr(reasons, "RECIPES", {"bow": recipe})
    return Learner("nli/esnli/bow", made, "bow", recipe, limit=64)


def test_training_leaves_out_premises_of_the_pool_however_printed() -> None:
    train = [
        Sample("a", ("Two dogs run.", "Dogs sleep."), 2),
        Sample("b", ("Two cats run.", "Cats sleep."), 2),
        Sample("c", ("A man", "Two dogs run."), 1),
    ]
    pool = [Sample("d", ("two dogs run .", "There are dogs ."), 0)]
    made = Corpus("x", "nli", (), ("e", "n", "c"), train=lambda: train, pool=lambda: pool)
    assert [s.id for s in made.training()] == ["b", "c"]


def test_single_texts_are_left_out_as_before() -> None:
    train = [Sample("a", ("Good  film",), 1), Sample("b", ("Good film.",), 1)]
    pool = [Sample("c", ("good film",), 0)]
    made = Corpus("x", "sentiment", (), ("n", "p"), train=lambda: train, pool=lambda: pool)
    assert [s.id for s in made.training()] == ["b"]


def test_students_learn_from_texts_of_the_kind_of_the_cases() -> None:
    """Training texts; where these are of another kind the pool's, without premises of cases."""
    pool = [pair(i) for i in range(6)]
    pool.append(Sample("again", (pool[0].segments[0].lower(), "The film was long."), 1))
    made = corpus(pool)
    assert made.alike({"p0"}) == made.training()
    other = replace(made, elsewhere=True)
    assert [s.id for s in other.alike({"p0", "p3"})] == ["p1", "p2", "p4", "p5"]
    assert corpora.ANLI.elsewhere
    assert not corpora.ESNLI.elsewhere


def test_each_pair_is_read_with_its_own_reason_and_with_anothers(learner: Learner) -> None:
    samples = learner.corpus.pool()[:6]
    data = reasons.with_reasons(learner, samples, "test")
    assert data.target.tolist() == [s.label + more for s in samples for more in (0, 3)]
    whose, told = twice([s.reasons[0] for s in samples], "test")
    end = wordpiece().token_to_id("[SEP]")
    for row, (i, reason) in enumerate(zip(whose, told, strict=True)):
        assert (reason == samples[i].reasons[0]) == (row % 2 == 0)
        own = wordpiece().encode(*samples[i].segments)
        more = wordpiece().encode(reason, add_special_tokens=False).ids
        wanted = [*own.ids, *more, end]
        assert data.ids[row, : len(wanted)].tolist() == wanted
        assert not data.attention[row, len(wanted) :].any()
        kinds = [*own.type_ids, *[1] * (len(more) + 1)]
        assert data.types[row, : len(wanted)].tolist() == kinds


def test_what_was_read_with_reasons_is_no_case(learner: Learner) -> None:
    pool = learner.corpus.pool()
    again = Sample("again", (pool[3].segments[0].upper(), "something else"), 0, ("so",))
    pool.append(again)  # type: ignore[attr-defined]
    may = reasons.apart(learner.corpus)
    assert may == list(range(200, 600))
    assert not {plain(pool[i]) for i in may} & {plain(s) for s in pool[:200]}


def test_informed_models_are_trained_once_measured_and_read_back(
    learner: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SHIPPED", tmp_path)
    said: list[str] = []
    task = Training(learner.id, tmp_path / learner.id, tmp_path / "state", say=said.append)
    reasons.train_informed(learner, task)
    assert len([line for line in said if "seed" in line]) == 3
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.safetensors")}
    assert len(set(before.values())) == 3
    reasons.train_informed(learner, task)
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*.safetensors")}
    found = reasons.informed_of(learner)
    assert [one.seed for one in found] == [1, 2, 3]
    assert len({one.version for one in found}) == 3
    pool = learner.corpus.pool()
    held = [pool[i] for i in reasons.apart(learner.corpus)]
    data = reasons.with_reasons(learner, held, "made-up/informed/held")
    hits = [
        (one.model(data.ids, data.attention, data.types).argmax(1) == data.target).float().mean()
        for one in found
    ]
    assert reasons.six_way(learner, found) == pytest.approx(float(torch.stack(hits).mean()))


def scores(rng: np.random.Generator, labels: np.ndarray, share: float) -> np.ndarray:
    """Class probabilities, right in about a share of the rows."""
    wrong = (labels + rng.integers(1, 3, len(labels))) % 3
    said = np.where(rng.random(len(labels)) < share, labels, wrong)
    return 0.8 * np.eye(3)[said] + 0.2 / 3


def test_cases_are_shared_balanced_and_recorded_without_text(
    learner: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three models, of which one is balanced; every run of six has each output right and wrong."""
    pool, rng = learner.corpus.pool(), np.random.default_rng(0)
    labels = np.array([s.label for s in pool])
    given = {k: scores(rng, labels, p) for k, p in (("minilm", 0.8), ("bilstm", 0.6), ("bow", 0.5))}

    class Known(Learner):
        def weights(self) -> tuple[str, str]:  # type: ignore[override]
            return self.kind, f"weights of {self.kind}"

    three = {
        kind: Known(f"nli/esnli/{kind}", learner.corpus, kind, learner.recipe, 64) for kind in given
    }
    monkeypatch.setattr(files, "SHIPPED", tmp_path)
    monkeypatch.setattr(inference, "of", lambda data: three)
    monkeypatch.setattr(inference, "probabilities", lambda model, data: given[model])
    inference.choose_cases("esnli", Training("x", tmp_path, tmp_path, say=lambda line: None))
    told = {k: json.loads((tmp_path / three[k].id / "cases.json").read_text()) for k in three}
    ids = [row["id"] for row in told["minilm"]["cases"]]
    assert len(ids) == len(set(ids)) == 84
    may = {pool[i].id for i in reasons.apart(learner.corpus)}
    assert set(ids) <= may
    for kind, one in told.items():
        assert [row["id"] for row in one["cases"]] == ids
        right = given[kind].argmax(1) == labels
        assert one["accuracy"] == pytest.approx(right.mean(), abs=1e-4)
        assert one["accuracy two"] == pytest.approx(right[300:].mean(), abs=1e-4)
        assert all(set(row) == {"id", "label", "predicted", "sha256"} for row in one["cases"])
        assert "slow" not in json.dumps(one)
    for start in range(0, 84, 6):
        six = told["minilm"]["cases"][start : start + 6]
        assert Counter((r["predicted"], r["predicted"] == r["label"]) for r in six) == Counter(
            (output, right) for output in range(3) for right in (True, False)
        )


def test_fewer_cases_where_a_model_errs_less() -> None:
    labels = np.arange(300) % 3
    good = 0.8 * np.eye(3)[labels] + 0.2 / 3
    for i in range(30):
        good[i] = np.roll(good[i], 1)
    said: list[str] = []
    task = Training("x", Path(), Path(), say=said.append)
    picked = inference._shared(labels, [good], 0, task)
    assert len(picked) == 60
    assert said
    with pytest.raises(HumetricError):
        choose_shared(labels, [good], 0, 66)
    with pytest.raises(HumetricError, match="errors"):
        inference._shared(labels, [0.8 * np.eye(3)[labels] + 0.2 / 3], 0, task)


def test_declarations_share_weights_and_say_what_was_seen() -> None:
    known = {declared.id: declared for declared in inference.INFERENCE}
    assert len(known) == 6
    for kind in ("minilm", "bilstm", "bow"):
        own, other = known[f"nli/esnli/{kind}"], known[f"nli/anli/{kind}"]
        assert not own.weights
        assert other.weights == own.id
        for one in (own, other):
            assert "SNLI and MultiNLI" in one.seen
            assert one.ships
        assert "extension" in own.departs
        assert not own.published  # the study does not use e-SNLI
        assert inference.explained(other.id).corpus is corpora.ANLI
        assert inference.explained(other.id).id == own.id


@real
def test_real_pools_and_training_have_no_premise_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    train = {plain(s) for s in corpora.ESNLI.training()}
    assert train == {plain(s) for s in corpora.ANLI.training()}
    for made in (corpora.ESNLI, corpora.ANLI):
        assert not train & {plain(s) for s in made.pool()}
        assert all(s.reasons for s in made.pool())
    assert Counter(s.split for s in corpora.ANLI.pool()) == {"dev_r1": 1000, "dev_r2": 1000}


def chosen() -> list[str]:
    return [d.id for d in inference.INFERENCE if files.cases_file(d.id).exists()]


@real
@pytest.mark.parametrize("data", ["esnli", "anli"])
def test_real_cases_are_of_the_pool_apart_and_balanced(
    data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    found = [id for id in chosen() if id.startswith(f"nli/{data}/")]
    assert len(found) == 3
    rows = {id: json.loads(files.cases_file(id).read_text())["cases"] for id in found}
    made = inference.of(data)["minilm"].corpus
    assert len({tuple(row["id"] for row in some) for some in rows.values()}) == 1
    pool = made.pool()
    may = {pool[i].id for i in reasons.apart(made)}
    for some in rows.values():
        assert {row["id"] for row in some} <= may
        samples = text.samples_of(made, some)
        assert [s.label for s in samples] == [row["label"] for row in some]
    best = rows[f"nli/{data}/minilm"]
    for start in range(0, len(best), 6):
        six = best[start : start + 6]
        assert len({(r["predicted"], r["predicted"] == r["label"]) for r in six}) == 6
