"""Records in JSON values: the objects in a response or request, and the fields that hold ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from probing.name_distance import scalar_parts, url_text
from protocols.naming import ID_WORDS, WRAPPERS, singular, snake
from protocols.schema import Json, JsonObject

_FIELD_WRAPPERS = ("attributes", "data", "fields", "properties")
"""Keys that hold a part of a record's own fields."""


def iter_records(
    node: Json, parent_noun: str = "", *, top: bool = False
) -> Iterator[tuple[JsonObject, str]]:
    """Yield each object in a value with the noun of the key that holds it.

    The fields inside a wrapper such as `data` are merged into the object that has the wrapper.

    Args:
        node: any JSON value.
        parent_noun: the noun of the key that holds `node`.
        top: True to leave out the elements of lists that do not have exactly one.
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
    """Yield the name (in snake case) and value of each field of a record that holds an id."""
    for name, value in record.items():
        is_scalar = isinstance(value, str | int) and not isinstance(value, bool)
        if is_scalar and is_id_name(str(name)):
            yield snake(str(name)), value


def is_id_name(name: str) -> bool:
    """Return True if the last word of a name is one that ids have: `user_id`, `UUID`."""
    return snake(name).rpartition("_")[2] in ID_WORDS


def has_list(node: Json) -> bool:
    """Return True if a value is a list or holds one in its objects."""
    if isinstance(node, Mapping):
        return any(map(has_list, node.values()))
    return isinstance(node, list)


def argument_parts(arguments: JsonObject) -> list[tuple[str, Json]]:
    """Return the (name, value) pairs of all scalars in the arguments of a call."""
    return [pair for name, value in arguments.items() for pair in scalar_parts(name, value)]


def value_texts(fields: JsonObject) -> Iterator[str]:
    """Yield the strings of a record as they are, and its integers as `name=5`."""
    for name, value in fields.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield part
            elif isinstance(part, int):
                yield f"{snake(name)}={url_text(part)}"
