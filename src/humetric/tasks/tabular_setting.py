"""Tabular settings from a model and rows of your own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from humetric.errors import HumetricError, UnknownNameError
from humetric.models.model import Model
from humetric.models.prototypes import PrototypeModels
from humetric.models.tabular import MLP, BlackBox, Predict, TabularModel
from humetric.seeding import generator
from humetric.tasks.imputation import fit_imputer
from humetric.tasks.setting import Setting, outputs, same
from humetric.tasks.table import Column, Table, check_names, check_rows, single, table_of
from humetric.tasks.tabular import REMOVALS, TabularTask

DRAWS = 32
"""Background rows that answers without some columns are averaged over."""


def tabular_setting(
    id: str,
    model: TabularModel | Predict,
    columns: Sequence[Column],
    rows: ArrayLike,
    *,
    background: ArrayLike,
    label: Sequence[int] | None = None,
    target: Sequence[int] | None = None,
    ids: Sequence[str] | None = None,
    version: str = "own",
    classes: Sequence[str] = (),
    removal: str = "expectation",
    draws: int = DRAWS,
    prototypes: PrototypeModels | None = None,
) -> Setting:
    """A setting from a model, columns and (cases, columns) plain numbers.

    ``model`` is a :class:`humetric.models.tabular.TabularModel`, or any function from (rows,
    columns) numpy arrays to probabilities: a black box, of which methods that need gradients are
    skipped. A category is the place of its name in the column's list. ``background`` are rows of
    the same kind, training rows say, none of them a case: they say what values there are.

    ``removal``: removed columns become those of the first ``draws`` background rows (which should
    therefore be in random order), and answers are averaged (``expectation``); or the mean, or the
    commonest category (``mean``); or ``draws`` values drawn given the other columns by logistic
    regression (``imputation``). Without ``target`` the model's own predictions are explained.
    ``prototypes`` are models made of this one (``models.prototypes.models_of``), for methods that
    show similar rows; without them such methods are skipped.
    """
    table, values = table_of(columns, background), single(rows)
    check_names(columns, background, "background")
    check_names(columns, rows, "rows")
    check_rows(columns, values, "rows")
    names = tuple(ids) if ids is not None else tuple(f"case-{i:04d}" for i in range(len(values)))
    for what, given in (
        ("different ids", len(set(names))),
        ("targets", len(values) if target is None else len(target)),
        ("labels", len(values) if label is None else len(label)),
    ):
        if given != len(values):
            raise HumetricError(f"Expected {len(values)} {what} but got {given}.")
    if removal not in REMOVALS:
        raise UnknownNameError("removal", removal, REMOVALS)
    if draws < 1 or (removal == "expectation" and draws > len(table.background)):
        raise HumetricError(
            f"Expected 1 to {len(table.background)} draws, the background rows that there are, "
            f"but got {draws}: give more background rows, or draws={len(table.background)}."
        )
    if not isinstance(model, TabularModel) and not callable(model):
        raise HumetricError(
            f"Expected a TabularModel, or a function from rows to probabilities, but got "
            f"{type(model).__name__}: for a model of scikit-learn give its predict_proba."
        )
    module = model if isinstance(model, TabularModel) else BlackBox(model)
    _check_columns(module, table)
    x = torch.from_numpy(values).float()
    logits = outputs(module, x, 4096)
    if logits.ndim != 2 or logits.shape[1] < 2:
        raise HumetricError(
            f"Expected the model to give logits of shape (cases, classes) with two classes or more "
            f"but got {tuple(logits.shape)}: wrap it so that it classifies."
        )
    if label is not None and not -1 <= min(label) <= max(label) < logits.shape[1]:
        raise HumetricError(
            f"Expected labels from 0 to {logits.shape[1] - 1} (-1 where one is not known) but got "
            f"{list(label)}."
        )
    if classes and len(classes) != logits.shape[1]:
        raise HumetricError(
            f"Expected names of the model's {logits.shape[1]} classes but got {list(classes)}."
        )
    wanted = logits.argmax(1) if target is None else torch.tensor(list(target))
    if not 0 <= int(wanted.min()) <= int(wanted.max()) < logits.shape[1]:
        raise HumetricError(
            f"Expected targets from 0 to {logits.shape[1] - 1} but got {wanted.tolist()}."
        )
    found = Setting(
        id=id,
        version=f"{version}, {removal} removal, {draws} draws, background {_digest(table)}"
        + (f", prototypes {prototypes.version}" if prototypes else ""),
        task=TabularTask(len(table.columns)),
        model=Model(id, module.eval(), gives=module.gives, reads=module.reads),
        ids=names,
        x=x,
        baseline=_baseline(table, values, names, removal, draws),
        target=wanted,
        label=torch.tensor(list(label)) if label is not None else wanted,
        classes=tuple(classes),
        table=table,
        prototypes=prototypes,
    )
    return replace(found, panel=partial(same, found))


def _check_columns(module: TabularModel, table: Table) -> None:
    """Refuse a model that encodes other columns; it would misread them without a word."""
    if not isinstance(module, MLP):
        return
    wanted = tuple(len(column.categories) for column in table.columns)
    if module.encoding.sizes != wanted:
        raise HumetricError(
            f"Expected a model of columns with {wanted} categories (0: a number) but it encodes "
            f"{module.encoding.sizes}: make both from the same columns, in one order."
        )


def _baseline(
    table: Table, rows: np.ndarray, names: Sequence[str], removal: str, draws: int
) -> Tensor:
    """(cases or 1, draws, columns): what removed columns become."""
    if removal == "expectation":
        found = table.background[None, :draws]
    elif removal == "mean":
        columns = zip(table.columns, table.background.T, strict=True)
        means = [v.mean() if c.number else np.bincount(v.astype(int)).argmax() for c, v in columns]
        found = np.array(means)[None, None]
    else:
        rngs = [generator(0, name, "imputation") for name in names]
        found = fit_imputer(table).draws(rows, draws, rngs)
    return torch.from_numpy(found).float()


def _digest(table: Table) -> str:
    """What tells one background from another."""
    found = hashlib.sha256(repr(table.columns).encode())
    found.update(table.background.tobytes())
    return found.hexdigest()[:12]
