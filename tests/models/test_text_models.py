"""Text models: saved and loaded, blind to padding, open at the embedding layer."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from text_support import bert, small
from torch import Tensor

from humetric.errors import AccessError, HumetricError
from humetric.models.stored import load, save
from humetric.models.text import TextModel

MODELS = {
    "classifier": bert,
    "span": lambda: bert("span"),
    **{
        name: (lambda name=name: small(name))
        for name in ("bilstm", "infersent", "bag-of-words", "tfidf")
    },
}


def rows() -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(5, 60, (3, 9), generator=draw)
    attention = torch.tensor([[1] * 9, [1] * 6 + [0] * 3, [1] * 4 + [0] * 5])
    types = torch.tensor([[0] * 4 + [1] * 5, [0] * 3 + [1] * 3 + [0] * 3, [0, 0, 1, 1] + [0] * 5])
    return ids, attention, types


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> TextModel:
    made: TextModel = MODELS[request.param]()
    return made.double()


def test_padding_never_counts(model: TextModel) -> None:
    ids, attention, types = rows()
    with torch.no_grad():
        together = model(ids, attention, types)
        for i, count in enumerate(attention.sum(1).tolist()):
            alone = model(
                ids[i : i + 1, :count], *(t[i : i + 1, :count] for t in (attention, types))
            )
            torch.testing.assert_close(
                together[i : i + 1, ..., : alone.shape[-1]], alone, rtol=0, atol=1e-12
            )
        other = torch.where(attention > 0, ids, 7)
        again = model(other, attention, types)
        inside = (slice(None), slice(None), slice(0, 4)) if model.span else slice(None)
        torch.testing.assert_close(again[inside], together[inside], rtol=0, atol=1e-12)


def test_saved_and_loaded(model: TextModel, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "model.safetensors"
    save(model.float(), path, {"data": "none"})
    again = load(path)
    assert again.config_dict() == model.config_dict()
    assert not again.training
    with torch.no_grad():
        assert torch.equal(again(*rows()), model(*rows()))


def test_embeddings_are_another_way_in(model: TextModel) -> None:
    ids, attention, types = rows()
    if "gradient" not in model.gives:
        with pytest.raises(AccessError, match="no embedding layer"):
            model.embed(ids)
        return
    embedded = model.embed(ids).detach().requires_grad_()
    out = model.from_embeddings(embedded, attention, types)
    torch.testing.assert_close(out, model(ids, attention, types))
    if not model.span:
        (gradient,) = torch.autograd.grad(out.sum(), embedded)
        assert (gradient[attention == 0] == 0).all()
        assert gradient[attention == 1].abs().sum() > 0


def test_no_value_is_read_on_the_host(model: TextModel) -> None:
    ghost = copy.deepcopy(model).to("meta")
    with torch.inference_mode():
        assert ghost(*(t.to("meta") for t in rows())).device.type == "meta"


def test_attention_is_a_distribution_over_tokens_that_are_there() -> None:
    model, (ids, attention, types) = bert().double(), rows()
    before = model(ids, attention, types)
    layers = model.attentions(ids, attention, types)
    assert [layer.shape for layer in layers] == [(3, 2, 9, 9)] * 2
    for layer in layers:
        torch.testing.assert_close(layer.sum(3), torch.ones_like(layer[..., 0]))
        assert (layer.transpose(1, 3)[attention == 0] == 0).all()
    assert torch.equal(model(ids, attention, types), before)  # and the fast kernels are back
    with pytest.raises(AccessError, match="no attention"):
        small("bilstm").attentions(ids, attention, types)
    with pytest.raises(AccessError, match="not linear"):
        model.contributions(ids, attention, types)


def test_tfidf_by_hand() -> None:
    model, (ids, attention, types) = small("tfidf").double(), rows()
    with torch.no_grad():
        found = model(ids, attention, types)
        weight, bias = model.head.weight.numpy(), model.head.bias.numpy()  # type: ignore[union-attr]
        idf = model.idf.numpy()  # type: ignore[union-attr]
        for i in range(3):
            value = np.zeros(len(idf))
            for id, there in zip(ids[i].tolist(), attention[i].tolist(), strict=True):
                value[id] += there * idf[id]
            expected = weight @ (value / np.sqrt((value**2).sum())) + bias
            np.testing.assert_allclose(found[i].numpy(), expected, atol=1e-12)
        parts = model.contributions(ids, attention, types).sum(1) + model.head.bias  # type: ignore[operator]
        torch.testing.assert_close(parts, found)
        nothing = model(torch.ones_like(ids), attention, types)  # the unknown token alone
        torch.testing.assert_close(nothing[0], model.head.bias.data)  # type: ignore[union-attr]


def test_backward_direction_starts_at_the_last_token() -> None:
    """Against torch's own bidirectional layer on packed rows."""
    from humetric.models.bilstm import Encoder

    torch.manual_seed(0)
    encoder = Encoder(5, 4).double()
    peer = torch.nn.LSTM(5, 4, batch_first=True, bidirectional=True).double()
    for suffix, own in (("", encoder.onward[0]), ("_reverse", encoder.backward_[0])):
        for name, value in own.named_parameters():
            getattr(peer, name + suffix).data.copy_(value)
    attention = rows()[1]
    x = torch.randn(3, 9, 5, dtype=torch.float64)
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        x, attention.sum(1), batch_first=True, enforce_sorted=False
    )
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(peer(packed)[0], batch_first=True)
    there = attention.bool()
    torch.testing.assert_close(encoder(x, attention)[there], expected[there])


def test_other_weights_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    path = tmp_path / "odd.safetensors"
    save_file({"a": torch.ones(1)}, path, {"architecture": "oracle"})
    with pytest.raises(HumetricError, match=r"odd\.safetensors says 'oracle'"):
        load(path)
