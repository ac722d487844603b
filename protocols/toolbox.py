"""`Tool`: a protocol that can be called. `Toolbox`: an immutable set of them, by alias, with the links between them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from protocols.errors import InvalidProtocol, UnknownTool
from protocols.naming import FreeNames, argument_aliases, identifier, tool_aliases
from protocols.protocol import Binding, EvidenceLevel, HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject, parse_path, wrapper_key

Call = Callable[[JsonObject], Json]
"""Takes arguments by their original names, gives the full response; raises `ToolError`."""

idempotency_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)
"""The key sent with a call whose binding has an `idempotency_header`; set by the host, in the thread that calls."""


@dataclass(frozen=True)
class Tool:
    """A protocol, how to call it, and the names under which programs know it.

    `source` is the name of where it came from, `place` what tells that source from another of the same name: the file
    of a module, the command or address of an MCP server. `home` is the origin of a service that this process has
    started, on a port that says nothing. `arguments` maps each argument's alias to its original name. `admit` is asked
    with the arguments, by original name, before a call is even recorded as intended; it raises what ends the run.
    """

    protocol: ToolProtocol
    call: Call = field(compare=False)
    alias: str = ""
    source: str = ""
    place: str = ""
    home: str = ""
    admit: Callable[[JsonObject], None] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.alias:
            object.__setattr__(self, "alias", tool_aliases([(self.protocol.name, self.source)])[0])

    @property
    def qualified(self) -> str:
        """`SOURCE/NAME`: the name under which settings can mean no tool of another source."""
        return f"{self.source}/{self.protocol.name}" if self.source else self.protocol.name

    @cached_property
    def names(self) -> frozenset[str]:
        """What a setting may call it. They follow from its own source and name, never from what other tools there are.

        So an alias that has a number, because of a clash with other tools, is not among them.
        """
        name = self.protocol.name
        prefix = f"{self.source}_" if self.source else ""
        return frozenset({name, self.qualified, identifier(name), identifier(prefix + name)})

    @cached_property
    def identity(self) -> str:
        """A digest of its source, its name and what it calls, so that a tool can be known again."""
        return sha256(
            repr(
                (self.source, self.protocol.name, self.place, self._binding_without_origin)
            ).encode()
        ).hexdigest()[:32]

    @cached_property
    def call_digest(self) -> str:
        """A digest of what a call of it reaches and how it is called, which no other operation has.

        A query may choose the operation, so it counts too; a secret in it cannot be read from the digest. What counts
        is the same whichever way the protocol was stored.
        """
        binding = (
            None if self._binding_without_origin is None else asdict(self._binding_without_origin)
        )
        known = json.dumps(
            [self.place, type(self._binding_without_origin).__name__, binding],
            sort_keys=True,
            default=str,
        )
        return sha256(known.encode()).hexdigest()[:32]

    @property
    def _binding_without_origin(self) -> Binding | None:
        """The binding; of a service that this process has started, without its origin."""
        binding = self.protocol.binding
        if (
            isinstance(binding, HttpBinding)
            and self.home
            and f"{binding.url}/".startswith(f"{self.home}/")
        ):
            return replace(binding, url=binding.url.removeprefix(self.home))
        return binding

    @cached_property
    def arguments(self) -> Mapping[str, str]:
        """Alias → original name of each argument, in declared order."""
        return argument_aliases(list(self.protocol.parameters))

    @cached_property
    def required(self) -> frozenset[str]:
        """Aliases of the arguments that a call must give."""
        return frozenset(
            alias for alias, name in self.arguments.items() if name in self.protocol.required
        )

    @cached_property
    def wrapper(self) -> str | None:
        """The one key that programs do not see because it is the whole response."""
        return wrapper_key(self.protocol.output_schema)

    def original_arguments(self, arguments: JsonObject) -> dict[str, Json]:
        """Arguments by alias → by original name; an argument that is not in the protocol keeps its name."""
        return {self.arguments.get(alias, alias): value for alias, value in arguments.items()}

    def check(self, arguments: JsonObject) -> None:
        """Raise `ToolError` for arguments, by original name, that cannot be sent. Nothing is sent."""
        if check := getattr(self.call, "check", None):
            check(arguments)

    def unwrap(self, response: Json) -> Json:
        """What a program gets of a full response: its single field where the protocol has one."""
        if self.wrapper is not None and isinstance(response, Mapping) and self.wrapper in response:
            return response[self.wrapper]
        return response


class Toolbox(Mapping[str, Tool]):
    """Tools by alias, in the order of their sources. Immutable: `only` and `+` give new ones."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        named: dict[tuple[str, str], Tool] = {}
        for tool in tools:
            name = tool.protocol.name
            source = tool.source
            if (name, source) in named:
                hint = "Rename one of them; a name may repeat only across sources."
                raise InvalidProtocol(
                    source or "toolbox", f"two tools are named {name!r}.", hint=hint
                )
            named[name, source] = tool
        aliases = tool_aliases(list(named))
        self._tools = {
            a: replace(tool, alias=a) for a, tool in zip(aliases, named.values(), strict=True)
        }
        self._whole = self

    def _copy_with(self, tools: Iterable[Tool]) -> Toolbox:
        """A toolbox of these, aliases unchanged, as a selection of the whole that this one is of."""
        box = Toolbox()
        box._tools = {tool.alias: tool for tool in tools}
        box._whole = self._whole
        return box

    def __getitem__(self, alias: str) -> Tool:
        return self._tools[alias]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __add__(self, other: Toolbox) -> Toolbox:
        return Toolbox([*self._tools.values(), *other._tools.values()])

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(self._tools)})"

    def find(self, name: str, *, suggest: bool = True) -> Tool:
        """Return the tool of this alias, or of a name as settings have it.

        Raises:
            UnknownTool: there is none; it carries the nearest names unless `suggest` is false.
        """
        if name in self._tools:
            return self._tools[name]
        named = self._by_name.get(name, [])
        if len(named) == 1:
            return named[0]
        known = [tool.alias for tool in named] or list(self._tools)
        raise UnknownTool(name, known if suggest else ())

    def find_all(self, name: str) -> list[Tool]:
        """The tools that a setting may mean by `name`, see `Tool.names`; more than one where it is ambiguous.

        Looked for among all tools, also by a toolbox that is a selection of them: it must not make a name unambiguous.
        """
        found = self._whole._by_name.get(name) or self._by_name.get(name, [])  # noqa: SLF001 - another toolbox
        exact = [tool for tool in found if tool.qualified == name]
        return exact if exact and len({tool.source for tool in found}) == 1 else found

    def shortest_name(self, tool: Tool) -> str:
        """The shortest name by which a setting means this tool and no other."""
        return (
            tool.alias
            if [one.alias for one in self.find_all(tool.alias)] == [tool.alias]
            else tool.qualified
        )

    @cached_property
    def _by_name(self) -> Mapping[str, list[Tool]]:
        found: dict[str, list[Tool]] = {}
        for tool in self._tools.values():
            for name in tool.names:
                found.setdefault(name, []).append(tool)
        return found

    @cached_property
    def _by_origin(self) -> Mapping[tuple[str, str], Tool]:
        return {(tool.source, tool.protocol.name): tool for tool in self._tools.values()}

    def only(self, names: Iterable[str]) -> Toolbox:
        """The tools of these names, in that order, aliases unchanged.

        Raises:
            UnknownTool: one of them is not here.
        """
        return self._copy_with(map(self.find, names))

    def also(self, tools: Iterable[Tool]) -> Toolbox:
        """These tools and `tools` behind them, aliases of these unchanged; one whose alias is taken gets the next free.

        Unlike `+`, which names all anew: a selection must go on calling its tools what the whole toolbox calls them.
        """
        free = FreeNames(self._tools)
        return self._copy_with(
            [*self._tools.values(), *(replace(tool, alias=free(tool.alias)) for tool in tools)]
        )

    def map(self, change: Callable[[Tool], Tool]) -> Toolbox:
        """Each tool replaced by `change(tool)`, aliases unchanged."""
        return self._copy_with(map(change, self._tools.values()))

    def verifier(self, tool: Tool) -> Tool | None:
        """The read of the same source that shows what `tool` wrote, where its protocol names one; chosen or not."""
        wanted = tool.protocol.verified_by
        read = self._whole._by_origin.get((tool.source, wanted.tool)) if wanted else None  # noqa: SLF001
        return read if read is not None and not read.protocol.writes else None

    def producers(self, tool: Tool, argument: str) -> list[Producer]:
        """The tools of this box that yield values of an argument (by its original name), the best first; one a tool.

        Better known links go first; then tools that need no produced value themselves (a search by words); then in the
        order of the links, of which guesses begin with the simplest.
        """
        best: dict[str, Producer] = {}
        for link in tool.protocol.links:
            other = self._by_origin.get((tool.source, link.tool))
            if link.argument == argument and other is not None and other.alias != tool.alias:
                best.setdefault(other.alias, Producer(other, link.path, link.support))
        return sorted(best.values(), key=lambda one: (_TRUST[one.support], self._needs(one.tool)))

    def _needs(self, tool: Tool) -> int:
        """How many of a tool's required arguments take what tools of this box yield."""
        linked = {
            link.argument
            for link in tool.protocol.links
            if (tool.source, link.tool) in self._by_origin
        }
        return len(tool.protocol.required & linked)


_TRUST: dict[EvidenceLevel, int] = {"declared": 0, "observed": 1, "guessed": 2}


def format_subscript(key: str) -> str:
    """`["code"]`: how a program reads a key. One that a document or a response chose cannot leave its quotes."""
    return f"[{json.dumps(key, ensure_ascii=False)}]"


class Producer(NamedTuple):
    """A tool whose response holds values of an argument, at `path` (`airports[].code`)."""

    tool: Tool
    path: str
    support: EvidenceLevel

    def expression(self, *, arguments: str = "…") -> str:
        """How a program reads the value: `search_airports(…)[0]["code"]`, for unwrapped responses too."""
        path = parse_path(self.path)
        if self.tool.wrapper is not None and path[:1] == [self.tool.wrapper]:
            path = path[1:]
        read = "".join("[0]" if isinstance(step, int) else format_subscript(step) for step in path)
        return f"{self.tool.alias}({arguments}){read}"
