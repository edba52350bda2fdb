"""Pretrained models of the paper suite: the studies' own, by their names on the hub.

Commits are those that many public repositories pin. Checksums and sizes are declared where these
record them, too; sizes of other weights are four bytes for each parameter. Where a repository has
no safetensors at a commit that we could confirm, none is recorded and the hub is refused: a mirror
holds the files, converted as docs/paper.md shows.
"""

from __future__ import annotations

from humetric.data.sources.source import Hub, Part, Source

CONVERT = "convert the hub's pytorch_model.bin as docs/paper.md shows"


def _parts(size: int, sha256: dict[str, str]) -> tuple[Part, ...]:
    """The weights, of so many bytes, and what goes with them."""
    weights = Part("model.safetensors", size, sha256.get("model.safetensors", ""))
    return (weights, *(Part(n, 0, s) for n, s in sha256.items() if n != weights.name))


UNKNOWN = {"config.json": "", "tokenizer.json": ""}

ENCODERS = (
    Source(
        "bert-base-uncased",
        "weights",
        "BERT base, uncased: 12 layers, 768 wide",
        "Apache-2.0",
        "Devlin et al. 2019, NAACL, arXiv:1810.04805",
        _parts(
            440_449_768,
            {
                "model.safetensors": (
                    "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3"
                ),
                "config.json": "7160e1553ad2ca51d8c1cb066be533db31826e12d173824c1bb0cb1a4f187d20",
                "tokenizer.json": (
                    "ce64fce797c24f68df90b40a3f74f579b336a493db14bd583fd520ea0d8c9a98"
                ),
            },
        ),
        hub=Hub("google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"),
    ),
    Source(
        "bert-large-uncased",
        "weights",
        "BERT large, uncased: 24 layers, 1024 wide",
        "Apache-2.0",
        "Devlin et al. 2019, NAACL, arXiv:1810.04805",
        _parts(1_340_567_552, UNKNOWN),
        hub=Hub("google-bert/bert-large-uncased", "6da4b6a26a1877e173fca3225479512db81a5e5b"),
    ),
    Source(
        "roberta-base",
        "weights",
        "RoBERTa base: 12 layers, 768 wide",
        "MIT",
        "Liu et al. 2019, arXiv:1907.11692",
        _parts(
            498_818_054,
            {
                "model.safetensors": (
                    "5bde1d28afb363d0103324efeb5afc8b2b397fe5e04beabb9b1ef355255ade81"
                ),
                "config.json": "ef0185e2aae6e06c5f105a285006952c340e20c7dbf43c86ec82601b13fc45e9",
                "tokenizer.json": (
                    "847bbeab6174d66a88898f729d52fa8d355fafe1bea101cf960dd404581df70e"
                ),
            },
        ),
        hub=Hub("FacebookAI/roberta-base", "e2da8e2f811d1448a5b465c236feacd80ffbac7b"),
    ),
    Source(
        "roberta-large",
        "weights",
        "RoBERTa large: 24 layers, 1024 wide",
        "MIT",
        "Liu et al. 2019, arXiv:1907.11692",
        _parts(1_421_438_976, UNKNOWN),
        hub=Hub("FacebookAI/roberta-large", "722cf37b1afa9454edce342e7895e588b6ff1d59"),
    ),
    Source(
        "electra-base-discriminator",
        "weights",
        "ELECTRA base, the discriminator: 12 layers, 768 wide",
        "Apache-2.0",
        "Clark et al. 2020, ICLR, arXiv:2003.10555",
        _parts(435_566_592, UNKNOWN),
        instead=CONVERT,
        hub=Hub("google/electra-base-discriminator"),
    ),
    Source(
        "electra-large-discriminator",
        "weights",
        "ELECTRA large, the discriminator: 24 layers, 1024 wide",
        "Apache-2.0",
        "Clark et al. 2020, ICLR, arXiv:2003.10555",
        _parts(1_336_369_152, UNKNOWN),
        instead=CONVERT,
        hub=Hub("google/electra-large-discriminator"),
    ),
    Source(
        "tinybert-6l-768d",
        "weights",
        "TinyBERT, general distillation: 6 layers, 768 wide",
        "Apache-2.0 (unverified)",
        "Jiao et al. 2020, Findings of EMNLP, arXiv:1909.10351",
        _parts(267_820_032, {"config.json": "", "vocab.txt": ""}),
        instead=CONVERT,
        hub=Hub("huawei-noah/TinyBERT_General_6L_768D"),
    ),
    Source(
        "resnet-50",
        "weights",
        "ResNet-50, ImageNet-1k classifier",
        "Apache-2.0",
        "He et al. 2016, CVPR, arXiv:1512.03385",
        _parts(102_228_128, {"config.json": ""}),
        remark="the usual mean and deviation of colours, at 224x224",
        hub=Hub("microsoft/resnet-50", "34c2154c194f829b11125337b98c8f5f9965ff19"),
    ),
)
