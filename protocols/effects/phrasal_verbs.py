"""Phrasal verbs in descriptions, such as `check in`, which say that a call is a write."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.effects.verbs import GRAMMAR, READS

_PARTICLES = GRAMMAR["particles"]
_LAST_PARTICLES = GRAMMAR["last_particles"]


def find_acting_phrasal_verb(verb: str, words: Sequence[str], clause: Sequence[str]) -> str:
    """Return a phrasal verb which says that the call is a write, or "".

    Examples: `check in`, `read … out`. `clause` are the words up to the first punctuation mark.
    """
    after = words[1] if len(words) > 1 else ""
    seeks = verb in READS["seeking"] and after != "down"
    if after in _PARTICLES and f"{verb} {after}" != "return back" and not seeks:
        return f"{verb} {after}"
    if after == "on" and verb != "search":
        return f"{verb} {after}"
    checks = verb == "check" and after in ("in", "out")
    if checks or (_ends_with_particle(words, clause) and verb not in ("find", "look", "search")):
        return f"{verb} … {clause[-1]}"
    return ""


def _ends_with_particle(words: Sequence[str], clause: Sequence[str]) -> bool:
    """Return True if a clause ends with a word such as `off` that belongs to its verb.

    Example: `turn the light off`.
    """
    if len(clause) < len(words) and words[len(clause)] in ("/", ":"):
        return False
    if len(clause) < 2 or clause[-1] not in _LAST_PARTICLES:
        return False
    return clause[-2] not in {"are", "is", "was", "were", "it"}
