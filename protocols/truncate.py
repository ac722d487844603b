"""Values and printed text, shortened to the room that a prompt has: a sample, and the shape of the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping

from protocols.python_source import evaluate_literal
from protocols.schema import Json, shape

_SAMPLES = ((10, 300), (5, 150), (3, 80), (2, 40), (1, 20))
"""Items of a list and characters of a text that a sample shows, from generous to terse."""
_MOST_KEYS = 30
_LONGEST_SHAPE = 600
_LONGEST_READ = 200_000
"""Characters of printed text that are read as a value; of more, the beginning is shown."""


def abridge_value(value: Json, *, most: int) -> str:
    """A value as Python writes it, within about `most` characters; a shortened one says so and gives its shape.

    Every key of an object stays as long as there is room, since keys are what a program reads by.
    """
    whole = repr(value)
    if len(whole) <= most:
        return whole
    if not isinstance(value, Mapping | list):
        return clip_text(whole, most)
    return f"{sample_value(value, most=most)}\n(shortened; the whole is {clip_text(shape(value), _LONGEST_SHAPE)})"


def sample_value(value: Json, *, most: int) -> str:
    """A value as Python writes it, on one line of about `most` characters: of lists the first items, of texts the
    beginning.
    """
    samples = (_sample(value, items, letters) for items, letters in _SAMPLES)
    return next((text for text in samples if len(text) <= most), None) or clip_text(
        _sample(value, *_SAMPLES[-1]), most
    )


def abridge_output(text: str, *, most: int) -> str:
    """What a program printed, within about `most` characters: a value as `abridged` has it, of many lines the first
    that fit and the last.
    """
    text = text.strip("\n")
    if len(text) <= most:
        return text
    value = _parse_value(text)
    if isinstance(value, Mapping | list):
        return abridge_value(value, most=most)
    *lines, last = (clip_text(line, most // 2) for line in text.splitlines())
    if not lines:
        return clip_text(text, most)
    room = most - len(last)
    head = 1
    while head < len(lines) and (room := room - len(lines[head - 1]) - 1) >= len(lines[head]):
        head += 1
    left = len(lines) - head
    between = [f"… ({left:,} lines more) …"] if left else []
    return "\n".join([*lines[:head], *between, last])


def clip_text(text: str, most: int) -> str:
    """The beginning of a text, with how much is left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} characters more)"


def _sample(value: Json, items: int, letters: int) -> str:
    match value:
        case Mapping():
            inside = [
                f"{key!r}: {_sample(child, items, letters)}"
                for key, child in list(value.items())[:_MOST_KEYS]
            ]
            more = [f"… {len(value) - _MOST_KEYS} keys more"] if len(value) > _MOST_KEYS else []
            return "{" + ", ".join([*inside, *more]) + "}"
        case list():
            inside = [_sample(child, items, letters) for child in value[:items]]
            more = [f"… {len(value) - items} more"] if len(value) > items else []
            return "[" + ", ".join([*inside, *more]) + "]"
        case str() if len(value) > letters:
            return f"{value[:letters]!r}…"
        case _:
            return repr(value)


def _parse_value(text: str) -> Json:
    """The value that a text spells, as JSON or as Python prints it; None where it spells none."""
    text = text.strip()
    if not text.startswith(("{", "[", "(")) or len(text) > _LONGEST_READ:
        return None
    for read in (json.loads, evaluate_literal):
        try:
            value = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        return list(value) if isinstance(value, tuple) else value
    return None
