"""Three procedural sets of 64x64 pictures in which the place that decides the class is known.

habitat has a coarse cue (the ground), leaf a fine one (the margin), pair none that a patch could
show (the relation of two fish): the three use cases of Colin et al. (2022) in miniature. Every
picture comes from its own generator, seeded by data set, split and index.
"""

from types import MappingProxyType
from typing import Protocol

from humetric.data.embedded import habitat, leaf, pair
from humetric.data.embedded.drawing import SIZE, SPLITS, Sample
from humetric.errors import UnknownNameError

__all__ = ["DATA", "SIZE", "SPLITS", "Images", "Sample", "dataset"]


class Images(Protocol):
    """What each data set module offers."""

    CLASSES: tuple[str, str]
    VERSION: int

    def draw(self, index: int, split: str) -> Sample:
        """The sample at `index` of `split` ("train" or "pool")."""
        ...


_MODULES: dict[str, Images] = {"habitat": habitat, "leaf": leaf, "pair": pair}
DATA = MappingProxyType(_MODULES)


def dataset(name: str) -> Images:
    """The data set of that name."""
    if name not in DATA:
        raise UnknownNameError("embedded image data set", name, DATA)
    return DATA[name]
