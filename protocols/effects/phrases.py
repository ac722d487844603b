"""Noun phrases of descriptions: what their head noun names, and whether that is evidence of a read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from protocols.effects.verbs import ACTING, CAN_BE_VERB, GRAMMAR, READS, STRICT, VERBS, base_form
from protocols.naming import singular

PhraseKind = Literal["information", "things", "thing", "action", "nothing"]
"""*information*: a word for it; *things*: a plural; *thing*: one of anything; *action*: a noun of a verb that acts;
*nothing*: no noun."""
DETERMINERS = GRAMMAR["determiners"]
COUNTS = frozenset(
    {"and", "many", "more", "most", "multiple", "one", "only", "other", "several", "two", "three"}
)
CLOSED = DETERMINERS | GRAMMAR["closed"]
PARTICLES = GRAMMAR["last_particles"] | {"onto", "into", "to", "away", "off", "out"}
_ENDINGS = ("ications", "ication", "ations", "ation", "itions", "ition", "tions", "tion", "sion", "ion", "al", "ment",
            "ure", "ance", "ing")  # fmt: skip
_THINGS_MADE = VERBS["create"]
"""Verbs whose nouns name what was made as well: `subscription`, `registration`."""


class Phrase(NamedTuple):
    """A noun phrase at the beginning of some words, with what follows it.

    `done` are the participles behind its head: `sent` of `the code sent to the phone`; `nouns` are its words.
    """

    kind: PhraseKind
    head: str
    nouns: tuple[str, ...]
    participles: tuple[str, ...]
    rest: tuple[str, ...]


def phrase_of(words: Sequence[str], *, object_of_verb: bool = False) -> Phrase:
    """Return the noun phrase with which some words begin. As the object of a verb, its words cannot be verbs."""
    end = _end_of(words)
    core = list(words[:end])
    rest = tuple(words[end:])
    done = []
    while len(core) > 1 and _follows_noun(core):
        done.append(core.pop())
    if (
        core and all(word in CLOSED for word in core) and "of" in rest[: 1 + (rest[:1] == ("(",))]
    ):  # `some of the orders`
        return phrase_of(rest[rest.index("of") + 1 :], object_of_verb=object_of_verb)
    if not core:
        return Phrase("nothing", "", (), (), rest)
    return Phrase(
        _phrase_kind(core, object_of_verb=object_of_verb), core[-1], tuple(core), tuple(done), rest
    )


def verb_of_action_noun(noun: str) -> str:
    """The verb of a noun of action: `deletion` → `delete`, `renewal` → `renew`; empty for any other noun."""
    noun = singular(noun)
    for ending in _ENDINGS:
        if not noun.endswith(ending) or len(noun) < len(ending) + 2:
            continue
        stem = noun.removesuffix(ending)
        made = [
            stem,
            f"{stem}e",
            f"{stem}t",
            f"{stem}te",
            f"{stem}ate",
            f"{stem}d",
            f"{stem}de",
            f"{stem}se",
        ]
        made += [f"{stem}y"] if ending.startswith("ication") else []
        made += [stem[:-1]] if stem[-1:] == stem[-2:-1] else []
        if verb := next((one for one in made if one in ACTING | READS["verbs"]), ""):
            return verb
    return noun if noun in STRICT else ""


def names_information(word: str) -> bool:
    """True if a noun names information: `forecast`, `settings`, `validation`, `calculator`."""
    noun = singular(word)
    if noun in READS["information"] or word in READS["information"]:
        return word not in GRAMMAR["never"] or word in ("data", "details", "information")
    agents = [
        noun.removesuffix(end) + more
        for end in ("er", "or")
        if noun.endswith(end)
        for more in ("", "e")
    ]
    reading = READS["verbs"] | READS["names"]
    return (
        noun in READS["reading_nouns"]
        or verb_of_action_noun(noun) in reading
        or any(one in reading for one in agents)
    )


def _end_of(words: Sequence[str]) -> int:
    """Where the noun phrase ends with which some words begin."""
    for place, word in enumerate(words):
        if word == "or" and place and words[place - 1] in DETERMINERS:  # `some or all`
            continue
        if word in DETERMINERS and place and words[place - 1] not in CLOSED:
            return place
        small = (
            word in CLOSED | GRAMMAR["after_nouns"] | GRAMMAR["prepositions"]
        ) and word not in DETERMINERS | COUNTS
        if small or not word[0].isalnum() or (place and (word == "and" or word in PARTICLES)):
            return place
    return len(words)


def _follows_noun(core: Sequence[str]) -> bool:
    """True if the last of these words says something of a noun before it: `users blocked`, `pods running`."""
    last = core[-1]
    before = core[-2]
    if names_information(last):
        return False
    if before in CLOSED | READS["adjectives"]:
        return False
    if last.endswith(("able", "ible", "ly")) or last in READS["adjectives"]:
        return True
    if last.endswith("ed") or last in GRAMMAR["participles"]:
        return True
    return last.endswith("ing") and (singular(before) != before or before.endswith("ly"))


def _phrase_kind(core: Sequence[str], *, object_of_verb: bool) -> PhraseKind:
    head = core[-1]
    before = core[-2] if len(core) > 1 else ""
    if names_information(head) and (head not in CLOSED or len(core) == 1):
        return "information"
    if all(word in CLOSED for word in core):
        return "nothing"
    plural = singular(head) != head and len(head) > 3
    verb = verb_of_action_noun(head)
    if verb in ACTING and not plural:
        return "thing" if verb in _THINGS_MADE else "action"
    if plural:
        verb_like = bool(base_form(head, CAN_BE_VERB))
        noun_like = before in CLOSED | READS["adjectives"] or (
            before and singular(before) != before
        )
        noun_like = (
            noun_like
            or core[0] in READS["adjectives"]
            or (names_information(before) and head not in STRICT)
        )
        noun_like = noun_like and not (names_information(before) and base_form(head, STRICT))
        if object_of_verb or not verb_like or noun_like:
            return "things"
    return "thing"
