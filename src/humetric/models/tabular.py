"""Models of rows of a table.

A model is called with (rows, columns) plain numbers, categories by their place in the column's
list, and gives (rows, classes) logits. A differentiable one first encodes them: a number becomes
its distance from the mean in standard deviations, a category as many numbers as its column has
categories, all 0 but one. Gradient methods start at the encoded numbers and sum to columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from humetric.cards import Access
from humetric.errors import AccessError, HumetricError

Predict = Callable[[NDArray[np.float64]], ArrayLike]
"""Rows as they are -> probabilities (rows, classes), or (rows,) of the second of two classes."""


class Encoding(nn.Module):
    """Rows as a network takes them: (rows, columns) -> (rows, width).

    ``sizes`` has the number of categories of each column, 0 for a number. It keeps its own
    precision when a model is converted: rounded means would move every row.
    """

    source: Tensor
    """(width,) int64: the column that each encoded number comes from."""
    code: Tensor
    shift: Tensor
    scale: Tensor

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        source = [j for j, size in enumerate(self.sizes) for _ in range(max(1, size))]
        code = [k if size else -1 for size in self.sizes for k in range(max(1, size))]
        self.register_buffer("source", torch.tensor(source), persistent=False)
        self.register_buffer("code", torch.tensor(code), persistent=False)
        self.register_buffer("shift", torch.zeros(len(source)))
        self.register_buffer("scale", torch.ones(len(source)))

    def fit(self, rows: Tensor) -> Self:
        """Means and standard deviations of number columns, from training rows."""
        for place, (column, code) in enumerate(zip(self.source, self.code, strict=True)):
            if code < 0:
                values = rows[:, column].double()
                self.shift[place] = values.mean()
                self.scale[place] = values.std().clamp(min=1e-6)
        return self

    def forward(self, x: Tensor) -> Tensor:
        """Encoded rows in the precision that they came in."""
        values = x.index_select(1, self.source)
        numbers = (values - self.shift.to(x.dtype)) / self.scale.to(x.dtype)
        return torch.where(self.code < 0, numbers, (values == self.code).to(x.dtype))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Go to another device, never to another precision."""
        moved: Self = super()._apply(lambda t: t.to(fn(t).device), recurse)  # type: ignore[no-untyped-call]
        return moved


class TabularModel(nn.Module):
    """A module from rows to logits."""

    gives: ClassVar[frozenset[Access]] = frozenset(("predict",))
    reads: frozenset[str] = frozenset()
    """Which internals there are: ``coefficients``, ``features``."""

    def encode(self, x: Tensor) -> Tensor:
        """(rows, width): rows as numbers that can be differentiated."""
        raise AccessError("This model takes rows as they are: it has no encoding.")

    def from_encoded(self, encoded: Tensor) -> Tensor:
        """Logits of encoded rows."""
        raise AccessError("This model takes rows as they are: it has no encoding.")

    @property
    def source(self) -> Tensor:
        """(width,) int64: the column of each encoded number."""
        raise AccessError("This model takes rows as they are: it has no encoding.")

    def features(self, x: Tensor) -> Tensor:
        """(rows, width): what the last layer sees."""
        raise AccessError("This model has no hidden layer.")

    def contributions(self, x: Tensor) -> Tensor:
        """(rows, width, classes): what each encoded number adds to a linear model's logits."""
        raise AccessError("This model is not linear in its encoded inputs.")


class MLP(TabularModel):
    """Hidden layers with ReLU over encoded rows; without any it is logistic regression."""

    architecture: ClassVar[str] = "mlp"
    gives: ClassVar[frozenset[Access]] = frozenset(("predict", "gradient", "internals"))

    def __init__(self, sizes: Sequence[int], hidden: Sequence[int] = (50, 50), classes: int = 2):
        super().__init__()
        self.config = {"sizes": list(sizes), "hidden": list(hidden), "classes": classes}
        self.reads = frozenset(("features",) if hidden else ("coefficients",))
        self.encoding = Encoding(sizes)
        widths = [len(self.encoding.source), *hidden]
        layers = [nn.Linear(a, b) for a, b in pairwise(widths)]
        self.body = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))
        self.head = nn.Linear(widths[-1], classes)

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        return cls(**config)

    def config_dict(self) -> dict[str, Any]:
        return dict(self.config)

    def forward(self, x: Tensor) -> Tensor:
        return self.from_encoded(self.encode(x))

    @property
    def source(self) -> Tensor:
        return self.encoding.source

    def encode(self, x: Tensor) -> Tensor:
        encoded: Tensor = self.encoding(x)
        return encoded

    def from_encoded(self, encoded: Tensor) -> Tensor:
        logits: Tensor = self.head(self.body(encoded.to(self.head.weight.dtype)))
        return logits

    def features(self, x: Tensor) -> Tensor:
        if not len(self.body):
            return super().features(x)
        seen: Tensor = self.body(self.encode(x).to(self.head.weight.dtype))
        return seen

    def contributions(self, x: Tensor) -> Tensor:
        if len(self.body):
            return super().contributions(x)
        encoded = self.encode(x).to(self.head.weight.dtype)
        return encoded[:, :, None] * self.head.weight.T


class BlackBox(TabularModel):
    """Any function from rows to probabilities; its logits are their logarithms.

    It is called on the host with double precision numbers, whatever the device: that is what a
    function in another library takes.
    """

    LEAST = 1e-12
    """Probabilities are kept above this, since a logarithm needs one."""

    def __init__(self, predict: Predict) -> None:
        super().__init__()
        self.predict = predict

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same function: a connection or a lock behind it cannot be copied."""
        return type(self)(self.predict)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.detach().cpu().double().numpy()
        try:
            found = np.asarray(self.predict(rows), dtype=np.float64)
        except MemoryError:
            raise  # the engine asks for fewer rows at once
        except Exception as error:
            raise HumetricError(
                f"predict raised {type(error).__name__}: {error}, when asked about rows of shape "
                f"{rows.shape}."
            ) from error
        if found.ndim == 1:
            found = np.stack((1 - found, found), 1)
        shaped = found.ndim == 2 and len(found) == len(x) and found.shape[1] > 1
        fine = (found >= -1e-9).all(1) & (np.abs(found.sum(1) - 1) <= 1e-4) if shaped else shaped
        if not np.all(fine):
            example = f", e.g. {found[np.argmin(fine)].tolist()}" if shaped else ""
            raise HumetricError(
                f"Expected probabilities of shape ({len(x)}, classes) that sum to 1, or "
                f"({len(x)},) of the second class, but predict gave an array of shape "
                f"{found.shape}{example}."
            )
        logits = np.log(np.maximum(found, self.LEAST))
        return torch.from_numpy(logits).to(device=x.device, dtype=x.dtype)
