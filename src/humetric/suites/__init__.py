"""Suites: which settings, methods and metrics belong together. Each is a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from humetric.cards import ID
from humetric.engine.placement import Precision
from humetric.errors import HumetricError, UnknownNameError
from humetric.methods import METHODS, Method
from humetric.metrics import METRICS, Metric

FOLDER = Path(__file__).parent


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Pair(_Strict):
    """Which human results a setting stands beside, and how near it comes to the study."""

    study: str
    cell: str
    evidence: Literal["published", "replica", "stand-in", "toy"]


class SettingRow(_Strict):
    """A setting of a suite."""

    id: str
    pairs: tuple[Pair, ...] = ()
    batch_size: int = Field(default=0, ge=0)
    """For a card of 24 GB, instead of a measured one on CUDA devices; 0: measured there, too."""


class Suite(_Strict):
    """A suite as its TOML file declares it."""

    id: str = Field(pattern=f"^{ID.pattern}$")
    version: int
    summary: str
    seed: int = 0
    cases: int = Field(gt=0)
    chunk: int = Field(gt=0)
    precision: Precision = "fp32"
    """Of the engine's questions, unless a run asks for another."""
    published: bool = False
    """Whether a run starts from what is published of it in leaderboards/."""
    methods: tuple[str, ...] = Field(min_length=1)
    metrics: tuple[str, ...] = Field(min_length=1)
    parameters: dict[str, dict[str, Any]] = {}
    settings: tuple[SettingRow, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _parameters_have_owners(self) -> Self:
        for name in self.parameters:
            if name not in (*self.methods, *self.metrics):
                raise ValueError(
                    f"parameters of {name!r}, which is no method or metric of the suite"
                )
        return self

    def current_metrics(self) -> list[str]:
        """The suite's metrics without those that are deprecated."""
        return [name for name in self.metrics if not self.metric(name).card.deprecated]

    def batch_sizes(self) -> dict[str, int]:
        """Declared batch sizes by setting."""
        return {row.id: row.batch_size for row in self.settings if row.batch_size}

    def pairs(self, settings: Sequence[str]) -> dict[str, list[dict[str, str]]]:
        """What settings are paired with, as plain data."""
        return {
            row.id: [pair.model_dump() for pair in row.pairs]
            for row in self.settings
            if row.id in settings
        }

    def method(self, name: str) -> Method:
        """A method with this suite's parameters."""
        return METHODS.make(name, self.parameters.get(name))

    def metric(self, name: str) -> Metric:
        """A metric with this suite's parameters."""
        return METRICS.make(name, self.parameters.get(name))


def known_suites() -> list[str]:
    """Suites that ship with humetric."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_suite(name: str = "embedded") -> Suite:
    """A suite by name, or from a TOML file of your own."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not name.endswith(".toml") and name not in known_suites():
        raise UnknownNameError("suite", name, known_suites())
    try:
        return Suite.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        raise HumetricError(f"Cannot read the suite {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HumetricError(f"{path} is not valid TOML: {error}.") from None
    except ValidationError as error:
        problems = (
            f"  {'.'.join(map(str, e['loc'])) or 'suite'}: {e['msg'].lower()}, "
            f"got {str(e['input'])[:60]!r}"
            for e in error.errors()
        )
        raise HumetricError(
            f"{path} is not a suite; suites/embedded.toml shows the form.\n" + "\n".join(problems)
        ) from None
