"""`Tool`, a described tool (`ToolProtocol`) that can be called, and `Toolbox`, a set of tools.

Programs call a tool by its *alias*, a unique Python identifier.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import NamedTuple, Protocol, cast

from protocols.effects import may_be_meant
from protocols.errors import InvalidProtocol, ToolError, UnknownTool
from protocols.naming import (
    FreeNames,
    argument_aliases,
    closest_meanings,
    identifier,
    tool_aliases,
)
from protocols.protocol import Binding, EvidenceLevel, HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject, parse_path, wrapper_key
from protocols.worlds import Effect, Fresh, World

_MOST_SIMILAR = 10
"""Maximum number of similar names that are considered for the suggestions of an error."""

Call = Callable[[JsonObject], Json]
"""A function that calls a tool and returns the full response. Raises `ToolError` if that fails.

The arguments are keyed by their original names, that is, those of the tool's input schema.
"""


class KeyedCall(Protocol):
    """A function that calls a tool and can send an idempotency key.

    Tools whose binding names an `idempotency_header` have such a function.
    """

    def __call__(self, arguments: JsonObject, *, idempotency_key: str | None = None) -> Json:
        """Call the tool and return the full response.

        A service that receives the same key a second time does not act a second time.
        """
        ...


@dataclass(frozen=True)
class Tool:
    """A tool: its description (`protocol`), the function that calls it, and its name in programs.

    `source` is the name of the tool source. `place` is the file of a Python module, or the command
    or address of an MCP server; it distinguishes two sources of the same name. `home` is set if
    this process has started the tool's service: the origin of the service, whose port is random.
    `effect` and `failed` are what the user said of the tool: its effect, and a function that takes
    a result and returns True if it is a refusal, so that the call fails. If a factory made the
    tool, `fresh` makes the same tools again; in a run, `world` is the state behind the tool.

    `admit` is called with the arguments (keyed by original name) before a call is recorded; it may
    raise an exception to end the run. If `brief` is True, prompts describe the
    tool in one line.
    """

    protocol: ToolProtocol
    call: Call = field(compare=False)
    alias: str = ""
    source: str = ""
    place: str = ""
    home: str = ""
    effect: Effect | None = None
    failed: Callable[[Json], bool] | None = field(default=None, compare=False)
    fresh: Fresh | None = field(default=None, compare=False, repr=False)
    world: World | None = field(default=None, compare=False, repr=False)
    admit: Callable[[JsonObject], None] | None = field(default=None, compare=False)
    brief: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not self.alias:
            object.__setattr__(self, "alias", tool_aliases([(self.protocol.name, self.source)])[0])

    @property
    def takes_idempotency_key(self) -> bool:
        """True if a call can carry an idempotency key.

        With the same key, a call can be sent again without taking effect twice.
        """
        binding = self.protocol.binding
        return isinstance(binding, HttpBinding) and bool(binding.idempotency_header)

    def send(self, arguments: JsonObject, *, idempotency_key: str | None = None) -> Json:
        """Call the tool and return its full response.

        `idempotency_key` is ignored if the tool takes none.

        Raises:
            ToolError: the call failed, or `failed` says that the response is a refusal.
        """
        send = partial(self._send, idempotency_key=idempotency_key)
        if self.world is None:
            return send(arguments)
        return self.world.send(self.qualified, arguments, send, steps=self.is_step)

    def _send(self, arguments: JsonObject, *, idempotency_key: str | None) -> Json:
        """Call the tool in the world that it was made in; see `send`."""
        if idempotency_key is None or not self.takes_idempotency_key:
            response = self.call(arguments)
        else:
            response = cast("KeyedCall", self.call)(arguments, idempotency_key=idempotency_key)
        result = self.unwrap(response)
        if self.failed is not None and self.failed(result):
            raise ToolError(None, result if isinstance(result, str) else json.dumps(result))
        return response

    def note_answer(self, arguments: JsonObject, result: Json) -> None:
        """Note that a call, with arguments keyed by alias, had this recorded result and no call."""
        if self.world is not None and self.is_step:
            self.world.answered(self.qualified, self.original_arguments(arguments), result)

    @property
    def is_step(self) -> bool:
        """True if a call changes what later calls of the same world or session return."""
        return self.effect == "session" or self.protocol.writes

    @property
    def repeats(self) -> Effect | None:
        """How an equal call of an earlier program answers a call, if not as for other tools.

        `pure`: always. `session`: if the same calls precede it, because its world is then the same.
        """
        in_world = self.fresh is not None and self.protocol.writes
        return "session" if in_world else self.effect

    @property
    def credentials(self) -> tuple[str, ...]:
        """The names of the configured credentials that a call of this tool sends."""
        return tuple(getattr(self.call, "credentials", ()))

    @property
    def qualified(self) -> str:
        """The name `SOURCE/NAME`, which settings use for exactly this tool.

        A tool of another source cannot have this name.
        """
        return f"{self.source}/{self.protocol.name}" if self.source else self.protocol.name

    @cached_property
    def names(self) -> frozenset[str]:
        """All names by which a setting may refer to this tool.

        They depend only on its source and its name, not on the other tools. So they do not include
        an alias that got a number because another tool has the same name.
        """
        name = self.protocol.name
        prefix = f"{self.source}_" if self.source else ""
        return frozenset({name, self.qualified, identifier(name), identifier(prefix + name)})

    @cached_property
    def identity(self) -> str:
        """Digest of the source, the name and the binding. Identifies the tool in later runs.

        The tool of a factory is another one than the same tool without it, because only a factory
        makes the world in which a run can continue.
        """
        parts = (self.source, self.protocol.name, self.place, self._binding_without_origin)
        known = repr(parts if self.fresh is None else (*parts, "made by a factory"))
        return sha256(known.encode()).hexdigest()[:32]

    @cached_property
    def call_digest(self) -> str:
        """Digest of the operation that a call reaches. Different operations have different digests.

        The digest covers the query of the URL, which may select the operation. A secret in the
        query cannot be recovered from the digest. How the tool's description was stored has no
        influence.
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
        """The binding of the tool, without what differs from run to run.

        If this process started the service, the URL has no scheme, host and port.
        """
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
        """Original names of the arguments, keyed by alias, in declared order."""
        return argument_aliases(list(self.protocol.parameters))

    @cached_property
    def required(self) -> frozenset[str]:
        """Aliases of the required arguments."""
        return frozenset(
            alias for alias, name in self.arguments.items() if name in self.protocol.required
        )

    @cached_property
    def wrapper(self) -> str | None:
        """The key of a response that only wraps one field (`{"flights": […]}`), or None.

        Programs get the value of this field and not the whole response.
        """
        return wrapper_key(self.protocol.output_schema)

    def original_arguments(self, arguments: JsonObject) -> dict[str, Json]:
        """Return the values of arguments keyed by original name instead of alias.

        Unknown aliases stay as they are.
        """
        return {self.arguments.get(alias, alias): value for alias, value in arguments.items()}

    def check(self, arguments: JsonObject) -> None:
        """Check that arguments, keyed by original name, can be sent. Nothing is sent.

        Raises:
            ToolError: they cannot be sent.
        """
        if check := getattr(self.call, "check", None):
            check(arguments)

    def unwrap(self, response: Json) -> Json:
        """Return the part of a response that programs get.

        This is the value at the key `wrapper`, if the tool has one, and else the whole response.
        """
        if self.wrapper is not None and isinstance(response, Mapping) and self.wrapper in response:
            return response[self.wrapper]
        return response


class Toolbox(Mapping[str, Tool]):
    """Tools, keyed by alias, in the order of their sources.

    Immutable: `only` and `+` return new toolboxes.
    """

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
        """Return a toolbox that has these tools, with unchanged aliases.

        It remembers the complete toolbox from which this one was selected.
        """
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
        """Return the tool with this alias, or with another name that settings may use for it.

        Raises:
            UnknownTool: no tool or more than one matches. The error suggests the nearest names,
                unless `suggest` is false.
        """
        if name in self._tools:
            return self._tools[name]
        named = self._by_name.get(name, [])
        if len(named) == 1:
            return named[0]
        if named or not suggest:
            raise UnknownTool(name, [tool.alias for tool in named] if suggest else ())
        close = closest_meanings(name, list(self._tools), most=_MOST_SIMILAR, cutoff=0.5)
        meant = [alias for alias in close if may_be_meant(name, self._tools[alias].protocol)]
        raise UnknownTool(name, meant)

    def find_all(self, name: str) -> list[Tool]:
        """Return all tools that a setting may mean by `name`; see `Tool.names`.

        If this toolbox was selected from a larger one, the larger one is searched. So a selection
        cannot make an ambiguous name unambiguous.
        """
        whole = self._whole._by_name  # noqa: SLF001 - another toolbox
        found = whole.get(name) or self._by_name.get(name, [])
        exact = [tool for tool in found if tool.qualified == name]
        return exact if exact and len({tool.source for tool in found}) == 1 else found

    def shortest_name(self, tool: Tool) -> str:
        """Return the shortest name by which a setting can refer to this tool and to no other."""
        aliases = [found.alias for found in self.find_all(tool.alias)]
        return tool.alias if aliases == [tool.alias] else tool.qualified

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
        """Return a toolbox with the tools of these names, in this order, with unchanged aliases.

        Raises:
            UnknownTool: one of them is not in this toolbox.
        """
        return self._copy_with(map(self.find, names))

    def also(self, tools: Iterable[Tool]) -> Toolbox:
        """Return a copy of this toolbox with `tools` added.

        A tool whose alias is taken gets an alias with a number. Unlike `+`, this keeps the aliases
        of this toolbox.
        """
        free = FreeNames(self._tools)
        return self._copy_with(
            [*self._tools.values(), *(replace(tool, alias=free(tool.alias)) for tool in tools)]
        )

    def map(self, change: Callable[[Tool], Tool]) -> Toolbox:
        """Return a toolbox with each tool replaced by `change(tool)`, with unchanged aliases."""
        return self._copy_with(map(change, self._tools.values()))

    def verifier(self, tool: Tool) -> Tool | None:
        """Return the read-only tool of the same source that shows what `tool` wrote, or None.

        If this toolbox was selected from a larger one, the result may be outside of the selection.
        """
        declared = tool.protocol.verified_by
        if declared is None:
            return None
        tools = self._whole._by_origin  # noqa: SLF001 - another toolbox
        read = tools.get((tool.source, declared.tool))
        return read if read is not None and not read.protocol.writes else None

    def producers(self, tool: Tool, argument: str) -> list[Producer]:
        """Return the tools whose responses have values for an argument of `tool`, best first.

        `argument` is the original name of the argument. Tools with a declared link come before
        tools with an observed or a guessed one. Tools with the same kind of link are sorted by the
        number of arguments that other tools must provide, and then by the order of their links.
        """
        best: dict[str, Producer] = {}
        for link in tool.protocol.links:
            other = self._by_origin.get((tool.source, link.tool))
            if link.argument == argument and other is not None and other.alias != tool.alias:
                best.setdefault(other.alias, Producer(other, link.path, link.support))
        return sorted(
            best.values(),
            key=lambda producer: (_TRUST[producer.support], self._needs(producer.tool)),
        )

    def _needs(self, tool: Tool) -> int:
        """Return the number of required arguments of a tool that need values from other tools.

        Only tools of this toolbox are counted as sources of values.
        """
        linked = {
            link.argument
            for link in tool.protocol.links
            if (tool.source, link.tool) in self._by_origin
        }
        return len(tool.protocol.required & linked)


_TRUST: dict[EvidenceLevel, int] = {"declared": 0, "observed": 1, "guessed": 2}


def format_subscript(key: str) -> str:
    """Return the Python code of a subscript for a key: `["code"]` for `code`.

    The key is escaped, so that it cannot end the string.
    """
    return f"[{json.dumps(key, ensure_ascii=False)}]"


class Producer(NamedTuple):
    """A tool whose response has values for an argument of another tool.

    `path` is the path of the values in the response (`airports[].code`). `support` says how this is
    known: declared in a document, observed in responses, or guessed.
    """

    tool: Tool
    path: str
    support: EvidenceLevel

    def expression(self, *, arguments: str = "…") -> str:
        """Return Python code that calls the tool and reads a value.

        For example `search_airports(…)[0]["code"]`. `arguments` is the text between the parentheses
        of the call.
        """
        path = parse_path(self.path)
        if self.tool.wrapper is not None and path[:1] == [self.tool.wrapper]:
            path = path[1:]
        read = "".join("[0]" if isinstance(step, int) else format_subscript(step) for step in path)
        return f"{self.tool.alias}({arguments}){read}"

    @property
    def perhaps(self) -> str:
        """`perhaps ` if it is only guessed that the values fit, else ""; a prefix in sentences."""
        return "perhaps " if self.support == "guessed" else ""
