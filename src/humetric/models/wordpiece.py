"""WordPiece tokenizers: trained on generated text, kept as tokenizer.json, read by transformers.

Lower case, words and punctuation apart, rare words in pieces ("tennmann" -> "tenn", "##mann"). The
special tokens are BERT's, so that the code that serves a hub model serves these. One sequence is
[CLS] a [SEP], two are [CLS] a [SEP] b [SEP], with types 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import WordPieceTrainer
from transformers import PreTrainedTokenizerFast

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)


def train(texts: Iterable[str], vocabulary: int, least: int = 2) -> Tokenizer:
    """A tokenizer of at most `vocabulary` entries, each seen `least` times in `texts`."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = WordPieceTrainer(
        vocab_size=vocabulary,
        min_frequency=least,
        special_tokens=list(SPECIAL),
        show_progress=False,
        # Letters that training did not hold would make a whole word unknown.
        initial_alphabet=list("abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"-()&/%"),
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    return tokenizer


def load(file: Path, longest: int) -> PreTrainedTokenizerFast:
    """The tokenizer in a tokenizer.json, as transformers offers it."""
    return PreTrainedTokenizerFast(
        tokenizer_file=str(file),
        model_max_length=longest,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
