"""Calls of programs."""

from atc.run.program_calls import number_calls, seen_output
from sandbox.trace import ToolCall


def test_equal_calls_are_numbered():
    call = ToolCall(index=0, tool="get", arguments={}, line=1, result=1)
    assert [key for key, _ in number_calls([call, call])] == [('["get",{}]', 0), ('["get",{}]', 1)]
    assert not seen_output([])
