"""From a fault to the next program: the model sees every attempt, the blamed call, and what was really there."""

from __future__ import annotations

from collections.abc import Sequence

from atc.prompts import fill
from atc.types import Attempt
from protocols.ask import Message
from protocols.render import FULL, stubs
from protocols.toolbox import Toolbox

_LONGEST_ANSWER = 300
"""Characters of a doubtful answer that are shown again."""


def correction(attempt: Attempt, tools: Toolbox) -> list[Message]:
    """The turns that follow a failed attempt (equation 2 of the ATC paper): its program, and what became of it.

    Appended to the conversation, so that the model sees all attempts and a cached prefix is not read again. The
    blamed tool's full stub is repeated, since that is where the mistake is (the paper's d_j).
    """
    written = Message("assistant", f"```python\n{attempt.program.source}```")
    fault = attempt.fault
    if fault is None:
        doubts = "\n".join(f"- {doubt}" for doubt in attempt.doubts)
        return [written, Message("user", fill("doubt", answer=_clipped(attempt.answer or ""), doubts=doubts))]
    blamed = [fault.tool] if fault.tool is not None and fault.tool in tools else []
    documentation = (
        f"\nThe function again:\n\n```python\n{stubs(tools.only(blamed), detail=FULL, among=tools)}\n```\n"
        if blamed
        else ""
    )
    evidence = "\n".join(f"- {fact}" for fact in fault.evidence)
    return [
        written,
        Message("user", fill("repair", message=fault.message, evidence=evidence, documentation=documentation)),
    ]


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


def _clipped(answer: str) -> str:
    return answer if len(answer) <= _LONGEST_ANSWER else answer[:_LONGEST_ANSWER] + " …"
