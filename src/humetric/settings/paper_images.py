"""ResNet-50 on the standard suite's pictures: settings of the paper suite (docs/paper.md).

The supplement of Colin et al. (2022) names no network. ResNet-50 is a usual choice, no more.
"""

from __future__ import annotations

from dataclasses import replace

from humetric.models.lite_head import Base
from humetric.models.resnet import RESNET
from humetric.settings.declared import Declared
from humetric.settings.images import Album, loader
from humetric.settings.paper_text import SHARED
from humetric.settings.pictures import DOGS, HUSKIES, LEAVES

UNNAMED = (
    "The study's supplement names no network, and its pictures are not at hand: other pictures, "
    "ResNet-50"
)


def with_network(album: Album, base: Base, name: str) -> Album:
    """The same pictures and recipe on another network."""
    return replace(album, id=f"{album.id.rpartition('/')[0]}/{name}", base=base)


ALBUMS = {album.id: with_network(album, RESNET, "resnet50") for album in (HUSKIES, LEAVES, DOGS)}
"""By the setting of the standard suite whose cases they have."""

SUMMARIES = {
    HUSKIES.id: "huskies and wolves, ResNet-50 with a head that goes by the background",
    LEAVES.id: "apple leaves with black rot or cedar apple rust, ResNet-50 with a head",
    DOGS.id: "ImageNet's hunting and working dogs, ResNet-50 as it is, classes in two groups",
}


def _declared(cases: str, album: Album) -> Declared:
    return Declared(
        id=album.id,
        summary=SUMMARIES[cases],
        sources=(album.source, album.base.source),
        load=loader(album),
        train=None if album.training is None else album.train,
        departs=f"{UNNAMED}. {SHARED.format(cases=cases)}",
        seen="ResNet-50 was trained on ImageNet",
        study="colin2022",
        cases=cases,
    )


PAPER_IMAGES = tuple(_declared(cases, album) for cases, album in ALBUMS.items())
