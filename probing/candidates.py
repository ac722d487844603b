"""Which values an argument is given, best first (ATC paper, §4): by what it is known to take, of all sources.

Candidates come from the tool's description, from responses, from replies, from a model, and at last made up; arguments
of one call are best taken from one record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import Any

from probing.generated_values import generate_values, limits_of, number_of
from probing.name_distance import url_text
from probing.samples import OriginKind, Value, ValueOrigin
from probing.tool_facts import TEXT_PLACES, ArgumentFacts, ToolFacts
from probing.value_pool import MOST_CANDIDATES, Pools, ResponseRecord
from protocols.schema import Json, JsonObject, resolve, types
from protocols.validate import validator


class ValueFilter:
    """What is known to be excluded for one argument, ready to be asked about many values."""

    def __init__(self, tool: ToolFacts, argument: ArgumentFacts) -> None:
        self._argument = argument
        self._as_text = argument.place in TEXT_PLACES
        root = tool.protocol.input_schema
        self._wanted = set(types(resolve(argument.declared, root)) or argument.types)
        told = limits_of(replace(argument, declared={}))
        self._listed = {
            url_text(v) for v in told.pop("enum", ()) if isinstance(v, str | int | float)
        }
        texts = ("minLength", "maxLength", "pattern", "format")
        of_text: dict[str, Any] = {key: told.pop(key) for key in texts if key in told}
        beside = {key: root[key] for key in ("$defs", "definitions", "properties") if key in root}
        declared = {**beside, "allOf": [dict(argument.declared)]} if argument.declared else {}
        if of_text.keys() & {"pattern", "format"}:
            of_text["type"] = "string"
        self._plain = [check for schema in (declared, told) if schema and (check := _check(schema))]
        self._text = _check(of_text) if of_text else None
        lost = (held for held in argument.not_found if _is_to_blame(tool, argument.name, held))
        self._gone = {self.value_key(held.value) for held in (*argument.refused, *lost)}

    def value_key(self, value: Json) -> str:
        """The same for values that are the same when they are sent."""
        return (
            url_text(value)
            if self._as_text and isinstance(value, str | int | float)
            else repr(value)
        )

    def adapt(self, value: Value) -> Value | None:
        """The value as the argument can take it (`5` for `"5"`, `["x"]` for `"x"`), or None where it is excluded."""
        forms = [value.value]
        if isinstance(value.value, str) and {"integer", "number"} & self._wanted:
            forms += [number] if (number := number_of(value.value)) is not None else []
        elif (
            "string" in self._wanted
            and isinstance(value.value, int | float)
            and not isinstance(value.value, bool)
        ):
            forms.append(url_text(value.value))
        if "array" in self._wanted and not isinstance(value.value, list):
            forms += [[form] for form in forms]
        form = next((form for form in forms if self.is_allowed(form)), None)
        return value if form is value.value else None if form is None else Value(form, value.origin)

    def is_allowed(self, value: Json) -> bool:
        """Whether nothing that is known excludes a value."""
        if self._argument.unknown or self.value_key(value) in self._gone:
            return False
        if self._argument.place == "path" and value in ("", ".", ".."):
            return False
        parts = value if isinstance(value, list) and "array" in self._wanted else [value]
        if self._listed and any(
            isinstance(p, list | dict) or url_text(p) not in self._listed for p in parts
        ):
            return False
        sent = url_text(value) if self._as_text and isinstance(value, str | int | float) else value
        return all(check.is_valid(value) for check in self._plain) and (
            self._text is None or self._text.is_valid(sent)
        )


def _check(schema: JsonObject) -> Any:
    try:
        return validator(schema)
    except (ValueError, RecursionError):  # a schema or a pattern that is none excludes nothing
        return None


def _is_to_blame(tool: ToolFacts, name: str, held: Value) -> bool:
    """Whether a value leads nowhere by itself: alone, or beside others that are good elsewhere."""
    good = {
        (one.name, repr(value.value)) for one in tool.arguments.values() for value in one.accepted
    }
    where = [
        s
        for s in tool.samples
        if not s.done and name in s.arguments and s.arguments[name].value == held.value
    ]
    beside = [
        [(n, repr(v.value)) for n, v in sample.arguments.items() if n != name] for sample in where
    ]
    return not where or any(all(one in good for one in others) for others in beside)


def candidates(
    tool: ToolFacts, argument: ArgumentFacts, *, pools: Pools | None, suggested: Sequence[Json] = ()
) -> list[Value]:
    """Values for an argument, best first, each with its origin; none twice, none excluded by what is known.

    The sources stand in the paper's order, one behind the other but interleaved: the first few values come from
    different places. `pools` holds the values of other tools (None: the tool is probed alone).
    """
    fits = ValueFilter(tool, argument)
    listed = argument.declared.get("enum")
    told = [value for hint in argument.told("enum") for value in hint.values]
    plain: list[tuple[float, OriginKind, Iterable[Json]]] = [
        (0.0, "given", _described_values(tool, argument)), (0.4, "enum", listed if isinstance(listed, list) else []),
        (1.4, "error", told), (2.6, "model", suggested),
    ]  # fmt: skip
    found = [
        (start + 0.6 * n, Value(v, ValueOrigin(kind=kind)))
        for start, kind, all_ in plain
        for n, v in enumerate(all_)
    ]
    found += [
        (4.6 + 0.6 * n, v)
        for n, v in enumerate(generate_values(argument, tool.protocol.input_schema))
    ]
    if pools:
        found += [
            (0.9 + 0.6 * n, value)
            for n, value in enumerate(pools.values_above(tool.protocol, argument))
        ]
        found += [(1.0 + far, value) for far, value in pools.rank_values(tool.protocol, argument)]
    found.sort(key=lambda pair: pair[0])
    once: dict[str, Value] = {}
    for value in filter(None, (fits.adapt(raw) for _, raw in found[: 4 * MOST_CANDIDATES])):
        once.setdefault(fits.value_key(value.value), value)
    return list(once.values())[:MOST_CANDIDATES]


def _described_values(tool: ToolFacts, argument: ArgumentFacts) -> Iterator[Json]:
    """What the description of the tool gives as examples or defaults."""
    declared = argument.declared
    yield from examples if isinstance(examples := declared.get("examples"), list) else ()
    yield from (declared[key] for key in ("example", "const", "default") if key in declared)
    yield from (
        e.arguments[argument.name] for e in tool.protocol.examples if argument.name in e.arguments
    )


def combinations(
    offered: Mapping[str, Sequence[Value]], records: Sequence[ResponseRecord]
) -> Iterator[dict[str, Value]]:
    """Values for all arguments at once, best first, none twice.

    First those that a record holds together, then each argument's best value, then each one's candidates in turn.
    """
    if any(not values for values in offered.values()):
        return
    seen: set[str] = set()
    first = {name: values[0] for name, values in offered.items()}
    together = _combine_from_records(offered, records) if len(offered) > 1 else iter(())
    for chosen in chain(islice(together, 12), [first], _vary_in_turn(offered, first)):
        key = repr([(name, chosen[name].value) for name in offered])
        if key not in seen:
            seen.add(key)
            yield {name: chosen[name] for name in offered}


def _combine_from_records(
    offered: Mapping[str, Sequence[Value]], records: Sequence[ResponseRecord]
) -> Iterator[dict[str, Value]]:
    """Values that one record holds, of the records that hold most and take the better candidates."""
    ranks = {}
    for name, values in offered.items():
        places = dict.fromkeys(
            (v.origin.tool, v.origin.path) for v in values if v.origin.kind == "response"
        )
        ranks[name] = {place: rank for rank, place in enumerate(places)}
    allowed = {name: {repr(value.value) for value in values} for name, values in offered.items()}
    scored: dict[float, dict[int, list[dict[str, Value]]]] = {}
    for record in records:
        cost = 0.0
        chosen = dict[tuple[str, str], str]()  # a field stands for one argument
        for name in offered:
            fits = [
                (rank, place)
                for place, value in record.values.items()
                if (
                    rank := 0.5
                    if place[1].rpartition(".")[2].strip("[]()") == name
                    else ranks[name].get(place)
                )
                is not None
                and place not in chosen
                and (repr(value.value) in allowed[name] or len(offered[name]) >= MOST_CANDIDATES)
            ]
            cost += min(fits)[0] if fits else 3.0
            chosen |= {min(fits)[1]: name} if fits else {}
        if len(chosen) > 1:
            best = {name: values[0] for name, values in offered.items()}
            held = {name: record.values[place] for place, name in chosen.items()}
            scored.setdefault(cost, {}).setdefault(record.sample, []).append(best | held)
    for _, by_response in sorted(scored.items()):
        for row in zip_longest(*by_response.values()):  # neighbours in one list teach the same
            yield from (one for one in row if one is not None)


def _vary_in_turn(
    offered: Mapping[str, Sequence[Value]], first: Mapping[str, Value]
) -> Iterator[dict[str, Value]]:
    for depth in range(1, max(map(len, offered.values()), default=0)):
        yield {
            **first,
            **{name: values[min(depth, len(values) - 1)] for name, values in offered.items()},
        }
        yield from (
            {**first, name: values[depth]}
            for name, values in offered.items()
            if depth < len(values)
        )
