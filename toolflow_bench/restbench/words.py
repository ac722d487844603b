"""Words in names and parts of paths."""

from __future__ import annotations

import re
from collections.abc import Sequence

LABELS = ("name", "title", "display_name", "original_name", "original_title")
"""Properties that hold what an entity is called."""

GENERIC = frozenset({"results", "result", "items", "item", "data", "entries", "list", "records"})
"""Names of lists that do not say what is in them."""


_IRREGULAR = {"movies": "movie", "series": "series", "shelves": "shelf", "people": "person", "children": "child"}


def words(name: str) -> list[str]:
    """`SimplifiedTrackObject`, `production_companies` → lower-case words, the last one in the singular."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    found = [word for word in re.split(r"[^a-z0-9]+", split.lower()) if word]
    return [*found[:-1], singular(found[-1])] if found else []


def singular(word: str) -> str:
    """`companies` → `company`, `tracks` → `track`."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2:
        return word[:-1]
    return word


def is_parameter(segment: str) -> bool:
    """Whether a part of a path stands for an argument."""
    return segment.startswith("{") and segment.endswith("}")


def fixed_segments(segments: Sequence[str]) -> Sequence[str]:
    """The parts of a path that are no parameters."""
    return [part for part in segments if not is_parameter(part)]
