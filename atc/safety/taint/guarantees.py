"""Check of what a schema guarantees for a value, for instance that it is in a fixed list.

A guarantee holds only if no alternative in the schema avoids it. So every branch of `anyOf` and
`oneOf` must guarantee it, while one part of `allOf` is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atc.core.json_paths import JsonPath
from protocols.schema import Json, JsonObject, resolve, resolve_pointer, types

_MOST_VISITED = 2_000
"""Maximum number of schemas that are visited for one value. Larger schemas guarantee nothing."""
_NO_CHOICE = {"boolean", "null"}
"""JSON types that have only a few fixed values."""


class Guarantees:
    """The guarantees that an argument's schema gives for the argument's value and values within it.

    `root` is the schema in which references (`$ref`) are looked up.
    """

    def __init__(self, schema: Json, root: JsonObject, value: Json) -> None:
        self._schema = schema
        self._root = root
        self._value = value

    def is_listed(self, path: JsonPath, *, only_one: bool = False) -> bool:
        """Return True if the value at `path` is one of the values that the schema lists for it.

        A schema lists values with `enum` or `const`. It must allow no other values or, if
        `only_one` is True, only a single value.
        """
        is_one = False

        def lists(schema: JsonObject, value: Json) -> bool:
            nonlocal is_one
            if (
                not isinstance(value, list | Mapping)
                and types(schema)
                and {*types(schema)} <= _NO_CHOICE
            ):
                return not only_one
            choices = [schema["const"]] if "const" in schema else schema.get("enum")
            if not isinstance(choices, list) or (only_one and len(choices) > 1):
                return False
            is_one = is_one or any(_equal(value, choice) for choice in choices)
            return True

        return _Search(self._root, lists).is_guaranteed(self._schema, self._value, path) and is_one

    def has_guaranteed_keyword(self, path: JsonPath, keyword: str, expected: Json) -> bool:
        """Return True if every alternative of the schema has `keyword` with the value `expected`.

        The keyword may be in the schema at `path`, or in that of an object or list around it.
        """

        def has(schema: JsonObject, _: Json) -> bool:
            return schema.get(keyword) is expected

        return _Search(self._root, has).is_guaranteed(self._schema, self._value, path)


class _Search:
    """Checks whether a test succeeds for a value in every alternative of its schema.

    The test is called with a schema and the value that the schema describes.
    """

    def __init__(self, root: JsonObject, test: Callable[[JsonObject, Json], bool]) -> None:
        self._root = root
        self._test = test
        self._left = _MOST_VISITED

    def is_guaranteed(
        self, schema: Json, value: Json, path: JsonPath, above: frozenset[str] = frozenset()
    ) -> bool:
        """Return True if the test succeeds in every alternative of `schema`.

        `schema` describes `value`. In each alternative, it is enough if the test succeeds for
        `value` itself, or for one of the members and items that `path` leads through. `above` are
        the references (`$ref`) that led to this schema. They are not followed again.
        """
        self._left -= 1
        if not isinstance(schema, Mapping) or self._left < 0:
            return False
        if self._test(schema, value) or self._by_reference(schema, value, path, above):
            return True
        if any(self.is_guaranteed(part, value, path, above) for part in _schemas(schema, "allOf")):
            return True
        alternatives = [_schemas(schema, "anyOf"), _schemas(schema, "oneOf")]
        if "then" in schema and "else" in schema:
            alternatives.append([schema["then"], schema["else"]])
        if any(self._in_every(branches, value, path, above) for branches in alternatives):
            return True
        return bool(path) and self._below(schema, value, path)

    def _by_reference(
        self, schema: JsonObject, value: Json, path: JsonPath, above: frozenset[str]
    ) -> bool:
        ref = schema.get("$ref")
        if not isinstance(ref, str) or ref in above:
            return False
        return self.is_guaranteed(resolve_pointer(self._root, ref), value, path, above | {ref})

    def _in_every(
        self, branches: list[Json], value: Json, path: JsonPath, above: frozenset[str]
    ) -> bool:
        """Return True if the test succeeds in each of the branches that may apply to the value.

        The branches are alternatives of a schema, such as those of `anyOf`.
        """
        possible = [branch for branch in branches if not self._is_excluded_by(branch, value)]
        return bool(possible) and all(
            self.is_guaranteed(branch, value, path, above) for branch in possible
        )

    def _is_excluded_by(self, branch: Json, value: Json) -> bool:
        """Return True if a branch of a schema cannot apply to the value, because of its type.

        Only objects, lists and scalars are distinguished: texts, numbers, booleans and null count
        as the same type.
        """
        kinds = {*types(resolve(branch, self._root))}
        if isinstance(value, Mapping):
            return bool(kinds) and "object" not in kinds
        if isinstance(value, list):
            return bool(kinds) and "array" not in kinds
        return bool(kinds) and kinds <= {"object", "array"}

    def _below(self, schema: JsonObject, value: Json, path: JsonPath) -> bool:
        """Return True if the test certainly succeeds for the next member or item on the path.

        `patternProperties` are not used, so nothing is certain about a member that only they
        describe.
        """
        step = path[0]
        if isinstance(step, int) and isinstance(value, list):
            first = _schemas(schema, "prefixItems")
            inner = first[step] if step < len(first) else schema.get("items")
            return step < len(value) and self.is_guaranteed(inner, value[step], path[1:])
        if not isinstance(step, str) or not isinstance(value, Mapping) or step not in value:
            return False
        own = schema.get("properties", {})
        unknown = None if "patternProperties" in schema else schema.get("additionalProperties")
        return self.is_guaranteed(own.get(step, unknown), value[step], path[1:])


def _schemas(schema: JsonObject, keyword: str) -> list[Json]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _equal(one: Json, other: Json) -> bool:
    """Return True if both are the same JSON value. `1` and `True` are not the same."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
