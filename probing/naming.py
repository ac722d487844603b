"""How near the name of an argument is to the name of a place that holds values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from probing.facts import ArgumentFacts
from protocols.id_names import field_key, noun_of
from protocols.protocol import ToolProtocol
from protocols.schema import types
from protocols.secret_names import kind_of
from protocols.vocabulary import ID_WORDS, SEARCHES, VAGUE, WRAPPERS
from protocols.words import singular, snake

_SAME = {
    "addr": "address", "cat": "category", "cc": "country_code", "ccy": "currency", "desc": "description",
    "dest": "destination", "dst": "destination", "identifier": "id", "lat": "latitude", "lng": "longitude",
    "lon": "longitude", "long": "longitude", "org": "organization", "pk": "id", "qty": "quantity",
    "repo": "repository", "src": "source", "timezone": "time_zone", "tz": "time_zone",
}  # fmt: skip
"""Words that are written shorter, and what they stand for."""

PAGING = frozenset({
    "count", "limit", "max_results", "offset", "page", "page_number", "page_size", "pagesize", "per_page", "perpage",
    "results_per_page", "size", "skip", "take", "top",
})  # fmt: skip
"""Arguments that cut a list into pages: what other responses hold under these names is about other lists."""

_CURSORS = frozenset({
    "after", "continuation", "continuation_token", "continue", "cursor", "end_cursor", "marker", "next", "next_cursor",
    "next_marker", "next_page", "next_page_cursor", "next_page_token", "next_token", "page_cursor", "page_token",
    "resume_token", "scroll_id", "since_id", "start_after", "start_cursor", "starting_after", "sync_token",
})  # fmt: skip
"""Names of what tells a list where to go on."""

_SPOKEN_OF = re.compile(r"\b([A-Za-z][A-Za-z_-]+(?: [A-Za-z][A-Za-z_-]+)?) ['\"`]…['\"`]")
"""The nouns before a value that a reply quotes, of which a hint keeps `…` alone."""
_OF_FILES = re.compile(
    r"\bno such file\b|\b(?:is|not) a directory\b|\ba directory, |\b(?:ENOENT|EISDIR|ENOTDIR)\b|\bpathspec\b",
    re.IGNORECASE,
)

TITLES = frozenset({"title", "name", "label", "headline", "subject", "summary", "caption"})
"""Last words of fields that hold what people search for."""

KEYS = "{}"
"""The last part of a path whose values are the keys of a map: `rates.{}`; `rates.*` are its values."""

_ENDS = frozenset({"before", "checkout", "end", "ends", "last", "max", "return", "to", "until"})
_STARTS = frozenset({"after", "begin", "checkin", "depart", "first", "from", "min", "since", "start", "starts"})

EQUAL, NEAR, TOLD = 0.0, 0.75, 1.5
"""How far two names are apart: one and the same; of the same thing, or one with a word before it; the argument's
description or a reply names the place's noun."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in words. `own` is the last name as it stands (`code`), `key` tells of what an id is (`airport_code`).

    `above` is the noun that a field stands under: `owner` for `repository.owner.login`.
    """

    own: str
    key: str
    above: str = ""

    @property
    def thing(self) -> str:
        """What it is the id of: `airport` for `airport_code`; empty where the name does not tell."""
        return _thing(self.key)

    @property
    def identifies(self) -> bool:
        """Whether the name is that of an id."""
        return self.key.split("_")[-1] in ID_WORDS

    def of_another(self, other: Name) -> bool:
        """Whether both are ids and their names say that they are of different things."""
        things = self.thing, other.thing
        return self.identifies and other.identifies and all(things) and things[0] != things[1]

    @property
    def searches(self) -> bool:
        """Whether it is what one looks for, in words."""
        words = set(self.own.split("_"))
        return bool(words & (SEARCHES | {"s", "phrase"})) and not words & {"id", "ids", "code"} and not self.identifies

    @property
    def pages_on(self) -> bool:
        """Whether it says where the next page begins: `cursor`, `nextPageToken`, `starting_after`."""
        return self.own in _CURSORS

    @property
    def admits(self) -> bool:
        """Whether it is a secret that one tool gives out and others ask for, as a password is not."""
        return self.own.split("_")[-1] in {"auth", "authorization", "bearer", "jwt", "key", "session", "token"}

    @property
    def secret(self) -> bool:
        """Whether what stands under it is a secret, whatever it looks like."""
        return kind_of(self.own) in ("text", "number")


@lru_cache(maxsize=4096)
def words_of(name: str) -> str:
    """A name in small letters with `_` between words, short forms written out: `homeTz` → `home_time_zone`."""
    return "_".join(_SAME.get(word, word) for word in snake(name).replace("timezone", "time_zone").split("_"))


def argument_name(protocol: ToolProtocol, argument: str) -> Name:
    """The name of an argument; a vague one with the noun that its tool is about."""
    own = words_of(argument)
    last = own.split("_")[-1]
    declared = protocol.parameters.get(argument)
    if last in ("ids", "codes", "keys", "numbers") or (isinstance(declared, dict) and "array" in types(declared)):
        own = singular(own)
    noun = noun_of(protocol, argument) if own in VAGUE and argument in protocol.parameters else None
    return Name(own, f"{noun}_{own}" if noun else own)


def field_name(protocol: ToolProtocol, path: str) -> Name:
    """The name of a response path: a vague one with the noun that it stands under, list elements in the singular."""
    parts = path.split(".")
    if parts[-1] == KEYS:
        noun = singular(words_of(parts[-2].replace("[]", ""))) if len(parts) > 1 else ""
        return Name("key", f"{noun}_key" if noun else "key")
    own = words_of(parts[-1].replace("[]", ""))
    if parts[-1].endswith("[]") or own in ("ids", "codes", "keys"):
        own = singular(own)
    key = field_key(protocol, path.replace("*", "").replace("..", "."))
    above = next((noun for part in reversed(parts[:-1]) if (noun := _noun(part))), "")
    return Name(own, words_of(key) if key else own, above)


def _noun(part: str) -> str:
    word = words_of(part.replace("[]", ""))
    return "" if word in WRAPPERS else singular(word)


def distance(wanted: Name, held: Name, text: frozenset[str] = frozenset()) -> float | None:
    """How far a place's name is from an argument's, `None` for too far. `text` are words said of the argument."""
    if wanted.key == held.key or (wanted.own == held.own and held.own not in VAGUE):
        return NEAR if wanted.key in VAGUE else EQUAL  # `id` and `id`, of whatever
    if wanted.key.replace("_", "") == held.key.replace("_", ""):
        return EQUAL
    if _ends(wanted.key, held.key) or _ends(held.key, wanted.key) or (wanted.pages_on and held.pages_on):
        return NEAR
    if wanted.thing and held.thing and (held.identifies or held.key == held.thing):
        both = wanted.identifies and held.identifies and wanted.key.split("_")[-1] != held.key.split("_")[-1]
        if wanted.thing == held.thing or _ends(wanted.thing, held.thing):
            return NEAR + (0.5 if both else 0.0)
    if held.own in ID_WORDS and held.above and (wanted.key == held.above or _ends(wanted.key, held.above)):
        return NEAR
    if wanted.key == held.thing and held.own.split("_")[-1] == "name":
        return TOLD
    if held.thing and held.identifies and set(held.thing.split("_")) <= text:
        return TOLD - (0.5 if held.key.split("_")[-1] in text else 0.0)
    return None


@lru_cache(maxsize=4096)
def _thing(key: str) -> str:
    words = key.split("_")
    while words and words[-1] in (ID_WORDS | VAGUE):
        words.pop()
    return "_".join(words)


def ends_range(name: str) -> bool:
    """Whether an argument is the later end of a range, by its name."""
    words = set(words_of(name).replace("check_out", "checkout").split("_"))
    return bool(words & _ENDS) and not words & _STARTS


def said_of(argument: ArgumentFacts) -> frozenset[str]:
    """The words, in the singular, that the description of an argument and the replies about it use."""
    texts = [str(argument.declared.get(key, "")) for key in ("title", "description")]
    texts += [hint.text for hint in argument.hints]
    return _words(tuple(texts))


def called(argument: ArgumentFacts) -> tuple[str, ...]:
    """What replies call the values of an argument: `ref` for *Ref 'x' did not resolve*, `path` for *no such file*."""
    return _called(tuple(hint.text for hint in argument.hints if hint.kind in ("refused", "not_found")))


@lru_cache(maxsize=4096)
def _called(texts: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for text in texts:
        for nouns in _SPOKEN_OF.findall(text[:2_000]):
            found += [words_of(nouns), words_of(nouns.split()[-1])]
        if _OF_FILES.search(text):
            found.append("path")
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4096)
def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(singular(word) for text in texts for word in re.findall(r"[a-z]+", text[:2_000].lower()))


def _ends(longer: str, shorter: str) -> bool:
    """Whether a name is another with words before it: `from_place_id` and `place_id`; not `paid` and `id`."""
    particular = "_" in shorter or (len(shorter) >= 4 and shorter not in VAGUE)
    return particular and longer.endswith(f"_{shorter}")
