"""humetric: automatic metrics of explanations, against what people make of the explanations."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from humetric.methods import METHODS, Method, method
    from humetric.methods.captum import from_captum
    from humetric.metrics import METRICS, Metric, metric
    from humetric.run.evaluate import evaluate, run_settings
    from humetric.suites import load_suite
    from humetric.tasks.image_setting import image_setting
    from humetric.tasks.named import load_setting
    from humetric.tasks.setting import Setting
    from humetric.tasks.table import Column
    from humetric.tasks.tabular_setting import tabular_setting
    from humetric.tasks.text_setting import text_setting

_HOMES = {
    "Column": "humetric.tasks.table",
    "METHODS": "humetric.methods",
    "METRICS": "humetric.metrics",
    "Method": "humetric.methods",
    "Metric": "humetric.metrics",
    "Setting": "humetric.tasks.setting",
    "evaluate": "humetric.run.evaluate",
    "from_captum": "humetric.methods.captum",
    "image_setting": "humetric.tasks.image_setting",
    "load_setting": "humetric.tasks.named",
    "load_suite": "humetric.suites",
    "method": "humetric.methods",
    "metric": "humetric.metrics",
    "run_settings": "humetric.run.evaluate",
    "tabular_setting": "humetric.tasks.tabular_setting",
    "text_setting": "humetric.tasks.text_setting",
}

__all__ = [
    "METHODS",
    "METRICS",
    "Column",
    "Method",
    "Metric",
    "Setting",
    "evaluate",
    "from_captum",
    "image_setting",
    "load_setting",
    "load_suite",
    "method",
    "metric",
    "run_settings",
    "tabular_setting",
    "text_setting",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: ``humetric.blackbox`` must not import torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'humetric' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
