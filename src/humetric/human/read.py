"""Where studies are, and reading them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from humetric.errors import HumetricError, UnknownNameError
from humetric.human.figures import Figure, Score, Statistic
from humetric.human.files import Read, read_files
from humetric.human.schema import ROWS, FigureRow, ScoreRow, StatisticRow, StudyForm, VariantRow
from humetric.human.study import Cell, Condition, Measure, Primary, Study
from humetric.human.validate import consistency

AT_MOST = 20
"""Problems that an error shows; `humetric human validate` shows all."""

FILES = ("study.toml", *ROWS)


def bundled_folder() -> Path:
    """Where the bundled studies lie: in the package, or beside it in a source tree."""
    package = Path(__file__).parents[1]
    places = (package / "human_data", package.parents[1] / "human_data")
    for place in places:
        if any(place.glob("*/study.toml")):
            return place
    raise HumetricError(
        "Expected the bundled studies in the package (human_data) or in the source tree, but found "
        "none: the installation is incomplete; install humetric again."
    )


def study_folders(place: Path) -> list[Path]:
    """The study folder that a path is, or the study folders in it, by name."""
    if (place / "study.toml").exists():
        return [place]
    found = sorted(path.parent for path in place.glob("*/study.toml"))
    if not found:
        raise HumetricError(
            f"Expected a study folder (with a study.toml) or a folder of such folders but got "
            f"{str(place)!r}: check the path; human_data/README.md describes the form."
        )
    return found


def load_studies(extra: Sequence[Path] = (), variants: Sequence[str] = ()) -> dict[str, Study]:
    """The bundled studies and those of other places, by id: bundled first, each place by name.

    A place is a study folder or a folder of study folders. A variant is taken where a study has it;
    one that no study has is an error. So is a study that is already there under another id, by its
    DOI, arXiv number, address or figures: it would count as new evidence.
    """
    studies: dict[str, Study] = {}
    places: dict[str, Path] = {}
    for place in (bundled_folder(), *extra):
        for folder in study_folders(place):
            study = read_study(folder)
            chosen = [name for name in variants if name in study.known_variants]
            if study.id in studies:
                raise HumetricError(
                    f"Expected studies with ids of their own but {folder} has the id {study.id!r} "
                    f"of one that is already there: rename the folder and its id."
                )
            for other in studies.values():
                if same := _same(study, other, folder, places[other.id]):
                    raise HumetricError(
                        f"Expected studies that are not copies of each other but {folder} has the "
                        f"same {same} as {other.id!r} ({places[other.id]}): one experiment counts "
                        "once, whatever its id; leave one of the two out."
                    )
            places[study.id] = folder
            studies[study.id] = read_study(folder, chosen) if chosen else study
    known = {name for study in studies.values() for name in study.known_variants}
    for name in variants:
        if name not in known:
            raise UnknownNameError("variant", name, known)
    return studies


def _same(study: Study, other: Study, folder: Path, place: Path) -> str:
    """What shows that two studies are one experiment, or nothing."""
    for name in ("doi", "arxiv", "url"):
        first, second = (_plain(getattr(of, name)) for of in (study, other))
        if first and first == second:
            return f"{name} ({getattr(study, name)})"
    numbers = [
        sorted((f.cell, f.condition, f.measure, f.value) for f in of.figures)
        for of in (study, other)
    ]
    texts = [(of / "results.csv").read_text(encoding="utf-8").split() for of in (folder, place)]
    return "figures (results.csv)" if numbers[0] == numbers[1] or texts[0] == texts[1] else ""


def _plain(address: str) -> str:
    """A DOI, arXiv number or address without what does not tell two of them apart."""
    short = re.sub(r"^(https?://)?(www\.|dx\.)?(doi\.org/|arxiv\.org/abs/)?", "", address.lower())
    return re.sub(r"(^\d{4}\.\d{4,5})v\d+$", r"\1", short.strip().rstrip("/"))


def read_study(folder: Path, variants: Sequence[str] = ()) -> Study:
    """A study from its folder, with the figures of some variants in place of the usual ones."""
    read = read_files(folder)
    found = [*read.problems, *consistency(folder, read)]
    if found or read.form is None:
        shown = "\n".join(f"  {problem}" for problem in found[:AT_MOST])
        more = f"\n  and {len(found) - AT_MOST} more" if len(found) > AT_MOST else ""
        raise HumetricError(
            f"{folder} cannot be read as a study (humetric human validate {folder}):\n{shown}{more}"
        )
    return _study(read.form, read, digest(folder), variants)


def digest(folder: Path) -> str:
    """A short digest of what a study folder says; line endings do not matter."""
    found = hashlib.sha256()
    for name in FILES:
        if (folder / name).exists():
            content = (folder / name).read_bytes().replace(b"\r\n", b"\n")
            found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:8]


def _study(form: StudyForm, read: Read, digest: str, variants: Sequence[str]) -> Study:
    rows = {name: [row.data for row in found] for name, found in read.rows.items()}
    swaps = [row for row in rows.get("variants.csv", []) if isinstance(row, VariantRow)]
    known = tuple(dict.fromkeys(row.variant for row in swaps))
    for name in variants:
        if name not in known:
            raise UnknownNameError(f"variant of {form.id}", name, known)
    chosen: dict[tuple[str, str, str], VariantRow] = {}
    for row in swaps:
        key = (row.cell, row.condition, row.measure)
        if row.variant in variants and key in chosen:
            raise HumetricError(
                f"Expected variants that go together but {chosen[key].variant} and {row.variant} "
                f"of {form.id} both replace {' / '.join(key)}: choose one of them."
            )
        if row.variant in variants:
            chosen[key] = row
    figures = [row for row in rows["results.csv"] if isinstance(row, FigureRow)]
    plain = form.model_dump(exclude={"participants", "cells", "conditions", "measures", "primary"})
    return Study(
        **plain,
        digest=digest,
        participants=form.participants.number,
        participants_text=form.participants.text,
        cells=tuple(Cell(**cell.model_dump()) for cell in form.cells),
        conditions=tuple(Condition(**condition.model_dump()) for condition in form.conditions),
        measures=tuple(Measure(**measure.model_dump()) for measure in form.measures),
        primary=None if form.primary is None else Primary(**form.primary.model_dump()),
        figures=tuple(
            Figure(
                **chosen.get((f.cell, f.condition, f.measure), f).model_dump(exclude={"variant"})
            )
            for f in figures
        ),
        scores=tuple(
            Score(**row.model_dump())
            for row in rows.get("scores.csv", [])
            if isinstance(row, ScoreRow)
        ),
        statistics=tuple(
            Statistic(**row.model_dump())
            for row in rows.get("statistics.csv", [])
            if isinstance(row, StatisticRow)
        ),
        variants=tuple(variants),
        known_variants=known,
    )
