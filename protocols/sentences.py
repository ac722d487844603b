"""First sentences of descriptions."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"[.!?][)\"'\]]*(?=\s+[^a-z\s])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nr|approx|incl|max|min|resp|st|dr|mr|mrs|ms|jr)"
    r"|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"</?(a|b|br|code|em|i|li|ol|p|strong|ul)\b[^<>]*>")
_LONGEST_SENTENCE = 2_000
"""Longest sentence in characters. A longer one was not written for readers."""


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
