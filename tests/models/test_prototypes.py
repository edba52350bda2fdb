"""Prototype models: what they compute, how they are trained, what is kept of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from prototype_support import EACH, made, plain_activations, table_prototypes, text_prototypes
from safetensors import safe_open
from tabular_support import network, rows
from text_support import bert, small
from torch import nn

from humetric.errors import HumetricError
from humetric.models import prototype_files, prototype_fit, stored
from humetric.models.convnet import WEIGHTS
from humetric.models.prototype_fit import Recipe, Rows, k_means, nearest, separation, settled, train
from humetric.models.prototypes import Prototypes, Shown, around
from humetric.models.tabular import MLP
from humetric.models.text import TextModel
from humetric.models.train_prototypes import RECIPES, main, training_cases
from humetric.tasks.named import load_setting

BRIEF = Recipe(4, epochs=2, fixed_epochs=3, rate=2e-3)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def table() -> Rows:
    """Rows that are labelled by a rule which a network can find."""
    values = rows(400, 21)
    label = (values[:, 0] + 12 * values[:, 1] > 60).astype(int)
    return Rows(torch.tensor(values, dtype=torch.float32), torch.tensor(label))


class TestArithmetic:
    def test_activations_and_scores_are_those_of_plain_numpy(self) -> None:
        x = torch.tensor(rows(7, 2))
        model = table_prototypes(network()).own().double()
        with torch.no_grad():
            latent, found = model.latent(x).numpy(), model(x)
        expected = plain_activations(latent, model)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)
        best = np.stack([expected[:, :EACH].max(1), expected[:, EACH:].max(1)], axis=1)
        np.testing.assert_allclose(model.scores(found).numpy(), best, rtol=1e-12)
        assert 0.05 < expected.mean() < 0.9, "not all 0 or 1"

    def test_texts_are_compared_by_what_the_last_layer_sees(self) -> None:
        task = bert().double()
        model = text_prototypes("sentiment", bert(), 2).fixed().double()
        ids = torch.randint(5, 30, (4, 9), generator=torch.Generator().manual_seed(0))
        given = (ids, torch.ones_like(ids), torch.zeros_like(ids))
        with torch.no_grad():
            latent = model.latent(*given)  # type: ignore[call-arg]
            logits = task.model.classifier(latent)  # type: ignore[union-attr,operator]
            torch.testing.assert_close(logits, task(*given))
            model.layer.scale *= model.layer.distances(latent).median()
            expected = plain_activations(latent.numpy(), model)
            np.testing.assert_allclose(model(*given).numpy(), expected, rtol=1e-10)
        assert 0.1 < expected.mean() < 0.9, "not all 0 or 1"

    def test_the_closest_prototype_gives_the_class_whatever_the_weights_learn(self) -> None:
        layer = Prototypes([0, 0, 1, 2, 2], 3)
        assert (layer.own.item(), layer.other.item()) == (1.0, -0.5)
        latent = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
        with torch.no_grad():
            layer.vectors.normal_(generator=torch.Generator().manual_seed(1))
            for own, other in ((1.0, -0.5), (7.0, -3.0), (0.4, 0.1)):
                layer.own.fill_(own)
                layer.other.fill_(other)
                scores = layer.scores(layer(latent))
                logits = layer.logits(scores)
                by_hand = own * scores[:, 1] + other * (scores[:, 0] + scores[:, 2])
                torch.testing.assert_close(logits[:, 1], by_hand)
                nearest_class = layer.owner[layer.distances(latent).argmin(1)]
                assert torch.equal(logits.argmax(1), nearest_class)

    def test_a_model_without_a_last_layer_to_replace_is_refused(self) -> None:
        layer, shown = Prototypes([0, 1], 2), [Shown(()), Shown(())]
        with pytest.raises(HumetricError, match="Expected a TextModel that classifies"):
            around(nn.Linear(2, 2), layer, shown)
        with pytest.raises(HumetricError, match="TextModel that classifies"):
            around(bert("span"), layer, shown)
        with pytest.raises(HumetricError, match="a case for each of 2 prototypes but got 1"):
            around(network(), layer, shown[:1])


class TestTraining:
    def test_separation_is_less_the_distance_to_the_nearest_of_another_class(self) -> None:
        distances = torch.tensor([[0.1, 0.9, 3.0], [0.1, 0.2, 2.0], [9.0, 9.0, 0.5]])
        owner, target = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 1])
        expected = -(3.0 + 0.1 + prototype_fit.FAR) / 3
        assert float(separation(distances, owner, target)) == pytest.approx(expected)

    def test_making_separation_small_pushes_cases_from_other_classes(self) -> None:
        layer = Prototypes([0, 1], 2)
        with torch.no_grad():
            layer.vectors.copy_(torch.tensor([[0.0, 0.0], [1.0, 0.0]]))
        latent = torch.tensor([[0.6, 0.1]], requires_grad=True)
        target = torch.tensor([0])
        separation(layer.distances(latent), layer.owner, target).backward()
        assert latent.grad is not None
        moved = (latent - 0.1 * latent.grad).detach()
        before, after = (layer.distances(z)[0].tolist() for z in (latent.detach(), moved))
        assert after[1] > before[1]

    def test_k_means_finds_clusters_and_is_the_same_again(self) -> None:
        rng = np.random.default_rng(0)
        middles = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
        points = np.concatenate([m + rng.normal(0, 0.2, (30, 2)) for m in middles])
        found = [k_means(points, 3, np.random.default_rng(5)) for _ in range(2)]
        assert np.array_equal(*found)
        means = np.array([points[i : i + 30].mean(0) for i in (0, 30, 60)])
        order = [int(((found[0] - m) ** 2).sum(1).argmin()) for m in means]
        np.testing.assert_allclose(found[0][order], means, rtol=1e-9)
        with pytest.raises(HumetricError, match="at least 4 training cases of each class but got"):
            k_means(points[:3], 4, rng)

    def test_prototypes_become_different_cases_of_their_class_for_a_lower_loss(self) -> None:
        draw = torch.Generator().manual_seed(3)
        latent = torch.randn(300, 4, generator=draw)
        labels = (latent[:, 0] + latent[:, 1] ** 2 > 0.5).long()
        layer = Prototypes([0] * 5 + [1] * 5, 4)
        with torch.no_grad():
            layer.vectors.copy_(torch.randn(10, 4, generator=draw))
            layer.vectors[1] = layer.vectors[0]
            losses = []
            for rows_ in (nearest(layer, latent, labels), settled(layer, latent, labels)):
                assert len(set(rows_)) == 10
                assert torch.equal(labels[rows_], layer.owner)
                apart = torch.cdist(latent, latent[rows_]).square()
                logits = layer.logits(layer.scores((-apart).exp()))
                losses.append(float(torch.nn.functional.cross_entropy(logits, labels)))
        assert losses[1] < losses[0]

    @pytest.mark.parametrize("fixed", [False, True])
    def test_what_is_trained_is_made_of_training_cases(self, table: Rows, fixed: bool) -> None:
        task = network(loud=1.0)
        model, chosen = train(task, table, BRIEF, fixed)
        assert len(set(chosen)) == 8
        assert torch.equal(table.target[chosen], model.layer.owner)
        with torch.no_grad():
            own = model(table.x[chosen]).diagonal()
            assert own.min() > 0.999, "but for rounding to half precision they are the cases"
            half = torch.cat([p.flatten() for p in model.layer.parameters()])
            assert torch.equal(half.half().float(), half)
            both = zip(model.extractor.parameters(), task.parameters(), strict=True)
            assert all(torch.equal(a, b) for a, b in both) == fixed
        right = prototype_fit.predictions(model, table) == table.target.numpy()
        commonest = table.target.float().mean().sub(0.5).abs().add(0.5)
        assert right.mean() > commonest + 0.05

    @pytest.mark.parametrize("fixed", [False, True])
    def test_the_same_bytes_twice_and_the_same_model_back(
        self, table: Rows, tmp_path: Path, fixed: bool
    ) -> None:
        task = network(loud=1.0)
        found = []
        for folder in (tmp_path / "one", tmp_path / "two"):
            stored.save(task, folder / "model.safetensors")
            (folder / "model.safetensors").write_bytes(b"weights")
            model, chosen = train(task, table, BRIEF, fixed)
            values = table.x.double().tolist()
            shown = [Shown(tuple(values[r]), int(table.target[r]), r, "train") for r in chosen]
            model.shown = tuple(shown)
            prototype_files.save(model, folder, fixed, {"setting": "t"})
            file = folder / (prototype_files.FIXED if fixed else prototype_files.OWN)
            found.append(file.read_bytes())
        assert found[0] == found[1]
        again = prototype_files.load(file, task)
        with torch.no_grad():
            assert torch.equal(again(table.x), model(table.x))
        assert again.shown == model.shown
        with safe_open(file, framework="pt") as weights:
            names = set(weights.keys())
        assert any(n.startswith("extractor.") for n in names) != fixed
        (folder / "model.safetensors").write_bytes(b"other weights")
        with pytest.raises(HumetricError, match="to belong to the weights beside it"):
            prototype_files.load(file, task)
        stored.save(task, folder / "plain.safetensors")
        with pytest.raises(HumetricError, match="Expected a prototype model in plain"):
            prototype_files.load(folder / "plain.safetensors", task)

    def test_what_asks_for_no_gradients_stays_and_is_not_written(
        self, table: Rows, tmp_path: Path
    ) -> None:
        task = network(loud=1.0)
        task.body[0].requires_grad_(False)
        (tmp_path / "task.safetensors").write_bytes(b"weights")
        model, chosen = train(task, table, BRIEF, False)
        first, second = task.body[0].state_dict(), task.body[2].state_dict()
        extractor = model.extractor
        assert isinstance(extractor, MLP)
        assert all(torch.equal(v, first[n]) for n, v in extractor.body[0].state_dict().items())
        assert not torch.equal(extractor.body[2].state_dict()["weight"], second["weight"])
        known = [{"id": f"row {row}"} for row in chosen]
        prototype_files.save(
            model, tmp_path, False, {}, weights="task.safetensors", task=task, known=known
        )
        file = tmp_path / prototype_files.OWN
        with safe_open(file, framework="pt") as weights:
            names = {n for n in weights.keys() if n.startswith("extractor.")}  # noqa: SIM118
        assert not any(n.startswith(("extractor.body.0.", "extractor.encoding.")) for n in names)
        assert "extractor.body.2.weight" in names

        def look_up(told: Sequence[Mapping[str, Any]]) -> list[Shown]:
            return [Shown((float(one["id"].removeprefix("row ")),)) for one in told]

        again = prototype_files.load(file, task, tmp_path / "task.safetensors", look_up)
        with torch.no_grad():
            assert torch.equal(again(table.x), model(table.x))
        assert [s.content for s in again.shown] == [(float(row),) for row in chosen]
        (tmp_path / "task.safetensors").write_bytes(b"other weights")
        with pytest.raises(HumetricError, match=r"humetric train SETTING --again"):
            prototype_files.load(file, task, tmp_path / "task.safetensors", look_up)
        (tmp_path / "task.safetensors").write_bytes(b"weights")
        wider = network(hidden=(8,), loud=1.0)
        with pytest.raises(HumetricError, match=r"fit its task model but .*another architecture"):
            prototype_files.load(file, wider, tmp_path / "task.safetensors", look_up)

    def test_unknown_settings_and_missing_weights_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(HumetricError, match="sentiment/reviews/bilstn"):
            main(["sentiment/reviews/bilstn"])
        with pytest.raises(HumetricError, match="train its task model first"):
            main(["tabular/census/mlp", "--output", str(tmp_path)])


@pytest.mark.parametrize("id", RECIPES)
class TestShipped:
    def test_prototypes_are_training_cases_and_no_explained_ones(self, id: str) -> None:
        made = load_setting(id)
        assert made.prototypes is not None
        assert made.prototypes.version in made.version
        data, shown = training_cases(id, WEIGHTS)
        for fixed in (False, True):
            model = made.prototypes.variant(fixed)
            chosen = [s.index for s in model.shown]
            assert [shown[i] for i in chosen] == list(model.shown)
            assert [s.label for s in model.shown] == model.layer.owner.tolist()
            assert len(set(chosen)) == 2 * RECIPES[id].prototypes
            rows_ = data.take(torch.tensor(chosen))
            with torch.no_grad():
                found = model(*prototype_fit.given(rows_))
            assert found.diagonal().min() > 0.999
            if made.texts is not None:
                assert not {s.content for s in model.shown} & set(made.texts.raw)

    def test_files_are_small_and_the_fixed_one_holds_no_extractor(self, id: str) -> None:
        sizes = [
            (WEIGHTS / id / name).stat().st_size
            for name in ("model.safetensors", prototype_files.OWN, prototype_files.FIXED)
        ]
        assert sizes[1] < sizes[0] + 40_000
        assert sizes[2] < 40_000

    def test_half_precision_but_for_the_scale(self, id: str) -> None:
        with safe_open(WEIGHTS / id / prototype_files.FIXED, framework="pt") as file:
            kinds = {name: file.get_tensor(name).dtype for name in file.keys()}  # noqa: SIM118
            about = file.metadata()
        assert kinds["layer.vectors"] == torch.float16
        assert kinds["layer.scale"] == torch.float32
        assert json.loads(about["recipe"])["prototypes"] == RECIPES[id].prototypes


def test_variants_are_copied_once() -> None:
    models = table_prototypes(network())
    calls = []

    def place(module: nn.Module) -> nn.Module:
        calls.append(module)
        return module

    placed = models.on(place)
    assert not calls, "only when they are asked for"
    assert placed.own() is placed.variant(False)
    assert placed.own() is placed.own()
    assert len(calls) == 1


def test_a_model_made_of_another_architecture(table: Rows) -> None:
    model = small("bilstm", classes=2, embedding=8, width=6)
    assert isinstance(model, TextModel)
    latent = torch.randn(4, 12, generator=torch.Generator().manual_seed(0))
    whole = made(model, [0, 0, 1, 1], latent, [Shown(("t",))] * 4)
    ids = torch.tensor([[7, 8, 9]])
    with torch.no_grad():
        found = whole(ids, torch.ones_like(ids), torch.zeros_like(ids))
    assert found.shape == (1, 4)
