"""The order in which a source is looked for, and what is said where it is nowhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sources_support import FILES, declare, on_the_hub, write

from humetric.data.sources import Package, Source, find, look
from humetric.errors import HumetricError, UnknownNameError

PACKAGE = Package("tiny-weights==1.0", ("tiny_weights_of_a_test",), "model", 2_000_000)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Source]:
    """Declarations of a mirror that is not named yet, and nothing kept from the hub."""
    monkeypatch.delenv("HUMETRIC_MIRROR", raising=False)
    monkeypatch.setenv("HUMETRIC_CACHE", str(tmp_path / "cache"))
    return declare(write(tmp_path / "mirror"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Installs a package with the tiny weights, whose own code must not run."""
    folder = tmp_path / "site"
    (folder / PACKAGE.modules[0] / "model").mkdir(parents=True)
    for name, content in FILES["models/tiny"].items():
        (folder / PACKAGE.modules[0] / "model" / name).write_bytes(content)
    monkeypatch.syspath_prepend(folder)

    def install(code: str) -> None:
        (folder / PACKAGE.modules[0] / "__init__.py").write_text(code)

    return install


def test_the_first_place_that_has_it_counts(
    made_up: dict[str, Source],
    installed: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A path, then the mirror, then the package, then what was kept of the hub."""
    installed("raise SystemExit('code of the package ran')")
    own = write(tmp_path / "own") / "models" / "tiny"
    sources = {"tiny": replace(on_the_hub(made_up)["tiny"], package=PACKAGE)}

    found = find("tiny", sources=sources)
    assert (found.how, found.path.parts[-2:]) == ("package", (PACKAGE.modules[0], "model"))
    assert found.file("model.safetensors").read_bytes() == FILES["models/tiny"]["model.safetensors"]
    assert PACKAGE.modules[0] not in sys.modules

    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "mirror"))
    found = find("tiny", sources=sources)
    assert (found.how, found.path) == ("mirror", tmp_path / "mirror" / "models" / "tiny")

    found = find("tiny", own, sources=sources)
    assert (found.how, found.path) == ("path", own)
    assert set(found.checksums) == {"model.safetensors", "config.json"}


def test_what_was_kept_of_the_hub_is_found_without_it(
    made_up: dict[str, Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = on_the_hub(made_up)["reviews"]
    assert source.hub is not None
    assert look(source) is None
    folder = tmp_path / "cache" / "datasets" / "reviews" / source.hub.revision
    folder.mkdir(parents=True)
    (folder / "train.parquet").write_bytes(FILES["datasets/reviews"]["train.parquet"])
    found = find("reviews", sources={"reviews": source})
    assert (found.how, found.path, found.splits) == ("hub", folder, ("train",))
    assert found.checksums == {"train.parquet": ""}
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "mirror"))
    assert find("reviews", sources={"reviews": source}).how == "mirror"


def test_a_package_counts_only_with_all_its_modules(
    made_up: dict[str, Source], installed: Callable[[str], None], tmp_path: Path
) -> None:
    two = replace(PACKAGE, modules=(*PACKAGE.modules, "another_module_of_a_test"))
    installed("")
    assert look(replace(made_up["tiny"], package=two)) is None
    (tmp_path / "site" / "another_module_of_a_test").mkdir()  # a folder is not yet a module
    assert look(replace(made_up["tiny"], package=two)) is None
    (tmp_path / "site" / "another_module_of_a_test" / "__init__.py").touch()
    found = look(replace(made_up["tiny"], package=two))
    assert found is not None
    assert found.how == "package"


def test_files_of_splits(
    made_up: dict[str, Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "mirror"))
    animals = find("animals", sources=made_up)
    assert animals.splits == ("train",)
    names = [path.relative_to(animals.path).as_posix() for path in animals.files("train")]
    assert names == ["train/cat/a.png", "train/cat/b.png", "train/dog/a.png"]
    named = find("named", sources=made_up)
    assert named.splits == ("test",)
    assert named.file("classes.txt").read_text() == "ant\nbee\n"
    with pytest.raises(UnknownNameError, match=r"part of named 'tset'. Did you mean 'test'"):
        named.file("tset")


def test_a_path_may_be_the_only_file(made_up: dict[str, Source], tmp_path: Path) -> None:
    file = tmp_path / "mine.parquet"
    file.write_bytes(FILES["datasets/reviews"]["train.parquet"])
    assert find("reviews", file, sources=made_up).files("train") == (file,)


def test_one_file_does_not_stand_for_several(made_up: dict[str, Source], tmp_path: Path) -> None:
    """Else training and test rows could be the same."""
    file = tmp_path / "mirror" / "models" / "tiny" / "model.safetensors"
    found = find("tiny", file, sources=made_up)
    assert found.file("model.safetensors") == file
    with pytest.raises(HumetricError, match=r"Expected config.json of tiny.*complete that folder"):
        found.file("config.json")


def test_an_incomplete_mirror_is_not_completed_from_elsewhere(
    made_up: dict[str, Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror" / "models" / "tiny" / "config.json").unlink()
    found = find("tiny", sources=made_up)
    assert found.how == "mirror"
    with pytest.raises(HumetricError, match=r"config.json of tiny in .*mirror.*not there"):
        found.file("config.json")


def test_missing_says_what_how_large_and_how_to_get_it(
    made_up: dict[str, Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = replace(
        made_up["tiny"],
        package=PACKAGE,
        parts=tuple(replace(part, size=5_000_000) for part in made_up["tiny"].parts),
        origin="https://example.org/tiny",
        instead="take the bigger one",
    )
    with pytest.raises(HumetricError) as error:
        find("tiny", sources={"tiny": tiny})
    for said in (
        "weights tiny (Made-up tiny, 10.0 MB)",
        "HUMETRIC_MIRROR is not set",
        "tiny_weights_of_a_test not installed",
        "no place on the hub",
        "set HUMETRIC_MIRROR to a folder with models/tiny/ (model.safetensors, config.json)",
        "pip install tiny-weights==1.0 (2.0 MB)",
        "https://example.org/tiny",
        "take the bigger one",
    ):
        assert said in str(error.value)
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path))
    with pytest.raises(HumetricError, match=f"it is not in {tmp_path}"):
        find("tiny", sources={"tiny": tiny})


@pytest.mark.parametrize("revision", ["", "main", "0123456"])
def test_without_a_commit_the_hub_is_refused(made_up: dict[str, Source], revision: str) -> None:
    source = on_the_hub(made_up)["reviews"]
    assert source.hub is not None
    loose = replace(source, hub=replace(source.hub, revision=revision))
    with pytest.raises(HumetricError, match="no commit to pin it to is known"):
        find("reviews", sources={"reviews": loose})


def test_wrong_names_and_places(
    made_up: dict[str, Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownNameError, match=r"source 'review'\. Did you mean 'reviews'"):
        find("review", sources=made_up)
    with pytest.raises(HumetricError, match=r"Expected reviews at .*nowhere.*train.parquet"):
        find("reviews", tmp_path / "nowhere", sources=made_up)
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(HumetricError, match="Expected HUMETRIC_MIRROR to name a folder"):
        find("reviews", sources=made_up)
