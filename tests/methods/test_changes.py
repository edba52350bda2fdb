"""What cases may become: edits nearby, and anything that keeps some features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from support import engine_for
from tabular_support import COLUMNS, rows, table_setting
from text_support import setting as text_setting

from humetric.errors import HumetricError
from humetric.methods.changes import RowChanges, WordChanges, changes_of

NEAR = {
    "good": (("moving", 0.8), ("cold", 0.2)),
    "film": (("picture", 0.9),),
    "boring": (("tedious", 0.9), ("wonderful", 0.6)),
    "wonderful": (("moving", 0.7),),
}


def row_changes() -> RowChanges:
    made = changes_of(engine_for(table_setting()).cases)[0]
    assert isinstance(made, RowChanges)
    return made


def test_rows_change_in_one_to_three_columns_never_to_what_they_were() -> None:
    made = row_changes()
    chosen = made.nearby(np.random.default_rng(0), 6000)
    edits = (chosen >= 0).sum(1)
    assert set(edits.tolist()) == {1, 2, 3}
    assert stats.chisquare(np.bincount(edits)[1:]).pvalue > 1e-3
    changed = made.table.bins(made.inputs(chosen).double().numpy()) != made.own
    np.testing.assert_array_equal(changed, chosen >= 0)
    per_column = (chosen >= 0).sum(0)
    assert stats.chisquare(per_column).pvalue > 1e-3
    work = chosen[chosen[:, 1] >= 0, 1]
    assert set(work.tolist()) == {0, 1}
    assert stats.chisquare(np.bincount(work)).pvalue > 1e-3


def test_what_a_row_becomes_is_what_is_said() -> None:
    made = row_changes()
    chosen = made.nearby(np.random.default_rng(1), 50)
    for own, row in zip(chosen, made.inputs(chosen).tolist(), strict=True):
        for j, column in enumerate(COLUMNS):
            said = made.was(j) if own[j] < 0 else made.becomes(j, int(own[j]))
            assert column.text(row[j]) == said


def test_held_columns_keep_their_bin_and_others_are_those_of_one_background_row() -> None:
    made = row_changes()
    held = (0, 1)
    drawn = made.holding(np.random.default_rng(2), 400, held)
    assert drawn.present[:, held].all()
    found = drawn.inputs.double().numpy()
    np.testing.assert_array_equal(made.table.bins(found) == made.own, drawn.present)
    known = {tuple(r) for r in made.table.background[:, 2:].astype(np.float32).tolist()}
    assert {tuple(r) for r in found[:, 2:].tolist()} <= known
    assert len(set(found[:, 0].tolist())) > 3  # anywhere within the bin, not the case's own age
    free = made.holding(np.random.default_rng(3), 20000, ())
    share = (made.table.bins(made.table.background) == made.own).mean(0)
    np.testing.assert_allclose(free.present.mean(0), share, atol=0.02)


def test_conditions_are_said_as_people_say_them() -> None:
    made = row_changes()
    for j, column in enumerate(COLUMNS):
        said, value = made.condition(j), rows(6, 3)[0, j]
        assert column.name in said
        if not column.number:
            assert said == f"{column.name} = {column.text(value)}"
    table = made.table
    edges = table.edges[0]
    assert table.condition(0, edges[0]) == f"age <= {edges[0]:.0f}"
    assert table.condition(0, edges[0] + 1e-9) == f"{edges[0]:.0f} < age <= {edges[1]:.0f}"
    assert table.condition(0, edges[-1] + 1) == f"age > {edges[-1]:.0f}"


def test_words_become_neighbours_and_their_absence_is_noted() -> None:
    cases = engine_for(text_setting(neighbours=NEAR)).cases
    for i, made in enumerate(changes_of(cases)):
        assert isinstance(made, WordChanges)
        drawn = made.holding(np.random.default_rng(i), 2000, ())
        for word in range(made.features):
            share = 1 - drawn.present[:, word].mean()
            assert share == pytest.approx(0.5 if word in made.free else 0, abs=0.05)
        if made.free:
            held = made.holding(np.random.default_rng(i), 50, made.free[:1])
            assert held.present[:, made.free[0]].all()
        same = made.inputs(np.full((1, made.features), -1))
        length = int(same[0, 1].sum())
        assert torch.equal(same[0, :, :length], cases.x[i, :, :length])
    assert any(made.free for made in changes_of(cases))


def test_texts_without_neighbours_say_what_is_missing() -> None:
    with pytest.raises(HumetricError, match="neighbours="):
        changes_of(engine_for(text_setting()).cases)
