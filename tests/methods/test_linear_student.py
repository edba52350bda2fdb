"""The linear student as a method: recovery, sameness, refusals, cues, and where it is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from support import engine_for
from text_support import REVIEWS, UNLABELLED, bert, setting, small
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor

from humetric import text_setting
from humetric.data.embedded.texts import segments_of, text_dataset
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.methods import METHODS, linear_student
from humetric.methods.explanation import Explanation
from humetric.metrics import METRICS
from humetric.models.tfidf import TfIdf
from humetric.results.read import read_result
from humetric.run.evaluate import run_settings
from humetric.run.plan import make_plan
from humetric.run.work import explain, explanations
from humetric.tasks.embedded_text import Drawn
from humetric.tasks.named import load_setting
from humetric.tasks.setting import Setting

BOTH = ("linear-student", "linear-student-global-cues")


def explained(made: Setting, name: str = BOTH[0], **parameters: object) -> Explanation:
    chosen = METHODS.make(name, parameters)
    (found,) = explanations([chosen], engine_for(made)).values()
    if isinstance(found, Exception):
        raise found
    return found


def linear_teacher() -> tuple[Setting, TfIdf, list[str]]:
    """A setting whose model is linear in TF-IDF values of words, with the student's own idf."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(15)]
    texts = [" ".join(rng.choice(words, rng.integers(3, 10)).tolist()) for _ in range(1010)]
    made = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(["[PAD]", "[UNK]", *words])}, "[UNK]")
    )
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    learned = [t for i, t in enumerate(texts[:1000]) if i % linear_student.HELD_OUT != 4]
    model = TfIdf(17)
    with torch.no_grad():
        for i, word in enumerate(words):
            seen = sum(word in t.split() for t in learned)
            model.idf[i + 2] = 1 + np.log((1 + len(learned)) / (1 + seen))
        model.idf[:2] = 0
        model.head.weight.copy_(torch.from_numpy(4 * rng.standard_normal((2, 17))))
        model.head.weight -= model.head.weight.mean(0)  # which changes no probability
        model.head.weight -= model.head.weight[:, 2:].mean(1, keepdim=True)  # classes about even
        model.head.bias.zero_()  # not left to the global generator
    given = text_setting(
        "sentiment/linear/test",
        model,
        made,
        texts[1000:],
        task="sentiment",
        unlabelled=texts[:1000],
    )
    return given, model, words


def test_a_linear_teacher_is_recovered() -> None:
    """From its probabilities to the value, from its classes in sign and rank."""
    given, model, words = linear_teacher()
    true = explain([METHODS.make("coefficients")], engine_for(given))["coefficients"]
    assert isinstance(true, Tensor)
    exact = explained(given, penalty=1e-7)
    torch.testing.assert_close(exact.attribution, true, rtol=0, atol=0.01)
    assert exact.setting["student"]["agreement"] == 1
    assert exact.setting["student"]["commonest class"] < 0.7
    ranked = explained(given, BOTH[1], hard=True, penalty=0.01)
    assert ranked.setting["student"]["agreement"] > 0.97
    large = true.abs() > 0.2
    assert torch.equal(ranked.attribution[large].sign(), true[large].sign())
    assert spearmanr(ranked.attribution[true != 0], true[true != 0]).statistic > 0.97
    for own, cues in zip(model.head.weight[:, 2:].tolist(), exact_cues(given), strict=True):
        best = sorted(
            ((w, word) for w, word in zip(own, words, strict=True) if w > 0), reverse=True
        )
        assert cues == [word for _, word in best]


def exact_cues(given: Setting) -> list[list[str]]:
    found = explained(given, BOTH[1], penalty=1e-7).setting["cues"]
    return [[cue["word"] for cue in own] for own in found]


def test_the_shipped_linear_teacher() -> None:
    """It works on pieces of words with an idf of its own, so that only much of it is recovered."""
    made = load_setting("sentiment/deception/tfidf", 12)
    found = explained(made, texts=1000, penalty=0.1)
    true = explain([METHODS.make("coefficients")], engine_for(made))["coefficients"]
    assert isinstance(true, Tensor)
    assert found.setting["student"]["agreement"] > 0.95
    for i, words in enumerate(made.texts.words):  # type: ignore[union-attr]
        ours, theirs = found.attribution[i, : len(words)], true[i, : len(words)]
        large = theirs.abs() > 0.5 * theirs.abs().max()
        assert torch.equal(ours[large].sign(), theirs[large].sign())
        assert np.corrcoef(ours, theirs)[0, 1] > 0.9


def test_same_again_in_other_chunks_batches_and_processes() -> None:
    made = setting(model=small("tfidf"))
    whole = explained(made).attribution
    again = explained(setting(model=small("tfidf"))).attribution
    assert torch.equal(whole, again)
    for start, stop in ((0, 2), (2, 5), (5, 6)):
        engine = engine_for(made, start=start, stop=stop, batch_size=2)
        part = explain([METHODS.make(BOTH[0])], engine)[BOTH[0]]
        assert isinstance(part, Tensor)
        assert torch.equal(part, whole[start:stop, : part.shape[1]])


def test_trained_once_per_setting_and_run(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = linear_student.train

    def counted(*given: object) -> linear_student.Trained:
        calls.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(linear_student, "train", counted)
    methods = [METHODS.make(name) for name in BOTH]
    result = run_settings([setting()], methods, [METRICS.make("sparseness")], chunk=2)
    assert not result.failures
    assert len(calls) == 1


def test_maps_of_both_methods_are_the_same_and_only_one_has_cues() -> None:
    made = setting("nli", model=small("tfidf", classes=3))
    plain, cued = (explained(made, name) for name in BOTH)
    assert torch.equal(plain.attribution, cued.attribution)
    assert "cues" not in plain.setting
    student = linear_student.trained(
        made.place(place("cpu", "fp64")).cases(0, 1), 2000, 1.0, 2, False
    ).student
    assert len(cued.setting["cues"]) == 3
    for own, cues in zip(student.weight, cued.setting["cues"], strict=True):
        best = np.sort(own[own > 0])[::-1][:20]
        assert [c["weight"] for c in cues] == [round(float(w), 4) for w in best]
        assert {c["segment"] for c in cues} <= {"premise", "hypothesis"}
        for cue in cues:
            at = ("premise", "hypothesis").index(cue["segment"])
            term = next(t for t in student.terms if t == (at, cue["word"]))
            assert own[student.place[term]] == pytest.approx(cue["weight"], abs=1e-4)


def test_attributions_are_of_the_explained_class() -> None:
    ones, others = (setting(model=small("tfidf"), target=[c] * len(REVIEWS)) for c in (0, 1))
    one, other = (explained(made).attribution for made in (ones, others))
    torch.testing.assert_close(one, -other, rtol=1e-5, atol=1e-7)  # two classes
    assert float(one.abs().max()) > 0


def test_skipped_without_unlabelled_texts_and_for_questions() -> None:
    methods = [METHODS.make(name) for name in BOTH]
    for made, reason in (
        (setting(unlabelled=None), "needs unlabelled texts, which sentiment/tiny/test does not"),
        (setting("qa"), "is for sentiment, nli, not for qa"),
    ):
        skips = make_plan([made], methods, [], chunk=3).skips
        assert [s.method for s in skips] == list(BOTH)
        assert all(reason in s.reason for s in skips)
    with pytest.raises(HumetricError, match="Expected a setting with unlabelled texts"):
        explained(setting(unlabelled=None))


def test_mistakes_are_explained() -> None:
    with pytest.raises(HumetricError, match="at least 20 unlabelled texts for a student but got 9"):
        explained(setting(unlabelled=UNLABELLED[:9]))
    with pytest.raises(HumetricError, match="number 1 is case-0003: leave it out"):
        setting(unlabelled=["good film", REVIEWS[3]])
    stubborn = bert()
    dict(stubborn.named_parameters())["model.classifier.bias"].data[1] = 1e3
    with pytest.raises(HumetricError, match="gives all 60 the class 1"):
        explained(setting(model=stubborn), hard=True)
    with pytest.raises(HumetricError, match="Expected a pair of texts but number 0"):
        setting("nli", unlabelled=["only one"])


def test_other_unlabelled_texts_are_another_setting() -> None:
    assert setting().version != setting(unlabelled=UNLABELLED[1:]).version
    assert setting(unlabelled=None).version in setting().version


@pytest.mark.parametrize("data", ["reviews", "deception", "inference"])
def test_embedded_unlabelled_texts_are_no_cases(data: str) -> None:
    """What decides the split (the text, of a pair the premise) is never in both."""
    more = {Drawn(data)[i][0] for i in range(300)}
    pool = {segments_of(text_dataset(data).draw(i, "pool"))[0] for i in range(300)}
    train = {segments_of(text_dataset(data).draw(i, "train"))[0] for i in range(300)}
    assert not more & pool
    assert not more & train
    assert len(Drawn(data)) == 4000
    assert Drawn(data)[-1] == Drawn(data)[3999:][0]
    with pytest.raises(IndexError):
        Drawn(data)[4000]


def test_embedded_cases_are_not_among_what_students_learn_from() -> None:
    made = load_setting("sentiment/reviews/bilstm")
    assert made.unlabelled is not None
    assert made.texts is not None
    learned = {made.unlabelled.texts[i] for i in range(2000)}
    assert not learned & set(made.texts.raw)


def test_agreement_is_stored_read_back_and_on_the_board(tmp_path: Path) -> None:
    from humetric.boards.method_board import legend

    methods = [METHODS.make(name) for name in BOTH]
    made = setting(model=small("tfidf"))
    first = run_settings([made], methods, [METRICS.make("sparseness")], out=tmp_path, chunk=4)
    assert not first.failures
    about = first.more[made.id, BOTH[0]]["student"]
    assert about["trained on"] == 48
    assert about["held out"] == 12
    read = read_result(tmp_path)
    assert read.more == first.more
    assert len(read.more[made.id, BOTH[1]]["cues"]) == 2
    again = run_settings([made], methods, [METRICS.make("sparseness")], out=tmp_path, chunk=4)
    assert again.more == first.more
    assert f"{about['agreement']:.1%} of 12 held-out texts" in legend(read)
    assert legend(read).count(f"{', '.join(BOTH)} on {made.id}: the student says") == 1


def test_a_resumed_run_has_the_same_maps(tmp_path: Path) -> None:
    made, chosen = setting(model=small("tfidf")), [METHODS.make(BOTH[0])]
    metric = [METRICS.make("sparseness")]
    run_settings([made], chosen, metric, out=tmp_path / "a", chunk=2)
    run_settings([made], chosen, metric, out=tmp_path / "b", chunk=2)
    second = sorted((tmp_path / "b").rglob("map/*.safetensors"))[1]
    second.unlink()
    result = run_settings([replace(made)], chosen, metric, out=tmp_path / "b", chunk=2)
    assert result.provenance["model_calls"] == 0
    from safetensors.torch import load_file

    for one in sorted((tmp_path / "a").rglob("map/*.safetensors")):
        other = tmp_path / "b" / one.relative_to(tmp_path / "a")
        assert torch.equal(load_file(one)["map"], load_file(other)["map"])
