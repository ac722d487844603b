"""What a person sees of a run while it goes on."""

from __future__ import annotations

import io

from rich.console import Console

from atc.core.events import (
    AttemptEnded,
    ModelAsked,
    ModelReplied,
    NoteAdded,
    ProgramWritten,
    ToolCalled,
)
from atc.core.program import Program
from atc.core.types import Attempt
from atc.observe.terminal_view import RunView, format_reading
from protocols.model import Completion
from sandbox.trace import ToolCall


def shown(*events) -> list[str]:
    text = io.StringIO()
    with RunView(Console(file=text, width=200)) as view:
        for event in events:
            view(event)
    return text.getvalue().splitlines()


def test_a_reply_is_a_line() -> None:
    reply = Completion(
        text="x", model="m", input_tokens=100, cached_tokens=90, output_tokens=7, seconds=1.5
    )
    assert shown(ModelAsked("write", ()), ModelReplied("write", reply)) == [
        "model     10 tokens read, 7 written in 1.5 s"
    ]
    doubted = Attempt(Program(""), (), None, None, doubts=("A judge holds: which one?",))
    said = shown(NoteAdded("decoding: no."), AttemptEnded(0, doubted))
    assert said == ["note      decoding: no.", "doubt     A judge holds: which one?"]


def test_only_new_lines_of_a_program_are_shown() -> None:
    calls = [
        ToolCall(index=n, tool="find", arguments={"n": n}, line=n, result=n, seconds=0.004)
        for n in (0, 1)
    ]
    again = ToolCall(index=0, tool="find", arguments={"n": 0}, line=1, result=0, reused=True)
    assert shown(
        ProgramWritten(0, Program("a = find(n=0)\n"), ()),
        ToolCalled(0, calls[0]),
        ProgramWritten(1, Program("a = find(n=0)\nb = find(n=1)\n"), ()),
        ToolCalled(0, again),
        ToolCalled(0, calls[1]),
        ProgramWritten(2, Program("a = find(n=0)\nprint(a)\n"), ()),
        ToolCalled(0, again),
    ) == [
        "program   attempt 1, 1 line",
        "        1 │ a = find(n=0)",
        "call      find(n=0) → integer · 4 ms",
        "program   attempt 2, 1 line more",
        "        2 │ b = find(n=1)",
        "call      find(n=1) → integer · 4 ms",
        "program   attempt 3, 2 lines",
        "        1 │ a = find(n=0)",
        "        2 │ print(a)",
        "call      find(n=0) → integer · again, from the journal",
    ]


def test_many_calls_of_one_tool_are_folded() -> None:
    calls = [
        ToolCall(index=n, tool="find", arguments={"n": n}, line=1, result=n, seconds=0.004)
        for n in range(9)
    ]
    other = ToolCall(index=9, tool="look", arguments={}, line=2, result=1, seconds=0.004)
    assert shown(*(ToolCalled(0, call) for call in (*calls, other))) == [
        "call      find(n=0) → integer · 4 ms",
        "call      find(n=1) → integer · 4 ms",
        "call      find(n=2) → integer · 4 ms",
        "call      … 6 more calls of find",
        "call      look() → integer · 4 ms",
    ]


def test_how_far_a_long_prompt_was_read() -> None:
    assert [format_reading(done, 4_096, done / 32) for done in (0, 1_024)] == [
        "reading the tools ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 0 of 4,096 tokens",
        "reading the tools ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 1,024 of 4,096 tokens, about 96 s left",
    ]


def test_values_are_shown_only_on_request() -> None:
    value = ["\x1b[2J\u202e"]
    calls = [
        ToolCall(index=n, tool="find", arguments={}, line=1, result=value, seconds=0.004)
        for n in range(5)
    ]
    text = io.StringIO()
    with RunView(Console(file=text, width=200), values=True) as view:
        for call in calls:
            view(ToolCalled(0, call))
    assert text.getvalue() == 'call      find() → ["\\u001b[2J\\u202e"] · 4 ms\n' * 5
    assert "[string] × 1" in shown(ToolCalled(0, calls[0]))[0]
