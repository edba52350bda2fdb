"""The form of run.json: what is read of it, checked before anything is made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from humetric.cards import Direction
from humetric.errors import HumetricError

AT_MOST = 5
"""Problems that an error names."""


class Form(BaseModel):
    """Fields that are read; others may be there."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class SettingForm(Form):
    """What a setting was, and its cases."""

    version: str
    cases: list[str]
    reference: list[str] = []
    panel: list[str] = []
    rivals: dict[str, str] = {}


class PairForm(Form):
    """Which human results a setting stands beside."""

    study: str
    cell: str
    evidence: Literal["published", "replica", "stand-in", "toy"]


class CardForm(Form):
    """What every card has."""

    id: str
    version: int
    tasks: list[str]
    parameters: dict[str, Any]


class MetricForm(CardForm):
    """A metric's card."""

    direction: Direction


class SkipForm(Form):
    """A method or metric that was not run."""

    setting: str
    method: str
    reason: str
    metric: str = ""


class FailureForm(Form):
    """A method or metric that failed."""

    setting: str
    method: str
    metric: str
    message: str


class PlannedForm(Form):
    """What a run set out to score on a setting."""

    setting: str
    methods: list[str]
    metrics: list[str]


class ManifestForm(Form):
    """All of run.json that boards depend on."""

    seed: int
    chunk: int = Field(gt=0)
    device: str
    precision: str
    settings: dict[str, SettingForm]
    methods: dict[str, CardForm]
    metrics: dict[str, MetricForm]
    failures: list[FailureForm]
    skips: list[SkipForm]
    pairs: dict[str, list[PairForm]] = {}
    planned: list[PlannedForm] = []


def check_form(manifest: object, path: Path) -> None:
    """Refuse a manifest of another form, with its file, every place and what was expected."""
    try:
        ManifestForm.model_validate(manifest)
    except ValidationError as error:
        wrong = error.errors()
        said = [
            f"  {'.'.join(map(str, e['loc']))}: expected {_expected(e)} but got "
            f"{'nothing' if e['type'] == 'missing' else repr(e['input'])[:60]}"
            for e in wrong[:AT_MOST]
        ]
        if len(wrong) > AT_MOST:
            said.append(f"  and {len(wrong) - AT_MOST} more")
        raise HumetricError(
            f"{path} is not what humetric writes:\n" + "\n".join(said) + "\nCorrect it, or delete "
            "it and run again with the same options; records are kept."
        ) from None


def _expected(problem: Any) -> str:
    """What pydantic wanted, as the end of a sentence."""
    if problem["type"] == "missing":
        return "this field"
    words: str = problem["msg"].removeprefix("Input should be ")
    return words[:1].lower() + words[1:]
