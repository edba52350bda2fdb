"""The engine: the only place that questions a model in bulk."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import torch
from torch import Tensor, nn

from humetric.engine.duplicates import drop_duplicates
from humetric.engine.questions import (
    Answers,
    Program,
    Questions,
    checked_questions,
    on_host,
    same_questions,
)
from humetric.errors import HumetricError, OutOfMemoryError
from humetric.tasks.cases import Cases

T = TypeVar("T")

STARVED = ("can't allocate memory", "CUDNN_STATUS_ALLOC_FAILED", "CUBLAS_STATUS_ALLOC_FAILED")
"""How libraries say that memory ran out when they do not raise torch.OutOfMemoryError."""


@dataclass
class Engine:
    """Answers questions about one chunk of cases, in full batches, each question once.

    ``module`` may be a copy of the cases' model in another precision. ``progress`` is told how
    many rows were evaluated after each batch.
    """

    cases: Cases
    module: nn.Module
    dtype: torch.dtype = torch.float32
    batch_size: int = 32
    progress: Callable[[int], object] = lambda rows: None
    rows: int = field(default=0, init=False)
    """Inputs that the model was called with so far."""
    shared: dict[Hashable, tuple[Questions, Answers]] = field(default_factory=dict, init=False)
    """Questions that have a key, with their answers."""

    def __post_init__(self) -> None:
        task, cases = self.cases.task, self.cases
        self._x = task.store(cases.x).to(self.dtype)
        self._fill = task.store(cases.baseline).to(self.dtype)
        self._buffer = self._x[:0]

    def run(self, programs: Sequence[Program[T]]) -> list[T | Exception]:
        """Run programs side by side, round by round; one that raises does not stop the others."""
        outcomes: list[T | Exception | None] = [None] * len(programs)
        waiting: dict[int, Sequence[Questions]] = {}

        def advance(i: int, answers: Sequence[Answers] | None) -> None:
            try:
                asked = next(programs[i]) if answers is None else programs[i].send(answers)
                waiting[i] = checked_questions(asked, self.cases)
            except StopIteration as stop:
                outcomes[i] = stop.value
            except Exception as error:
                outcomes[i] = error

        for i in range(len(programs)):
            advance(i, None)
        while waiting:
            asked, waiting = waiting, {}
            answers = iter(self.ask([q for questions in asked.values() for q in questions]))
            for i, questions in asked.items():
                advance(i, list(itertools.islice(answers, len(questions))))
        return outcomes  # type: ignore[return-value]

    def ask(self, asked: Sequence[Questions]) -> list[Answers]:
        """Answers to all questions, row by row; what was asked before is not asked again."""
        fresh: dict[Hashable, Questions] = {}
        for q in asked:
            if q.key is not None:
                known = self.shared[q.key][0] if q.key in self.shared else fresh.get(q.key, q)
                if not same_questions(known, q):
                    raise HumetricError(
                        f"Two different sets of questions came under the key {q.key!r}: put every "
                        f"parameter that they depend on into the key."
                    )
                if q.key not in self.shared:
                    fresh[q.key] = q
        single = [i for i, q in enumerate(asked) if q.key is None]
        families, places = drop_duplicates([*fresh.values(), *(asked[i] for i in single)])
        evaluated = self.evaluate([self._on_device(f) for f in families])
        host = on_host(torch.cat(evaluated)).split([len(f) for f in families]) if families else ()
        found = [Answers(*host[family][rows].unbind(1)) for family, rows in places]
        for (key, questions), answers in zip(fresh.items(), found, strict=False):
            self.shared[key] = (questions, answers)
        alone = dict(zip(single, found[len(fresh) :], strict=True))
        return [
            self.shared[q.key][1] if q.key is not None else alone[i] for i, q in enumerate(asked)
        ]

    @torch.inference_mode()
    def evaluate(self, families: Sequence[Questions]) -> list[Tensor]:
        """The hot loop: (rows, 2) answers of each family, left on the device.

        Nothing in here copies to the host, waits for the device or looks at a case by itself.
        """
        draws = [1 if f.fill is not None else self._fill.shape[1] for f in families]
        sizes = [len(f) * d for f, d in zip(families, draws, strict=True)]
        ends = list(itertools.accumulate(sizes))
        total = ends[-1] if ends else 0
        device, kind = self._x.device, torch.promote_types(self.dtype, torch.float32)
        out = torch.empty(total, 2, device=device, dtype=kind)
        if total == 0:
            return [out for _ in families]
        case = torch.cat(
            [f.case.repeat_interleave(d) for f, d in zip(families, draws, strict=True)]
        )
        done = 0
        while done < total:
            stop = min(total, done + self.batch_size)
            try:
                buffer = self._rows(stop - done)
                batch = case[done:stop]
                torch.index_select(self._x, 0, batch, out=buffer)
                for i in range(bisect.bisect_right(ends, done), len(families)):
                    start = ends[i] - sizes[i]
                    if start >= stop:
                        break
                    low, high = max(done, start), min(stop, ends[i])
                    self._replace(
                        families[i], buffer[low - done : high - done], low - start, high - start
                    )
                output = self.module(self.cases.task.model_inputs(buffer))
                target = self.cases.target.index_select(0, batch)
                out[done:stop] = self.cases.task.answer(output, target)
            except (RuntimeError, MemoryError) as error:
                self._back_off(error)
                continue
            self.rows += stop - done
            self.progress(stop - done)
            done = stop
        answers = out.split(sizes)
        return [
            a if d == 1 else a.view(-1, d, 2).mean(1) for a, d in zip(answers, draws, strict=True)
        ]

    def _replace(self, family: Questions, x: Tensor, start: int, stop: int) -> None:
        """Replace features in rows start to stop of a family, counted with draws, in place."""
        task, (owners, draws) = self.cases.task, self._fill.shape[:2]
        if family.fill is not None:
            keep = family.masks.make(start, stop, self.dtype)
            task.mix(x, family.fill[start:stop], keep)
        elif draws == 1:
            keep = family.masks.make(start, stop, self.dtype)
            fill = self._fill[:, 0]
            if owners > 1:
                fill = fill.index_select(0, family.case[start:stop])
            task.mix(x, fill, keep)
        else:
            first = start // draws
            row = torch.arange(start, stop, device=x.device)
            question = row.div(draws, rounding_mode="floor")
            keep = family.masks.make(first, (stop - 1) // draws + 1, self.dtype)
            fill = self._fill.flatten(0, 1)
            owner = family.case.index_select(0, question) * draws if owners > 1 else 0
            fill = fill.index_select(0, owner + row.remainder(draws))
            task.mix(x, fill, keep.index_select(0, question - first))

    def _rows(self, rows: int) -> Tensor:
        """Room for a batch of inputs, kept between batches."""
        if len(self._buffer) < rows:
            self._buffer = self._x.new_empty(min(rows, self.batch_size), *self._x.shape[1:])
        return self._buffer[:rows]

    def _back_off(self, error: RuntimeError | MemoryError) -> None:
        """Halve the batch if memory ran out; raise anything else."""
        starved = isinstance(error, torch.OutOfMemoryError | MemoryError)
        if not starved and not any(words in str(error) for words in STARVED):
            raise error
        if self.batch_size == 1:
            raise OutOfMemoryError(
                f"Not even one input of shape {tuple(self.cases.x.shape[1:])} fits into the memory "
                f"of {self._x.device}: free some, or use another --device or --precision bf16."
            ) from error
        self.batch_size //= 2
        self._buffer = self._x[:0]
        if self._x.device.type == "cuda":
            torch.cuda.empty_cache()

    def _on_device(self, family: Questions) -> Questions:
        """A family where the engine works, its fills in the layout and precision it works in."""
        device, fill = self._x.device, family.fill
        if fill is not None:
            fill = self.cases.task.store(fill).to(device, self.dtype)
        case, masks = family.case.to(device), family.masks.to(device)
        return replace(family, case=case, masks=masks, fill=fill)
