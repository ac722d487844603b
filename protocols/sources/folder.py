"""A folder of protocol files: `*.json` and `*.yaml`, one protocol or a list of them each (docs/protocols.md)."""

from __future__ import annotations

from pathlib import Path

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.jsontypes import Json
from protocols.protocol import PythonBinding, ToolProtocol, load
from protocols.sources.fetch import fetch_document

_SUFFIXES = (".json", ".yaml", ".yml")


def read_folder(path: Path | str) -> list[ToolProtocol]:
    """The protocols of every file under `path`, files in the order of their paths; hidden files are left out.

    Raises:
        SourceUnavailable: no such folder, no protocol file in it, or a file that cannot be read.
        InvalidProtocol: a file breaks the format, or binds a Python function, which only a module that you name may.
    """
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise SourceUnavailable(f"there is no folder {str(path)!r}; check the path.")
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix.lower() in _SUFFIXES
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    if not files:
        raise SourceUnavailable(
            f"the folder {str(path)!r} has no protocol files (*.json or *.yaml); docs/protocols.md shows one."
        )
    return [protocol for file in files for protocol in read_protocols(fetch_document(str(file)), where=str(file))]


def read_protocols(document: Json, *, where: str) -> list[ToolProtocol]:
    """The protocols of one file's content.

    Raises:
        InvalidProtocol: it breaks the format, or binds a Python function.
    """
    if isinstance(document, list):
        return [_read(part, f"{where}[{index}]") for index, part in enumerate(document)]
    return [_read(document, where)]


def _read(document: Json, where: str) -> ToolProtocol:
    if isinstance(document, dict) and ("openapi" in document or "swagger" in document):
        raise InvalidProtocol(
            where, "this is an OpenAPI document, not a protocol.", hint="Give the file itself as a source of its own."
        )
    protocol = load(document, where=where)
    if isinstance(protocol.binding, PythonBinding):
        raise InvalidProtocol(
            where,
            f"{protocol.name!r} asks to run the Python function {protocol.binding.function!r}, which a file may not.",
            path="binding.python",
            hint=f"If you trust it, name the module as a source yourself: --tools {protocol.binding.module}.",
        )
    return protocol
