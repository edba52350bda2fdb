"""Tasks: how inputs become features, how features are removed, what the explained score is."""

from humetric.tasks.image import ImageTask
from humetric.tasks.task import Task

TASKS: dict[str, type[Task]] = {"image": ImageTask}
"""Tasks by name."""
