"""JSON Schema validation with bounded time and memory, for untrusted schemas and values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import jsonschema_rs

from protocols.schema import (
    Json,
    JsonObject,
    dotted_path,
    iter_member_schemas,
    iter_parts,
    resolve_pointer,
    subschemas,
)

MOST_BACKTRACKS = 10_000
"""Maximum number of backtracking steps when a pattern is matched against one text.

Only patterns with look-around or back-references backtrack.
"""


def validator(schema: JsonObject, *, formats: bool = True) -> jsonschema_rs.Draft202012Validator:
    """Return a validator of jsonschema-rs for `schema`. It fetches no references.

    The time that its methods take depends on schema and value; `BoundedValidator` limits it.

    Raises:
        ValueError: the schema is invalid.
    """
    patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=MOST_BACKTRACKS)
    return jsonschema_rs.Draft202012Validator(
        dict(schema), validate_formats=formats, offline=True, pattern_options=patterns
    )


def is_schema(schema: Json) -> bool:
    """Return True if a value is a valid JSON Schema."""
    try:
        return isinstance(schema, Mapping) and bool(validator(schema))
    except ValueError:
        return False


def first_error(
    checks: jsonschema_rs.Validator, value: Json
) -> jsonschema_rs.ValidationError | None:
    """Return the first error that a validator finds in `value`, or None.

    `iter_errors` is not used: it builds all errors first, each with a copy of the invalid part.
    """
    try:
        checks.validate(value)
    except jsonschema_rs.ValidationError as error:
        return error
    return None


MOST_STEPS = 5_000_000
"""Maximum number of steps of one validation.

In a step, one part of the value is compared with one part of the schema.
"""
MOST_PARTS = 200_000
"""Maximum number of parts of a schema.

Also the maximum number of schemas that apply to the parts of a value, counted over all parts.
"""
_MOST_AT_ONE_PLACE = 10_000  # schemas for one part of a value
_CHARACTERS_PER_STEP = 40  # read by a pattern of one state in the time of one comparison
_RETRIES = re.compile(
    r"\(\?(?:[=!>(]|<[=!])|\\[1-9gkK]|[*+?}]\+"
)  # look-around and back-references
_BRANCHES = ("anyOf", "oneOf")
_COMBINED = (
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
)
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")


class Violation(NamedTuple):
    """The first rule of a schema that a value breaks.

    `path` is the path of the invalid part in the value, and `clause` is the path of the rule in the
    schema. `error` is the error of jsonschema-rs, or None if another check failed.
    """

    path: str
    message: str
    clause: str = ""
    error: jsonschema_rs.ValidationError | None = None


class TooExpensive(ValueError):
    """Validation of this value against this schema would take too long."""


class BoundedValidator:
    """Validates values against one schema in bounded time and memory. Thread-safe.

    Raises:
        ValueError: the schema is invalid.
    """

    def __init__(self, schema: JsonObject, *, formats: bool = True) -> None:
        self._size = sum(
            1 + (len(part) if isinstance(part, Mapping) else 0) for part in iter_parts(schema)
        )
        self._schema = schema
        self._formats = formats
        self._validator = validator(schema if self._size <= MOST_PARTS else {}, formats=formats)
        inner = (
            part for part in iter_parts(schema) if isinstance(part, Mapping) and part is not schema
        )
        # References inside an embedded document (with `$id`) resolve within that document.
        self._has_documents = any(
            isinstance(own := part.get("$id"), str) and own[:1] != "#" for part in inner
        )
        self._places: dict[tuple[int, ...], _SchemaPlace] = {}
        self._root: _SchemaPlace | None = None
        self._met = 0  # number of schemas of all parts so far

    def is_valid(self, value: Json) -> bool:
        """Return True if `value` conforms to the schema.

        Raises:
            TooExpensive: validation would take too long.
            ValueError: the value is not JSON.
        """
        if self._size > MOST_PARTS:
            raise TooExpensive(f"the schema has more than {MOST_PARTS:,} parts")
        self._root = self._root or self._place([self._schema])  # once, because each new part counts
        spent = 0
        left = [(value, self._root)]
        while left:
            whole, place = left.pop()
            spent += len(place.schemas) + place.comparisons
            if isinstance(whole, str):
                spent += len(whole) * place.states // _CHARACTERS_PER_STEP
            elif isinstance(whole, Mapping):
                spent += sum(map(len, whole)) * place.key_states // _CHARACTERS_PER_STEP
            if isinstance(whole, list | tuple | Mapping):
                other: type = str if isinstance(whole, Mapping) else int
                inner = whole.items() if isinstance(whole, Mapping) else enumerate(whole)
                left += [
                    (part, self._below(place, key if key in place.own_keys else other))
                    for key, part in inner
                ]
            if spent > MOST_STEPS:
                raise TooExpensive("it and its schema are too large together")
        return self._validator.is_valid(value)

    def find_violation(self, value: Json) -> Violation | None:
        """Return the first rule of the schema that `value` breaks, or None if it conforms.

        If the value cannot be validated, the reason is returned as a violation.
        """
        try:
            if self.is_valid(value):
                return None
            error = first_error(
                validator(_without_branches(self._schema), formats=self._formats), value
            )
        except (ValueError, RecursionError) as problem:
            return Violation("", f"not compared with its schema: {problem}")
        return (
            _violation(error)
            if error is not None
            else Violation("", "it does not conform to its schema")
        )

    def _below(self, place: _SchemaPlace, key: Any) -> _SchemaPlace:
        """Return the `_SchemaPlace`, that is, the schemas, for one property or item of a value.

        `place` is the `_SchemaPlace` of the value. `key` is a property name, an index, or the type
        `str` or `int` for any name or index without a schema of its own.
        """
        if key not in place.children:
            place.children[key] = self._place([*iter_member_schemas(place.schemas, key)])
        return place.children[key]

    def _place(self, schemas: Sequence[Any]) -> _SchemaPlace:
        """Return the `_SchemaPlace` of a part of a value that must conform to all these schemas.

        Schemas that they combine (`allOf`, …) are added.
        """
        found = self._expand_combinations(schemas)
        key = tuple(map(id, found))
        if key not in self._places:
            names = self._expand_combinations(
                [schema["propertyNames"] for schema in found if "propertyNames" in schema]
            )
            self._places[key] = _SchemaPlace(found, names)
        return self._places[key]

    def _expand_combinations(self, schemas: Sequence[Any]) -> list[JsonObject]:
        """Return these schemas, and those that they apply to the same value by `$ref`, `allOf` etc.

        A schema is listed as often as a validator checks it.

        Raises:
            TooExpensive: there are too many, or a reference cannot be followed.
        """
        found: list[JsonObject] = []
        left = list(schemas)
        while left:
            schema = left.pop()
            self._met += 1
            if len(found) > _MOST_AT_ONE_PLACE or self._met > MOST_PARTS:
                raise TooExpensive("its schema is too tangled, or refers to itself at one place")
            if isinstance(schema, Mapping):
                found.append(schema)
                left += subschemas(schema, *_COMBINED)
                for ref in (schema.get("$ref"), schema.get("$dynamicRef")):
                    if isinstance(ref, str):
                        target = (
                            resolve_pointer(self._schema, unquote(ref))
                            if re.match("#(/|$)", ref)
                            else None
                        )
                        if target is None or self._has_documents:
                            raise TooExpensive(f"its reference {ref[:80]!r} is not followed")
                        left.append(target)
        return found


class _SchemaPlace:
    """All schemas that apply to one part of a value, and the cost of checking this part.

    `names` are the schemas for the keys of the part, if it is an object (`propertyNames`).
    """

    def __init__(self, schemas: Sequence[JsonObject], names: Sequence[JsonObject]) -> None:
        self.schemas = schemas
        self.children: dict[Any, _SchemaPlace] = {}
        self.own_keys: set[str | int] = set()
        """Keys and indexes of the part that have schemas of their own."""
        self.comparisons = 3  # to read a value
        self.states = sum(_states(schema["pattern"]) for schema in schemas if "pattern" in schema)
        self.key_states = sum(
            _CHARACTERS_PER_STEP + _states(one.get("pattern", "")) for one in names
        )
        """Number of pattern states that each character of a key is compared with.

        `states` is the same for a text.
        """
        for schema in schemas:
            self.own_keys.update(schema.get("properties") or ())
            self.own_keys.update(range(len(schema.get("prefixItems") or ())))
            self.comparisons += sum(
                isinstance(one, list | Mapping) for one in schema.get("enum") or ()
            )
            self.key_states += sum(
                _CHARACTERS_PER_STEP + _states(one) for one in schema.get("patternProperties") or ()
            )


def _states(pattern: str) -> int:
    """Return an upper bound of the number of states that a regular expression needs.

    It is a measure of the time that matching takes. A counted repetition such as `a{100}` counts as
    100 times the repeated part.
    """
    total = len(pattern)
    repeated = 1
    for group, least, most in re.findall(r"(\)?)\{(\d{1,9})(?:,(\d{0,9}))?\}", pattern):
        count = max(int(least), int(most or 0), 1)
        total, repeated = (total, repeated * count) if group else (total + count, repeated)
    return total * repeated + (2_000 if _RETRIES.search(pattern) else 0)


def _without_branches(schema: Any) -> Any:
    """Return a schema that reports one error for each `anyOf` and `oneOf`, and not one per option.

    It allows the same values, except that `unevaluated…` is removed, because that depends on the
    options.
    """
    if isinstance(schema, list):
        return [_without_branches(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed = {k: v if k in ("const", "enum") else _without_branches(v) for k, v in schema.items()}
    for keyword in _UNEVALUATED:
        changed.pop(keyword, None)
    branches = [_branch(k, changed.pop(k)) for k in _BRANCHES if isinstance(schema.get(k), list)]
    return changed | {"allOf": [*changed.get("allOf", []), *branches]} if branches else changed


def _branch(keyword: str, options: list[Any]) -> JsonObject:
    """Return a schema that replaces an `anyOf` or `oneOf` with these options.

    With this schema, the validator reports one error instead of one for each option. But if the
    type of the value selects an option, as for null, the errors of this option are reported.
    """
    others = [one for one in options if one != {"type": "null"}]
    if len(others) == 1 < len(options):
        return {"if": {"type": "null"}, "else": others[0]}
    chosen: JsonObject = {"not": {"not": {keyword: options}}}
    groups = [_type_group(option) for option in options]
    if all(groups) and sum(map(len, groups)) == len(frozenset().union(*groups)):
        for group, option in zip(groups, options, strict=True):
            chosen = {"if": {"type": sorted(group)}, "then": option, "else": chosen}
    return chosen


def _type_group(option: Any) -> frozenset[str]:
    """Return the types that an option of `anyOf` declares, or an empty set if it declares none.

    An integer is a number.
    """
    declared = option.get("type", ()) if isinstance(option, Mapping) else ()
    named = {declared} if isinstance(declared, str) else {*declared}
    return frozenset("number" if name == "integer" else name for name in named)


def _violation(error: jsonschema_rs.ValidationError) -> Violation:
    """Return an error of the validator as a violation, in terms of the original schema.

    The validator has checked the value against the result of `_without_branches`.
    """
    clause = [*map(str, error.schema_path)]
    message = error.message
    inner = error.kind.as_dict()["schema"].get("not") if error.kind.name == "not" else None
    keyword = (
        next((one for one in _BRANCHES if one in inner), None)
        if isinstance(inner, Mapping)
        else None
    )
    if keyword is not None:
        clause[-3:] = [keyword]
        how = "any" if keyword == "anyOf" else "exactly one"
        value = json.dumps(error.instance)
        message = (
            f"{value} is not valid under {how} of the schemas listed in the {keyword!r} keyword"
        )
    return Violation(dotted_path(error.instance_path), message, "/".join(clause), error)


def find_violation(schema: JsonObject, value: Json) -> Violation | None:
    """Return the first rule of `schema` that `value` breaks, or None if the value conforms.

    Raises `ValueError` for an invalid schema.
    """
    return BoundedValidator(schema).find_violation(value)
