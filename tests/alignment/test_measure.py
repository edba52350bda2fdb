"""Alignment of small random models: gold targets, any method, order, store, soft oracle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from alignment_reference import alignment_of
from text_support import bert, reordered, setting, small, wordpiece

from humetric.alignment.arithmetic import align, drawn
from humetric.alignment.features import by_tokens, features_of, said_in
from humetric.alignment.importance import importances, with_gold
from humetric.alignment.informed import Informed, soft_maps, soft_oracles
from humetric.alignment.marks import Marks
from humetric.alignment.measure import Measured, measure
from humetric.alignment.oracles import hard
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.methods import METHODS
from humetric.results.identity import context
from humetric.results.store import Store, read_identity
from humetric.tasks.named import load_setting
from humetric.tasks.setting import Setting
from humetric.tasks.text_setting import text_setting
from humetric.tasks.words import Encoder

CPU = place("cpu", "fp64")
PAIRS = (
    ("The waiter never smiled .", "Nobody smiled ."),
    ("The soup arrived cold and tedious", "the soup was not good"),
    ("a moving end", "the plot was slow and the end was moving and unforgettable"),
    ("the river flooded the mill", "the mill was cold"),
    ("Nobody would call this picture boring", "the picture was wonderful"),
)
REASONS = (
    "If the waiter never smiled, somebody else may have smiled.",
    "Cold soup is not good.",
    "The end was moving, and the plot was slow.",
    "A mill in a flood is cold.",
    "Not boring is not yet wonderful, but the picture was moving.",
)
MARKS = Marks(
    REASONS,
    tuple((((0, 4, 10),), ((1, 0, 6), (0, 4, 10)), ((1, 0, 3),)) for _ in PAIRS),
    "people",
)
LABELS = [0, 1, 2, 0, 1]


def pairs_setting(**options: Any) -> Setting:
    return text_setting("nli/tiny/bert", bert(classes=3), wordpiece(), PAIRS, task="nli",
                        label=LABELS, classes=("e", "n", "c"), **options)  # fmt: skip


def informed() -> list[Informed]:
    return [Informed(bert(classes=6, positions=96), 1, "one")]


def found_of(made: Setting, marks: Marks = MARKS, **options: Any) -> Measured:
    return measure(made, marks=marks, tokenizer=wordpiece(), placement=CPU, **options)


def test_hard_alignment_by_an_independent_script() -> None:
    """All steps again: integrated gradients by hand, tokens, oracle, other explanation."""
    made = pairs_setting()
    model = bert(classes=3).double()
    numbers, owns, others = [], [], []
    encoder = Encoder(wordpiece(), None)
    listed = features_of(by_tokens(made).texts)  # type: ignore[arg-type]
    said = [said_in(e, encoder, "tokens") for e in REASONS]
    order = drawn(made.ids, REASONS, 0)
    for i, (premise, hypothesis) in enumerate(PAIRS):
        coded = wordpiece().encode(premise, hypothesis)
        ids, types = torch.tensor([coded.ids]), torch.tensor([coded.type_ids])
        real = torch.tensor(coded.special_tokens_mask) == 0
        x = model.embed(ids).detach()
        mask = model.embed(torch.full_like(ids, wordpiece().token_to_id("[MASK]"))).detach()
        start = torch.where(real[None, :, None], mask, x)
        total = torch.zeros_like(x)
        for step in range(80):
            point = (start + step / 79 * (x - start)).requires_grad_()
            score = model.from_embeddings(point, torch.ones_like(ids), types)[0, LABELS[i]]
            weight = (0.5 if step in (0, 79) else 1.0) / 79
            total += weight * torch.autograd.grad(score, point)[0]
        attribution = (total * (x - start)).sum(2)[0].abs()
        numbers.append(attribution[real].numpy())
        owns.append(hard(listed[i], said[i]))
        others.append([hard(listed[i], said[j]) for j in order[i]])
    found = found_of(made)
    c, c_random = (
        np.array([getattr(p, k) for p in found.pairs["hard"]]) for k in ("c", "c_random")
    )
    assert align(c, c_random).n >= 3
    assert align(c, c_random).value == pytest.approx(alignment_of(numbers, owns, others), abs=1e-9)


def test_gold_is_explained_and_stored_as_gold(tmp_path: Path) -> None:
    made = pairs_setting()
    assert not torch.equal(made.target, made.label)  # else there is nothing to tell apart
    store = Store(tmp_path)
    method = METHODS.make("integrated-gradients")
    gold = importances(with_gold(made).place(CPU), method, store=store)
    own = importances(made.place(CPU), method)
    wrong = (~made.right).nonzero()[:, 0].tolist()
    assert any(not np.allclose(gold[i], own[i]) for i in wrong)
    for i in made.right.nonzero()[:, 0].tolist():
        assert np.allclose(gold[i], own[i])
    (path,) = tmp_path.rglob("map/*.safetensors")
    identity = read_identity(path)
    assert identity is not None
    assert identity["target"] == "gold"
    again = importances(with_gold(made).place(CPU), method, store=store)
    assert all(np.array_equal(a, b) for a, b in zip(gold, again, strict=True))


def test_old_identities_stay_as_they_were() -> None:
    assert context("a", "1", ["x"], 0, "cpu", "fp32") == {
        "setting": "a", "setting_version": "1", "cases": ["x"], "target": "predicted", "seed": 0,
        "device": "cpu", "precision": "fp32",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["saliency", "occlusion", "lime", "random"])
def test_any_method_in_the_place_of_integrated_gradients(name: str) -> None:
    found = found_of(pairs_setting(), method=METHODS.make(name))
    assert found.method.id == name
    assert {len(p) for p in found.pairs.values()} == {5}
    other = found_of(pairs_setting())
    assert found.pairs["expert"] != other.pairs["expert"]


def test_a_constant_method_is_undefined_everywhere() -> None:
    found = found_of(pairs_setting(), method=METHODS.make("constant"))
    assert all(p.why for p in found.pairs["hard"])
    assert align(*(np.array([getattr(p, k) for p in found.pairs["hard"]])
                   for k in ("c", "c_random"))).undefined == 5  # fmt: skip


def test_words_are_sums_of_tokens() -> None:
    made = with_gold(pairs_setting())
    method = METHODS.make("gradient-input")
    assert made.texts is not None
    cut = by_tokens(made)
    maps = method.explain(cut.place(CPU).cases(0, 5))
    assert isinstance(maps, torch.Tensor)
    of_words = importances(made.place(CPU), method)
    for case, values in enumerate(of_words):
        word = made.texts.tokens.word[case]
        place = word[word >= 0].numpy()
        sums = np.bincount(place, maps[case, : len(place)].numpy())
        assert values == pytest.approx(np.abs(sums), abs=1e-12)
    assert found_of(pairs_setting(), level="words").level == "words"


def test_order_and_company_of_cases_do_not_matter() -> None:
    made = pairs_setting()
    order = [3, 0, 4, 2, 1]
    straight = found_of(made, informed=informed())
    turned = found_of(
        reordered(made, order),
        Marks(
            tuple(REASONS[i] for i in order), tuple(MARKS.annotators[i] for i in order), "people"
        ),
        informed=informed(),
    )
    for oracle in ("hard", "soft", "expert"):
        for at, i in enumerate(order):
            one, two = straight.pairs[oracle][i], turned.pairs[oracle][at]
            assert (one.c, one.c_random) == pytest.approx(
                (two.c, two.c_random), abs=1e-12, nan_ok=True
            )


def test_soft_oracle_reads_input_and_explanation() -> None:
    made = by_tokens(with_gold(pairs_setting()))
    (oracle,) = soft_oracles(made, REASONS, informed(), wordpiece(), CPU)
    placed, real = oracle._read(1, 1)
    alone = wordpiece().encode(*PAIRS[1])
    told = wordpiece().encode(REASONS[1], add_special_tokens=False)
    sep = wordpiece().token_to_id("[SEP]")
    x = placed.setting.x[0]
    assert x[0].tolist() == [*alone.ids, *told.ids, sep]
    assert x[2].tolist() == [*alone.type_ids, *[1] * (len(told.ids) + 1)]
    assert real == len(alone.ids) - 3
    assert placed.setting.target.tolist() == [LABELS[1]]  # matched
    assert oracle._read(1, 0)[0].setting.target.tolist() == [LABELS[1] + 3]  # mismatched
    assert oracle(1, 1).shape == (real,)
    assert not np.allclose(oracle(1, 1), oracle(1, 0))


def test_soft_oracle_is_that_of_the_shipped_training_inputs() -> None:
    from humetric.data.embedded.inference import draw
    from humetric.models import text_inputs
    from humetric.models import wordpiece as pieces
    from humetric.models.convnet import WEIGHTS

    made = load_setting("nli/inference/bow", 3)
    samples = [draw(int(id.rpartition("-")[2]), "pool") for id in made.ids]
    tokenizer = pieces.load(WEIGHTS / "nli/inference/tokenizer.json", 96)
    reasons = [s.reason for s in samples]
    (oracle,) = soft_oracles(made, reasons, informed(), tokenizer, CPU)
    wanted = text_inputs.explained(tokenizer.backend_tokenizer, samples, reasons, [True] * 3)
    for case in range(3):
        x = oracle._read(case, case)[0].setting.x[0]
        width = x.shape[1]
        assert torch.equal(x[0], wanted.ids[case, :width])
        assert torch.equal(x[2], wanted.types[case, :width])
        assert (wanted.ids[case, width:] == 0).all()


def test_soft_maps_are_kept(tmp_path: Path) -> None:
    made = by_tokens(with_gold(pairs_setting()))
    (oracle,) = soft_oracles(made, REASONS, informed(), wordpiece(), CPU)
    order = drawn(made.ids, REASONS, 0)
    first = soft_maps(oracle, order, Store(tmp_path))

    class Silent:
        def __getattr__(self, name: str) -> Any:
            return getattr(oracle, name)

        def __call__(self, case: int, explanation: int) -> Any:
            raise AssertionError("computed again")

    again = soft_maps(Silent(), order, Store(tmp_path))  # type: ignore[arg-type]
    for one, two in zip([*first.own, *first.other], [*again.own, *again.other], strict=True):
        assert np.array_equal(one, two)  # type: ignore[arg-type]


def test_seeds_of_the_soft_oracle_are_averaged() -> None:
    made = pairs_setting()
    torch.manual_seed(5)
    two = [*informed(), Informed(small("infersent", classes=6), 2, "two")]
    alone = [found_of(made, informed=[one]).pairs["soft"] for one in two]
    both = found_of(made, informed=two).pairs["soft"]
    for a, b, mean in zip(*alone, both, strict=True):
        assert mean.c == pytest.approx((a.c + b.c) / 2)
        assert mean.c_random == pytest.approx((a.c_random + b.c_random) / 2)


def test_long_explanations_are_cut() -> None:
    made = by_tokens(with_gold(pairs_setting()))
    short = [Informed(bert(classes=6, positions=48), 1, "one")]
    told = [" ".join(["unforgettable"] * 40)] * 5
    (oracle,) = soft_oracles(made, told, short, wordpiece(), CPU)
    x = oracle._read(3, 3)[0].setting.x
    assert x.shape[2] == 48
    assert int(x[0, 0, -1]) == wordpiece().token_to_id("[SEP]")


def test_one_token_inputs_and_empty_hypotheses() -> None:
    made = setting("nli", label=[0, 1, 2, 0])  # among them an empty hypothesis and two words
    marks = Marks(("smiled", "cold", "end", "mill"), ((),) * 4, "people")
    found = found_of(made, marks)
    assert found.absent["expert"] == "no human marks"
    assert found.absent["soft"] == "no explanation-informed model"
    one = setting("sentiment", label=[0, 1, 0, 1, 0, 1])
    spans = Marks(("",) * 6, tuple((((0, 0, 4),),) for _ in range(6)), "people")
    words = measure(one, marks=spans, placement=CPU, level="words")
    assert words.absent == dict.fromkeys(("hard", "soft"), "no explanations in words")
    assert words.pairs["expert"][3].why  # "boring" alone
    assert words.pairs["expert"][0].c == words.pairs["expert"][0].c


def test_without_marks() -> None:
    found = measure(pairs_setting(), placement=CPU)
    assert not found.pairs
    assert set(found.absent.values()) == {"no human marks"}
    assert found.source == ""


def test_images_have_regions() -> None:
    made = load_setting("image/leaf/cnn", 3)
    found = measure(made, METHODS.make("saliency"), placement=place("cpu"))
    assert len(found.pairs["expert"]) == 3
    bare = measure(replace(made, region=None), METHODS.make("saliency"), placement=place("cpu"))
    assert bare.absent["expert"] == "no human marks"


def test_answers_are_explained_at_the_gold_span() -> None:
    made = setting("qa", label=[(4, 9), (0, 3), (900, 901)])  # the last is nowhere
    marks = Marks(("",) * 3, tuple((((1, 4, 9),),) for _ in range(3)), "people")
    found = measure(made, marks=marks, placement=CPU)
    assert [np.isnan(p.c) for p in found.pairs["expert"]] == [False, False, True]
    assert "gold answer" in found.pairs["expert"][2].why


def test_errors_say_what_to_do() -> None:
    with pytest.raises(HumetricError, match="tokenizer="):
        measure(pairs_setting(), marks=MARKS, placement=CPU)
    bag = small("bag-of-words", classes=3)
    plain = text_setting("nli/tiny/bow", bag, wordpiece(), PAIRS, task="nli", label=LABELS)
    with pytest.raises(HumetricError, match="attention"):
        measure(plain, METHODS.make("attention"), marks=MARKS, placement=CPU)
    with pytest.raises(HumetricError, match="tokens"):
        found_of(pairs_setting(), level="letters")
