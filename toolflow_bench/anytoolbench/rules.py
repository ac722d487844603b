"""What a program can see of a query that is no good (A.7). What it cannot see is left to a model."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Literal, NamedTuple

from atc.retrieve.document import ToolDocument

Kind = Literal["missing information", "fake parameters", "names an API", "unreasonable"]
"""Why a query is no good: A.7's four kinds."""


class Flaw(NamedTuple):
    """What is wrong with a query, and the words that show it."""

    kind: Kind
    reason: str


_FEWEST_WORDS = 3
_GAP = re.compile(
    r"\{[^{}]{1,40}\}|<(?!https?:)[a-z][^<>@]{1,40}>|\[(?:your|my|the|insert|name|city|date)\b[^][]*\]|\bX{3,}\b",
    re.IGNORECASE,
)
_REFERRED = re.compile(
    r"\b(?:my|this|that|the following|the attached|the given|a certain|a specific) "
    r"(?:own )?(phone number|e-?mail address|url|link|image|photo|file|ip(?: address)?|tracking number|"
    r"order number|account number|user ?name|address|zip ?code|postal code)\b",
    re.IGNORECASE,
)
_ATTACHED = re.compile(r"\b(?:attached|enclosed|uploaded) (?:file|image|photo|picture|document|pdf)\b", re.IGNORECASE)
_URL = re.compile(r"\b(?:https?|ftp)://[^\s'\"<>)\]]*|\bwww\.[^\s'\"<>)\]]+", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]", re.IGNORECASE)
_RESERVED = re.compile(
    r"(?:^|\.)(?:example|test|invalid|localhost|example\.(?:com|org|net|edu)|(?:your|my)?-?(?:domain|website|company|site)"
    r"\.(?:com|org|net))$",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"[\w.+-]+@[\w.-]+")
_IP = re.compile(r"(?<![\w.])\d{1,5}(?:\.\d{1,5}){3}(?![\w.]*\w)")
_NO_HOSTS = [*map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "0.0.0.0/8"))]
_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_PHONE = re.compile(r"\b555[ -]?01\d\d\b")
_SEQUENCE = re.compile(r"\b(?:1234567\d*|0?12345678\d*|abc-?123\w*|xyz-?\d{3}|1{7,}|0{7,})\b", re.IGNORECASE)
_BY_NAME = re.compile(
    r"\b(?:use|using|via|through|with|from|call|calling|query|access) (?:the )?"
    r"(?!(?:an?|any|some|which|the|this)\b)"
    r"((?:[\w.'-]+ ){0,3}[\w.'-]+) (?:API|endpoint|plugin)\b",
    re.IGNORECASE,
)
_HAS_NUMBER = re.compile(r"\d{3}")


class ApiNames:
    """The names by which a query may give an API away.

    A name that is spelled like no plain text (`get_weather`, `suivi-colis/Latest`) is found as it stands in any case;
    a tool's name of several capitalised words only so. One word (`search`) is nobody's own.
    """

    def __init__(self, documents: Iterable[ToolDocument]) -> None:
        spelled: set[str] = set()
        titles: set[str] = set()
        for document in documents:
            own = [document.name, document.name.rpartition("/")[2], document.collection]
            spelled |= {name.strip() for name in own if _is_code(name.strip())}
            titles |= {name.strip() for name in (document.collection,) if _is_title(name.strip())}
        self._patterns = [_pattern(spelled, re.IGNORECASE), _pattern(titles, 0)]

    def named(self, text: str) -> str:
        """The first name in a text; empty where there is none."""
        found = (pattern.search(text) for pattern in self._patterns if pattern is not None)
        return next((one[0] for one in found if one is not None), "")


def flaws(query: str, names: ApiNames | None = None) -> list[Flaw]:
    """The flaws of a query that need no model; `names` are those of the APIs that there are."""
    rules: list[Callable[[str], Iterator[Flaw]]] = [_unreasonable, _missing, _fake_hosts, _fake_values, _by_name]
    found = [flaw for rule in rules for flaw in rule(query)]
    if names is not None and (name := names.named(query)):
        found.append(Flaw("names an API", f"it names {name!r}"))
    return found


def words(text: str) -> int:
    """How many words a text has."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def _unreasonable(query: str) -> Iterator[Flaw]:
    if words(query) < _FEWEST_WORDS:
        yield Flaw("unreasonable", f"it has fewer than {_FEWEST_WORDS} words")


def _missing(query: str) -> Iterator[Flaw]:
    if gap := _GAP.search(query):
        yield Flaw("missing information", f"{gap[0]!r} is to be filled in")
    if attached := _ATTACHED.search(query):
        yield Flaw("missing information", f"nothing comes with it, and it speaks of {attached[0]!r}")
    for one in _REFERRED.finditer(query):
        if not _given(one[1].casefold(), query):
            yield Flaw("missing information", f"it does not say which {one[1]} {one[0]!r} is")


def _given(thing: str, query: str) -> bool:
    """Whether a query holds something that may be the thing that it speaks of."""
    if "mail" in thing:
        return _EMAIL.search(query) is not None
    if thing in ("url", "link", "image", "photo", "file"):
        return _URL.search(query) is not None or _HOST.search(query) is not None
    if thing.startswith("ip"):
        return _IP.search(query) is not None or query.count(":") > 1
    if thing.replace(" ", "") in ("username", "address"):
        return any(mark in query for mark in "'\"@:(,") or re.search(r"\b(?:is|at|of|to|for) [\w']+", query) is not None
    return _HAS_NUMBER.search(query) is not None


def _fake_hosts(query: str) -> Iterator[Flaw]:
    """Addresses that can exist nowhere, by their form alone: nothing is looked up."""
    for url in (found.rstrip(".,;:!?") for found in _URL.findall(query)):
        rest = url.partition("://")[2] if "://" in url else url
        host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2].partition(":")[0]
        if not _IP.fullmatch(host) and (_HOST.fullmatch(host) is None or _RESERVED.search(host)):
            yield Flaw("fake parameters", f"{url!r} is no address")
    for email in _EMAIL.findall(query):
        host = email.rpartition("@")[2].rstrip(".-")
        if _HOST.fullmatch(host) is None or _RESERVED.search(host):
            yield Flaw("fake parameters", f"{email!r} is no address")
    for text in _IP.findall(query):
        try:
            address = ipaddress.IPv4Address(text)
        except ValueError:
            yield Flaw("fake parameters", f"{text!r} is no IP address")
            continue
        if any(address in network for network in _NO_HOSTS):
            yield Flaw("fake parameters", f"{text!r} is an IP address that nobody has")


def _fake_values(query: str) -> Iterator[Flaw]:
    for one in _DATE.finditer(query):
        try:
            date(*map(int, one.groups()))
        except ValueError:
            yield Flaw("fake parameters", f"{one[0]!r} is no date")
    for pattern in (_PHONE, _SEQUENCE):
        if made_up := pattern.search(query):
            yield Flaw("fake parameters", f"{made_up[0]!r} looks made up")


def _by_name(query: str) -> Iterator[Flaw]:
    if one := _BY_NAME.search(query):
        yield Flaw("names an API", f"it says which to use: {one[0]!r}")


def _is_code(name: str) -> bool:
    """Whether a name is spelled as no plain text is."""
    inner = re.search(r"\w[_/.]\w|[a-z][A-Z]", name)
    return len(name) > 4 and inner is not None and " " not in name


def _is_title(name: str) -> bool:
    return sum(word[0].isupper() for word in name.split()) > 1


def _pattern(names: Iterable[str], flags: int) -> re.Pattern[str] | None:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", flags) if longest_first else None
