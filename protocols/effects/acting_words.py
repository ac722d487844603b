"""Finds verbs in a description which say that a call acts, even if its first verb says it reads.

A call *acts*, that is, it is a write, if it changes or sends something.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from protocols.effects.phrases import CLOSED, DETERMINERS
from protocols.effects.verbs import ACTING, CAN_BE_VERB, GRAMMAR, READS, STRICT, VERBS
from protocols.effects.word_forms import base_form
from protocols.naming import singular

_CALL = GRAMMAR["call"]
_BEFORE_VERBS = GRAMMAR["before_verbs"]
_SUBJECTS = _CALL | {"this", "it", "which", "that", "also", "then"}
_LINKS = frozenset(["and", "or", "then", "&", ",", "/", "by", "while", "after", "also"])
"""Words after which a second verb may follow."""


def is_present_tense(word: str, verb: str) -> bool:
    """Return True if a word is a form of `verb` in the present tense: `open`, `opens`."""
    return word in (verb, f"{verb}s", f"{verb}es")


def is_causative(clause: Sequence[str]) -> bool:
    """Return True if a clause that begins with `get` says that its object is changed (causative).

    Examples: `get the door opened`, `get the oven heating`.
    """
    if (
        len(clause) < 3
        or {"that", "which", "who"} & {*clause}
        or singular(clause[-2]) != clause[-2]
        or clause[-2] in CLOSED | READS["adjectives"]
    ):
        return False
    last = clause[-1]
    one = clause[1] in ("a", "an", "the", "my", "your", "this", "that", "it") or len(clause) == 3
    done = (last.endswith("ed") and last not in CAN_BE_VERB) or last in (
        "built",
        "cut",
        "done",
        "gone",
        "paid",
        "sent",
        "set",
        "shut",
        "sold",
    )
    return one and (
        done or (last.endswith("ing") and len(clause) > 3 and bool(base_form(last, CAN_BE_VERB)))
    )


def second_verb(words: Sequence[str]) -> str:
    """Return a second verb of a sentence if it says that the call is a write, else "".

    Examples: `revoke` in `get a token and revoke the old one`, `purge` in `list and purge`,
    `resetting` in `read by resetting the counter`.
    """
    for place, (before, word) in enumerate(pairwise(words)):
        after = words[place + 2] if place + 2 < len(words) else ""
        if before in _LINKS and _is_second_verb(before, word, after):
            return word
    return ""


def _is_second_verb(before: str, word: str, after: str) -> bool:
    """Return True if `word` is a verb of an action after a conjunction, as in `and revoke it`.

    `before` is the conjunction and `after` is the word after `word`.
    """
    has_pronoun = after in ("it", "them")
    if before in ("and", "or") and has_pronoun and base_form(word, ACTING - READS["verbs"]):
        return True
    if _cannot_act(word):
        return False
    verb = base_form(word, ACTING | (CAN_BE_VERB if has_pronoun else frozenset()))
    is_gerund = word.endswith("ing") and verb != word
    if before in ("after", "by", "while"):
        return is_gerund and bool(verb)
    strict = base_form(word, STRICT)
    if strict and is_present_tense(word, strict):
        return True
    if is_gerund or after not in DETERMINERS - {"that", "no", "each"}:
        return False
    return verb != "" or before != ","


def _cannot_act(word: str) -> bool:
    """Return True if a word does not show that the call is a write.

    This is so for words that are not verbs, for verbs that say that the call reads, and for verbs
    that describe the request itself.
    """
    if word in CLOSED | _BEFORE_VERBS or word.endswith(("ed", "ly")) or not word.isalpha():
        return True
    return base_form(word, READS["verbs"] | READS["neutral"]) != ""


def find_acting_verb(words: Sequence[str]) -> str:
    """Return the verb after the subject of a sentence if it says that the call is a write, else "".

    Example: `deletes` in `this endpoint deletes the user`.
    """
    for place, word in enumerate(words[1:5], 1):
        after = words[place + 1] if place + 1 < len(words) else ""
        plain = word in CLOSED or base_form(word, READS["verbs"] | READS["neutral"])
        if (
            not plain
            and word.endswith("s")
            and after in DETERMINERS - {"that"}
            and words[place - 1] in _SUBJECTS
        ):
            return word
    return second_verb(words) if base_form(words[min(2, len(words) - 1)], READS["verbs"]) else ""


def find_later_acting_verb(words: list[str]) -> str:
    """Return the verb of a later sentence of a description if it says that the call is a write.

    Example: `clears` in `Also clears the queue.` Return "" if it does not say so.
    """
    start = next((n for n, word in enumerate(words[:4]) if word not in _BEFORE_VERBS | _CALL), 0)
    word = words[start]
    after = words[start + 1] if start + 1 < len(words) else ""
    if word in CLOSED or base_form(word, READS["verbs"] | READS["neutral"]):
        return ""
    if not word.endswith("s"):
        return word if word in VERBS["remove"] | VERBS["end"] and after in DETERMINERS else ""
    return (
        word
        if base_form(word, STRICT) or (after in DETERMINERS - {"that"} and base_form(word, ACTING))
        else ""
    )
