"""Where a document departs from what its tools really do, as far as calls have shown: pure functions of both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.schema import types, violations
from toolflow_bench.probing.counts import Rate
from toolflow_bench.probing.fields import Fields, map_paths, response_fields, says_something, schema_fields
from toolflow_bench.probing.score import argument_schema, field_rate, says_something_seen

ENOUGH = 3
"""Answers in which a declared field must be missing before it counts as one that never comes."""

_NUMBERS = {"integer", "number"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One call and what came of it. `by`: whose it was, the census's or probing's own."""

    arguments: JsonObject
    done: bool
    response: Json = None
    status: int | None = None
    by: str = "census"


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """One thing that a document says of a tool, and that is otherwise."""

    tool: str
    kind: str
    where: str
    by: tuple[str, ...] = ()
    """Whose calls show it."""

    def __str__(self) -> str:
        shown = f" ({', '.join(self.by)})" if self.by else ""
        return f"{self.tool}: {self.kind}{f': {self.where}' if self.where else ''}{shown}"

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"tool": self.tool, "kind": self.kind, "where": self.where, "by": list(self.by)}


def departures(
    declared: ToolProtocol, seen: Sequence[Observation], produced: ToolProtocol | None = None
) -> list[Departure]:
    """What calls showed to be otherwise than `declared` says.

    `produced` is what probing made of the tool: by it, an argument that the document calls optional is needed.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for by in dict.fromkeys(one.by for one in seen):
        for kind, where in _departures(declared, [one for one in seen if one.by == by]):
            found.setdefault((kind, where), set()).add(by)
    # What never came in one's calls may have come in the other's.
    answers = [one.response for one in seen if one.done]
    never = set(_never_seen(_opened(declared.output_schema), answers))
    found = {key: by for key, by in found.items() if key[0] != NEVER or key[1] in never}
    for where in never:
        found.setdefault((NEVER, where), {one.by for one in seen if one.done})
    for name in _needed(declared, seen, produced):
        found[(NEEDED, name)] = {"probing"}
    return [
        Departure(tool=declared.name, kind=kind, where=where, by=tuple(sorted(by)))
        for (kind, where), by in sorted(found.items())
    ]


UNDESCRIBED = "answers, and no response is described"
UNDECLARED = "field that is not declared"
NEVER = "declared field that never came"
TYPE = "type or value that is not declared"
ABSENT = "field declared as required, and absent"
STATUS = "status that is not declared"
UNREADABLE = "answers with what is neither JSON nor plain text"
NOT_NEEDED = "argument declared as required, and not needed"
NEEDED = "argument declared as optional, and needed"
ACCEPTED = "argument's value excluded by its declaration, and accepted"

KINDS = (UNDESCRIBED, UNDECLARED, NEVER, TYPE, ABSENT, STATUS, UNREADABLE, NOT_NEEDED, NEEDED, ACCEPTED)


def by_kind(found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many of each kind, of departures as JSON."""
    counts = Counter(str(one["kind"]) for one in found)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def declared_rate(produced: JsonObject | None, declared: JsonObject | None) -> Rate:
    """Produced fields against those of a document, where it describes any: whole text or one number is no field.

    What it leaves open (`any`, objects with further fields of any kind) neither counts for nor against.
    """
    true = schema_fields(_opened(declared))
    if not true:
        return Rate()
    open_paths = _open_paths(true)
    told = {path: kinds for path, kinds in schema_fields(produced).items() if not _below(path, open_paths)}
    return field_rate(told, {path: kinds for path, kinds in true.items() if not _below(path, open_paths)})


def _departures(declared: ToolProtocol, seen: Sequence[Observation]) -> Iterator[tuple[str, str]]:
    done = [one for one in seen if one.done]
    answers = [one.response for one in done]
    output = _opened(declared.output_schema)
    if not says_something(output):
        if says_something_seen(response_fields(answers), answers) and not _open(output):
            yield UNDESCRIBED, ""
    else:
        yield from _fields(output, answers)
    known = {error.status for error in declared.errors}
    for one in seen:
        if one.status is None or one.done:
            continue
        if one.status < 300:
            yield UNREADABLE, ""
        elif not _covered(one.status, known):
            yield STATUS, str(one.status)
    for name in declared.required:
        if any(name not in one.arguments for one in done):
            yield NOT_NEEDED, name
    for name in declared.parameters:
        if any(name in one.arguments and _excludes(declared, name, one.arguments[name]) for one in done):
            yield ACCEPTED, name


def _fields(output: JsonObject | None, answers: Sequence[Json]) -> Iterator[tuple[str, str]]:
    declared = schema_fields(output)
    maps = _maps(output)
    seen = response_fields(answers, maps=maps)
    open_paths = _open_paths(declared)
    for path in _topmost(path for path in seen if path not in declared and not _below(path, open_paths)):
        yield UNDECLARED, f"{path}: {'/'.join(sorted(seen[path]))}"
    yield from ((NEVER, path) for path in _never_seen(output, answers))
    broken = {(_plain(at), clause) for answer in answers for at, _, clause in violations(output or {}, answer)}
    for at, clause in sorted(broken):
        kind = clause.rstrip("/").rsplit("/", 1)[-1]
        if kind == "required":
            yield ABSENT, f"in {at or 'the response'}"
        elif kind not in ("additionalProperties", "unevaluatedProperties"):
            shown = "/".join(sorted(seen.get(at, {"response"})))
            yield TYPE, f"{at or 'the response'}: {kind} ({shown})"


def _never_seen(output: JsonObject | None, answers: Sequence[Json]) -> list[str]:
    """Declared fields whose holder came often enough without them."""
    declared = schema_fields(output)
    maps = _maps(output)
    counts = Counter(path for answer in answers for path in {"", *response_fields([answer], maps=maps)})
    absent = [path for path in declared if not counts[path] and not path.endswith("*") and "any" not in declared[path]]
    return [path for path in _topmost(absent) if counts[_holder(path)] >= ENOUGH]


def _needed(declared: ToolProtocol, seen: Sequence[Observation], produced: ToolProtocol | None) -> Iterator[str]:
    for name in sorted((produced.required if produced else frozenset()) & declared.parameters.keys()):
        if name not in declared.required and not any(one.done and name not in one.arguments for one in seen):
            yield name


def _opened(schema: Any) -> Any:
    """A schema with `additionalProperties: true`, by which a document says that anything may come, spelled `{}`."""
    if isinstance(schema, list):
        return [_opened(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {} if key == "additionalProperties" and part is True else _opened(part) for key, part in schema.items()
    }


def _open(output: JsonObject | None) -> bool:
    """Whether a schema leaves room for anything on purpose: `{"type": "object", "additionalProperties": …}`."""
    return any("any" in kinds for kinds in schema_fields(output).values())


def _covered(status: int, known: Iterable[str]) -> bool:
    text = str(status)
    return any(one == text or one == "default" or one.upper() == f"{text[0]}XX" for one in known)


def _excludes(declared: ToolProtocol, name: str, value: Json) -> bool:
    """Whether a declaration excludes a value as it travels in a request: digits are a number there, all is text."""
    kinds = set(types(argument_schema(declared, name)))
    if value is None or (kinds == {"string"} and isinstance(value, bool | int | float)):
        return False
    if kinds & _NUMBERS and isinstance(value, str):
        return not re.fullmatch(r"[+-]?\d+(\.\d*)?", value.strip())
    if "boolean" in kinds and str(value).lower() in ("true", "false", "0", "1"):
        return False
    if "array" in kinds and isinstance(value, str):  # one element alone looks the same
        return False
    return bool(violations({**declared.input_schema, "required": []}, {name: value}))


def _maps(output: JsonObject | None) -> set[str]:
    """Objects whose keys are data; one that has named fields besides is none."""
    declared = schema_fields(output)
    named = {_holder(path) for path in declared if not path.endswith("*")}
    return set(map_paths(output)) - named


def _open_paths(declared: Fields) -> list[str]:
    """Where a document leaves open what comes: it says nothing, or `object` or `array` and no more."""
    holders = {_holder(path) for path in declared}
    return [
        path.removesuffix("*").removesuffix(".")
        for path, kinds in declared.items()
        if "any" in kinds or (path not in holders and kinds & {"object", "array"})
    ]


def _topmost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(paths):
        if not _below(path, kept):
            kept.append(path)
    return kept


def _below(path: str, holders: Iterable[str]) -> bool:
    return any(not holder or path == holder or path.startswith((f"{holder}.", f"{holder}[]")) for holder in holders)


def _holder(path: str) -> str:
    return path.removesuffix("[]") if path.endswith("[]") else path.rpartition(".")[0]


def _plain(path: str) -> str:
    """A violation's place with its positions in lists left out."""
    return re.sub(r"\[\d+\]", "[]", path)


__all__ = ["ENOUGH", "KINDS", "Departure", "Observation", "by_kind", "declared_rate", "departures"]
