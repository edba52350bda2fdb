"""A row of a table as people see it: its columns and what stands in them."""

from __future__ import annotations

from dataclasses import dataclass

from humetric.engine.questions import intact
from humetric.errors import HumetricError
from humetric.run.look import Scene


@dataclass(frozen=True)
class ShownTable:
    """A row, value by value, in the order of the table's columns."""

    columns: tuple[str, ...]
    values: tuple[str, ...]
    """As people read them: a category by its name, a number without needless digits."""
    predicted: bool = True
    """Whether the explained class is the one that the model gives, not another one asked for."""


def shown_table(scene: Scene) -> ShownTable:
    """What is shown of a row of a table."""
    setting = scene.setting
    if setting.table is None:
        raise HumetricError(
            f"Expected rows of a table but {setting.id} is of the task {setting.task.id}: show it "
            f"with shown_text or shown_image."
        )
    table, row = setting.table, setting.x[scene.row].tolist()
    (own,) = scene.engine.ask([intact(scene.engine.cases)])
    return ShownTable(
        columns=table.names,
        values=tuple(c.text(value) for c, value in zip(table.columns, row, strict=True)),
        predicted=own.margin.item() >= 0,
    )
