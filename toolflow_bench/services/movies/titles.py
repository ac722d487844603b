"""Film titles as people write them, and telling that two of them mean one film."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

_ARTICLES = r"The|A|An|La|Le|Les|L'|Il|El|Der|Die|Das|Los|Las|Un|Una|Gli|Lo|Den|Det|Het|De|Ein|Eine|Een|O|Os|Uno|Un'"

# Titles and names that the data has otherwise elsewhere, or misspells.
CORRECTED = {
    "Star Wars: Episode IV - A New Hope": "Star Wars",
    "Captain America: The Winder Soldier": "Captain America: The Winter Soldier",
    "Marvel's The Avengers": "The Avengers",
    "Spiderman: Homecoming": "Spider-Man: Homecoming",
    "Spiderman: Far from Home": "Spider-Man: Far from Home",
    "Guardians of the Galaxy Vol. 2": "Guardians of the Galaxy 2",
    "Manchester by the Sa": "Manchester by the Sea",
    "The Great Zeigfeld": "The Great Ziegfeld",
    "Kitty Foyle": "Kitty Foyle: The Natural History of a Woman",
    "Judgment at Nuremburg": "Judgment at Nuremberg",
    "Who's Afraid of Virginia Wolf": "Who's Afraid of Virginia Woolf?",
    "One Flew Over the Cockoo's Nest": "One Flew Over the Cuckoo's Nest",
    "One Flew Over The Cuckoo's Nes": "One Flew Over the Cuckoo's Nest",
    "Ghandi": "Gandhi",
    "7th Heaven": "Seventh Heaven",
    "Two Women": "La Ciociara",
    "Leonardo Di Caprio": "Leonardo DiCaprio",
    "Philip Hoffman": "Philip Seymour Hoffman",
    "Trip to Bountiful": "The Trip to Bountiful",
    "Elisabeth Taylor": "Elizabeth Taylor",
    "Forest Gump": "Forrest Gump",
    "The Way of All Flesh & The Las": "The Way of All Flesh",
    "Three Billboards Outside of Ebbing Missouri": "Three Billboards Outside Ebbing, Missouri",
}

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
    plain = unicodedata.normalize("NFKD", title.lower().replace("&", " and "))
    plain = "".join(character for character in plain if not unicodedata.combining(character))
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

    def find(self, title: str, years: Iterable[int], *, taken: Mapping[str, object] | None = None) -> str | None:
        """The only film of this title within `years` that is not `taken`; `None` where none or several are."""
        wanted = set(years)
        for name in keys(title):
            found = {film for year, film in self._found[name] if year in wanted and film not in (taken or {})}
            if len(found) == 1:
                return found.pop()
        return None
