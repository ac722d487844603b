"""Verbs in names, paths, arguments and descriptions: what they say that a call does. Words, and so guesses."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
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
"""What a tool does → verbs that say so; where a word is in several, the first counts."""
PATHS: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _READ["paths"].items()
}
"""Words of the paths of GETs, by what they say there."""
READS: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _READ["reads"].items()
}
"""Words that are evidence of a read, by where they are."""
GRAMMAR: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _READ["grammar"].items()
}
"""Small words of sentences, by what they say of the word beside them."""
VerbKind = Literal["read", "create", "update", "remove", "end"]
"""*read* looks something up; *create* adds a thing or sets something off; *update* changes a thing; *remove* takes one
away; *end* ends what later calls rest on: a session, a connection."""

_READING = VERBS["read"]
_KINDS = VERBS["create"] | VERBS["update"] | VERBS["remove"] | VERBS["end"]
ACTING = (_KINDS | PATHS["acts"]) - PATHS["things"]
_NOUNS_TOO = PATHS["nouns_too"]
STRICT = ACTING - _NOUNS_TOO
"""Verbs that are hardly nouns, of all that act."""
CAN_BE_VERB = (
    ACTING | PATHS["things"] | PATHS["nouns_too"] | PATHS["verbs_too"] | PATHS["plurals"]
) - _READING
"""English words that may be a verb which does more than read."""
_UNDOES = PATHS["undone"]
_NOUN_LIKE = re.compile(
    r".*(?:acy|age|ance|ary|ata|ed|ence|er|ery|graphy|hood|ial|ics|ing|ion|ism|ity|logy|ment|ness|or|ory|ship|sis"
    r"|sure|ture|ty|ware)"
)
_ENDINGS = re.compile(
    r"[a-z]?(?:e[dr]s?|ors?|ings?|ions?|ations?|able|als?|ances?|ments?|s)|rs?|ds?|ts?"
)
_COMMANDS = frozenset({"act", "action", "cmd", "command", "do", "exec", "execute", "verb"})
_MAYBE_COMMANDS = frozenset({"event", "func", "function", "mode", "op", "operation", "task"})
"""Arguments whose value says what is done: always, and where one of the values that are known is a verb."""
_FLAGS = frozenset({"approve", "confirm", "create", "notify", "pay", "publish", "send", "submit"})
"""Verbs by which an argument makes a GET do more than read: `?send_mail=true`; those that take away do too."""
_OVERRIDE = re.compile(r"_?(?:x_)?(?:http_)?method(?:_override)?")
_DATES = frozenset({"after", "at", "before", "by", "date", "on", "since", "time", "until"})
_ASKS_WHETHER = re.compile(
    r"(?:check|determine|find out|see|test|tell)s? (?:if|whether)\b", re.IGNORECASE
)
_OPENING = frozenset({"apply", "call", "request", "return"})
"""Verbs with which the description of a read may begin: `Returns the list of …`."""
_ARTICLES = frozenset(
    {"a", "all", "an", "another", "any", "every", "it", "one", "the", "this", "these", "your"}
)


_IRREGULAR = {
    "bought": "buy",
    "built": "build",
    "given": "give",
    "paid": "pay",
    "sent": "send",
    "sold": "sell",
}


def kind_of_word(word: str) -> VerbKind | None:
    """Return what a verb does; `None` for a word that is no verb that we know."""
    if word.startswith("un") and word[2:] in _UNDOES:
        return "remove"
    return cast(
        "VerbKind | None", next((kind for kind, words in VERBS.items() if word in words), None)
    )


def kind_of_name(protocol: ToolProtocol) -> tuple[VerbKind, str] | None:
    """What the first verb of a tool's name says, else the first word of its description; `None` where neither does."""
    words = [word for word in name_words(protocol.name) if not re.fullmatch(r"api|v\d+|rest", word)]
    if isinstance(protocol.binding, HttpBinding) and words[:1] == [protocol.binding.method.lower()]:
        # A name made of method and path: its first word says no more than the method.
        gone = next((word for word in words[1:] if word in VERBS["remove"]), "")
        return ("remove", f"its path says {gone!r}") if gone else None
    told = [(word, kind) for word in words if (kind := kind_of_word(word))]
    if told:
        # Of `get_or_create` the more drastic verb counts.
        added = {after for before, after in pairwise(words) if before in ("and", "or", "then")}
        order = list(VERBS)
        word, kind = min(
            [told[0], *(one for one in told if one[0] in added)],
            key=lambda one: order.index(one[1]),
        )
        return kind, f"its name says {word!r}"
    verb = _find_verb_in_text(protocol.description)
    kind = kind_of_word(verb)
    return (kind, f"its description begins with {verb!r}") if kind else None


def acting_verb(protocol: ToolProtocol, http: HttpBinding) -> tuple[str, str]:
    """The verb by which a GET seems to do more than read, and a clause that says where it stands; empty for none."""
    path, _, query = http.url.partition("?")
    texts = (protocol.title[:200], protocol.description[:200])
    first = [re.match(r"[A-Za-z]+", text) for text in texts]
    said = {
        *name_words(protocol.name)[:1],
        *(singular(found[0].lower()) for found in first if found),
    }
    trusted = bool((said - {http.method.lower()}) & (_READING | {"return"}))
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


def _find_verb_in_path(segments: list[str], *, trusted: bool) -> str:
    """The first verb among the fixed parts of a path; empty where there is none.

    Without `trusted`, also a word behind an id that is no known noun: `/pets/{id}/frobnicate`.
    """
    parts = [re.sub(r"\.[a-z]{2,4}$", "", unquote_plus(part)) for part in segments if part]
    parts = [part for part in parts if not re.fullmatch(r"api|rest|v?\d[\d.]*", part)]
    for place, part in enumerate(parts):
        words = name_words(re.sub(r"\{[^}]*\}", "", part).rpartition(".")[2])
        behind = parts[place + 1] if place + 1 < len(parts) else ""
        after_id = place > 0 and parts[place - 1].startswith("{")
        if not words:
            continue
        if part.startswith("{") and words[0] in ACTING:  # `/jobs/{id}:cancel`
            return words[0]
        if len(words) == 1 and words[0] in _NOUNS_TOO:
            alone = not behind and (after_id or words[0] not in PATHS["verbs_behind_ids"])
            if alone or (behind and "{" not in behind and not _names_a_thing(behind)):
                return words[0]
        elif verb := _find_verb_in_words(words):
            if not (words[-1].endswith("ing") and _names_a_thing(behind)):  # `/fine_tuning/jobs`
                return verb
        elif after_id and not behind and len(words) == 1 and not trusted:
            nouns = PATHS["of_nouns"] | PATHS["held"] | PATHS["things"]
            known = words[0] in nouns | _READING | READS["verbs"] or words[0].isdigit()
            if not known and singular(words[0]) == words[0] and not _NOUN_LIKE.fullmatch(words[0]):
                return words[0]
    return ""


def _find_verb_in_name(words: list[str], *, method: str) -> str:
    if not words or words[0] == method:
        return ""  # made of method and path
    if words[0] in _READING:
        return next((word for before, word in pairwise(words) if before in ("and", "or", "then") and word in ACTING),
                    "")  # fmt: skip
    alone = len(words) == 1 and words[0] in _NOUNS_TOO - PATHS["verbs_behind_ids"]
    return _find_verb_in_words(words) or (words[0] if alone else "")


def _find_verb_in_words(words: list[str]) -> str:
    """The verb of a name in several words, or of one that is hardly a noun."""
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
    """Return the verb of a word that is hardly a noun: `delete`, `deletes`, `deleting`, `deleteuser`, `undelete`."""
    if word in STRICT or any(
        word.startswith(before) and word[2:] in ACTING for before in ("un", "re")
    ):
        return word
    for ending in ("ing", "es", "s"):
        stem = word.removesuffix(ending)
        doubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        for verb in (stem, f"{stem}e", doubled) if stem != word else ():
            if verb in STRICT and (ending == "ing" or verb not in PATHS["plurals"]):
                return verb
    for length in range(len(word) - 3, 3, -1):
        if word[:length] in _KINDS & STRICT and not _ENDINGS.fullmatch(word[length:]):
            return word[:length]
    return ""


def _names_a_thing(text: str) -> bool:
    """Whether a word that follows a noun and a verb alike makes it a noun: `/vote/count`, `/order_items`."""
    last = (name_words(text) or [""])[-1]
    return (
        last in PATHS["of_nouns"] | _READING | {"me", "stats", "details"} or singular(last) != last
    )


def _find_verb_in_argument(name: str, values: list[str]) -> str:
    words = name_words(name) or [""]
    key = "_".join(words)
    said = [word for value in values for word in name_words(value)[:1]]
    if _OVERRIDE.fullmatch(key):
        told = "override" in words or name.startswith("_")
        return key if (told and not said) or set(said) & {"delete", "patch", "post", "put"} else ""
    if key in _COMMANDS | _MAYBE_COMMANDS:
        verb = next((word for word in said if word in ACTING), "")
        return verb or (key if key in _COMMANDS and not said else "")
    flag = words[0] in _FLAGS or kind_of_word(words[0]) in ("remove", "end")
    return words[0] if flag and words[0] not in _NOUNS_TOO and words[-1] not in _DATES else ""


def _find_verb_in_text(text: str) -> str:
    """The verb with which a description begins: `Sends the mail.`, `Log out the user.`, `Order the book.`"""
    words = re.findall(r"[a-z]+", text.lower())[:3]
    if not words or singular(words[0]) in _OPENING:
        return ""
    if words[0] in READS["light"] and READS["reading_nouns"] & {*words[1:]}:  # `Run a search`
        return ""
    if words[0].endswith("ing") and words[1:2] in (
        ["from"],
        ["in"],
        ["with"],
    ):  # `Starting in version 6, …`
        return ""
    if verb := strict_verb(words[0]) or strict_verb(
        _join_phrasal_verbs([words[0].removesuffix("s"), *words[1:]])[0]
    ):
        return verb
    return (
        words[0]
        if len(words) > 1 and singular(words[0]) in _NOUNS_TOO and words[1] in _ARTICLES
        else ""
    )


def base_form(word: str, known: frozenset[str]) -> str:
    """The base form of a verb that is among `known`: `returns`, `returning` → `return`; empty where it is none."""
    stems = [word, *filter(None, [_IRREGULAR.get(word)])]
    if word.endswith(("ies", "ied")):
        stems.append(f"{word[:-3]}y")
    for ending in ("s", "es", "ing", "ed", "d"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word.removesuffix(ending)
            stems += [stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem]
    return next((stem for stem in stems if stem in known), "")


def name_words(text: str) -> list[str]:
    """Return the words of a name, numbers left out, phrasal verbs as one: `log_out_2` → `logout`."""
    return _join_phrasal_verbs(
        [word for word in snake(text).split("_") if word and not word.isdigit()]
    )


def _join_phrasal_verbs(words: list[str]) -> list[str]:
    """`log_out` → `logout`."""
    return (
        [words[0] + words[1], *words[2:]]
        if len(words) > 1 and words[1] in ("out", "off", "in")
        else words
    )


def known_values(schema: Json) -> Iterator[str]:
    """Yield the texts that a schema names: its enum, its default, its examples."""
    for key in (
        ("const", "default", "example", "enum", "examples") if isinstance(schema, dict) else ()
    ):
        found = schema.get(key)
        yield from (
            value
            for value in (found if isinstance(found, list) else [found])
            if isinstance(value, str)
        )
