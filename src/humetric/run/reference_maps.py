"""Methods' maps of a setting's reference cases: what metrics that compare cases compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.metrics import Metric, Reference
from humetric.results.environment import environment
from humetric.results.store import Store
from humetric.run.desk import Desks
from humetric.run.evaluate import batch_sizes, by_id
from humetric.run.isolated import Limits, Workers
from humetric.run.plan import Plan, find_batch_size, make_plan
from humetric.tasks.setting import PlacedSetting, Setting


def reference_plan(setting: Setting, methods: Sequence[Method], metric: Metric, chunk: int) -> Plan:
    """Which methods can run; refuses a metric that cannot be computed on the setting."""
    plan, name = make_plan([setting], methods, [metric], chunk), metric.card.id
    for skip in plan.skips:
        if skip.metric:
            raise HumetricError(f"{name} cannot run on {setting.id}: it {skip.reason}.")
    if not plan.items[0].metrics:
        fits = ", ".join(metric.card.tasks)
        raise HumetricError(f"{name} is for {fits}, and {setting.id} is none: name another.")
    return plan


def reference_maps(
    placed: PlacedSetting,
    plan: Plan,
    methods: Sequence[Method],
    *,
    seed: int,
    folder: Path | None = None,
    progress: Callable[[str], object] = lambda method: None,
) -> Iterator[tuple[str, Reference | HumetricError]]:
    """What each method of the plan says of the reference, or how it failed.

    Maps are those of a run with the same chunks and seed: they are read from the folder, or made
    and kept there. Without a folder they are made and not kept.
    """
    name, store = placed.setting.id, None if folder is None else Store(folder)
    here = {name: placed}
    if folder is None:
        batches = {name: find_batch_size(placed, "auto")}
    else:
        batches = batch_sizes(here, "auto", folder)
    with Workers(Limits(), seed, store) as workers:
        desks = Desks(
            here, plan.chunk, batches, workers, lambda item, rows: None, seed, store,
            {"environment": environment()},
        )  # fmt: skip
        chosen = by_id(methods)
        for method in plan.items[0].methods:
            progress(method)
            try:
                found: Reference | HumetricError = desks.reference(name, chosen[method])
            except HumetricError as error:
                found = error
            yield method, found
