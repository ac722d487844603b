"""What the model is told while its program grows: the opening, and after each piece what became of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from atc.prompts import fill
from atc.repair import facts
from atc.repair.case import Case
from atc.repair.reading import fenceless, returned
from atc.strategies.turns.conversation import briefer, longest_shown, room_for_turns
from atc.synthesize import Complete
from atc.types import Attempt
from protocols.abridge import abridged, clipped, printed
from protocols.ask import Message
from protocols.render import Docs, described_within, token_estimate
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

_CHARACTERS_A_TOKEN = 3
_LONGEST_ANSWER = 300


@dataclass(frozen=True, slots=True)
class Turn:
    """A piece as it ran, what the model was told of it, what stood then beside, and what it was asked for.

    What stands beside is told in the last turn alone: it may not stand any more.
    """

    piece: Message
    told: str
    beside: str
    then: str


@dataclass
class Conversation:
    """The opening, then a turn a piece. The earliest turns are told in brief where all do not fit."""

    opening: list[Message]
    room: int
    """Tokens that the turns may take."""
    longest: int
    """Characters that one output is shown with."""
    turns: list[Turn] = field(default_factory=list)

    @classmethod
    def begun(
        cls,
        task: str,
        tools: Toolbox,
        *,
        budget: int,
        calls: Sequence[ToolCall] = (),
        more: str = "",
        docs: Docs = "full",
    ) -> Conversation:
        """A conversation about `task`; `budget` is in tokens of what is told of the tools.

        `calls` were made before it: what they gave is shown. `more` is said behind it.
        """
        room = room_for_turns(budget)
        text, _ = described_within(tools, budget=budget, docs=docs)
        asked = [fill("task", stubs=text, task=task)]
        if calls:
            known = fill("step_known", calls=fenceless(returned(calls, tools, most=room * _CHARACTERS_A_TOKEN // 3)))
            asked.append(known)
            room -= token_estimate(known)
        opening = [Message("system", fill("step")), *_example(docs), Message("user", _paragraphs([*asked, more]))]
        return cls(opening, room, longest_shown(budget))

    def add(self, piece: str, told: Sequence[str], *, beside: str, then: str) -> None:
        """Take a turn: paragraphs that the model is told after `piece`."""
        self.turns.append(Turn(said(piece), _paragraphs(told), beside, then))

    def messages(self) -> list[Message]:
        """The prompt for the next piece."""
        pieces = sum(token_estimate(turn.piece.content) for turn in self.turns)
        told = briefer([turn.told for turn in self.turns], beside=pieces, room=self.room)
        if self.turns:
            told[-1] = _paragraphs([told[-1], self.turns[-1].beside])
        messages = list(self.opening)
        for turn, text in zip(self.turns, told, strict=True):
            messages += [turn.piece, Message("user", _paragraphs([text, turn.then]))]
        return messages


def looked(trace: Trace, calls: Sequence[ToolCall], tools: Toolbox, *, most: int) -> str:
    """What a piece showed: its output, or else its value, or else what its `calls` gave."""
    if trace.stdout.strip():
        shown = printed(trace.stdout, most=most)
    elif trace.value is not None:
        value = trace.value
        shown = printed(value, most=most) if isinstance(value, str) else abridged(value, most=most)
    else:
        shown = "(nothing was printed)"
        if calls:
            shown += f"\n{returned(calls, tools, most=most)}"
    return fenceless(shown)


def failed(
    piece: str,
    result: Attempt,
    tools: Toolbox,
    *,
    complete: Complete,
    messages: Sequence[Message],
    docs: Docs = "full",
) -> str:
    """What is known of a piece's failure, as a repair of a whole program tells it.

    `complete` and `messages`, the conversation so far, serve where facts leave several calls to blame.
    """
    case = _Failed(attempt=result, tools=tools, complete=complete, messages=tuple(messages), docs=docs, piece=piece)
    return facts.told(case)[-1].content


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed(Case):
    """A program of which only the last piece is to be written again."""

    piece: str

    @property
    def written(self) -> Message:
        """The model's own turn: the piece."""
        return said(self.piece)

    def rewrite(self, parts: Iterable[str]) -> Message:
        """What there is to say; what is asked for, and the writes that stand, are told with every turn."""
        return Message("user", _paragraphs(parts))


def said(piece: str) -> Message:
    """A piece as the model's turn."""
    return Message("assistant", _block(piece.strip("\n")) if piece.strip() else "(no program)")


def doubted(result: Attempt) -> str:
    """What speaks against an answer: its doubts, or changes that its program did not make."""
    doubts = result.doubts or ("changes were made that are no part of the program, see below.",)
    answer = clipped(result.answer or "", _LONGEST_ANSWER)
    return fill("step_doubt", answer=answer, doubts="\n".join(f"- {doubt}" for doubt in doubts))


def _example(docs: Docs) -> Iterable[Message]:
    """The worked example: a task, and pieces with what they printed, told as the real ones are."""
    parts = re.split(r"^=== (\w+)\n", fill("step_example"), flags=re.MULTILINE)[1:]
    for kind, text in zip(parts[::2], parts[1::2], strict=True):
        match kind:
            case "piece":
                yield said(text)
            case "output":
                yield Message("user", _paragraphs([fill("step_output", output=text.strip("\n")), fill("step_next")]))
            case _:
                yield Message("user", fill("example_task_names") if docs == "names" else text.strip("\n"))


def _block(source: str) -> str:
    return f"```python\n{source}\n```"


def _paragraphs(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in (part.strip("\n") for part in parts) if part)
