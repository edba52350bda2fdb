"""The engine answers what was asked: all of it, once, in full batches, without the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from support import engine_for, linear_setting, net_setting
from torch import Tensor, nn

from humetric.engine.engine import Engine
from humetric.engine.questions import (
    Answers,
    GridMasks,
    GroupMasks,
    Program,
    Questions,
    RankMasks,
    about_each,
    empty,
    intact,
    make,
)
from humetric.errors import HumetricError, OutOfMemoryError
from humetric.tasks.cases import Cases
from humetric.tasks.image import blur
from humetric.tasks.partition import grid


def brute_force(cases: Cases, module: nn.Module, case: int, keep: Tensor, fill: Tensor) -> Tensor:
    """One question answered the slow way."""
    keep = keep.view(cases.task.features).to(cases.x.dtype)
    x = keep * cases.x[case] + (1 - keep) * fill
    logits = module(x[None])[0]
    target = int(cases.target[case])
    other = max(logit for i, logit in enumerate(logits) if i != target)
    return torch.stack((logits[target], logits.softmax(0)[target], logits[target] - other))


def families(cases: Cases) -> list[Questions]:
    """Questions of every kind of mask."""
    draw = torch.Generator().manual_seed(0)
    n, features = len(cases), cases.features
    ranks = torch.rand(n, features, generator=draw).argsort(1).to(torch.int16)
    counts = torch.arange(1, 8, dtype=torch.int16) * 9
    partition = cases.task.groups(4)
    bits = torch.rand(n * 5, partition.groups, generator=draw) < 0.5
    grids = (torch.rand(n * 3, 4, 4, generator=draw) < 0.5).to(cases.x.dtype)
    shift = torch.rand(n * 3, 2, generator=draw, dtype=cases.x.dtype)
    height, width = cases.task.features
    return [
        about_each(cases, RankMasks(ranks, counts, keep_first=True)),
        about_each(cases, RankMasks(ranks, counts, keep_first=False)),
        about_each(cases, GroupMasks(bits, partition)),
        about_each(cases, GridMasks(grids, shift, (height, width))),
    ]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("baseline", ["mean", "blur"])
@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_answers_equal_brute_force(channels: int, baseline: str, batch_size: int) -> None:
    engine = engine_for(linear_setting(channels=channels, baseline=baseline), batch_size=batch_size)
    cases = engine.cases
    asked = families(cases)
    for questions, answers in zip(asked, engine.ask(asked), strict=True):
        keep = make(questions.masks, 0, len(questions), cases.x.dtype)
        for row, case in enumerate(questions.case.tolist()):
            fill = cases.baseline.expand(len(cases), *cases.baseline.shape[1:])[case, 0]
            expected = brute_force(cases, engine.module, case, keep[row], fill)
            found = torch.stack([answer[row] for answer in answers])
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_grid_masks_are_shares_with_the_expected_mean() -> None:
    draw = torch.Generator().manual_seed(0)
    bits = (torch.rand(4000, 6, 6, generator=draw) < 0.3).float()
    grids = GridMasks(bits, torch.rand(4000, 2, generator=draw), (20, 30))
    masks = make(grids, 0, 4000, torch.float32)
    assert masks.shape == (4000, 600)
    assert masks.min() >= 0
    assert masks.max() <= 1
    assert (masks.mean(0) - 0.3).abs().max() < 0.04


def test_questions_may_bring_their_own_fill() -> None:
    engine = engine_for(linear_setting())
    cases = engine.cases
    masks = families(cases)[2].masks
    fill = torch.randn(len(masks), *cases.x.shape[1:], dtype=cases.x.dtype)
    questions = replace(about_each(cases, masks), fill=fill)
    (answers,) = engine.ask([questions])
    keep = make(masks, 0, len(masks), cases.x.dtype)
    for row, case in enumerate(questions.case.tolist()):
        expected = brute_force(cases, engine.module, case, keep[row], fill[row])
        assert answers.logit[row].item() == pytest.approx(expected[0].item(), abs=1e-12)


@pytest.mark.parametrize("batch_size", [1, 4, 64])
@pytest.mark.parametrize("owners", ["shared", "own"])
def test_several_baselines_are_averaged(batch_size: int, owners: str) -> None:
    """An expectation over background inputs is one question, expanded and averaged."""
    setting = linear_setting()
    count = 1 if owners == "shared" else len(setting)
    several = torch.randn(
        count, 3, *setting.x.shape[1:], generator=torch.Generator().manual_seed(3)
    )
    engine = engine_for(replace(setting, baseline=several), batch_size=batch_size)
    cases = engine.cases
    asked = families(cases)[2]
    (answers,) = engine.ask([asked])
    keep = make(asked.masks, 0, len(asked), cases.x.dtype)
    for row, case in enumerate(asked.case.tolist()):
        fills = cases.baseline[case if count > 1 else 0]
        each = [brute_force(cases, engine.module, case, keep[row], fill) for fill in fills]
        expected = torch.stack(each).mean(0)
        found = torch.stack([answer[row] for answer in answers])
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert engine.rows == 3 * len(asked)


def test_duplicates_are_asked_once() -> None:
    engine = engine_for(linear_setting(cases=3))
    cases = engine.cases
    partition = cases.task.groups(2)
    bits = torch.tensor([[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 0, 0]]).bool().repeat(3, 1)
    asked = [about_each(cases, GroupMasks(bits, partition)) for _ in range(2)]
    first, second = engine.ask(asked)
    assert engine.rows == 2 * 3  # two distinct rows for each of three cases
    torch.testing.assert_close(first.logit, second.logit)
    rows = first.logit.view(3, 3)
    assert torch.equal(rows[:, 0], rows[:, 2])
    assert not torch.equal(rows[:, 0], rows[:, 1])


def test_equal_bits_of_other_partitions_and_cases_are_not_duplicates() -> None:
    engine = engine_for(linear_setting(cases=2))
    cases = engine.cases
    other = replace(
        cases.task.groups(2), name="other", group=cases.task.groups(2).group.flip(0), lines=None
    )
    bits = torch.tensor([[True, False, False, False]]).repeat(2, 1)
    first, second = engine.ask(
        [about_each(cases, GroupMasks(bits, p)) for p in (cases.task.groups(2), other)]
    )
    assert engine.rows == 4
    assert len({*first.logit.tolist(), *second.logit.tolist()}) == 4


def test_shared_questions_are_asked_once_whoever_asks() -> None:
    engine = engine_for(linear_setting(cases=4))
    engine.ask([intact(engine.cases), empty(engine.cases), intact(engine.cases)])
    assert engine.rows == 8
    engine.ask([empty(engine.cases)])
    assert engine.rows == 8
    assert len(engine.shared) == 2


def test_partitions_are_told_apart_by_content_not_by_name() -> None:
    engine = engine_for(linear_setting(cases=2))
    cases = engine.cases
    one = replace(cases.task.groups(2), name="superpixels")
    other = replace(one, group=one.group.flip(0))
    bits = torch.tensor([[True, False, False, False]])
    asked = [Questions(torch.tensor([i]), GroupMasks(bits, p)) for i, p in ((0, one), (1, other))]
    together = engine.ask(asked)
    (alone,) = engine_for(linear_setting(cases=2)).ask(asked[1:])
    torch.testing.assert_close(together[1].logit, alone.logit)


def test_one_key_for_different_questions_is_refused() -> None:
    engine = engine_for(linear_setting(cases=2))
    partition = engine.cases.task.groups(2)
    bits = torch.eye(4).bool()[:2]
    first = about_each(engine.cases, GroupMasks(bits, partition), key="mine")
    engine.ask([first, first])
    with pytest.raises(HumetricError, match=r"different sets of questions .* key 'mine'"):
        engine.ask([about_each(engine.cases, GroupMasks(~bits, partition), key="mine")])


@pytest.mark.parametrize("mistake", ["no list", "width", "case", "length", "features"])
def test_a_program_that_asks_nonsense_costs_itself_only(mistake: str) -> None:
    engine = engine_for(linear_setting(cases=2))
    cases, partition = engine.cases, engine.cases.task.groups(2)
    bits = torch.ones(2, 4, dtype=torch.bool)
    fine = about_each(cases, GroupMasks(bits, partition))
    small = replace(partition, group=partition.group[:-1])
    wrong: dict[str, object] = {
        "no list": fine,
        "width": [about_each(cases, GroupMasks(bits[:, :3], partition))],
        "case": [replace(fine, case=torch.tensor([0, 2]))],
        "length": [replace(fine, case=torch.tensor([0]))],
        "features": [about_each(cases, GroupMasks(bits, small))],
    }

    def asks(questions: object) -> Program[int]:
        yield questions  # type: ignore[misc]
        return 1

    bad, good = engine.run([asks(wrong[mistake]), asks([fine])])
    assert isinstance(bad, HumetricError)
    assert good == 1


class Sizes(nn.Module):
    """Notes how many rows each call brings."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.sizes = inner, list[int]()

    def forward(self, x: Tensor) -> Tensor:
        self.sizes.append(len(x))
        out: Tensor = self.inner(x)
        return out


def test_batches_are_full_across_cases_and_families() -> None:
    engine = engine_for(linear_setting(), batch_size=16)
    engine.module = Sizes(engine.module)
    asked = families(engine.cases)
    engine.ask(asked)
    total = sum(map(len, asked))
    assert engine.module.sizes == [16] * (total // 16) + [total % 16] * (total % 16 > 0)
    assert engine.rows == total


def test_programs_advance_together_round_by_round() -> None:
    """Rounds of two programs share batches; a program that raises does not stop the other."""
    engine = engine_for(linear_setting(cases=2), batch_size=64)
    engine.module = Sizes(engine.module)
    cases = engine.cases
    partition = cases.task.groups(3)

    def asks(rounds: int, fails: bool = False) -> Program[float]:
        total = 0.0
        for i in range(rounds):
            bits = torch.zeros(2, partition.groups, dtype=torch.bool)
            bits[:, i] = True
            (answers,) = yield [about_each(cases, GroupMasks(bits, partition))]
            total += float(answers.logit.sum())
        if fails:
            raise ValueError("no good")
        return total

    outcomes = engine.run([asks(1), asks(3), asks(2, fails=True)])
    assert engine.module.sizes == [2, 2, 2]  # the three programs ask the same in each round
    assert isinstance(outcomes[2], ValueError)
    assert isinstance(outcomes[1], float)
    assert outcomes[0] != outcomes[1]


def test_nothing_asked_is_nothing_called() -> None:
    engine = engine_for(linear_setting())

    def silent() -> Program[int]:
        yield []
        return 3

    assert engine.run([silent()]) == [3]
    assert engine.ask([]) == []
    assert engine.rows == 0


class Starved(nn.Module):
    """Runs out of memory above a batch size."""

    def __init__(self, inner: nn.Module, most: int, error: type[RuntimeError]) -> None:
        super().__init__()
        self.inner, self.most, self.error = inner, most, error

    def forward(self, x: Tensor) -> Tensor:
        if len(x) > self.most:
            raise self.error("DefaultCPUAllocator: can't allocate memory: you tried ...")
        out: Tensor = self.inner(x)
        return out


@pytest.mark.parametrize("error", [torch.OutOfMemoryError, RuntimeError])
def test_backs_off_when_memory_runs_out(error: type[RuntimeError]) -> None:
    plain = engine_for(linear_setting())
    starved = engine_for(linear_setting())
    starved.module = Starved(starved.module, 5, error)
    asked = families(plain.cases)
    for a, b in zip(plain.ask(asked), starved.ask(asked), strict=True):
        torch.testing.assert_close(a.logit, b.logit, rtol=0, atol=1e-12)
    assert starved.batch_size == 4
    assert starved.rows == plain.rows


def test_inputs_are_made_again_after_memory_ran_out() -> None:
    """A module whose first step is in place has spoilt its inputs when a later one fails."""

    class InPlace(nn.Module):
        def __init__(self, inner: nn.Module, fails: int) -> None:
            super().__init__()
            self.inner, self.fails = inner, fails

        def forward(self, x: Tensor) -> Tensor:
            out = self.inner(x.mul_(2.0))
            if self.fails and len(x) == 16:
                self.fails -= 1
                raise torch.OutOfMemoryError("injected")
            return out

    plain, starved = engine_for(linear_setting()), engine_for(linear_setting())
    plain.module, starved.module = InPlace(plain.module, 0), InPlace(starved.module, 1)
    plain.batch_size = starved.batch_size = 16
    asked = families(plain.cases)
    for a, b in zip(plain.ask(asked), starved.ask(asked), strict=True):
        torch.testing.assert_close(a.logit, b.logit, rtol=0, atol=1e-12)
    assert starved.batch_size == 8


def test_says_so_when_not_even_one_input_fits() -> None:
    engine = engine_for(linear_setting())
    engine.module = Starved(engine.module, 0, torch.OutOfMemoryError)
    with pytest.raises(OutOfMemoryError, match=r"Not even one input of shape \(3, 12, 10\)"):
        engine.ask([intact(engine.cases)])


def test_other_errors_are_not_taken_for_lack_of_memory() -> None:
    class Broken(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            raise RuntimeError("shape mismatch")

    engine = engine_for(linear_setting())
    engine.module = Broken()
    with pytest.raises(RuntimeError, match="shape mismatch"):
        engine.ask([intact(engine.cases)])


def on_meta(engine: Engine) -> Engine:
    """The same engine with its model and all of its tensors on the meta device."""
    cases = engine.cases
    ghost = replace(
        cases,
        x=cases.x.to("meta"),
        baseline=cases.baseline.to("meta"),
        target=cases.target.to("meta"),
    )
    return Engine(ghost, engine.module.to("meta"), engine.dtype, batch_size=16)


@pytest.mark.parametrize("baseline", ["mean", "blur", "several"])
def test_hot_loop_never_touches_the_host(baseline: str) -> None:
    """On the meta device .item(), .cpu(), nonzero, boolean indexing and mixed devices all raise."""
    setting = net_setting()
    if baseline == "blur":
        setting = replace(setting, baseline=blur(setting.x))
    elif baseline == "several":
        setting = replace(setting, baseline=torch.zeros(4, 3, *setting.x.shape[1:]))
    engine = engine_for(setting, precision="fp32")
    asked = [*families(engine.cases), intact(engine.cases)]
    own = about_each(engine.cases, asked[2].masks)
    asked.append(replace(own, fill=torch.zeros(len(own), *setting.x.shape[1:])))
    ghost = on_meta(engine)
    answers = ghost.evaluate([ghost._on_device(questions) for questions in asked])
    assert all(a.device.type == "meta" for a in answers)
    assert [len(a) for a in answers] == [len(q) for q in asked]


def test_meta_device_would_notice_a_host_copy() -> None:
    """The proof above can fail: a model that looks at a value is caught."""

    class Peeks(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(1)[:, :2] * (1 if x.sum().item() > 0 else 2)

    engine = engine_for(net_setting(), precision="fp32")
    engine.module = Peeks()
    ghost = on_meta(engine)
    with pytest.raises((RuntimeError, NotImplementedError)):
        ghost.evaluate([ghost._on_device(intact(ghost.cases))])


def test_a_case_does_not_depend_on_its_neighbours() -> None:
    setting = linear_setting()
    whole, part = engine_for(setting), engine_for(setting, start=2, stop=4)
    (together,), (alone,) = (e.ask([intact(e.cases)]) for e in (whole, part))
    torch.testing.assert_close(together.logit[2:4], alone.logit, rtol=0, atol=1e-12)


def test_grid_cells_are_those_of_the_definition() -> None:
    partition = grid(64, 50, 9)
    cell = partition.group.view(64, 50)
    for y, x in [(0, 0), (7, 5), (8, 6), (63, 49), (31, 25)]:
        assert cell[y, x] == (y * 9 // 64) * 9 + x * 9 // 50
    assert partition.groups == 81
    assert cell.unique().numel() == 81
    assert grid(4, 100, 9).groups == 4 * 9


def test_answers_are_double_precision_on_the_host() -> None:
    engine = engine_for(net_setting(), precision="bf16")
    asked: Sequence[Answers] = engine.ask([intact(engine.cases)])
    assert asked[0].logit.dtype == torch.float64
    assert next(engine.module.parameters()).dtype == torch.bfloat16
    assert next(engine.cases.module().parameters()).dtype == torch.float32
