"""The engine: the only place that questions a model in bulk."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from humetric.engine.duplicates import drop_duplicates
from humetric.engine.questions import (
    Answers,
    Program,
    Questions,
    View,
    blocks,
    checked_questions,
    make,
    on_host,
    same_questions,
)
from humetric.engine.sequences import in_words, sorted_rows, with_lengths
from humetric.errors import HumetricError, OutOfMemoryError
from humetric.tasks.cases import Cases

T = TypeVar("T")

STARVED = ("can't allocate memory", "CUDNN_STATUS_ALLOC_FAILED", "CUBLAS_STATUS_ALLOC_FAILED")
"""How libraries say that memory ran out when they do not raise torch.OutOfMemoryError."""

AHEAD = 1 << 25
"""Bytes of inputs that are made at once, at least those of one batch: few operations on many rows
cost less than many on few."""

READ_AT_ONCE = 1 << 20
"""Numbers of the model's output that are kept until answers are read off them."""


class Memory(Protocol):
    """Keeps answers to questions that depend on the cases alone."""

    def recall(self, questions: Questions) -> Answers | None:
        """The answers, if they are known."""
        ...

    def remember(self, questions: Questions, answers: Answers, calls: int) -> None:
        """Keep answers that took so many model calls."""
        ...


class Rows:
    """Which rows of which family come next; one family at a time is held in full width."""

    def __init__(self, families: Sequence[Questions], sizes: list[int], times: int) -> None:
        self.families, self.sizes, self.times = families, sizes, times
        self.ends = list(itertools.accumulate(sizes))
        self._held, self._wide = -1, families[0]

    def pieces(self, first: int, stop: int) -> Iterator[tuple[Questions, slice, slice]]:
        """Families in rows first to stop of all: (family, rows of the family, rows of all)."""
        for i in range(bisect.bisect_right(self.ends, first), len(self.families)):
            start = self.ends[i] - self.sizes[i]
            if start >= stop:
                return
            if self._held != i:
                self._held, self._wide = i, self.families[i].widen(self.times)
            low, high = max(first, start), min(stop, self.ends[i])
            yield self._wide, slice(low - start, high - start), slice(low, high)


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
    memory: Memory | None = None
    """Where answers to shared questions are kept beyond this engine's life."""
    rows: int = field(default=0, init=False)
    """Inputs that the model was called with so far."""
    asked: int = field(default=0, init=False)
    """Questions so far, whether they were new or not: what a method or metric alone would cost."""
    shared: dict[Hashable, tuple[Questions, Answers]] = field(default_factory=dict, init=False)
    """Questions that have a key, with their answers."""
    _beside: dict[View, Engine] = field(default_factory=dict, init=False, repr=False)
    """Engines that ask other models than the explained one about the same cases."""

    def __post_init__(self) -> None:
        task, cases = self.cases.task, self.cases
        self._x, self._fill = task.store(cases.x), task.store(cases.baseline)
        if not task.exact:
            self._x, self._fill = self._x.to(self.dtype), self._fill.to(self.dtype)
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
        views = dict.fromkeys(q.view for q in asked)
        if any(view is not None for view in views):
            return self._ask_all(asked, list(views))
        fresh: dict[Hashable, Questions] = {}
        self.asked += sum(map(len, asked))
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
        if self.memory is not None:
            for q in fresh.values():
                self.shared[q.key] = (q, self._recall(q, self.memory))
            fresh = {}
        single = [i for i, q in enumerate(asked) if q.key is None]
        found = self._answer([*fresh.values(), *(asked[i] for i in single)])
        for (key, questions), answers in zip(fresh.items(), found, strict=False):
            self.shared[key] = (questions, answers)
        alone = dict(zip(single, found[len(fresh) :], strict=True))
        return [
            self.shared[q.key][1] if q.key is not None else alone[i] for i, q in enumerate(asked)
        ]

    def _ask_all(self, asked: Sequence[Questions], views: list[View | None]) -> list[Answers]:
        """The same where some questions are to other models: to each its own."""
        found: dict[int, Answers] = {}
        for view in views:
            mine = [i for i, q in enumerate(asked) if q.view is view]
            own = [replace(asked[i], view=None) for i in mine]
            if view is None:
                found.update(zip(mine, self.ask(own), strict=True))
                continue
            engine = self._beside.setdefault(view, self._viewing(view))
            before = engine.rows, engine.asked
            found.update(zip(mine, engine.ask(own), strict=True))
            self.rows += engine.rows - before[0]
            self.asked += engine.asked - before[1]
        return [found[i] for i in range(len(asked))]

    def _viewing(self, view: View) -> Engine:
        """An engine for another view of the cases, in full precision."""
        cases = replace(
            self.cases,
            task=view.task,
            model=replace(self.cases.model, module=view.module),
            target=view.target.to(self.cases.device),
            baseline=self.cases.baseline if view.baseline is None else view.baseline,
        )
        return type(self)(cases, view.module, cases.dtype, self.batch_size, self.progress)

    def _recall(self, questions: Questions, memory: Memory) -> Answers:
        """Answers from earlier work; or new ones, asked apart from everything else.

        What is kept must not depend, not even in the last bit, on what else was asked with it.
        """
        known = memory.recall(questions)
        if known is None:
            before = self.rows
            (known,) = self._answer([questions])
            memory.remember(questions, known, self.rows - before)
        return known

    def _answer(self, asked: Sequence[Questions]) -> list[Answers]:
        """Answers to questions that are new, duplicates among them asked once."""
        if self.cases.texts is not None:
            asked = [q if q.fill is not None else in_words(q, self.cases) for q in asked]
        families, places = drop_duplicates(asked)
        evaluated = self.evaluate([self._on_device(f) for f in families])
        host = on_host(torch.cat(evaluated)).split([len(f) for f in families]) if families else ()
        return [Answers(*host[family][rows].unbind(1)) for family, rows in places]

    @torch.inference_mode()
    def evaluate(self, families: Sequence[Questions]) -> list[Tensor]:
        """The hot loop: (rows, 3) answers of each family, left on the device.

        Nothing in here copies to the host, waits for the device or looks at a case by itself.
        """
        if self.cases.texts is not None and families:
            return self._evaluate_texts(families)
        draws = [1 if f.fill is not None else self._fill.shape[1] for f in families]
        sizes = [len(f) * d for f, d in zip(families, draws, strict=True)]
        total = sum(sizes)
        device, kind = self._x.device, torch.promote_types(self.dtype, torch.float32)
        out = torch.empty(total, 3, device=device, dtype=kind)
        if total == 0:
            return [out for _ in families]
        case = torch.cat(
            [f.case.repeat_interleave(d) for f, d in zip(families, draws, strict=True)]
        )
        rows = Rows(families, sizes, self.cases.task.numbers)
        buffer, first, ready = self._buffer, 0, 0  # rows first to ready are in the buffer
        kept: Tensor | None = None
        done = read = 0  # rows to done are evaluated, those to read are answered
        while done < total:
            stop = min(total, done + self.batch_size)
            try:
                if stop > ready:
                    ahead = min(total, done + self._ahead())
                    buffer = self._rows(ahead - done)
                    for family, some, place in rows.pieces(done, ahead):
                        self._replace(
                            family,
                            case[place],
                            some,
                            buffer[place.start - done : place.stop - done],
                        )
                    first, ready = done, ahead
                inputs = buffer[done - first : stop - first]
                output = self.module(self.cases.task.model_inputs(inputs))
            except (RuntimeError, MemoryError) as error:
                self._back_off(error)
                ready = done  # a module may have overwritten its inputs
                continue
            self.rows += stop - done
            self.progress(stop - done)
            if kept is None:  # outputs in one place: many small ones would break up the heap
                kept = output.new_empty(
                    max(READ_AT_ONCE // output[0].numel(), len(output)), *output.shape[1:]
                )
            kept[done - read : stop - read] = output
            done = stop
            if done == total or done - read + self.batch_size > len(kept):
                target = self.cases.target.index_select(0, case[read:done])
                out[read:done] = self.cases.task.answer(kept[: done - read], target)
                read = done
        answers = out.split(sizes)
        return [
            a if d == 1 else a.view(-1, d, 3).mean(1) for a, d in zip(answers, draws, strict=True)
        ]

    def _evaluate_texts(self, families: Sequence[Questions]) -> list[Tensor]:
        """The same for rows of different lengths: longest first, bounded in tokens."""
        found: list[Tensor] = [torch.empty(0)] * len(families)
        for replaced in (False, True):  # whole inputs in the place of a case's, or words removed
            some = [i for i, f in enumerate(families) if (f.fill is not None) == replaced]
            if some:
                answers = self._evaluate_sorted([families[i] for i in some])
                for i, each in zip(some, answers, strict=True):
                    found[i] = each
        return found

    def _evaluate_sorted(self, families: Sequence[Questions]) -> list[Tensor]:
        """Families that are all about words removed, or all about other inputs."""
        task, texts = self.cases.text()
        tokens, device = texts.tokens, self._x.device
        kind = torch.promote_types(self.dtype, torch.float32)
        rows = sorted_rows(families, device)
        out = torch.empty(rows.total, 3, device=device, dtype=kind)
        done = 0
        while done < rows.total:
            stop, width = rows.batch(done, self.batch_size * task.longest)
            case = rows.case[done:stop]
            try:
                if rows.inputs is not None:
                    inputs = rows.inputs[done:stop, :, :width]
                else:
                    keep, word = rows.keep[done:stop], tokens.word.index_select(0, case)
                    inputs = task.rows(keep, self._x.index_select(0, case), word, width)
                output = self.module(*inputs.unbind(1))
            except (RuntimeError, MemoryError) as error:
                self._back_off(error)
                continue
            self.rows += stop - done
            self.progress(stop - done)
            part = tokens.part.index_select(0, case) if task.span else None
            target = self.cases.target.index_select(0, case)
            out[done:stop] = task.answer(output, target, part)
            done = stop
        answers = torch.empty_like(out).index_copy_(0, rows.order, out)
        return list(answers.split([len(f) for f in families]))

    def _replace(self, family: Questions, case: Tensor, rows: slice, out: Tensor) -> None:
        """Write the inputs of some rows of a family, counted with draws.

        Masks go where the inputs will be and are then overwritten by them, block by block: what is
        common to a run of rows is read from one place. So little memory is touched between two
        forward passes, which is what this costs on a CPU.
        """
        task, start, stop = self.cases.task, rows.start, rows.stop
        owners, draws = self._fill.shape[:2] if family.fill is None else (0, 1)
        if draws == 1:
            family.masks.write(start, stop, out)
        else:
            row = torch.arange(start, stop, device=out.device)
            first, question = start // draws, row.div(draws, rounding_mode="floor")
            keep = make(family.masks, first, (stop - 1) // draws + 1, out.dtype)
            torch.index_select(keep, 0, question - first, out=out)
            place = row.remainder(draws) + (case * draws if owners > 1 else 0)
        for low, high, length in blocks(start, stop, family.run * draws):
            part = slice(low - start, high - start)
            block = out[part].view(-1, length, out.shape[1])
            owner = case[part.start : part.stop : length]
            if family.fill is not None:
                fill = family.fill[low:high].view_as(block)
            elif draws > 1:
                fill = self._fill.flatten(0, 1).index_select(0, place[part]).view_as(block)
            elif owners > 1:
                fill = self._fill[:, 0].index_select(0, owner)[:, None]
            else:
                fill = self._fill[0]
            task.mix(block, self._x.index_select(0, owner)[:, None], fill)

    def _ahead(self) -> int:
        """Rows whose inputs are made at once: whole batches, so that few operations make many."""
        row = self._x[0].numel() * self._x.element_size()
        return max(1, AHEAD // (row * self.batch_size)) * self.batch_size

    def _rows(self, rows: int) -> Tensor:
        """Room for inputs, kept between batches."""
        if len(self._buffer) < rows:
            self._buffer = self._x.new_empty(rows, *self._x.shape[1:])
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
            fill = self.cases.task.store(fill).to(device, self._x.dtype)
        if self.cases.texts is not None:
            family = with_lengths(family, self.cases)
        case, masks = family.case.to(device), family.masks.to(device)
        return replace(family, case=case, masks=masks, fill=fill)
