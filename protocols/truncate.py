"""Shortens values and printed text for prompts: a sample, and the structure of the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping

from protocols.python_source import evaluate_literal
from protocols.schema import Json, shape

_SAMPLES = ((10, 300), (5, 150), (3, 80), (2, 40), (1, 20))
"""Pairs of limits for a sample, from long to short: items of a list, and characters of a text."""
_MOST_KEYS = 30
_LONGEST_SHAPE = 600
_LONGEST_READ = 200_000
"""Longest printed text that is parsed as a value. Longer text is only cut."""


def abridge_value(value: Json, *, most: int) -> str:
    """Return a value in Python syntax in about `most` characters.

    A shortened value is followed by a sketch of its structure. The keys of objects are the last to
    be left out, because programs need them.
    """
    whole = repr(value)
    if len(whole) <= most:
        return whole
    if not isinstance(value, Mapping | list):
        return clip_text(whole, most)
    whole_shape = clip_text(shape(value), _LONGEST_SHAPE)
    return f"{sample_value(value, most=most)}\n(shortened; the whole is {whole_shape})"


def sample_value(value: Json, *, most: int) -> str:
    """Return a value in Python syntax on one line of about `most` characters.

    Only the first items of lists and the beginning of texts are shown.
    """
    samples = (_sample(value, items, letters) for items, letters in _SAMPLES)
    return next((text for text in samples if len(text) <= most), None) or clip_text(
        _sample(value, *_SAMPLES[-1]), most
    )


def abridge_output(text: str, *, most: int) -> str:
    """Return a program's output in about `most` characters.

    A value is shortened by `abridge_value`. Of other text, the first lines and the last are kept.
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
    """Return the first `most` characters of a text, followed by the number of characters cut.

    A text that is not longer is returned as it is.
    """
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
    """Return the value that a text contains as JSON or as a Python literal, or None."""
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
