"""Splits a query into its requests by its punctuation and conjunctions, without a model."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?;]) |(?<=[.!?][\"')\]]) |(?<=[。！？])")
_AFTER = (
    "also|then|additionally|please|plus|can|could|would|will|should|may|do|does|did|is|are|was|what|which|who|where|when"
    "|why|how|if|whether|let|tell|give|show|find|get|recommend|suggest|provide|help|make|create|search|look|check|send"
    "|list|explain|compare|calculate|convert|translate|write|book|buy|play|i|i'm|i'd|we"
)
_CONJUNCTION = re.compile(
    rf" ?, ?(?:and|but|then|plus) (?:also |then |additionally )?"
    rf"|,? (?:as well as|and also|and then|along with|in addition to) "
    rf"| and (?=(?:{_AFTER})\b)"
    rf"| ?, ?(?=(?:{_AFTER}) )",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:also|additionally|furthermore|moreover|besides|in addition|lastly|finally|and|but|then|plus)\b[\s,]*",
    re.IGNORECASE,
)
_LEAST_WORDS = 3
"""A shorter part asks for nothing of its own: `Thank you`, `any ideas?`."""
_MOST = 8


def split(query: str) -> tuple[str, ...]:
    """The requests of a query, in its order and its words; the whole query where it is one. At most eight.

    It is cut at the ends of sentences, and at conjunctions and commas behind which a request may begin. A part of
    fewer than three words is left out.
    """
    parts: list[str] = []
    for line in query.splitlines():
        for sentence in _SENTENCE.split(" ".join(line.split())):  # one blank at a time: no pattern runs over many
            parts += [part for part in _clauses(sentence) if part not in parts]
            if len(parts) >= _MOST:
                return tuple(parts[:_MOST])
    return tuple(parts) if len(parts) > 1 else (query.strip(),)


def _clauses(sentence: str) -> list[str]:
    """The parts of a sentence that say something, each once."""
    clauses = (_OPENING.sub("", clause.strip(" \"'“”,;:-")).strip() for clause in _CONJUNCTION.split(sentence))
    return list(dict.fromkeys(clause for clause in clauses if len(re.findall(r"\w+", clause)) >= _LEAST_WORDS))
