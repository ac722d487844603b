"""A conversation of turns that stays within the room of a prompt: what the model did, and what it was told of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from atc.core.prompts import fill
from protocols.model import Message
from protocols.render import Docs, describe_within_budget, token_estimate
from protocols.schema import Json
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_output, abridge_value, clip_text

_LEAST_ROOM = 1_600
"""Tokens of turns in a prompt: with the opening and a reply they fit the embedded model's context."""
_OUTPUTS = 4
"""Outputs of full length that fit the room, with what the model says between them."""
_CHARACTERS_A_TOKEN = 3
_BRIEF = 160
"""Characters that are left of what was told earlier, where room is short."""

TurnEnd = Literal["answer", "back", "give_up", "paused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The model's words, and what it was told of them; the call that stood in them, where one could be made.

    `end`: it finished with an `answer`, left its way or gave up for a `reason` (naming `functions` that are of no use),
    or made a call that a person must decide about.
    """

    reply_text: str
    feedback: str = ""
    tool: str = ""
    end: TurnEnd | None = None
    answer: str | None = None
    reason: str = ""
    functions: tuple[str, ...] = ()


@dataclass
class Turns:
    """The opening, whose last message is the user's, then the turns that stand.

    Where not all fits `room` (tokens), what was told earliest is shortened first; then the earliest turns are left out.
    """

    opening: Sequence[Message]
    room: int
    taken: list[Turn] = field(default_factory=list)

    @property
    def last(self) -> Turn:
        """The turn that stands last; one of no words where none does."""
        return self.taken[-1] if self.taken else Turn(reply_text="")

    def back_to(self, count: int) -> None:
        """Forget all but the first `count` turns."""
        del self.taken[count:]

    def messages(self, then: str = "") -> list[Message]:
        """The prompt for the next turn; `then` is said behind what was told last."""
        said = [turn.reply_text for turn in self.taken]
        room = self.room - token_estimate(then)
        told = shorten_texts(
            [turn.feedback for turn in self.taken], beside=sum(map(token_estimate, said)), room=room
        )
        sizes = [token_estimate(a) + token_estimate(b) for a, b in zip(said, told, strict=True)]
        out = 0
        while out < len(sizes) - 1 and sum(sizes[out:]) > room:
            out += 1
        messages = list(self.opening)
        if out:
            messages[-1] = _append_text(messages[-1], fill("turns_left_out", count=str(out)))
        for words, answer in zip(said[out:], told[out:], strict=True):
            messages += [Message("assistant", words), Message("user", answer)]
        return [*messages[:-1], _append_text(messages[-1], then)] if then else messages


def build_opening(
    rules: str,
    example: str,
    task: str,
    tools: Toolbox,
    *,
    told: Callable[[str], str],
    said: Callable[[str], str] = str,
    budget: int,
    docs: Docs,
    more: str = "",
) -> list[Message]:
    """Rules, a worked example from another field, and the task behind `budget` tokens of what is told of the tools.

    The sections of `example` (`=== kind`) are in turns what the model says and what it is told of it, as `said` and
    `told` put it; before them may stand a `task` that is not the usual one.
    """
    sections = re.split(r"^=== (\w+)\n", example, flags=re.MULTILINE)[1:]
    texts = [text.strip("\n") for text in sections[1::2]]
    begun = texts.pop(0) if sections[0] == "task" else fill("example_task")
    stubs = describe_within_budget(tools, budget=budget, docs=docs)[0]
    return [
        Message("system", rules),
        Message("user", fill("example_task_names") if docs == "names" else begun),
        *(
            Message("user", told(text)) if n % 2 else Message("assistant", said(text))
            for n, text in enumerate(texts)
        ),
        Message("user", paragraphs([fill("task", stubs=stubs, task=task), more])),
    ]


def build_messages(system: str, user: str) -> list[Message]:
    """A conversation that begins with these two messages."""
    return [Message("system", system), Message("user", user)]


def paragraphs(parts: Iterable[str]) -> str:
    """The parts that are not empty, a blank line between two."""
    return "\n\n".join(part for part in (part.strip("\n") for part in parts) if part)


def room_for_turns(budget: int) -> int:
    """Tokens that turns may take beside an opening that tells `budget` tokens of tools."""
    return max(_LEAST_ROOM, budget // 2)


def longest_shown(budget: int) -> int:
    """Characters of one output or observation beside an opening of `budget`, for every strategy alike."""
    return room_for_turns(budget) * _CHARACTERS_A_TOKEN // _OUTPUTS


def shown_value(value: Json, *, most: int) -> str:
    """The value of a program's last expression, as a notebook shows it, in `most` characters."""
    return (
        abridge_output(value, most=most)
        if isinstance(value, str)
        else abridge_value(value, most=most)
    )


def first_paragraph(text: str) -> str | None:
    """An answer without the remarks that some models put behind it, and without Markdown around it; None if empty."""
    return re.split(r"\n[ \t]*\n", text.strip(), maxsplit=1)[0].strip().strip("*_`").strip() or None


def shorten_texts(told: Sequence[str], *, room: int, beside: int = 0) -> list[str]:
    """Texts, the earliest shortened until all fit `room` together with `beside`, in tokens. The last one stays."""
    shown = list(told)
    for number, text in enumerate(told[:-1]):
        if beside + sum(map(token_estimate, shown)) <= room:
            break
        shown[number] = clip_text(text, _BRIEF)
    return shown


def _append_text(message: Message, more: str) -> Message:
    return replace(message, content=f"{message.content}\n\n{more}")
