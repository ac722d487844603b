"""Recorded responses replayed: the schema inferred from each, held against the response and a reference schema.

The references (AutoTools) are shapes: an object's keys, a list's first element, and the name of each value's type. A
schema that covers all of a reference has matched it, one that also tells more has bettered it.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from probing.infer import Inference
from protocols.errors import AtcError
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, types, validator
from toolflow_bench.probing.counts import Share

FILE = "tools.json"

_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "NoneType": "null"}

LOSSES = ("field lost", "type lost", "elements lost")
"""Kinds of differences by which a schema is worse than its reference."""

Verdict = Literal["matched", "bettered", "worse"]


class InvalidRecordings(AtcError):
    """The folder has no recordings that can be read; the message says what is wrong with which file."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One departure of a schema from its reference: where (`airports[].code`), and of what kind."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A response and the shape that somebody else made of it. `source` tells answers from documents of answers."""

    tool: str
    source: Literal["recorded", "document"]
    response: Json
    reference: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of one recording. `fields` is the number of response paths of the inferred schema."""

    tool: str
    source: str
    valid: bool
    fields: int
    differences: tuple[Difference, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Worse with any loss, better with anything more than the reference."""
        kinds = {difference.kind for difference in self.differences}
        return "worse" if kinds & set(LOSSES) else "bettered" if kinds else "matched"

    def as_json(self) -> dict[str, Any]:
        """Counts, and the places of each kind of difference."""
        places: dict[str, list[str]] = {}
        for difference in self.differences:
            places.setdefault(difference.kind, []).append(difference.path)
        row = {"tool": self.tool, "source": self.source, "valid": self.valid, "verdict": self.verdict}
        return row | {"fields": self.fields, "seconds": round(self.seconds, 4), "differences": places}


def replay(folder: Path) -> list[Replayed]:
    """Every recording of `folder`.

    Raises:
        InvalidRecordings: there is no such file, or it is not one of recordings.
    """
    return [replayed(recording) for recording in load_recordings(folder)]


def replayed(recording: Recording) -> Replayed:
    """One recording: the schema inferred from it, whether it conforms to that, and the differences."""
    started = time.perf_counter()
    inference = Inference()
    inference.add(recording.response)
    schema = inference.schema()
    seconds = time.perf_counter() - started
    return Replayed(
        tool=recording.tool,
        source=recording.source,
        valid=validator(schema).is_valid(recording.response),
        fields=len(inference.fields()),
        differences=tuple(dict.fromkeys(differences(schema, recording.reference))),
        seconds=seconds,
    )


def figures(rows: Sequence[Replayed]) -> dict[str, Any]:
    """Shares over all rows and by source: conforming responses, references matched or bettered, differences by kind."""
    sources = ["all", *sorted({row.source for row in rows}, reverse=True)]
    return {source: _figures([row for row in rows if source in ("all", row.source)]) for source in sources}


def lines(rows: Sequence[Replayed]) -> list[str]:
    """The figures for people, and each loss."""
    text = []
    for source, found in figures(rows).items():
        verdicts = found["verdicts"]
        told = ", ".join(f"{count} {name}" for name, count in verdicts.items())
        valid = found["valid"]
        text.append(f"{source}: {valid['right']} of {valid['of']} responses conform; references: {told}.")
        for kind, counts in found["differences"].items():
            text.append(f"  {kind}: {counts['places']} places in {counts['tools']} tools")
    for row in rows:
        text += [f"{row.tool}: {one.kind} at {one.path!r}" for one in row.differences if one.kind in LOSSES]
        text += [] if row.valid else [f"{row.tool}: the response does not conform"]
    return text


def load_recordings(folder: Path) -> list[Recording]:
    """The recordings of AutoTools: answers of four APIs, and documents of answers of two more.

    Raises:
        InvalidRecordings: there is no such file, or it is not one of recordings.
    """
    path = folder / FILE
    try:
        domains = json.loads(path.read_text(encoding="utf-8"))
        return [
            _recording(f"{domain}/{tool['name']}", tool) for domain, api in domains.items() for tool in api["endpoints"]
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidRecordings(
            f"no recordings in {str(path)!r} ({type(error).__name__}: {error}); give the folder that holds {FILE}"
        ) from error


def differences(schema: JsonObject, reference: Json) -> Iterator[Difference]:
    """Where a schema departs from a reference shape."""
    yield from _compare(_views([schema], schema), schema, reference, "")


def _recording(name: str, tool: Mapping[str, Any]) -> Recording:
    shape = tool["response_schema_json"]
    reference = json.loads(shape) if isinstance(shape, str) else shape
    if "response_example" in tool:
        return Recording(tool=name, source="recorded", response=tool["response_example"], reference=reference)
    return Recording(tool=name, source="document", response=tool["response_openapi"], reference=reference)


def _compare(views: list[JsonObject], root: JsonObject, reference: Json, path: str) -> Iterator[Difference]:
    allowed = {name for view in views for name in types(view)}
    wanted = _wanted(reference)
    if wanted == "null" and not allowed:
        return  # neither says more than that there is such a field
    if wanted not in allowed and not (wanted == "integer" and "number" in allowed):
        yield Difference("type lost", path)
        return
    yield from _more_types(wanted, allowed, path)
    if isinstance(reference, Mapping):
        yield from _compare_object(views, root, reference, path)
    elif isinstance(reference, list):
        items = _views([view["items"] for view in views if "items" in view], root)
        if reference and not items:
            yield Difference("elements lost", path)
        elif reference:
            yield from _compare(items, root, reference[0], f"{path}[]")
        elif items:
            yield Difference("elements told", path)


def _more_types(wanted: str, allowed: set[str], path: str) -> Iterator[Difference]:
    more = allowed - {wanted}
    if wanted == "null":
        if more:
            yield Difference("type told beside null", path)
        return
    if "null" in more:
        yield Difference("null told", path)
    if wanted == "integer" and "number" in more:
        yield Difference("number, not only integer", path)
    if more - {"null", "number", "integer"}:
        yield Difference("further type told", path)


def _compare_object(
    views: list[JsonObject], root: JsonObject, reference: Mapping[str, Any], path: str
) -> Iterator[Difference]:
    named: dict[str, list[Any]] = {}
    for view in views:
        for key, part in view.get("properties", {}).items():
            named.setdefault(key, []).append(part)
    rest = [view["additionalProperties"] for view in views if isinstance(view.get("additionalProperties"), Mapping)]
    if rest:
        yield Difference("map told", path)
    if sum("properties" in view for view in views) > 1:
        yield Difference("kinds told apart", path)
    for key, part in reference.items():
        place = f"{path}.{key}" if path else key
        if key not in named and not rest:
            yield Difference("field lost", place)
        else:
            yield from _compare(_views(named.get(key, rest), root), root, part, place)
    for key in named.keys() - reference.keys():
        yield Difference("field told", f"{path}.{key}" if path else key)


def _views(schemas: Iterable[Any], root: JsonObject) -> list[JsonObject]:
    """The alternatives of schemas, references followed."""
    found: list[JsonObject] = []
    for schema in schemas:
        here = resolve(schema, root)
        branches = [*here.get("anyOf", ()), *here.get("oneOf", ())]
        found += _views(branches, root) if branches else [here]
    return found


def _wanted(reference: Json) -> str:
    if isinstance(reference, str):
        return _TYPES[reference]
    return "object" if isinstance(reference, Mapping) else "array" if isinstance(reference, list) else "null"


def _figures(rows: Sequence[Replayed]) -> dict[str, Any]:
    verdicts = Counter(row.verdict for row in rows)
    places = Counter(difference.kind for row in rows for difference in row.differences)
    tools = Counter(kind for row in rows for kind in {difference.kind for difference in row.differences})
    return {
        "valid": Share.count(row.valid for row in rows).as_json(),
        "not_worse": Share.count(row.verdict != "worse" for row in rows).as_json(),
        "verdicts": {name: verdicts[name] for name in ("matched", "bettered", "worse")},
        "fields": sum(row.fields for row in rows),
        "seconds": round(sum(row.seconds for row in rows), 3),
        "differences": {kind: {"places": n, "tools": tools[kind]} for kind, n in sorted(places.items())},
    }
