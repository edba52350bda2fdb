"""All settings on real data."""

from __future__ import annotations

from humetric.settings.declared import Declared
from humetric.settings.inference import INFERENCE
from humetric.settings.pictures import IMAGES
from humetric.settings.questions import QUESTIONS
from humetric.settings.sentiment import SENTIMENT
from humetric.settings.tables import TABLES

DECLARED: tuple[Declared, ...] = (*SENTIMENT, *INFERENCE, *QUESTIONS, *TABLES, *IMAGES)
"""What is declared of a setting on real data."""
