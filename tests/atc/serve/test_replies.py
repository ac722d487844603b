"""The parts of a gateway's reply."""

from atc.core.types import Attempt, Program
from atc.serve.replies import answer_of, call_line
from sandbox.trace import ToolCall, Trace


def test_a_call_is_one_line():
    call = ToolCall(
        index=0,
        tool="get_film",
        arguments={"film_id": 7},
        line=1,
        result={"title": "x"},
        seconds=0.012,
    )
    assert call_line(call) == "line 1: get_film(film_id=7) → {title: string} · 12 ms"


def test_a_printed_answer_is_parsed():
    attempt = Attempt(
        program=Program("print([1])"),
        findings=(),
        fault=None,
        trace=Trace(calls=(), stdout="[1, None]\n"),
    )
    assert answer_of(attempt) == [1, None]
