"""Verbs in names, paths, arguments and descriptions, as hints at what a call does."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import unquote_plus

from protocols.naming import singular, snake
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json

_READ: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("effects.toml").read_text("utf-8")
)
VERBS: dict[str, frozenset[str]] = {
    kind: frozenset(words.split()) for kind, words in _READ["verbs"].items()
}
"""Sets of verbs, keyed by `VerbKind`. A verb in several sets counts for the first."""
PATHS: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _READ["paths"].items()
}
"""Sets of words, keyed by their meaning in the path of a GET request."""
READS: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _READ["reads"].items()
}
"""Sets of words that are evidence of a read, keyed by what they show."""
GRAMMAR: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _READ["grammar"].items()
}
"""Sets of function words in descriptions, keyed by their grammatical role."""
VerbKind = Literal["read", "create", "update", "remove", "end"]
"""What a verb does.

*read* looks something up; *create* adds a thing or triggers something; *update* changes a thing;
*remove* deletes one; *end* ends what later calls need, such as a session or a connection.
"""

_READING = VERBS["read"]
_KINDS = VERBS["create"] | VERBS["update"] | VERBS["remove"] | VERBS["end"]
ACTING = (_KINDS | PATHS["acts"]) - PATHS["things"]
_NOUNS_TOO = PATHS["nouns_too"]
STRICT = ACTING - _NOUNS_TOO
"""Verbs which say that a call acts, and which are rarely nouns."""
CAN_BE_VERB = (
    ACTING | PATHS["things"] | PATHS["nouns_too"] | PATHS["verbs_too"] | PATHS["plurals"]
) - _READING
"""English words that may be a verb that does more than read."""
_UNDOES = PATHS["undone"]
_NOUN_LIKE = re.compile(
    r".*(?:acy|age|ance|ary|ata|ed|ence|er|ery|graphy|hood|ial|ics|ing|ion|ism|ity|logy|ment"
    r"|ness|or|ory|ship|sis|sure|ture|ty|ware)"
)
_ENDINGS = re.compile(
    r"[a-z]?(?:e[dr]s?|ors?|ings?|ions?|ations?|able|als?|ances?|ments?|s)|rs?|ds?|ts?"
)
_COMMANDS = frozenset({"act", "action", "cmd", "command", "do", "exec", "execute", "verb"})
_MAYBE_COMMANDS = frozenset({"event", "func", "function", "mode", "op", "operation", "task"})
"""Arguments whose value may name an action. They count only if a known value is a verb.

The arguments in `_COMMANDS` always count.
"""
_FLAGS = frozenset({"approve", "confirm", "create", "notify", "pay", "publish", "send", "submit"})
"""Verbs at the beginning of an argument's name which say that a GET acts: `?send_mail=true`.

Verbs that remove or end something say so, too.
"""
_OVERRIDE = re.compile(r"_?(?:x_)?(?:http_)?method(?:_override)?")
_DATES = frozenset({"after", "at", "before", "by", "date", "on", "since", "time", "until"})
_ASKS_WHETHER = re.compile(
    r"(?:check|determine|find out|see|test|tell)s? (?:if|whether)\b", re.IGNORECASE
)
_OPENING = frozenset({"apply", "call", "request", "return"})
"""Verbs that may begin the description of a read: `Returns the list of …`."""
_ARTICLES = frozenset(
    {"a", "all", "an", "another", "any", "every", "it", "one", "the", "this", "these", "your"}
)


def kind_of_word(word: str) -> VerbKind | None:
    """Return what a verb does: *read*, *create*, *update*, *remove* or *end*.

    Return None if the word is not a known verb.
    """
    if word.startswith("un") and word[2:] in _UNDOES:
        return "remove"
    return cast(
        "VerbKind | None", next((kind for kind, words in VERBS.items() if word in words), None)
    )


def kind_of_name(protocol: ToolProtocol) -> tuple[VerbKind, str] | None:
    """Return what a tool does according to the verb in its name, or else in its description.

    The first item is *read*, *create*, *update*, *remove* or *end*. The second is the reason, as a
    text. Return None if no known verb is found.
    """
    words = [word for word in name_words(protocol.name) if not re.fullmatch(r"api|v\d+|rest", word)]
    if isinstance(protocol.binding, HttpBinding) and words[:1] == [protocol.binding.method.lower()]:
        # A name made of method and path: its first word says no more than the method.
        removing = next((word for word in words[1:] if word in VERBS["remove"]), "")
        return ("remove", f"its path says {removing!r}") if removing else None
    verbs = [(word, kind) for word in words if (kind := kind_of_word(word))]
    if verbs:
        # Of `get_or_create` the more drastic verb counts.
        added = {after for before, after in pairwise(words) if before in ("and", "or", "then")}
        order = list(VERBS)
        word, kind = min(
            [verbs[0], *(one for one in verbs if one[0] in added)],
            key=lambda one: order.index(one[1]),
        )
        return kind, f"its name says {word!r}"
    verb = _find_verb_in_text(protocol.description)
    kind = kind_of_word(verb)
    return (kind, f"its description begins with {verb!r}") if kind else None


def acting_verb(protocol: ToolProtocol, http: HttpBinding) -> tuple[str, str]:
    """Return a verb which suggests that a GET does more than read, and the reason, or ("", "")."""
    path, _, query = http.url.partition("?")
    texts = (protocol.title[:200], protocol.description[:200])
    trusted = _begins_with_reading_verb(protocol, texts, method=http.method.lower())
    asks = any(_ASKS_WHETHER.match(text) for text in texts)
    verb = _find_verb_in_path(path.split("/")[3:], trusted=trusted)
    if verb and not (asks and verb in _NOUNS_TOO):
        return verb, f"its path says {verb!r}"
    if verb := _find_verb_in_name(name_words(protocol.name), method=http.method.lower()):
        return verb, f"its name says {verb!r}"
    named = protocol.parameters.items()
    arguments = {http.wire_name(name): list(known_values(part)) for name, part in named}
    for pair in filter(None, query.split("&")):
        argument, _, value = pair.partition("=")
        arguments.setdefault(unquote_plus(argument), []).append(unquote_plus(value))
    for argument, values in arguments.items():
        if verb := _find_verb_in_argument(argument, values):
            return verb, f"its argument {argument!r} may say what is to be done"
    for text in texts:
        if verb := _find_verb_in_text(text):
            return verb, f"its description begins with {verb!r}"
    return "", ""


def _begins_with_reading_verb(protocol: ToolProtocol, texts: Iterable[str], *, method: str) -> bool:
    """Return True if the name of a tool, or one of its `texts`, begins with a reading verb.

    The HTTP method (`get`) does not count as one, because generated names begin with it.
    """
    leads = set(name_words(protocol.name)[:1])
    for text in texts:
        if found := re.match(r"[A-Za-z]+", text):
            leads.add(singular(found[0].lower()))
    return not (leads - {method}).isdisjoint(_READING | {"return"})


def _find_verb_in_path(segments: list[str], *, trusted: bool) -> str:
    """Return the first verb in the segments of a path that are not variables, or "".

    An unknown word after an id counts as a verb (`/pets/{id}/frobnicate`), unless `trusted` is
    True, that is, the name or the description of the tool begins with a reading verb.
    """
    parts = _meaningful_parts(segments)
    for before, part, below in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        after_id = before.startswith("{")
        if verb := _find_verb_in_part(part, below, after_id=after_id, trusted=trusted):
            return verb
    return ""


def _find_verb_in_part(part: str, below: str, *, after_id: bool, trusted: bool) -> str:
    """Return the verb in one segment of a path which says that the call is a write, or "".

    `below` is the next segment, or "". `after_id` is True if the segment before is a variable.
    `trusted` is True if the name or the description of the tool begins with a reading verb.
    """
    words = name_words(re.sub(r"\{[^}]*\}", "", part).rpartition(".")[2])
    if not words:
        return ""
    if part.startswith("{") and words[0] in ACTING:  # `/jobs/{id}:cancel`
        return words[0]
    if len(words) == 1 and words[0] in _NOUNS_TOO:
        return words[0] if _is_verb_in_path(words[0], below, after_id=after_id) else ""
    if verb := _find_verb_in_words(words):
        is_noun = words[-1].endswith("ing") and _names_a_thing(below)  # `/fine_tuning/jobs`
        return "" if is_noun else verb
    is_unknown = after_id and not below and not trusted and _is_unknown_word(words)
    return words[0] if is_unknown else ""


def _meaningful_parts(segments: list[str]) -> list[str]:
    """Return the segments of a path without file extensions; leave out `api`, `v2` and the like."""
    parts = [re.sub(r"\.[a-z]{2,4}$", "", unquote_plus(part)) for part in segments if part]
    return [part for part in parts if not re.fullmatch(r"api|rest|v?\d[\d.]*", part)]


def _is_verb_in_path(word: str, below: str, *, after_id: bool) -> bool:
    """Return True if a path segment that can be a noun is used as a verb, judging by its neighbors.

    `below` is the next segment, or "". `after_id` is True if the segment before is a variable.
    """
    if not below:
        return after_id or word not in PATHS["verbs_behind_ids"]
    return "{" not in below and not _names_a_thing(below)


def _is_unknown_word(words: list[str]) -> bool:
    """Return True if a path segment is a single word that is neither a noun nor a reading verb.

    This is judged by word lists and by the ending of the word, so the word may be an unknown verb.
    """
    if len(words) > 1 or words[0].isdigit():
        return False
    word = words[0]
    if word in PATHS["of_nouns"] | PATHS["held"] | PATHS["things"] | _READING | READS["verbs"]:
        return False
    return singular(word) == word and not _NOUN_LIKE.fullmatch(word)


def _find_verb_in_name(words: list[str], *, method: str) -> str:
    """Return the verb in a tool's name which says that the call is a write, or "".

    A name that begins with the HTTP method was probably generated and is ignored.
    """
    if not words or words[0] == method:
        return ""
    if words[0] in _READING:
        linked = (word for before, word in pairwise(words) if before in ("and", "or", "then"))
        return next((word for word in linked if word in ACTING), "")
    alone = len(words) == 1 and words[0] in _NOUNS_TOO - PATHS["verbs_behind_ids"]
    return _find_verb_in_words(words) or (words[0] if alone else "")


def _find_verb_in_words(words: list[str]) -> str:
    """Return the verb in the words of a name which says that the call is a write, or "".

    In a name of one word, only a verb that is rarely a noun counts.
    """
    first = words[0]
    last = words[-1]
    if len(words) > 1 and first in PATHS["plurals"] and singular(last) in PATHS["of_verbs"]:
        return ""
    for word in (first, last) if first not in _READING else (first,):
        if verb := strict_verb(word):
            return verb
    if len(words) > 1 and first in _NOUNS_TOO and (first == "mark" or not _names_a_thing(last)):
        return first
    return last if last in ("off", "on") else ""


def strict_verb(word: str) -> str:
    """Return the verb of an action that `word` is a form of, if this verb is rarely a noun, or "".

    Examples: `delete`, `deletes`, `deleting`, `deleteuser`, `undelete`.
    """
    has_prefix = word.startswith(("un", "re")) and word[2:] in ACTING
    if word in STRICT or has_prefix:
        return word
    for ending in ("ing", "es", "s"):
        if verb := _strict_stem(word, ending):
            return verb
    for length in range(len(word) - 3, 3, -1):
        if word[:length] in _KINDS & STRICT and not _ENDINGS.fullmatch(word[length:]):
            return word[:length]
    return ""


def _strict_stem(word: str, ending: str) -> str:
    """Return the verb that becomes `word` when `ending` is added, if it is rarely a noun, or "".

    For example, the result is `delete` for the word `deleting` and the ending `ing`.
    """
    if not word.endswith(ending):
        return ""
    stem = word.removesuffix(ending)
    doubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
    for verb in (stem, f"{stem}e", doubled):
        if verb in STRICT and (ending == "ing" or verb not in PATHS["plurals"]):
            return verb
    return ""


def _names_a_thing(text: str) -> bool:
    """Return True if the last word of `text` shows that the word before `text` is a noun.

    Otherwise the word before may be a verb. Examples: `count` in `/vote/count`, `items` in
    `/order_items`.
    """
    last = (name_words(text) or [""])[-1]
    return (
        last in PATHS["of_nouns"] | _READING | {"me", "stats", "details"} or singular(last) != last
    )


def _find_verb_in_argument(name: str, values: list[str]) -> str:
    """Return the verb with which an argument tells a call to change something, or "".

    `values` are the known values of the argument, such as `delete` for an argument `action`.
    """
    words = name_words(name) or [""]
    key = "_".join(words)
    leads = [word for value in values for word in name_words(value)[:1]]
    if _OVERRIDE.fullmatch(key):
        return key if _overrides_method(name, words, leads) else ""
    if key in _COMMANDS | _MAYBE_COMMANDS:
        verb = next((word for word in leads if word in ACTING), "")
        return verb or (key if key in _COMMANDS and not leads else "")
    return words[0] if _is_acting_flag(words) else ""


def _overrides_method(name: str, words: list[str], leads: list[str]) -> bool:
    """Return True if an argument can replace the HTTP method of a request by one that writes.

    `name` is its name, and `words` the words of this name. `leads` are the first words of its known
    values. Without known values, the name decides.
    """
    if leads:
        return not {"delete", "patch", "post", "put"}.isdisjoint(leads)
    return "override" in words or name.startswith("_")


def _is_acting_flag(words: list[str]) -> bool:
    """Return True if a boolean argument with these words in its name makes a GET a write.

    Example: `?send_mail=true`.
    """
    if words[0] in _NOUNS_TOO or words[-1] in _DATES:
        return False
    return words[0] in _FLAGS or kind_of_word(words[0]) in ("remove", "end")


def _find_verb_in_text(text: str) -> str:
    """Return the verb at the beginning of a description if it says that the call is a write.

    Examples: `Sends the mail.`, `Log out the user.` Return "" if it does not say so.
    """
    words = re.findall(r"[a-z]+", text.lower())[:3]
    if not words or singular(words[0]) in _OPENING:
        return ""
    if words[0] in READS["light"] and READS["reading_nouns"] & {*words[1:]}:  # `Run a search`
        return ""
    if words[0].endswith("ing") and words[1:2] in (["from"], ["in"], ["with"]):
        return ""  # `Starting in version 6, …`
    if verb := strict_verb(words[0]) or strict_verb(
        _join_phrasal_verbs([words[0].removesuffix("s"), *words[1:]])[0]
    ):
        return verb
    return (
        words[0]
        if len(words) > 1 and singular(words[0]) in _NOUNS_TOO and words[1] in _ARTICLES
        else ""
    )


def name_words(text: str) -> list[str]:
    """Return the words of a name in lower case, without numbers.

    A phrasal verb at the beginning is one word: `log_out_2` → `logout`.
    """
    return _join_phrasal_verbs(
        [word for word in snake(text).split("_") if word and not word.isdigit()]
    )


def _join_phrasal_verbs(words: list[str]) -> list[str]:
    """Join the words of a phrasal verb at the beginning of a name: `log_out` → `logout`."""
    return (
        [words[0] + words[1], *words[2:]]
        if len(words) > 1 and words[1] in ("out", "off", "in")
        else words
    )


def known_values(schema: Json) -> Iterator[str]:
    """Yield the strings that a schema contains as values: constant, enum, default and examples."""
    for key in (
        ("const", "default", "example", "enum", "examples") if isinstance(schema, dict) else ()
    ):
        found = schema.get(key)
        yield from (
            value
            for value in (found if isinstance(found, list) else [found])
            if isinstance(value, str)
        )
