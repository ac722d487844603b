"""The words by which probing reads names: `words.toml`, as sets and tables."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from protocols.jsontypes import Json

_READ: dict[str, dict[str, Any]] = tomllib.loads(files("probing").joinpath("words.toml").read_text(encoding="utf-8"))

VERBS: dict[str, frozenset[str]] = {kind: frozenset(words.split()) for kind, words in _READ["verbs"].items()}
"""What a tool does → verbs that say so; where a word is in several, the first counts."""
PATHS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _READ["paths"].items()}
"""Words of the paths of GETs, by what they say there."""
VALUES: dict[str, tuple[Json, ...]] = {
    name: tuple(values) for names, values in _READ["values"].items() for name in names.split()
}
"""An argument's name → good guesses, best first."""
FORMATS: dict[str, tuple[str, ...]] = {name: tuple(values) for name, values in _READ["formats"].items()}
"""A format of JSON Schema → texts that have it."""
REPLIES: dict[str, tuple[str, ...]] = {name: tuple(words.split()) for name, words in _READ["replies"].items()}
"""Fields of error replies, by what they hold."""
FIELDS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _READ["fields"].items()}
"""Last words of the names of response fields, by what these hold."""
