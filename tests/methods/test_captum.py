"""Any captum class in one line; random ones are seeded by the case."""

from __future__ import annotations

import captum.attr
import pytest
import torch
from support import engine_for, ideal, linear_setting, net_setting, reordered
from torch import Tensor, nn

from humetric.errors import HumetricError
from humetric.methods import METHODS, Method, checked
from humetric.methods.captum import from_captum
from humetric.tasks.cases import Cases


def explain(method: Method, cases: Cases) -> Tensor:
    found = method.explain(cases)
    return checked(found, cases, method.card.id)


@pytest.mark.parametrize(
    "attribution",
    [
        captum.attr.Saliency,
        captum.attr.InputXGradient,
        captum.attr.IntegratedGradients,
        captum.attr.DeepLift,
        captum.attr.GuidedBackprop,
        captum.attr.Deconvolution,
        captum.attr.GuidedGradCam,
        captum.attr.LayerGradCam,
        captum.attr.GradientShap,
    ],
)
def test_classes_work_in_one_line(attribution: type[captum.attr.Attribution]) -> None:
    cases = engine_for(net_setting(cases=2), precision="fp32").cases
    found = explain(from_captum(attribution), cases)
    assert found.shape == (2, 64, 64)
    assert float(found.abs().sum()) > 0


def test_perturbation_classes_work_with_arguments() -> None:
    cases = engine_for(linear_setting(cases=2, height=6, width=6)).cases
    arguments = {"sliding_window_shapes": (3, 2, 2), "strides": (3, 2, 2)}
    method = from_captum(captum.attr.Occlusion, channels="sum", arguments=arguments)
    assert method.card.needs == "predict"
    assert method.card.id == "captum-occlusion"
    windows = ideal(cases).view(-1, 3, 2, 3, 2).sum((2, 4))
    expected = windows.repeat_interleave(2, 1).repeat_interleave(2, 2)
    torch.testing.assert_close(explain(method, cases) / 3, expected)


def test_captums_integrated_gradients_are_ours() -> None:
    cases = engine_for(net_setting(cases=2)).cases
    theirs = from_captum(captum.attr.IntegratedGradients, arguments={"n_steps": 80})
    ours = METHODS.make("integrated-gradients").explain(cases)
    assert isinstance(ours, Tensor)
    difference = (explain(theirs, cases) - ours).abs().max()
    assert difference < 0.01 * ours.abs().max()


def noise_tunnel(module: nn.Module) -> captum.attr.Attribution:
    return captum.attr.NoiseTunnel(captum.attr.Saliency(module))


@pytest.mark.parametrize("attribution", [noise_tunnel, captum.attr.GradientShap])
def test_random_classes_do_not_depend_on_the_batch(attribution: type) -> None:
    setting = net_setting()
    method = from_captum(attribution)
    whole = explain(method, engine_for(setting).cases)
    alone = explain(method, engine_for(reordered(setting, [2])).cases)
    torch.testing.assert_close(alone[0], whole[2])
    again = explain(from_captum(attribution), engine_for(setting).cases)
    torch.testing.assert_close(again, whole)


def test_randomness_is_noticed_whatever_the_first_case_is() -> None:
    """A flat first image gives equal maps under any noise; the second must still be its own."""
    setting = net_setting(cases=2)
    setting.x[0] = 0
    method = from_captum(noise_tunnel, id="tunnel")
    whole = explain(method, engine_for(setting).cases)
    alone = explain(method, engine_for(reordered(setting, [1])).cases)
    torch.testing.assert_close(alone[0], whole[1])


def test_a_class_that_mixes_cases_runs_one_at_a_time() -> None:
    setting = net_setting(cases=3)
    method = from_captum(captum.attr.FeaturePermutation, arguments={"feature_mask": cells()})
    whole = explain(method, engine_for(setting).cases)
    alone = explain(method, engine_for(reordered(setting, [1])).cases)
    torch.testing.assert_close(alone[0], whole[1])


def cells() -> Tensor:
    return (torch.arange(64) // 32).repeat(1, 3, 64, 1)


@pytest.mark.parametrize("attribution", [captum.attr.LayerActivation, captum.attr.NeuronGradient])
def test_classes_that_explain_something_else_are_refused(attribution: type) -> None:
    cases = engine_for(net_setting(cases=1)).cases
    with pytest.raises(HumetricError, match="does not attribute an output to the input"):
        explain(from_captum(attribution), cases)


def test_global_random_state_is_left_alone() -> None:
    cases = engine_for(net_setting(cases=1)).cases
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    explain(from_captum(noise_tunnel, id="tunnel"), cases)
    assert torch.equal(torch.rand(3), expected)


def test_needs_are_those_of_the_class() -> None:
    assert from_captum(captum.attr.LayerGradCam).card.needs == "internals"
    assert from_captum(captum.attr.Saliency).card.needs == "gradient"
    assert not from_captum(captum.attr.Saliency).card.signed
    assert from_captum(captum.attr.DeepLift).card.signed
    assert from_captum(captum.attr.ShapleyValueSampling).card.needs == "predict"


def test_channels_may_become_a_norm() -> None:
    cases = engine_for(net_setting(cases=1)).cases
    method = from_captum(captum.attr.Saliency, channels="norm", signed=False)
    ours = METHODS.make("saliency").explain(cases)
    assert isinstance(ours, Tensor)
    torch.testing.assert_close(explain(method, cases), ours)
