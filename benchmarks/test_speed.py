"""How fast the engine is: against bare forward passes, against more methods, against Quantus.

All figures are ratios of interleaved runs (see measure.py) of the CPU path; bf16 is reported
beside fp32, never asserted: how much it gains is a property of the processor.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from measure import (
    Work,
    batch_size,
    convnet_work,
    efficientnet_work,
    embedded_image_ids,
    embedded_setting,
    engine_for,
    measure,
    named_maps,
    pictures_work,
)
from pytest_benchmark.fixture import BenchmarkFixture
from racing import Figure, Race
from torch import Tensor, nn

from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.metrics import Scores
from humetric.metrics.deletion import deletion
from humetric.metrics.insertion import insertion
from humetric.metrics.mu_fidelity import mu_fidelity
from humetric.results.result import Result
from humetric.run.evaluate import run_settings
from humetric.run.work import score
from humetric.suites import load_suite
from humetric.tasks.named import load_setting
from humetric.tasks.setting import PlacedSetting

pytestmark = pytest.mark.speed


def test_engine_on_efficientnet_lite0(race: Race, figure: Figure) -> None:
    """Seconds of bare forward passes / seconds of the engine, same rows, 224 x 224, fp32."""
    work = efficientnet_work("fp32")
    describe(race, work)
    name = "engine / bare throughput, EfficientNet-Lite0"
    found = race(name, work.bare(), work.ask, at_least=0.95)
    assert found.value >= 0.95
    report_bf16(race, figure, efficientnet_work("bf16"))


def test_engine_on_real_pictures(race: Race, figure: Figure) -> None:
    """The same with the pretrained network on two photographs of leaves."""
    try:
        work = pictures_work("fp32")
    except HumetricError as error:
        pytest.skip(f"pictures and weights are not shipped: {error}")
    describe(race, work)
    name = "engine / bare throughput, EfficientNet-Lite0 on real pictures"
    found = race(name, work.bare(), work.ask, at_least=0.95)
    assert found.value >= 0.95
    report_bf16(race, figure, pictures_work("bf16"))


def test_engine_on_embedded_convnet(race: Race, figure: Figure) -> None:
    """The same for the embedded ConvNet at 64 x 64, where a forward pass takes a tenth of a ms."""
    work = convnet_work("fp32")
    describe(race, work)
    name = "engine / bare throughput, embedded ConvNet"
    found = race(name, work.bare(), work.ask, at_least=0.85)
    assert found.value >= 0.85
    whole = measure(work.bare(), work.score, pairs=5)
    race.benchmark.extra_info["ratio_with_planning_and_reduction"] = whole.value
    figure(f"  with planning and reduction: {whole}")
    report_bf16(race, figure, convnet_work("bf16"))


def describe(race: Race, work: Work) -> None:
    """Put the size of the work beside its times."""
    race.benchmark.extra_info.update(rows=work.rows, batch_size=work.batch)


def report_bf16(race: Race, figure: Figure, work: Work) -> None:
    """The ratio in bf16: reported, not asserted."""
    found = measure(work.bare(), work.ask, pairs=5)
    race.benchmark.extra_info["ratio_bf16"] = found.value
    figure(f"  in bf16: {found}")


def test_mu_fidelity_of_eight_methods_costs_as_much_as_of_one(race: Race) -> None:
    """Seconds of mu-fidelity of 8 methods / of 1; and exactly the same model calls.

    Subsets belong to the case, so the answers serve all methods. Every run draws its subsets anew.
    """
    placed = embedded_setting(12).place(place("cpu"))
    batch = batch_size(placed)

    def run(methods: int) -> int:
        cases = placed.cases(0, 12)
        engine = engine_for(placed, cases, batch)
        score(named_maps(cases, methods), [mu_fidelity()], engine)
        return engine.rows

    rows = {methods: run(methods) for methods in (1, 8)}
    assert rows[1] == rows[8] == 12 * (200 + 1)
    race.benchmark.extra_info["rows"] = rows[1]
    race("seconds of mu-fidelity, 8 methods / 1", lambda: run(8), lambda: run(1), at_most=1.1)


CASES, METHODS, SUBSETS = 4, 8, 200
STEPS = 24
"""Quantus demands that features_in_step divides height x width (4096 here), although it flips
channels x pixels (12288): 32 steps cannot be had. Of 12, 24, 48 ... 24 is nearest to our 32."""


def test_whole_job_against_quantus(race: Race, figure: Figure) -> None:
    """Seconds of Quantus / seconds of humetric: 8 methods' maps, three metrics, the same cases.

    What is the same: model, cases, maps, baseline (zero), one thread pool, and the number of
    perturbed inputs per (metric, method, case): 24 steps of each curve, 200 subsets.

    - deletion is PixelFlipping;
    - insertion, which Quantus does not have, is PixelFlipping of the negated map: features are
      removed from the least important on, which is the insertion curve read backwards;
    - mu-fidelity is FaithfulnessCorrelation with Spearman's rho. Its subsets are a fifth of all
      (channel, pixel) values, ours a fifth of the grid cells.

    What differs: Quantus draws and asks subsets anew for each method, humetric asks once. Both
    counts are recorded, as is the ratio of time per evaluated input, which sharing has no part in.

    Quantus at its best: the methods are stacked into one call per metric (batches of 32 instead of
    4, 1.4 times as fast as a call per method), a constant baseline, no normalisation, no warnings,
    no progress bar. The check that both do the same job: their areas agree.
    """
    quantus = pytest.importorskip(
        "quantus", reason="Quantus is not installed: pip install humetric[quantus]"
    )
    setting = embedded_setting(CASES)
    fp32, bf16 = (setting.place(place("cpu", precision)) for precision in ("fp32", "bf16"))
    maps = named_maps(fp32.cases(0, CASES), METHODS)
    ours, theirs = Humetric(fp32, maps), Quantus(quantus, fp32, maps)
    with counted(fp32.fast_module) as rows:
        theirs_rows, ours_rows = (rows(job.run) for job in (theirs, ours))
    per_method = 2 * STEPS + SUBSETS + 1  # the intact input, too
    assert theirs_rows == CASES * METHODS * per_method
    assert ours_rows == CASES * (METHODS * 2 * (STEPS - 1) + SUBSETS + 2)
    np.testing.assert_allclose(theirs.areas, ours.areas, rtol=0, atol=0.01)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # np.trapz is deprecated
        found = race("seconds of Quantus / humetric, whole job", theirs.run, ours.run, at_least=3)
        lowered = measure(theirs.run, Humetric(bf16, maps).run, pairs=3)
    per_row = found.value * ours_rows / theirs_rows
    race.benchmark.extra_info.update(
        quantus_rows=theirs_rows,
        humetric_rows=ours_rows,
        ratio_of_rows=theirs_rows / ours_rows,
        ratio_per_row=per_row,
        ratio_bf16=lowered.value,
    )
    figure(
        f"  rows evaluated: {theirs_rows} / {ours_rows} = {theirs_rows / ours_rows:.2f} by sharing;"
        f" seconds per row: {per_row:.2f} by batching"
    )
    figure(f"  humetric in bf16: {lowered}")


class Humetric:
    """Deletion, insertion and mu-fidelity of all maps, by humetric."""

    def __init__(self, placed: PlacedSetting, maps: dict[str, Tensor]) -> None:
        self.placed, self.maps, self.batch = placed, maps, batch_size(placed)
        self.areas = np.empty(0)

    def run(self) -> None:
        """The whole job, and the areas that Quantus computes: without the intact input."""
        cases = self.placed.cases(0, CASES)
        engine = engine_for(self.placed, cases, self.batch)
        metrics = [deletion(STEPS), insertion(STEPS), mu_fidelity(SUBSETS)]
        scores = score(self.maps, metrics, engine)
        self.areas = np.array(
            [
                [mean_area(scores[name, "deletion"], slice(1, None)) for name in self.maps],
                [mean_area(scores[name, "insertion"], slice(None, -1)) for name in self.maps],
            ]
        )


def mean_area(scores: Scores | Exception, points: slice) -> np.ndarray:
    """Area under some points of the curves, as a mean height per case."""
    assert isinstance(scores, Scores)
    assert scores.curve is not None
    curve = scores.curve[:, points]
    return torch.trapezoid(curve, dim=1).numpy() / (curve.shape[1] - 1)


class Quantus:
    """The same by Quantus."""

    def __init__(self, quantus: Any, placed: PlacedSetting, maps: dict[str, Tensor]) -> None:
        options = {
            "abs": False,
            "normalise": False,
            "return_aggregate": False,
            "perturb_baseline": 0.0,
            "disable_warnings": True,
            "display_progressbar": False,
        }
        setting = placed.setting
        inputs = setting.x[0].numel()
        self.flipping = quantus.PixelFlipping(
            features_in_step=inputs // STEPS, return_auc_per_sample=True, **options
        )
        self.correlation = quantus.FaithfulnessCorrelation(
            nr_runs=SUBSETS,
            subset_size=round(0.2 * inputs),
            similarity_func=quantus.similarity_func.correlation_spearman,
            **options,
        )
        self.model = placed.fast_module
        self.x = np.ascontiguousarray(np.tile(setting.x.numpy(), (len(maps), 1, 1, 1)))
        self.y = np.tile(setting.target.numpy(), len(maps))
        self.maps = torch.cat(list(maps.values())).numpy()[:, None]
        self.areas = np.empty(0)

    def run(self) -> None:
        """The whole job."""
        curves = [self.ask(self.flipping, sign * self.maps, True) for sign in (1, -1)]
        self.ask(self.correlation, self.maps, False)
        shape = 2, len(self.maps) // CASES, CASES
        self.areas = np.array(curves).reshape(shape) / (STEPS - 1)

    def ask(self, metric: Callable[..., Any], maps: np.ndarray, softmax: bool) -> Any:
        """One metric of all methods' maps."""
        return metric(
            self.model,
            self.x,
            self.y,
            maps,
            channel_first=True,
            softmax=softmax,
            batch_size=len(self.x),
        )


@contextmanager
def counted(module: nn.Module) -> Iterator[Callable[[Callable[[], object]], int]]:
    """A function that runs an action and says how many rows went through the module meanwhile."""
    seen: list[int] = []
    hook = module.register_forward_hook(lambda _, inputs, output: seen.append(len(output)))

    def rows(action: Callable[[], object]) -> int:
        seen.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            action()
        return sum(seen)

    try:
        yield rows
    finally:
        hook.remove()


@pytest.mark.slow
def test_embedded_image_settings_within_a_minute(
    benchmark: BenchmarkFixture, figure: Figure
) -> None:
    """Seconds for all methods and metrics on all embedded image settings, on two threads.

    Loading the suite, the weights and the cases is not included. If it takes too long the first
    time, it is measured once more.
    """
    if (os.cpu_count() or 1) < 2:
        pytest.skip("the bound is for two cores, and this machine has one only")
    suite = load_suite("embedded")
    settings = [load_setting(name, suite.cases) for name in embedded_image_ids()]
    methods = [suite.method(name) for name in suite.methods]
    metrics = [suite.metric(name) for name in suite.metrics]
    seconds: list[float] = []

    def run() -> Result:
        start = time.perf_counter()
        result = run_settings(
            settings, methods, metrics, device="cpu", seed=suite.seed, chunk=suite.chunk
        )
        seconds.append(time.perf_counter() - start)
        return result

    with two_threads():
        result = benchmark.pedantic(run, rounds=1)
        if seconds[-1] > 60:
            run()
    assert not result.failures
    assert set(result.scores["setting"]) == set(embedded_image_ids())
    benchmark.extra_info.update(seconds=seconds, model_calls=result.provenance["model_calls"])
    text = f"seconds for the embedded image settings: {seconds[-1]:.1f}, bound <= 60"
    figure(text)
    assert seconds[-1] <= 60, text


@contextmanager
def two_threads() -> Iterator[None]:
    """Torch on two threads, whatever the machine has."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        yield
    finally:
        torch.set_num_threads(before)
