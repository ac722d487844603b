"""What is known of a tool: a pure function of its description and of the samples so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from probing.error_replies import ArgumentHint, HintKind, as_refused, hints, refusal_in, template_of
from probing.samples import Sample, Value
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import JsonObject, types

TEXT_PLACES = frozenset({"path", "query", "header", "cookie", "form"})
"""Where every value travels as text: `5` and `"5"` are the same there."""
_SAYS_WRONG = frozenset({"type", "enum", "range", "length", "pattern", "format", "refused"})
ModelReadings = Mapping[str, Sequence[ArgumentHint]]
"""What a model read in refusals that no rule reads, by their template."""


@dataclass(frozen=True, kw_only=True)
class ArgumentFacts:
    """What is known of one argument.

    `place` is where it travels (`path`, `query`, `body` …; `value` where JSON values are passed on as they are, by a
    Python function or an MCP tool). `required`: True, False, or None where nothing tells.
    """

    name: str
    place: str = "value"
    declared: JsonObject = field(default_factory=dict)
    required: bool | None = None
    hints: tuple[ArgumentHint, ...] = ()
    accepted: tuple[Value, ...] = ()
    """Different values with which a call was done, oldest first."""
    refused: tuple[Value, ...] = ()
    """Different values that a reply refused by this argument's name."""
    not_found: tuple[Value, ...] = ()
    """Different values that led nowhere: well formed, and no such thing."""

    @property
    def unknown(self) -> bool:
        """Whether the tool said that it does not know the argument, and never took it."""
        return (
            self.place != "path"
            and not self.accepted
            and any(hint.kind == "unknown" for hint in self.hints)
        )

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types declared, or told by replies; of a range alone a number, of the length of a text a string."""
        hints_of = [kind for hint in self.hints for kind in hint.types]
        limits = {hint.kind for hint in self.hints}
        limited = ["number"] if "range" in limits else []
        if limits & {"length", "pattern", "format"} and self.place in TEXT_PLACES:
            limited = ["string"]
        return tuple(dict.fromkeys(types(self.declared) or hints_of or limited))

    def told(self, kind: HintKind) -> list[ArgumentHint]:
        """The hints of one kind."""
        return [hint for hint in self.hints if hint.kind == kind]


@dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """What is known of one tool."""

    protocol: ToolProtocol
    samples: tuple[Sample, ...] = ()
    arguments: Mapping[str, ArgumentFacts] = field(default_factory=dict)
    """By name: those described, and those that only replies named."""
    refusal_hints: Mapping[int, tuple[ArgumentHint, ...]] = field(default_factory=dict)
    """What each refusal told, by the sample's number."""

    @property
    def name(self) -> str:
        """The source's own name of the tool."""
        return self.protocol.name

    @cached_property
    def done(self) -> tuple[Sample, ...]:
        """The samples that gave a response."""
        return tuple(sample for sample in self.samples if sample.done)

    @property
    def usable(self) -> list[str]:
        """The arguments that were not refused as unknown."""
        return [name for name, argument in self.arguments.items() if not argument.unknown]

    @property
    def needed(self) -> list[str]:
        """The arguments that a call must give, and those of which it must give one, as the reply put it."""
        return [
            n for n in self.usable if self.arguments[n].required or self.arguments[n].told("any_of")
        ]

    @cached_property
    def fruitful(self) -> tuple[Sample, ...]:
        """The samples whose response holds anything: an empty list teaches nothing of its elements.

        Of a write any field will do: what it has just made may well have empty lists.
        """
        if self.protocol.writes:
            return tuple(
                s
                for s in self.done
                if s.response not in (None, [], {}) and not refusal_in(s.response)
            )
        return tuple(
            s for s in self.done if says_something(s.response) and not refusal_in(s.response)
        )

    @property
    def base(self) -> Sample | None:
        """The call that others are varied from: of those whose response says something, one with fewest arguments."""
        return min(
            self.fruitful or self.done, key=lambda s: (len(s.arguments), s.number), default=None
        )


def says_something(response: object) -> bool:
    """Whether a response holds anything. Of one with lists, counts and echoes beside empty lists are nothing."""
    if isinstance(response, Mapping):
        lists = [part for part in response.values() if isinstance(part, list)]
        inner = [part for part in response.values() if isinstance(part, Mapping)]
        return any(map(_filled, [*lists, *inner] if lists else response.values()))
    return _filled(response)


def _filled(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_filled, value.values()))
    return bool(value) if isinstance(value, list) else value is not None


def learn(
    protocol: ToolProtocol, samples: Iterable[Sample], read: ModelReadings | None = None
) -> ToolFacts:
    """The facts that follow from a tool's description and its samples, in their order."""
    mine = tuple(sample for sample in samples if sample.tool == protocol.name)
    names = {name: name for name in protocol.parameters}
    if isinstance(protocol.binding, HttpBinding):
        names |= {wire: name for name, wire in protocol.binding.wire_names.items()}
    told: list[tuple[Sample, tuple[ArgumentHint, ...]]] = []
    for sample in map(as_refused, mine):
        said = (
            hints(sample, {name: name for name in sample.arguments} | names)
            if not sample.done
            else ()
        )
        if read and not said and not sample.done:
            kept = read.get(template_of(sample), ())
            said = tuple(hint for hint in kept if hint.argument in names or hint.kind == "missing")
        told.append((sample, said))
        names.update(
            {
                h.argument: h.argument
                for h in said
                if h.argument not in names and h.kind != "unknown"
            }
        )
    arguments = {
        n: _argument(protocol, n, told)
        for n in dict.fromkeys([*protocol.parameters, *names.values()])
    }
    refusals = {sample.number: found for sample, found in told if not sample.done}
    return ToolFacts(protocol=protocol, samples=mine, arguments=arguments, refusal_hints=refusals)


def place_of(protocol: ToolProtocol, argument: str) -> str:
    """Where an argument travels."""
    if not isinstance(protocol.binding, HttpBinding):
        return "value"
    http = protocol.binding
    wire = http.wire_names.get(argument, argument)
    if argument == http.body_argument:
        return "body"
    if f"{{{wire}}}" in http.url or f"{{{argument}}}" in http.url:
        return "path"
    safe = http.method in ("GET", "HEAD", "OPTIONS", "DELETE")
    return http.locations.get(argument) or ("query" if safe else "body")


def _argument(
    protocol: ToolProtocol, name: str, told: Sequence[tuple[Sample, tuple[ArgumentHint, ...]]]
) -> ArgumentFacts:
    declared = protocol.parameters.get(name, {})
    place = place_of(protocol, name)
    mine: dict[ArgumentHint, None] = {}
    accepted = dict[str, Value]()
    refused = dict[str, Value]()
    lost = dict[str, Value]()
    required: bool | None = True if name in protocol.required or place == "path" else None
    for sample, said in told:
        here = [hint for hint in said if hint.argument == name]
        mine.update(dict.fromkeys(here))
        given = sample.arguments.get(name)
        kinds = {hint.kind for hint in here}
        if given is None and sample.done:
            required = place == "path"
        elif given is None:
            # "must be one of A, B" of an argument that was not given says that it was missed.
            required = (
                True
                if required is None and kinds & (_SAYS_WRONG - {"refused"} | {"missing"})
                else required
            )
        elif sample.done:
            accepted.setdefault(repr(given.value), given)
        elif kinds & (_SAYS_WRONG | {"unknown"}):
            refused.setdefault(repr(given.value), given)
        elif "not_found" in kinds or (sample.status == 404 and place == "path"):
            lost.setdefault(repr(given.value), given)
    return ArgumentFacts(
        name=name, place=place, declared=declared if isinstance(declared, Mapping) else {}, required=required,
        hints=tuple(mine), accepted=tuple(accepted.values()),
        refused=tuple(v for key, v in refused.items() if key not in accepted),
        not_found=tuple(v for key, v in lost.items() if key not in accepted),
    )  # fmt: skip
