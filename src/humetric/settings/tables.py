"""Adult, with the network of Hase & Bansal (2020)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from humetric.errors import HumetricError
from humetric.models import prototype_fit, stored
from humetric.models.prototype_fit import Rows as Examples
from humetric.models.tabular import MLP
from humetric.models.tabular_weights import probabilities
from humetric.models.train_tabular import Network, fit_network
from humetric.models.training import CASES, _settled, choose
from humetric.settings.adult import CLASSES, SOURCE, People, adult
from humetric.settings.declared import Declared, Rows, Training
from humetric.settings.files import digest, trained
from humetric.settings.prototypes import Known, Prototyped, equipped
from humetric.settings.text import FILE, OTHER, digest_of, write_cases
from humetric.tasks.setting import Setting
from humetric.tasks.table import fingerprint
from humetric.tasks.tabular_setting import tabular_setting

ID = "tabular/adult/mlp"
MINUTES = 0.5
NETWORK = Network(hidden=(50, 50), rate=0.01)
"""The embedded one's recipe: nothing was chosen for these data."""
VALIDATION = 0.1
"""The last of the training rows say when to stop; no weights are fitted on them."""
BACKGROUND = 2000
"""Training rows that say what values there are."""


def fitted() -> People:
    """The training rows that weights are fitted on."""
    training = adult().training
    return training.take(np.arange(round((1 - VALIDATION) * len(training.ids))))


def train(task: Training) -> None:
    """Fit the network and write it, unless it is there."""
    file = task.folder / FILE
    if file.exists() and not task.again:
        return
    data = adult()
    held = len(data.training.ids) - len(fitted().ids)
    task.say(f"{task.id}: {len(fitted().ids)} rows, {held} to stop by")
    values, labels = data.training.values, data.training.labels
    model = fit_network(NETWORK, values, labels, held, data.sizes, len(CLASSES))
    about = {
        "setting": task.id,
        "recipe": json.dumps(asdict(NETWORK), sort_keys=True),
        "torch": torch.__version__,
    }
    stored.save(model, file, about)
    file.write_bytes(_settled(file.read_bytes()))


def weights() -> tuple[MLP, str]:
    """The trained network, and the checksum of its file."""
    file = trained(ID, FILE, MINUTES)
    model: MLP = stored.load(file)
    return model.requires_grad_(False), digest(file)


def chosen_cases(task: Training) -> None:
    """Balanced over the model's outputs and whether they are right, in the order of the pool."""
    (model, version), data = weights(), adult()
    pool = data.pool
    score = probabilities(model, pool.values)[:, 1]
    predicted = (score > 0.5).astype(int)
    accuracy = round(float((predicted == pool.labels).mean()), 4)
    task.say(f"{task.id}: accuracy {accuracy} on {len(pool.ids)} held-out rows")
    cases = [
        {
            "id": pool.ids[i],
            "label": int(pool.labels[i]),
            "predicted": int(predicted[i]),
            "sha256": fingerprint(data.columns, pool.values[i].tolist()),
        }
        for i in choose(pool.labels, score, CASES)
    ]
    about = {"accuracy": accuracy, "pool": len(pool.ids), "weights": version}
    write_cases(ID, about, cases)


def load(chosen: Mapping[str, Any], rows: Rows, baseline: str = "") -> Setting:
    """The setting from its cases.json and the rows of it that are wanted."""
    (model, version), data = weights(), adult()
    place = {id: i for i, id in enumerate(data.pool.ids)}
    found = [place.get(row["id"], -1) for row in rows]
    values = data.pool.values[found]
    same = [
        i >= 0 and fingerprint(data.columns, v.tolist()) == row["sha256"]
        for i, v, row in zip(found, values, rows, strict=True)
    ]
    if not all(same):
        raise HumetricError(
            f"Expected the recorded rows of {ID} but {len(same) - sum(same)} of {len(same)} are "
            f"others or missing: the data in place are another version. Verify them with humetric "
            f"sources check {SOURCE}."
        )
    recorded = chosen["weights"] == version
    made = tabular_setting(
        ID,
        model,
        data.columns,
        values,
        background=fitted().values[:BACKGROUND],
        label=[row["label"] for row in rows],
        target=[row["predicted"] for row in rows] if recorded else None,
        ids=[row["id"] for row in rows],
        version=f"data {digest_of(chosen)}, weights {version}",
        classes=CLASSES,
    )
    other = OTHER.format(weights=version, recorded=chosen["weights"])
    return replace(made, notes=() if recorded else (other,))


def _network(file: Path) -> MLP:
    model: MLP = stored.load(file)
    return model


def _examples(people: People) -> Examples:
    return Examples(torch.from_numpy(people.values).float(), torch.from_numpy(people.labels))


def _known() -> list[Known]:
    people, columns = fitted(), adult().columns
    listed = zip(people.ids, people.labels.tolist(), people.values.tolist(), strict=True)
    return [Known(id, label, fingerprint(columns, v), tuple(v)) for id, label, v in listed]


TABLES = (
    equipped(
        Declared(
            id=ID,
            summary="Adult census rows, two hidden layers of 50",
            sources=(SOURCE,),
            load=load,
            train=train,
            choose=chosen_cases,
            minutes=MINUTES,
            ships=True,
            departs="The study's twelve columns and equal classes, but cases are from UCI's test "
            "rows, age and hours are numbers to the model, and categories of fewer than one row "
            "in a hundred are joined. Training rows that are the same as one of the pool are left "
            "out.",
            published={"accuracy": 0.8349, "prototype_accuracy": 0.819},
            study="hase2020",
        ),
        Prototyped(
            prototype_fit.Recipe(20, epochs=3),
            _network,
            _known,
            lambda: _examples(fitted()),
            lambda: _examples(adult().pool),
            0.5,
        ),
    ),
)
