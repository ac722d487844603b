"""The list of runs on terminals of several widths."""

from __future__ import annotations

import pytest

from atc.cli.runs_list import format_list
from atc.core.program import Program
from atc.core.types import Attempt, Usage
from atc.store.stored import RunSummary, StoredRun
from sandbox.trace import Trace

RUN = StoredRun(
    summary=RunSummary(
        run_id="20261130-032653-jxum",
        task="Which tickets of \x1b[31mlast week are still open, and whose are they?",
        created=0.0,
        ended=12.0,
        status="solved",
        model="gpt-5-mini",
        answer="7",
        usage=Usage(model_calls=1, input_tokens=1000, output_tokens=500),
    ),
    attempts=(Attempt(Program("print(7)"), (), Trace(stdout="7"), None, ("One page was read.",)),),
    calls=(),
    exchanges=(),
)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = format_list([RUN, RUN], width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for part in (RUN.summary.run_id, "solved, 1 doubt", "12.0 s", "1,500 tokens", "$0.00125"):
        assert text.count(part) == 2
    assert text.count("doubt   One page was read.") == 2
    assert "\x1b" not in text


def test_through_a_pipe_nothing_is_cut() -> None:
    head, doubt = format_list([RUN], None)
    assert head.endswith(
        "$0.00125  Which tickets of \\x1b[31mlast week are still open, and whose are they?"
    )
    assert doubt.strip() == "doubt   One page was read."
