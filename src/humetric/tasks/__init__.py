"""Tasks: how inputs become features, how features are removed, what the explained score is."""

from humetric.tasks.image import ImageTask
from humetric.tasks.tabular import TabularTask
from humetric.tasks.task import Task
from humetric.tasks.text import TextTask

TASKS: dict[str, type[Task]] = {
    "image": ImageTask,
    "sentiment": TextTask,
    "nli": TextTask,
    "qa": TextTask,
    "tabular": TabularTask,
}
"""Tasks by name."""
