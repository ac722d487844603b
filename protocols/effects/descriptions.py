"""What a description says that a call does, by English grammar: how its sentences begin, not which bad words they hold.

`Returns the orders.` reads. `Opens the door.` acts, also where nobody knows the verb: a word before `the` that is no
preposition is a verb. Whatever is not understood says nothing, and so speaks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from protocols.effects.doubts import (
    doubtful_gerund,
    find_doubt,
    find_passive_side_effect,
    find_passive_verb,
)
from protocols.effects.phrases import (
    CLOSED,
    DETERMINERS,
    names_information,
    phrase_of,
    verb_of_action_noun,
)
from protocols.effects.verbs import ACTING, CAN_BE_VERB, GRAMMAR, READS, STRICT, VERBS, base_form
from protocols.naming import singular

Voice = Literal["reads", "acts", "thing", "information", "unclear", ""]
"""*reads*, *acts*: its verb does; *thing*: it names something, without a verb; *information*: and that is information
or things in the plural; *unclear*: it may begin with a verb that acts; empty: it says nothing that is understood."""


class Statement(NamedTuple):
    """What a text says, and the word by which it says so."""

    voice: Voice
    word: str = ""


_LONGEST = 2_000
_MARKUP = re.compile(r"<[^>]{0,200}>|https?://\S+|`[^`]{0,200}`|[*_#|>\[\]]+")
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
_ASIDE = re.compile(r"(?<=[(:])\s*[^(),:.;!?]{3,300}")
"""What stands in brackets or behind a colon."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s[-–—]\s")
_CAMEL = re.compile(
    r"\b(?:[Ff]etch|[Ff]ind|[Gg]et|[Ll]ist|[Rr]etrieve|[Ss]earch)(?:[A-Z][a-z]+)+\b"
)
_LINE_END = re.compile(r"(?<=[^\W\d_,])\n(?=[a-z])")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[,&/:(]", re.UNICODE)
_DETERMINERS = DETERMINERS
_AFTER_NOUNS = GRAMMAR["after_nouns"]
_CLOSED = CLOSED
_CALL = GRAMMAR["call"]
_BEFORE_VERBS = GRAMMAR["before_verbs"]
_PARTICLES = GRAMMAR["particles"]
_LAST_PARTICLES = GRAMMAR["last_particles"]
_OPENERS = frozenset(
    ["at", "based", "by", "for", "from", "given", "if", "in", "on", "to", "using", "when", "with"]
)
"""Small words with which a clause begins that stands before what is done."""
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
    r"|^you can |^to |^(?:it|this|(?:this|the|our)(?: \w+)? \w+) (?:will|would) (?=\w+ )"
)
_THIS = (
    rf"^(?:(?:this|the|our)(?: \w+)? (?:{_CALLS})|this|it) (?=\w+s )"  # `This endpoint deletes …`
)
_BEFORE_THE_VERB = tuple(re.compile(pattern) for pattern in (_PURPOSE, _LETS, _THIS))


def classify_description(text: str) -> Statement:
    """Return what a description, a summary or a name in words says that the call does.

    One sentence that acts outranks those that read.
    """
    whole = _LINE_END.sub(" ", _MARKUP.sub(" ", _CAMEL.sub(_split_camel_case, text[:_LONGEST])))
    plain = _BRACKETS.sub(" ( ", whole)
    split = (_WORD.findall(one.lower()) for one in _SENTENCE.split(plain))
    sentences = [words for one in split if (words := _without_marks(one))]
    if not sentences:
        return Statement("")
    if verb := _find_side_effect(sentences[1:], whole) or find_passive_side_effect(plain):
        return Statement("acts", verb)
    first = _classify_first_sentence(sentences[0])
    if first.voice in ("information", "thing") or _is_heading(
        sentences[0]
    ):  # `Weather API. Returns the forecast.`
        later = (_classify_first_sentence(words) for words in sentences[1:])
        return next((one for one in later if one.voice == "reads"), first)
    if first.voice not in ("reads", "acts") and (verb := find_passive_verb(sentences[0])):
        return Statement("acts", verb)
    return first


def _is_heading(words: Sequence[str]) -> bool:
    """True if a sentence names an API, without a verb: `Acme API, RESTful implementation.`"""
    named = {"api", "apis", "rest", "restful"} & {*words[1:]}
    return (
        bool(named)
        and not base_form(words[0], STRICT)
        and not any(word in _DETERMINERS for word in words)
    )


def _split_camel_case(name: re.Match[str]) -> str:
    """`getFilesList` → `get Files List`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name[0])


def _find_side_effect(sentences: Sequence[list[str]], text: str) -> str:
    """The verb by which a sentence behind the first, or an aside, says that the call acts; empty for none."""
    for words in sentences:
        if verb := _find_later_acting_verb(words) or find_passive_verb(words):
            return verb
    for aside in _ASIDE.findall(text):
        words = _WORD.findall(aside.lower())
        if words and (verb := _find_later_acting_verb(words) or _second_verb(["", *words])):
            return verb
        if words and words[0] in VERBS["remove"] and len(words) == 1:  # `Users: delete`
            return words[0]
    return ""


def _without_marks(words: list[str]) -> list[str]:
    """The words of a sentence from its first real word on."""
    start = next((place for place, word in enumerate(words) if word[0].isalnum()), len(words))
    return words[start:]


def _classify_first_sentence(words: list[str]) -> Statement:
    """What the first sentence says."""
    text = " ".join(words)
    for pattern in _BEFORE_THE_VERB:
        text = pattern.sub("", text, count=1)
    words = text.split() or words
    lead = words[0]
    if lead in _OPENERS and "," in words[1:-1]:  # `By passing options, you can search …`
        main = _classify_first_sentence(words[words.index(",", 1) + 1 :])
        return main if main.voice == "reads" else Statement("unclear", lead)
    verb = base_form(lead, READS["verbs"])
    if verb and not lead.endswith("ed"):
        return _classify_reading_verb(verb, words)
    if lead in READS["foreign"] or not lead.isascii():
        return Statement("reads" if _reads_in_another_language(words) else "", lead)
    if lead in READS["light"] and (light := _classify_light_verb(words)):
        return light
    if called := _classify_call_subject(words):
        return called
    if lead in _CLOSED or lead.isdigit():
        if verb := _find_acting_verb(words):
            return Statement("acts", verb)
        return _classify_noun_phrase(words, determined=True)
    return _classify_unknown_lead(lead, words)


def _classify_light_verb(words: Sequence[str]) -> Statement | None:
    """What `Run a search` or `Perform a status check` says: the noun tells; None where that is no reading one."""
    phrase = phrase_of(words[1:], object_of_verb=True)
    reading = READS["reading_nouns"] - {"test"}
    verb = phrase.head in reading or base_form(verb_of_action_noun(phrase.head), READS["verbs"])
    return (
        Statement("reads", f"{words[0]} … {phrase.head}")
        if verb and not _second_verb(words)
        else None
    )


def _reads_in_another_language(words: Sequence[str]) -> bool:
    """True if a sentence is a reading verb, an article and one noun, or in Chinese a verb and a list or information."""
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


def _classify_call_subject(words: Sequence[str]) -> Statement | None:
    """What `The following endpoint returns a list` says; None for a sentence whose subject is not the call."""
    for place, word in enumerate(words[1:8], 1):
        if (
            words[place - 1] in _CALL
            and word.endswith("s")
            and (verb := base_form(word, READS["verbs"]))
        ):
            return _classify_reading_verb(verb, list(words[place:]))
    return None


def _classify_noun_phrase(words: Sequence[str], *, determined: bool = False) -> Statement:
    """What a sentence without a verb that is known says: that it names information, a thing, an action, or nothing."""
    phrase = phrase_of(words)
    after = phrase.rest[0] if phrase.rest else ""
    if phrase.kind == "action":
        return Statement("acts", phrase.head)
    if after in _LAST_PARTICLES and len(phrase.rest) == 1:
        return Statement("acts", f"{phrase.head} {after}")
    if (
        phrase.kind == "thing" and after in (":", "/", "&") and len(phrase.rest) > 1
    ):  # `Chart: albums`
        return _classify_noun_phrase(phrase.rest[1:], determined=determined)
    if (
        len(phrase.nouns) > 2
        and after in _DETERMINERS
        and base_form(phrase.head, READS["neutral"] | {"contain"})
    ):
        subject = phrase_of(
            words[: len(phrase.nouns) - 1]
        )  # `The search capability covers all content`
        return Statement(
            "information" if subject.kind in ("information", "things") else "unclear", subject.head
        )
    odd = (
        after in _DETERMINERS - {"that", "those"}
        or after in _LAST_PARTICLES - {"in", "on"}
        or doubtful_gerund(words)
    )
    ended = (
        phrase.participles
        and not phrase.rest
        and base_form(phrase.participles[0], CAN_BE_VERB | {"end"})
    )
    if odd or ended or phrase.kind == "nothing" or words[0] in ("no", "nothing"):
        asks = words[0] in ("what", "where", "which", "who", "how", "whether")
        return Statement("thing" if asks and not doubtful_gerund(words) else "unclear", words[0])
    plural = singular(phrase.head) != phrase.head and after in (
        "that",
        "of",
        "which",
        "whose",
        "who",
        "are",
    )
    if phrase.kind in ("information", "things") or (plural and not base_form(phrase.head, STRICT)):
        return Statement("information", phrase.head)
    if (
        len(phrase.nouns) > 2
        and singular(phrase.head) != phrase.head
        and base_form(phrase.head, CAN_BE_VERB)
    ):
        return Statement("unclear", phrase.head)  # `The gate opens`
    if (
        determined
        or after in ("of", "api", "endpoint")
        or phrase.head in ("api", "endpoint", "service")
    ):
        return Statement("thing", words[0])
    return Statement("unclear", words[0])


def _classify_unknown_lead(lead: str, words: Sequence[str]) -> Statement:
    """What a sentence says that begins with no reading verb and no small word."""
    after = words[1] if len(words) > 1 else ""
    if (
        words[1:] != ["all"]
        and lead not in _CALL | READS["information"]
        and after in _DETERMINERS - {"that", "no"}
        and lead not in _NEVER
        and not base_form(lead, READS["neutral"])
    ):
        return Statement("acts", lead)
    verb = base_form(lead, CAN_BE_VERB)
    if verb and after in _LAST_PARTICLES - {"in", "open"}:
        return Statement("acts", f"{lead} {after}")
    named = _classify_noun_phrase(words)
    if named.voice in ("acts", "information") and not (
        verb in STRICT and lead in (verb, f"{verb}s", f"{verb}es")
    ):
        plain = (
            lead in READS["adjectives"]
            or names_information(lead)
            or not verb
            or lead == f"{verb}ed"
        )
        if plain or after in _AFTER_NOUNS or phrase_of(words).kind == "information":
            return named
    if verb and lead != f"{verb}ed" and after not in (*_AFTER_NOUNS, "api", "endpoint", "service"):
        strict = base_form(lead, STRICT)
        acts = (
            (after or verb in STRICT) and strict and lead in (strict, f"{strict}s", f"{strict}es")
        )
        return Statement("acts" if acts else "unclear", lead)
    return named


def _classify_reading_verb(verb: str, words: list[str]) -> Statement:
    """What a sentence says that begins with a reading verb: that it reads, unless it goes on to act."""
    after = words[1] if len(words) > 1 else ""
    if second := _second_verb(words):
        return Statement("acts", second)
    clause = _first_clause(words)
    be = {"are", "is", "was", "were", "it"}
    cut = len(clause) < len(words) and words[len(clause)] in ("/", ":")
    ends = not cut and clause[-1] in _LAST_PARTICLES and len(clause) > 1 and clause[-2] not in be
    if (
        after in _PARTICLES
        and f"{verb} {after}" != "return back"
        and (verb not in READS["seeking"] or after == "down")
    ) or (after == "on" and verb != "search"):
        return Statement("acts", f"{verb} {after}")
    if (verb == "check" and after in ("in", "out")) or (
        ends and verb not in ("find", "look", "search")
    ):
        return Statement("acts", f"{verb} … {clause[-1]}")
    if verb in ("get", "have") and _is_causative(clause):
        return Statement("acts", f"{verb} … {clause[-1]}")
    if doubt := find_doubt(verb, words, clause):
        return Statement("unclear", doubt)
    return Statement("reads", words[0])


def _first_clause(words: Sequence[str]) -> list[str]:
    """The words up to the first comma."""
    end = next(
        (place for place, word in enumerate(words) if place and not word[0].isalnum()), len(words)
    )
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


def _second_verb(words: Sequence[str]) -> str:
    """The verb of `get … and revoke the old one`, `list and purge`, `read by resetting the counter`; empty for none."""
    for place, (before, word) in enumerate(pairwise(words)):
        if before not in ("and", "or", "then", "&", ",", "/", "by", "while", "after", "also"):
            continue
        after = words[place + 2] if place + 2 < len(words) else ""
        known = base_form(word, READS["verbs"] | READS["neutral"])
        if (
            before in ("and", "or")
            and after in ("it", "them")
            and base_form(word, ACTING - READS["verbs"])
        ):
            return word
        if (
            word in _CLOSED
            or known
            or word in _BEFORE_VERBS
            or word.endswith(("ed", "ly"))
            or not word.isalpha()
        ):
            continue
        verb = base_form(word, ACTING | (CAN_BE_VERB if after in ("it", "them") else frozenset()))
        gerund = word.endswith("ing") and verb != word
        if before in ("after", "by", "while"):
            if gerund and verb:
                return word
            continue
        strict = base_form(word, STRICT)
        if strict and word in (strict, f"{strict}s", f"{strict}es"):
            return word
        if (
            after in _DETERMINERS - {"that", "no", "each"}
            and not gerund
            and (verb or before != ",")
        ):
            return word
    return ""


def _find_acting_verb(words: Sequence[str]) -> str:
    """The verb of `this endpoint deletes the user`, behind what the sentence begins with; empty where none acts."""
    for place, word in enumerate(words[1:5], 1):
        after = words[place + 1] if place + 1 < len(words) else ""
        plain = word in _CLOSED or base_form(word, READS["verbs"] | READS["neutral"])
        if (
            not plain
            and word.endswith("s")
            and after in _DETERMINERS - {"that"}
            and words[place - 1] in _SUBJECTS
        ):
            return word
    return _second_verb(words) if base_form(words[min(2, len(words) - 1)], READS["verbs"]) else ""


_SUBJECTS = _CALL | {"this", "it", "which", "that", "also", "then"}


def _find_later_acting_verb(words: list[str]) -> str:
    """The verb of a later sentence that says what the call does besides: `Also clears the queue.`; empty for none."""
    start = next((n for n, word in enumerate(words[:4]) if word not in _BEFORE_VERBS | _CALL), 0)
    word = words[start]
    after = words[start + 1] if start + 1 < len(words) else ""
    if word in _CLOSED or base_form(word, READS["verbs"] | READS["neutral"]):
        return ""
    if not word.endswith("s"):
        return word if word in VERBS["remove"] | VERBS["end"] and after in _DETERMINERS else ""
    return (
        word
        if base_form(word, STRICT) or (after in _DETERMINERS - {"that"} and base_form(word, ACTING))
        else ""
    )
