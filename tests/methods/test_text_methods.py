"""Methods on texts: exact where the model is linear, complete where they must be."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from prototype_support import equipped
from support import engine_for
from text_support import bag, reordered, setting, small, wordpiece
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.engine.questions import empty, intact
from humetric.errors import HumetricError
from humetric.methods import METHODS
from humetric.methods.attention import rollout
from humetric.run.work import explain as run_methods

TASKS = ["sentiment", "nli", "qa"]
FEW = {"lime": 60, "kernel-shap": 60, "smoothgrad": 5, "anchor": 300, "decision-boundary": 60}
FEW_OF_EACH = {"samples": 60, "rule_samples": 300, "path_samples": 60}
"""Of composite."""
FOR_BERT = [
    (task, name)
    for task in TASKS
    for name in METHODS
    if task in METHODS.make(name).card.tasks and name != "coefficients"
]


def explain(name: str, engine: Engine, **parameters: object) -> Tensor:
    if name in FEW:
        parameters = {"samples": FEW[name], **parameters}
    if name == "composite":
        parameters = {**FEW_OF_EACH, **parameters}
    found = run_methods([METHODS.make(name, parameters)], engine)[name]
    if isinstance(found, Exception):
        raise found
    return found


def effects(engine: Engine, away_from: str = "mask") -> Tensor:
    """(cases, words): what a word adds to the explained logit of a bag of words."""
    cases = engine.cases
    task, texts = cases.text()
    module = cases.text_module()
    ids, attention, _ = cases.x.unbind(1)
    with torch.no_grad():
        base = torch.full_like(ids, task.removed if away_from == "mask" else task.pad)
        fill = 0 if away_from == "zero" else module.embed(base)
        weight = module.head.weight[cases.target]  # type: ignore[union-attr,index]
        each = (module.embed(ids) - fill) @ weight[:, :, None]
        return texts.tokens.sum(each[:, :, 0] / attention.sum(1)[:, None])


@pytest.mark.parametrize("name", ["occlusion", "kernel-shap", "integrated-gradients"])
def test_exact_on_a_linear_model(name: str) -> None:
    engine = engine_for(setting(model=bag()))
    torch.testing.assert_close(explain(name, engine), effects(engine), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("baseline", ["mask", "pad", "zero"])
def test_integrated_gradients_from_each_baseline(baseline: str) -> None:
    engine = engine_for(setting(model=bag()))
    found = explain("integrated-gradients", engine, text_baseline=baseline)
    torch.testing.assert_close(found, effects(engine, baseline))
    with pytest.raises(HumetricError, match="text_baseline of mask, pad, zero but got 'blur'"):
        METHODS.make("integrated-gradients", {"text_baseline": "blur"})


@pytest.mark.parametrize("task", TASKS)
def test_integrated_gradients_are_complete(task: str) -> None:
    """From the mask the ends are the intact and the empty input of the engine."""
    engine = engine_for(setting(task))
    whole, nothing = engine.ask([intact(engine.cases), empty(engine.cases)])
    expected = whole.logit - nothing.logit
    errors = []
    for points in (40, 400):
        total = explain("integrated-gradients", engine, points=points).sum(1)
        errors.append(float((total - expected).abs().max()))
    assert errors[1] < 2e-3 * float(expected.abs().max())
    assert errors[1] < errors[0] / 5 or errors[0] < 1e-6


def test_gradient_methods_on_a_linear_model() -> None:
    engine = engine_for(setting(model=bag()))
    cases = engine.cases
    _, texts = cases.text()
    weight = cases.text_module().head.weight[cases.target]  # type: ignore[union-attr,index]
    norm = weight.norm(dim=1) / texts.tokens.counts
    expected = texts.tokens.sizes * norm[:, None]
    for name in ("saliency", "smoothgrad"):
        torch.testing.assert_close(explain(name, engine), expected, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(explain("gradient-input", engine), effects(engine, "zero"))


@pytest.mark.parametrize("task", TASKS)
def test_saliency_is_the_gradient_by_differences(task: str) -> None:
    """The score of a span is the mean of its start and end logits."""
    made = setting(task)
    engine = engine_for(made)
    found, cases = explain("saliency", engine), engine.cases
    module, (_, texts) = cases.text_module(), cases.text()
    i, count = 1, int(texts.tokens.counts[1])
    ids, attention, types = cases.x[i : i + 1, :, :count].unbind(1)
    embedded = module.embed(ids).detach()

    def value(x: Tensor) -> float:
        with torch.no_grad():
            out = module.from_embeddings(x, attention, types)[0]
        if task == "qa":
            start, end = cases.target[i].tolist()
            return float(out[0, start] + out[1, end]) / 2
        return float(out[cases.target[i]])

    totals = [0.0] * cases.lengths[i]
    for token, word in enumerate(texts.tokens.word[i, :count].tolist()):
        if word < 0:
            continue
        slopes = []
        for d in range(embedded.shape[2]):
            step = torch.zeros_like(embedded)
            step[0, token, d] = 1e-5
            slopes.append((value(embedded + step) - value(embedded - step)) / 2e-5)
        totals[word] += float(np.linalg.norm(slopes))
    np.testing.assert_allclose(found[i, : len(totals)], totals, rtol=1e-4)


def test_rollout_by_hand() -> None:
    rng = np.random.default_rng(0)
    layers = rng.random((3, 2, 4, 4))
    layers /= layers.sum(3, keepdims=True)
    flow = np.eye(4)
    for layer in layers:
        flow = (0.5 * layer.mean(0) + 0.5 * np.eye(4)) @ flow
    found = rollout([torch.from_numpy(layer)[None] for layer in layers])[0]
    np.testing.assert_allclose(found, flow)
    np.testing.assert_allclose(found.sum(1), 1)


@pytest.mark.parametrize("task", TASKS)
def test_attention_shares_out_at_most_one(task: str) -> None:
    found = explain("attention", engine_for(setting(task)))
    assert (found >= 0).all()
    assert (found.sum(1) < 1).all()  # special tokens have the rest
    assert (found.sum(1) > 0.1).all()


def test_coefficients_sum_to_the_logit() -> None:
    engine = engine_for(setting(model=small("tfidf")))
    cases = engine.cases
    found = explain("coefficients", engine)
    (whole,) = engine.ask([intact(cases)])
    bias = cases.text_module("coefficients").head.bias[cases.target]  # type: ignore[union-attr,index]
    torch.testing.assert_close(found.sum(1) + bias.detach(), whole.logit)


@pytest.mark.parametrize(
    ("name", "model", "reason"),
    [
        ("coefficients", None, "needs coefficients, which sentiment/tiny/test does not have"),
        ("attention", "bilstm", "needs attention, which sentiment/tiny/test does not have"),
        ("saliency", "tfidf", "needs gradient access"),
    ],
)
def test_methods_that_do_not_fit_are_skipped(name: str, model: str | None, reason: str) -> None:
    from humetric.run.plan import make_plan

    made = setting(model=None if model is None else small(model))
    plan = make_plan([made], [METHODS.make(name)], [], chunk=3)
    assert len(plan.skips) == 1
    assert reason in plan.skips[0].reason
    images = [METHODS.make(n) for n in ("rise", "grad-cam", "edge")]
    assert len(make_plan([made], images, [], chunk=3).skips) == 3


def test_lime_orders_the_words_of_a_linear_model() -> None:
    engine = engine_for(setting(model=bag()))
    found, true = explain("lime", engine, samples=800, ridge=1e-6), effects(engine)
    cases = engine.cases
    cases.target.copy_(1 - cases.target)
    margin = true - effects(engine)  # the probability follows the margin
    for i, n in enumerate(cases.lengths):
        if n > 4:
            assert np.corrcoef(found[i, :n], margin[i, :n])[0, 1] > 0.97


def test_controls() -> None:
    engine = engine_for(setting())
    lengths = engine.cases.lengths
    position = explain("position", engine)
    assert position[1, :2].tolist() == [1, 0.5]
    for name in ("random", "constant", "position"):
        found = explain(name, engine)
        for row, n in zip(found, lengths, strict=True):
            assert (row[:n] > 0).all()
            assert (row[n:] == 0).all()


@pytest.mark.parametrize(("task", "name"), FOR_BERT)
class TestContract:
    """What every method promises, on texts."""

    def test_shape_sign_and_zeros_beyond(self, task: str, name: str) -> None:
        engine = engine_for(equipped(task), precision="fp32")
        found = explain(name, engine)
        assert found.dtype == torch.float32
        assert tuple(found.shape) == engine.cases.shape
        assert not found.requires_grad
        for row, n in zip(found, engine.cases.lengths, strict=True):
            assert (row[n:] == 0).all()
        if not METHODS.make(name).card.signed:
            assert found.min() >= 0

    def test_a_case_alone_is_as_in_company(self, task: str, name: str) -> None:
        made = equipped(task)
        whole = explain(name, engine_for(made))
        for order in ([2, 1], [1]):
            engine = engine_for(reordered(made, order), batch_size=2)
            part, words = explain(name, engine), engine.cases.features
            torch.testing.assert_close(part, whole[order][:, :words], rtol=1e-8, atol=1e-9)

    def test_leaves_the_model_alone(self, task: str, name: str) -> None:
        engine = engine_for(equipped(task), precision="fp32")
        module = engine.cases.model.module
        before = {k: v.clone() for k, v in module.state_dict().items()}
        state = torch.get_rng_state()
        explain(name, engine)
        assert all(torch.equal(before[k], v) for k, v in module.state_dict().items())
        assert all(p.grad is None for p in module.parameters())
        assert torch.equal(torch.get_rng_state(), state)


def test_unknown_takes_the_place_of_a_missing_mask() -> None:
    from transformers import PreTrainedTokenizerFast

    from humetric import text_setting

    plain = PreTrainedTokenizerFast(tokenizer_object=wordpiece(), unk_token="[UNK]")
    made = text_setting("sentiment/x/y", bag(), plain, ["good film", "slow"], task="sentiment")
    assert made.task.removed == wordpiece().token_to_id("[UNK]")  # type: ignore[attr-defined]
