"""Paths for what is about to be made, so that nothing that is there is written over."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, splitext

from probing.effects.words import kind_of
from probing.facts import ToolFacts
from probing.fits import Fits
from probing.mark import Mark
from probing.naming import words_of
from probing.pools import Pools
from probing.sample import Origin, Value
from protocols.schema import types
from protocols.words import snake

_PATHS = frozenset({"file", "file_name", "file_path", "filename", "filepath", "path"})
_TARGETS = frozenset(
    {"dest", "dest_path", "destination", "destination_path", "dst", "new_path", "target_path", "to_path"}
)
_FILE_WORDS = frozenset({"document", "file", "files", "text"})
_PLACES = frozenset({"dir", "directory", "file", "filename", "folder", "path", "repo_path", "repository_path", "root"})


def fresh_path(tool: ToolFacts, argument: str, pools: Pools, mark: Mark) -> Value | None:
    """A path with the probing's mark, in a folder that is known; `None` where none is wanted.

    Wanted is one for what a tool makes, or where it puts what it moves. Where such a path was sent once, others may be
    tried.
    """
    kind = kind_of(tool.protocol)[0]
    name = snake(argument)
    makes = kind == "create" and name in _PATHS
    if not (makes or (kind in ("create", "update") and name in _TARGETS)):
        return None
    if {"array", "object"} & set(types(tool.protocol.parameters.get(argument, {}))):
        return None
    sent = [s.plain.get(argument) for s in tool.samples]
    ending = ".txt" if _FILE_WORDS & set(snake(tool.name).split("_")) or "file" in name else ""
    folder = next(_folders(pools), "")
    if any(isinstance(value, str) and mark.on(value) and value.startswith(folder) for value in sent):
        return None
    base = f"{mark.text}{'-2' * (name in _TARGETS)}{ending}"
    path = f"{folder}/{base}" if folder else base
    fits = argument not in tool.arguments or Fits(tool, tool.arguments[argument]).allows(path)
    return Value(path, Origin(kind="generated")) if fits else None


def _folders(pools: Pools) -> Iterator[str]:
    """Folders that tools took, the outermost first; of a file, the one that it is in."""
    taken = [
        held.value
        for place in pools.taken
        if words_of(place.name.own) in _PLACES
        for held in place.values.values()
        if isinstance(held.value, str) and held.value.startswith("/")
    ]
    folders = {dirname(path) if splitext(path)[1] else path.rstrip("/") for path in taken}
    yield from sorted((folder for folder in folders if folder), key=lambda folder: (len(folder), folder))
