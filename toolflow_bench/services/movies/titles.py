"""Film titles as people write them, and telling that two of them mean one film."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from toolflow_bench.numbers import without_accents

_ARTICLES = r"The|A|An|La|Le|Les|L'|Il|El|Der|Die|Das|Los|Las|Un|Una|Gli|Lo|Den|Det|Het|De|Ein|Eine|Een|O|Os|Uno|Un'"

GIVEN: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("given.yaml").read_text(encoding="utf-8")
)
"""Corrections of the data, and what stands on the desk before a task writes."""
CORRECTED: Mapping[str, str] = GIVEN["corrected"]

_TRAILING_ARTICLE = re.compile(rf"^(.*), ({_ARTICLES})$")
_BRACKETED = re.compile(r"\(([^()]*)\)")


def natural(title: str) -> str:
    """`Matrix, The` as people write it: `The Matrix`."""
    match = _TRAILING_ARTICLE.match(title.strip())
    if match is None:
        return title.strip()
    return match[2] + ("" if match[2].endswith("'") else " ") + match[1]


def main_title(title: str) -> str:
    """A title without the other titles that follow it in brackets, in natural order."""
    return natural(re.sub(r"(?<=\S)\s*\(.*$", "", title))


def key(title: str) -> str:
    """What two spellings of one title share: words in lower case without accents and punctuation."""
    plain = without_accents(title.lower().replace("&", " and "))
    return " ".join(re.findall(r"[^\W_]+", re.sub(r"['’.]", "", plain)))


def keys(title: str) -> Iterator[str]:
    """The key of a title, then those of the other titles in its brackets."""
    yield key(CORRECTED.get(title) or main_title(title))
    for other in _BRACKETED.findall(title):
        if found := key(natural(other.removeprefix("a.k.a. "))):
            yield found


class Catalogue:
    """Films by key of title and year, to find the one that a title of another source means."""

    def __init__(self, films: Iterable[tuple[str, str, int]]) -> None:
        """`films` gives id, title and year of each."""
        self._found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for film, title, year in films:
            self._found[key(title)].append((year, film))

    def add(self, film: str, title: str, year: int) -> None:
        """Add one film, or more titles of one: those in brackets count too."""
        for name in keys(title):
            self._found[name].append((year, film))

    def find(
        self, title: str, years: Iterable[int], *, taken: Mapping[str, object] | None = None
    ) -> str | None:
        """The only film of this title within `years` that is not `taken`; `None` where none or several are."""
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
