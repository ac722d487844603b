"""Shortens values, printed text and descriptions for prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from protocols.python_source import evaluate_literal
from protocols.schema import Json, shape

_SENTENCE_END = re.compile(r"[.!?][)\"'\]]*(?=\s+[^a-z\s])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nr|approx|incl|max|min|resp|st|dr|mr|mrs|ms|jr)"
    r"|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"</?(a|b|br|code|em|i|li|ol|p|strong|ul)\b[^<>]*>")
_LONGEST_SENTENCE = 2_000
"""Longest sentence in characters. A longer one was not written for readers."""
_SAMPLES = ((10, 300), (5, 150), (3, 80), (2, 40), (1, 20))
"""Pairs of limits for a sample, from long to short: items of a list, and characters of a text."""
_MOST_KEYS = 30
_LONGEST_SHAPE = 600
_LONGEST_READ = 200_000
"""Longest printed text that is parsed as a value. Longer text is only cut."""


def abridge_value(value: Json, *, most: int) -> str:
    """Return a JSON value in Python syntax, shortened to about `most` characters.

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
    """Return a JSON value in Python syntax on one line, shortened to about `most` characters.

    Only the first items of lists and the beginning of texts are shown.
    """
    samples = (_sample(value, items, letters) for items, letters in _SAMPLES)
    return next((text for text in samples if len(text) <= most), None) or clip_text(
        _sample(value, *_SAMPLES[-1]), most
    )


def abridge_output(text: str, *, most: int) -> str:
    """Return what a program printed, shortened to about `most` characters.

    If the output is a JSON value or a Python literal, it is shortened by `abridge_value`. Of other
    text, the first lines and the last lines are kept.
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
    """Return the first `most` characters of a text, followed by the number of characters left out.

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


def first_sentences(text: str, characters: int) -> str:
    """Return the first sentences of `text` that fit into `characters`, but at least one.

    The result is one line and safe inside a docstring. Sentences are not cut, because a part of a
    list of codes would be misleading. `…` at the end says that sentences are left out.
    """
    plain = _MARKUP.sub(lambda tag: " " * (tag[1] in ("br", "li", "p")), text)
    flat = " ".join(plain.split()).replace('"""', "'''").replace("\\", "\\\\")
    if len(flat) <= characters:
        return flat
    ends = [
        m.end()
        for m in _SENTENCE_END.finditer(flat)
        if not _ABBREVIATION.search(flat[max(0, m.end() - 12) : m.end()])
    ]
    end = max((end for end in ends if end <= characters), default=ends[0] if ends else len(flat))
    if end == len(flat) <= _LONGEST_SENTENCE:
        return flat
    return f"{flat[: min(end, _LONGEST_SENTENCE)].rstrip()} …"
