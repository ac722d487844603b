"""Normalization of film titles, and matching of titles from different sources."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from toolflow_bench.numbers import without_accents

_ARTICLES = (
    r"The|A|An|La|Le|Les|L'|Il|El|Der|Die|Das|Los|Las|Un|Una|Gli|Lo|Den|Det|Het|De|Ein|Eine|Een"
    r"|O|Os|Uno|Un'"
)

GIVEN: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("given.yaml").read_text(encoding="utf-8")
)
"""Corrections of the data sets, and records of the festival desk that exist before a task."""
CORRECTED: Mapping[str, str] = GIVEN["corrected"]

_TRAILING_ARTICLE = re.compile(rf"^(.*), ({_ARTICLES})$")
_BRACKETED = re.compile(r"\(([^()]*)\)")


def natural(title: str) -> str:
    """Return a title with its article in front: `The Matrix` for `Matrix, The`."""
    match = _TRAILING_ARTICLE.match(title.strip())
    if match is None:
        return title.strip()
    return match[2] + ("" if match[2].endswith("'") else " ") + match[1]


def main_title(title: str) -> str:
    """Return a title with its article in front, without alternative titles in brackets."""
    return natural(re.sub(r"(?<=\S)\s*\(.*$", "", title))


def key(title: str) -> str:
    """Return a title in a normal form, by which titles of different sources are matched.

    It consists of lower-case words without accents and punctuation.
    """
    plain = without_accents(title.lower().replace("&", " and "))
    return " ".join(re.findall(r"[^\W_]+", re.sub(r"['’.]", "", plain)))


def keys(title: str) -> Iterator[str]:
    """Yield a title and the alternative titles in its brackets, each in normal form (see `key`)."""
    yield key(CORRECTED.get(title) or main_title(title))
    for other in _BRACKETED.findall(title):
        if found := key(natural(other.removeprefix("a.k.a. "))):
            yield found


class Catalogue:
    """An index of films by title and year, which finds a film under its title in another source."""

    def __init__(self, films: Iterable[tuple[str, str, int]]) -> None:
        """Index the films. Each is given as its id, title and year."""
        self._found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for film, title, year in films:
            self._found[key(title)].append((year, film))

    def add(self, film: str, title: str, year: int) -> None:
        """Add a film, or further titles of a known film, including the titles in brackets."""
        for name in keys(title):
            self._found[name].append((year, film))

    def find(
        self, title: str, years: Iterable[int], *, taken: Mapping[str, object] | None = None
    ) -> str | None:
        """Return the film with this title that is from one of the `years`, except films in `taken`.

        Return None if there is no such film, or more than one.
        """
        wanted = set(years)
        for name in keys(title):
            found = {
                film
                for year, film in self._found[name]
                if year in wanted and film not in (taken or {})
            }
            if len(found) == 1:
                return found.pop()
        return None
