"""A conversation that fits the model's prompt: the model's replies and the feedback to each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from atc.core.prompts import fill
from atc.pipeline.synthesize import EXAMPLE_TASKS, add_names
from protocols.model import Message
from protocols.render import Docs, describe_within_budget, token_estimate
from protocols.schema import Json
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_output, abridge_value, clip_text

_LEAST_ROOM = 1_600
"""Minimum number of tokens for turns.

With this many, the opening, the turns and a reply fit the context of the embedded model.
"""
_OUTPUTS = 4
"""Number of full-length outputs that fit into the tokens for turns, together with replies."""
_CHARACTERS_A_TOKEN = 3
_BRIEF = 160
"""Length, in characters, to which old feedback is shortened."""

TurnEnd = Literal["answer", "back", "give_up", "paused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation: the model's reply, and the feedback to it.

    `tool` is the tool that the reply called, if any. `end` is set if this turn is the last one: the
    model gave the `answer`, went back to an earlier turn, or gave up, or a person must decide about
    a call. A model that gives up states a `reason` and the names of the `functions` that did not
    help.
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
    """A conversation with a model: the opening messages, and the turns that were taken since.

    The opening ends with a user message. `room` is the maximum number of tokens of the turns. If
    they exceed it, the oldest feedback is shortened first; then the oldest turns are left out of
    the prompt.
    """

    opening: Sequence[Message]
    room: int
    taken: list[Turn] = field(default_factory=list)

    @property
    def last(self) -> Turn:
        """The last turn, or an empty turn if the conversation is empty."""
        return self.taken[-1] if self.taken else Turn(reply_text="")

    def back_to(self, count: int) -> None:
        """Remove all turns except the first `count`."""
        del self.taken[count:]

    def messages(self, then: str = "") -> list[Message]:
        """Return the prompt for the next turn, with the text `then` at its end."""
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
    nearest: int | None = None,
    by_name: Sequence[str] = (),
    more: str = "",
) -> list[Message]:
    """Build the opening of a conversation: rules, a worked example, and the task with its tools.

    The example is from another domain. The tools are described in at most `budget` tokens, those
    after the first `nearest` ones without optional arguments. The calls in `by_name` are listed
    below. The text `example` has sections, each below a line `=== kind`, which are alternately
    replies of the model, formatted by `said`, and feedback, formatted by `told`. If the first
    section is of the kind `task`, it replaces the usual example task.
    """
    sections = re.split(r"^=== (\w+)\n", example, flags=re.MULTILINE)[1:]
    texts = [text.strip("\n") for text in sections[1::2]]
    begun = texts.pop(0) if sections[0] == "task" else fill(EXAMPLE_TASKS.get(docs, "example_task"))
    stubs = describe_within_budget(tools, budget=budget, docs=docs, nearest=nearest)[0]
    return [
        Message("system", rules),
        Message("user", fill("example_task_names") if docs == "names" else begun),
        *(
            Message("user", told(text)) if n % 2 else Message("assistant", said(text))
            for n, text in enumerate(texts)
        ),
        Message(
            "user", paragraphs([fill("task", stubs=add_names(stubs, by_name), task=task), more])
        ),
    ]


def build_messages(system: str, user: str) -> list[Message]:
    """Build a conversation of a system message and a user message."""
    return [Message("system", system), Message("user", user)]


def paragraphs(parts: Iterable[str]) -> str:
    """Join texts to one text, with a blank line between them. Empty texts are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip("\n"))


def room_for_turns(budget: int) -> int:
    """Return the maximum number of tokens of a prompt that earlier turns may take.

    `budget` is the number of tokens for tool descriptions.
    """
    return max(_LEAST_ROOM, budget // 2)


def longest_shown(budget: int) -> int:
    """Return the maximum length, in characters, of one tool result or program output in a prompt.

    It is the same for all strategies. `budget` is the number of tokens for tool descriptions.
    """
    return room_for_turns(budget) * _CHARACTERS_A_TOKEN // _OUTPUTS


def shown_value(value: Json, *, most: int) -> str:
    """Return the value of a program's last expression as a notebook shows it.

    The text has at most `most` characters.
    """
    return (
        abridge_output(value, most=most)
        if isinstance(value, str)
        else abridge_value(value, most=most)
    )


def first_paragraph(text: str) -> str | None:
    """Return the first paragraph of an answer without Markdown markup, or None if it is empty."""
    return re.split(r"\n[ \t]*\n", text.strip(), maxsplit=1)[0].strip().strip("*_`").strip() or None


def shorten_texts(told: Sequence[str], *, room: int, beside: int = 0) -> list[str]:
    """Shorten the oldest texts until all texts fit into `room` tokens.

    `told` are the texts, oldest first. The last one is never shortened. The prompt also contains
    other text, of `beside` tokens, which must fit into `room`, too.
    """
    shown = list(told)
    for number, text in enumerate(told[:-1]):
        if beside + sum(map(token_estimate, shown)) <= room:
            break
        shown[number] = clip_text(text, _BRIEF)
    return shown


def _append_text(message: Message, more: str) -> Message:
    return replace(message, content=f"{message.content}\n\n{more}")
