"""Omission: what the explained probability loses when a feature is not known."""

from __future__ import annotations

from torch import Tensor

from humetric.engine.questions import Program
from humetric.methods import Explainer, method
from humetric.methods.omitting import losses, zeroed
from humetric.tasks.cases import Cases


@method(
    "omission",
    version=1,
    reference="Hase & Bansal 2020, arXiv:2005.01831, appendix A.1 (not reported there)",
    tasks=("sentiment", "nli", "tabular"),
    uses=("embeddings",),
)
def omission() -> Explainer:
    """Drop of the explained probability when a word's embeddings are zero, or a column is unknown.

    For a column it is f(x) - E f(x with another value of it), the expectation over the values that
    a logistic regression on the other columns gives it (methods/omitting.py).

    Occlusion differs in three things: it removes as the setting says (mask tokens, background
    rows), it takes the logit, and it asks the model in the precision of the run. Zero is the
    embedding of no word, so texts are asked about inputs that the model has never seen; and a
    column that the others tell all about has 0, however much the model heeds it.
    """

    def explain(cases: Cases) -> Program[Tensor]:
        view = None
        if cases.texts is not None:
            view = zeroed(cases, cases.text_module(), cases.target)
        return losses(cases, view, lambda answers: answers.probability)

    return explain
