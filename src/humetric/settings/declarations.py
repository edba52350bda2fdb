"""All settings on real data."""

from __future__ import annotations

from humetric.settings.declared import Declared
from humetric.settings.inference import INFERENCE
from humetric.settings.paper_images import PAPER_IMAGES
from humetric.settings.paper_text import PAPER_TEXT
from humetric.settings.pictures import IMAGES
from humetric.settings.questions import QUESTIONS
from humetric.settings.sentiment import SENTIMENT
from humetric.settings.tables import TABLES

PAPER: tuple[Declared, ...] = (*PAPER_TEXT, *PAPER_IMAGES)
"""With the studies' own models, for a GPU."""

DECLARED: tuple[Declared, ...] = (*SENTIMENT, *INFERENCE, *QUESTIONS, *TABLES, *IMAGES, *PAPER)
"""What is declared of a setting on real data."""
