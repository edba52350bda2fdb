"""How fast the engine is on texts of different lengths: against bare passes, and against padding.

A BERT of MiniLM's size (6 layers, 384 wide, 12 heads) with random weights, texts of 20 to 200
tokens. All figures are ratios of interleaved runs (see measure.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from measure import Action
from racing import Figure, Race
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.engine.questions import about
from humetric.engine.sequences import sorted_rows
from humetric.errors import HumetricError
from humetric.models.transformer import Transformer
from humetric.run.plan import find_batch_size
from humetric.tasks.named import load_setting
from humetric.tasks.setting import PlacedSetting
from humetric.tasks.text_setting import text_setting

pytestmark = [pytest.mark.speed, pytest.mark.usefixtures("one_thread")]

LENGTHS = (20, 38, 56, 74, 92, 110, 128, 146, 164, 200)
"""Tokens of each case, special ones included."""
ROWS = 24
"""Questions about each case."""


def placed() -> PlacedSetting:
    """Texts of the lengths above, one token a word."""
    words = [f"w{i}" for i in range(500)]
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    tokenizer = Tokenizer(
        models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(0)
    model = Transformer.make(
        {
            "head": "classification",
            "model_type": "bert",
            "vocab_size": 30522,
            "hidden_size": 384,
            "num_hidden_layers": 6,
            "num_attention_heads": 12,
            "intermediate_size": 1536,
            "max_position_embeddings": 512,
        }
    )
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, n - 2)) for n in LENGTHS]
    made = text_setting("sentiment/noise/minilm", model, tokenizer, texts, task="sentiment")
    return made.place(place("cpu"))


@dataclass(frozen=True)
class Work:
    """Random subsets of the words of each case."""

    setting: PlacedSetting
    batch: int
    bits: list[np.ndarray]

    @classmethod
    def of(cls, setting: PlacedSetting) -> Work:
        """The same number of random subsets of each case."""
        rng, texts = np.random.default_rng(1), setting.setting.texts
        assert texts is not None
        bits = [rng.random((ROWS, len(words))) < 0.5 for words in texts.words]
        return cls(setting, find_batch_size(setting, "auto"), bits)

    def engine(self) -> Engine:
        cases = self.setting.cases(0, len(self.bits))
        return Engine(cases, self.setting.fast_module, torch.float32, self.batch)

    def ask(self) -> None:
        """Everything: planning, removing, forward passes, answers on the host."""
        engine = self.engine()
        engine.ask([about(engine.cases, self.bits)])
        assert engine.rows == sum(map(len, self.bits))

    def bare(self) -> Action:
        """Forward passes on inputs that are ready, in the engine's batches."""
        engine = self.engine()
        family = engine._on_device(about(engine.cases, self.bits))
        rows = sorted_rows([family], engine.cases.device)
        ready: list[tuple[Tensor, ...]] = []
        done = 0
        while done < rows.total:
            stop, width = rows.batch(done, self.batch * engine.cases.text()[0].longest)
            x = engine.cases.x[rows.case[done:stop], :, :width]
            ready.append(tuple(t.contiguous() for t in x.unbind(1)))
            done = stop
        module = self.setting.fast_module

        @torch.inference_mode()
        def run() -> None:
            for inputs in ready:
                module(*inputs)

        return run

    def padded(self) -> Action:
        """Forward passes on the same rows, all padded to the longest, as many tokens at once."""
        cases = self.setting.cases(0, len(LENGTHS))
        owner = torch.arange(len(LENGTHS)).repeat_interleave(ROWS)
        blocks = [
            tuple(t.contiguous() for t in cases.x[rows].unbind(1))
            for rows in owner.split(self.batch)
        ]
        module = self.setting.fast_module

        @torch.inference_mode()
        def run() -> None:
            for inputs in blocks:
                module(*inputs)

        return run


@pytest.fixture(scope="module")
def work() -> Work:
    return Work.of(placed())


def test_engine_on_minilm(race: Race, work: Work) -> None:
    """Seconds of bare forward passes / of the engine: same tokens, same batches by length."""
    race.benchmark.extra_info.update(rows=ROWS * len(LENGTHS), batch_size=work.batch)
    name = "engine / bare throughput, MiniLM-sized BERT"
    found = race(name, work.bare(), work.ask, at_least=0.95)
    assert found.value >= 0.95


def test_engine_on_real_texts(race: Race) -> None:
    """The same on Rotten Tomatoes with MiniLM, where data and weights are at hand."""
    try:
        setting = load_setting("sentiment/rotten-tomatoes/minilm", 16)
    except HumetricError as error:
        pytest.skip(f"needs real data and weights: {error}")
    real = Work.of(setting.place(place("cpu")))
    race.benchmark.extra_info.update(rows=ROWS * len(real.bits), batch_size=real.batch)
    name = "engine / bare throughput, MiniLM on Rotten Tomatoes"
    assert race(name, real.bare(), real.ask, at_least=0.95).value >= 0.95


def test_batches_by_length_against_padding(race: Race, work: Work, figure: Figure) -> None:
    """Seconds padded to the longest / of the engine, as a share of longest / mean length."""
    gain = max(LENGTHS) / float(np.mean(LENGTHS))
    name = "padded to the longest / engine, MiniLM-sized BERT"
    found = race(name, work.padded(), work.ask, at_least=0.9 * gain)
    assert found.value >= 0.9 * gain
    figure(f"  longest / mean length: {gain:.3f}, of which reached {found.value / gain:.3f}")
