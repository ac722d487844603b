"""What is known of a tool: a pure function of its description and of the samples so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from probing.dialects import hints
from probing.hint import Hint
from probing.sample import Sample, Value
from probing.soft_errors import as_refused, refusal_in
from protocols.jsontypes import JsonObject
from protocols.protocol import HttpBinding, ToolProtocol

_SAYS_WRONG = frozenset({"type", "enum", "range", "length", "pattern", "format", "refused"})
_ASKS_FOR = _SAYS_WRONG | {"missing"}


@dataclass(frozen=True, kw_only=True)
class ArgumentFacts:
    """What is known of one argument.

    `place` is where it travels (`path`, `query`, `body` …; `value` where JSON values are passed on as they are, by a
    Python function or an MCP tool). `required`: True, False, or None where nothing tells; `why` says what told.
    """

    name: str
    place: str = "value"
    declared: JsonObject = field(default_factory=dict)
    required: bool | None = None
    why: str = ""
    hints: tuple[Hint, ...] = ()
    accepted: tuple[Value, ...] = ()
    """Different values with which a call was done, oldest first."""
    refused: tuple[Value, ...] = ()
    """Different values that a reply refused by this argument's name."""
    not_found: tuple[Value, ...] = ()
    """Different values that led nowhere: well formed, and no such thing."""


@dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """What is known of one tool."""

    protocol: ToolProtocol
    samples: tuple[Sample, ...] = ()
    arguments: Mapping[str, ArgumentFacts] = field(default_factory=dict)
    """By name: those described, and those that only replies named."""
    said: Mapping[int, tuple[Hint, ...]] = field(default_factory=dict)
    """What each refusal told, by the sample's number."""

    @property
    def name(self) -> str:
        """The source's own name of the tool."""
        return self.protocol.name

    @cached_property
    def done(self) -> tuple[Sample, ...]:
        """The samples that gave a response, but for those that may echo an argument which the tool does not have."""
        known = self.arguments.keys()
        return tuple(s for s in self.samples if s.done and (s.purpose != "refuse" or s.arguments.keys() <= known))

    @cached_property
    def fruitful(self) -> tuple[Sample, ...]:
        """The samples whose response holds anything: an empty list teaches nothing of its elements.

        Of a write any field will do: what it has just made may well have empty lists.
        """
        if self.protocol.writes:
            return tuple(s for s in self.done if s.response not in (None, [], {}) and not refusal_in(s.response))
        return tuple(s for s in self.done if says_something(s.response) and not refusal_in(s.response))


def says_something(response: object) -> bool:
    """Whether a response holds anything. Of one with lists, counts and echoes beside empty lists are nothing."""
    if isinstance(response, Mapping):
        lists = [part for part in response.values() if isinstance(part, list)]
        inner = [part for part in response.values() if isinstance(part, Mapping)]
        return any(map(_filled, [*lists, *inner] if lists else response.values()))
    return _filled(response)


def _filled(value: object) -> bool:
    match value:
        case Mapping():
            return any(map(_filled, value.values()))
        case list():
            return bool(value)
        case _:
            return value is not None


def learn(protocol: ToolProtocol, samples: Iterable[Sample]) -> ToolFacts:
    """The facts that follow from a tool's description and its samples, in their order."""
    mine = tuple(sample for sample in samples if sample.tool == protocol.name)
    told: list[tuple[Sample, tuple[Hint, ...]]] = []
    names = wire_names(protocol)
    for sample in map(as_refused, mine):
        said = hints(sample, names) if not sample.done else ()
        told.append((sample, said))
        for hint in said:
            for name in (hint.argument, *(hint.others if hint.kind == "allowed" else ())):
                if name is not None and hint.kind != "unknown":
                    names.setdefault(name, name)
    arguments = {
        name: _argument(protocol, name, told) for name in dict.fromkeys([*protocol.parameters, *names.values()])
    }
    refusals = {sample.number: found for sample, found in told if not sample.done}
    return ToolFacts(protocol=protocol, samples=mine, arguments=arguments, said=refusals)


def wire_names(protocol: ToolProtocol) -> dict[str, str]:
    """What the service may call each argument → the argument's name: its wire name and its own."""
    names = {name: name for name in protocol.parameters}
    if isinstance(protocol.binding, HttpBinding):
        names |= {wire: name for name, wire in protocol.binding.wire_names.items()}
    return names


def place_of(protocol: ToolProtocol, argument: str) -> str:
    """Where an argument travels."""
    match protocol.binding:
        case HttpBinding() as http:
            if argument == http.body_argument:
                return "body"
            wire = http.wire_names.get(argument, argument)
            if f"{{{wire}}}" in http.url or f"{{{argument}}}" in http.url:
                return "path"
            return http.locations.get(argument) or (
                "query" if http.method in ("GET", "HEAD", "OPTIONS", "DELETE") else "body"
            )
        case _:
            return "value"


def _left_out(name: str, sample: Sample, told: Sequence[tuple[Sample, tuple[Hint, ...]]]) -> bool:
    """Whether a call failed that differs from one that was done by lacking this argument alone."""
    if sample.purpose != "omit":
        return False
    done = [other.plain for other, _ in told if other.done]
    # Where other arguments were accepted that this call lacks too, one of them might have done as well.
    if {n for given in done for n in given} - sample.plain.keys() != {name}:
        return False
    return any(name in given and {n: v for n, v in given.items() if n != name} == sample.plain for given in done)


def _argument(protocol: ToolProtocol, name: str, told: Sequence[tuple[Sample, tuple[Hint, ...]]]) -> ArgumentFacts:
    declared = protocol.parameters.get(name, {})
    mine: list[Hint] = []
    accepted: dict[str, Value] = {}
    refused: dict[str, Value] = {}
    lost: dict[str, Value] = {}
    required: bool | None = True if name in protocol.required else None
    why = "declared" if required else ""
    place = place_of(protocol, name)
    if place == "path":
        required, why = True, "it stands in the path"
    for sample, said in told:
        here = [hint for hint in said if hint.argument == name]
        mine += [hint for hint in here if hint not in mine]
        given = sample.arguments.get(name)
        if sample.done:
            if given is not None:
                accepted.setdefault(repr(given.value), given)
            elif place != "path":
                required, why = False, f"call {sample.number} was done without it"
            continue
        if given is None:
            if required is None and _left_out(name, sample, told):
                required, why = True, f"call {sample.number} failed without it"
            # "must be one of A, B" of an argument that was not given says that it was missed.
            if required is None and {hint.kind for hint in here} & _ASKS_FOR:
                required, why = True, f"call {sample.number} was refused without it"
            continue
        kinds = {hint.kind for hint in here}
        if kinds & (_SAYS_WRONG | {"unknown"}):
            refused.setdefault(repr(given.value), given)
        elif "not_found" in kinds or (sample.status == 404 and place == "path"):
            lost.setdefault(repr(given.value), given)
    return ArgumentFacts(
        name=name,
        place=place,
        declared=declared if isinstance(declared, Mapping) else {},
        required=required,
        why=why,
        hints=tuple(mine),
        accepted=tuple(accepted.values()),
        refused=tuple(v for key, v in refused.items() if key not in accepted),
        not_found=tuple(v for key, v in lost.items() if key not in accepted),
    )
