"""Conversion of JSON Schemas to types, one level at a time, since recursive schemas have no end."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.kinds import not_none, type_of_constant
from atc.pipeline.check.response_location import ResponseLocation
from atc.pipeline.check.selection import Selection
from protocols.schema import SHOWN_FIELDS, JsonObject, resolve, resolve_pointer, types
from protocols.text_arguments import find_text_form
from protocols.validate import is_schema

_MOST_BRANCHES = 12
_DEEPEST = 64
"""Maximum depth at which a response is examined; a recursive schema is infinitely deep."""
_COMBINERS = ("allOf", "anyOf", "oneOf")
_OPENERS = ("patternProperties", "if", "dependentSchemas", "$dynamicRef", "$recursiveRef")
_SILENT = {
    "title", "description", "default", "example", "examples", "deprecated", "readOnly",
    "writeOnly", "required",
}  # fmt: skip
_MORE = ("additionalProperties", "unevaluatedProperties")

Fragments = list[JsonObject]


def convert(schema: Any, document: t.ResponseSchema, origin: ResponseLocation) -> t.Type:
    """Return the type of the values that conform to a JSON Schema."""
    if len(origin.path) > _DEEPEST:
        return t.ANY
    done = document.types.get((id(schema), origin))
    if done is not None:
        return done
    known = document.branches.get(id(schema))
    if known is None:
        known = document.branches[id(schema)] = (schema, _branches(schema, document, 0))
    result: t.Type = t.ANY
    if known[1] is not None:
        result = t.join(*(_conjunction(fragments, document, origin) for fragments in known[1]))
    document.types[id(schema), origin] = result
    return result


def _branches(schema: Any, document: t.ResponseSchema, depth: int) -> list[Fragments] | None:
    """Return the alternatives of a schema, each as a list of schemas that apply together.

    With `anyOf` or `oneOf` there are several. Return None if nothing certain is known.
    """
    resolved = _resolve_known(schema, document.root)
    if resolved is None or depth > 8:
        return None
    shown = [one] if is_schema(one := resolved.get(SHOWN_FIELDS)) and one else []
    if not any(key in resolved for key in _COMBINERS):
        return [[resolved, *shown]]
    result: list[Fragments] = [
        [{key: value for key, value in resolved.items() if key not in _COMBINERS}, *shown]
    ]
    for part in resolved.get("allOf") or ():
        result = _product(result, _branches(part, document, depth + 1))
    for key in ("anyOf", "oneOf"):
        if resolved.get(key):
            options = _option_branches(resolved[key], document, depth + 1)
            if options is None:
                return None
            result = _product(result, options)
    return result or None


def _resolve_known(schema: Any, root: JsonObject) -> JsonObject | None:
    """Return the schema to which the `$ref` of a schema leads, or the schema itself without one.

    Return None if the schema is not an object or its `$ref` leads nowhere.
    """
    if not isinstance(schema, Mapping):
        return None
    ref = schema.get("$ref")
    if isinstance(ref, str) and not isinstance(resolve_pointer(root, ref), Mapping):
        return None
    return resolve(schema, root)


def _option_branches(
    options: list[Any], document: t.ResponseSchema, depth: int
) -> list[Fragments] | None:
    """Return the alternatives of all options of an `anyOf` or `oneOf` in one list.

    An option may itself have several alternatives. Return None if those of one option are unknown.
    """
    result: list[Fragments] = []
    for option in options:
        branches = _branches(option, document, depth)
        if branches is None:
            return None
        result += branches
    return result


def _product(left: list[Fragments], right: list[Fragments] | None) -> list[Fragments]:
    """Return each alternative of `left` combined with each of `right`; [] if there are too many."""
    if right is None or len(left) * len(right) > _MOST_BRANCHES:
        return []
    return [[*a, *b] for a in left for b in right]


def _conjunction(
    fragments: Fragments, document: t.ResponseSchema, origin: ResponseLocation
) -> t.Type:
    """Return the type of a value that conforms to all of the schemas `fragments`."""
    fragments = [part for part in fragments if not part.keys() <= _SILENT]
    possible: set[str] | None = None
    for part in fragments:
        if named := set(types(part)):
            named |= {"integer"} if "number" in named else set()
            possible = named if possible is None else possible & named
    if not possible:
        return t.ANY
    if "number" in possible:
        possible.discard("integer")
    if any(
        part.get("nullable") is True or None in (listed_values(part) or ()) for part in fragments
    ):
        possible.add("null")
    return t.join(*(_one(name, fragments, document, origin) for name in sorted(possible)))


def listed_values(part: JsonObject) -> list[Any] | None:
    """Return the values that a schema lists in `enum` or `const`, or None if it lists none."""
    if "const" in part:
        return [part["const"]]
    listed = part.get("enum")
    return list(listed) if isinstance(listed, list | tuple) else None


def _one(
    name: str, fragments: Fragments, document: t.ResponseSchema, origin: ResponseLocation
) -> t.Type:
    match name:
        case "string":
            if not document.strict:
                return t.STR
            return _text(fragments, lists_values=document.lists_values)
        case "integer":
            # An observed integer may be a number that happened to be whole.
            return t.INT if document.strict else t.NUMBER
        case "number":
            return t.NUMBER
        case "boolean":
            return t.BOOL
        case "null":
            return t.Null(origin)
        case "object":
            return t.Record(_object(fragments, document), origin)
        case "array":
            return t.Array(_array(fragments, document), origin)
        case _:
            return t.ANY


def _text(fragments: Fragments, *, lists_values: bool) -> t.Type:
    for part in fragments if lists_values else ():
        values = [value for value in listed_values(part) or () if isinstance(value, str)]
        if values and len(values) <= t.MOST_VALUES:
            return t.Atom("str", tuple(values), listed=True)
    patterns = [part["pattern"] for part in fragments if isinstance(part.get("pattern"), str)]
    form = next(filter(None, map(find_text_form, fragments)), None)
    return t.Atom("str", pattern=patterns[0] if len(patterns) == 1 else None, form=form)


def _object(fragments: Fragments, document: t.ResponseSchema) -> t.ObjectShape:
    key = (0, *map(id, fragments))
    if key in document.shapes:
        known: t.ObjectShape = document.shapes[key]
        return known
    properties: dict[str, Any] = {}
    for part in fragments:
        for name, schema in (part.get("properties") or {}).items():
            if name in properties and properties[name] is not schema:
                schema = {"allOf": [properties[name], schema]}
            properties[name] = schema
    filled = any(part.get("required") for part in fragments)
    shape = document.shapes[key] = t.ObjectShape(
        document, properties, _more(fragments, properties, document), filled
    )
    return shape


def _more(fragments: Fragments, properties: Mapping[str, Any], document: t.ResponseSchema) -> Any:
    """Return the schema of an object's values under keys that its schemas do not name.

    `{}` allows any value under these keys; False means that there are no other keys.
    """
    if any(key in part for part in fragments for key in _OPENERS):
        return {}
    declared = [
        part[key] for part in fragments for key in _MORE if key in part and part[key] is not False
    ]
    if declared:
        return declared[0] if len(declared) == 1 and isinstance(declared[0], Mapping) else {}
    # A property without a name is a mistake of the document, whose other names may be wrong too.
    return False if document.strict and properties and "" not in properties else {}


def _array(fragments: Fragments, document: t.ResponseSchema) -> t.ArrayShape:
    key = (1, *map(id, fragments))
    if key in document.shapes:
        known: t.ArrayShape = document.shapes[key]
        return known
    listed = [part["items"] for part in fragments if "items" in part]
    uniform = bool(listed) and not any("prefixItems" in part for part in fragments)
    items: Any = {}
    if uniform:
        items = listed[0] if len(listed) == 1 else {"allOf": listed}
    shape = document.shapes[key] = t.ArrayShape(document, items)
    return shape


def field_type(record: t.Record | t.Mapped, key: Any) -> t.Type | None:
    """Return the type of an object's value under `key`, or None if it cannot have this key."""
    if not isinstance(record, t.Mapped) or not record.cell.open:
        spend(len(record.refined))
        for known, value in record.refined:
            if known == key:
                return value
    if isinstance(record, t.Mapped):
        cell = record.cell
        found = [cell.keys.get(key), assume_filled(cell.value) if cell.open else None, cell.default]
        kinds = [kind for kind in found if kind is not None]
        return t.join(*kinds) if kinds else None
    if not isinstance(key, str):
        return None
    shape = record.shape
    if key not in shape.properties and shape.is_closed:
        return None
    kind = convert(shape.properties.get(key, shape.more), shape.document, record.origin.child(key))
    return _inherit_marks(kind, record)


def fixed_value(record: t.Record, key: str) -> list[Any]:
    """Return the only value that an object can have under `key`, as a list of one, or [].

    A schema fixes it with `const`, or with an `enum` of one value.
    """
    schema = record.shape.properties.get(key)
    branches = None if schema is None else _branches(schema, record.shape.document, 0)
    if branches is None or len(branches) != 1:
        return []
    listed = [values for part in branches[0] if (values := listed_values(part)) is not None]
    return listed[0] if listed and len(listed[0]) == 1 else []


def assume_filled(value: t.Type) -> t.Type:
    """Return `ANY` if `value` is `NEVER`, the item type of a list that seems to be empty.

    If the program reads an item of such a list, code that the check did not analyse must have
    filled the list. Any other type is returned unchanged.
    """
    return t.ANY if value is t.NEVER else value


def item_type(array: t.Array) -> t.Type:
    """Return the type of the items of a JSON array, according to its schema."""
    found = convert(array.shape.items, array.shape.document, array.origin.child(None))
    return _inherit_marks(found, array)


def _inherit_marks(value: t.Type, parent: t.Record | t.Array) -> t.Type:
    """Return the type of a field or item with the marks of the object or array that contains it."""
    silenced = silence_nulls(value) if parent.null_checked else value
    return silenced if parent.selection is None else with_selection(silenced, parent.selection)


def with_selection(value: t.Type, selection: Selection) -> t.Type:
    """Return the type of a response, or a part of it, with what the arguments of its call name."""
    return t.join_all(
        replace(member, selection=selection) if isinstance(member, t.Record | t.Array) else member
        for member in t.members(value)
    )


def items_of(value: t.Type, node: ast.expr | None = None) -> t.Type:
    """Return the type of the items of a value that is iterated. Nothing is reported.

    If the type of the value has several alternatives, the result is the union of their item types.
    `node` is the iterated expression, or None if no statement iterates the value.
    """
    return t.join_all(_items(member, node) for member in t.members(value))


def _items(member: t.Type, node: ast.expr | None) -> t.Type:
    match member:
        case t.Array():
            return item_type(member)
        case t.Listing(cell):
            return cell.item
        case t.Tuple(items):
            return t.join(*items)
        case t.Iterating(item):
            return item
        case t.Record(shape=shape):
            return (
                t.Atom("str", None, t.KeyOf(member, node))
                if node is not None and shape.properties
                else t.STR
            )
        case t.Mapped(cell):
            spend(8 * len(cell.keys))
            return t.join(*map(type_of_constant, cell.keys), cell.key)
        case t.Atom("str"):
            return t.STR
        case _:
            return t.ANY


def value_type(record: t.Record) -> t.Type:
    """Return the type of the values of a JSON object, whatever their key.

    The type is only known for an object without named properties, else it is `ANY`.
    """
    if record.shape.properties or record.shape.is_closed:
        return t.ANY
    return field_type(record, "*") or t.ANY


def silence_nulls(value: t.Type) -> t.Type:
    """Return the type `value` with its nullable fields marked as tested for None.

    Uses of these fields are then not reported. This applies at any depth of a response, but only to
    the first level of a dict that the program created.
    """
    return t.join_all(map(_silence_member_nulls, t.members(not_none(value))))


def _silence_member_nulls(member: t.Type) -> t.Type:
    match member:
        case t.Record() | t.Array():
            return replace(member, null_checked=True)
        case t.Mapped(cell):
            spend(8 * len(cell.keys))
            return replace(
                member,
                refined=tuple((k, not_none(field_type(member, k) or t.ANY)) for k in cell.keys),
            )
        case _:
            return t.Null() if isinstance(member, t.Null) else member


def list_keys(record: t.Record) -> list[str]:
    """Return the keys of a response object whose values may be lists."""
    shape = record.shape
    spend(8 * len(shape.properties))
    keys = []
    for key, schema in shape.properties.items():
        kinds = t.members(convert(schema, shape.document, record.origin))
        if any(isinstance(kind, t.Array) for kind in kinds):
            keys.append(key)
    return keys
