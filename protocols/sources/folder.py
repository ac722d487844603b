"""A folder of protocol files: `*.json` and `*.yaml`, one protocol or a list of them each (docs/protocols.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.jsontypes import Json
from protocols.origin import is_url
from protocols.protocol import PythonBinding, ToolProtocol, load
from protocols.sources.bare import complete, is_bare, parts_of
from protocols.sources.fetch import fetch_document

_SUFFIXES = (".json", ".yaml", ".yml")
Named: TypeAlias = Mapping[str, Mapping[str, ToolProtocol]]
"""Of each Python module that the user named as a source, its tools by function."""


def read_folder(path: Path | str, *, base_url: str | None = None, named: Named | None = None) -> list[ToolProtocol]:
    """The protocols of every file under `path`, files in the order of their paths; hidden files are left out.

    `base_url` is where the paths of bare descriptions are; only functions of modules in `named` may be bound.

    Raises:
        SourceUnavailable: no such folder, no tool in it, or a file that cannot be read.
        InvalidProtocol: a file breaks the format, or binds a Python function of a module that was not named.
    """
    folder = Path(path).expanduser()
    files = files_of(folder)
    if not files:
        raise SourceUnavailable(
            f"the folder {str(path)!r} has no protocol files (*.json or *.yaml); docs/protocols.md shows one."
        )
    found = [
        protocol
        for file in files
        for protocol in read_protocols(fetch_document(str(file)), where=str(file), base_url=base_url, named=named)
    ]
    if not found:
        raise SourceUnavailable(f"the files in the folder {str(path)!r} describe no tool; docs/protocols.md shows one.")
    return found


def files_of(folder: Path) -> list[Path]:
    """The files that `read_folder` reads."""
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix.lower() in _SUFFIXES
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]


def read_protocols(
    document: Json, *, where: str, base_url: str | None = None, named: Named | None = None
) -> list[ToolProtocol]:
    """The protocols of one file's content, bare descriptions among them. For the rest see `read_folder`.

    Raises:
        InvalidProtocol: it breaks the format, or binds a Python function of a module that was not named.
    """
    return [_read(part, place, base, named or {}) for part, place, base in parts_of(document, where, base_url)]


def _read(document: Json, where: str, base_url: str | None, named: Named) -> ToolProtocol:
    if isinstance(document, dict) and ("openapi" in document or "swagger" in document):
        raise InvalidProtocol(
            where, "this is an OpenAPI document, not a protocol.", hint="Give the file itself as a source of its own."
        )
    bare = is_bare(document)
    completed = complete(document, where=where, base_url=base_url) if bare else document
    protocol = load(completed, where=where)
    if not isinstance(protocol.binding, PythonBinding):
        return protocol
    function = named.get(protocol.binding.module, {}).get(protocol.binding.function)
    if protocol.binding.module in named and function is None:
        raise InvalidProtocol(
            where,
            f"the module {protocol.binding.module!r} has no public function {protocol.binding.function!r}.",
            path="binding.python",
            hint=f"It has {', '.join(named[protocol.binding.module])}.",
        )
    if function is None:
        download = "download the document, give the file, and " if is_url(where) else ""
        raise InvalidProtocol(
            where,
            f"{protocol.name!r} asks to run the Python function {protocol.binding.function!r}, which a file may not.",
            path="binding.python",
            hint=f"If you trust it, {download}name the module as a source yourself: --tools {protocol.binding.module}.",
        )
    if not bare:
        return protocol
    return replace(  # the function's own protocol with what a bare description says instead
        function,
        name=protocol.name,
        title=protocol.title or function.title,
        description=protocol.description or function.description,
        input_schema=protocol.input_schema if "inputSchema" in completed else function.input_schema,
        collection=protocol.collection or function.collection,
    )
