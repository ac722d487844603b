"""Reads tools from protocol files, OpenAPI documents, Python functions, HAR files, MCP servers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from protocols.client import Invoker
from protocols.effects import annotate_effects
from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.links import guess_links
from protocols.mcp import is_mcp
from protocols.naming import identifier
from protocols.protocol import Binding, PythonBinding, ToolProtocol
from protocols.schema import Json
from protocols.secrets.sources import mask_source
from protocols.sources.factories import Factory, fresh_tools, is_factory
from protocols.sources.fetch import fetch_document
from protocols.sources.flatten import flat_sources
from protocols.sources.folder import files_of, read_folder, read_protocols
from protocols.sources.har import is_har, read_har
from protocols.sources.kinds import SourceKinds, Which, find_teller
from protocols.sources.openapi import Hide, read_openapi
from protocols.sources.python import read_functions, read_module
from protocols.sources.source_text import is_python_source, parse_source
from protocols.sources.trust import origin_of, pin_binding, without_lax_hints
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.urls import Origin, is_url
from protocols.verifiers import guess_verifiers
from protocols.worlds import World

SourceKind = Literal["protocols", "openapi", "python", "har", "mcp"]
ToolSource: TypeAlias = str | os.PathLike[str] | Callable[..., Any] | Iterable[Any]
"""A tool source: a text, a path, a function, or an iterable of these; see `load_tools`."""
_GENERIC_TITLES = (
    "", "api", "fastapi", "openapi", "swagger", "rest_api", "unnamed", "untitled", "swagger_api",
    "openapi_definition",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A tool source that was read, such as an OpenAPI document: its name and its tools.

    `protocols` are the descriptions of the tools. `tools` are the same tools, ready to be called;
    it is empty until they are bound. `text` is the source as the user wrote it, with secrets
    masked. `functions` are the Python functions of its tools, keyed by `module:function`. `home` is
    the origin from which the document was fetched, or None for a local file. `place` is the path of
    a Python file; it is empty for a module that was given by its name, and for other sources.
    `account` is the name that the user gave to the source, or "" if the name is its title. It
    chooses among several accounts of one API.
    """

    text: str
    name: str
    kind: SourceKind
    protocols: list[ToolProtocol]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    home: Origin | None = None
    place: str = ""
    account: str = ""
    tools: Toolbox = field(default_factory=Toolbox)


def load_tools(
    *sources: ToolSource | Factory,
    factory: Factory | None = None,
    reads: Which = (),
    pure: Which = (),
    session: Which = (),
    failed: Callable[[Json], bool] | None = None,
    invoker: Invoker | None = None,
) -> Toolbox:
    """Return the tools of all `sources`, ready to be called.

    Guessed links (`protocols.links`) and guessed verifiers (`protocols.verifiers`) are added.

    A source is a folder of protocol files or bare descriptions, one such file, an OpenAPI or
    Swagger document (file or http(s) address), a Python module (dotted name or `.py` file), a HAR
    recording, or an MCP server (`mcp:COMMAND ARGS`, `mcp:https://…`, `mcp:NAME`). A function with
    type hints and a docstring is a tool itself. A file or folder may be a `Path`, and a list may
    contain any of these. `name=SRC` names a source; the default is its title or file name. Names
    must be unique. A repeated source counts once. `SRC@https://host` says that the service which a
    document describes runs at that address. Otherwise, the tools of a document that was fetched
    from an address may only call the host of that address.

    `factory` is a function that takes nothing and returns fresh tools: functions, other sources,
    or a toolbox. It is called for each run, and again when a program takes another way than the one
    before, so that it begins in a fresh world. A function that is given alone is a factory, too, if
    its return annotation says so (`list[Callable]`, `Toolbox`), or if it describes no tool: it has
    no arguments, no return annotation and no docstring.

    `reads`, `pure`, `session` and `failed` say what calls of these tools do. The first three are
    names of tools, True for all, or a function of a `ToolProtocol`. A name is NAME, or SOURCE/NAME
    if several tools have it. `reads`: the tool only reads.
    `pure`: it also has the same result for the same arguments, whatever happened before. `session`:
    it moves something that only the program uses, such as the page of a browser, so that it needs
    no consent. `failed` is a function of a result: True if the call was refused.

    MCP servers run until the `invoker` is closed.

    Raises:
        SourceUnavailable: a source cannot be read or has an unknown format, two have the same name,
            or the factory fails.
        InvalidProtocol: a document is not valid, or two tools of a source have the same name.
        UnknownTool: `reads`, `pure` or `session` names a tool that does not exist.
        ValueError: one of them names several tools, or a fetched one that writes without SOURCE/.
    """
    kinds = SourceKinds(reads=reads, pure=pure, session=session, failed=failed)
    invoker = invoker or Invoker()
    alone = sources[0] if len(sources) == 1 else None
    if factory is None and callable(alone) and is_factory(alone):
        sources = ()
        factory = alone
    kinds = replace(kinds, is_alone=factory is None or not sources)
    tools = _load(sources, invoker, kinds)
    if factory is not None:
        tools += fresh_tools(factory, lambda given: _load(given, invoker, kinds), kinds)
    kinds.require_names(tools)
    return Toolbox(tools)


def _load(sources: Iterable[Any], invoker: Invoker, kinds: SourceKinds) -> list[Tool]:
    """Return the tools of plain sources; see `load_tools`."""
    read = _read_all(flat_sources(sources), invoker)
    named: dict[str, Source] = {}
    for one in read:
        if named.setdefault(one.name, one) is not one:
            problem = f"two sources are named {one.name!r}: {named[one.name].text} and {one.text}"
            location = one.text.removeprefix(f"{one.name}=")
            advice = f"name one of them yourself, such as 'other={location}'"
            raise SourceUnavailable(f"{problem}; {advice}.")
    kinds = replace(kinds, is_alone=kinds.is_alone and len(read) == 1)
    return [tool for source in read for tool in _tools(source, invoker, read, kinds)]


def load_source(
    source: str, *, invoker: Invoker | None = None, modules: Sequence[str] = ()
) -> Source:
    """Load one tool source and return it, with its tools ready to be called.

    The syntax of `source` is that of `load_tools`. `modules` are further Python modules that the
    user named. Protocol files may bind tools to their functions.

    Raises:
        SourceUnavailable, InvalidProtocol: see `load_tools`.
    """
    invoker = invoker or Invoker()
    read = _read_all([*modules, source], invoker)
    return replace(read[-1], tools=Toolbox(_tools(read[-1], invoker, read, SourceKinds())))


def is_local_data(text: str) -> bool:
    """Return True if a source is a data file, or a folder of them, below the current folder.

    Such a source runs no code or command, and its text names no address or host.
    """
    _, location, base_url = parse_source(text)
    try:
        if (
            base_url is not None
            or is_url(location)
            or is_mcp(location)
            or is_python_source(location)
        ):
            return False
        path = Path(location).expanduser()
        here = os.path.realpath(".")
        return all(
            Path(os.path.realpath(file)).is_relative_to(here) for file in (path, *files_of(path))
        )
    except (OSError, ValueError):  # no file can have such a name
        return False


def absolute_source(text: str) -> str:
    """Return the text of a tool source with its path made absolute, if it is a path.

    The result does not depend on the current folder.
    """
    name, location, base_url = parse_source(text)
    path = Path(location).expanduser()
    if (
        is_mcp(location)
        or is_url(location)
        or not path.exists()
        or (path.is_dir() and is_python_source(location))
    ):
        return text
    return f"{name and f'{name}='}{path.absolute()}{f'@{base_url}' if base_url else ''}"


def _tools(
    source: Source, invoker: Invoker, sources: Sequence[Source], kinds: SourceKinds
) -> list[Tool]:
    """Return the tools of `source`, which is one of `sources`, ready to be called.

    A protocol file may bind tools to the functions of all Python modules in `sources`.
    """
    functions = source.functions or {
        name: one for other in sources for name, one in other.functions.items()
    }
    home = source.home.url if source.home and source.home.url in invoker.started else ""
    session = World(repr(source.name))
    asked = [invoker.hide_filled(protocol, source.account) for protocol in source.protocols]
    marked = [kinds.annotate(protocol, source.name) for protocol in asked]
    described = guess_verifiers(guess_links(marked))
    return [
        kinds.mark(
            Tool(
                protocol=protocol,
                call=invoker.bind(protocol, functions, account=source.account, source=source.text),
                source=source.name,
                place=source.place or invoker.servers.place(protocol.binding),
                home=home,
                told_by=find_teller(source.kind, fetched=source.home is not None),
            ),
            source.functions,
            session=session,
        )
        for protocol in described
    ]


# --- reading a source of each kind


def _read_all(given: Sequence[str | Callable[..., Any]], invoker: Invoker) -> list[Source]:
    """Return one `Source` for each text in `given`, in their order, and one for all functions.

    If a protocol file describes a function or an MCP tool of another source, only the description
    in the file is used. A file may bind tools only to functions of modules that the user named.
    """
    found = [
        replace(_read(text, invoker), account=parse_source(text)[0])
        for text in given
        if isinstance(text, str)
    ]
    if functions := [one for one in given if not isinstance(one, str)]:
        protocols, callables = read_functions(functions)
        ours = Source(
            text="the functions",
            name="functions",
            kind="python",
            protocols=protocols,
            functions=callables,
        )
        found.append(ours)
    described = _bindings_in_files(found)
    return [_without_bindings(source, described) for source in found]


def _bindings_in_files(sources: Sequence[Source]) -> list[Binding | None]:
    """Return the bindings of all tools that are described in protocol files.

    A binding says how a tool is called.

    Raises:
        InvalidProtocol: a tool is bound to a function of a module that the user did not name.
    """
    modules = {name.partition(":")[0] for source in sources for name in source.functions}
    bindings = []
    for source in sources:
        if source.kind != "protocols":
            continue
        for protocol in source.protocols:
            binding = protocol.binding
            bindings.append(binding)
            if isinstance(binding, PythonBinding) and binding.module not in modules:
                problem = (
                    f"{protocol.name!r} asks to run the Python function {binding.function!r},"
                    " which a file may not."
                )
                hint = (
                    f"If you trust it, give the module {binding.module!r} as a source yourself"
                    " ('--tools MODULE', or '--module MODULE' of 'atc probe')."
                )
                raise InvalidProtocol(source.text, problem, path="binding.python", hint=hint)
    return bindings


def _without_bindings(source: Source, described: Sequence[Binding | None]) -> Source:
    """Return a Python or MCP source without those tools that protocol files describe, too.

    `described` are the bindings of the tools in protocol files. Sources of other kinds are returned
    unchanged.
    """
    if source.kind not in ("python", "mcp"):
        return source
    kept = [protocol for protocol in source.protocols if protocol.binding not in described]
    return replace(source, protocols=kept)


def _read(text: str, invoker: Invoker) -> Source:
    """Read the tool source that `text` names, such as a file, a module or an address.

    See `load_tools` for the syntax.
    """
    name, location, base_url = parse_source(text)
    if is_mcp(location):
        name, protocols = invoker.servers.open(location, name=name)
        return Source(text=mask_source(text), name=name, kind="mcp", protocols=protocols)
    if is_python_source(location):
        return _read_python(text, name, location)
    if base_url is not None:
        invoker.homes.add(origin_of(base_url).host)
    path = Path(location).expanduser()
    if location.strip() and path.is_dir():
        protocols = read_folder(path, base_url=base_url)
        name = name or path.resolve().name
        return Source(text=text, name=name, kind="protocols", protocols=protocols)
    if is_url(location):
        return _read_address(text, invoker)
    if not (location.strip() and path.exists()):
        raise SourceUnavailable(
            f"{mask_source(location)!r} is no tool source:"
            " there is no such folder, file or Python module;"
            " give a folder of protocols, an OpenAPI document (file or http address), a module,"
            " a HAR recording, or an MCP server as 'mcp:COMMAND'."
        )
    document = fetch_document(location)
    hide = partial(invoker.hide_filled, account=name)
    kind, protocols = _read_document(document, mask_source(location), base_url, hide)
    name = name or _name_from_title(kind, protocols, path.stem)
    return Source(text=mask_source(text), name=name, kind=kind, protocols=protocols)


def _read_address(text: str, invoker: Invoker) -> Source:
    """Read the tool source at an http(s) address. `text` may also have a name and a base URL."""
    name, location, base_url = parse_source(text)
    homes = [origin_of(url) for url in (location, base_url) if url and is_url(url)]
    document = fetch_document(
        location,
        homes=invoker.homes,
        near=invoker.settings.near_hosts,
        login=invoker.document_login(homes[0], account=name),
    )
    where = mask_source(location)
    hide = partial(invoker.hide_filled, account=name)
    kind, protocols = _read_document(document, where, base_url, hide)
    protocols = [pin_binding(protocol, homes, where) for protocol in protocols]
    # The hints of OpenAPI documents and recordings were checked when they were read.
    if kind == "protocols":
        protocols = annotate_effects(map(without_lax_hints, protocols))
    host = urlsplit(location).hostname or location
    return Source(
        text=mask_source(text),
        name=name or _name_from_title(kind, protocols, host),
        kind=kind,
        protocols=protocols,
        home=homes[0],
    )


def _name_from_title(kind: SourceKind, protocols: Sequence[ToolProtocol], otherwise: str) -> str:
    """Return the name of a source: the title of its document, or `otherwise`.

    `otherwise` is used if the title is missing or generic, such as `Swagger API`.
    """
    title = identifier(protocols[0].collection.strip()).lower() if kind != "protocols" else ""
    return identifier(otherwise) if title in _GENERIC_TITLES else title


def _read_python(text: str, name: str, location: str) -> Source:
    """Read a Python module as a tool source. An empty `name` is replaced by that of the module."""
    protocols, functions = read_module(location)
    file = Path(location.rpartition(":")[0] or location).expanduser()
    return Source(
        text=text,
        name=name or protocols[0].collection.rpartition(".")[2],
        kind="python",
        protocols=protocols,
        functions=functions,
        place=str(file.resolve()) if file.is_file() else "",  # module names are unique
    )


def _read_document(
    document: Json, where: str, base_url: str | None, hide: Hide
) -> tuple[SourceKind, list[ToolProtocol]]:
    """Return the kind of a document (such as `openapi`), and the descriptions of its tools.

    `where` names the document in messages. `hide` leaves out arguments that the settings fill.
    """
    if is_har(document):
        return "har", read_har(document, where=where, base_url=base_url)
    if isinstance(document, Mapping) and document.keys() & {"openapi", "swagger", "paths"}:
        return "openapi", read_openapi(document, where=where, base_url=base_url, hide=hide)
    return "protocols", read_protocols(document, where=where, base_url=base_url)
