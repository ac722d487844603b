"""Removal of a model's thoughts from the text of its reply.

A model that reasons writes its thoughts before the answer, between marks that differ from model to
model. Many servers leave them in the text. A program in the thoughts is a draft, which the model
may be arguing against, so nothing of them may be run.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from protocols.python_source import parse_python_or_none

_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)
"""The marks at the beginning and at the end of thoughts, of the models that use them."""
_OPENING = {opening.lower() for opening, _ in _MARKS}
_ANY_MARK = re.compile("|".join(re.escape(mark) for pair in _MARKS for mark in pair), re.IGNORECASE)
_CHANNEL_MARK = "<|channel|>"
_CHANNEL = re.compile(
    r"<\|channel\|>\s*+(?P<name>\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?+<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
"""A message in the harmony format: the name of its channel, and its text.

Nothing is matched again in another way, which could take hours for a hostile reply."""
_BARE_CHANNELS = re.compile(r"\A\s*analysis(?=[^a-z]).*?\bassistant\s*final(?![a-z])", re.DOTALL)
"""Thoughts in the harmony format, of a server that drops the marks but not what they mark."""
_MOST_THOUGHTS = 20
"""Maximum number of thoughts that are removed from one text."""
_Span: TypeAlias = tuple[int, int]
_FENCE = re.compile(r"^[ \t]*```([^\n]*)$", re.MULTILINE)


class SaidText(NamedTuple):
    """What a model said, without its thoughts.

    `is_open` is True if the text ended within thoughts, so that the model said nothing after them.
    """

    text: str
    is_open: bool = False


def remove_thoughts(text: str) -> SaidText:
    """Return the text of a reply without the thoughts in it.

    If an end mark has no beginning, the thoughts began before the text: some prompts contain the
    beginning. A mark in a text or comment of a Python program is part of that program.
    """
    channel = text.find(_CHANNEL_MARK)
    if channel >= 0 and not _is_within(_find_programs(text), channel):
        return _said_on_channels(text)
    if (bare := _BARE_CHANNELS.match(text)) is not None:
        return SaidText(text[bare.end() :])
    said = ""
    for _ in range(_MOST_THOUGHTS):
        found = _first_thoughts(text)
        if found is None:
            break
        start, end = found
        said = "" if start is None else said + text[:start]
        if end is None:
            return SaidText(said, is_open=True)
        text = text[end:]
    return SaidText(said + text)


def _first_thoughts(text: str) -> tuple[int | None, int | None] | None:
    """Return where the first thoughts in a text start and end, marks included, or None.

    The start is None if the thoughts began before the text, and the end is None if they do not end.
    A beginning without an end counts only at the start of a line. Elsewhere it may be a word of a
    sentence about such marks.
    """
    programs = _find_programs(text)
    marks = (m for m in _ANY_MARK.finditer(text) if not _is_within(programs, m.start()))
    first = next(marks, None)
    if first is None:
        return None
    if not _is_opening(first):
        return None, first.end()
    last = next((mark for mark in marks if not _is_opening(mark)), None)
    if last is not None:
        return first.start(), last.end()
    return (first.start(), None) if _begins_line(text, first.start()) else None


def _is_opening(mark: re.Match[str]) -> bool:
    return mark[0].lower() in _OPENING


def _begins_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def _find_programs(text: str) -> list[_Span]:
    """Return the parts of a reply that are Python and contain a mark, as pairs (start, end).

    A mark can then only stand in a text or a comment of the program.
    """
    if not _has_mark(text):
        return []
    if "```" not in text:
        return [(0, len(text))] if parse_python_or_none(text) is not None else []
    blocks = [(start, end) for start, end in _fenced_blocks(text) if _has_mark(text[start:end])]
    return [span for span in blocks if parse_python_or_none(text[slice(*span)]) is not None]


def _fenced_blocks(text: str) -> Iterator[_Span]:
    """Yield where the text in each fenced block starts and ends. A block that is open has none."""
    start: int | None = None
    for fence in _FENCE.finditer(text):
        if start is None:
            start = fence.end() + 1
        elif not fence[1].strip(" \t"):
            yield start, fence.start()
            start = None


def _has_mark(text: str) -> bool:
    return _CHANNEL_MARK in text or _ANY_MARK.search(text) is not None


def _is_within(spans: Sequence[_Span], position: int) -> bool:
    """Return True if a position is in one of the spans, which are in order and do not overlap."""
    before = bisect_right(spans, position, key=lambda span: span[0])
    return before > 0 and position < spans[before - 1][1]


def _said_on_channels(text: str) -> SaidText:
    """Return what a reply in the harmony format says on its final channel.

    Without a final message, it is the last message to a tool, such as a program in a call.
    """
    messages = [(found["name"], found["text"]) for found in _CHANNEL.finditer(text)]
    final = [said for name, said in messages if name == "final"]
    asked = [said for name, said in messages if name == "commentary"]
    if final or asked:
        return SaidText((final or asked)[-1])
    return SaidText("", is_open=True)
