"""Probed protocols held against the truth: pure functions of both.

Fields are pairs of path and JSON type, `null` left out (whether null may come is counted apart, over fields whose path
is right). `integer` and `number` are different types. Where the census saw nothing but null, it cannot say the type,
and any type is right. A produced type that is open (no type named) is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.schema import resolve, types, violations
from toolflow_bench.probing.counts import Rate, Share
from toolflow_bench.probing.fields import Fields, pairs, says_something, schema_fields
from toolflow_bench.probing.truth import ToolTruth

STATUSES = ("404", "409", "422")
"""Declared outcomes that a caller can bring about."""

_NO_RATE, _NO_SHARE = Rate(), Share()

HINTS = ("read_only", "destructive", "idempotent")
"""The effects that a document can state."""

KEYWORDS = ("enum", "format", "default", "minimum", "maximum", "pattern")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Counts of one tool, or summed over several."""

    documented: Share = _NO_SHARE
    """Tools whose response schema describes any value."""
    documented_of_seen: Share = _NO_SHARE
    """Of the tools of which the census saw any value."""
    seen: Rate = _NO_RATE
    """Response fields against those that the census saw."""
    seen_paths: Rate = _NO_RATE
    """The same by path alone."""
    declared: Rate = _NO_RATE
    """Response fields against those that the document declares."""
    nullable: Rate = _NO_RATE
    """Fields that may be null, against the declared ones; over paths that both have."""
    replies: Share = _NO_SHARE
    """Replies of the census that conform to the produced response schema."""
    required: Share = _NO_SHARE
    """Arguments whose required flag is right."""
    required_needed: Share = _NO_SHARE
    """Of those that are required."""
    required_beyond_path: Share = _NO_SHARE
    """Of those that do not stand in the path, where the flag follows from the place."""
    argument_types: Share = _NO_SHARE
    """Arguments whose types are right, null left out."""
    keywords: Mapping[str, Rate] = field(default_factory=dict)
    """For each keyword of argument schemas: arguments that have it with the right value, have it, should have it."""
    enum_values: Rate = _NO_RATE
    """Single values of the enums of arguments."""
    response_enums: Share = _NO_SHARE
    """Produced enums of response fields that allow all that the census saw."""
    errors: Rate = _NO_RATE
    """Pairs of tool and status of `STATUSES`."""
    errors_by_status: Mapping[str, Rate] = field(default_factory=dict)

    def __add__(self, other: Score) -> Score:
        return Score(**{one.name: _sum(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)})

    @classmethod
    def total(cls, scores: Iterable[Score]) -> Self:
        """The sum."""
        return sum(scores, start=cls())  # type: ignore[return-value]

    def as_json(self) -> dict[str, Any]:
        """Every count with its shares."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}


def score_tool(produced: ToolProtocol | None, truth: ToolTruth) -> Score:
    """How a probed protocol compares with the truth; None where probing gave none."""
    declared = truth.declared
    output = produced.output_schema if produced is not None else None
    said = schema_fields(output)
    any_seen = bool(truth.answers) and says_something_seen(truth.seen_fields, truth.answers)
    documented = says_something(output)
    statuses = {status: _status(produced, declared, status) for status in STATUSES}
    return Score(
        documented=Share(int(documented), 1),
        documented_of_seen=Share(int(documented), 1) if any_seen else Share(),
        seen=field_rate(said, truth.seen_fields),
        seen_paths=Rate.of(said, truth.seen_fields),
        declared=field_rate(said, truth.declared_fields),
        nullable=_nullable(said, truth.declared_fields),
        replies=Share.count(output is not None and not violations(output, reply) for reply in truth.answers),
        response_enums=_response_enums(output, truth.answers),
        errors=sum(statuses.values(), start=Rate()),
        errors_by_status=statuses,
        **_arguments(produced, declared),
    )


def says_something_seen(seen: Fields, answers: Sequence[Json]) -> bool:
    """Whether any answer held a value."""
    scalar = any(not isinstance(answer, Mapping | list) and answer is not None for answer in answers)
    return scalar or any(kinds - {"object", "array", "null"} for kinds in seen.values())


def field_rate(said: Fields, true: Fields) -> Rate:
    """Fields said against true ones, as pairs of path and type."""
    untold = {path for path, kinds in true.items() if kinds == {"null"}}
    told = {path: kinds for path, kinds in said.items() if path not in untold}
    rest = {path: kinds for path, kinds in true.items() if path not in untold}
    found = len(untold & said.keys())
    return Rate.of(pairs(told), pairs(rest)) + Rate(found, found, len(untold))


def missed(said: Fields, true: Fields) -> tuple[list[str], list[str]]:
    """What is wrong among the fields said, and what is missing, for people: `flights[].delay: integer`."""
    untold = {path for path, kinds in true.items() if kinds == {"null"}}
    wrong = {(path, kind) for path, kind in pairs(said) - pairs(true) if path not in untold}
    absent = {(path, kind) for path, kind in pairs(true) - pairs(said) if path not in untold or path not in said}
    return [f"{path}: {kind}" for path, kind in sorted(wrong)], [f"{path}: {kind}" for path, kind in sorted(absent)]


def argument_schema(protocol: ToolProtocol, name: str) -> JsonObject:
    """The schema of one argument; `{}` where there is none."""
    return resolve(protocol.parameters.get(name, {}), protocol.input_schema)


def _arguments(produced: ToolProtocol | None, declared: ToolProtocol) -> dict[str, Any]:
    flags: dict[str, bool] = {}
    right_types: list[bool] = []
    keywords: dict[str, Rate] = dict.fromkeys(KEYWORDS, Rate())
    values = _NO_RATE
    for name in declared.parameters:
        wanted = argument_schema(declared, name)
        found = argument_schema(produced, name) if produced is not None else {}
        flags[name] = produced is not None and (name in produced.required) == (name in declared.required)
        right_types.append(_same_types(found, wanted))
        for keyword in KEYWORDS:
            keywords[keyword] += _keyword(found, wanted, keyword)
        values += Rate.of(_texts(found.get("enum")), _texts(wanted.get("enum")))
    in_path = {name for name in declared.parameters if _in_path(declared, name)}
    return {
        "required": Share.count(flags.values()),
        "required_needed": Share.count(flag for name, flag in flags.items() if name in declared.required),
        "required_beyond_path": Share.count(flag for name, flag in flags.items() if name not in in_path),
        "argument_types": Share.count(right_types),
        "keywords": keywords,
        "enum_values": values,
    }


def _same_types(found: JsonObject, wanted: JsonObject) -> bool:
    return set(types(found)) - {"null"} == set(types(wanted)) - {"null"}


def _keyword(found: JsonObject, wanted: JsonObject, keyword: str) -> Rate:
    said, true = _keyword_value(found, keyword), _keyword_value(wanted, keyword)
    return Rate(int(said is not None and said == true), int(said is not None), int(true is not None))


def _keyword_value(schema: JsonObject, keyword: str) -> Any:
    value = schema.get(keyword)
    return _texts(value) if keyword == "enum" and value is not None else value


def _texts(values: Any) -> frozenset[str]:
    return (
        frozenset(repr(value) for value in values if value is not None)
        if isinstance(values, list | tuple)
        else frozenset()
    )


def _in_path(protocol: ToolProtocol, name: str) -> bool:
    return f"{{{name}}}" in getattr(protocol.binding, "url", "")


def _nullable(said: Fields, declared: Fields) -> Rate:
    both = said.keys() & declared.keys()
    return Rate.of({p for p in both if "null" in said[p]}, {p for p in both if "null" in declared[p]})


def _response_enums(output: JsonObject | None, answers: Sequence[Json]) -> Share:
    if output is None:
        return Share()
    broken = {clause for answer in answers for _, _, clause in violations(output, answer) if clause.endswith("enum")}
    said = _count_enums(output)
    return Share(said - min(said, len(broken)), said)


def _count_enums(schema: Json) -> int:
    if isinstance(schema, list):
        return sum(map(_count_enums, schema))
    if not isinstance(schema, Mapping):
        return 0
    return int(isinstance(schema.get("enum"), list)) + sum(_count_enums(part) for part in schema.values())


def _status(produced: ToolProtocol | None, declared: ToolProtocol, status: str) -> Rate:
    said = produced is not None and any(error.status == status for error in produced.errors)
    true = any(error.status == status for error in declared.errors)
    return Rate(int(said and true), int(said), int(true))


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, Mapping):
        both: Counter[str] = Counter([*one, *other])
        return {key: one.get(key, Rate()) + other.get(key, Rate()) for key in both}
    return one + other


def _plain(count: Any) -> Any:
    return {key: value.as_json() for key, value in count.items()} if isinstance(count, Mapping) else count.as_json()


def score_effects(
    produced: Mapping[str, ToolProtocol], tools: Mapping[str, ToolTruth], hint: str, *, of_writes: bool = False
) -> Share:
    """Tools (`of_writes`: writing ones) of which the document states this hint, and those of which probing agrees."""
    wanted = {name: tool.declared for name, tool in tools.items() if tool.declared.writes or not of_writes}
    stated = {name: getattr(declared.annotations, hint) for name, declared in wanted.items()}
    return Share.count(
        name in produced and getattr(produced[name].annotations, hint) == value
        for name, value in stated.items()
        if value is not None
    )
