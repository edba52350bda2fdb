"""Scores that must not move: every registered method and metric on every embedded setting.

The first cases of each setting are compared with the pins in ``pins/``; ``--full`` compares all
cases of the suite. ``--update`` computes all cases and replaces the pins.
"""

from __future__ import annotations

import pinning
import pytest
from racing import Note

from humetric.suites import load_suite

CASES = 4
SUITE = load_suite("embedded")
SETTINGS = [row.id for row in SUITE.settings]

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("setting", SETTINGS)
def test_scores_are_as_pinned(setting: str, full: bool, update: bool, note: Note) -> None:
    """Values within tolerance; versions, parameters, cases and skipped pairs exactly."""
    found = pinning.find(SUITE, setting, SUITE.cases if full or update else CASES)
    check(found, update, note)


@pytest.mark.parametrize("setting", pinning.PANELS)
def test_simulated_users_are_as_pinned(setting: str, update: bool, note: Note) -> None:
    """The same of simulated users, on the panel of a setting of each task."""
    check(pinning.find_simulated(SUITE, setting), update, note)


def check(found: pinning.Pins, update: bool, note: Note) -> None:
    """Compare with the pins, or replace them."""
    pinned = pinning.read(found["setting"])
    if not update:
        said = pinning.compare(pinned, found)
        if said:
            pytest.fail(said, pytrace=False)
        return
    failed = pinning.failures(found)
    if failed:
        pytest.fail("\n".join(["Failures are not pinned.", *failed]), pytrace=False)
    pinning.write(found)
    changed = pinning.differences(pinned, found)
    note("\n".join([f"{found['setting']}: {'replaced' if changed else 'as before'}", *changed]))


def test_no_pins_of_settings_that_are_gone(update: bool, note: Note) -> None:
    """Every file of pins belongs to a setting of the suite."""
    there = [*SETTINGS, *(f"{pinning.SIMULATED}/{name}" for name in pinning.PANELS)]
    gone = sorted(set(pinning.FOLDER.glob("*.json")) - {pinning.path_of(s) for s in there})
    if update:
        for path in gone:
            path.unlink()
            note(f"{path.name}: removed")
    elif gone:
        names = ", ".join(path.name for path in gone)
        pytest.fail(
            f"Pins of settings that the suite does not have: {names}. If this is meant, "
            f"{pinning.ACCEPT}",
            pytrace=False,
        )
