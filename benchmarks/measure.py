"""Ratios of two durations on a machine that does other things too, and the work that is timed.

A single duration says little on a shared machine. So every figure is a ratio: both sides run in
turn (A B A B ...), each pair gives a ratio, and the median of the pairs is the figure.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.engine.questions import Questions
from humetric.metrics import Metric
from humetric.metrics import Work as Asking
from humetric.metrics.deletion import deletion
from humetric.metrics.insertion import insertion
from humetric.metrics.mu_fidelity import mu_fidelity
from humetric.models.efficientnet_lite import IMAGE_SIZE, EfficientNetLite0
from humetric.run.plan import find_batch_size
from humetric.run.work import score
from humetric.suites import load_suite
from humetric.tasks.cases import Cases
from humetric.tasks.image_setting import image_setting
from humetric.tasks.named import load_setting
from humetric.tasks.setting import PlacedSetting, Setting

PAIRS = 7
Action = Callable[[], object]


class Timed:
    """An action that remembers how long each of its calls took."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.seconds: list[float] = []

    def __call__(self) -> None:
        start = time.perf_counter()
        self.action()
        self.seconds.append(time.perf_counter() - start)


@dataclass(frozen=True)
class Ratio:
    """Seconds of a numerator and of a denominator, pair by pair; the warm-up pair is dropped."""

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]

    @property
    def each(self) -> list[float]:
        """The ratio of every pair."""
        return [a / b for a, b in zip(self.numerator, self.denominator, strict=True)]

    @property
    def value(self) -> float:
        """The median of the pairs."""
        return statistics.median(self.each)

    def __str__(self) -> str:
        low, _, high = statistics.quantiles(self.each, n=4)
        return f"{self.value:.3f} (quartiles {low:.3f} to {high:.3f}, {len(self.each)} pairs)"

    def info(self) -> dict[str, object]:
        """What pytest-benchmark writes into its JSON."""
        return {
            "ratio": self.value,
            "ratios": self.each,
            "numerator_seconds": statistics.median(self.numerator),
            "denominator_seconds": statistics.median(self.denominator),
        }


def ratio_of(timed: tuple[Timed, Timed]) -> Ratio:
    """The ratio of two sides that were called in turn."""
    numerator, denominator = (tuple(side.seconds[1:]) for side in timed)
    return Ratio(numerator, denominator)


def measure(numerator: Action, denominator: Action, pairs: int = PAIRS) -> Ratio:
    """Seconds of the numerator / seconds of the denominator, called in turn."""
    sides = Timed(numerator), Timed(denominator)
    for _ in range(pairs + 1):
        for side in sides:
            side()
    return ratio_of(sides)


def efficientnet_setting() -> Setting:
    """One noise image of 224 x 224 for an EfficientNet-Lite0 with random weights."""
    torch.manual_seed(0)
    return noise_setting(EfficientNetLite0(), IMAGE_SIZE, 1)


def embedded_setting(cases: int) -> Setting:
    """The embedded ConvNet at 64 x 64, with cases of the suite's first image setting."""
    return load_setting(embedded_image_ids()[0], cases)


def embedded_image_ids() -> list[str]:
    """The image settings of the embedded suite."""
    return [s.id for s in load_suite("embedded").settings if s.id.startswith("image/")]


def noise_setting(module: nn.Module, size: int, cases: int) -> Setting:
    """Noise images for a module of any weights: speed and memory do not depend on either."""
    images = np.random.default_rng(0).integers(0, 256, (cases, size, size, 3)).astype(np.uint8)
    return image_setting(
        "image/noise/net", module.eval(), images, mean=[0.5] * 3, std=[0.25] * 3, target=[0] * cases
    )


def placed(module: nn.Module, size: int, cases: int, precision: str = "fp32") -> PlacedSetting:
    """A setting of noise images on the CPU."""
    return noise_setting(module, size, cases).place(place("cpu", precision))


def batch_size(setting: PlacedSetting) -> int:
    """What ``humetric run`` would choose."""
    return find_batch_size(setting, "auto")


def engine_for(setting: PlacedSetting, cases: Cases, batch: int = 0) -> Engine:
    """A fresh engine, which has not been asked anything; 0 is the automatic batch size.

    Finding that size takes a while, and a run does it once per setting: timed work brings its own.
    """
    batch = batch or batch_size(setting)
    return Engine(cases, setting.fast_module, setting.placement.dtype, batch)


def random_maps(cases: Cases, methods: int) -> list[Tensor]:
    """Attributions that are noise, one for each of so many methods."""
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(cases.shape, generator=draw) for _ in range(methods)]


def named_maps(cases: Cases, methods: int) -> dict[str, Tensor]:
    """The same, by the names of methods that do not exist."""
    return {f"random-{i}": a for i, a in enumerate(random_maps(cases, methods))}


@dataclass(frozen=True)
class Work:
    """Questions of deletion, insertion and mu-fidelity that fill a whole number of batches."""

    setting: PlacedSetting
    cases: Cases
    batch: int
    maps: dict[str, Tensor]
    metrics: Sequence[Metric]
    questions: list[Questions]
    rows: int

    def ask(self) -> None:
        """The engine's side: make the inputs that the questions are about, and answer them."""
        engine = engine_for(self.setting, self.cases, self.batch)
        engine.ask(self.questions)
        if engine.rows != self.rows:
            raise AssertionError(f"Expected {self.rows} rows but {engine.rows} were evaluated.")

    def score(self) -> None:
        """The same with planning (ranks of all maps) and reduction (areas, correlations)."""
        engine = engine_for(self.setting, self.cases, self.batch)
        score(self.maps, self.metrics, engine)
        if engine.rows != self.rows:
            raise AssertionError(f"Expected {self.rows} rows but {engine.rows} were evaluated.")

    def bare(self) -> Action:
        """The other side: the module on an input that is ready, equally often."""
        shape, dtype = (self.batch, *self.cases.x.shape[1:]), self.setting.placement.dtype
        x = torch.randn(shape).to(dtype).contiguous(memory_format=torch.channels_last)
        module, batches = self.setting.fast_module, self.rows // self.batch

        @torch.inference_mode()
        def run() -> None:
            for _ in range(batches):
                module(x)

        return run


def engine_work(
    setting: Setting, precision: str, *, steps: int, methods: int, subsets: int
) -> Work:
    """Work with at least so many subsets per case: as many more as fill the last batch."""
    placed = setting.place(place("cpu", precision))
    batch = batch_size(placed)
    fixed = 2 * methods * (steps - 1) + 2  # inner points of two curves, and the two ends
    per_case = -(-(fixed + subsets) // batch) * batch
    metrics = deletion(steps), insertion(steps), mu_fidelity(per_case - fixed)
    cases = placed.cases(0, len(setting))
    maps = named_maps(cases, methods)
    planned = [(m.work, a.flatten(1)) for a in maps.values() for m in metrics]
    questions = [q for work, a in planned if isinstance(work, Asking) for q in work.plan(a, cases)]
    return Work(placed, cases, batch, maps, metrics, questions, per_case * len(cases))


def efficientnet_work(precision: str) -> Work:
    """About 50 rows through EfficientNet-Lite0."""
    return engine_work(efficientnet_setting(), precision, steps=8, methods=2, subsets=18)


def pictures_work(precision: str) -> Work:
    """The same on real pictures, with a head that ships; the pictures and the network do not."""
    setting = load_setting("image/apple-leaves/lite0", 2)
    return engine_work(setting, precision, steps=8, methods=2, subsets=18)


def convnet_work(precision: str) -> Work:
    """About 3,000 rows through the embedded ConvNet, half of them rank masks, half grid masks."""
    return engine_work(embedded_setting(12), precision, steps=32, methods=2, subsets=130)
