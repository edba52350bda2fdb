"""Any encoder of ``transformers`` with a classification or a question answering head.

A hub model with 512 positions and an embedded one of two layers take the same path::

    Transformer(AutoModelForSequenceClassification.from_pretrained(...))
    Transformer.make({"head": "classification", "model_type": "bert", "hidden_size": 64, ...})
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from humetric.errors import HumetricError
from humetric.models.text import TextModel

VOLATILE = ("transformers_version", "_name_or_path", "architectures", "dtype", "torch_dtype")
"""Entries of a configuration that say nothing of the architecture."""


class Transformer(TextModel):
    """Wraps a sequence classification or question answering model."""

    architecture: ClassVar[str] = "transformer"
    reads: ClassVar[frozenset[str]] = frozenset(("attention",))

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        config: Any = model.config
        self.span = hasattr(model, "qa_outputs")
        takes = inspect.signature(model.forward).parameters
        if "inputs_embeds" not in takes:
            raise HumetricError(
                f"Expected an encoder that takes inputs_embeds but got {type(model).__name__}."
            )
        self.takes_types = "token_type_ids" in takes and getattr(config, "type_vocab_size", 2) > 1
        # RoBERTa and its kin number positions from the padding id on: two of them are never used.
        positions: int | None = getattr(config, "max_position_embeddings", None)
        offset = any(k in config.model_type for k in ("roberta", "camembert", "mpnet"))
        self.limit = positions - 2 if positions and offset else positions

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        """A model with random weights; ``head`` is ``classification`` or ``span``."""
        from transformers import (
            AutoConfig,
            AutoModelForQuestionAnswering,
            AutoModelForSequenceClassification,
        )

        rest = {k: v for k, v in config.items() if k not in ("head", "model_type")}
        made = AutoConfig.for_model(config["model_type"], **rest)
        heads: dict[str, Any] = {
            "classification": AutoModelForSequenceClassification,
            "span": AutoModelForQuestionAnswering,
        }
        return cls(heads[config["head"]].from_config(made))

    def config_dict(self) -> dict[str, Any]:
        config: Any = self.model.config
        plain = {k: v for k, v in config.to_diff_dict().items() if k not in VOLATILE}
        return {**plain, "head": "span" if self.span else "classification"}

    def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        given = self._given(attention, types)
        return self._logits(self.model(input_ids=ids, **given))

    def embed(self, ids: Tensor) -> Tensor:
        layer: nn.Module = self.model.get_input_embeddings()  # type: ignore[operator]
        embedded: Tensor = layer(ids)
        return embedded

    def from_embeddings(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        given = self._given(attention, types)
        return self._logits(self.model(inputs_embeds=embedded, **given))

    def attentions(self, ids: Tensor, attention: Tensor, types: Tensor) -> list[Tensor]:
        model: Any = self.model
        fast = model.config._attn_implementation
        model.set_attn_implementation("eager")  # the fast kernels do not give their weights
        try:
            given = self._given(attention, types)
            found = model(input_ids=ids, output_attentions=True, **given)
        finally:
            model.set_attn_implementation(fast)
        return list(found.attentions)

    def _given(self, attention: Tensor, types: Tensor) -> dict[str, Tensor]:
        """What goes with ids or embeddings.

        Given a flat mask, the library looks at its values on the host to see whether there is
        padding at all; given one for each pair of tokens it does not.
        """
        config: Any = self.model.config
        pairwise = config._attn_implementation == "sdpa"
        mask = attention.bool()[:, None, None, :] if pairwise else attention
        return {"attention_mask": mask} | ({"token_type_ids": types} if self.takes_types else {})

    def _logits(self, output: Any) -> Tensor:
        if self.span:
            return torch.stack((output.start_logits, output.end_logits), 1)
        logits: Tensor = output.logits
        return logits
