"""The process of one method that is not built in: ``python -m humetric.run.worker``."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.results.store import Store
from humetric.run.isolated import clothed
from humetric.run.records import chunk_of
from humetric.run.work import Item, explanations, said


def main(link: Connection, path: Path) -> None:
    """Read the job, say that it could be read, then explain what is asked for until the end."""
    try:
        job = pickle.loads(path.read_bytes())
        placed = job["setting"].place(place(job["device"], job["precision"]))
    except BaseException as error:
        link.send(f"{type(error).__name__}: {error}")
        return
    link.send(None)
    before = _weights(placed.model.module)
    store = None if job["folder"] is None else Store(Path(job["folder"]))
    while True:
        try:
            start, stop, batch, sent = link.recv()
        except EOFError:
            return
        item = Item(placed.setting.id, start, stop, (job["method"].card.id,), ())
        where, kept = placed, store
        if sent is not None:
            where, kept = placed.beside(clothed(pickle.loads(sent), placed.setting)), None
        link.send(_explain(job, where, item, batch, kept, before))


def _explain(
    job: dict[str, Any],
    placed: Any,
    item: Item,
    batch: int,
    store: Store | None,
    before: dict[str, Tensor],
) -> tuple[tuple[NDArray[Any], dict[str, Any]] | str, int, int]:
    """Maps and what is beside them, or what is wrong; model calls, and questions asked."""
    engine = Engine(
        placed.cases(item.start, item.stop, job["seed"]),
        placed.fast_module,
        placed.placement.dtype,
        batch,
        memory=chunk_of(item, placed, job["seed"], store),
    )
    (found,) = explanations([job["method"]], engine).values()
    if isinstance(found, Exception):
        return said(found), engine.rows, engine.asked
    after = _weights(placed.model.module)
    changed = [name for name in before if not torch.equal(before[name], after[name])]
    if changed:
        return (
            f"Expected the model to be left as it was but {changed[0]} changed: "
            f"work on a copy, copy.deepcopy(cases.module()).",
            engine.rows,
            engine.asked,
        )
    return (found.attribution.cpu().numpy(), found.more), engine.rows, engine.asked


def _weights(module: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone() for name, value in module.state_dict().items()}


def _end_with_parent() -> None:
    """On Linux: be killed when the run is, even if the method hangs."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    _end_with_parent()
    main(Connection(int(sys.argv[1])), Path(sys.argv[2]))
    sys.stdout.flush()
    os._exit(0)  # whatever threads the method left behind
