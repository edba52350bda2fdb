"""Settings on real data: one declaration each, of the standard and the paper suite.

A declaration (:class:`Declared`) says which data and model a setting is made of, how its weights
are trained, where it departs from the study that it stands beside, and what its model may have seen
before. Data and pretrained weights come from ``humetric.data.sources``. Beside the declarations lie
``files/TASK/DATA/MODEL/``: ``cases.json``, which rows are the cases, and trained weights as far as
the licence of the data lets them be shipped; ``humetric train SETTING`` makes the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from humetric.errors import HumetricError
from humetric.settings.declarations import DECLARED
from humetric.settings.declared import Declared
from humetric.settings.files import cases_file
from humetric.tasks.setting import Setting

REAL: Mapping[str, Declared] = {declared.id: declared for declared in DECLARED}
"""Settings on real data by name."""


def load_real(id: str, cases: int | None = None, baseline: str = "mean") -> Setting:
    """A setting on real data with its first ``cases`` cases."""
    declared = REAL[id]
    file = cases_file(declared.cases or id)
    if not file.exists():
        raise HumetricError(
            f"Expected the cases of {id} in {file.name} but none were chosen yet: run humetric "
            f"train {declared.cases or id} --choose."
        )
    chosen = json.loads(file.read_text())
    if declared.cases:  # what another model said of them is not its own model's outputs
        chosen["weights"] = ""
    rows = chosen["cases"]
    if cases is not None:
        if cases < 1:
            raise HumetricError(f"Expected at least one case of {id} but got {cases}.")
        rows = rows[:cases]
    made = declared.load(chosen, rows, baseline)
    return replace(made, notes=(*made.notes, *declared.notes))
