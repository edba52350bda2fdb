"""WordPiece tokenizers: trained on generated text, kept as tokenizer.json, read by transformers.

Lower case, words and punctuation apart, rare words in pieces ("tennmann" -> "tenn", "##mann"). The
special tokens are BERT's, so that the code that serves a hub model serves these. One sequence is
[CLS] a [SEP], two are [CLS] a [SEP] b [SEP], with types 0 and 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count, pairwise
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"-()&/%"
"""Always known, because one unknown letter makes the whole word unknown."""


def train(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """A tokenizer of at most `vocabulary` entries."""
    normal, words = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(w for w, _ in words.pre_tokenize_str(normal.normalize_str(text)))
    entries = dict(
        zip((*SPECIAL, *pieces(counts, vocabulary - len(SPECIAL))), count(), strict=False)
    )
    tokenizer = Tokenizer(models.WordPiece(entries, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normal, words
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    return tokenizer


def pieces(counts: Mapping[str, int], size: int) -> list[str]:
    """So many word pieces: all letters, then what merging the commonest neighbours gives.

    This is what the trainer of `tokenizers` does, except that of pairs that are equally common the
    alphabetically first is merged. There the choice hangs on a hash that differs from run to run.
    """
    found = [*LETTERS, *(f"##{letter}" for letter in LETTERS if letter.isalnum())]
    found += sorted({letter for word in counts for letter in word} - set(LETTERS))
    split = {word: [word[0], *(f"##{letter}" for letter in word[1:])] for word in sorted(counts)}
    while len(found) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in split.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        if not pairs:
            break
        first, second = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merged = first + second.removeprefix("##")
        found.append(merged)
        for parts in split.values():
            for place in range(len(parts) - 1, 0, -1):
                if parts[place - 1 : place + 1] == [first, second]:
                    parts[place - 1 : place + 1] = [merged]
    return list(dict.fromkeys(found))


def load(file: Path, longest: int) -> PreTrainedTokenizerFast:
    """The tokenizer in a tokenizer.json, as transformers offers it."""
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_file=str(file),
        model_max_length=longest,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
