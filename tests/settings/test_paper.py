"""The paper suite on small random models of the same classes: trained, loaded, one case run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from paper_support import KINDS, write_cases, write_models, write_pictures, write_texts
from transformers import AutoConfig
from typer.testing import CliRunner

from humetric.cli import app
from humetric.data.sources import SOURCES, hub
from humetric.engine.batching import layer_bytes
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.methods import METHODS
from humetric.metrics import METRICS
from humetric.models import pretrained, resnet
from humetric.models.resnet_network import ResNet
from humetric.run.evaluate import run_settings
from humetric.run.plan import find_batch_size
from humetric.settings import REAL, corpora, files, paper_costs, text
from humetric.settings.corpora import Sample
from humetric.settings.declarations import PAPER
from humetric.settings.declared import Declared, Training
from humetric.settings.paper_images import ALBUMS
from humetric.settings.paper_text import HOTELS, PAIRS, READERS
from humetric.settings.passages import VERSIONS, evaluated
from humetric.suites import load_suite
from humetric.tasks.named import load_setting

IDS = [declared.id for declared in PAPER]
OWNERS = list(dict.fromkeys(declared.weights or declared.id for declared in PAPER))
DOCS = Path(__file__).resolve().parents[2] / "docs"


def forget() -> None:
    """What is kept of one mirror is nothing to another."""
    for kept in (corpora._rows, corpora._snli, pretrained.tokenizer, text.neighbours):
        kept.cache_clear()


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A mirror with tiny models, and cases of the standard suite's settings in it."""
    root = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUMETRIC_MIRROR", str(root / "mirror"))
        patch.setenv("HUMETRIC_CACHE", str(root / "cache"))
        patch.setattr(files, "SHIPPED", root / "shipped")
        forget()
        write_models(root / "mirror")
        write_texts(root / "mirror")
        write_pictures(root / "mirror")
        for declared in PAPER:
            write_cases(root / "shipped", declared, pool_of(declared))
        yield root
    forget()


def pool_of(declared: Declared) -> Any:
    task, data, _ = declared.id.split("/")
    if task == "image":
        return ALBUMS[declared.cases]
    if task == "qa":
        return evaluated(VERSIONS[data])
    found: list[Sample] = list((PAIRS.get(declared.id) or HOTELS).corpus.pool())
    return found


def encoder_of(declared: Declared) -> str:
    (found,) = [name for name in declared.sources if name in KINDS]
    return found


@pytest.fixture(scope="module")
def trained(made_up: Path) -> list[str]:
    """All weights of the suite, by `humetric train`'s own path, and what it said."""
    said: list[str] = []
    for owner in OWNERS:
        declared, folder = REAL[owner], files.trained_here(owner)
        if declared.train is not None:
            folder.mkdir(parents=True)
            declared.train(Training(owner, folder, made_up / "state" / owner, say=said.append))
    return said


def test_training_says_how_good_a_model_is(trained: list[str]) -> None:
    for owner in [*PAIRS, HOTELS.id]:
        assert any(line.startswith(f"{owner}: accuracy ") for line in trained), owner
    for reader in READERS.values():
        assert sum(line.startswith(f"{reader.id}: F1 ") for line in trained) == 2


@pytest.mark.parametrize("id", IDS)
def test_one_case_runs_end_to_end(trained: list[str], made_up: Path, id: str) -> None:
    declared = REAL[id]
    setting = load_setting(id, 1)
    module: Any = setting.model.module
    if setting.task.id == "image":
        inner = getattr(module, "network", module)
        assert isinstance(inner, ResNet)
        extra, width = "grad-cam", (1, 224, 224)
    else:
        source = made_up / "mirror" / SOURCES[encoder_of(declared)].folder
        assert module.model.config.model_type == AutoConfig.from_pretrained(source).model_type
        assert {type(module.model).__name__} <= set(CLASSES[setting.task.id])
        extra, width = "attention", (1, len(setting.texts.words[0]))  # type: ignore[union-attr]
    methods = [METHODS.make(name) for name in ("saliency", extra, "random")]
    metrics = [METRICS.make(name) for name in ("complexity", "sparseness", "deletion")]
    if setting.task.id != "image":
        metrics[2] = METRICS.make("comprehensiveness")
    result = run_settings([setting], methods, metrics, device="cpu", precision="bf16")
    assert not result.failures
    assert not result.skips
    assert len(result.scores) == 9
    assert result.scores["value"].notna().sum() >= 7
    assert width[0] == len(setting)
    assert any("Cases are those of " + declared.cases in note for note in setting.notes)
    assert not any("trained on this machine" in note for note in setting.notes)


CLASSES = {
    "sentiment": ["BertForSequenceClassification"],
    "nli": [f"{kind}ForSequenceClassification" for kind in ("Bert", "Roberta", "Electra")],
    "qa": ["BertForQuestionAnswering"],
}


def test_targets_are_the_models_own(trained: list[str]) -> None:
    """Not what the standard suite's model said, which stands in the shared cases."""
    setting = load_setting("nli/anli/roberta-base")
    batch = pretrained.tokenizer("roberta-base")
    assert batch.pad_token_id == 1
    with torch.no_grad():
        said = setting.model.module(*setting.x.unbind(1)).argmax(1)
    assert torch.equal(said, setting.target)


def test_padding_of_roberta_is_not_looked_at(trained: list[str]) -> None:
    """Its first token is 0, which pads other models' inputs."""
    learner = PAIRS["nli/anli/roberta-base"]
    data = learner.inputs(learner.corpus.pool())
    assert bool(data.attention[:, 0].all())
    assert data.attention.sum(1).unique().numel() > 1
    short = data.take(data.attention.sum(1).argsort()[:1])
    assert bool(short.attention.all())


def test_suite_is_what_is_declared() -> None:
    suite = load_suite("paper")
    assert {row.id for row in suite.settings} == set(IDS)
    assert suite.precision == "bf16"
    for row in suite.settings:
        assert REAL[row.id].departs
        for pair in row.pairs:
            expected = "stand-in" if row.id.startswith("image/") else "replica"
            assert pair.evidence == expected
            assert pair.study == REAL[row.id].study


@pytest.mark.parametrize("row", load_suite("paper").settings, ids=lambda row: row.id)
def test_batches_fit_a_card_of_24_gb(row: Any) -> None:
    """Weights and the largest layers' inputs and outputs, at full size, in half of it."""
    source = encoder_of(REAL[row.id])
    tokens = 512 if row.id.startswith("sentiment/") else 256
    model = paper_costs.whole(source, row.id.startswith("qa/"))
    weights = sum(p.numel() for p in model.parameters())
    halved = layer_bytes(model, paper_costs.row(source, tokens)).peak // 2
    assert 6 * weights + row.batch_size * halved < 12e9
    assert abs(4 * weights / SOURCES[source].size - 1) < 0.02, "size as declared"


def test_a_declared_batch_is_for_cuda_only(trained: list[str]) -> None:
    placed = load_setting(HOTELS.id, 1).place(place("cpu"))
    assert find_batch_size(placed, "auto", declared=7) != 7
    object.__setattr__(placed.placement, "device", torch.device("cuda"))
    assert find_batch_size(placed, "auto", declared=7) == 7
    assert find_batch_size(placed, "3", declared=7) == 3


@pytest.mark.parametrize("source", KINDS)
def test_what_is_missing_is_said_with_its_size(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HUMETRIC_MIRROR", raising=False)
    monkeypatch.setenv("HUMETRIC_CACHE", str(tmp_path))
    monkeypatch.setattr(hub, "kept", lambda source: None)

    def unreachable(*_: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(hub, "_reach", unreachable)
    pretrained.tokenizer.cache_clear()
    id = next(d.id for d in PAPER if source in d.sources)
    if id.startswith("image/"):
        from humetric.models import lite_head

        with pytest.raises(HumetricError) as caught:
            lite_head.network(base=resnet.RESNET)
    else:
        reader = READERS.get(id.split("/")[2]) if id.startswith("qa/") else None
        with pytest.raises(HumetricError) as caught:
            (reader or PAIRS.get(id) or HOTELS).weights()
    said, declared = str(caught.value), SOURCES[source]
    assert f"{declared.size / 1e6:.1f} MB" in said
    assert f"set HUMETRIC_MIRROR to a folder with models/{source}/ (model.safetensors" in said
    assert declared.hub is not None
    assert declared.hub.repo in said
    assert ("no commit" in said) == (not declared.hub.revision)
    assert ("docs/paper.md" in said) == (not declared.hub.revision)


def test_a_dry_run_names_all_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("HUMETRIC_CACHE", str(tmp_path))
    monkeypatch.setattr(hub, "kept", lambda source: None)
    monkeypatch.setattr(hub, "_reach", lambda *_: (_ for _ in ()).throw(OSError("no network")))
    forget()
    result = CliRunner().invoke(app, ["run", "--suite", "paper", "--dry-run"])
    forget()
    assert result.exit_code != 0
    said = f"{result.output}{result.exception}"
    assert f"{len(IDS)} of {len(IDS)} settings cannot be loaded" in said
    assert "nli/anli/electra-base: " in said


@pytest.mark.slow
def test_the_page_has_the_table_of_costs() -> None:
    assert paper_costs.table().markdown().strip() in (DOCS / "paper.md").read_text()
