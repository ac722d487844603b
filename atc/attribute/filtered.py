"""Results that had items of which the program's own tests let none through, and dicts without the key asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice

from atc.attribute.blame import Candidate, Record
from atc.attribute.facts import keys_there, snippet
from atc.attribute.paths import KEY, Path, general, text
from atc.attribute.region import region
from atc.attribute.source import Source
from atc.attribute.suspects import suspects
from atc.check.report import listed, spelled
from atc.types import Fault
from sandbox.trace import Failure

_VALUES_SHOWN = 8
_VALUES_READ = 5_000


def filtered(head: str, failure: Failure, chosen: Candidate, record: Record) -> Fault:
    """The fault of a program whose tests let no item of a result through: it expected other values there."""
    call, place = chosen.call, chosen.place
    path = general(place.path)
    evidence: list[str] = []
    for test in chosen.source.filters:
        for sentence, tested in _tested(test, record):
            evidence.append(sentence)
            path = general(tested)
    every = [p.value for c in record.calls(chosen.source) for p in record.places(c, chosen.source.path)]
    count = sum(len(value) for value in every if isinstance(value, list | Mapping))
    tests = listed((f"`{spelled(test)}`" for test in chosen.source.filters), most=3)
    what = f"none of the {count} items of {record.facts.result_of(call, place.path)} passed {tests}"
    evidence += record.facts.about_place(call, place.path, place.value)
    return Fault(
        kind="misread_result",
        message=f"{head}: {what}.",
        call=call.index,
        tool=call.tool,
        path=text(path),
        line=failure.line,
        evidence=tuple(dict.fromkeys(evidence)),
    )


def _tested(test: ast.expr, record: Record) -> Iterator[tuple[str, Path]]:
    """For each comparison in a test with a field of a response: which values that field really has, and where."""
    for node in ast.walk(test):
        for side in (node.left, *node.comparators) if isinstance(node, ast.Compare) else ():
            sources = [s for s in record.slicer.sources(side) if s.kind == "call" and s.path]
            if sources and (told := _values_at(sources[-1], node, record)) is not None:
                yield told


def _values_at(source: Source, test: ast.AST, record: Record) -> tuple[str, Path] | None:
    calls = record.calls(source)
    every = [(c, p) for c in calls for p in islice(record.places(c, source.path), _VALUES_READ)]
    if not every:
        return None
    path = (*record.facts.prefix(calls[0]), *source.path)
    for call, place in every:
        if isinstance(place.missing, str) and isinstance(place.value, Mapping):
            where = record.facts.result_of(call, place.path)
            return f"{where} has no key {place.missing!r}; {keys_there(place.value)}.", path
    values = listed(dict.fromkeys(snippet(p.seen, most=40) for _, p in every), most=_VALUES_SHOWN)
    where = record.facts.place(calls[0], general(path))
    return f"`{spelled(test)}` was tested, but the values at `{where}` are {values}.", path


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
