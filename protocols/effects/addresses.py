"""Words in URL paths, and what the URLs of one tool source reveal about each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote_plus

from protocols.effects.verbs import (
    ACTING,
    CAN_BE_VERB,
    GRAMMAR,
    READS,
    STRICT,
    name_words,
    strict_verb,
)
from protocols.naming import singular, snake
from protocols.protocol import HttpBinding, ToolProtocol

_SCRIPT = re.compile(r".*\.(?:action|asp|aspx|cgi|do|html?|jsp|lua|php\d?|pl|py|sh)", re.IGNORECASE)
SUFFIX = re.compile(r"\.(?:csv|geojson|json|md|pdf|png|rss|svg|txt|xml|ya?ml)$", re.IGNORECASE)
_COMPOUND = re.compile(rf"\w{{3,}}(?:{'|'.join(sorted(READS['compounds']))})")
_PREFIX = re.compile(r"api|rest|json|v?\d[\d.]*", re.IGNORECASE)
VARIABLE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Resources:
    """The URLs of one tool source, with the HTTP methods of each.

    Variables in these URLs have no name: `/users/{}`.
    """

    methods: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, protocols: Iterable[ToolProtocol]) -> Resources:
        """Return the URLs of the tools of one source, with the HTTP methods of each."""
        found: dict[str, set[str]] = {}
        for one in protocols:
            if isinstance(one.binding, HttpBinding):
                found.setdefault(without_variable_names(one.binding.url), set()).add(
                    one.binding.method.upper()
                )
        return cls(found)

    def has_record(self, url: str) -> bool:
        """Return True if other calls show that a URL such as `…/hooks/{}` identifies one record.

        Such calls change this record, or create or list records at the URL before it (`…/hooks`).
        """
        address = without_variable_names(url)
        above = address.rpartition("/")[0]
        changed = self.methods.get(address, set()) & {"PUT", "PATCH", "DELETE"}
        listed = (
            "GET" in self.methods.get(above, ())
            and classify_path_part(above.rpartition("/")[2]) == "things"
        )
        made = "POST" in self.methods.get(above, ())
        return bool(
            changed
            or listed
            or made
            or above in self._addresses_with_choices
            or address in self._wholes
        )

    def has_whole(self, url: str) -> bool:
        """Return True if another GET reads the parent of a URL: the URL without its last segment.

        For example, the parent of `/config/{section}` is `/config`.
        """
        return "GET" in self.methods.get(without_variable_names(url).rpartition("/")[0], ())

    def has_things(self, noun: str) -> bool:
        """Return True if some URL of the source contains the plural of a noun.

        For example, `/airlines` contains the plural of `airline`.
        """
        return noun in self._nouns

    def has_plural(self, noun: str) -> bool:
        """Return True if the path of a GET for a list or information has the plural of a noun.

        For example, `GET /runs` and `GET /runs/{}/items` both contain the plural of `run`.
        """
        return noun in self._plurals

    @cached_property
    def _nouns(self) -> frozenset[str]:
        parts = {part for address in self.methods for part in address.split("/")[3:]}
        return frozenset(
            singular(name_words(part)[-1]) for part in parts if classify_path_part(part) == "things"
        )

    @cached_property
    def _plurals(self) -> frozenset[str]:
        found = set()
        for parts in (
            address.split("/")[3:] for address, methods in self.methods.items() if "GET" in methods
        ):
            whole = bool(parts) and classify_path_part(parts[-1]) in ("things", "information")
            found |= {
                singular(snake(part)) for part in parts if singular(snake(part)) != part and whole
            }
        return frozenset(found)

    @cached_property
    def _addresses_with_choices(self) -> frozenset[str]:
        """URLs of lists, such as `/processes`, that some other URL extends by an adjective.

        Such a URL, for example `/processes/extended`, selects a part of the list.
        """
        ends = (
            address.rpartition("/") for address, methods in self.methods.items() if "GET" in methods
        )
        chosen = {above for above, _, end in ends if classify_path_part(end) == "choice"}
        return frozenset(
            above for above in chosen if classify_path_part(above.rpartition("/")[2]) == "things"
        )

    @cached_property
    def _wholes(self) -> frozenset[str]:
        """URLs that some GET extends, with a plural or a word for information at its end.

        For example `/{}`, if there is a URL `/{}/history`.
        """
        found = set()
        for address, methods in self.methods.items():
            above, _, end = address.rpartition("/")
            if "GET" in methods and classify_path_part(end) in ("things", "information"):
                parts = above.split("/")
                found |= {"/".join(parts[:count]) for count in range(4, len(parts) + 1)}
        return frozenset(found)


def parts_of(url: str) -> list[str]:
    """Return the segments of a URL's path, without a first segment such as `api` or `v2`."""
    parts = [unquote_plus(part) for part in url.partition("?")[0].split("/")[3:] if part]
    while len(parts) > 1 and _PREFIX.fullmatch(parts[0]):
        parts = parts[1:]
    return [] if len(parts) == 1 and re.fullmatch(r"api|rest|v\d+", parts[0]) else parts


def without_variable_names(url: str) -> str:
    """Return a URL without its query and with nameless variables: `/users/{id}` → `/users/{}`."""
    return VARIABLE.sub("{}", url.partition("?")[0].rstrip("/"))


def classify_path_part(part: str) -> str:
    """Return the kind of one segment of a URL path that is not a variable.

    The kinds are `things` (a plural), `information` (a word such as `forecast`), `choice` (an
    adjective), `reading` (a verb that only reads), `noun`, `verb` (also a noun that can be a verb),
    and `unknown`.
    """
    part = SUFFIX.sub("", part)
    words = name_words(part)
    if not words or not part.isascii() or _SCRIPT.fullmatch(part):
        return "unknown"
    while len(words) > 1 and words[-1] in READS["adjectives"]:
        words = words[:-1]
    return _classify_first_word(words) or _classify_last_word(words, part)


def _classify_first_word(words: list[str]) -> str:
    """Return the kind of a path segment if it begins with a verb, else "".

    The kind is `reading` if the verb only reads. It is `verb` for another verb, and if the reading
    verb is followed by another verb or by one thing of the user, as in `find_my_car`.
    """
    first = words[0]
    last = words[-1]
    if first not in READS["names"]:
        is_verb = len(words) > 1 and first in CAN_BE_VERB - READS["information"]
        return "verb" if is_verb else ""
    acts = len(words) > 1 and (last in CAN_BE_VERB - READS["information"] or strict_verb(last))
    is_singular = singular(last) == last and last not in READS["information"]
    owned = is_singular and GRAMMAR["determiners"] & {*words[1:-1]}  # `find_my_car`
    return "verb" if acts or owned else "reading"


def _classify_last_word(words: list[str], part: str) -> str:
    """Return the kind of a path segment that does not begin with a verb, judging by its last word.

    The kinds are those of `classify_path_part`. `words` are the words of the segment `part`.
    """
    last = words[-1]
    stem = singular(last)
    if len(last) > 3 and stem != last and not (len(words) == 1 and stem in STRICT):
        return "things"
    if last in READS["information"] or (last not in CAN_BE_VERB and _COMPOUND.fullmatch(last)):
        return "information"
    if last in READS["adjectives"]:
        return "choice"
    if last in CAN_BE_VERB | ACTING:
        return "verb"
    return "unknown" if part.isdigit() or len(last) < 2 or last in GRAMMAR["particles"] else "noun"
