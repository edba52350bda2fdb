"""Settings by name: those of the embedded suite, and those on real data."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

from humetric.errors import HumetricError, UnknownNameError
from humetric.models import convnet
from humetric.settings import REAL, load_real
from humetric.tasks.setting import Later, Setting


def known_settings() -> list[str]:
    """Settings that can be loaded by name; those on real data need what is not shipped."""
    return sorted([*embedded_settings(), *REAL])


def embedded_settings() -> list[str]:
    """Settings that need nothing but this package."""
    return sorted(
        "/".join(path.parent.relative_to(convnet.WEIGHTS).parts)
        for path in convnet.WEIGHTS.glob("*/*/*/cases.json")
    )


def load_setting(id: str, cases: int | None = None, baseline: str = "mean") -> Setting:
    """A setting by its name, e.g. ``image/habitat/cnn``, with its first ``cases`` cases.

    ``baseline`` is for images: ``mean`` (zero in normalised space, the mean colour) or ``blur``.
    """
    if id not in known_settings():
        raise UnknownNameError("setting", id, known_settings())
    whole = Later(partial(load_setting, id, baseline=baseline))
    if id in REAL:
        from humetric.tasks.embedded_text import rivals_of

        return replace(load_real(id, cases, baseline), panel=whole, rivals=rivals_of(id))
    chosen = json.loads((convnet.WEIGHTS / id / "cases.json").read_text())
    rows = chosen["cases"]
    if cases is not None:
        if not 1 <= cases <= len(rows):
            raise HumetricError(
                f"{id} has {len(rows)} cases; expected 1 to {len(rows)}, got {cases}."
            )
        rows = rows[:cases]
    if id.startswith("tabular/"):
        from humetric.tasks.embedded_tabular import load_tabular_setting

        return replace(load_tabular_setting(id, chosen, rows), panel=whole)
    if id.startswith("image/"):
        from humetric.tasks.embedded_image import load_image_setting

        return replace(load_image_setting(id, chosen, len(rows), baseline), panel=whole)
    from humetric.tasks.embedded_text import load_text_setting, rivals_of

    return replace(load_text_setting(id, chosen, rows), panel=whole, rivals=rivals_of(id))
