"""Text settings from a model, a tokenizer and texts of your own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from humetric.errors import HumetricError, UnknownNameError
from humetric.models.model import Model
from humetric.models.prototypes import PrototypeModels
from humetric.models.text import TextModel
from humetric.tasks.neighbours import Neighbours, Table
from humetric.tasks.setting import Setting, outputs, same
from humetric.tasks.text import PASSAGE, REMOVALS, SEGMENTS, Texts, TextTask, Tokens, best_span
from humetric.tasks.unlabelled import Unlabelled, apart
from humetric.tasks.words import Encoder, Encoding, Span, Text

NONE = -1
"""A label that is not known."""


def text_setting(
    id: str,
    model: nn.Module,
    tokenizer: Any,
    texts: Sequence[Text] | Sequence[tuple[Text, Text]],
    *,
    task: str,
    label: Sequence[int] | Sequence[tuple[int, int]] | None = None,
    target: Sequence[int] | Sequence[tuple[int, int]] | None = None,
    ids: Sequence[str] | None = None,
    version: str = "own",
    classes: Sequence[str] = (),
    removal: str = "mask",
    split: str = "space",
    limit: int | None = None,
    longest_answer: int = 30,
    unlabelled: Sequence[Text] | Sequence[tuple[Text, Text]] | None = None,
    neighbours: Table | None = None,
    prototypes: PrototypeModels | None = None,
) -> Setting:
    """A setting of the task ``sentiment`` (texts), ``nli`` or ``qa`` (pairs of texts).

    ``model`` is a text model of humetric, or a classification or question answering model of
    ``transformers``; ``tokenizer`` a fast one of ``transformers`` or ``tokenizers``. Pairs are
    (premise, hypothesis) or (question, passage). A text is a string, or a list of its words; a
    string is cut into words at white space, or with ``split="punctuation"`` at punctuation, too.
    Words are the features; with ``split="tokens"`` the model's own tokens are (as importance
    alignment has it), whatever the method. What goes beyond the model's longest input, or ``limit``
    tokens, is not a feature; ``setting.texts.cut`` counts it.

    ``label`` and ``target`` are classes. For ``qa`` a label is a span of characters of the passage
    (start, stop), a target a pair of tokens (first, last). Without ``target`` the model's own
    predictions are explained: for ``qa`` the best span of at most ``longest_answer`` tokens.
    ``removal`` is ``mask``, ``drop`` (transformers only) or ``delete`` (not for ``qa``).

    ``unlabelled`` are more texts of the same kind, none of them a case, for methods that train a
    student of the model; without them such methods are skipped. ``neighbours`` are similar words,
    best first, with their similarity ({"good": (("fine", .8), ...)}; ``tasks.neighbours.nearest``
    makes them of word vectors), for methods that replace words; the same holds for these, and
    for ``prototypes`` (``models.prototypes.models_of``; not for ``qa``).
    """
    if task not in SEGMENTS:
        raise UnknownNameError("text task", task, SEGMENTS)
    module = as_text_model(model)
    _check_removal(removal, task, module)
    if prototypes is not None and task == "qa":
        raise HumetricError("Prototypes stand for classes, and answers to questions have none.")
    pairs = len(SEGMENTS[task]) == 2
    given = [_segments(i, text, pairs) for i, text in enumerate(texts)]
    if not given:
        raise HumetricError("Expected some texts but got none.")
    bounds = [b for b in (limit, module.limit) if b is not None]
    encoder = Encoder(tokenizer, min(bounds, default=None), split)
    encoded = [encoder.encode(segments, last_only=task == "qa") for segments in given]
    names = tuple(ids) if ids is not None else tuple(f"case-{i:04d}" for i in range(len(given)))
    _check(names, encoded, label, target, PASSAGE if task == "qa" else None)
    more = [_segments(i, text, pairs) for i, text in enumerate(unlabelled or ())]
    apart(more, given, names)
    x, shown = packed(encoded, given, SEGMENTS[task], encoder.special.pad)
    made = TextTask(
        id=task,
        words=max(len(e.words) for e in encoded),
        longest=x.shape[2],
        removed=encoder.special.removed,
        pad=encoder.special.pad,
        removal=removal,
    )
    found = outputs(module, x, 8)
    if found.ndim != (3 if made.span else 2):
        raise HumetricError(
            f"Expected a model that gives {'start and end logits' if made.span else 'classes'} for "
            f"{task} but its output has the shape {tuple(found.shape)}."
        )
    if made.span:
        own = predicted_spans(found, shown.tokens, longest_answer)
        wanted = torch.tensor(target).view(-1, 2) if target is not None else own
        _check_spans(wanted, shown.tokens)
        known = torch.full_like(own, NONE)
        if label is not None:
            spans = torch.tensor(label).view(-1, 2).tolist()
            known = torch.tensor(
                [_tokens_of(e, Span(*s)) for e, s in zip(encoded, spans, strict=True)]
            )
    else:
        wanted = torch.tensor(target) if target is not None else found.argmax(1)
        if not 0 <= int(wanted.min()) <= int(wanted.max()) < found.shape[1]:
            raise HumetricError(
                f"Expected targets from 0 to {found.shape[1] - 1} but got {wanted.tolist()}."
            )
        known = torch.tensor(label) if label is not None else wanted
    keep = torch.zeros(len(x), made.words, dtype=torch.bool)
    nothing = made.rows(keep, x, shown.tokens.word, x.shape[2])
    setting = Setting(
        id=id,
        version=f"{version}, {removal} removal, {split} split"
        + (f", unlabelled {_digest(more)}" if more else "")
        + (f", neighbours {_digest(sorted(neighbours.items()))}" if neighbours else "")
        + (f", prototypes {prototypes.version}" if prototypes else ""),
        task=made,
        model=Model(id, module, gives=module.gives, reads=module.reads),
        ids=names,
        x=x,
        baseline=nothing[:, None],
        target=wanted,
        label=known,
        classes=tuple(classes),
        texts=shown,
        unlabelled=Unlabelled(more, encoder, SEGMENTS[task]) if more else None,
        neighbours=Neighbours(neighbours, encoder, SEGMENTS[task], "own") if neighbours else None,
        prototypes=prototypes,
        encoder=encoder,
    )
    return replace(setting, panel=partial(same, setting))


def as_text_model(model: nn.Module) -> TextModel:
    """A text model; those of ``transformers`` are wrapped."""
    if isinstance(model, TextModel):
        return model.eval()
    if hasattr(model, "config") and hasattr(model, "get_input_embeddings"):
        from humetric.models.transformer import Transformer

        return Transformer(model).eval()
    raise HumetricError(
        f"Expected a model of transformers or a humetric.models.text.TextModel but got "
        f"{type(model).__name__}: subclass TextModel."
    )


def packed(
    encoded: Sequence[Encoding], raw: Sequence[tuple[Text, ...]], names: tuple[str, ...], pad: int
) -> tuple[Tensor, Texts]:
    """Inputs (cases, 3, tokens), padded at the end, and the words behind them."""
    longest = max(len(e.ids) for e in encoded)
    widest = max(len(e.words) for e in encoded)

    def table(rows: Sequence[Sequence[int]], fill: int, width: int = longest) -> Tensor:
        return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])

    x = torch.stack(
        (
            table([e.ids for e in encoded], pad),
            table([[1] * len(e.ids) for e in encoded], 0),
            table([e.types for e in encoded], 0),
        ),
        1,
    )
    tokens = Tokens(
        word=table([e.word for e in encoded], -1),
        part=table([e.part for e in encoded], -1),
        sizes=table([[e.word.count(w) for w in range(len(e.words))] for e in encoded], 0, widest),
        counts=torch.tensor([len(e.ids) for e in encoded]),
    )
    offset = [table([[o[i] for o in e.offset] for e in encoded], 0) for i in (0, 1)]
    return x, Texts(
        raw=tuple(tuple(t if isinstance(t, str) else " ".join(t) for t in texts) for texts in raw),
        words=tuple(e.words for e in encoded),
        segment=tuple(e.segment for e in encoded),
        names=names,
        cut=tuple(e.cut for e in encoded),
        tokens=tokens,
        offset=torch.stack(offset, 2),
    )


def predicted_spans(output: Tensor, tokens: Tokens, longest: int = 30) -> Tensor:
    """(cases, 2): first and last token of the best answer within each passage."""
    inside = tokens.part[:, : output.shape[2]] == PASSAGE
    found = [
        best_span(o[0], o[1], where, longest)
        for o, where in zip(output.double(), inside, strict=True)
    ]
    return torch.tensor(found)


def _digest(texts: Sequence[tuple[Any, ...]]) -> str:
    """A short name for what was given, so that results of other texts do not pass for theirs."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]


def _segments(i: int, given: Any, pairs: bool) -> tuple[Text, ...]:
    if not pairs:
        return (given,)
    if isinstance(given, str) or len(given) != 2:
        raise HumetricError(f"Expected a pair of texts but number {i} is {str(given)[:60]!r}.")
    return given[0], given[1]


def _check_removal(removal: str, task: str, module: TextModel) -> None:
    if removal not in REMOVALS:
        raise UnknownNameError("removal", removal, REMOVALS)
    if removal == "delete" and task == "qa":
        raise HumetricError(
            "Removal by deletion is not available for qa, since answers are positions: use mask."
        )
    if removal == "drop" and "attention" not in module.reads:
        raise HumetricError(
            f"Removal by dropping attention needs a transformer but the model is of the "
            f"architecture {module.architecture}: use mask or delete."
        )


def _check(
    names: Sequence[str],
    encoded: Sequence[Encoding],
    label: Sequence[Any] | None,
    target: Sequence[Any] | None,
    needed: int | None,
) -> None:
    count = len(encoded)
    for what, length in (
        ("ids", len(set(names))),
        ("labels", count if label is None else len(label)),
        ("targets", count if target is None else len(target)),
    ):
        if length != count:
            raise HumetricError(f"Expected {count} different {what} but got {length}.")
    for name, found in zip(names, encoded, strict=True):
        if not found.words:
            raise HumetricError(
                f"Expected at least one word in {name} but there is none: leave the case out."
            )
        if needed is not None and needed not in found.part:
            raise HumetricError(
                f"Expected a passage in {name} but none of it is within the model's longest input."
            )


def _check_spans(spans: Tensor, tokens: Tokens) -> None:
    for i, (first, last) in enumerate(spans.tolist()):
        width = int(tokens.counts[i])
        inside = 0 <= first <= last < width and all(
            int(tokens.part[i, at]) == PASSAGE for at in (first, last)
        )
        if not inside:
            raise HumetricError(
                f"Expected an answer within the passage but the target of case {i} is tokens "
                f"{first} to {last}."
            )


def _tokens_of(encoding: Encoding, span: Span) -> tuple[int, int]:
    """First and last token of the passage within a span of characters; NONE if there is none."""
    inside = [
        i
        for i, (part, (start, stop)) in enumerate(zip(encoding.part, encoding.offset, strict=True))
        if part == PASSAGE and start < span.stop and stop > span.start
    ]
    return (inside[0], inside[-1]) if inside else (NONE, NONE)
