"""EfficientNet-Lite0: the image model of the standard suite.

EfficientNet (Tan & Le 2019, "EfficientNet: Rethinking Model Scaling for Convolutional Neural
Networks", ICML) without squeeze-and-excitation and with ReLU6 in place of swish, as published
under `models/official/efficientnet/lite` in the tensorflow/tpu repository. Lite0 is the B0 size:
16 inverted-residual blocks, 224x224 inputs, 4.65 M parameters. Stem and head keep their width in
every Lite model.

Weights are not shipped. They are `models/efficientnet_lite0/model.safetensors` of a local mirror
(`HUMETRIC_MIRROR`): an ImageNet-1k classifier, Apache-2.0, 296 tensors in the layout of the
PyTorch ports of the TPU repository's checkpoints.

Two details the state dict does not record were settled on the mirror's ImageNet sample (143
images, centre crop 224 of 256). TensorFlow's padding against symmetric padding: 120 against 116
right, cross entropy 0.58 against 0.77. Batch-norm epsilon 1e-3 (TensorFlow's) against 1e-5: 120
against 121 right, cross entropy 0.58 against 0.66.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

IMAGE_SIZE = 224

# (x - MEAN) / STD on [0, 1] inputs is the (x * 255 - 127) / 128 of the TPU repository.
MEAN = (127 / 255,) * 3
STD = (128 / 255,) * 3

# Keras' 0.99 decay is a momentum of 0.01 in torch's convention.
BATCH_NORM_EPSILON = 1e-3
BATCH_NORM_MOMENTUM = 0.01

STEM_CHANNELS = 32
HEAD_CHANNELS = 1280
DROPOUT = 0.2


class Stage(NamedTuple):
    """A row of table 1 of Tan & Le: `blocks` blocks, of which the first has the stride."""

    blocks: int
    kernel: int
    stride: int
    expansion: int
    channels: int


STAGES = (
    Stage(blocks=1, kernel=3, stride=1, expansion=1, channels=16),
    Stage(blocks=2, kernel=3, stride=2, expansion=6, channels=24),
    Stage(blocks=2, kernel=5, stride=2, expansion=6, channels=40),
    Stage(blocks=3, kernel=3, stride=2, expansion=6, channels=80),
    Stage(blocks=3, kernel=5, stride=1, expansion=6, channels=112),
    Stage(blocks=4, kernel=5, stride=2, expansion=6, channels=192),
    Stage(blocks=1, kernel=3, stride=1, expansion=6, channels=320),
)


def normalise(images: Tensor) -> Tensor:
    """Bring images (N, 3, H, W) in [0, 1] to the range the weights were trained on."""
    if not images.is_floating_point():
        raise TypeError(
            f"normalise: expected floating-point images in [0, 1] but got {images.dtype}: "
            "divide 8-bit images by 255 first."
        )
    if images.ndim != 4 or images.shape[1] != 3:
        raise ValueError(
            f"normalise: expected images of shape (N, 3, H, W) but got {tuple(images.shape)}: "
            "add the batch dimension, and repeat the channel of grey images three times."
        )
    mean = images.new_tensor(MEAN).view(1, 3, 1, 1)
    std = images.new_tensor(STD).view(1, 3, 1, 1)
    return (images - mean) / std


class SameConv2d(nn.Conv2d):
    """A convolution without bias and with TensorFlow's "same" padding.

    The output has ceil(size / stride) rows, and an odd amount of padding puts the extra row at
    the bottom and the extra column at the right. So at stride 2 and even sizes the padding is
    lopsided, which `nn.Conv2d(padding=...)` cannot express; at stride 1 the two are the same.
    """

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1
    ) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        if stride > 1:
            height, width = (_padding(size, kernel, stride) for size in input.shape[-2:])
            input = F.pad(input, (*width, *height))
        return super().forward(input)


def _padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Padding before and after one dimension such that the output has ceil(size / stride)."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def _batch_norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=BATCH_NORM_EPSILON, momentum=BATCH_NORM_MOMENTUM)


# The modules below carry the names of the published state dict, underscores included: that way
# weights load without a table of 296 renamings. Every activation is a module of its own, used
# once and never in place, because hook-based methods need to see each input and output. The
# training-only stochastic depth is left out.


class InvertedResidual(nn.Module):
    """MBConv: widen 1x1, depthwise, narrow 1x1; plus the input where the shape is unchanged."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.expands = expansion > 1
        self.residual = stride == 1 and inputs == outputs
        if self.expands:
            self._expand_conv = SameConv2d(inputs, wide, 1)
            self._bn0 = _batch_norm(wide)
            self._relu0 = nn.ReLU6()
        self._depthwise_conv = SameConv2d(wide, wide, kernel, stride, groups=wide)
        self._bn1 = _batch_norm(wide)
        self._relu1 = nn.ReLU6()
        self._project_conv = SameConv2d(wide, outputs, 1)
        self._bn2 = _batch_norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        wide = self._relu0(self._bn0(self._expand_conv(x))) if self.expands else x
        wide = self._relu1(self._bn1(self._depthwise_conv(wide)))
        narrow: Tensor = self._bn2(self._project_conv(wide))
        return x + narrow if self.residual else narrow


class EfficientNetLite0(nn.Module):
    """Logits (N, classes) of normalised images (N, 3, H, W); made for 224x224, see `normalise`."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        if classes < 1:
            raise ValueError(f"EfficientNetLite0: expected classes >= 1 but got {classes}.")
        self._conv_stem = SameConv2d(3, STEM_CHANNELS, 3, stride=2)
        self._bn0 = _batch_norm(STEM_CHANNELS)
        self._relu0 = nn.ReLU6()
        self._blocks = nn.ModuleList()
        channels = STEM_CHANNELS
        for stage in STAGES:
            for index in range(stage.blocks):
                stride = stage.stride if index == 0 else 1
                self._blocks.append(
                    InvertedResidual(
                        channels, stage.channels, stage.kernel, stride, stage.expansion
                    )
                )
                channels = stage.channels
        self._conv_head = SameConv2d(channels, HEAD_CHANNELS, 1)
        self._bn1 = _batch_norm(HEAD_CHANNELS)
        self._relu1 = nn.ReLU6()
        self._pool = nn.AdaptiveAvgPool2d(1)
        self._dropout = nn.Dropout(DROPOUT)
        self._fc = nn.Linear(HEAD_CHANNELS, classes)

    @property
    def last_convolution(self) -> nn.Module:
        """The module whose output grad-cam reads: 1280 maps of 7x7 for 224x224 inputs.

        It is the activation that ends the last convolution layer (convolution, batch norm,
        ReLU6), not the bare convolution: only these maps are what the classifier averages, and
        the raw ones have an arbitrary offset per channel that batch norm has yet to remove.
        """
        return self._relu1

    def features(self, x: Tensor) -> Tensor:
        """The pooled representation (N, 1280) that the linear classifier reads."""
        x = self._relu0(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        x = self._relu1(self._bn1(self._conv_head(x)))
        return torch.flatten(self._pool(x), 1)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self._fc(self._dropout(self.features(x)))
        return logits
