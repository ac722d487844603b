"""What a description says that a call does, by English grammar: how its sentences begin, not which bad words they hold.

`Returns the orders.` reads. `Opens the door.` acts, also where nobody knows the verb: a word before `the` that is no
preposition is a verb. Whatever is not understood says nothing, and so speaks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from protocols.verbs import ACTING, CAN_BE_VERB, GRAMMAR, READS, STRICT, VERBS, base_of
from protocols.words import singular

Voice = Literal["reads", "acts", "thing", "information", "unclear", ""]
"""*reads*, *acts*: its verb does; *thing*: it names something, without a verb; *information*: and that is information
or things in the plural; *unclear*: it may begin with a verb that acts; empty: it says nothing that is understood."""


class Heard(NamedTuple):
    """What a text says, and the word by which it says so."""

    voice: Voice
    word: str = ""


_LONGEST = 2_000
_MARKUP = re.compile(r"<[^>]{0,200}>|https?://\S+|`[^`]{0,200}`|[*_#|>\[\]]+")
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
_ASIDE = re.compile(r"(?<=[(:])\s*[^(),:.;!?]{3,300}")
"""What stands in brackets or behind a colon."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s[-–—]\s")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[,&/:(]", re.UNICODE)
_DETERMINERS = GRAMMAR["determiners"]
_AFTER_NOUNS = GRAMMAR["after_nouns"]
_CLOSED = _DETERMINERS | GRAMMAR["closed"]
_CALL = GRAMMAR["call"]
_BEFORE_VERBS = GRAMMAR["before_verbs"]
_PARTICLES = GRAMMAR["particles"]
_LAST_PARTICLES = GRAMMAR["last_particles"]
_FOREIGN_AND = GRAMMAR["foreign_and"]
_COUNTS = frozenset({"and", "many", "more", "most", "multiple", "one", "only", "other", "several"})
_MORE = re.compile("[并且和及后再同、,후및]")
"""Signs of Chinese, Japanese and Korean behind which a sentence may go on to act."""
_NEVER = GRAMMAR["never"]
_CALLS = "|".join(sorted(_CALL))
_PURPOSE = (  # `Use this endpoint to delete a user`, `The API that lists users`
    rf"^(?:please )?(?:use |call )?(?:this |the |an? |our )?(?:\w+ ){{0,2}}(?:{_CALLS})"
    r" (?:is |are |can be |may be )?(?:used |meant |intended |there )?"
    r"(?:to|for|allows? (?:\w+ ){1,2}to|lets \w+|enables? (?:\w+ ){1,2}to|will|can|that|which) "
)
_LETS = (  # `Allows you to delete a user`
    r"^(?:this )?(?:allows?|enables?|helps?|lets|permits?|used) (?:you |users? |clients? |the user )?(?:to )?"
    r"|^you can |^to "
)
_THIS = rf"^(?:(?:this|the|our)(?: \w+)? (?:{_CALLS})|this|it) (?=\w+s )"  # `This endpoint deletes …`
_BEFORE_THE_VERB = tuple(re.compile(pattern) for pattern in (_PURPOSE, _LETS, _THIS))
_ALSO = re.compile(
    r"\b(?:is|are|be|gets?) (?:then |also |automatically |subsequently |afterwards? |thereby )+(\w+)"
    r"|\bmark(?:s|ed|ing)? (?:\w+ ){0,3}as "
    r"|\b(?:it|this|which) (?:also |then |will )*(\w+) (?:all|any|every|it|the|them|your)\b"
)
"""What a sentence says in passing of what is done besides: `The messages are then deleted.`"""


def heard(text: str) -> Heard:
    """Return what a description, a summary or a name in words says that the call does.

    One sentence that acts outranks those that read.
    """
    whole = _MARKUP.sub(" ", text[:_LONGEST])
    plain = _BRACKETS.sub(" ( ", whole)
    split = (_WORD.findall(one.lower()) for one in _SENTENCE.split(plain))
    sentences = [words for one in split if (words := _without_marks(one))]
    if not sentences:
        return Heard("")
    if verb := _acts_besides(sentences[1:], whole) or _in_passing(plain):
        return Heard("acts", verb)
    first = _opening(sentences[0])
    if first.voice == "information":  # `Weather API. Returns the forecast.`
        later = (_opening(words) for words in sentences[1:])
        return next((one for one in later if one.voice == "reads"), first)
    return first


def _acts_besides(sentences: Sequence[list[str]], text: str) -> str:
    """The verb by which a sentence behind the first, or an aside, says that the call acts; empty for none."""
    for words in sentences:
        if verb := _acts_later(words) or _is_undone(words):
            return verb
    for aside in _ASIDE.findall(text):
        words = _WORD.findall(aside.lower())
        if words and (verb := _acts_later(words) or _second_verb(["", *words])):
            return verb
    return ""


def _in_passing(text: str) -> str:
    """The verb of `the messages are then deleted`; empty for none."""
    for found in _ALSO.finditer(text.lower()):
        verb = found[1] or found[2] or "mark"
        if base_of(verb, ACTING) and not base_of(verb, READS["verbs"] | READS["neutral"]):
            return verb
    return ""


def _without_marks(words: list[str]) -> list[str]:
    """The words of a sentence from its first real word on."""
    start = next((place for place, word in enumerate(words) if word[0].isalnum()), len(words))
    return words[start:]


def _opening(words: list[str]) -> Heard:
    """What the first sentence says."""
    text = " ".join(words)
    for pattern in _BEFORE_THE_VERB:
        text = pattern.sub("", text, count=1)
    words = text.split() or words
    lead = words[0]
    verb = base_of(lead, READS["verbs"])
    if verb and not lead.endswith("ed"):
        return _reading(verb, words)
    if any(lead == one for one in READS["foreign"]):
        return Heard("" if any(word in _FOREIGN_AND for word in words) else "reads", lead)
    if not lead.isascii():
        found = next(
            (one for one in READS["foreign"] if not one.isascii() and len(one) > 1 and lead.startswith(one)), ""
        )
        return Heard("reads" if found and not re.search("[并且和及후및]", text) else "", found)
    if lead in _CLOSED or lead.isdigit():
        if verb := _acts_after(words):
            return Heard("acts", verb)
        return Heard("information" if _names_information(words) else "thing", lead)
    return _unknown_lead(lead, words)


def _unknown_lead(lead: str, words: Sequence[str]) -> Heard:
    """What a sentence says that begins with no reading verb and no small word."""
    after = words[1] if len(words) > 1 else ""
    if (
        words[1:] != ["all"]
        and lead not in _CALL | READS["information"]
        and after in _DETERMINERS - {"that", "no"}
        and lead not in _NEVER
        and not base_of(lead, READS["neutral"])
    ):
        return Heard("acts", lead)
    if lead in READS["adjectives"] and _names_information(words):
        return Heard("information", lead)
    verb = base_of(lead, CAN_BE_VERB)
    if verb and after in _LAST_PARTICLES - {"in", "open"}:
        return Heard("acts", f"{lead} {after}")
    named = after in _AFTER_NOUNS or after in ("api", "endpoint", "service")
    if verb and lead != f"{verb}ed" and not named and (after or verb in STRICT):
        strict = base_of(lead, STRICT)
        return Heard("acts" if strict and lead in (strict, f"{strict}s", f"{strict}es") else "unclear", lead)
    if _names_information(words):
        return Heard("information", lead)
    return Heard("thing" if named else "", lead)


def _names_information(words: Sequence[str]) -> bool:
    """True if one of the first words names information, or things in the plural that cannot be a verb."""
    chosen = bool(words) and words[0] in READS["adjectives"]
    for word in words[:6]:
        if word in _CLOSED - _DETERMINERS - _COUNTS:
            return False
        if chosen and singular(word) != word and len(word) > 3:
            return True
        if singular(word) in READS["information"] and word not in _NEVER - {"data", "details", "information"}:
            return True
        if singular(word) != word and not base_of(word, CAN_BE_VERB):
            return True
    return False


def _reading(verb: str, words: list[str]) -> Heard:
    """What a sentence says that begins with a reading verb: that it reads, unless it goes on to act."""
    after = words[1] if len(words) > 1 else ""
    if second := _second_verb(words):
        return Heard("acts", second)
    clause = _clause(words)
    be = {"are", "is", "was", "were", "it"}
    cut = len(clause) < len(words) and words[len(clause)] in ("/", ":")
    ends = not cut and clause[-1] in _LAST_PARTICLES and len(clause) > 1 and clause[-2] not in be
    if (after in _PARTICLES and f"{verb} {after}" != "return back" and verb not in READS["seeking"]) or (
        after == "on" and verb != "search"
    ):
        return Heard("acts", f"{verb} {after}")
    if (verb == "check" and after in ("in", "out")) or (ends and verb not in ("find", "look", "search")):
        return Heard("acts", f"{verb} … {clause[-1]}")
    if verb in ("get", "have") and _is_causative(clause):
        return Heard("acts", f"{verb} … {clause[-1]}")
    if unclear := _unclear_object(verb, words, clause):
        return Heard("unclear", unclear)
    return Heard("reads", words[0])


def _unclear_object(verb: str, words: Sequence[str], clause: Sequence[str]) -> str:
    """What makes a reading verb doubtful, by what stands behind it: `get a new token`, `show … on the display`."""
    after = words[1] if len(words) > 1 else ""
    if verb in ("fetch", "get", "obtain", "retrieve") and after in ("a", "an") and words[2:3] in (["new"], ["fresh"]):
        return f"{verb} {after} {words[2]}"
    if verb in ("find", "get") and after in ("another", "you", "me", "him", "her", "us"):
        return f"{verb} {after}"
    if verb in ("display", "present", "show") and "on" in clause[:-1]:
        place = clause.index("on") + 1
        if clause[place] in _DETERMINERS:
            return f"{verb} … on"
    if verb in READS["weak"] and not _names_information(words[1:]):
        return verb
    if verb in ("display", "read", "show") and {"aloud", "lcd", "led", "loud", "panel", "screen", "speaker"} & {
        *clause
    }:
        return verb
    if (
        verb == "get"
        and "to" in clause[2:4]
        and clause[-1] != "to"
        and base_of(clause[clause.index("to", 2) + 1], CAN_BE_VERB)
    ):
        return "get … to"
    return "return" if words[0] == "return" and _brings_back(clause) else ""


def _brings_back(clause: Sequence[str]) -> bool:
    """True for `Return the book to the library`: the thing that is returned has no name of information."""
    if "to" not in clause[2:5] or clause[1] not in _DETERMINERS:
        return False
    thing = clause[clause.index("to") - 1]
    return singular(thing) == thing and thing not in READS["information"]


def _clause(words: Sequence[str]) -> list[str]:
    """The words up to the first comma."""
    end = next((place for place, word in enumerate(words) if place and not word.isalnum()), len(words))
    return list(words[:end])


def _is_causative(clause: Sequence[str]) -> bool:
    """True for `get the door opened` and `get the oven heating`: what is got is one thing and what is done to it."""
    if (
        len(clause) < 3
        or {"that", "which", "who"} & {*clause}
        or singular(clause[-2]) != clause[-2]
        or clause[-2] in _CLOSED | READS["adjectives"]
    ):
        return False
    last = clause[-1]
    one = clause[1] in ("a", "an", "the", "my", "your", "this", "that", "it") or len(clause) == 3
    done = last.endswith("ed") or last in ("built", "cut", "done", "gone", "paid", "sent", "set", "shut", "sold")
    return one and (done or (last.endswith("ing") and len(clause) > 3 and bool(base_of(last, CAN_BE_VERB))))


def _second_verb(words: Sequence[str]) -> str:
    """The verb of `get … and revoke the old one`, `list and purge`, `read by resetting the counter`; empty for none."""
    for place, (before, word) in enumerate(pairwise(words)):
        if before not in ("and", "or", "then", "&", ",", "/", "by", "while", "after", "also"):
            continue
        after = words[place + 2] if place + 2 < len(words) else ""
        known = base_of(word, READS["verbs"] | READS["neutral"])
        if word in _CLOSED or known or word in _BEFORE_VERBS or word.endswith(("ed", "ly")) or not word.isalpha():
            continue
        verb = base_of(word, ACTING | (CAN_BE_VERB if after in ("it", "them") else frozenset()))
        gerund = word.endswith("ing") and verb != word
        if before in ("after", "by", "while"):
            if gerund and verb:
                return word
            continue
        strict = base_of(word, STRICT)
        if strict and word in (strict, f"{strict}s", f"{strict}es"):
            return word
        if after in _DETERMINERS - {"that", "no", "each"} and not gerund and (verb or before != ","):
            return word
    return ""


def _acts_after(words: Sequence[str]) -> str:
    """The verb of `this endpoint deletes the user`, behind what the sentence begins with; empty where none acts."""
    for place, word in enumerate(words[1:5], 1):
        after = words[place + 1] if place + 1 < len(words) else ""
        plain = word in _CLOSED or base_of(word, READS["verbs"] | READS["neutral"])
        if not plain and word.endswith("s") and after in _DETERMINERS - {"that"} and words[place - 1] in _SUBJECTS:
            return word
    return _second_verb(words) if base_of(words[min(2, len(words) - 1)], READS["verbs"]) else ""


_SUBJECTS = _CALL | {"this", "it", "which", "that", "also", "then"}


def _is_undone(words: Sequence[str]) -> str:
    """The verb of `the mails are deleted`, behind what is read; empty where none is, or under a condition."""
    if {"if", "once", "unless", "until", "when", "whether", "who", "which", "that"} & {*words}:
        return ""
    gone = VERBS["remove"] | VERBS["end"]
    done = (verb for be, verb in pairwise(words[1:]) if be in ("are", "be", "get", "gets", "is"))
    return next((verb for verb in done if base_of(verb, gone)), "")


def _acts_later(words: list[str]) -> str:
    """The verb of a later sentence that says what the call does besides: `Also clears the queue.`; empty for none."""
    start = next((n for n, word in enumerate(words[:4]) if word not in _BEFORE_VERBS | _CALL), 0)
    word = words[start]
    after = words[start + 1] if start + 1 < len(words) else ""
    if word in _CLOSED or base_of(word, READS["verbs"] | READS["neutral"]):
        return ""
    if not word.endswith("s"):
        return word if word in VERBS["remove"] | VERBS["end"] and after in _DETERMINERS else ""
    return word if base_of(word, STRICT) or (after in _DETERMINERS - {"that"} and base_of(word, ACTING)) else ""
