"""Decides from the grammar of a description if a call reads or acts, that is, changes something.

What counts is how sentences begin, not if they contain certain words. `Returns the orders.` reads.
`Opens the door.` acts even if the verb is unknown, because a word before `the` that is not a
preposition is a verb. A sentence that is not understood is no evidence of a read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from protocols.effects.acting_words import (
    find_acting_verb,
    find_later_acting_verb,
    is_causative,
    is_present_tense,
    second_verb,
)
from protocols.effects.doubts import (
    doubtful_gerund,
    find_doubt,
    find_passive_side_effect,
    find_passive_verb,
)
from protocols.effects.phrasal_verbs import find_acting_phrasal_verb
from protocols.effects.phrases import (
    CLOSED,
    DETERMINERS,
    Phrase,
    names_information,
    phrase_of,
    reads_in_another_language,
    verb_of_action_noun,
)
from protocols.effects.verbs import CAN_BE_VERB, GRAMMAR, READS, STRICT, VERBS
from protocols.effects.word_forms import base_form
from protocols.naming import singular

Voice = Literal["reads", "acts", "thing", "information", "unclear", ""]
"""How a text describes a call.

*reads*, *acts*: what the verb does; *thing*: a noun without a verb; *information*: a noun that
names information or things in the plural; *unclear*: it may begin with an acting verb; "": the text
says nothing that is understood.
"""


class Statement(NamedTuple):
    """The effect of a call according to a text (see `Voice`), and the word that shows it."""

    voice: Voice
    word: str = ""


_LONGEST = 2_000
_MARKUP = re.compile(r"<[^>]{0,200}>|https?://\S+|`[^`]{0,200}`|[*_#|>\[\]]+")
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
_ASIDE = re.compile(r"(?<=[(:])\s*[^(),:.;!?]{3,300}")
"""Text in brackets or after a colon."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s[-–—]\s")
_CAMEL = re.compile(
    r"\b(?:[Ff]etch|[Ff]ind|[Gg]et|[Ll]ist|[Rr]etrieve|[Ss]earch)(?:[A-Z][a-z]+)+\b"
)
_LINE_END = re.compile(r"(?<=[^\W\d_,])\n(?=[a-z])")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[,&/:(]", re.UNICODE)
_AFTER_NOUNS = GRAMMAR["after_nouns"]
_CALL = GRAMMAR["call"]
_LAST_PARTICLES = GRAMMAR["last_particles"]
_OPENERS = frozenset(
    ["at", "based", "by", "for", "from", "given", "if", "in", "on", "to", "using", "when", "with"]
)
"""Words that begin a clause before the main clause."""
_NEVER = GRAMMAR["never"]
_CALLS = "|".join(sorted(_CALL))
_PURPOSE = (  # `Use this endpoint to delete a user`, `The API that lists users`
    rf"^(?:please )?(?:use |call )?(?:this |the |an? |our )?(?:\w+ ){{0,2}}(?:{_CALLS})"
    r" (?:is |are |can be |may be )?(?:used |meant |intended |there )?"
    r"(?:to|for|allows? (?:\w+ ){1,2}to|lets \w+|enables? (?:\w+ ){1,2}to|will|can|that|which) "
)
_LETS = (  # `Allows you to delete a user`
    r"^(?:this )?(?:allows?|enables?|helps?|lets|permits?|used)"
    r" (?:you |users? |clients? |the user )?(?:to )?"
    r"|^you can |^to |^(?:it|this|(?:this|the|our)(?: \w+)? \w+) (?:will|would) (?=\w+ )"
)
_THIS = (
    rf"^(?:(?:this|the|our)(?: \w+)? (?:{_CALLS})|this|it) (?=\w+s )"  # `This endpoint deletes …`
)
_BEFORE_THE_VERB = tuple(re.compile(pattern) for pattern in (_PURPOSE, _LETS, _THIS))


def classify_description(text: str) -> Statement:
    """Return what a text that describes a tool says: the call reads, it is a write, or neither.

    The text is a description, a summary or a name in words. If any sentence says that the call is a
    write (*acts*), sentences which say that it reads do not count.
    """
    whole = _LINE_END.sub(" ", _MARKUP.sub(" ", _CAMEL.sub(_split_camel_case, text[:_LONGEST])))
    plain = _BRACKETS.sub(" ( ", whole)
    split = (_WORD.findall(sentence.lower()) for sentence in _SENTENCE.split(plain))
    sentences = [words for marked in split if (words := _without_marks(marked))]
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
    """Return True if a sentence only names an API and has no verb.

    Example: `Acme API, RESTful implementation.`
    """
    named = {"api", "apis", "rest", "restful"} & {*words[1:]}
    return (
        bool(named)
        and not base_form(words[0], STRICT)
        and not any(word in DETERMINERS for word in words)
    )


def _split_camel_case(name: re.Match[str]) -> str:
    """Split a camelCase name: `getFilesList` → `get Files List`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name[0])


def _find_side_effect(sentences: Sequence[list[str]], text: str) -> str:
    """Return the first verb in a later part of a description that says that the call is a write.

    `text` is the description and `sentences` are its sentences, without the first one. Text in
    brackets or after a colon is searched, too. Return "" if there is no such verb.
    """
    for words in sentences:
        if verb := find_later_acting_verb(words) or find_passive_verb(words):
            return verb
    for aside in _ASIDE.findall(text):
        words = _WORD.findall(aside.lower())
        if words and (verb := find_later_acting_verb(words) or second_verb(["", *words])):
            return verb
        if words and words[0] in VERBS["remove"] and len(words) == 1:  # `Users: delete`
            return words[0]
    return ""


def _without_marks(words: list[str]) -> list[str]:
    """Return the words of a sentence without the punctuation before the first word."""
    start = next((place for place, word in enumerate(words) if word[0].isalnum()), len(words))
    return words[start:]


def _classify_first_sentence(words: list[str]) -> Statement:
    """Return what the first sentence of a description says about the effect of a call; see `Voice`.

    Other sentences can be classified in the same way, as if the description began with them.
    """
    words = _without_preamble(words)
    lead = words[0]
    if statement := _classify_after_opening_clause(words):
        return statement
    verb = base_form(lead, READS["verbs"])
    if verb and not lead.endswith("ed"):
        return _classify_reading_verb(verb, words)
    if lead in READS["foreign"] or not lead.isascii():
        return Statement("reads" if reads_in_another_language(words) else "", lead)
    if statement := _classify_light_verb(words) or _classify_call_subject(words):
        return statement
    if lead in CLOSED or lead.isdigit():
        if verb := find_acting_verb(words):
            return Statement("acts", verb)
        return _classify_noun_phrase(words, determined=True)
    return _classify_unknown_lead(lead, words)


def _without_preamble(words: list[str]) -> list[str]:
    """Return the words of a sentence without a beginning such as `This endpoint is used to`.

    What remains begins with the verb that says what the call does.
    """
    text = " ".join(words)
    for pattern in _BEFORE_THE_VERB:
        text = pattern.sub("", text, count=1)
    return text.split() or words


def _classify_after_opening_clause(words: list[str]) -> Statement | None:
    """Return what a sentence such as `By passing options, you can search …` says about the effect.

    Only its main clause, after the comma, is judged. Return None if there is no clause before it.
    """
    if words[0] not in _OPENERS or "," not in words[1:-1]:
        return None
    main = _classify_first_sentence(words[words.index(",", 1) + 1 :])
    return main if main.voice == "reads" else Statement("unclear", words[0])


def _classify_light_verb(words: Sequence[str]) -> Statement | None:
    """Return a statement that the call reads, for a sentence such as `Run a search`.

    In such a sentence the noun, and not the verb, says what is done. Return None for other verbs,
    and if the noun does not name a read.
    """
    if words[0] not in READS["light"]:
        return None
    phrase = phrase_of(words[1:], object_of_verb=True)
    reading = READS["reading_nouns"] - {"test"}
    verb = phrase.head in reading or base_form(verb_of_action_noun(phrase.head), READS["verbs"])
    if not verb or second_verb(words):
        return None
    return Statement("reads", f"{words[0]} … {phrase.head}")


def _classify_call_subject(words: Sequence[str]) -> Statement | None:
    """Return what a sentence like `The following endpoint returns a list` says about the effect.

    The subject of such a sentence is the call itself. Return None if the call is not the subject,
    or if the verb after it is not a reading verb.
    """
    for place, word in enumerate(words[1:8], 1):
        if (
            words[place - 1] in _CALL
            and word.endswith("s")
            and (verb := base_form(word, READS["verbs"]))
        ):
            return _classify_reading_verb(verb, list(words[place:]))
    return None


def _classify_noun_phrase(words: Sequence[str], *, determined: bool = False) -> Statement:
    """Return what a sentence without a known verb says about the effect of the call.

    This depends on what its first noun phrase names: information, a thing or an action.
    `determined` is True if the sentence begins with a function word, such as `the`.
    """
    phrase = phrase_of(words)
    after = phrase.rest[0] if phrase.rest else ""
    if phrase.kind == "action":
        return Statement("acts", phrase.head)
    if after in _LAST_PARTICLES and len(phrase.rest) == 1:
        return Statement("acts", f"{phrase.head} {after}")
    if phrase.kind == "thing" and after in (":", "/", "&") and len(phrase.rest) > 1:
        return _classify_noun_phrase(phrase.rest[1:], determined=determined)  # `Chart: albums`
    if _has_neutral_verb(phrase, after):  # `The search capability covers all content`
        subject = phrase_of(words[: len(phrase.nouns) - 1])
        named = subject.kind in ("information", "things")
        return Statement("information" if named else "unclear", subject.head)
    if _is_odd(words, phrase, after):
        asks = words[0] in ("what", "where", "which", "who", "how", "whether")
        return Statement("thing" if asks and not doubtful_gerund(words) else "unclear", words[0])
    return _classify_plain_phrase(phrase, after, words[0], determined=determined)


def _has_neutral_verb(phrase: Phrase, after: str) -> bool:
    """Return True if the last word of a phrase is a verb that says nothing about the call's effect.

    Example: `covers` in `The search capability covers all content`. `after` is the word after the
    phrase.
    """
    if len(phrase.nouns) <= 2 or after not in DETERMINERS:
        return False
    return bool(base_form(phrase.head, READS["neutral"] | {"contain"}))


def _is_odd(words: Sequence[str], phrase: Phrase, after: str) -> bool:
    """Return True if a sentence seems to be a noun phrase only, but may contain an unknown verb.

    For example, `the` after `Frobnicate` indicates that `Frobnicate` is a verb. `phrase` is the
    noun phrase with which the sentence seems to begin, and `after` is the word after it.
    """
    if after in DETERMINERS - {"that", "those"} or after in _LAST_PARTICLES - {"in", "on"}:
        return True
    if phrase.kind == "nothing" or words[0] in ("no", "nothing") or doubtful_gerund(words):
        return True
    if not phrase.participles or phrase.rest:
        return False
    return bool(base_form(phrase.participles[0], CAN_BE_VERB | {"end"}))


def _classify_plain_phrase(phrase: Phrase, after: str, lead: str, *, determined: bool) -> Statement:
    """Return what a noun phrase without a verb names: information, a thing, or something unclear.

    `lead` is its first word, and `after` the word after it. `determined` is True if it begins with
    a function word, such as `the`.
    """
    plural = singular(phrase.head) != phrase.head
    described = plural and after in ("that", "of", "which", "whose", "who", "are")
    if phrase.kind in ("information", "things"):
        return Statement("information", phrase.head)
    if described and not base_form(phrase.head, STRICT):
        return Statement("information", phrase.head)
    if plural and len(phrase.nouns) > 2 and base_form(phrase.head, CAN_BE_VERB):
        return Statement("unclear", phrase.head)  # `The gate opens`
    names_api = phrase.head in ("api", "endpoint", "service")
    if determined or names_api or after in ("of", "api", "endpoint"):
        return Statement("thing", lead)
    return Statement("unclear", lead)


def _classify_unknown_lead(lead: str, words: Sequence[str]) -> Statement:
    """Return what a sentence says whose first word is neither a reading verb nor a function word.

    For example, `Opens the door` says that the call is a write. `lead` is the first word.
    """
    after = words[1] if len(words) > 1 else ""
    if words[1:] != ["all"] and _takes_object(lead, after):
        return Statement("acts", lead)
    verb = base_form(lead, CAN_BE_VERB)
    if verb and after in _LAST_PARTICLES - {"in", "open"}:
        return Statement("acts", f"{lead} {after}")
    named = _classify_noun_phrase(words)
    if named.voice in ("acts", "information") and _is_noun(lead, verb, words):
        return named
    if not verb or lead == f"{verb}ed" or after in (*_AFTER_NOUNS, "api", "endpoint", "service"):
        return named
    strict = base_form(lead, STRICT)
    acts = (after or verb in STRICT) and strict and is_present_tense(lead, strict)
    return Statement("acts" if acts else "unclear", lead)


def _is_noun(lead: str, verb: str, words: Sequence[str]) -> bool:
    """Return True if the first word of a sentence (`lead`) is a noun, although it could be a verb.

    `verb` is the base form of this verb, or "".
    """
    if verb in STRICT and is_present_tense(lead, verb):
        return False
    if _is_plain_noun(lead, verb) or (len(words) > 1 and words[1] in _AFTER_NOUNS):
        return True
    return phrase_of(words).kind == "information"


def _takes_object(lead: str, after: str) -> bool:
    """Return True if the unknown first word of a sentence (`lead`) must be a verb of an action.

    An example is `Frobnicate` in `Frobnicate the …`, because `the` begins the object of a verb.
    `after` is the word after `lead`.
    """
    if lead in _CALL | READS["information"] | _NEVER or base_form(lead, READS["neutral"]):
        return False
    return after in DETERMINERS - {"that", "no"}


def _is_plain_noun(lead: str, verb: str) -> bool:
    """Return True if the first word of a sentence is most likely a noun.

    `verb` is the base form of the verb that it could be as well, or "".
    """
    return not verb or lead in READS["adjectives"] or names_information(lead) or lead == f"{verb}ed"


def _classify_reading_verb(verb: str, words: list[str]) -> Statement:
    """Return what a sentence that begins with a verb such as `Returns` says about the effect.

    The call reads, unless a later word says that it is a write or makes this doubtful.
    """
    if second := second_verb(words):
        return Statement("acts", second)
    clause = _first_clause(words)
    if phrasal := find_acting_phrasal_verb(verb, words, clause):
        return Statement("acts", phrasal)
    if verb in ("get", "have") and is_causative(clause):
        return Statement("acts", f"{verb} … {clause[-1]}")
    if doubt := find_doubt(verb, words, clause):
        return Statement("unclear", doubt)
    return Statement("reads", words[0])


def _first_clause(words: Sequence[str]) -> list[str]:
    """Return the words up to the first punctuation mark."""
    end = next(
        (place for place, word in enumerate(words) if place and not word[0].isalnum()), len(words)
    )
    return list(words[:end])
