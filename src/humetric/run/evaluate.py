"""The same as ``humetric run``, for a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pandas as pd

from humetric.cards import EVERY, MethodCard
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.methods import METHODS, Explainer, Method
from humetric.metrics import METRICS, Metric
from humetric.results.manifest import read_manifest, write_manifest
from humetric.results.result import Result
from humetric.results.store import Store
from humetric.run.execute import Progress, execute
from humetric.run.isolated import Limits
from humetric.run.plan import Plan, find_batch_size, make_plan
from humetric.run.work import Item
from humetric.tasks.named import load_setting
from humetric.tasks.setting import PlacedSetting, Setting

M = TypeVar("M", Method, Metric)


def evaluate(
    settings: str | Setting | Sequence[str | Setting],
    methods: str | Method | Explainer | Sequence[str | Method | Explainer],
    metrics: str | Metric | Sequence[str | Metric] = ("deletion", "insertion", "mu-fidelity"),
    *,
    device: str = "auto",
    precision: str = "fp32",
    batch_size: str | int = "auto",
    seed: int = 0,
    chunk: int = 12,
) -> pd.DataFrame:
    """Per-case scores of methods on settings: columns setting, case, method, metric, value.

    Settings, methods and metrics are given by name or as objects; a method may also be a plain
    function from cases to attributions. If a method or metric fails, its error is raised.
    """
    listed = [settings] if isinstance(settings, str | Setting) else list(settings)
    several = (
        [methods] if isinstance(methods, str) or not isinstance(methods, Sequence) else methods
    )
    chosen = [as_method(m) for m in several]
    asked = [metrics] if isinstance(metrics, str | Metric) else metrics
    measured = [METRICS.make(m) if isinstance(m, str) else m for m in asked]
    loaded = [load_setting(s) if isinstance(s, str) else s for s in listed]
    result = run_settings(loaded, chosen, measured, device, precision, batch_size, seed, chunk)
    for failure in result.failures:
        what = f"{failure.metric} of {failure.method}" if failure.metric else failure.method
        raise HumetricError(f"{what} failed on {failure.setting}. {failure.message}")
    for skip in result.skips:
        raise HumetricError(f"{skip.name} cannot run on {skip.setting}: it {skip.reason}.")
    return result.scores


def run_settings(
    settings: Sequence[Setting],
    methods: Sequence[Method],
    metrics: Sequence[Metric],
    device: str = "auto",
    precision: str = "fp32",
    batch_size: str | int = "auto",
    seed: int = 0,
    chunk: int = 12,
    progress: Progress = lambda item, rows: None,
    out: Path | None = None,
) -> Result:
    """Evaluate methods on settings; failures and skipped pairs are part of the result.

    With ``out``, a folder, everything is stored there and only what it lacks is computed.
    """
    if chunk < 1:
        raise HumetricError(f"Expected chunks of at least one case but got {chunk}.")
    unique([setting.id for setting in settings])
    placement = place(device, precision)
    placed = {setting.id: setting.place(placement) for setting in settings}
    plan = make_plan(settings, methods, metrics, chunk)
    named = by_id(methods), by_id(metrics)
    if out is None:
        batches = {name: find_batch_size(p, batch_size) for name, p in placed.items()}
        return execute(plan, placed, *named, batches=batches, seed=seed, progress=progress)
    batches = batch_sizes(placed, batch_size, out)
    return run_into(out, plan, placed, *named, batches=batches, seed=seed, progress=progress)


def batch_sizes(
    placed: Mapping[str, PlacedSetting],
    wanted: str | int,
    folder: Path,
    begun: Mapping[str, int] = MappingProxyType({}),
    declared: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """Batch sizes of settings; ``auto`` takes those that a folder was begun with, or ``begun``.

    Else it takes the suite's ``declared`` ones, on CUDA devices, or measures.
    """
    own = (read_manifest(folder) or {}).get("batch_size", {})
    known = {**begun, **own} if wanted == "auto" else {}
    return {
        name: known.get(name) or find_batch_size(p, wanted, declared.get(name, 0))
        for name, p in placed.items()
    }


def run_into(
    folder: Path,
    plan: Plan,
    placed: Mapping[str, PlacedSetting],
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    *,
    batches: Mapping[str, int],
    seed: int,
    about: Mapping[str, Any] = MappingProxyType({}),
    progress: Progress = lambda item, rows: None,
    isolate: Limits | None = None,
) -> Result:
    """Do what a folder lacks and keep it there. The manifest is there before the first record."""
    cases = {name: p.setting.ids for name, p in placed.items()}
    beside = {name: _beside(p, plan, metrics) for name, p in placed.items()}
    about = {**about, "planned": plan.pairs()}

    def do(items: tuple[Item, ...]) -> Result:
        some = Plan(items, plan.skips, plan.chunk)
        result = execute(
            some,
            placed,
            methods,
            metrics,
            batches=batches,
            seed=seed,
            about=about,
            progress=progress,
            store=Store(folder),
            isolate=isolate,
        )
        write_manifest(folder, result.manifest(cases, beside))
        return result

    do(())
    return do(plan.items)


def _beside(placed: PlacedSetting, plan: Plan, metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """What values of a setting depend on beside its cases, and what their reader must know."""
    setting, panel = placed.setting, None
    found: dict[str, Any] = {"notes": list(setting.notes), "features": list(setting.features)}
    found["channels"] = getattr(setting.task, "channels", 1)
    if setting.reference is not None:
        found["reference"] = list(setting.reference.ids)
    items = [i for i in plan.items if i.setting == setting.id and i.scope == "setting"]
    if items:
        panel = placed.panel
    if panel is not None:
        found["panel"] = list(panel.ids)
    if any(metrics[m].card.scope == "setting-pair" for i in items for m in i.metrics):
        found["rivals"] = {name: load().version for name, load in setting.rivals.items()}
    return found


def unique(names: Sequence[str]) -> None:
    """Refuse names that come twice: their results could not be told apart."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise HumetricError(f"Expected names that differ, but {', '.join(twice)} came twice.")


def by_id(objects: Sequence[M]) -> dict[str, M]:
    """Methods or metrics by their id."""
    unique([o.card.id for o in objects])
    return {o.card.id: o for o in objects}


def as_method(given: str | Method | Explainer) -> Method:
    """A method from its name, or from a function ``cases -> attributions`` of your own."""
    if isinstance(given, str):
        return METHODS.make(given)
    if isinstance(given, Method):
        return given
    if not callable(given):
        raise HumetricError(
            f"Expected a method's name, a Method or a function of cases but got {given!r}."
        )
    name = getattr(given, "__name__", "own").strip("<>_").replace("_", "-").lower()
    card = MethodCard(name or "own", 1, "A function of the caller's.", "", EVERY)
    return Method(card, given)
