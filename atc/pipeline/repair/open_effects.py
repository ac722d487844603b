"""Writes that returned a text which the program raised as an exception.

Some tools report a refusal as a text, and not as an error. If the program raises the text of a
write, this text may be a refusal, so it is not known whether the write changed anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from atc.core.json_paths import walk
from atc.core.messages import format_tool_call, snippet
from atc.core.prompts import fill
from atc.core.types import Attempt
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall


def raised_writes(attempts: Iterable[Attempt], tools: Toolbox) -> list[ToolCall]:
    """Return the writes that returned a text which the program then raised as an exception."""
    found: list[ToolCall] = []
    for attempt in attempts:
        failure = attempt.trace.failure if attempt.trace is not None else None
        if failure is None or failure.kind != "exception" or failure.call is not None:
            continue
        found += [
            call
            for call in attempt.calls
            if call.outcome == "done"
            and call.tool in tools
            and tools[call.tool].protocol.writes
            and _is_raised(call, tools, failure.message)
        ]
    return found


def _is_raised(call: ToolCall, tools: Toolbox, message: str) -> bool:
    """Return True if `message`, that of an exception, is a text that the call returned.

    A message that contains the text among others counts, too, unless the text is a single word.
    A single word, such as an id, may be part of the program's own sentence.
    """
    result = tools[call.tool].unwrap(call.result)
    texts = [value.strip() for _, value in walk(result) if isinstance(value, str)]
    return any(
        text == message.strip() or (" " in text and text in message) for text in texts if text
    )


def ask_whether_refused(calls: Sequence[ToolCall]) -> str:
    """Return the part of a repair prompt that asks whether these writes changed anything."""
    if not calls:
        return ""
    lines = [f"- {format_tool_call(call)} gave {snippet(call.result)}" for call in calls]
    return fill("repair_refused", calls="\n".join(lines))


def note_open_effects(raised: Sequence[ToolCall], orphans: Iterable[ToolCall]) -> list[str]:
    """Return a sentence for each tool of which an orphan may have changed nothing.

    Orphans are writes that the final program does not make. An orphan may have changed nothing if
    it is also among `raised`, the writes whose text a program raised.
    """
    known = [(call.tool, call.arguments) for call in raised]
    tools = [call.tool for call in orphans if (call.tool, call.arguments) in known]
    return [
        f"It is open whether a call of {tool} changed anything: the program raised the text that it"
        " returned. If such a text is a refusal, say so with load_tools(…, failed=…)."
        for tool in dict.fromkeys(tools)
    ]
