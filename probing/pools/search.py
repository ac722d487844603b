"""Words to search with: of the names and titles that responses held."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from probing.naming import TITLES, words_of
from probing.pools.place import Place
from probing.sample import Value
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.vocabulary import VERBS
from protocols.words import singular

_ABOUT, _OTHER, _STEP = 0.5, 1.5, 0.75
_OF_EACH = 4
_WORD = re.compile(r"[^\W\d_]{3,}")
_FILLERS = frozenset({"and", "der", "des", "for", "from", "les", "new", "of", "the", "und", "with"})


def words_for(protocol: ToolProtocol, places: Sequence[Place]) -> Iterator[tuple[float, Value]]:
    """A word of each name with its distance, then the whole name; names of what the tool is about come first."""
    about = nouns_of(protocol)
    for place in places:
        if place.argument or place.name.own.split("_")[-1] not in TITLES or place.name.identifies:
            continue
        near = _ABOUT if set(place.name.key.split("_")) & about or place.tool == protocol.name else _OTHER
        texts = [held for held in place.values.values() if isinstance(held.value, str)]
        for number, held in enumerate(islice(texts, _OF_EACH)):
            words = [word for word in _WORD.findall(held.value) if word.lower() not in _FILLERS]
            if words and words[0] != held.value:
                word = Value(max(words[:3], key=len), replace(held.origin, kind="generated"))
                yield near + _STEP * number, word
            yield near + _STEP * number + _STEP / 2, held


def nouns_of(protocol: ToolProtocol) -> set[str]:
    """What a tool is about: the words of its name and its path, in the singular."""
    text = words_of(protocol.name)
    if isinstance(protocol.binding, HttpBinding):
        text += "_" + words_of("/".join(protocol.binding.url.split("?")[0].split("/")[3:]))
    return {singular(word) for word in text.split("_")} - VERBS - {""}


def words_about(place: Place) -> set[str]:
    """What a place speaks of: the words of its tool and of its path, in the singular."""
    return {singular(word) for word in words_of(f"{place.tool}_{place.path}").split("_")}
