"""Finds the records in JSON values, that is, objects in a response or request, and their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from probing.name_distance import scalar_parts, url_text
from protocols.naming import ID_WORDS, WRAPPERS, singular, snake
from protocols.schema import Json, JsonObject

_FIELD_WRAPPERS = ("attributes", "data", "fields", "properties")
"""Keys of inner objects that contain fields of the record itself: `{"id": 5, "data": {…}}`."""


def iter_records(
    node: Json, parent_noun: str = "", *, top: bool = False
) -> Iterator[tuple[JsonObject, str]]:
    """Yield (object, noun) for each object in a JSON value, outer objects first.

    The noun is the kind of record, as the key of the object shows it: for `{"users": [{"id": 5}]}`,
    the second pair is `({"id": 5}, "user")`. The fields of an inner object such as `data` are
    merged into those of the object around it.

    Args:
        node: any JSON value.
        parent_noun: the kind of record that the key of `node` shows; "" if `node` has no key.
        top: True to skip lists with more than one element, so that only a main record is found.
    """
    if isinstance(node, list):
        for part in node if not top or len(node) == 1 else ():
            yield from iter_records(part, parent_noun, top=top)
    elif isinstance(node, Mapping):
        wrapped = [node[key] for key in _FIELD_WRAPPERS if isinstance(node.get(key), Mapping)]
        merged: dict[str, Json] = {}
        for fields in (*wrapped, node):
            merged.update(fields)
        yield merged, parent_noun
        for name, part in node.items():
            if isinstance(part, Mapping | list):
                word = snake(str(name))
                noun = parent_noun if word in WRAPPERS else singular(word)
                yield from iter_records(part, noun, top=top)


def id_fields(record: JsonObject) -> Iterator[tuple[str, str | int]]:
    """Yield the name (in snake case) and value of each field of a record whose value is an id."""
    for name, value in record.items():
        is_scalar = isinstance(value, str | int) and not isinstance(value, bool)
        if is_scalar and is_id_name(str(name)):
            yield snake(str(name)), value


def is_id_name(name: str) -> bool:
    """Return True if a name ends with a word for an id, such as `user_id` or `UUID`."""
    return snake(name).rpartition("_")[2] in ID_WORDS


def has_list(node: Json) -> bool:
    """Return True if a value is a list, or an object that contains a list at any depth."""
    if isinstance(node, Mapping):
        return any(map(has_list, node.values()))
    return isinstance(node, list)


def argument_parts(arguments: JsonObject) -> list[tuple[str, Json]]:
    """Return all scalars in the arguments of a call as (name, value).

    The name is the key of the innermost object that contains the scalar, or the argument's name.
    """
    return [pair for name, value in arguments.items() for pair in scalar_parts(name, value)]


def value_texts(fields: JsonObject) -> Iterator[str]:
    """Yield the values of a record as texts for comparison.

    Strings are yielded as they are, and integers with their field's name, such as `count=5`.
    """
    for name, value in fields.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield part
            elif isinstance(part, int):
                yield f"{snake(name)}={url_text(part)}"
