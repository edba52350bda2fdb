"""All settings on real data."""

from __future__ import annotations

from humetric.settings.declared import Declared
from humetric.settings.questions import QUESTIONS
from humetric.settings.sentiment import SENTIMENT

DECLARED: tuple[Declared, ...] = (*SENTIMENT, *QUESTIONS)
