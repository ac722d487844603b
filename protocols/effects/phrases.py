"""Noun phrases in descriptions: what their last noun names, and if that indicates a read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from protocols.effects.verbs import ACTING, CAN_BE_VERB, GRAMMAR, READS, STRICT, VERBS
from protocols.effects.word_forms import base_form
from protocols.naming import singular

PhraseKind = Literal["information", "things", "thing", "action", "nothing"]
"""What a noun phrase names.

*information*: the noun names information; *things*: a plural; *thing*: any singular noun; *action*:
a noun made of an acting verb; *nothing*: there is no noun.
"""
DETERMINERS = GRAMMAR["determiners"]
COUNTS = frozenset(
    {"and", "many", "more", "most", "multiple", "one", "only", "other", "several", "two", "three"}
)
CLOSED = DETERMINERS | GRAMMAR["closed"]
PARTICLES = GRAMMAR["last_particles"] | {"onto", "into", "to", "away", "off", "out"}
_ENDINGS = ("ications", "ication", "ations", "ation", "itions", "ition", "tions", "tion", "sion",
            "ion", "al", "ment", "ure", "ance", "ing")  # fmt: skip
_THINGS_MADE = VERBS["create"]
"""Verbs such as `subscribe`, whose noun (`subscription`) may also name what the action creates."""

_MORE = re.compile("[并且和及后再同、,후및]")
"""Characters of Chinese, Japanese and Korean after which a sentence may name a second action."""


class Phrase(NamedTuple):
    """The noun phrase with which a text begins.

    `nouns` are the words of the phrase, and `head` is the last of them. `participles` follow the
    head, such as `sent` in "the code sent to the phone". `rest` are the words after the phrase.
    """

    kind: PhraseKind
    head: str
    nouns: tuple[str, ...]
    participles: tuple[str, ...]
    rest: tuple[str, ...]


def phrase_of(words: Sequence[str], *, object_of_verb: bool = False) -> Phrase:
    """Return the noun phrase at the beginning of `words`.

    If the phrase is the object of a verb (`object_of_verb`), a plural at its end is always taken
    for a noun, even if it could be a verb.
    """
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
    """Return the verb of an action noun (`deletion` → `delete`, `renewal` → `renew`), or ""."""
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
    """Return True if a noun names information, which a call can read without changing anything.

    Examples: `forecast`, `settings`, `validation`, `calculator`.
    """
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
    """Return the index at which the noun phrase at the beginning of `words` ends."""
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
    """Return True if the last word of a phrase is an adjective or participle for the noun before.

    Examples: `users blocked`, `pods running`.
    """
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
    """Return what a noun phrase names: information, things, one thing, an action, or nothing.

    `core` are the words of the phrase. If it is the object of a verb (`object_of_verb`), a plural
    at its end is always taken for a noun.
    """
    head = core[-1]
    if names_information(head) and (head not in CLOSED or len(core) == 1):
        return "information"
    if all(word in CLOSED for word in core):
        return "nothing"
    if singular(head) != head and len(head) > 3:
        if object_of_verb or not base_form(head, CAN_BE_VERB) or _is_plural_noun(core):
            return "things"
        return "thing"
    verb = verb_of_action_noun(head)
    if verb in ACTING:
        return "thing" if verb in _THINGS_MADE else "action"
    return "thing"


def _is_plural_noun(core: Sequence[str]) -> bool:
    """Return True if the last word of a phrase, such as `orders`, is a noun and not a verb.

    The words before it decide.
    """
    head = core[-1]
    before = core[-2] if len(core) > 1 else ""
    after_information = names_information(before)
    if after_information and base_form(head, STRICT):
        return False
    if before in CLOSED | READS["adjectives"] or core[0] in READS["adjectives"]:
        return True
    after_plural = before != "" and singular(before) != before
    return after_plural or (after_information and head not in STRICT)


def reads_in_another_language(words: Sequence[str]) -> bool:
    """Return True if a simple sentence in another language says that the call reads.

    It must consist of a reading verb, an article and one noun. In Chinese it must consist of a verb
    and a word for a list or information.
    """
    lead = words[0]
    rest = list(words[1:])
    if lead in READS["foreign"] and lead.isalpha() and rest:
        if rest[-1] == "auf" and lead.startswith("list"):
            rest.pop()
        articles = GRAMMAR["foreign_articles"]
        if len(rest) == 2 and rest[0] in articles:
            return True
        linked = (
            len(rest) == 4 and rest[0] in articles and rest[2] in articles | GRAMMAR["foreign_of"]
        )
        return linked and rest[1] in GRAMMAR["foreign_lists"]
    begins = any(not one.isascii() and lead.startswith(one) for one in READS["foreign"])
    return (
        begins
        and not rest
        and not _MORE.search(lead)
        and lead.endswith(tuple(GRAMMAR["chinese_information"]))
    )
