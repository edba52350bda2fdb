"""The training of text models: what it masks, how it resumes, which cases it chooses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from humetric.data.embedded import inference, reviews
from humetric.errors import HumetricError, UnknownNameError
from humetric.models import text_fit, text_inputs, train_text, wordpiece
from humetric.models.stored import load
from humetric.models.text_cases import choose_shared, choose_spans
from humetric.models.text_fit import Recipe, fit, fit_linear, masked
from humetric.models.text_recipes import bert
from humetric.models.text_scores import probabilities, token_spans
from humetric.models.wordpiece import CLS, MASK, PAD, SEP, SPECIAL, UNK
from humetric.tasks.answers import f1

BRIEF = Recipe("transformer", bert(16, 1, 64), texts=120, epochs=3, batch=20)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data() -> tuple[Any, text_inputs.Inputs]:
    texts = [reviews.draw(index, "train") for index in range(120)]
    tokenizer = wordpiece.train([t.text for t in texts], 300)
    return tokenizer, text_inputs.of_texts(tokenizer, texts)


def test_a_tokenizer_makes_pairs_with_types_and_no_unknown_words(data: Any) -> None:
    tokenizer = data[0]
    found = tokenizer.encode("Hello world", "xyzzy!")
    assert (found.ids[0], found.ids[-1], UNK in found.ids) == (CLS, SEP, False)
    assert found.type_ids == sorted(found.type_ids)
    assert found.ids.count(SEP) == 2


def test_masks_fall_on_words_only_at_all_rates() -> None:
    ids = torch.tensor([[CLS, *range(10, 30), SEP, PAD, PAD]] * 400)
    seen = masked(ids, 0.5, (MASK, UNK), np.random.default_rng(0))
    changed = seen != ids
    assert not changed[:, [0, 21, 22, 23]].any()
    assert set(seen[changed].tolist()) == {MASK, UNK}
    shares = changed.sum(1) / 20
    assert 0.4 < (shares > 0).float().mean() < 0.55
    assert shares.max() > 0.95
    assert torch.equal(masked(ids, 0.0, (MASK,), np.random.default_rng(0)), ids)


def test_batches_hold_every_row_once_and_no_needless_padding(data: Any) -> None:
    inputs = data[1]
    found = list(text_inputs.batches(inputs, 16, np.random.default_rng(0)))
    rows = [tuple(row[row != PAD].tolist()) for batch in found for row in batch.ids]
    assert sorted(rows) == sorted(tuple(row[row != PAD].tolist()) for row in inputs.ids)
    assert all((batch.ids[:, -1] != PAD).any() for batch in found)


def test_stopped_training_ends_as_if_it_had_not_been(
    data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, state = data[1], tmp_path / "state.pt"
    whole = fit(BRIEF, inputs, 300, 2, tmp_path / "other.pt").state_dict()
    before, keep, calls = torch.get_rng_state(), text_fit._keep, []

    def stop_after_two(*arguments: Any) -> None:
        keep(*arguments)
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(text_fit, "_keep", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        fit(BRIEF, inputs, 300, 2, state)
    assert state.exists()
    resumed = fit(BRIEF, inputs, 300, 2, state).state_dict()
    assert len(calls) == 3
    assert not state.exists()
    assert torch.equal(before, torch.get_rng_state())
    for name, value in whole.items():
        assert torch.equal(value, resumed[name]), name
        assert torch.equal(value, value.half().to(value.dtype)), "as stored"


def test_the_linear_model_ignores_special_tokens_and_learns(data: Any) -> None:
    inputs = data[1]
    model = fit_linear(Recipe("tfidf", {}, texts=120, epochs=50, decay=1e-4), inputs, 300, 2)
    assert (probabilities(model, inputs).argmax(1) == inputs.target.numpy()).mean() > 0.8
    removed = inputs._replace(ids=inputs.ids.clone())
    removed.ids[:, 3] = UNK
    dropped = model(inputs.ids, inputs.attention.index_fill(1, torch.tensor([3]), 0), inputs.types)
    torch.testing.assert_close(model(removed.ids, inputs.attention, inputs.types), dropped)


def test_reasons_are_added_behind_the_pair_and_half_are_others(data: Any) -> None:
    pairs = [inference.draw(index, "train") for index in range(30)]
    both, reasons, matched = text_inputs.matched_and_not(pairs, "test")
    assert [r == p.reason for r, p in zip(reasons, both, strict=True)] == matched
    assert sum(matched) == 30
    alone = text_inputs.of_pairs(
        data[0], [(p.premise, p.hypothesis) for p in both], [p.label for p in both]
    )
    told = text_inputs.explained(data[0], both, reasons, matched)
    for row, (ids, types) in enumerate(zip(alone.ids, alone.types, strict=True)):
        length = int((ids != PAD).sum())
        assert torch.equal(told.ids[row, :length], ids[:length])
        assert torch.equal(told.types[row, :length], types[:length])
        end = int((told.ids[row] != PAD).sum())
        assert told.ids[row, end - 1] == SEP
        assert (told.types[row, length:end] == 1).all()
    assert torch.equal(told.target % 3, alone.target)
    assert ((told.target < 3) == torch.tensor(matched)).all()


def test_shared_cases_are_balanced_and_common_errors_come_first() -> None:
    labels = np.arange(60) % 3
    sure, other = np.eye(3)[labels], np.eye(3)[(labels + 1) % 3]
    one, two = sure.copy(), sure.copy()
    one[30:], two[45:] = other[30:], other[45:]
    chosen = choose_shared(labels, [one, two], 0, 12)
    assert [one[i].argmax() for i in chosen] == [0, 0, 1, 1, 2, 2] * 2
    assert all(i >= 45 for i in chosen[::2])
    assert chosen[1::2] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(HumetricError, match="as class 0 wrongly but got 0"):
        choose_shared(labels, [sure, two], 0, 12)
    assert choose_spans([[1, 0.01, 1, 1], [1, 1, 1, 0.5]], 2) == [0, 2]


def test_f1_counts_words_as_squad_does() -> None:
    assert f1("The Stone Bridge", "stone bridge.") == 1
    assert f1("Ilra Tenner", "Ilra Orskin") == 0.5
    assert f1("bridge", "stone bridge") == pytest.approx(2 / 3)
    assert f1("x", "y") == f1("", "y") == 0


class _Fixed(torch.nn.Module):
    """Starts best at token 5 and ends best at token 3, or else at token 6."""

    span = True

    def forward(self, ids: Any, attention: Any, types: Any) -> Any:
        logits = torch.zeros(len(ids), 2, ids.shape[1])
        logits[:, 0, 5], logits[:, 1, 3], logits[:, 1, 6], logits[:, 0, 1] = 2, 5, 4, 9
        return logits


def test_spans_start_before_they_end_and_stay_in_the_passage() -> None:
    ids = torch.tensor([[CLS, 9, SEP, 10, 11, 12, 13, SEP]])
    types = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
    given = text_inputs.Inputs(ids, types, torch.zeros(1, 2))
    spans, leads = token_spans(_Fixed(), given)  # type: ignore[arg-type]
    assert spans == [(5, 6)]
    assert leads == [1.0], "from 3 to 3 scores 5"


def test_files_come_out_the_same_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = "sentiment/reviews/bert"
    monkeypatch.setitem(train_text.RECIPES, setting, BRIEF)
    few = [reviews.draw(index, "train") for index in range(120)]
    monkeypatch.setattr(train_text, "texts", lambda data, split, count: few)
    for run in ("one", "two"):
        train_text.train(setting, tmp_path / run, tmp_path / "state", False)
    for file in ("bert/model.safetensors", "tokenizer.json"):
        one, two = (tmp_path / run / "sentiment/reviews" / file for run in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    assert load(tmp_path / "one" / setting / "model.safetensors").limit == 64
    assert SPECIAL[MASK] == "[MASK]"


def test_unknown_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'sentiment/reviews/bert'"):
        train_text.main(["sentiment/review/bert", "--output", str(tmp_path)])
