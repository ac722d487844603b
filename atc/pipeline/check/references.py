"""Keys that an object may have because an argument of the call asks for more than the schema says.

Many services return references, which are objects with only a few keys of larger ones: an on-call
entry of PagerDuty has a `user` with `id` and `summary`. With `include=["users"]` the whole user is
returned instead.
"""

from __future__ import annotations

from atc.pipeline.check import types as t
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.schema import field_type, items_of
from protocols.naming import singular, snake

_MOST_OF_REFERENCE = 8
"""Maximum number of keys of an object that is taken for a reference."""
_KEYS_OF_REFERENCES = frozenset(
    {"id", "type", "name", "title", "summary", "self", "href", "url", "html_url", "uri", "link",
     "links", "key", "gid", "object", "kind", "ref", "slug", "display_name", "resource_type"}
)  # fmt: skip
_KEYS_OF_IDENTITY = frozenset(
    {"id", "self", "href", "url", "uri", "link", "key", "gid", "ref", "slug"}
)


def selected_type(core: Interpreter, record: t.Record, key: str) -> t.Type | None:
    """Return the type of an object's value under `key`; None if the object cannot have this key.

    The arguments of the call are taken into account. A key that they name may exist, and the whole
    object may be there instead of a reference to it.
    """
    found = field_type(record, key)
    selection = record.selection
    if selection is None or not isinstance(key, str):
        return found
    if found is not None:
        expanded = selection.chooses(key) and any(map(_may_be_id, t.members(found)))
        return t.ANY if expanded else found
    if selection.names(key) or (selection.chosen and _may_be_whole(core, record, key)):
        return t.ANY
    return None


def _may_be_id(value: t.Type) -> bool:
    """Return True if a value may be the id of an object, or a list of ids."""
    inner = items_of(value) if isinstance(value, t.Array) else value
    return any(isinstance(member, t.Atom) for member in t.members(inner))


def _may_be_whole(core: Interpreter, record: t.Record, key: str) -> bool:
    """Return True if an object is a reference, and the object that it stands for may have `key`.

    A whole response is no reference.
    """
    own = record.shape.properties.keys()
    is_whole = not record.origin.path or len(own) > _MOST_OF_REFERENCE
    if is_whole or not own & _KEYS_OF_IDENTITY:
        return False
    larger = [(name, keys) for name, keys in core.named_objects() if own < keys]
    place = next((step for step in reversed(record.origin.path) if step is not None), "")
    same = [keys for name, keys in larger if name == singular(snake(place))]
    if not same and own <= _KEYS_OF_REFERENCES:
        return True  # the object that it stands for may be described nowhere
    whole = same or [keys for _, keys in larger]
    return any(key in keys for keys in whole)
