"""Perceptual similarity: do the highlighted parts of images of two classes look alike?

One formula on two sets of features: LPIPS', and those of the setting's own network.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from humetric.engine.questions import on_host
from humetric.errors import HumetricError, UnknownNameError
from humetric.metrics import Comparison, Reference, Scores, metric
from humetric.metrics.patches import cut, patches
from humetric.models import lpips
from humetric.models.own_features import own_features
from humetric.tasks.cases import Cases

Embed = Callable[[Tensor], Tensor]
"""Pictures (n, channels, size, size) -> rows whose squared Euclidean distance is theirs."""

AT_ONCE = 64
"""Patches that go through a network together."""

REFERENCE = "Colin et al. 2022, arXiv:2112.04417, and its supplement, section C.2"


@metric(
    "perceptual-similarity",
    version=1,
    direction="lower",
    range=(-8.0, 1.0),
    reference=REFERENCE,
    tasks=("image",),
    weights="lpips_alex",
    derived_from="colin2022",
)
def perceptual_similarity(
    share: float = 0.25, patches: int = 1, size: int = 64, network: str = "alex"
) -> Comparison:
    """Likeness (1 - LPIPS) of a case's highlighted patch to those of cases of other classes.

    A case's patch is the square of ``share`` of the image's side with the highest mean of the map,
    resized to ``size`` pixels. Mean over the setting's reference cases that are predicted to be of
    another class, and over pairs of patches where there are several. In practice between 0 and 1
    (alike); lower is better: what is highlighted tells the classes apart.

    It was proposed to explain the results of the study that it is named after, which states neither
    network nor size of the patch in the text at hand. It knows nothing of the model beside the map
    and the predicted classes, so an edge detector does well where edges differ; and a method that
    points at the same thing in both classes, rightly, does badly: ``humetric explain --patches``
    shows what is compared. A constant map has no patch: undefined. Needs weights that are not
    shipped; see humetric.models.lpips.
    """
    if network != "alex":
        raise UnknownNameError("network of LPIPS", network, ["alex"])
    check(share, patches, size, lpips.SMALLEST)
    key = ("perceptual-similarity", share, patches, size, network)

    def embed(cases: Cases) -> Embed:
        def load() -> lpips.Lpips:
            return lpips.load().to(device=cases.device, dtype=cases.dtype)

        return cases.once_per_setting(("lpips", network), load).features

    return Comparison(partial(compare, key, embed, shown, share, patches, size))


@metric(
    "feature-similarity",
    version=1,
    direction="lower",
    range=(-1.0, 1.0),
    reference=f"after {REFERENCE}; not LPIPS",
    tasks=("image",),
    needs="internals",
    derived_from="colin2022",
)
def feature_similarity(share: float = 0.25, patches: int = 1, size: int = 64) -> Comparison:
    """The formula of perceptual-similarity on the setting's own network, which is not LPIPS.

    Likeness of two patches is the mean cosine of the channels over positions and layers, all layers
    alike: from the first of the network's sequence to the one that grad-cam reads. Patches are cut,
    compared and averaged as in perceptual-similarity; 1 is alike, lower is better.

    A small network that was trained to tell the very classes apart is no stand-in for how people
    see: nothing that is known of perceptual-similarity holds of this one. It is here so that the
    whole computation runs without other weights.
    """
    check(share, patches, size, 1)
    key = ("feature-similarity", share, patches, size)

    def embed(cases: Cases) -> Embed:
        cases.layer()  # refuses a model that does not let others look inside
        return partial(own_features, cases.model)

    return Comparison(partial(compare, key, embed, lambda cases: cases.x, share, patches, size))


def check(share: float, count: int, size: int, least: int) -> None:
    """Refuse patches that nothing can be cut by."""
    if not 0 < share <= 1:
        raise HumetricError(f"Expected a share of the side above 0, at most 1, but got {share}.")
    if count < 1 or size < least:
        raise HumetricError(
            f"Expected at least 1 patch of {least} pixels or more but got {count} of {size}."
        )


def shown(cases: Cases) -> Tensor:
    """Images as people see them, from -1 to 1, in three channels: (cases, 3, height, width)."""
    if cases.display is None or cases.display.shape[3] not in (1, 3):
        there = "none" if cases.display is None else f"{cases.display.shape[3]} channels"
        raise HumetricError(f"Expected images of 1 or 3 channels to be compared but got {there}.")
    images = cases.display.to(device=cases.device, dtype=cases.dtype) / 127.5 - 1
    return images.movedim(3, 1).expand(-1, 3, -1, -1)


def compare(
    key: tuple[object, ...],
    embed: Callable[[Cases], Embed],
    images: Callable[[Cases], Tensor],
    share: float,
    count: int,
    size: int,
    attribution: Tensor,
    cases: Cases,
    reference: Reference,
) -> Scores:
    """Values of cases against the reference, whose patches are embedded once per method.

    Cases of the reference, with the same maps, have the same patches and are not embedded again.
    """
    features = embed(cases)

    def embedded(some: Cases, maps: Tensor) -> tuple[Tensor, Tensor]:
        found = patches(maps, some, share, count)
        with torch.inference_mode():
            parts = torch.split(cut(images(some), found, size), AT_ONCE)
            long = on_host(torch.cat([features(part) for part in parts]))
        return long.view(*found.there.shape, -1), found.there

    other, other_there = reference.once(
        key, lambda: embedded(reference.cases, reference.attribution)
    )
    place = {case: i for i, case in enumerate(reference.cases.ids)}
    rows = [place[case] for case in cases.ids if case in place]
    if len(rows) == len(cases) and torch.equal(attribution, reference.attribution[rows]):
        own, there = other[rows], other_there[rows]
    else:
        own, there = embedded(cases, attribution)
    target = cases.target.cpu(), reference.cases.target.cpu()
    return Scores(similarity(own, there, other, other_there, *target))


def similarity(
    own: Tensor,
    own_there: Tensor,
    other: Tensor,
    other_there: Tensor,
    target: Tensor,
    other_target: Tensor,
) -> Tensor:
    """(cases,) float64: mean of 1 - distance over patches of others of another class.

    Features are (cases, patches, long) and (others, patches, long), ``there`` says which of them
    are patches. NaN for a case without a patch, or without another to compare it with.
    """
    apart = lpips.distances(own.flatten(0, 1), other.flatten(0, 1))
    likeness = 1 - apart.view(*own_there.shape, *other_there.shape)
    counted = own_there[:, :, None, None] & other_there
    counted = counted & (target[:, None] != other_target)[:, None, :, None]
    total = torch.where(counted, likeness, 0.0).sum((1, 2, 3))
    return total / counted.sum((1, 2, 3))  # 0 / 0 is NaN, as it should be
