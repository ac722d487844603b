"""Finds words which suggest that a call is a write, although a verb says that it reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from protocols.effects.phrases import CLOSED, DETERMINERS, Phrase, names_information, phrase_of
from protocols.effects.verbs import ACTING, CAN_BE_VERB, GRAMMAR, READS, STRICT, VERBS
from protocols.effects.word_forms import base_form
from protocols.naming import singular

_PASSIVE = VERBS["remove"] | VERBS["end"] | READS["done"]
"""Verbs whose passive says what a call does: `A mail is sent.`"""
_ALSO = re.compile(
    r"\b(?:is|are|be|gets?)"
    r" (?:then |also |automatically |subsequently |afterwards? |thereby )+(\w+)"
    r"|\bmark(?:s|ed|ing)? (?:\w+ ){0,3}as "
    r"|\b(?:it|this|which) (?:also |then |will )*(\w+) (?:all|any|every|it|the|them|your)\b"
    r"|\bto (\w+) (?:it|them)\b"
    r"|, (?:it|they) (?:is|are|will be|gets?) (\w+)"
    r"|, (?:\w+ly )?(\w+ing) (?:it|them)\b"
)
"""Matches side effects: `The messages are then deleted.`, `Pass it to change it.`"""
_CHANGED = re.compile(
    r"\bbecomes? (?:in\w+|that|this|unavailable|unusable)\b"
    r"|\bno longer (?:be )?(?:works?|valid|returned)"
    r"|\bstops? working|\b(?:not|never) be \w+ again"
    r"|\b(?:delivered|handed out|returned|shown) (?:only )?once\b"
    r"|\bthen (?:disappears?|vanish\w*)|(?:^|[.;] )costs? \d"
)
"""Matches statements that something is different after the call: `It stops working.`"""
_MOVES = frozenset({"as", "from", "into", "off", "onto", "out", "through", "to"})


def find_passive_side_effect(text: str) -> str:
    """Return the words of a text that name a side effect, or "".

    Example: `deleted` in `The messages are then deleted.`
    """
    plain = text.lower()
    if found := _CHANGED.search(plain):
        return found[0].strip(" .;")
    for found in _ALSO.finditer(plain):
        verb = next((one for one in found.groups() if one), "mark")
        pronoun = bool(found[3] or found[4] or found[5])
        known = READS["verbs"] if pronoun else READS["verbs"] | READS["neutral"]
        if base_form(verb, ACTING - {"return"}) and not base_form(verb, known):
            return verb
    return ""


def find_passive_verb(words: Sequence[str]) -> str:
    """Return a passive verb of a sentence that says what the call does, or "".

    Examples: `the mails are deleted`, `a mail is sent to the owner`. Sentences with a condition are
    ignored.
    """
    if {
        "if",
        "once",
        "unless",
        "until",
        "when",
        "whether",
        "who",
        "which",
        "that",
        "where",
        "can",
        "may",
    } & {*words}:
        return ""
    for place, (be, verb) in enumerate(pairwise(words)):
        if (
            place == 0
            or be not in ("are", "be", "get", "gets", "is")
            or words[place - 1] in ("not", "never", "to")
        ):
            continue
        base = base_form(verb, _PASSIVE - {"clear"})
        where = words[place + 2] if place + 2 < len(words) else ""
        if base and verb != base and (base != "send" or where == "to"):
            return verb
    return ""


def doubtful_gerund(words: Sequence[str]) -> str:
    """Return a gerund which suggests that the call is a write, after the word before it, or "".

    Examples: `by flashing` (its light), `after opening` (it). Gerunds of reading verbs and of verbs
    about the request itself are not doubtful.
    """
    plain = READS["verbs"] | READS["neutral"] | READS["names"]
    plain |= {"add", "combine", "give", "send", "append"}
    for before, word in pairwise(words):
        gerund = (
            before in ("after", "by", "while", "upon")
            and word.endswith("ing")
            and not names_information(word)
        )
        if gerund and not base_form(word, plain):
            return f"{before} {word}"
    return ""


def find_doubt(verb: str, words: Sequence[str], clause: Sequence[str]) -> str:
    """Return words which suggest that a call is a write although its sentence has a reading verb.

    Return "" if no word suggests this. `words` is the sentence from the verb on. `clause` are the
    words up to the first punctuation mark.
    """
    tail = list(words[1:])
    if len(tail) > 1 and tail[0] in ("and", "or", "/", "&", ","):
        second = base_form(tail[1], READS["verbs"])
        return find_doubt(second, tail[1:], clause) if second else f"{verb} {tail[0]} {tail[1]}"
    if verb == "look" and tail[:1] not in (["for"], ["up"], ["at"]):
        return verb
    if verb in READS["seeking"] and tail and tail[0] in GRAMMAR["seek_behind"]:
        tail = tail[1:]
    if not tail:
        return verb
    if tail[0] in ("if", "whether", "how", "what", "which", "who", "where", "when", "why"):
        return doubtful_gerund(words)
    if verb == "test":
        return verb
    return _find_doubt_in_object_clause(verb, tail, words, clause)


def _find_doubt_in_object_clause(
    verb: str, tail: Sequence[str], words: Sequence[str], clause: Sequence[str]
) -> str:
    """Return the words after a reading verb which suggest that the call is a write, or "".

    `tail` are the words after the verb. They begin with the object of the verb.
    """
    is_gift = tail[0] in ("you", "us") and verb in READS["handing"] | {"get", "return"}
    if is_gift and tail[1:2] != ["to"]:
        return _find_doubt_in_gift(verb, tail)
    if tail[0] in ("another", "you", "me", "him", "her", "us") and verb in ("find", "get"):
        return f"{verb} {tail[0]}"
    return (
        doubtful_gerund(words)
        or _find_second_action(words)
        or _find_doubt_in_phrase(verb, phrase_of(tail, object_of_verb=True))
        or _find_doubt_in_condition(tail)
        or _find_doubt_in_place(verb, clause)
    )


def _find_doubt_in_gift(verb: str, tail: Sequence[str]) -> str:
    """Return the verb and `you` of a sentence such as `gives you a car`, which suggests an action.

    Return "" if the object is information or a plural, as in `gives you the forecast`: such a call
    only reads. `tail` are the words after the verb.
    """
    phrase = phrase_of(tail[2:] if tail[1:2] == ["with"] else tail[1:], object_of_verb=True)
    return "" if phrase.kind in ("information", "things") else f"{verb} you"


def _find_second_action(words: Sequence[str]) -> str:
    """Return the second verb of a sentence if it says that the call is a write, or "".

    Examples: `detects all devices and pairs with them`, `analyzes the disk and repairs errors`.
    """
    if not words[0].endswith("s"):
        return ""
    for place, word in enumerate(words[:-1]):
        if words[place - 1] != "and" or not place or not word.endswith("s"):
            continue
        after = words[place + 1]
        then = words[place + 2] if place + 2 < len(words) else ""
        bound = then in ("it", "them") or (
            after.isalpha() and after not in CLOSED | GRAMMAR["after_nouns"]
        )
        if (
            bound
            and base_form(word, CAN_BE_VERB)
            and not base_form(word, READS["verbs"] | READS["neutral"])
        ):
            return word
    return ""


def _find_doubt_in_phrase(verb: str, phrase: Phrase) -> str:
    """Return words, in or after the object of a reading verb, which suggest a write.

    A write is a call that changes something. `phrase` is the object, with the words after it.
    Return "" if there are no such words.
    """
    after = phrase.rest[0] if phrase.rest else ""
    doubt = _find_doubt_in_object(verb, phrase) or _find_doubt_after_object(verb, phrase, after)
    if doubt:
        return f"{verb} … {doubt}"
    if phrase.kind == "nothing" and after != "by" and "all" not in phrase.nouns:
        return verb
    if _is_only_read(verb, phrase, after):
        return ""
    if after in _MOVES or (verb == "return" and after == "for"):
        return verb
    return "" if verb in READS["looking_up"] else verb


def _is_only_read(verb: str, phrase: Phrase, after: str) -> bool:
    """Return True if the call only reads or computes the object of a verb, so that nothing changes.

    This is so if the object is information or a plural, or if a format follows (`as JSON`). `after`
    is the word after the object.
    """
    if phrase.kind in ("information", "things") or _is_as_format(phrase, after):
        return True
    if verb not in READS["computing"] or not phrase.nouns:
        return False
    return phrase.nouns[0] not in DETERMINERS  # `Convert code to text`


def _is_as_format(phrase: Phrase, after: str) -> bool:
    """Return True if a noun phrase is followed by `as` and the name of a format: `as JSON`."""
    return after == "as" and not GRAMMAR["forms"].isdisjoint(phrase.rest[1:5])


def _find_doubt_in_object(verb: str, phrase: Phrase) -> str:
    """Return a word in the object of a reading verb which suggests a write, or "".

    A write is a call that changes something. Examples: `new` in `get a new token`, `closed` in `get
    the blinds closed`.
    """
    new = {"fresh", "freshly", "new", "newly"} & {*phrase.nouns}
    article = phrase.nouns[:1] in (("a",), ("an",), ("the",))
    if new and article and singular(phrase.head) == phrase.head and "most" not in phrase.nouns:
        return next(iter(new))
    if verb in ("give", "tell") and len(phrase.nouns) > 2 and phrase.nouns[0] in DETERMINERS:
        return phrase.head
    owned = phrase.nouns[:1] in (("the",), ("my",), ("your",))
    return (
        phrase.participles[0]
        if owned and phrase.kind == "things" and phrase.participles and not phrase.rest
        else ""
    )


def _find_doubt_after_object(verb: str, phrase: Phrase, after: str) -> str:
    """Return a word after the object of a reading verb which suggests a write, or "".

    A write is a call that changes something. Such a word is for example the beginning of a second
    object, a recipient, or a destination. `after` is the word directly after the object.
    """
    is_singular = singular(phrase.head) == phrase.head
    second = phrase.rest[1] if len(phrase.rest) > 1 else ""
    is_time = second in GRAMMAR["times"]
    if after in DETERMINERS - {"that", "those", "each"} and not is_time:
        return after  # `gives the cat a treat`
    if is_singular and after in ("to", "by", "from") and (word := _acting_participle(phrase)):
        return f"{word} {after}"
    if verb == "get" and after == "to" and base_form(second, CAN_BE_VERB):
        return after
    if _is_put_somewhere(verb, phrase, after):
        return after
    if verb not in READS["handing"]:
        return ""
    is_placed = after in ("in", "with") and is_singular and verb in READS["putting"]
    return after if after == "to" or is_placed else ""


def _acting_participle(phrase: Phrase) -> str:
    """Return the first participle in a phrase that names a change, or "".

    Example: `sent` in `the mail sent to`.
    """
    acting = STRICT | {"mail", "send"}
    return next((word for word in phrase.participles if base_form(word, acting)), "")


def _is_put_somewhere(verb: str, phrase: Phrase, after: str) -> bool:
    """Return True if the word after the object of a verb suggests that something is done with it.

    Such words are `into` (the object is moved), `aloud` (it is spoken) and `as` (it is put to use).
    `after` is this word.
    """
    if after in ("into", "onto", "aloud") and verb not in READS["computing"] | {"translate"}:
        return True
    if after not in ("aloud", "into", "onto", "off", "as") or phrase.kind == "information":
        return False
    return verb not in READS["looking_up"] or not _is_as_format(phrase, after)


def _find_doubt_in_condition(tail: Sequence[str]) -> str:
    """Return a passive verb after `if`, `once` or the like which suggests a write, or "".

    A write is a call that changes something. For example, a call that returns `200 if the relay was
    switched on` has probably switched the relay itself, so the result is `if … switched`. `tail`
    are the words after the verb of the sentence.
    """
    for place, word in enumerate(tail):
        if word in ("if", "once", "after", "when", "whether"):
            done = (verb for be, verb in pairwise(tail[place:]) if be in ("was", "were", "been"))
            verb = next((verb for verb in done if base_form(verb, ACTING - {"return"})), "")
            return f"{word} … {verb}" if verb and verb != "returned" else ""
    return ""


def _find_doubt_in_place(verb: str, clause: Sequence[str]) -> str:
    """Return words which say that the result is sent to a device or channel, not to the caller.

    Examples: `show … on` (the display), `by sms`. Return "" if no word says this.
    """
    if (
        verb in ("display", "present", "show")
        and "on" in clause[:-1]
        and clause[clause.index("on") + 1] in DETERMINERS
    ):
        return f"{verb} … on"
    if verb in ("display", "read", "show") and {
        "aloud",
        "lcd",
        "led",
        "loud",
        "panel",
        "screen",
        "speaker",
    } & {*clause}:
        return verb
    return next(
        (
            f"by {way}"
            for by, way in pairwise(clause)
            if by in ("by", "via") and way in ("sms", "fax")
        ),
        "",
    )
