"""EfficientNet-Lite0: shape of the network, and its weights where the mirror has them."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from humetric.models.efficientnet_lite import (
    IMAGE_SIZE,
    EfficientNetLite0,
    SameConv2d,
    normalise,
)

ROOT = Path(__file__).resolve().parents[2]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))
WEIGHTS = MIRROR / "models" / "efficientnet_lite0" / "model.safetensors"
IMAGES = MIRROR / "datasets" / "imagenet_sample" / "test"

needs_weights = pytest.mark.skipif(
    not WEIGHTS.is_file(), reason=f"no weights at {WEIGHTS}; set HUMETRIC_MIRROR"
)
needs_images = pytest.mark.skipif(
    not IMAGES.is_dir(), reason=f"no images at {IMAGES}; set HUMETRIC_MIRROR"
)


@pytest.fixture(scope="module")
def network() -> EfficientNetLite0:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return EfficientNetLite0(classes=7).eval()


def test_parameter_count_is_the_published_one() -> None:
    with torch.device("meta"):
        network = EfficientNetLite0()
    # 4.652 M as stated by the TPU repository's table (4.7 M) and its PyTorch ports.
    assert sum(p.numel() for p in network.parameters()) == 4_652_008


def test_runs_on_the_meta_device() -> None:
    with torch.device("meta"):
        network = EfficientNetLite0()
        logits = network(torch.empty(2, 3, IMAGE_SIZE, IMAGE_SIZE))
    assert logits.is_meta
    assert logits.shape == (2, 1000)


@pytest.mark.parametrize("size", [(224, 224), (97, 64)])
def test_random_weights_give_finite_logits(
    network: EfficientNetLite0, size: tuple[int, int]
) -> None:
    logits = network(torch.rand(2, 3, *size))
    assert logits.shape == (2, 7)
    assert logits.isfinite().all()


def test_at_least_one_class() -> None:
    with pytest.raises(ValueError, match="classes >= 1 but got 0"):
        EfficientNetLite0(classes=0)


def test_channels_last_gives_the_same_logits(network: EfficientNetLite0) -> None:
    images = torch.rand(2, 3, 64, 64)
    with torch.inference_mode():
        expected = network(images)
        actual = network(images.to(memory_format=torch.channels_last))
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("size", "kernel", "before", "after"),
    # pad_before and pad_after of tf.nn.conv2d(padding="SAME") at stride 2.
    [(224, 3, 0, 1), (56, 5, 1, 2), (7, 3, 1, 1), (7, 5, 2, 2)],
)
def test_padding_is_that_of_tensorflow(size: int, kernel: int, before: int, after: int) -> None:
    convolution = SameConv2d(1, 1, kernel, stride=2)
    image = torch.rand(1, 1, size, size)
    padded = nn.functional.pad(image, (before, after, before, after))
    expected = nn.functional.conv2d(padded, convolution.weight, stride=2)
    torch.testing.assert_close(convolution(image), expected)


def test_activations_suit_hooks(network: EfficientNetLite0) -> None:
    calls: dict[nn.Module, int] = {}

    def count(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        calls[module] = calls.get(module, 0) + 1

    activations = [m for m in network.modules() if isinstance(m, nn.ReLU6)]
    handles = [m.register_forward_hook(count) for m in activations]
    network(torch.rand(1, 3, 32, 32))
    for handle in handles:
        handle.remove()
    assert len(activations) == 33  # stem, head, 16 depthwise and 15 expansions
    assert not any(m.inplace for m in activations)
    assert [calls[m] for m in activations] == [1] * 33


def test_grad_cam_at_the_last_convolution_is_cam(network: EfficientNetLite0) -> None:
    """Pooling and a linear layer follow it, so its gradients are the classifier's weights."""
    maps: list[Tensor] = []
    handle = network.last_convolution.register_forward_hook(lambda m, i, o: maps.append(o))
    logits = network(torch.rand(1, 3, IMAGE_SIZE, IMAGE_SIZE))
    handle.remove()
    (gradient,) = torch.autograd.grad(logits[0, 3], maps[0])
    assert maps[0].shape == (1, 1280, 7, 7)
    torch.testing.assert_close(gradient.sum((0, 2, 3)), network._fc.weight[3])


def test_normalise_is_the_published_preprocessing() -> None:
    images = torch.rand(2, 3, 5, 5)
    torch.testing.assert_close(normalise(images), (images * 255 - 127) / 128)


def test_normalise_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"\(N, 3, H, W\) but got \(3, 5, 5\)"):
        normalise(torch.rand(3, 5, 5))
    with pytest.raises(TypeError, match=r"but got torch.uint8"):
        normalise(torch.zeros(1, 3, 5, 5, dtype=torch.uint8))


@needs_weights
def test_state_dict_has_the_keys_and_shapes_of_the_mirror() -> None:
    with safe_open(WEIGHTS, framework="pt") as weights:
        expected = {k: tuple(weights.get_slice(k).get_shape()) for k in weights.keys()}  # noqa: SIM118
    with torch.device("meta"):
        actual = {k: tuple(v.shape) for k, v in EfficientNetLite0().state_dict().items()}
    assert len(expected) == 296
    assert actual == expected


@needs_weights
@needs_images
def test_accuracy_on_the_imagenet_sample() -> None:
    """Every third image, for time: 43 of 48 when written. Of all 143 images it was 120 (83.9%)."""
    network = EfficientNetLite0().eval()
    network.load_state_dict(load_file(WEIGHTS))
    paths = sorted(IMAGES.rglob("*.jpg"))[::3]
    labels = torch.tensor([int(path.name.split("_")[0]) for path in paths])
    images = normalise(torch.stack([_centre_crop(path) for path in paths]))
    with torch.inference_mode():
        predicted = torch.cat([network(batch).argmax(1) for batch in torch.split(images, 16)])
    assert (predicted == labels).float().mean() >= 0.8


def _centre_crop(path: Path) -> Tensor:
    image = Image.open(path).convert("RGB")
    side = round(min(image.size) * IMAGE_SIZE / 256)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    image = image.crop((left, top, left + side, top + side))
    image = image.resize((IMAGE_SIZE, IMAGE_SIZE), Image.Resampling.BICUBIC)
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255
