"""The engine on texts: rows of different lengths, each answered as if it were alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support import engine_for
from text_support import REVIEWS, bert, reordered, setting, small, wordpiece
from torch import Tensor, nn

from humetric import text_setting
from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.engine.questions import (
    Answers,
    GridMasks,
    GroupMasks,
    Program,
    Questions,
    RankMasks,
    View,
    about,
    about_each,
    empty,
    instead,
    intact,
)
from humetric.engine.sequences import SortedRows, with_lengths
from humetric.errors import HumetricError, OutOfMemoryError
from humetric.models.text import Zeroed
from humetric.run.plan import find_batch_size, rows_per_second
from humetric.tasks.cases import Cases
from humetric.tasks.partition import Partition
from humetric.tasks.setting import Setting
from humetric.tasks.text import REMOVALS

PLAIN = ("mask", "delete")
MASK = wordpiece().token_to_id("[MASK]")


def brute_force(
    made: Setting, module: nn.Module, case: int, keep: list[bool]
) -> tuple[float, float, float]:
    """One question answered from lists, without padding: logit, probability, margin."""
    assert made.texts is not None
    count = int(made.texts.tokens.counts[case])
    ids, _, types = made.x[case, :, :count].tolist()
    word = made.texts.tokens.word[case, :count].tolist()
    part = made.texts.tokens.part[case, :count].tolist()
    attention, removal = [1] * count, made.task.removal  # type: ignore[attr-defined]
    gone = [w >= 0 and not keep[w] for w in word]
    if removal == "mask":
        ids = [MASK if g else i for i, g in zip(ids, gone, strict=True)]
    elif removal == "drop":
        attention = [0 if g else 1 for g in gone]
    else:
        ids, types = ([v for v, g in zip(a, gone, strict=True) if not g] for a in (ids, types))
        attention = [1] * len(ids)
    with torch.no_grad():
        out = module(*(torch.tensor([a]) for a in (ids, attention, types)))[0]
    target = made.target[case].tolist()
    if made.task.id != "qa":
        other = max(out[:target].tolist() + out[target + 1 :].tolist())
        return float(out[target]), float(out.softmax(0)[target]), float(out[target]) - other
    inside = [i for i, p in enumerate(part) if p == 1]
    logits = [float(out[side, at]) for side, at in enumerate(target)]
    shares = [
        float(out[side][inside].softmax(0)[inside.index(at)]) for side, at in enumerate(target)
    ]
    others = [max(float(out[side, i]) for i in inside if i != at) for side, at in enumerate(target)]
    return sum(logits) / 2, sum(shares) / 2, (sum(logits) - sum(others)) / 2


def drawn(cases: Cases, rows: int = 6, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.random((rows + i, n)) < 0.5 for i, n in enumerate(cases.lengths)]


KINDS: list[tuple[str, str, str | None]] = [
    *((task, removal, None) for task in ("sentiment", "nli") for removal in REMOVALS),
    *(("qa", removal, None) for removal in ("mask", "drop")),
    *(("sentiment", removal, name) for removal in PLAIN for name in ("bilstm", "tfidf")),
    *(("nli", removal, name) for removal in PLAIN for name in ("infersent", "bag-of-words")),
]


@pytest.mark.parametrize(("task", "removal", "name"), KINDS)
@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_answers_equal_brute_force(
    task: str, removal: str, name: str | None, batch_size: int
) -> None:
    made = setting(task, None if name is None else small(name), removal=removal)
    engine = engine_for(made, batch_size=batch_size)
    bits = drawn(engine.cases)
    asked = [about(engine.cases, bits), intact(engine.cases), empty(engine.cases)]
    answers = engine.ask(asked)
    n = engine.cases.lengths
    rows = [
        [(i, row) for i, b in enumerate(bits) for row in b.tolist()],
        [(i, [True] * k) for i, k in enumerate(n)],
        [(i, [False] * k) for i, k in enumerate(n)],
    ]
    for found, each in zip(answers, rows, strict=True):
        for at, (case, keep) in enumerate(each):
            expected = brute_force(made, engine.module, case, keep)
            assert [float(answer[at]) for answer in found] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
@pytest.mark.parametrize("removal", ["mask", "drop"])
def test_company_does_not_matter(task: str, removal: str) -> None:
    """A short case alone is answered as beside longer ones."""
    made = setting(task, removal=removal)
    whole = engine_for(made)
    bits = drawn(whole.cases)
    (together,) = whole.ask([about(whole.cases, bits)])
    parts = together.logit.split([len(b) for b in bits])
    for i in range(len(made)):
        alone = engine_for(reordered(made, [i]))
        (found,) = alone.ask([about(alone.cases, [bits[i]])])
        torch.testing.assert_close(found.logit, parts[i], rtol=0, atol=1e-11)


class Shapes(nn.Module):
    """Notes the shape of each call."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.shapes = inner, list[tuple[int, int]]()

    def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        self.shapes.append((ids.shape[0], ids.shape[1]))
        self.tokens = getattr(self, "tokens", 0) + int(attention.sum())
        out: Tensor = self.inner(ids, attention, types)
        return out


@pytest.mark.parametrize("removal", ["mask", "delete"])
def test_batches_are_sorted_by_length_and_bounded_in_tokens(removal: str) -> None:
    made = setting(removal=removal)
    engine = engine_for(made, batch_size=4)
    engine.module = shapes = Shapes(engine.module)
    bits = drawn(engine.cases, rows=40)
    engine.ask([about(engine.cases, bits)])
    longest = int(made.x.shape[2])
    widths = [width for _, width in shapes.shapes]
    assert widths == sorted(widths, reverse=True)
    assert all(rows * width <= 4 * longest for rows, width in shapes.shapes)
    full = [rows == 4 * longest // width for rows, width in shapes.shapes]
    assert all(full[:-1])  # as many rows as fit: here all are too short to waste much
    padded = sum(rows * width for rows, width in shapes.shapes)
    assert padded < 1.15 * shapes.tokens  # nearly no padding
    distinct = sum(len(np.unique(b, axis=0)) for b in bits)
    assert engine.rows == sum(rows for rows, _ in shapes.shapes) == distinct


def test_a_batch_ends_where_padding_would_cost_more_than_a_call() -> None:
    def rows(*lengths: tuple[int, int]) -> SortedRows:
        none = torch.empty(0)
        return SortedRows(none, none, none, [n for n, times in lengths for _ in range(times)])

    assert rows((200, 10), (20, 50)).batch(0, 16 * 200) == (10, 200)
    assert rows((200, 10), (190, 50)).batch(0, 16 * 200) == (16, 200)  # 60 tokens are nothing
    assert rows((200, 1), (20, 50)).batch(0, 16 * 200) == (16, 200)  # one row is too few
    assert rows(
        (200, 20),
    ).batch(0, 16 * 200) == (16, 200)
    assert rows(
        (200, 20),
    ).batch(16, 16 * 200) == (20, 200)
    assert rows(
        (200, 2),
    ).batch(0, 10) == (1, 200)  # at least one


def test_the_same_work_makes_the_same_batches() -> None:
    seen = []
    for _ in range(2):
        engine = engine_for(setting(removal="delete"), batch_size=3)
        engine.module = shapes = Shapes(engine.module)
        engine.ask([about(engine.cases, drawn(engine.cases)), intact(engine.cases)])
        seen.append(shapes.shapes)
    assert seen[0] == seen[1]


def test_duplicates_are_asked_once_whatever_form_they_come_in() -> None:
    engine = engine_for(setting())
    cases = engine.cases
    words = cases.features
    everything = [np.ones((2, n), dtype=bool) for n in cases.lengths]
    ranks = torch.arange(words, dtype=torch.int16).expand(len(cases), -1)
    all_ranks = RankMasks(ranks, torch.tensor([words], dtype=torch.int16), keep_first=True)
    halves = Partition("halves", (torch.arange(words) * 2 // words), 2)
    asked = [
        intact(cases),
        about(cases, everything),
        about_each(cases, all_ranks),
        about_each(cases, GroupMasks(torch.ones(len(cases), 2, dtype=torch.bool), halves)),
    ]
    answers = engine.ask(asked)
    assert engine.rows == len(cases)
    for found in answers[2:]:
        assert torch.equal(found.logit, answers[0].logit)
    # Bits of words that a case does not have are no difference.
    bits = torch.zeros(2, words, dtype=torch.bool)
    bits[1, 5:] = True
    short = list(cases.lengths).index(1)
    engine.ask([Questions(torch.tensor([short] * 2), GroupMasks(bits, asked[1].masks.partition))])  # type: ignore[attr-defined]
    assert engine.rows == len(cases) + 1


def test_partly_kept_words_are_refused() -> None:
    engine = engine_for(setting())
    cases = engine.cases
    half = GridMasks(torch.rand(len(cases), 3, 3), torch.rand(len(cases), 2), (1, cases.features))
    with pytest.raises(HumetricError, match="kept or removed, not in part"):
        engine.ask([about_each(cases, half)])


def test_other_texts_may_stand_in_the_place_of_a_case() -> None:
    """Asked beside words removed, each is answered as if it were alone, whatever its length."""
    made = setting()
    engine = engine_for(made, batch_size=3)
    cases, counts = engine.cases, made.texts.tokens.counts  # type: ignore[union-attr]
    others = [torch.stack([cases.x[j] for j in range(len(cases)) if j != i]) for i in range(4)]
    others += [cases.x[:0]] * (len(cases) - 4)
    asked = instead(cases, others)
    found, whole = engine.ask([asked, intact(cases)])
    at = 0
    for i in range(4):
        for j in (j for j in range(len(cases)) if j != i):
            with torch.no_grad():
                out = engine.module(*cases.x[j : j + 1, :, : counts[j]].unbind(1))[0]
            target = int(cases.target[i])
            assert found.logit[at] == pytest.approx(float(out[target]), abs=1e-9)
            at += 1
    assert at == len(asked)
    assert torch.equal(whole.logit, engine.ask([intact(cases)])[0].logit)


def test_equal_texts_are_asked_once() -> None:
    engine = engine_for(setting())
    cases = engine.cases
    twice = [cases.x[[i, i]] for i in range(len(cases))]
    (found,) = engine.ask([instead(cases, twice)])
    assert engine.rows == len(cases)
    assert torch.equal(found.logit[::2], found.logit[1::2])


def test_texts_in_the_place_of_a_case_are_refused_where_they_make_no_sense() -> None:
    engine = engine_for(setting("qa"))
    cases = engine.cases
    rows = [cases.x[i : i + 1] for i in range(len(cases))]
    (refused,) = engine.run([asking(instead(cases, rows))])
    assert "places in a text" in str(refused)
    engine = engine_for(setting())
    flat = [x.flatten(1) for x in torch.split(engine.cases.x, 1)]
    (refused,) = engine.run([asking(instead(engine.cases, flat))])
    assert "(rows, 3, tokens)" in str(refused)


def asking(questions: Questions) -> Program[Answers]:
    (answers,) = yield [questions]
    return answers


@pytest.mark.parametrize("batch_size", [2, 64])
def test_a_view_asks_another_model_about_the_same_cases(batch_size: int) -> None:
    """Zeroed embeddings in the place of masks: the same as taking the vectors out by hand."""
    made = setting()
    engine = engine_for(made, batch_size=batch_size)
    cases = engine.cases
    task, texts = cases.text()
    model = cases.text_module()
    view = View(Zeroed(model), replace(task, removed=Zeroed.ZERO), cases.target)
    bits = [~np.eye(n, dtype=bool) for n in cases.lengths]
    asked = replace(about(cases, bits), view=view)
    first, plain = engine.ask([asked, intact(cases)])
    rows = engine.rows
    assert rows == len(asked) + len(cases)
    at = 0
    for i, count in enumerate(texts.tokens.counts.tolist()):
        ids, attention, types = cases.x[i : i + 1, :, :count].unbind(1)
        for word in range(cases.lengths[i]):
            with torch.no_grad():
                embedded = model.embed(ids) * (texts.tokens.word[i, :count] != word)[None, :, None]
                out = model.from_embeddings(embedded, attention, types)[0]
            assert first.logit[at] == pytest.approx(float(out[cases.target[i]]), abs=1e-9)
            at += 1
    assert torch.equal(plain.logit, engine.ask([intact(cases)])[0].logit)


def on_meta(engine: Engine) -> Engine:
    """The same engine with its model and all of its tensors on the meta device."""
    cases = engine.cases
    _, texts = cases.text()
    ghost = replace(
        cases,
        x=cases.x.to("meta"),
        baseline=cases.baseline.to("meta"),
        target=cases.target.to("meta"),
        texts=replace(texts, tokens=texts.tokens.to(torch.device("meta"))),
    )
    return Engine(ghost, engine.module.to("meta"), engine.dtype, batch_size=2)


@pytest.mark.parametrize(("task", "removal", "name"), KINDS)
def test_hot_loop_never_touches_the_host(task: str, removal: str, name: str | None) -> None:
    made = setting(task, None if name is None else small(name), removal=removal)
    engine = engine_for(made, precision="fp32")
    asked = [about(engine.cases, drawn(engine.cases)), intact(engine.cases)]
    ghost = on_meta(engine)
    answers = ghost.evaluate([ghost._on_device(questions) for questions in asked])
    assert all(a.device.type == "meta" for a in answers)
    assert [len(a) for a in answers] == [len(q) for q in asked]


def test_meta_device_would_notice_a_host_copy() -> None:
    class Peeks(nn.Module):
        def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
            return ids[:, :2].float() * (1 if bool(attention.all()) else 2)

    engine = engine_for(setting(), precision="fp32")
    engine.module = Peeks()
    ghost = on_meta(engine)
    with pytest.raises((RuntimeError, NotImplementedError)):
        ghost.evaluate([ghost._on_device(intact(ghost.cases))])


def test_backs_off_when_memory_runs_out() -> None:
    class Starved(nn.Module):
        def __init__(self, inner: nn.Module, most: int) -> None:
            super().__init__()
            self.inner, self.most = inner, most

        def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
            if ids.numel() > self.most:
                raise torch.OutOfMemoryError("injected")
            out: Tensor = self.inner(ids, attention, types)
            return out

    plain, starved = engine_for(setting()), engine_for(setting())
    longest = plain.cases.x.shape[2]
    starved.module = Starved(starved.module, 2 * longest)
    asked = [about(plain.cases, drawn(plain.cases))]
    (a,), (b,) = plain.ask(asked), starved.ask(asked)
    torch.testing.assert_close(a.logit, b.logit, rtol=0, atol=1e-11)
    assert starved.batch_size == 2
    starved.module = Starved(plain.module, 0)
    with pytest.raises(OutOfMemoryError, match="Not even one input"):
        starved.ask(asked)


@pytest.mark.parametrize("name", ["transformer", "bilstm"])
def test_batch_sizes_and_speed_are_found(name: str) -> None:
    made = setting("sentiment", None if name == "transformer" else small(name))
    placed = made.place(place("cpu"))
    assert placed.gradient_rows >= 1
    batch = find_batch_size(placed, "auto")
    assert batch >= 2
    assert batch & (batch - 1) == 0
    assert rows_per_second(placed, batch) > 0


def test_bf16_and_long_inputs() -> None:
    """A thousand words through a model of 48 positions and through one without a bound."""
    long = " ".join(["the film was not good"] * 200)
    for model, words in ((bert(), None), (small("bilstm"), 1000)):
        made = text_setting(
            "sentiment/long/test", model, wordpiece(), [long, *REVIEWS[:2]], task="sentiment"
        )
        engine = engine_for(made, precision="bf16", batch_size=2)
        if words is not None:
            assert engine.cases.lengths[0] == words
        (answers,) = engine.ask([about(engine.cases, drawn(engine.cases, rows=2))])
        assert answers.logit.isfinite().all()


def test_row_lengths_are_what_is_left() -> None:
    engine = engine_for(setting(removal="delete"))
    found = with_lengths(empty(engine.cases), engine.cases)
    assert found.tokens is not None
    assert found.tokens.tolist() == [2] * len(REVIEWS)  # special tokens are never removed
