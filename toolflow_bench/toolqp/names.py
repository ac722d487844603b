"""Keeps the names of tools out of what a planner learns: it shall describe what it looks for, not recite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from atc.retrieve.document import ToolDocument

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_MASK = "this tool"


class Names:
    """Which texts give a tool away. A name that other tools' documents use as a word (`search`) gives nothing away."""

    def __init__(self, documents: Mapping[str, ToolDocument]) -> None:
        self._documents = documents
        self._used = Counter(word for document in documents.values() for word in set(_words(document.description)))

    def given_away(self, text: str, tools: Iterable[str]) -> bool:
        """Whether `text` names one of `tools`."""
        return any(_pattern(name).search(text) for name in tools if not self._common(name))

    def hidden(self, text: str, tools: Iterable[str]) -> str:
        """`text` with the names of `tools` replaced by "this tool"."""
        for name in tools:
            if not self._common(name):
                text = _pattern(name).sub(_MASK, text)
        return text

    def _common(self, name: str) -> bool:
        """Whether the name is one word that stands in another tool's description."""
        words = _words(name)
        own = set(_words(self._documents[name].description)) if name in self._documents else set()
        return len(words) == 1 and self._used[words[0]] - (words[0] in own) > 0


def _pattern(name: str) -> re.Pattern[str]:
    """The name as it stands and, of a name of several words, spelled apart: `WeatherTool`, `weather tool`."""
    parts = _PART.findall(name)
    spellings = [re.escape(name)]
    if len(parts) > 1:
        spellings.append(r"[\W_]+".join(map(re.escape, parts)))
    return re.compile(rf"(?<!\w)(?:{'|'.join(spellings)})(?!\w)", re.IGNORECASE)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
