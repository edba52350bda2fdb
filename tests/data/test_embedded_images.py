"""The embedded pictures: reproducible, balanced, and decided where they say they are."""

import hashlib
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from humetric.data.embedded import DATA, SPLITS, Sample, dataset, habitat, leaf, pair
from humetric.errors import UnknownNameError

NAMES = sorted(DATA)
SEEDS = range(8)

# python -c "import hashlib; from humetric.data.embedded import DATA; [print(name,
# hashlib.sha256(d.draw(7, 'pool').image.tobytes()).hexdigest()) for name, d in DATA.items()]"
RECORDED = {
    "habitat": "c2f2315e7b95b1abbe41dc3a429ca0b200ac7dd2136999b1577796148377b9d2",
    "leaf": "067ebf5d6e4cb253e639c9a2d2941662d0d9fbcc72a37f13dc5706e03627403d",
    "pair": "e653345ed4f680929c5f882421ace1749140bd3da55555c35563e3d41a551569",
}
REGION_SHARE = {"habitat": (0.25, 0.55), "leaf": (0.05, 0.20), "pair": (0.02, 0.12)}


@cache
def samples(name: str, split: str = "pool", count: int = 64) -> list[Sample]:
    return [dataset(name).draw(index, split) for index in range(count)]


def changed(one: Sample, other: Sample) -> NDArray[np.int64]:
    """How far each pixel of two pictures differs, summed over the channels."""
    difference = np.abs(one.image.astype(np.int64) - other.image.astype(np.int64))
    return np.asarray(difference.sum(axis=2))


def grown(region: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The region and its eight neighbours everywhere."""
    padded = np.pad(region, 1)
    size = len(region)
    shifts = [padded[y : y + size, x : x + size] for y in range(3) for x in range(3)]
    return np.asarray(np.any(shifts, axis=0))


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_depends_on_its_index_and_split_only(name: str) -> None:
    again = dataset(name).draw(5, "pool")
    for one, other in zip(samples(name)[5], again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert changed(again, dataset(name).draw(5, "train")).any()
    assert changed(again, dataset(name).draw(9, "pool")).any()


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_those_on_record(name: str) -> None:
    found = hashlib.sha256(dataset(name).draw(7, "pool").image.tobytes()).hexdigest()
    assert found == RECORDED[name], "a changed picture needs another VERSION and new weights"


@pytest.mark.parametrize("name", NAMES)
def test_form_of_a_sample(name: str) -> None:
    low, high = REGION_SHARE[name]
    for image, label, region, cue in samples(name):
        assert image.shape == (64, 64, 3)
        assert image.dtype == np.uint8
        assert region.shape == (64, 64)
        assert region.dtype == np.bool_
        assert label in (0, 1)
        assert cue in (0, 1)
        assert low < region.mean() < high
        assert image.std() > 10


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", SPLITS)
def test_labels_are_balanced(name: str, split: str) -> None:
    assert sum(sample.label for sample in samples(name, split)) == 32


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="habitat, leaf, pair"):
        dataset("leaves")
    with pytest.raises(UnknownNameError, match="pool, train"):
        leaf.draw(0, "test")
    for index in (-1, SPLITS["pool"]):
        with pytest.raises(IndexError, match=r"0\.\.1999"):
            leaf.draw(index, "pool")


def test_the_ground_goes_with_the_animal_in_training_only() -> None:
    train = [sample.label == sample.cue for sample in samples("habitat", "train")]
    assert sum(train) == 62
    pairs = [(sample.label, sample.cue) for sample in samples("habitat")]
    assert {pairs.count((label, cue)) for label in (0, 1) for cue in (0, 1)} == {16}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ground_changes_the_region_and_the_animal_does_not(seed: int) -> None:
    snow, grass, wolf = (
        habitat.render(np.random.default_rng(seed), label=label, cue=cue)
        for label, cue in ((0, 0), (0, 1), (1, 0))
    )
    np.testing.assert_array_equal(snow.region, grass.region)
    difference = changed(snow, grass)
    assert difference[snow.region].sum() > 0.97 * difference.sum()
    assert difference[snow.region].mean() > 100
    # The animal may show through the soft edge that it shares with the ground, no further.
    apart = ~grown(~(snow.region & wolf.region))
    assert not changed(snow, wolf)[apart].any()
    assert changed(snow, wolf).any()


@pytest.mark.parametrize("seed", SEEDS)
def test_teeth_change_the_margin_only(seed: int) -> None:
    smooth, serrated = (leaf.render(np.random.default_rng(seed), label=label) for label in (0, 1))
    np.testing.assert_array_equal(smooth.region, serrated.region)
    difference = changed(smooth, serrated)
    assert difference.any()
    assert not difference[~grown(smooth.region)].any()


def test_margins_do_not_differ_in_mean_colour() -> None:
    pairs = [
        [leaf.render(np.random.default_rng(seed), label=label).image.mean() for label in (0, 1)]
        for seed in range(30)
    ]
    shift = np.subtract(*np.transpose(pairs))
    assert abs(shift.mean()) < 0.15, "of 255"


@pytest.mark.parametrize("seed", SEEDS)
def test_each_half_shows_one_fish_whatever_the_other_does(seed: int) -> None:
    drawn = {
        (left, right): pair.render(np.random.default_rng(seed), left=left, right=right)
        for left in (0, 1)
        for right in (0, 1)
    }
    for heading in (0, 1):
        same, opposite = drawn[heading, heading], drawn[heading, 1 - heading]
        assert (same.label, opposite.label) == (0, 1)
        np.testing.assert_array_equal(same.image[:, :32], opposite.image[:, :32])
        same, opposite = drawn[heading, heading], drawn[1 - heading, heading]
        np.testing.assert_array_equal(same.image[:, 32:], opposite.image[:, 32:])
    everywhere = drawn[0, 0].region | drawn[1, 1].region
    assert not changed(drawn[0, 0], drawn[1, 1])[~grown(everywhere)].any()


def test_a_fish_alone_says_nothing_about_the_class() -> None:
    table = np.zeros((2, 2, 2), int)
    for index, sample in enumerate(samples("pair")):
        left, right = pair.headings(index)
        assert sample.label == sample.cue == (left != right)
        table[left, right, sample.label] += 1
    assert (table.sum(axis=1) == 16).all(), "left fish against class"
    assert (table.sum(axis=0) == 16).all(), "right fish against class"
