"""Facts about a tool, computed from its description and the samples so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from probing.argument_hints import ArgumentHint, HintKind
from probing.error_replies import hints
from probing.refusals import as_refused, refusal_in, template_of
from probing.samples import Sample, Value
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import JsonObject, types

TEXT_PLACES = frozenset({"path", "query", "header", "cookie", "form"})
"""Locations of arguments whose values are sent as text, so `5` and `"5"` are equal."""
_SAYS_WRONG = frozenset({"type", "enum", "range", "length", "pattern", "format", "refused"})
"""Kinds of hints which mean that the sent value is invalid."""
_SAYS_MISSING = _SAYS_WRONG - {"refused"} | {"missing"}
"""Kinds of hints which mean that an argument is required, if it was not sent.

"Must be one of A, B" about a missing argument is one of them.
"""
SampleHints = tuple[Sample, tuple[ArgumentHint, ...]]
"""A sample and the hints in its reply."""
ModelReadings = Mapping[str, Sequence[ArgumentHint]]
"""Hints that a model read in refusals, by the template of the refusal."""


@dataclass(frozen=True, kw_only=True)
class ArgumentFacts:
    """The facts about one argument."""

    name: str
    place: str = "value"
    """Where the argument is sent: `path`, `query`, `header`, `cookie`, `form` or `body`.

    It is `value` for a Python function or an MCP tool, which take JSON values.
    """
    declared: JsonObject = field(default_factory=dict)
    """Its declared JSON Schema."""
    required: bool | None = None
    """True or False, or None if that is unknown."""
    hints: tuple[ArgumentHint, ...] = ()
    """Hints on the argument in error replies."""
    accepted: tuple[Value, ...] = ()
    """Different values of successful calls, the oldest first."""
    refused: tuple[Value, ...] = ()
    """Different values that a reply refused, naming this argument."""
    not_found: tuple[Value, ...] = ()
    """Different values that are well-formed, but to which no record belongs."""

    @property
    def unknown(self) -> bool:
        """True if a reply said that there is no such argument, and no call with it succeeded."""
        return (
            self.place != "path"
            and not self.accepted
            and any(hint.kind == "unknown" for hint in self.hints)
        )

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The declared types, else those in error replies.

        If replies named none, a range shows a number, and a length, pattern or format a string.
        """
        hints_of = [kind for hint in self.hints for kind in hint.types]
        limits = {hint.kind for hint in self.hints}
        limited = ["number"] if "range" in limits else []
        if limits & {"length", "pattern", "format"} and self.place in TEXT_PLACES:
            limited = ["string"]
        return tuple(dict.fromkeys(types(self.declared) or hints_of or limited))

    def hints_of_kind(self, kind: HintKind) -> list[ArgumentHint]:
        """Return the hints of one kind."""
        return [hint for hint in self.hints if hint.kind == kind]


@dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """The facts about one tool."""

    protocol: ToolProtocol
    samples: tuple[Sample, ...] = ()
    arguments: Mapping[str, ArgumentFacts] = field(default_factory=dict)
    """The declared arguments and those that only replies named, by name."""
    refusal_hints: Mapping[int, tuple[ArgumentHint, ...]] = field(default_factory=dict)
    """The hints in each refusal, by the number of its sample."""

    @property
    def name(self) -> str:
        """The source's own name of the tool."""
        return self.protocol.name

    @cached_property
    def done(self) -> tuple[Sample, ...]:
        """The samples of successful calls."""
        return tuple(sample for sample in self.samples if sample.done)

    @property
    def usable(self) -> list[str]:
        """The arguments that were not refused as unknown."""
        return [name for name, argument in self.arguments.items() if not argument.unknown]

    @property
    def needed(self) -> list[str]:
        """The required arguments, and those of which a reply requires at least one."""
        return [
            n
            for n in self.usable
            if self.arguments[n].required or self.arguments[n].hints_of_kind("any_of")
        ]

    @cached_property
    def fruitful(self) -> tuple[Sample, ...]:
        """The samples whose response contains data.

        An empty list says nothing about its elements. For a write any field is data, because a new
        record may have empty lists.
        """
        if self.protocol.writes:
            return tuple(
                sample
                for sample in self.done
                if sample.response not in (None, [], {}) and not refusal_in(sample.response)
            )
        return tuple(
            sample
            for sample in self.done
            if says_something(sample.response) and not refusal_in(sample.response)
        )

    @property
    def base(self) -> Sample | None:
        """The successful call with the fewest arguments, from which other calls are varied."""
        return min(
            self.fruitful or self.done, key=lambda s: (len(s.arguments), s.number), default=None
        )


def says_something(response: object) -> bool:
    """Return True if a response contains data. Counts and echoes beside empty lists are no data."""
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
    """Return the facts that follow from a tool's description and its samples.

    Args:
        protocol: the tool's description.
        samples: samples in the order of sending. Those of other tools are ignored.
        read: hints that a model read in refusals.
    """
    own = tuple(sample for sample in samples if sample.tool == protocol.name)
    names = {name: name for name in protocol.parameters}
    if isinstance(protocol.binding, HttpBinding):
        names |= {wire: name for name, wire in protocol.binding.wire_names.items()}
    read_samples: list[SampleHints] = []
    for sample in map(as_refused, own):
        found = () if sample.done else _hints_in(sample, names, read or {})
        read_samples.append((sample, found))
        for hint in found:
            if hint.kind != "unknown":
                names.setdefault(hint.argument, hint.argument)
    arguments = {
        name: _argument(protocol, name, read_samples)
        for name in dict.fromkeys([*protocol.parameters, *names.values()])
    }
    refusals = {sample.number: found for sample, found in read_samples if not sample.done}
    return ToolFacts(protocol=protocol, samples=own, arguments=arguments, refusal_hints=refusals)


def _hints_in(
    sample: Sample, names: Mapping[str, str], read: ModelReadings
) -> tuple[ArgumentHint, ...]:
    """Return the hints in a refusal that a rule can read, else those that a model read."""
    if found := hints(sample, {name: name for name in sample.arguments} | dict(names)):
        return found
    if not read:
        return ()
    by_model = read.get(template_of(sample), ())
    return tuple(hint for hint in by_model if hint.argument in names or hint.kind == "missing")


def place_of(protocol: ToolProtocol, argument: str) -> str:
    """Return where an argument is sent, see `ArgumentFacts.place`."""
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
    protocol: ToolProtocol, name: str, read_samples: Sequence[SampleHints]
) -> ArgumentFacts:
    """Return the facts about one argument."""
    declared = protocol.parameters.get(name, {})
    place = place_of(protocol, name)
    hints_of: dict[ArgumentHint, None] = {}
    values = _ValueOutcomes(place)
    required: bool | None = True if name in protocol.required or place == "path" else None
    for sample, found in read_samples:
        own = [hint for hint in found if hint.argument == name]
        hints_of.update(dict.fromkeys(own))
        kinds = {hint.kind for hint in own}
        if name in sample.arguments:
            values.add(sample, sample.arguments[name], kinds)
        elif sample.done:
            required = place == "path"
        elif required is None and kinds & _SAYS_MISSING:
            required = True
    return ArgumentFacts(
        name=name,
        place=place,
        declared=declared if isinstance(declared, Mapping) else {},
        required=required,
        hints=tuple(hints_of),
        accepted=tuple(values.accepted.values()),
        refused=values.never_accepted(values.refused),
        not_found=values.never_accepted(values.not_found),
    )


class _ValueOutcomes:
    """The different values that an argument was given, by outcome."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.accepted: dict[str, Value] = {}
        self.refused: dict[str, Value] = {}
        self.not_found: dict[str, Value] = {}

    def add(self, sample: Sample, value: Value, kinds: set[HintKind]) -> None:
        """Note the value of one call; `kinds` are those of the reply's hints on the argument."""
        key = repr(value.value)
        if sample.done:
            self.accepted.setdefault(key, value)
        elif kinds & (_SAYS_WRONG | {"unknown"}):
            self.refused.setdefault(key, value)
        elif "not_found" in kinds or (sample.status == 404 and self._place == "path"):
            self.not_found.setdefault(key, value)

    def never_accepted(self, values: Mapping[str, Value]) -> tuple[Value, ...]:
        """Return the values with which no call succeeded."""
        return tuple(value for key, value in values.items() if key not in self.accepted)
