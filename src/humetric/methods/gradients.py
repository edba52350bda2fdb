"""Methods that differentiate the model: they see how the score would move, not how it does move.

The score is the logit of the explained output (Colin et al. 2022, supplement D.1).
"""

from __future__ import annotations

import numpy as np
import torch
from captum.attr import IntegratedGradients, LayerAttribution, LayerGradCam, Saliency
from torch import Tensor

from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


def _gradient(cases: Cases, x: Tensor | None = None, target: Tensor | None = None) -> Tensor:
    """Gradient of the logit with respect to the input."""
    x, target = (cases.x, cases.target) if x is None else (x, target)
    asked = x.detach().requires_grad_()
    found: Tensor = Saliency(cases.module()).attribute(asked, target=target, abs=False).detach()
    return found


@method(
    "saliency",
    version=1,
    reference="Simonyan et al. 2014, arXiv:1312.6034",
    needs="gradient",
    signed=False,
    passes=1,
)
def saliency() -> Explainer:
    """L2 norm over channels of the gradient of the logit: |df/dx|."""

    def explain(cases: Cases) -> Tensor:
        return _norm(_gradient(cases))

    return explain


@method(
    "gradient-input",
    version=1,
    reference="Shrikumar et al. 2017, arXiv:1605.01713; absolute gradient as in Colin et al. 2022",
    needs="gradient",
    passes=1,
)
def gradient_input(absolute: bool = True) -> Explainer:
    """Input times gradient, summed over channels; for images times its absolute value.

    Colin et al. define x * |gradient|; ``absolute=False`` is the usual signed product.
    """

    def explain(cases: Cases) -> Tensor:
        gradient = _gradient(cases)
        return (cases.x * (gradient.abs() if absolute else gradient)).sum(1)

    return explain


@method(
    "integrated-gradients",
    version=1,
    reference="Sundararajan et al. 2017, arXiv:1703.01365",
    needs="gradient",
    passes="points",
)
def integrated_gradients(points: int = 80) -> Explainer:
    """Gradient integrated along the straight path from the baseline, times the distance.

    Trapezoid rule on ``points`` points, both ends included; signed sum over channels. Its sum is
    f(x) - f(baseline) up to the error of the rule. captum weights the n points by 1/n, so that
    its trapezoid sums to (n-1)/n; that is mended here.
    """

    def explain(cases: Cases) -> Tensor:
        integrated: Tensor = IntegratedGradients(cases.module()).attribute(
            cases.x,
            baselines=cases.baseline[:, 0].expand_as(cases.x),
            target=cases.target,
            n_steps=points,
            method="riemann_trapezoid",
            internal_batch_size=max(cases.gradient_rows, len(cases)),
        )
        return integrated.sum(1) * (points / (points - 1))

    return explain


@method(
    "smoothgrad",
    version=1,
    reference="Smilkov et al. 2017, arXiv:1706.03825",
    needs="gradient",
    signed=False,
    passes="samples",
)
def smoothgrad(samples: int = 80, sigma: float = 0.2, relative: bool = True) -> Explainer:
    """Norm over channels of the mean gradient at noisy copies of the input.

    ``sigma`` is a share of the input's range (as in the original paper), or absolute. Noise is
    drawn per case, which is why captum's NoiseTunnel is not used: there a case gets other noise
    alone than in a batch.
    """

    def explain(cases: Cases) -> Tensor:
        maps = []
        for i, rng in enumerate(cases.rng("smoothgrad")):
            x = cases.x[i : i + 1]
            scale = sigma * (x.amax() - x.amin()) if relative else sigma
            total = torch.zeros_like(x)
            for rows in _blocks(samples, cases.gradient_rows):
                noise = rng.standard_normal((rows, *x.shape[1:]), dtype=np.float32)
                noisy = x + scale * torch.from_numpy(noise).to(x)
                total += _gradient(cases, noisy, cases.target[i].expand(rows)).sum(0, keepdim=True)
            maps.append(_norm(total / samples))
        return torch.cat(maps)

    return explain


@method(
    "grad-cam",
    version=1,
    reference="Selvaraju et al. 2017, arXiv:1610.02391",
    needs="internals",
    signed=False,
    passes=1,
)
def grad_cam() -> Explainer:
    """Last convolution's maps weighted by their mean gradient, ReLU, enlarged bilinearly."""

    def explain(cases: Cases) -> Tensor:
        coarse = LayerGradCam(cases.module(), cases.layer()).attribute(
            cases.x.detach().requires_grad_(), target=cases.target, relu_attributions=True
        )
        size = (cases.x.shape[-2], cases.x.shape[-1])
        enlarged: Tensor = LayerAttribution.interpolate(coarse, size, "bilinear")
        return enlarged[:, 0]

    return explain


def _norm(x: Tensor) -> Tensor:
    """L2 norm over channels."""
    return x.square().sum(1).sqrt()


def _blocks(total: int, size: int) -> list[int]:
    """``total`` as a sum of blocks of at most ``size``."""
    return [min(size, total - start) for start in range(0, total, size)]
