"""Facts about a tool, derived from its description and from the calls so far."""

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
"""The parts of an HTTP request in which values are sent as text, so `5` and `"5"` are equal."""
_SAYS_WRONG = frozenset({"type", "enum", "range", "length", "pattern", "format", "refused"})
"""Kinds of hints that mean that the sent value is invalid."""
_SAYS_MISSING = _SAYS_WRONG - {"refused"} | {"missing"}
"""Kinds of hints that mean, if the argument was not sent, that it is required.

An example is the reply "`unit` must be one of A, B" to a call without `unit`.
"""
SampleHints = tuple[Sample, tuple[ArgumentHint, ...]]
"""A sample and the hints in its reply."""
ModelReadings = Mapping[str, Sequence[ArgumentHint]]
"""Hints that a model read in error replies, keyed by the template of the reply."""


@dataclass(frozen=True, kw_only=True)
class ArgumentFacts:
    """The facts that are known about one argument of a tool."""

    name: str
    place: str = "value"
    """Where the argument is sent: `path`, `query`, `header`, `cookie`, `form` or `body`.

    It is `value` for a Python function or an MCP tool, which take JSON values.
    """
    declared: JsonObject = field(default_factory=dict)
    """The JSON Schema of the argument in the tool's document; {} if it has none."""
    required: bool | None = None
    """True if the argument is required, False if it is optional, None if neither is known."""
    hints: tuple[ArgumentHint, ...] = ()
    """The hints on this argument in error replies."""
    accepted: tuple[Value, ...] = ()
    """The values of this argument in successful calls, without duplicates, the oldest first."""
    refused: tuple[Value, ...] = ()
    """The values that an error reply about this argument called invalid, without duplicates."""
    not_found: tuple[Value, ...] = ()
    """Well-formed values for which the service found no record, without duplicates."""

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
        """The declared JSON types, or else those that error replies stated.

        If there are neither, they follow from the hints: a range means a number. A length, pattern
        or format means a string if the argument is sent as text.
        """
        hints_of = [kind for hint in self.hints for kind in hint.types]
        limits = {hint.kind for hint in self.hints}
        limited = ["number"] if "range" in limits else []
        if limits & {"length", "pattern", "format"} and self.place in TEXT_PLACES:
            limited = ["string"]
        return tuple(dict.fromkeys(types(self.declared) or hints_of or limited))

    def hints_of_kind(self, kind: HintKind) -> list[ArgumentHint]:
        """Return those hints on this argument, from error replies, that are of one kind."""
        return [hint for hint in self.hints if hint.kind == kind]


@dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """The facts that are known about one tool: its description, its calls, and its arguments."""

    protocol: ToolProtocol
    samples: tuple[Sample, ...] = ()
    arguments: Mapping[str, ArgumentFacts] = field(default_factory=dict)
    """The facts about the declared arguments and those that only error replies named, by name."""
    refusal_hints: Mapping[int, tuple[ArgumentHint, ...]] = field(default_factory=dict)
    """The hints in each error reply, keyed by the number of its sample."""

    @property
    def name(self) -> str:
        """The tool's name in its source, such as an OpenAPI document."""
        return self.protocol.name

    @cached_property
    def done(self) -> tuple[Sample, ...]:
        """The samples (calls with their answers) that were successful."""
        return tuple(sample for sample in self.samples if sample.done)

    @property
    def usable(self) -> list[str]:
        """The names of the arguments, except those that an error reply called unknown."""
        return [name for name, argument in self.arguments.items() if not argument.unknown]

    @property
    def needed(self) -> list[str]:
        """The names of the required arguments.

        If a reply requires at least one of several arguments, all of these are included.
        """
        return [
            n
            for n in self.usable
            if self.arguments[n].required or self.arguments[n].hints_of_kind("any_of")
        ]

    @cached_property
    def fruitful(self) -> tuple[Sample, ...]:
        """The samples (calls with their answers) whose response contains data.

        An empty list is not data, because it does not show what its elements are. For a tool that
        changes something, any field is data, because a new record may have empty lists.
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
        """The successful call with the fewest arguments; None if no call succeeded.

        Experiments change one or several of its arguments.
        """
        return min(
            self.fruitful or self.done, key=lambda s: (len(s.arguments), s.number), default=None
        )


def says_something(response: object) -> bool:
    """Return True if a response contains data.

    If an object contains lists that are all empty, its scalars do not count as data: they are
    usually a count or repeat an argument.
    """
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
    """Return the facts about a tool that follow from its description and its calls.

    Args:
        protocol: the tool's description.
        samples: calls with their answers, in the order in which they were sent. Those of other
            tools are ignored.
        read: hints that a model read in error replies. They are used for replies in which the rules
            of `probing.error_replies` find no hint.
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
    """Return the hints in an error reply: those found by rules, or else those a model read.

    `names` maps the names that the service may use to the names of the arguments.
    """
    if found := hints(sample, {name: name for name in sample.arguments} | dict(names)):
        return found
    if not read:
        return ()
    by_model = read.get(template_of(sample), ())
    return tuple(hint for hint in by_model if hint.argument in names or hint.kind == "missing")


def place_of(protocol: ToolProtocol, argument: str) -> str:
    """Return the part of the request in which an argument is sent, such as `query` or `body`.

    `ArgumentFacts.place` lists all parts.
    """
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
    """Return the facts about one argument that follow from the tool's description and its calls.

    `read_samples` has the calls with their answers, each with the hints in its error reply.
    """
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
    """The different values of one argument in a tool's calls, grouped by the call's outcome."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.accepted: dict[str, Value] = {}
        self.refused: dict[str, Value] = {}
        self.not_found: dict[str, Value] = {}

    def add(self, sample: Sample, value: Value, kinds: set[HintKind]) -> None:
        """Add the value of the argument in one call.

        `kinds` has the kinds of the hints on the argument that the error reply gives.
        """
        key = repr(value.value)
        if sample.done:
            self.accepted.setdefault(key, value)
        elif kinds & (_SAYS_WRONG | {"unknown"}):
            self.refused.setdefault(key, value)
        elif "not_found" in kinds or (sample.status == 404 and self._place == "path"):
            self.not_found.setdefault(key, value)

    def never_accepted(self, values: Mapping[str, Value]) -> tuple[Value, ...]:
        """Return those of `values` with which no call succeeded."""
        return tuple(value for key, value in values.items() if key not in self.accepted)
