"""Settings of rows on real data: trained, chosen and loaded from a made-up mirror, and shipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import adult_support
import numpy as np
import pytest
import torch
from adult_support import MIRROR, needs_adult
from safetensors import safe_open

from humetric.engine.placement import Placement
from humetric.errors import HumetricError
from humetric.methods.changes import changes_of
from humetric.models import stored
from humetric.models.tabular_weights import probabilities
from humetric.settings import REAL, files, load_real, tables
from humetric.settings.adult import adult
from humetric.settings.declared import Training
from humetric.settings.prototypes import NAMES
from humetric.tasks.named import load_setting

ID = tables.ID


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The setting's folder, trained on people who do not exist."""
    adult.cache_clear()
    adult_support.write(tmp_path / "mirror")
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("HUMETRIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(files, "SHIPPED", tmp_path)
    monkeypatch.setattr(tables, "CASES", 12)
    monkeypatch.setattr(tables, "NETWORK", replace(tables.NETWORK, hidden=(8, 8), epochs=4))
    task = training(tmp_path / ID, tmp_path)
    declared = REAL[ID]
    assert declared.train is not None
    assert declared.choose is not None
    declared.train(task)
    declared.choose(task)
    yield tmp_path / ID
    adult.cache_clear()


def training(folder: Path, root: Path) -> Training:
    folder.mkdir(parents=True)
    return Training(ID, folder, root / "state", say=lambda line: None)


def test_cases_are_balanced_and_what_the_files_say(made: Path) -> None:
    chosen = json.loads((made / "cases.json").read_text())
    rows, data = chosen["cases"], adult()
    kinds = [(row["predicted"], row["predicted"] == row["label"]) for row in rows]
    assert {kinds.count(kind) for kind in kinds} == {3}
    model, _ = tables.weights()
    found = probabilities(model, data.pool.values).argmax(1)
    assert chosen["accuracy"] == round(float((found == data.pool.labels).mean()), 4) > 0.6
    place = {id: i for i, id in enumerate(data.pool.ids)}
    assert all(found[place[row["id"]]] == row["predicted"] for row in rows)
    setting = load_setting(ID, 4)
    assert setting.ids == tuple(row["id"] for row in rows[:4])
    assert setting.target.tolist() == [row["predicted"] for row in rows[:4]]
    assert setting.panel is not None
    assert len(setting.panel()) == 12
    assert setting.notes == REAL[ID].notes


def test_the_background_is_of_the_rows_that_weights_were_fitted_on(made: Path) -> None:
    setting = load_real(ID)
    assert setting.table is not None
    known = {tuple(row) for row in tables.fitted().values}
    assert {tuple(row) for row in setting.table.background} <= known
    assert not known & {tuple(row) for row in setting.x.double().numpy()}


def test_prototypes_are_training_rows_that_files_only_name(made: Path) -> None:
    setting = load_real(ID)
    assert setting.prototypes is not None
    assert setting.prototypes.version in setting.version
    fitted = tables.fitted()
    known = {(*row, int(label)) for row, label in zip(fitted.values, fitted.labels, strict=True)}
    for fixed, name in NAMES.items():
        model = setting.prototypes.variant(fixed)
        assert [s.label for s in model.shown] == model.layer.owner.tolist()
        assert len(model.shown) == 40
        rows = torch.tensor([s.content for s in model.shown], dtype=torch.float32)
        with torch.no_grad():
            assert model(rows).diagonal().min() > 0.999, "a row is its own prototype"
        assert all((*s.content, s.label) in known for s in model.shown)
        with safe_open(made / name, framework="pt") as file:
            told, tensors = file.metadata(), set(file.keys())
        assert set(json.loads(told["shown"])[0]) == {"id", "label", "sha256"}
        assert any(t.startswith("extractor.body") for t in tensors) != fixed
        assert not any("encoding" in t for t in tensors), "as in the task model"
    held = {row["id"] for row in json.loads((made / "cases.json").read_text())["cases"]}
    assert not held & set(fitted.ids)


def test_the_same_bytes_twice_and_nothing_is_trained_that_is_there(
    made: Path, tmp_path: Path
) -> None:
    task, train = training(tmp_path / "again", tmp_path), REAL[ID].train
    assert train is not None
    train(task)
    names = ("trained.safetensors", *NAMES.values())
    before = {name: (task.folder / name).read_bytes() for name in names}
    assert before == {name: (made / name).read_bytes() for name in names}
    (task.folder / names[1]).write_bytes(b"kept")
    train(task)
    assert (task.folder / names[1]).read_bytes() == b"kept"


def test_other_rows_are_refused_and_other_weights_are_noted(made: Path) -> None:
    file = made / "cases.json"
    chosen = json.loads(file.read_text())
    chosen["cases"][0]["sha256"] = "0" * 64
    chosen["cases"][1]["id"] = "test-999999"
    file.write_text(json.dumps(chosen))
    with pytest.raises(HumetricError, match="recorded rows of tabular/adult/mlp but 2 of 12"):
        load_real(ID)
    file.write_text(json.dumps(chosen | {"weights": "others", "cases": chosen["cases"][2:]}))
    assert "trained on this machine" in load_real(ID).notes[0]


def test_prototypes_of_other_rows_and_of_other_weights_are_refused(made: Path) -> None:
    setting = load_real(ID)
    assert setting.prototypes is not None
    file = made / NAMES[True]
    held = file.read_bytes()
    at = held.index(b'sha256\\": \\"') + len(b'sha256\\": \\"')
    file.write_bytes(held[:at] + b"0" * 8 + held[at + 8 :])
    with pytest.raises(HumetricError, match="1 of 40 are others or missing"):
        setting.prototypes.fixed()
    file.write_bytes(held)
    stored.save(tables.weights()[0], made / "trained.safetensors", {"seed": "another"})
    with pytest.raises(HumetricError, match=r"made of others.*humetric train tabular/adult/mlp"):
        setting.prototypes.fixed()


def test_without_prototype_files_the_setting_has_none(made: Path) -> None:
    (made / NAMES[False]).unlink()
    assert load_real(ID).prototypes is None


@needs_adult
class TestShipped:
    @pytest.fixture(autouse=True)
    def mirror(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        adult.cache_clear()
        monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
        yield
        adult.cache_clear()

    def test_weights_cases_and_data_belong_together(self) -> None:
        chosen = json.loads(files.cases_file(ID).read_text())
        model, version = tables.weights()
        assert chosen["weights"] == version
        data = adult()
        found = probabilities(model, data.pool.values).argmax(1)
        assert round(float((found == data.pool.labels).mean()), 4) == chosen["accuracy"]
        setting = load_real(ID)
        said = model(setting.x).argmax(1)
        assert torch.equal(said, setting.target)
        kinds = list(zip(setting.target.tolist(), setting.right.tolist(), strict=True))
        assert {kinds.count(kind) for kind in kinds} == {21}
        assert setting.prototypes is not None
        for fixed, name in NAMES.items():
            assert len(setting.prototypes.variant(fixed).shown) == 40
            assert files.trained(ID, name).stat().st_size < 50_000

    def test_the_model_knows_more_than_the_commonest_class(self) -> None:
        chosen = json.loads(files.cases_file(ID).read_text())
        assert chosen["accuracy"] > 0.8
        assert np.isclose(chosen["pool"], 7692)

    def test_edits_are_those_of_the_study(self) -> None:
        setting = load_real(ID, 4)
        cases = setting.place(Placement(torch.device("cpu"))).cases(0, 4)
        table, draws = cases.rows(), 6000
        for own, row in zip(changes_of(cases), setting.x.double().numpy(), strict=True):
            chosen = own.nearby(np.random.default_rng(1), draws)
            edits = (chosen >= 0).sum(1)
            assert np.allclose(
                np.bincount(edits, minlength=4) / draws, [0, *[1 / 3] * 3], atol=0.03
            )
            columns = (chosen >= 0).mean(0)
            assert np.allclose(columns, 2 / 12, atol=0.03), "any column alike"
            new = own.inputs(chosen).double().numpy()
            assert np.array_equal(new != row, chosen >= 0), "never the original value"
            bins, sizes = table.bins(new), table.sizes()
            for j, size in enumerate(sizes):
                seen = np.bincount(bins[chosen[:, j] >= 0, j], minlength=size)
                shares = np.delete(seen, table.bins(row[None])[0, j]) / seen.sum()
                assert np.allclose(shares, 1 / (size - 1), atol=0.08), "any other value alike"
