"""JSON Schema: validation that never touches the network, local references, and the shape of a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

import jsonschema_rs

from protocols.jsontypes import Json, JsonObject

MOST_STEPS = 5_000_000
"""Comparisons of a part of a value with a part of its schema, by which one validation is bounded."""
MOST_VALUES = 1_000_000
"""Values within one value that is validated."""
MOST_PARTS = 100_000
"""Parts of a schema; a larger one is not read."""
MOST_BACKTRACKS = 10_000
"""Steps back of a pattern with look-around or back-references, for one text; other patterns take none."""
MOST_STATES = 200_000_000
"""Characters of a value × states of the costliest pattern of its schema."""
_LONGEST_PATTERN, _STATES_OF_RETRIES = 10_000, 2_000
_MOST_VISITS = 100_000
_PATTERN_PARTS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+\]?|\{\d{1,9}(?:,\d{0,9})?\}|.", re.DOTALL)
_RETRIES = re.compile(r"\(\?(?:[=!>(]|<[=!])|\\[1-9gkK]|[*+?}]\+")
MOST_VIOLATIONS = 20
"""Clauses that are named of all that one value breaks."""
_MAPS = ("properties", "dependentSchemas", "dependencies")
_BRANCHES = ("anyOf", "oneOf")
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")


class Violation(NamedTuple):
    """One clause that a value breaks: where in the value, what was said, and the clause's place in the schema."""

    path: str
    message: str
    clause: str


def _refuse(uri: str) -> NoReturn:
    # jsonschema-rs fetches remote references by itself unless it is given a retriever.
    raise ValueError(f"the remote reference {uri} is not fetched")


def validator(schema: JsonObject, *, formats: bool = True) -> jsonschema_rs.Draft202012Validator:
    """A validator of `schema`. Raises `ValueError` for a schema that cannot be one.

    Its methods take as long as schema and value make them; `Judge` bounds that.
    """
    patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=MOST_BACKTRACKS)
    return jsonschema_rs.Draft202012Validator(
        dict(schema), validate_formats=formats, retriever=_refuse, pattern_options=patterns
    )


def first_error(checks: jsonschema_rs.Validator, value: Json) -> jsonschema_rs.ValidationError | None:
    """The first departure of `value`. `iter_errors` builds all of them first, each with a copy of what it is about."""
    try:
        checks.validate(value)
    except jsonschema_rs.ValidationError as error:
        return error
    return None


class TooMuch(ValueError):
    """To compare this value with this schema would take too long."""


class Judge:
    """Compares values with one schema, in bounded time and memory, whoever wrote either of them.

    Raises:
        ValueError: the schema cannot be one, or has more parts than `MOST_PARTS`.
    """

    def __init__(self, schema: JsonObject, *, formats: bool = True) -> None:
        size = _parts(schema, MOST_PARTS)
        if size is None:
            raise TooMuch(f"the schema has more than {MOST_PARTS:,} parts")
        self._schema, self._size, self._formats = schema, size.number, formats
        self._validator = validator(schema, formats=formats)
        self._anchors = _anchors(schema)
        self._widths: dict[tuple[int, int], _Width] = {}
        self._states = 0  # of the costliest pattern
        self._visits = 0  # of schemas, to learn the widths for one value

    def valid(self, value: Json) -> bool:
        """Whether `value` conforms. Raises `TooMuch`, and `ValueError` for what is no JSON."""
        found = _parts(value, MOST_VALUES)
        if found is None:
            raise TooMuch(f"it holds more than {MOST_VALUES:,} values")
        self._visits = 0
        steps = found.number * self._width(self._schema, -(-found.depth // 4) * 4).most
        if steps > MOST_STEPS or found.characters * self._states > MOST_STATES:
            raise TooMuch("it and its schema are too large together")
        return self._validator.is_valid(value)

    def errors(self, value: Json) -> Iterator[jsonschema_rs.ValidationError]:
        """Of a value that is not valid: the first departure from each clause that it breaks, as far as can be told."""
        # The next error is the first one of the schema without the clause that was broken.
        try:
            schema = _without_branches(self._schema, self._schema)
        except RecursionError:
            return
        for _ in range(max(1, MOST_PARTS // self._size)):
            try:
                error = first_error(validator(schema, formats=self._formats), value)
            except ValueError:  # a reference to a clause that was left out
                return
            if error is None:
                return
            yield error
            try:
                schema = _without(schema, error.schema_path)
            except (LookupError, ValueError):  # a clause that was reached in another way than by its place
                return

    def _width(self, schema: Any, depth: int) -> _Width:
        """How often one part of a value, `depth` levels deep, may be compared with this schema and those in it."""
        if not isinstance(schema, Mapping):
            return _Width(1, 0, 0)
        self._visits += 1
        if self._visits > _MOST_VISITS:
            raise TooMuch("its schema is too tangled")
        key = (id(schema), depth)
        if (known := self._widths.get(key)) is not None:
            if known is _ENDLESS:
                raise TooMuch("its schema refers to itself at one place")
            return known
        self._widths[key] = _ENDLESS
        try:
            beside = [self._width(part, depth) for part in self._beside(schema)]
            inside = partial(self._most, depth=depth - 1) if depth else lambda _: 0
            patterns, listed = schema.get("patternProperties"), schema.get("enum")
            patterned = list(patterns.values()) if isinstance(patterns, Mapping) else []
            tried = [pattern] if isinstance(pattern := schema.get("pattern"), str) else []
            tried += patterns if isinstance(patterns, Mapping) else ()
            self._states = max([self._states, *map(_states, tried)])
            compared = sum(isinstance(one, list | Mapping) for one in listed) if isinstance(listed, list) else 0
            found = _Width(
                1 + len(patterned) + compared + sum(width.here for width in beside),
                max(
                    map(inside, _values(schema, "properties", "additionalProperties", "unevaluatedProperties")),
                    default=0,
                )
                + sum(map(inside, [*patterned, *_values(schema, "propertyNames")]))
                + sum(width.fields for width in beside),
                max(map(inside, _values(schema, "prefixItems", "items", "unevaluatedItems")), default=0)
                + sum(map(inside, _values(schema, "contains")))
                + sum(width.items for width in beside),
            )
        except RecursionError:
            raise TooMuch("its schema is too tangled") from None
        finally:
            del self._widths[key]
        self._widths[key] = found
        return found

    def _most(self, schema: Any, *, depth: int) -> int:
        return self._width(schema, depth).most

    def _beside(self, schema: JsonObject) -> Iterator[Any]:
        """The schemas that are compared with the same value."""
        yield from _values(
            schema, "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"
        )
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(ref := schema.get(keyword), str):
                target = self._anchors.get(ref) or pointer(self._schema, unquote(ref))
                if target is None or "$id" in self._anchors:
                    raise TooMuch(f"its reference {ref[:80]!r} is not followed")
                yield target


class _Width(NamedTuple):
    """Comparisons at one place of a value, and the most at one place among its fields or its items."""

    here: int
    fields: int
    items: int

    @property
    def most(self) -> int:
        return max(self)


_ENDLESS = _Width(0, 0, 0)


class _Parts(NamedTuple):
    number: int
    depth: int
    characters: int


def _parts(value: Json, most: int) -> _Parts | None:
    """How many values and keys stand in `value`, and in how many levels; `None` for more than `most`."""
    level: list[Json] = [value]
    count = depth = characters = 0
    while level:
        count, depth = count + len(level), depth + 1
        characters += sum(len(part) for part in level if isinstance(part, str))
        held = [part for part in level if isinstance(part, Mapping | list | tuple)]
        if count + sum(map(len, held)) > most:
            return None
        characters += sum(len(key) for part in held if isinstance(part, Mapping) for key in part)
        level = [child for part in held for child in (part.values() if isinstance(part, Mapping) else part)]
    return _Parts(count, depth, characters)


@lru_cache(maxsize=1024)
def _states(pattern: str) -> int:
    """About how many states a pattern has with its counted repetitions written out."""
    if len(pattern) > _LONGEST_PATTERN:
        return MOST_STATES
    open_groups, total, last = [], 0, 0
    for piece in _PATTERN_PARTS.findall(pattern):
        if piece == "(":
            open_groups.append(total)
            total = 0
        elif piece == ")" and open_groups:
            last = total
            total += open_groups.pop()
        elif len(piece) > 2 and piece[0] == "{":
            total += last * max(0, max(int(number) for number in re.findall(r"\d+", piece)[:2]) - 1)
        else:
            total, last = total + 1, 1
    # Look-around and back-references are tried again and again at one place.
    return min(total, MOST_STATES) + (_STATES_OF_RETRIES if _RETRIES.search(pattern) else 0)


def _values(schema: JsonObject, *keywords: str) -> Iterator[Any]:
    """The schemas under these keywords: one, a list or a mapping of them under each."""
    for keyword in keywords:
        value = schema.get(keyword)
        if isinstance(value, list):
            yield from value
        elif isinstance(value, Mapping):
            yield from value.values() if keyword in _MAPS else (value,)


def _anchors(schema: JsonObject) -> dict[str, Any]:
    """The schemas by their anchors; under `$id` one that is a document of its own within this one, if there is any."""
    found: dict[str, Any] = {}
    left: list[Any] = [schema]
    while left:
        part = left.pop()
        if isinstance(part, Mapping):
            names = (part.get("$anchor"), part.get("$dynamicAnchor"))
            found |= {f"#{name}": part for name in names if isinstance(name, str)}
            if part is not schema and isinstance(name := part.get("$id"), str) and not name.startswith("#"):
                found["$id"] = part
            left.extend(part.values())
        elif isinstance(part, list):
            left.extend(part)
    return found


def _without_branches(schema: Any, root: JsonObject) -> Any:
    """A schema that says as much, but for whose `anyOf` and `oneOf` no errors of the branches are built.

    `unevaluated…` depends on the branches, so it is left out.
    """
    if isinstance(schema, list):
        return [_without_branches(part, root) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed: dict[str, Any] = {}
    for keyword, part in schema.items():
        if keyword == "$ref" and isinstance(part, str):
            changed[keyword] = _moved(part, root)
        elif keyword not in _UNEVALUATED:
            changed[keyword] = part if keyword in ("const", "enum") else _without_branches(part, root)
    for keyword in _BRANCHES:
        if isinstance(schema.get(keyword), list):
            changed["allOf"] = [*changed.get("allOf", []), {"not": {"not": {keyword: changed.pop(keyword)}}}]
    return changed


def _moved(ref: str, root: JsonObject) -> str:
    """Where `_without_branches` puts what a reference within `root` points to."""
    current: Any = root
    parts: list[str] = []
    for part in ref.split("/"):
        if part == "#":
            parts.append(part)
            continue
        if part in _BRANCHES and isinstance(current, Mapping) and isinstance(current.get(part), list):
            place = len(current.get("allOf", [])) + (part == "oneOf" and isinstance(current.get("anyOf"), list))
            parts += ["allOf", str(place), "not", "not"]
        parts.append(part)
        current = pointer(current, f"#/{unquote(part)}")
    return "/".join(parts)


def _without(schema: Any, path: Sequence[str | int]) -> Any:
    """`schema` without the clause at `path`."""
    first, *rest = path
    if isinstance(schema, list):
        index = int(first)
        return [*schema[:index], _without(schema[index], rest) if rest else True, *schema[index + 1 :]]
    changed = dict(schema)
    part = changed.pop(str(first))
    return changed | {str(first): _without(part, rest)} if rest else changed


def branches(error: jsonschema_rs.ValidationError) -> str | None:
    """`anyOf` or `oneOf` where that is the keyword of which an error of `Judge` tells."""
    inner = error.kind.as_dict()["schema"].get("not") if error.kind.name == "not" else None
    return next((keyword for keyword in _BRANCHES if keyword in inner), None) if isinstance(inner, Mapping) else None


def said(error: jsonschema_rs.ValidationError) -> str:
    """What an error of `Judge` says."""
    keyword = branches(error)
    if keyword is None:
        return error.message
    how = "any" if keyword == "anyOf" else "exactly one"
    return f"{json.dumps(error.instance)} is not valid under {how} of the schemas listed in the {keyword!r} keyword"


def violations(schema: JsonObject, value: Json) -> list[Violation]:
    """Each clause of `schema` that `value` breaks, with the first place where it does; empty when it conforms.

    Where to compare the two would take too long, that is the one violation. Raises `ValueError` for what is no schema.
    """
    try:
        judge = Judge(schema)
        if judge.valid(value):
            return []
        errors = list(islice(judge.errors(value), MOST_VIOLATIONS))
    except TooMuch as problem:
        return [Violation("", f"it cannot be compared with its schema: {problem}", "")]
    found = []
    for error in errors:
        path = list(map(str, error.schema_path))
        if keyword := branches(error):
            path = [*path[:-3], keyword]
        clause = re.sub(r"allOf/\d+/not/not/(?=anyOf/|oneOf/)", "", "/".join(path))
        found.append(Violation(dotted(error.instance_path), said(error), clause))
    return found or [Violation("", "it does not conform to its schema", "")]


def dotted(path: Iterator[str | int] | list[str | int]) -> str:
    """`["rows", 0, "id"]` → `rows[0].id`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def steps(path: str) -> list[str | int]:
    """`rows[0].id` → `["rows", 0, "id"]`; an empty index (`rows[]`, any element) gives 0."""
    parts: list[str | int] = []
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d*)\]", path):
        parts.append(key or int(index or 0))
    return parts


def resolve(schema: Any, root: JsonObject) -> JsonObject:
    """`schema` with a leading local `$ref` followed (to any depth) and its siblings kept; `{}` where it leads nowhere.

    Only the top is resolved, so recursive schemas stay finite: callers resolve each level as they descend.
    """
    seen: set[str] = set()
    current: Any = schema
    siblings: dict[str, Any] = {}
    while isinstance(current, Mapping) and isinstance(ref := current.get("$ref"), str):
        siblings = {k: v for k, v in current.items() if k != "$ref"} | siblings
        if ref in seen:
            return siblings
        seen.add(ref)
        current = pointer(root, ref)
    if not isinstance(current, Mapping):
        return siblings
    return {**current, **siblings} if siblings else current


def pointer(root: Any, ref: str) -> Any:
    """What the local reference `#/$defs/x` points to, or `None`."""
    if not ref.startswith("#"):
        return None
    current = root
    for part in ref.removeprefix("#").removeprefix("/").split("/") if ref not in ("#", "#/") else []:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(current, Mapping) and key in current:
            current = current[key]
        elif isinstance(current, list) and key.isdigit() and int(key) < len(current):
            current = current[int(key)]
        else:
            return None
    return current


def types(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types that a (resolved) schema names, or that its keywords and values imply; empty when open."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list | tuple):
        return tuple(declared)
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
    if values:
        return tuple(dict.fromkeys(type_name(v) for v in values))
    if "properties" in schema or "additionalProperties" in schema:
        return ("object",)
    if "items" in schema or "prefixItems" in schema:
        return ("array",)
    return ()


def type_name(value: Json) -> str:
    """The JSON type of a value: `integer` for 1 and `number` for 1.5, `boolean` for True."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def wrapper_key(schema: JsonObject | None) -> str | None:
    """The key of a response that only wraps one field (`{"flights": […]}`), which programs see unwrapped, or `None`.

    Decided by the protocol alone, so that the same tool always has the same shape: an object with exactly one
    property, which is required.
    """
    if schema is None:
        return None
    top = resolve(schema, schema)
    properties = top.get("properties", {})
    if types(top) != ("object",) or len(properties) != 1 or any(k in top for k in ("oneOf", "anyOf", "allOf")):
        return None
    if top.get("additionalProperties") not in (None, False):
        return None
    key = next(iter(properties))
    return key if key in top.get("required", ()) else None


def shape(value: Json, *, depth: int = 3) -> str:
    """A one-line sketch of a value's structure: `{id: string, stops: [{code: string}] × 3}`."""
    match value:
        case Mapping():
            if depth == 0:
                return "{…}"
            inside = ", ".join(f"{k}: {shape(v, depth=depth - 1)}" for k, v in list(value.items())[:12])
            return "{" + inside + (", …" if len(value) > 12 else "") + "}"
        case list():
            return f"[{shape(value[0], depth=depth - 1) if depth else '…'}] × {len(value)}" if value else "[]"
        case _:
            return type_name(value)
