"""What a long benchmark says while it runs, where there is no terminal for a bar."""

from __future__ import annotations

from atc.cli.bench_decoding import Progress
from toolflow_bench.decoding.frame import Arm


def test_of_what_gives_no_rows_its_beginning_and_each_tenth_are_told(capsys) -> None:
    arm = Arm(suite="random", model="none", mode="random logits")
    with Progress() as watch:
        for done in range(1, 1001):
            watch(arm, None, done, 1000)
    told = capsys.readouterr().err.splitlines()
    assert told == [f"random: {done:,} of 1,000" for done in (1, *range(100, 1001, 100))]
