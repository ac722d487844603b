"""From a failed attempt to the turns that ask for the next program, in one of three ways.

`facts` tells what attribution found and what was really there; `reflection` is equation 2 of the ATC paper, in which
the model itself names the tool to blame and gets its documentation; `traceback` is Python's own text, as plain code
agents have it. Whatever the way, the turns are appended to the conversation: the model sees every earlier attempt, and
a cached prefix is not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

from atc.prompts import fill
from atc.repair.case import Case
from atc.repair.facts import facts
from atc.repair.reading import fenceless, returned
from atc.repair.ways import reflection, traceback
from atc.synthesize import Complete
from atc.types import Attempt
from protocols.ask import Message
from protocols.render import Docs
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

__all__ = ["WAYS", "Way", "correction", "worth_repairing"]

Way = Literal["facts", "reflection", "traceback"]
WAYS: tuple[Way, ...] = get_args(Way)

_LONGEST_ANSWER = 300
"""Characters of a doubtful answer that are shown again."""
_LONGEST_RETURNED = 3_000
"""Characters of what the calls behind a doubtful answer returned."""

_TELL: Mapping[str, Callable[[Case], list[Message]]] = {
    "facts": facts,
    "reflection": reflection,
    "traceback": traceback,
}


def correction(
    attempt: Attempt,
    tools: Toolbox,
    *,
    mode: str = "facts",
    complete: Complete | None = None,
    orphans: Sequence[ToolCall] = (),
    messages: Sequence[Message] = (),
    docs: Docs = "full",
    calls: Sequence[ToolCall] = (),
) -> list[Message]:
    """The turns that follow a failed or doubtful attempt: its program, and what became of it.

    `mode` is one of `WAYS`. `complete` asks the model in between: `reflection` needs it.
    `orphans` are writes that happened, which the next program would leave behind if it
    did not make them. `messages` is the conversation so far, `calls` are those of all attempts. With `docs` "names"
    no tool is described.

    Raises:
        ValueError: `reflection` without `complete`.
        KeyError: no such mode.
    """
    case = Case(
        attempt=attempt,
        tools=tools,
        complete=complete,
        orphans=tuple(orphans),
        messages=tuple(messages),
        docs=docs,
        made=tuple(calls),
    )
    if attempt.fault is None:
        return [case.written, Message("user", _doubted(case))]
    return _TELL[mode](case)


def worth_repairing(attempts: Sequence[Attempt]) -> Attempt:
    """Of a round's attempts the one to go on from: it got furthest; the earliest of equals.

    One with a (doubtful) answer got further than one that failed, one that made calls further than one that made
    fewer, and one that the check stopped got nowhere: the fewer findings the better.
    """
    return max(
        attempts,
        key=lambda a: (
            a.answer is not None,
            a.trace is not None,
            len(a.trace.calls) if a.trace else -len(a.findings),
        ),
    )


def _doubted(case: Case) -> str:
    answer = case.attempt.answer or ""
    clipped = answer if len(answer) <= _LONGEST_ANSWER else answer[:_LONGEST_ANSWER] + " …"
    doubts = "\n".join(f"- {doubt}" for doubt in case.attempt.doubts)
    gave = fenceless(returned(case.calls, case.tools, most=_LONGEST_RETURNED)) or "(no call succeeded)"
    return fill("doubt", answer=clipped, doubts=doubts, calls=gave)
