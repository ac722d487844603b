"""Names of parameters, fields, headers and cookies, and which names a server may read as equal."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

from protocols.schema import Json

_MERGED = ("path", "query", "form", "body", "field")  # many servers merge these parameters


class RequestName(NamedTuple):
    """The name of a parameter, field, header or cookie of a request, with its value.

    `place` is the part of the request that contains it (`query`, `header`, …). `owner` describes,
    for messages, the argument that is sent under this name. `declared` is True if the tool's
    description contains the name.
    """

    place: str
    name: str
    owner: str
    value: Json = None
    declared: bool = True

    @property
    def exact(self) -> tuple[str, str]:
        """Key for comparing two declared names: it is equal if a server may treat both as one name.

        For example, some servers read the header `X-A` as `x_a`.
        """
        return self.place, normalize_name(self.name) if self.place == "header" else self.name

    @property
    def readings(self) -> set[tuple[str, str]]:
        """All (location, name) pairs under which a server may read this name.

        For example, it may read `to[]` or `to.x` as `to`, or a form field as a query parameter.
        """
        place = "any" if self.place in _MERGED else self.place
        base = re.split(r"[\[.]", unquote(unquote_plus(self.name)), maxsplit=1)[0]
        return {(place, normalize_name(self.name)), (place, normalize_name(base or self.name))}


def normalize_name(name: str) -> str:
    """Return `name` in a form that is equal for all names that a lenient server may treat as one.

    The name is percent-decoded twice. Of the result, only letters and digits are left, in one case.
    """
    plain = unicodedata.normalize("NFKC", unquote(unquote_plus(name))).casefold()
    return re.sub(r"[\W_]+", "", plain) or plain


def same_place(place: str, name: str) -> tuple[str, str]:
    """Return a key that is equal for names under which every server reads the same value.

    They are the same location and name; only headers do not depend on the case.
    """
    return place, name.lower() if place == "header" else name


def by_reading(names: Iterable[RequestName]) -> dict[tuple[str, str], list[RequestName]]:
    """Return the given names, keyed by each (location, name) under which a server may read them."""
    found: dict[tuple[str, str], list[RequestName]] = defaultdict(list)
    for name in names:
        for reading in name.readings:
            found[reading].append(name)
    return found


def contradicts(other: RequestName, name: RequestName) -> bool:
    """Return True if `other` is a query parameter whose value differs from the value of `name`.

    Both are names that a server may read as the same one.
    """
    if other.place != "query" or other.value is None:
        return False
    return json.dumps(other.value) != json.dumps(name.value)
