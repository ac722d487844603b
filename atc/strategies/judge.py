"""Whether an answer settles its task, as a model sees it (AnyTool §3.2, §5.1).

**Votes.** A model is asked three times, at the run's temperature and with another seed each time, as in the published
code. **The tie rule**: a word that more than half of the votes say is the verdict; where no word is, the verdict is
*Unsure*. A reply that cannot be read says *Unsure*. Votes that cannot change the verdict any more are not asked for.
(ToolEval throws a coin for each *Unsure* and lets a tie pass; so its figures do not repeat, and are too high.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from atc.findings import invocation
from atc.prompts import fill
from atc.retrieve.asking import a_text, an_object, json_object, one_text
from protocols.abridge import abridged, clipped
from protocols.ask import Ask, Message
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

Word = Literal["Solved", "Unsolved", "Unsure"]

WORDS: tuple[Word, ...] = ("Solved", "Unsolved", "Unsure")
_SCHEMA = an_object({"reason": a_text(300), "verdict": {"type": "string", "enum": list(WORDS)}})
_REPLY_TOKENS = 250
_LONGEST_ANSWER = 2000
_LONGEST_CALL = 500
"""Characters of a result that a judge is shown."""
_MOST_CALLS = 12
"""Calls that a judge is shown: the last ones, from which an answer is made."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is held of an answer, why, and the votes that were asked for."""

    word: Word
    reason: str = ""
    votes: tuple[Word, ...] = ()


def judged(ask: Ask, task: str, answer: str, *, calls: str = "", votes: int = 3, temperature: float = 0.7) -> Verdict:
    """The verdict of a model on `answer`; `calls` tells what it rests on, see `told`.

    Raises:
        ModelUnavailable: the model did not answer.
    """
    said = fill("judge_task", task=task, calls=calls or "(none)", answer=clipped(answer.strip(), _LONGEST_ANSWER))
    messages = [Message("system", fill("judge")), Message("user", said)]
    words: list[Word] = []
    reasons: dict[Word, str] = {}
    for seed in range(votes):
        reply = ask(messages, schema=_SCHEMA, temperature=temperature, seed=seed, max_tokens=_REPLY_TOKENS)
        word, reason = read(reply.text)
        words.append(word)
        reasons[word] = reasons.get(word) or reason
        if 2 * words.count(word) > votes:
            return Verdict(word, reasons[word], tuple(words))
    return Verdict("Unsure", reasons.get("Unsure") or "the votes differ", tuple(words))


def read(text: str) -> tuple[Word, str]:
    """The vote of a reply, and its reason; one that cannot be read is unsure."""
    said = json_object(text)
    return (said["verdict"], one_text(said.get("reason"))) if said.get("verdict") in WORDS else ("Unsure", "")


def told(calls: Sequence[ToolCall], tools: Toolbox) -> str:
    """Calls and what they returned, a line each, as a judge is shown them."""
    shown = calls[-_MOST_CALLS:]
    left = [f"({len(calls) - len(shown)} earlier calls)"] if len(shown) < len(calls) else []
    return "\n".join([*left, *(f"- {invocation(call)} → {_returned(call, tools)}" for call in shown)])


def _returned(call: ToolCall, tools: Toolbox) -> str:
    if call.error is not None:
        return f"error: {clipped(call.error, _LONGEST_CALL)}"
    result = tools[call.tool].unwrap(call.result) if call.tool in tools else call.result
    return abridged(result, most=_LONGEST_CALL)
