"""Data sets of the standard suite, as a mirror holds them.

Sizes, rows and checksums are those of the mirror's files. The hub's splits are the original ones;
``remark`` says where a mirror's differ. An empty revision means that no commit was confirmed, and
that nothing is fetched; files and rows are declared for the day that one is.
"""

from __future__ import annotations

from humetric.data.sources.source import Hub, Part, Source

DATA_SETS = (
    Source(
        "rotten_tomatoes",
        "classification",
        "Rotten Tomatoes sentences (0 negative, 1 positive)",
        "research use",
        'Pang & Lee 2005, "Seeing stars", ACL, arXiv:cs/0506075',
        (
            Part(
                "train.parquet",
                411_147,
                "39f5e6cbf9b31a3925ecc3a2f1c0203eec5c51dc7ccf51b2b31be43e9cc32674",
                7_463,
            ),
            Part(
                "validation.parquet",
                63_018,
                "7f33b31bf169dad6e061b6b4be6945e7f3b95e0a0206f7351e34cec7432e13f6",
                1_066,
            ),
            Part(
                "test.parquet",
                114_647,
                "35e3df83607de44c27202d463c6921b22a84d91cc45620d12fcc1146d8913c57",
                2_133,
            ),
        ),
        remark="split 70/10/20, as in Hase & Bansal 2020",
        hub=Hub(
            "cornell-movie-review-data/rotten_tomatoes",
            "",
            {s: f"{s}.parquet" for s in ("train", "validation", "test")},
            {"train": 8_530, "validation": 1_066, "test": 1_066},
            "the same sentences split 80/10/10, not 70/10/20: other cases",
        ),
    ),
    Source(
        "hotel_reviews",
        "classification",
        "Deceptive hotel reviews (0 genuine, 1 fake)",
        "CC BY-NC-SA",
        "Ott et al. 2011, ACL, arXiv:1107.4557; Ott, Cardie & Hancock 2013, NAACL",
        (
            Part(
                "train.parquet",
                327_143,
                "81f02fcc10fcc0c67558ff4437b3651274395fb794166145e2615ecf9efec69b",
                1_000,
            ),
            Part(
                "validation.parquet",
                64_910,
                "681ce19a0f94444aec8dc8b8a55289e587f2d596e92bc075809d05c14a0c18b0",
                200,
            ),
            Part(
                "test.parquet",
                138_238,
                "d4d3fe6b932beab07e976af91fbea4ce613be195aad09395cb1a758f1db87e55",
                400,
            ),
        ),
        remark="the splits of Arora et al. 2022; non-commercial",
    ),
    Source(
        "snli",
        "nli",
        "SNLI",
        "CC BY-SA 4.0",
        "Bowman et al. 2015, EMNLP, arXiv:1508.05326",
        (
            Part(
                "train.parquet",
                1_645_208,
                "cd56c3c91ebc6f50b5a80f00eac0b51daf923c0bd7e0fa64c539c78ef96ed382",
                60_000,
            ),
        ),
        remark="60,000 of the 549,367 training pairs with a gold label",
        hub=Hub(
            "stanfordnlp/snli",
            "",
            {"train": "plain_text/train-*.parquet"},
            {"train": 550_152},
            "all training pairs, without ids; rows without a gold label are left out when read",
        ),
    ),
    Source(
        "anli",
        "nli",
        "Adversarial NLI, rounds 1 and 2, with reasons",
        "CC BY-NC 4.0",
        "Nie et al. 2020, ACL, arXiv:1910.14599",
        (
            Part(
                "dev_r1.parquet",
                245_331,
                "60ecc844ed51d827d07621719725ffbed083455c7d54fac733a918824cb74a9e",
                1_000,
            ),
            Part(
                "dev_r2.parquet",
                245_854,
                "d000dd02a5db518975ea76bf5e6a91e2ccb817d9fdbcf611509a9e9118466b5a",
                1_000,
            ),
        ),
        remark="non-commercial",
        hub=Hub(
            "facebook/anli",
            "",
            {s: f"plain_text/{s}-*.parquet" for s in ("dev_r1", "dev_r2")},
            {"dev_r1": 1_000, "dev_r2": 1_000},
        ),
    ),
    Source(
        "esnli",
        "nli",
        "e-SNLI, three reasons per pair",
        "CC BY-SA 4.0 (SNLI)",
        "Camburu et al. 2018, NeurIPS, arXiv:1812.01193",
        (
            Part(
                "validation.parquet",
                1_157_947,
                "11bb5e3df307118d3f259691d9ca3503855c353918fbdbb6fa1c4a6cc51d74d6",
                9_842,
            ),
        ),
        remark="reasons explain the gold label only; no marks on tokens",
        hub=Hub("esnli"),
    ),
    Source(
        "squad_v2",
        "qa",
        "SQuAD 2.0",
        "CC BY-SA 4.0",
        "Rajpurkar, Jia & Liang 2018, ACL, arXiv:1806.03822",
        (
            Part(
                "train.parquet",
                522_283,
                "fe9116f7dab7c00e30401ca8d87339e1cb48fa64b75181445c072ccaef6fc3df",
                6_078,
            ),
        ),
        remark="half of the official development set (2,910 answerable), ids rewritten; its "
        "articles are not in squad_adversarial",
        hub=Hub(
            "rajpurkar/squad_v2",
            "",
            {"train": "squad_v2/train-*.parquet"},
            {"train": 130_319},
            "the official training set, 16 MB: other rows than the mirror's",
        ),
    ),
    Source(
        "squad_adversarial",
        "qa",
        "Adversarial SQuAD (AddSent)",
        "CC BY-SA 4.0 (text)",
        "Jia & Liang 2017, EMNLP, arXiv:1707.07328",
        (
            Part(
                "test.parquet",
                298_901,
                "ae08e0367dbfc4e89fda173508f8d2fcf7b28fa2663b811c702d16c1d80a4eeb",
                2_535,
            ),
        ),
        remark="703 original and 1,832 adversarial questions of 32 articles",
        hub=Hub("stanfordnlp/squad_adversarial"),
    ),
    Source(
        "adult",
        "table",
        "Adult: census income (1 above 50K)",
        "CC BY 4.0",
        "Becker & Kohavi 1996, UCI Machine Learning Repository, doi:10.24432/C5XW20",
        (
            Part(
                "train.parquet",
                289_058,
                "4fe4f4037238677625cd3809623c8431f6f06ac43f973c68db7132d7bfd8987c",
                32_561,
            ),
            Part(
                "test.parquet",
                154_053,
                "e73b6045dcbb8bed85248ad98af73fd6263cba794253a00ac485b4ef7c3ee09b",
                16_281,
            ),
        ),
        origin="https://archive.ics.uci.edu/dataset/2/adult",
    ),
    Source(
        "husky_wolf",
        "images",
        "Huskies and wolves",
        "none: local use",
        "after Ribeiro et al. 2016, KDD, arXiv:1602.04938; Colin et al. 2022, NeurIPS",
        (
            Part(
                "train",
                2_715_092,
                "25a3b988d3b3ea2fe0d8481d817a6ecf5d459adbaba5d02785f9b00f6daa619f",
                80,
            ),
            Part(
                "test",
                674_668,
                "b2d0f5e75816789ca5932a7ee85d81e791c68cbc381f466e1bb932f1012993e9",
                20,
            ),
        ),
        remark="shorter side at most 256 pixels",
    ),
    Source(
        "plantvillage_apple",
        "images",
        "PlantVillage apple leaves, four classes",
        "CC BY-SA 3.0 (unverified)",
        "Hughes & Salathé 2015, arXiv:1511.08060",
        (
            Part(
                "train",
                5_142_874,
                "b910e3043bc60fdd2b740174b896a4259626d1dbed24d00f0f377ecdaa245663",
                400,
            ),
            Part(
                "test",
                2_551_983,
                "f9541644f817f4ac026ce27682ae01df490d5c09bab6ae286bcae3b122949417",
                200,
            ),
        ),
        remark="256x256 pixels, background removed",
    ),
    Source(
        "imagenet_sample",
        "images",
        "ImageNet: one image per class 151-293 (dogs to cats)",
        "research use",
        "Russakovsky et al. 2015, IJCV, arXiv:1409.0575",
        (
            Part(
                "test",
                4_396_067,
                "6cf86ba26f958d87c21275ca01ec0d0e58737cc2c18234fe638cde52ee2fa98a",
                143,
            ),
            Part(
                "classes.txt",
                10_473,
                "734ac9d9fdc5b3594443cca61021e5b9eb96e0473c607ed03d8810c63fe48291",
            ),
        ),
        remark="classes.txt names all 1,000 classes",
    ),
)
"""In the order of tasks."""
