"""The shipped text models do what their files say."""

import json
from collections import Counter
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from tokenizers import Tokenizer

from humetric.data.embedded import reading
from humetric.data.embedded.texts import TEXTS, digest, text_dataset, written
from humetric.models import stored, text_inputs, wordpiece
from humetric.models.convnet import WEIGHTS
from humetric.models.text import TextModel
from humetric.models.text_recipes import RECIPES, SEEDS, TASK
from humetric.models.text_scores import answers, probabilities, token_spans
from humetric.models.train_text import inputs_of
from humetric.models.wordpiece import MASK, SPECIAL
from humetric.tasks.answers import f1

CLASSIFIED = [s for s in RECIPES if not s.startswith("qa/")]
NLI = [s for s in RECIPES if s.startswith("nli/")]
READING = [f"qa/{version}/{model}" for version in ("original", "adversarial")
           for model in ("high", "medium", "low")]  # fmt: skip
ACCURACY = (0.8, 0.95)
"""Good enough to be worth explaining, and wrong often enough to explain errors."""
COUNT = 200


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def model_of(setting: str, file: str = "model") -> TextModel:
    return stored.load(WEIGHTS / setting / f"{file}.safetensors")


@cache
def tokenizer_of(data: str) -> Tokenizer:
    return Tokenizer.from_file(str(WEIGHTS / TASK[data] / data / "tokenizer.json"))


@cache
def listing(setting: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((WEIGHTS / setting / "cases.json").read_text())
    return found


@cache
def pool(data: str) -> list[Any]:
    return [text_dataset(data).draw(index, "pool") for index in range(COUNT)]


def said(setting: str, questions: list[Any]) -> list[tuple[int, int]]:
    """Characters of a reading model's answers."""
    tokenizer = tokenizer_of("reading")
    given = text_inputs.of_questions(tokenizer, questions, [q.span for q in questions])
    spans, _ = token_spans(model_of(setting), given)
    return answers(tokenizer, questions, spans)


def mean_f1(setting: str, version: str, rule: bool = False) -> float:
    draw = reading.draw if version == "original" else reading.draw_adversarial
    questions = [draw(index, "pool") for index in range(COUNT)]
    truth = [q.passage[slice(*(reading.last_word(q) if rule else q.span))] for q in questions]
    found = [q.passage[a:b] for q, (a, b) in zip(questions, said(setting, questions), strict=True)]
    return float(np.mean([f1(a, t) for a, t in zip(found, truth, strict=True)]))


def test_all_weights_together_stay_small() -> None:
    files = [p for task in ("sentiment", "nli", "qa") for p in (WEIGHTS / task).rglob("*.*")]
    assert sum(file.stat().st_size for file in files) < 8_000_000


@pytest.mark.parametrize("setting", RECIPES)
def test_weights_were_made_by_the_recipe_that_is_there(setting: str) -> None:
    data = setting.split("/")[1]
    with safe_open(WEIGHTS / setting / "model.safetensors", framework="pt") as file:
        about = file.metadata()
        kinds = {file.get_tensor(name).dtype for name in file.keys()}  # noqa: SIM118
    assert about["setting"] == setting
    assert int(about["data_version"]) == TEXTS[data].VERSION
    assert json.loads(about["recipe"]) == json.loads(json.dumps(asdict(RECIPES[setting])))
    assert kinds <= {torch.float16, torch.int64}
    assert all(p.dtype == torch.float32 for p in model_of(setting).parameters())


@pytest.mark.parametrize("data", sorted(TEXTS))
def test_tokenizers_are_read_by_transformers_and_split_rare_words(data: str) -> None:
    file = WEIGHTS / TASK[data] / data / "tokenizer.json"
    fast = wordpiece.load(file, 128)
    assert [fast.convert_tokens_to_ids(token) for token in SPECIAL] == list(range(5))
    assert (fast.pad_token_id, fast.mask_token_id) == (wordpiece.PAD, MASK)
    unknown = whole = split = 0
    for sample in pool(data):
        parts = written(sample)[:2]
        found = tokenizer_of(data).encode(*parts)
        assert list(fast(*parts)["input_ids"]) == found.ids
        unknown += found.ids.count(wordpiece.UNK)
        words = Counter((s, w) for s, w in zip(found.sequence_ids, found.word_ids, strict=True)
                        if w is not None)  # fmt: skip
        split += sum(count > 1 for count in words.values())
        whole += sum(count == 1 for count in words.values())
    assert unknown == 0
    assert 0.005 < split / (split + whole) < 0.3


@pytest.mark.parametrize("setting", [*CLASSIFIED, *READING])
def test_cases_are_those_on_record(setting: str) -> None:
    found = listing(setting)
    data = found["data"]
    assert found["setting"] == setting
    assert found["data_version"] == TEXTS[data].VERSION
    assert (WEIGHTS / found["weights"]).exists()
    assert (WEIGHTS / found["tokenizer"]).exists()
    assert len({case["index"] for case in found["cases"]}) == len(found["cases"]) == 84
    draw = reading.draw_adversarial if "adversarial" in setting else text_dataset(data).draw
    for case in found["cases"]:
        sample = draw(case["index"], "pool")
        assert digest(sample) == case["sha256"]
        assert case["label"] == (list(sample.span) if data == "reading" else sample.label)


@pytest.mark.parametrize("setting", CLASSIFIED)
def test_predictions_of_the_cases_are_reproduced(setting: str) -> None:
    cases = listing(setting)["cases"]
    data = setting.split("/")[1]
    drawn = [text_dataset(data).draw(case["index"], "pool") for case in cases]
    scores = probabilities(model_of(setting), inputs_of(tokenizer_of(data), drawn))
    assert scores.argmax(1).tolist() == [case["predicted"] for case in cases]
    ordered = np.sort(scores, 1)
    assert (ordered[:, -1] - ordered[:, -2] > 0.0198).all()


@pytest.mark.parametrize("setting", READING)
def test_answers_of_the_cases_are_reproduced(setting: str) -> None:
    found = listing(setting)
    draw = reading.draw_adversarial if "adversarial" in setting else reading.draw
    questions = [draw(case["index"], "pool") for case in found["cases"]]
    spans = said(found["weights"].removesuffix("/model.safetensors"), questions)
    for case, question, (start, stop) in zip(found["cases"], questions, spans, strict=True):
        assert case["predicted"] == [start, stop]
        assert case["answer"] == question.passage[start:stop]
        assert case["id"] == question.id


@pytest.mark.parametrize("setting", [s for s in CLASSIFIED if s.startswith("sentiment/")])
def test_every_prefix_of_a_multiple_of_four_is_balanced(setting: str) -> None:
    cases = listing(setting)["cases"]
    kinds = [(case["predicted"], case["predicted"] == case["label"]) for case in cases]
    for end in range(4, 61, 4):
        assert sorted(Counter(kinds[:end]).values()) == [end // 4] * 4


def test_inference_models_share_cases_and_some_are_commonly_wrong() -> None:
    rows = {setting: listing(setting)["cases"] for setting in NLI}
    for case in ("index", "label", "sha256"):
        assert len({tuple(row[case] for row in found) for found in rows.values()}) == 1
    best = rows["nli/inference/bert-base"]
    kinds = [(c["predicted"], c["predicted"] == c["label"]) for c in best]
    for end in range(6, 61, 6):
        assert sorted(Counter(kinds[:end]).values()) == [end // 6] * 6
    wrong = [[c["predicted"] != c["label"] for c in found] for found in rows.values()]
    assert np.all(wrong, axis=0).sum() >= 3
    assert all(sum(own) >= 12 for own in wrong)


def test_reading_settings_share_cases() -> None:
    assert len({tuple(c["id"] for c in listing(setting)["cases"]) for setting in READING}) == 1


def accuracy(scores: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    return float((scores.argmax(1) == truth).mean())


@pytest.mark.parametrize("setting", CLASSIFIED)
def test_accuracy_holds_on_part_of_the_pool(setting: str) -> None:
    data, stated = setting.split("/")[1], listing(setting)["pool_accuracy"]
    given = inputs_of(tokenizer_of(data), pool(data))
    found = accuracy(probabilities(model_of(setting), given), given.target.numpy())
    assert abs(found - stated) < 4 * np.sqrt(stated * (1 - stated) / COUNT)
    low, high = (0.6, 0.9) if setting.endswith("/bow") else ACCURACY
    assert low <= stated <= high


@pytest.mark.parametrize("setting", NLI)
def test_explanation_informed_models_read_both_pair_and_reason(setting: str) -> None:
    both = text_inputs.matched_and_not(pool("inference"), "test")
    given = text_inputs.explained(tokenizer_of("inference"), *both)
    truth = given.target.numpy()
    for seed in SEEDS:
        scores = probabilities(model_of(setting, f"explained-{seed}"), given)
        assert scores.shape[1] == 6
        assert accuracy(scores, truth) > 0.5, "chance is 1/6"
        assert np.mean((scores.argmax(1) < 3) == (truth < 3)) > 0.7, "chance is 1/2"


def test_reading_models_are_high_medium_and_low() -> None:
    high, medium, low = (mean_f1(f"qa/reading/{m}", "original") for m in ("high", "medium", "low"))
    assert high >= 0.75
    assert 0.1 <= high - medium <= 0.3, "about 20 points"
    assert low < 0.1
    assert mean_f1("qa/reading/low", "original", rule=True) >= 0.9
    assert mean_f1("qa/reading/high", "adversarial") < high, "distractors mislead"


@pytest.mark.parametrize("setting", [s for s in CLASSIFIED if s.split("/")[2].startswith("bert")])
def test_masks_are_familiar(setting: str) -> None:
    """With every word masked a model is less sure, and not of one and the same class by far."""
    data = setting.split("/")[1]
    given = inputs_of(tokenizer_of(data), pool(data))
    nothing = given._replace(ids=given.ids.where(given.ids < len(SPECIAL), torch.tensor(MASK)))
    intact, empty = (probabilities(model_of(setting), g) for g in (given, nothing))
    assert empty.max(1).mean() < 0.75
    assert empty.max(1).mean() < intact.max(1).mean() - 0.1
