"""Fetching from the hub: real clients in a process of their own, against a stand-in for the hub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hub_standin import COMMIT, serving
from sources_support import FILES, REPOSITORIES, table, write

TESTS = Path(__file__).resolve().parents[2]

needs_datasets = pytest.mark.skipif(
    find_spec("datasets") is None, reason="no package datasets: make setup installs it"
)

CLIENT = """
import json, sys
from dataclasses import replace
from pathlib import Path
from sources_support import declare, on_the_hub
from humetric.data.sources import find, look, rows
from humetric.errors import HumetricError

sources = on_the_hub(declare(Path(sys.argv[1])))
for name, change in json.loads(sys.argv[3]).items():
    sources[name] = replace(sources[name], hub=replace(sources[name].hub, **change))
said = {}
for name in sys.argv[2].split(","):
    try:
        found = find(name, sources=sources)
    except HumetricError as error:
        said[name] = {"error": str(error), "kept": look(sources[name]) is not None}
        continue
    said[name] = {"how": found.how, "path": str(found.path), "kept": look(sources[name]) == found}
    if name == "reviews":
        said[name]["rows"] = rows(name, "train", sources=sources)
    else:
        from safetensors.torch import load_file

        said[name]["sum"] = load_file(found.file("model.safetensors"))["w"].sum().item()
        said[name]["files"] = sorted(path.name for path in found.path.iterdir())
print(json.dumps(said))
"""

Client = Callable[..., dict[str, dict[str, Any]]]


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Calls find in a new process, whose clients of the hub ask the stand-in."""
    root = write(tmp_path / "declared")

    def call(endpoint: str, names: str, **changes: object) -> dict[str, dict[str, Any]]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUMETRIC"))}
        environment |= {
            "HF_ENDPOINT": endpoint,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_TOKEN": "hf_not_to_be_sent",
            "HUMETRIC_CACHE": str(tmp_path / "cache"),
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")]),
        }
        arguments = [str(root), names, json.dumps(changes)]
        ran = subprocess.run(
            [sys.executable, "-c", CLIENT, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        found: dict[str, dict[str, Any]] = json.loads(ran.stdout.splitlines()[-1])
        return found

    return call


@needs_datasets
def test_data_and_weights_at_the_pinned_commit_and_then_without_the_hub(
    client: Client, tmp_path: Path
) -> None:
    """Only declared files are fetched, at the commit, without a token; then they are kept."""
    with serving(REPOSITORIES) as hub:
        found = client(hub.endpoint, "reviews,tiny")
    reviews, tiny = found["reviews"], found["tiny"]
    assert (reviews["how"], reviews["kept"], tiny["how"], tiny["kept"]) == ("hub", True) * 2
    assert reviews["path"] == str(tmp_path / "cache" / "datasets" / "reviews" / COMMIT)
    assert [(row["text"], row["label"]) for row in reviews["rows"]] == [
        ("good", 1),
        ("bad", 0),
        ("so so", 0),
    ]
    assert tiny["sum"] == 15
    assert tiny["files"] == ["config.json", "model.safetensors"]
    gets = [path for path in hub.asked if path.startswith("GET ") and "/resolve/" in path]
    assert f"GET /org/tiny/resolve/{COMMIT}/model.safetensors" in gets
    for unwanted in ("pytorch_model.bin", "run.py", "test-00000"):
        assert not any(unwanted in path for path in gets)
    assert all(COMMIT in path for path in hub.asked if "/org/" in path)
    assert hub.tokens == []
    assert client(hub.endpoint, "reviews,tiny") == found  # the server is gone


def test_weights_with_another_checksum_are_refused(client: Client) -> None:
    files = FILES["models/tiny"] | {"config.json": b'{"other": 1}'}
    with serving({"models/org/tiny": files}) as hub:
        for _ in range(2):  # the second time it lies in the hub's cache
            found = client(hub.endpoint, "tiny")
            assert "config.json of org/tiny at 0123456789ab has another" in found["tiny"]["error"]
            assert not found["tiny"]["kept"]


@needs_datasets
def test_data_with_other_rows_are_refused(client: Client) -> None:
    name = "plain/train-00000-of-00001.parquet"
    files = REPOSITORIES["datasets/org/reviews"]
    more = files | {name: table({"text": ["a"], "label": [1]})}
    with serving({"datasets/org/reviews": more}) as hub:
        found = client(hub.endpoint, "reviews")
    assert "has 1 rows and not the 3 declared" in found["reviews"]["error"]
    assert not found["reviews"]["kept"]


@needs_datasets
def test_code_of_a_repository_is_refused_and_not_run(client: Client, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w')".encode()
    files = REPOSITORIES["datasets/org/reviews"] | {"reviews.py": code}
    with serving({"datasets/org/reviews": files}) as hub:
        found = client(hub.endpoint, "reviews")
    assert "scripts are no longer supported" in found["reviews"]["error"]
    assert not ran.exists()


def test_what_the_hub_does_not_have_is_said(client: Client) -> None:
    """Another commit, or a file that is not there; the ways to get it are named all the same."""
    with serving(REPOSITORIES) as hub:
        found = client(hub.endpoint, "tiny", tiny={"revision": "f" * 40})
        assert "the hub did not give org/tiny at ffffffffffff" in found["tiny"]["error"]
        assert "RevisionNotFound" in found["tiny"]["error"]
    with serving({"models/org/tiny": {"config.json": b"{}"}}) as hub:
        found = client(hub.endpoint, "tiny")
    assert "EntryNotFound" in found["tiny"]["error"]
    assert "set HUMETRIC_MIRROR to a folder with models/tiny/" in found["tiny"]["error"]


def test_offline_is_said_at_once(client: Client) -> None:
    with serving({}) as hub:
        gone = hub.endpoint
    found = client(gone, "reviews,tiny")
    for name in ("reviews", "tiny"):
        assert "ConnectError" in found[name]["error"]
        assert "set HUMETRIC_MIRROR" in found[name]["error"]


TRANSFORMERS = """
import json, sys
from pathlib import Path
from transformers import AutoModel
from humetric.data.sources import Hub, Part, Source, digest, find

made, commit = Path(sys.argv[1]), sys.argv[2]
names = ("model.safetensors", "config.json")
parts = tuple(Part(name, (made / name).stat().st_size, digest(made / name)) for name in names)
bert = Source("bert", "weights", "Tiny", "none", "none", parts, hub=Hub("org/bert", commit))
found = find("bert", sources={"bert": bert})
model = AutoModel.from_pretrained(
    found.path, local_files_only=True, use_safetensors=True, trust_remote_code=False
)
weight = model.embeddings.word_embeddings.weight
print(json.dumps([found.how, type(model).__name__, weight.shape, weight.double().sum().item()]))
"""


def test_a_model_of_transformers_from_the_hub(tmp_path: Path) -> None:
    """What was fetched is a folder that transformers loads, without the code that lies beside."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=11,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    model = BertModel(config)
    model.save_pretrained(tmp_path / "made")
    files = {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()}
    with serving({"models/org/bert": files | {"modelling.py": b"raise SystemExit"}}) as hub:
        environment = os.environ | {
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(tmp_path / "hf"),
            "HUMETRIC_MIRROR": "",
        }
        ran = subprocess.run(
            [sys.executable, "-c", TRANSFORMERS, str(tmp_path / "made"), COMMIT],
            env=environment | {"PYTHONPATH": str(TESTS.parent / "src")},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    how, kind, shape, total = json.loads(ran.stdout.splitlines()[-1])
    weight = model.embeddings.word_embeddings.weight
    assert (how, kind, shape) == ("hub", "BertModel", [11, 8])
    assert total == pytest.approx(weight.double().sum().item(), abs=1e-9)
    assert not any("modelling.py" in path for path in hub.asked)
