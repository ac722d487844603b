"""Values to try for an argument, best first (ATC paper, §4).

Values come from the tool's description, from responses, from error replies, from a model, and last
from a generator. If a response contains a record with values for several arguments, these values
are tried together, because they belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import Any

from probing.generated_values import generate_values, limits_of, number_of
from probing.name_distance import url_text
from probing.response_values import ResponseRecord
from probing.samples import OriginKind, Value, ValueOrigin
from probing.tool_facts import TEXT_PLACES, ArgumentFacts, ToolFacts
from probing.value_pool import MOST_CANDIDATES, Pools
from protocols.schema import Json, JsonObject, resolve, types
from protocols.validate import validator


class ValueFilter:
    """Decides whether an argument may take a value, from its schema and from earlier replies."""

    def __init__(self, tool: ToolFacts, argument: ArgumentFacts) -> None:
        self._argument = argument
        self._as_text = argument.place in TEXT_PLACES
        root = tool.protocol.input_schema
        self._wanted = set(types(resolve(argument.declared, root)) or argument.types)
        hinted = limits_of(replace(argument, declared={}))
        self._listed = {
            url_text(v) for v in hinted.pop("enum", ()) if isinstance(v, str | int | float)
        }
        texts = ("minLength", "maxLength", "pattern", "format")
        of_text: dict[str, Any] = {key: hinted.pop(key) for key in texts if key in hinted}
        beside = {key: root[key] for key in ("$defs", "definitions", "properties") if key in root}
        declared = {**beside, "allOf": [dict(argument.declared)]} if argument.declared else {}
        if of_text.keys() & {"pattern", "format"}:
            of_text["type"] = "string"
        self._plain = [
            check for schema in (declared, hinted) if schema and (check := _check(schema))
        ]
        self._text = _check(of_text) if of_text else None
        lost = (value for value in argument.not_found if _is_to_blame(tool, argument.name, value))
        self._gone = {self.value_key(value.value) for value in (*argument.refused, *lost)}

    def value_key(self, value: Json) -> str:
        """Return a key that is equal for two values that are sent as the same text.

        For a query parameter, for example, `5` and `"5"` have the same key.
        """
        return (
            url_text(value)
            if self._as_text and isinstance(value, str | int | float)
            else repr(value)
        )

    def adapt(self, value: Value) -> Value | None:
        """Return the value in a form that the argument can take, or None if it cannot.

        `"5"` becomes `5` for a number, `5` becomes `"5"` for a string, and `"x"` becomes `["x"]`
        for a list.
        """
        for form in self._forms(value.value):
            if self.is_allowed(form):
                return value if form is value.value else Value(form, value.origin)
        return None

    def _forms(self, value: Json) -> list[Json]:
        """Return a value unchanged, and converted to the types that the argument takes.

        For an argument that takes a number or a list, `"5"` gives `"5"`, `5`, `["5"]` and `[5]`.
        """
        forms = [value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(value, str) and {"integer", "number"} & self._wanted:
            number = number_of(value)
            if number is not None:
                forms.append(number)
        elif is_number and "string" in self._wanted:
            forms.append(url_text(value))
        if "array" in self._wanted and not isinstance(value, list):
            forms += [[form] for form in forms]
        return forms

    def is_allowed(self, value: Json) -> bool:
        """Return True unless the schema, or an error reply to an earlier call, excludes a value."""
        if self._argument.unknown or self.value_key(value) in self._gone:
            return False
        if self._argument.place == "path" and value in ("", ".", ".."):
            return False
        if self._listed and not self._is_listed(value):
            return False
        if not all(check.is_valid(value) for check in self._plain):
            return False
        is_text = self._as_text and isinstance(value, str | int | float)
        sent = url_text(value) if is_text else value
        return self._text is None or self._text.is_valid(sent)

    def _is_listed(self, value: Json) -> bool:
        """Return True if error replies listed this value as allowed.

        If the value is a list, each of its elements must have been listed.
        """
        parts = value if isinstance(value, list) and "array" in self._wanted else [value]
        return all(
            not isinstance(part, list | dict) and url_text(part) in self._listed for part in parts
        )


def _check(schema: JsonObject) -> Any:
    try:
        return validator(schema)
    except (ValueError, RecursionError):  # an invalid schema or pattern excludes nothing
        return None


def _is_to_blame(tool: ToolFacts, name: str, suspect: Value) -> bool:
    """Return True if `suspect` must have caused the "not found" reply to a call.

    This is the case if every other argument of the call had a value that the tool accepted in
    another call.
    """
    good = {
        (argument.name, repr(value.value))
        for argument in tool.arguments.values()
        for value in argument.accepted
    }
    failed = [
        sample
        for sample in tool.samples
        if not sample.done
        and name in sample.arguments
        and sample.arguments[name].value == suspect.value
    ]
    for sample in failed:
        others = {
            (other, repr(value.value)) for other, value in sample.arguments.items() if other != name
        }
        if others <= good:
            return True
    return not failed


def candidates(
    tool: ToolFacts, argument: ArgumentFacts, *, pools: Pools | None, suggested: Sequence[Json] = ()
) -> list[Value]:
    """Return candidates for an argument: values that it may take, best first, no duplicates.

    Values from different origins (description, enum, responses, error replies, model, generator)
    alternate, so that the first few values do not all have the same origin. The order of the
    origins is that of the ATC paper.

    Args:
        tool: what is known about the tool.
        argument: what is known about the argument.
        pools: values that tools returned; None to use no values of other tools.
        suggested: values that a model proposed.
    """
    fits = ValueFilter(tool, argument)
    listed = argument.declared.get("enum")
    hinted = [value for hint in argument.hints_of_kind("enum") for value in hint.values]
    plain: list[tuple[float, OriginKind, Iterable[Json]]] = [
        (0.0, "given", _described_values(tool, argument)),
        (0.4, "enum", listed if isinstance(listed, list) else []),
        (1.4, "error", hinted),
        (2.6, "model", suggested),
    ]
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
    """Yield the examples, constants and defaults of an argument in the tool's description."""
    declared = argument.declared
    yield from examples if isinstance(examples := declared.get("examples"), list) else ()
    yield from (declared[key] for key in ("example", "const", "default") if key in declared)
    yield from (
        e.arguments[argument.name] for e in tool.protocol.examples if argument.name in e.arguments
    )


def combinations(
    offered: Mapping[str, Sequence[Value]], records: Sequence[ResponseRecord]
) -> Iterator[dict[str, Value]]:
    """Yield combinations of values, one value for each argument, best first, without duplicates.

    First come combinations in which several arguments have values from one record. Then comes the
    one with the best value of each argument. In the others, one or all arguments have a candidate
    that is not the best.

    Args:
        offered: the candidates for each argument, best first.
        records: objects in responses, whose fields may be values for several arguments.
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
    """Yield combinations in which at least two arguments have values from fields of one record.

    The other arguments have their best candidate. Records with values for more arguments, and with
    better candidates, come first.
    """
    best = {name: values[0] for name, values in offered.items()}
    fit = _RecordFit(offered)
    by_cost: dict[float, dict[int, list[dict[str, Value]]]] = {}
    for record in records:
        cost, fields = fit.assign(record)
        if len(fields) > 1:
            values = {name: record.values[place] for name, place in fields.items()}
            by_sample = by_cost.setdefault(cost, {})
            by_sample.setdefault(record.sample, []).append(best | values)
    for _, by_sample in sorted(by_cost.items()):
        # Neighbours in one list are alike, so the samples take turns.
        for row in zip_longest(*by_sample.values()):
            yield from (arguments for arguments in row if arguments is not None)


class _RecordFit:
    """Chooses which field of a record in a response is used for which argument of a call."""

    def __init__(self, offered: Mapping[str, Sequence[Value]]) -> None:
        self._offered = offered
        self._allowed: dict[str, set[str]] = {}
        self._ranks: dict[str, dict[tuple[str, str], float]] = {}
        for name, values in offered.items():
            self._allowed[name] = {repr(value.value) for value in values}
            places = dict.fromkeys(
                (value.origin.tool, value.origin.path)
                for value in values
                if value.origin.kind == "response"
            )
            self._ranks[name] = {place: float(rank) for rank, place in enumerate(places)}

    def assign(self, record: ResponseRecord) -> tuple[float, dict[str, tuple[str, str]]]:
        """Choose a field of a record for each argument. Return the cost and the fields.

        The cost is lower if the fields suit the arguments better. A field is used for one argument
        only, and is identified by its tool and response path. Each argument for which no field is
        suitable adds 3 to the cost.
        """
        cost = 0.0
        fields: dict[str, tuple[str, str]] = {}
        for name in self._offered:
            usable = [
                (rank, place)
                for place, value in record.values.items()
                if place not in fields.values()
                and self._may_take(name, value)
                and (rank := self._rank(name, place)) is not None
            ]
            if usable:
                rank, fields[name] = min(usable)
                cost += rank
            else:
                cost += 3.0
        return cost, fields

    def _rank(self, name: str, place: tuple[str, str]) -> float | None:
        """Return how well a field suits an argument (lower is better), or None if it is unsuitable.

        `place` identifies the field by the name of the tool that returned it and its response path.
        """
        field_name = place[1].rpartition(".")[2].strip("[]()")
        return 0.5 if field_name == name else self._ranks[name].get(place)

    def _may_take(self, name: str, value: Value) -> bool:
        # A full list of candidates may have left out good values.
        is_full = len(self._offered[name]) >= MOST_CANDIDATES
        return is_full or repr(value.value) in self._allowed[name]


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
