"""Probed protocols held against the truth: counts, which add up over tools and services.

Fields are pairs of path (`airports[].code`, `rates.*`) and JSON type, `null` left out. `integer` and `number` are
different types. Where the census saw nothing but null, it cannot say the type, and any type is right. A produced type
that is open (no type named) is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.schema import resolve, type_name, types, violations

STATUSES = ("404", "409", "422")
"""Declared outcomes that a caller can bring about."""
LinkKey = tuple[str, str, str, str]
"""Producing tool, path in its response, consuming tool, argument."""
Fields = dict[str, frozenset[str]]
"""Path → the JSON types there, `null` among them; `any` where a schema says nothing."""
Row = dict[str, Any]
"""What was measured of one unit, as plain JSON."""
_DEEPEST, _MOST = 12, 8


def rate(said: Collection[object], wanted: Collection[object]) -> Row:
    """What was said, of it what is right, and what there is to say."""
    return with_shares({"right": len(set(said) & set(wanted)), "said": len(set(said)), "wanted": len(set(wanted))})


def share(verdicts: Iterable[bool]) -> Row:
    """How many of how many are right."""
    listed = list(verdicts)
    return with_shares({"right": sum(listed), "of": len(listed)})


def with_shares(counts: Row) -> Row:
    """The counts and the shares that follow from them; None of none."""
    right = counts["right"]
    ends = (("share", "of"),) if "of" in counts else (("precision", "said"), ("recall", "wanted"))
    return {**counts, **{name: round(right / counts[of], 4) if counts[of] else None for name, of in ends}}


def added(counts: Sequence[Any]) -> Any:
    """Counts as JSON, summed, their shares taken anew."""
    first = counts[0]
    if not isinstance(first, Mapping):
        return sum(counts)
    if "right" in first:
        names = ("right", "of") if "of" in first else ("right", "said", "wanted")
        return with_shares({name: sum(one[name] for one in counts) for name in names})
    return {key: added([one[key] for one in counts]) for key in first}


def schema_fields(schema: JsonObject | None) -> Fields:
    """The fields that a response schema describes; the whole response is no field."""
    found: dict[str, set[str]] = {}
    if schema is not None:
        _walk_schema(schema, schema, "", 0, found)
    return _settled(found)


def response_fields(responses: Iterable[Json], maps: Collection[str]) -> Fields:
    """The fields seen in any of the responses. `maps` are paths of objects whose keys are data."""
    found: dict[str, set[str]] = {}
    for path, value in (pair for response in responses for pair in _walk(response, "", maps)):
        found.setdefault(path, set()).add(type_name(value))
    return _settled(found)


def map_paths(schema: JsonObject | None) -> set[str]:
    """Where a schema has maps."""
    return {path[:-1].removesuffix(".") for path in schema_fields(schema) if path.split(".")[-1] == "*"}


def says_something(schema: JsonObject | None) -> bool:
    """Whether a response schema describes any value besides wrappers of values; a bare text or number is one."""
    kinds = [*schema_fields(schema).values(), frozenset(types(resolve(schema, schema)) if schema else ())]
    return any(of - {"object", "array", "null", "any"} for of in kinds)


def _settled(found: Mapping[str, set[str]]) -> Fields:
    kept = {path: kinds - ({"integer"} if "number" in kinds else set()) for path, kinds in found.items() if path}
    return {path: frozenset(kinds) for path, kinds in sorted(kept.items())}


def _walk(value: Json, path: str, maps: Collection[str]) -> Iterator[tuple[str, Json]]:
    yield path, value
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _walk(part, f"{path}.{'*' if path in maps else key}".lstrip("."), maps)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part, f"{path}[]", maps)


def _walk_schema(schema: Any, root: JsonObject, path: str, depth: int, found: dict[str, set[str]]) -> None:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        if schema is True:
            found.setdefault(path, set()).add("any")
        return
    here = resolve(schema, root)
    branches = [part for keyword in ("allOf", "anyOf", "oneOf") for part in here.get(keyword, ())]
    if types(here) or not branches:
        found.setdefault(path, set()).update(types(here) or ("any",))
    below = [(path, part) for part in branches]
    below += [(f"{path}.{key}".lstrip("."), part) for key, part in here.get("properties", {}).items()]
    rest = (here.get("additionalProperties"), *here.get("patternProperties", {}).values())
    below += [(f"{path}.*".lstrip("."), part) for part in rest if isinstance(part, Mapping)]
    items = (here.get("items"), *here.get("prefixItems", ()))
    below += [(f"{path}[]", part) for part in items if isinstance(part, Mapping)]
    for where, part in below:
        _walk_schema(part, root, where, depth + 1, found)


def _pairs(fields: Fields, untold: Collection[str]) -> set[tuple[str, str]]:
    """Pairs of path and type, without those of which the census saw but null; of these the path alone."""
    told = {(path, kind) for path, kinds in fields.items() if path not in untold for kind in kinds - {"null"} or kinds}
    return told | {(path, "null") for path in fields if path in untold}


def field_rate(said: Fields, true: Fields) -> Row:
    """Fields said against true ones."""
    untold = {path for path, kinds in true.items() if kinds == {"null"}}
    return rate(_pairs(said, untold), _pairs(true, untold))


def links_of(protocols: Iterable[ToolProtocol]) -> set[LinkKey]:
    """The links that protocols declare or have observed; guessed ones and those from other tools are left out."""
    known = {protocol.name: protocol for protocol in protocols}
    return {
        (link.tool, link.path, name, link.argument)
        for name, protocol in known.items()
        for link in protocol.links
        if link.support != "guessed" and link.tool in known
    }


def score_tool(
    produced: ToolProtocol | None, declared: ToolProtocol, answers: Sequence[Json], *, maps: JsonObject | None
) -> Row:
    """One tool's counts; `answers` are those of the census, `maps` the schema that says which objects are maps."""
    output = produced.output_schema if produced else None
    seen = response_fields(answers, map_paths(maps))
    scalar = any(not isinstance(answer, Mapping | list) and answer is not None for answer in answers)
    answered = scalar or any(kinds - {"object", "array", "null"} for kinds in seen.values())
    documented = says_something(output)
    names = list(declared.parameters)
    required = produced.required if produced else frozenset()
    statuses = [
        {error.status for error in one.errors} & set(STATUSES) if one else set() for one in (produced, declared)
    ]
    return {
        "documented": share([documented]),
        "documented_of_seen": share([documented] if answered else []),
        "seen": field_rate(schema_fields(output), seen) if answers else rate((), ()),
        "declared": field_rate(schema_fields(output), schema_fields(declared.output_schema)),
        "replies": share(output is not None and not violations(output, answer) for answer in answers),
        "required": share(bool(produced) and (name in required) == (name in declared.required) for name in names),
        "argument_types": share(_types(produced, name) == _types(declared, name) for name in names),
        "errors": rate(*statuses),
    }


def _types(protocol: ToolProtocol | None, name: str) -> set[str] | None:
    if protocol is None:
        return None
    return set(types(resolve(protocol.parameters.get(name, {}), protocol.input_schema))) - {"null"}


def misses(produced: ToolProtocol | None, declared: ToolProtocol, answers: Sequence[Json]) -> Row:
    """What is wrong and what is missing of one tool, for those who look for causes."""
    said, true = schema_fields(produced.output_schema if produced else None), response_fields(answers, ())
    if answers and produced:
        true = response_fields(answers, map_paths(produced.output_schema))
    found = {
        "wrong": sorted(f"{path}: {kind}" for path, kind in _pairs(said, ()) - _pairs(true, ()) if answers)[:_MOST],
        "missing": sorted(f"{path}: {kind}" for path, kind in _pairs(true, ()) - _pairs(said, ()))[:_MOST],
        "required": sorted((produced.required if produced else frozenset()) ^ declared.required),
    }
    return {kind: texts for kind, texts in found.items() if texts}


def percent(one: Any) -> str:
    """`98.4%`, or a dash where there is none."""
    return "–" if one is None else f"{one:.1%}"
