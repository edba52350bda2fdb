"""What ``humetric run`` refuses before it loads anything, and how it names what it skips."""

from __future__ import annotations

import pytest

from humetric.cli import app
from humetric.cli.run import skip_lines
from humetric.results.result import Skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--case-seconds", "-1"), "Expected a number above 0 for --case-seconds but got -1"),
        (("--memory", "nan"), "Expected a number above 0 for --memory but got nan"),
        (("--out", "/proc/x", "--setting", "image/leaf/cnn"), "Cannot write results to /proc/x"),
    ],
)
def test_a_dry_run_refuses_what_a_run_could_not_do(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        app(["run", "--dry-run", *words])
    assert stop.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_skips_are_grouped_by_reason_and_settings() -> None:
    texts = [f"sentiment/r/{i}" for i in range(2)] + [f"nli/s/{i}" for i in range(2)]
    skips = [
        Skip(name, method, f"is for image, not for {name.partition('/')[0]}")
        for name in texts
        for method in ("rise", "edge")
    ]
    skips.append(Skip("sentiment/r/0", "attention", "needs attention"))
    assert skip_lines(skips) == [
        "skipped rise, edge on 4 sentiment and nli settings: each is for image",
        "skipped attention on sentiment/r/0: it needs attention",
    ]
