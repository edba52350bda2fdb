"""The desk of people who edit: what the model says of changed texts, and what explains them now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from humetric.engine.questions import GroupMasks, Program, Questions, View
from humetric.metrics.panel import Panel, Shown
from humetric.metrics.simulated.editor import EDITS, Sheet
from humetric.metrics.simulated.terms import Floats, Terms, highlights, terms
from humetric.tasks.cases import Cases
from humetric.tasks.edits import places_of
from humetric.tasks.partition import identity
from humetric.tasks.rewritten import Deletion, parts_of, rewritten, survivors


def as_written(cases: Cases) -> View:
    """The model, from which removed words are really taken out, whatever masks are made of."""
    task, _ = cases.text()
    view = View(cases.model.module, replace(task, removal="delete"), cases.target)
    return cases.once("texts as written", lambda: view)


class Desk:
    """Where texts are edited: the model answers, and in training explanations are made anew."""

    def __init__(self, panel: Panel, shown: Shown) -> None:
        self.panel, self.shown, self.of = panel, shown, terms(panel.cases)
        _, self.texts, _ = parts_of(panel.setting)
        self.places = panel.cases.once(
            "places of words", lambda: [places_of(self.texts, i) for i in range(len(panel))]
        )
        self.made: dict[Deletion, Floats] = {}
        """Highlights of changed texts."""

    def edited(self, sheets: Sequence[Sheet], looks: Sequence[Sheet]) -> Program[None]:
        """Texts edited side by side, an edit of each at a time; some are explained after each."""
        watched = {id(sheet) for sheet in looks}
        for _ in range(EDITS):
            picks = [(sheet, sheet.pick()) for sheet in sheets if sheet.open]
            if not picks:
                return
            asked = [Deletion(s.case, tuple(sorted([*s.deleted, w]))) for s, w in picks]
            unique = list(dict.fromkeys(asked))
            (answers,) = yield [self._questions(unique)]
            said = zip(answers.probability.tolist(), (answers.margin < 0).tolist(), strict=True)
            known = dict(zip(unique, said, strict=True))
            kept = [
                (sheet, deletion)
                for (sheet, word), deletion in zip(picks, asked, strict=True)
                if sheet.told(word, *known[deletion])
            ]
            self._explain([(s, d) for s, d in kept if s.open and id(s) in watched])

    def _questions(self, deletions: Sequence[Deletion]) -> Questions:
        cases = self.panel.cases
        keep = torch.ones(len(deletions), cases.features, dtype=torch.bool)
        for row, deletion in zip(keep, deletions, strict=True):
            row[list(deletion.words)] = False
        owner = torch.tensor([deletion.case for deletion in deletions])
        return Questions(owner, GroupMasks(keep, identity(cases.features)), view=as_written(cases))

    def _explain(self, changed: Sequence[tuple[Sheet, Deletion]]) -> None:
        """Put new explanations on the screen: all that are new are made in one go."""
        new = list(dict.fromkeys(d for _, d in changed if d not in self.made))
        if new:
            setting = rewritten(self.panel.setting, self.places, new)
            found = self.shown.again(setting)
            maps = found.attribution.detach().double().cpu().flatten(1)
            assert setting.texts is not None
            number = np.full((len(new), self.of.number.shape[1]), -1, dtype=np.int64)
            own = torch.zeros(number.shape, dtype=torch.float64)
            for row, deletion in enumerate(new):
                before, after = survivors(self.texts, deletion, setting.texts, row)
                number[row, before] = self.of.number[deletion.case, before]
                own[row, before] = maps[row, after]
            weights = highlights(own, Terms(number, self.of.size, self.of.partition), len(new))
            self.made.update(zip(new, weights, strict=True))
        for sheet, deletion in changed:
            there = np.ones(len(sheet.term), dtype=np.bool_)
            there[sheet.deleted] = False
            sheet.look(self.made[deletion][: len(there)], there)
