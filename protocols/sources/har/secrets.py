"""The secrets of a recording: found on reading, and replaced wherever else they stand."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from protocols.jsontypes import Json
from protocols.placeholder import conceals_nothing, placeholder, spellings
from protocols.secrecy import covered
from protocols.secret_names import fits, kind_of

_SHORTEST = 8
"""Characters from which a secret is looked for in other texts: shorter ones are also words."""
_SURELY = 16
"""Characters from which any cookie is; shorter ones hold settings as well (`en-US`, `New York`)."""
_RUN = re.compile(r"[A-Za-z0-9]+")
# Tried once for each run of these characters, as in `protocols.secret_parts`.
_JWT = re.compile(r"(?<![\w-])(?=[\w-]++\.[\w-]{8,}+\.[\w-]{8})(?:[\w-]*?-)??(eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}+)")
_SCHEME = re.compile(r"(?:Basic|Bearer|Token|ApiKey|Digest)\s+", re.IGNORECASE)


class Secrets:
    """What must not be told of a recording. First all of it is noted, then values are covered.

    There may be tens of thousands: each request may carry cookies of its own. So most are looked up by the longest run
    of letters and digits in them, and found where that run stands whole; only what headers and queries carried as a
    credential is looked for within longer runs too.
    """

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}
        self._credentials: list[tuple[str, str]] = []
        self._by_run: dict[str, list[tuple[str, str]]] = {}

    def note_headers(self, *lists: Json) -> None:
        """Note the secrets in lists of headers, as a recording has them."""
        for name, value in _pairs(lists):
            lower = name.lower()
            if lower == "set-cookie":
                for line in value.split("\n"):
                    self._note_cookie(*line.partition(";")[0].partition("=")[::2])
            elif lower == "cookie":
                for pair in value.split(";"):
                    self._note_cookie(*pair.partition("=")[::2])
            elif lower in ("authorization", "proxy-authorization"):
                self._add(_SCHEME.sub("", value, count=1), credential=True)
                self._add(_password(value), credential=True)
            elif is_secret(name, value):
                self._add(value, credential=True)

    def note_cookies(self, *lists: Json) -> None:
        """Note the secrets in lists of cookies."""
        for name, value in _pairs(lists):
            self._note_cookie(name, value)

    def note_query(self, query: Sequence[tuple[str, str]]) -> None:
        """Note the secrets in a query."""
        for name, value in query:
            if is_secret(name, value):
                self._add(value, credential=True)
        self.note([value for _, value in query])

    def note(self, value: Json) -> None:
        """Note the secrets in a body or a response, by their names and by what they look like."""
        covered(value, None, self._noted, rest=self._looked)

    def covered(self, value: Json) -> Json:
        """`value` with a placeholder for each secret, by its name and wherever else it stands."""
        return covered(value, None, self._placeholder, rest=self._clean)

    def stand_in(self, text: str) -> bool:
        """Whether a text holds any of them."""
        return bool(self._clean(text) != text)

    def _note_cookie(self, name: str, value: str) -> None:
        text = unquote(value.strip())
        mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
        if is_secret(name.strip(), text) or len(text) >= _SURELY or mixed:
            self._add(text)
            self._add(value.strip())

    def _noted(self, value: Json) -> Json:
        self._add(str(value))
        return value

    def _looked(self, value: Json) -> Json:
        for found in _JWT.findall(value) if isinstance(value, str) else ():
            self._add(found)
        return value

    def _add(self, secret: str, *, credential: bool = False) -> None:
        if len(secret) < _SHORTEST or conceals_nothing(secret):
            return
        known = self._marks.get(secret)
        instead = placeholder(secret, known or f"h{len(self._marks) + 1}")
        spelled = [(text, instead) for text in spellings(secret) if len(text) >= _SHORTEST]
        if credential and not any(text == secret for text, _ in self._credentials):
            self._credentials = sorted({*self._credentials, *spelled}, key=lambda one: (-len(one[0]), one))
        if known is None:
            self._marks[secret] = f"h{len(self._marks) + 1}"
            for text, _ in spelled:
                self._by_run.setdefault(max(_RUN.findall(text), key=len, default=""), []).append((text, instead))

    def _placeholder(self, value: Json) -> Json:
        if isinstance(value, str) and conceals_nothing(value):
            return value
        return placeholder(value, self._marks.get(str(value), "h0"))

    def _clean(self, value: Json) -> Json:
        if not isinstance(value, str) or len(value) < _SHORTEST:
            return value
        for spelling, instead in self._credentials:
            value = value.replace(spelling, instead)
        met = [one for run in set(_RUN.findall(value)) for one in self._by_run.get(run, ())]
        for spelling, instead in sorted(met, key=lambda one: (-len(one[0]), one)):
            value = value.replace(spelling, instead)
        return value


def is_secret(name: str, value: str) -> bool:
    """Whether a header or a parameter of this name and value carries a credential."""
    kind = kind_of(name)
    return kind is not None and fits(kind, value)


def _password(authorization: str) -> str:
    """That of `Basic …`; empty for other schemes."""
    scheme, _, given = authorization.strip().partition(" ")
    try:
        return base64.b64decode(given).decode().partition(":")[2] if scheme.lower() == "basic" else ""
    except ValueError:
        return ""


def _pairs(lists: tuple[Json, ...]) -> list[tuple[str, str]]:
    listed = [one for items in lists if isinstance(items, list) for one in items if isinstance(one, Mapping)]
    return [(str(one.get("name", "")), str(one.get("value", ""))) for one in listed]
