"""Results that had items of which the program's own tests let none through, and dicts without the key asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from atc.attribute.blame import Candidate, Record
from atc.attribute.facts import keys_there, snippet
from atc.attribute.paths import EACH, KEY, Path, general, text
from atc.attribute.region import region
from atc.attribute.rekeyed import beside
from atc.attribute.source import Source
from atc.attribute.suspects import suspects
from atc.check.report import listed, spelled
from atc.types import Fault, FaultKind
from sandbox.trace import Failure, ToolCall

_VALUES_SHOWN = 8
_VALUES_READ = 5_000


def filtered(head: str, failure: Failure, chosen: Candidate, record: Record) -> Fault:
    """The fault of a program whose tests let no item of a result through: it expected other values there."""
    call, place = chosen.call, chosen.place
    evidence: list[str] = []
    tested = [told for test in chosen.source.filters for told in _tested(test, record)]
    evidence += [told.sentence for told in tested]
    # A field that is nowhere is to blame, whichever call lacks it; else the last one that was tested of these items.
    absent = next((told for told in tested if told.absent), None)
    own = [told for told in tested if told.call.tool == call.tool]
    meant = absent or (own[-1] if own else None)
    path = general(place.path if meant is None else meant.path)
    blamed = call if meant is None or call.tool == meant.call.tool else meant.call
    every = [p.value for c in record.calls(chosen.source) for p in record.places(c, chosen.source.path)]
    count = sum(len(value) for value in every if isinstance(value, list | Mapping))
    tests = listed((f"`{spelled(test)}`" for test in chosen.source.filters), most=3)
    what = f"none of the {count} items of {record.facts.result_of(call, place.path)} passed {tests}"
    evidence += record.facts.about_place(call, place.path, place.value)
    kind: FaultKind = meant.kind if meant is not None else "misread_result"
    if kind == "drift":
        evidence += [f"The response of {blamed.tool} departs from its schema: {said}." for said in blamed.drift[:3]]
    return Fault(
        kind=kind,
        message=f"{head}: {what}.",
        call=blamed.index,
        tool=blamed.tool,
        path=text(path),
        line=failure.line,
        evidence=tuple(dict.fromkeys(evidence)),
    )


class _Tested(NamedTuple):
    """What a field of a response that a test compares really holds.

    `absent`: it is not there, or no value of it can pass the test. `kind` is that of the fault
    that blames it.
    """

    sentence: str
    path: Path
    call: ToolCall
    absent: bool
    kind: FaultKind = "misread_result"


def _tested(test: ast.expr, record: Record) -> Iterator[_Tested]:
    """For each field of a response that a test compares, or asks for: what it really holds, and where."""
    asked = [part for part in _operands(test) if not isinstance(part, ast.Compare)]
    compared = [node for node in ast.walk(test) if isinstance(node, ast.Compare)]
    for node in (*compared, *asked):
        yield from _otherwise(node, record)
        for side, part in _sides(node):
            sources = [s for s in record.slicer.sources(side, part) if s.kind == "call" and s.path]
            told = _values_at(sources[-1], node, record) if sources else None
            if told is not None:
                yield told


def _without_items(source: Source, calls: Sequence[ToolCall], test: ast.AST, record: Record) -> _Tested | None:
    """A list that something was looked for in, and that has no items."""
    if EACH not in source.path or not calls:
        return None
    whole = source.path[: source.path.index(EACH)]
    place = next(record.places(calls[0], whole), None)
    if place is None or place.seen not in ([], {}):
        return None
    sentence = f"`{spelled(test)}` was tested, but {record.facts.result_of(calls[0], place.path)} is empty."
    return _Tested(sentence, place.path, calls[0], absent=True, kind="empty_result")


def _otherwise(test: ast.AST, record: Record) -> Iterator[_Tested]:
    """A field that was compared with another response's values, where the field beside it has such values."""
    sides = [
        [s for s in record.slicer.sources(side, part) if s.kind == "call" and s.exact] for side, part in _sides(test)
    ]
    if len(sides) != 2 or not all(sides):
        return
    every = [list(islice(record.items(found[-1]), _VALUES_READ)) for found in sides]
    for mine, other in ((every[0], every[1]), (every[1], every[0])):
        values = {place.seen for _, place in other if isinstance(place.seen, str)}
        for call, place in mine:
            meant = next((v for v in beside(call, place) if isinstance(v, str) and v in values), None)
            if meant is not None and place.seen not in values:
                where = record.facts.result_of(call, general(place.path))
                told = f"`{spelled(test)}` was tested with {where}, but {snippet(meant)} stands in a field beside it."
                yield _Tested(told, place.path, call, absent=True)
                return


def _sides(node: ast.AST) -> list[tuple[ast.expr, Path]]:
    """What a comparison compares: both sides, and of `x in ys` the items of `ys`; of anything else, itself."""
    if not isinstance(node, ast.Compare):
        return [(node, ())] if isinstance(node, ast.Subscript | ast.Call | ast.Name) else []
    part: Path = (EACH,) if isinstance(node.ops[0], ast.In | ast.NotIn) else ()
    return [(node.left, ()), *((side, part) for side in node.comparators)]


def _operands(test: ast.expr) -> list[ast.expr]:
    """The parts of a test that `and`, `or` and `not` join."""
    match test:
        case ast.BoolOp(values=values):
            return [part for value in values for part in _operands(value)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _operands(operand)
    return [test]


def _values_at(source: Source, test: ast.AST, record: Record) -> _Tested | None:
    calls = record.calls(source)
    every = [(c, p) for c in calls for p in islice(record.places(c, source.path), _VALUES_READ)]
    if not every:
        return _without_items(source, calls, test, record)
    path = (*record.facts.prefix(calls[0]), *source.path)
    broken = any(record.facts.breaks(call, place) for call, place in every)
    kind: FaultKind = "drift" if broken else "misread_result"
    for call, place in every:
        if isinstance(place.missing, str) and isinstance(place.value, Mapping):
            where = record.facts.result_of(call, place.path)
            return _Tested(
                f"{where} has no key {place.missing!r}; {keys_there(place.value)}.", path, call, absent=True, kind=kind
            )
    values = listed(dict.fromkeys(snippet(p.seen, most=40) for _, p in every), most=_VALUES_SHOWN)
    where = record.facts.place(calls[0], general(path))
    told = f"`{spelled(test)}` was tested, but the values at `{where}` are {values}."
    constants = {
        type(n.value) for n in ast.iter_child_nodes(test) if isinstance(n, ast.Constant) and n.value is not None
    }
    unlike = constants == {str} and not any(isinstance(p.seen, str) for _, p in every)
    wants_value = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
    unlike = unlike or (wants_value and all(p.seen is None for _, p in every))
    return _Tested(told, path, calls[0], absent=unlike or broken, kind=kind)


def dict_keys(failure: Failure, record: Record) -> Iterator[str]:
    """Where the keys of the dict come from that the failing line asked."""
    layout = record.slicer.layout
    for suspect in suspects(failure, region(layout, failure.line or 0), layout):
        for source in record.slicer.sources(suspect.expr, (KEY,)):
            if source.kind != "call" or not (calls := record.calls(source)):
                continue
            path = general((*record.facts.prefix(calls[0]), *source.path))
            seen = [snippet(p.value, most=40) for p in islice(record.places(calls[0], source.path), _VALUES_SHOWN)]
            yield f"{record.facts.result_of(calls[0], path)}, such as {listed(seen, most=4)}"
