"""Folders that a server's command names, as values for the arguments of its tools that take paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.schema import types
from protocols.words import snake

_FOLDERS = frozenset({"dir", "directory", "folder", "repo", "repository", "root", "workspace"})
_FILES = frozenset({"file", "filename", "filepath", "files"})
_PATHS = frozenset({"path", "paths"})


def with_places(protocol: ToolProtocol, command: Sequence[str]) -> ToolProtocol:
    """The protocol with examples for its paths: the folders in the server's command, and a file in each.

    Nobody else can know which paths such a server serves. Only tools that read get them, so that nothing which probes
    writes to a file that was there before.
    """
    if protocol.writes:
        return protocol
    folders = _folders(command)
    told = {name: _examples(name, schema, folders) for name, schema in protocol.parameters.items()}
    if not any(told.values()):
        return protocol
    properties = {
        name: {**schema, "examples": told[name]} if told[name] else schema
        for name, schema in protocol.parameters.items()
    }
    return replace(protocol, input_schema={**protocol.input_schema, "properties": properties})


def _folders(command: Sequence[str]) -> list[Path]:
    """The folders among the words of a command, `--option=FOLDER` among them."""
    found = []
    for word in command[1:]:
        path = Path(word.partition("=")[2] if word.startswith("-") and "=" in word else word).expanduser()
        try:
            if not word.isdigit() and path.is_dir():
                found.append(path.absolute())
        except (OSError, ValueError):  # too long, or no path at all
            continue
    return list(dict.fromkeys(found))


def _examples(name: str, schema: Any, folders: Sequence[Path]) -> list[Json]:
    words = {*snake(name).split("_")}
    if words & _PATHS and words & _FOLDERS:  # `repo_path`
        words -= _PATHS
    if not isinstance(schema, dict) or not words & (_FOLDERS | _FILES | _PATHS) or schema.keys() & {"examples", "enum"}:
        return []
    files = [file for folder in folders for file in _first_file(folder)]
    paths = [*folders, *files] if words & _PATHS else folders if words & _FOLDERS else files
    kinds = types(schema)
    if "array" in kinds:
        return [[str(path)] for path in (files or paths)]
    return [str(path) for path in paths] if not kinds or "string" in kinds else []


def _first_file(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))[:1]
    except OSError:
        return []
