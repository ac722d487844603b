"""Decides whether the keys of JSON objects are names of fields or data.

The keys of a map may be names of people, codes or passwords. There are two rules:

- `own_data_keys` is for schemas that only the owner of the responses sees. A key is the name of a
  field if a programmer may have written it. Objects are a map only if this is evident.
- `shared_data_keys` is for schemas that other people see. A key is data unless there is evidence
  that it is the name of a field: it is spelled like an identifier, and its words are usual in field
  names or occur in the tool's document; or several different records have the key, and most of
  their other keys are such names.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from protocols.naming import WORDS, singular, snake
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, type_name, types

_DATA = re.compile(
    r"-?\d+(\.\d+)?|\d{4}-\d\d(-\d\d.*)?|\d{1,2}:\d\d(:\d\d)?"
    r"|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}|[A-Za-z]{1,5}[_-]?\d{4,}|[^@\s]+@[^@\s]+\.[^@\s]+"
    r"|\d{1,3}(\.\d{1,3}){3}([:/]\d+)?|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"
    r"|[A-Za-z][\w+.-]*://\S+|/\S*"
    r"|([A-Za-z0-9-]+\.)+(com|dev|example|io|local|net|org|test)(:\d+)?|[^\s/]+\.(csv|html|js|json"
    r"|log|md|py|txt|ya?ml)"
)
"""Keys whose form shows that they are data: numbers, dates, ids, hashes, addresses, paths, host
names and file names."""
_IDENTIFIER = re.compile(r"[@$]?[^\W\d][\w.$:@-]{0,79}")
_OWN_IDENTIFIER = re.compile(r"[@$_]*[^\W\d][\w.$:@-]*")
_CODE = re.compile(
    r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]{3,}(-[A-Z0-9]+)+|(?=[A-Z]*\d)[A-Z]*\d+[A-Z]+[A-Z0-9]{4,}"
    r"|[A-Z]{1,4}\d{4,}[A-Z0-9]*"
    r"|(?=.*[a-z])(?=.*[A-Z])(\w*?\d+[A-Za-z_-]+){2,}\d+\w*"
)
"""Keys that look like codes: capital letters and digits, in groups or mixed, or letters of both
cases with digits between them."""
_LONGEST_WRITTEN = 60
"""Maximum number of characters of a key that a programmer may have written."""
_MOST_HEADING = 6
"""Maximum number of words of a key that is the heading of a table column, such as `Ship Date`."""
_MOST_OWN_FIELDS = 20
"""If an object's values have one type, and most of its keys are unknown words, they still count as
names of fields if there are at most this many keys. In a larger object, unknown words are data."""
_CAPITALS = re.compile(r"[A-Z]{1,4}")
"""A short word in capital letters is a code, such as that of a country. Exceptions are listed in
`_SPELLED_IN_CAPITALS`."""
_SPELLED_IN_CAPITALS = frozenset({"ID", "IP", "URI", "URL", "UUID"})
_COUNTED = frozenset("hpqxyz")
"""Letters that may be followed by a number in the name of a field (`x1`, `q3`, `p95`). Any other
letter with a number is a code (`f32`, `k7`)."""
_SHORTEST_PART = 3
_KNOWN = WORDS["fields"]["known"]

_MOST_FIELDS = {"object": 40, "array": 40}
_MOST_SCALARS = 100
"""Maximum number of fields of a record whose values are all scalars of one type.

An object with more keys is a map."""
_RECORDS = 3
"""Minimum number of different records. A key that they all have may then count as a field name."""
_MOST_COMPARED = 1_000
"""Maximum number of objects that are compared with each other."""


def document_words(protocol: ToolProtocol) -> frozenset[str]:
    """Return the words in a tool's document, and the field names of its output schema.

    The tool's document is not secret, so these words cannot be private data.
    """
    texts = [protocol.name, protocol.title, protocol.description]
    for name, schema in protocol.parameters.items():
        texts += [name, str(schema.get("description", "")) if isinstance(schema, dict) else ""]
    return frozenset(
        singular(word) for text in texts for word in snake(text[:10_000]).split("_")
    ) | frozenset(property_names(protocol.output_schema))


def property_names(schema: Any, depth: int = 0) -> Iterable[str]:
    """Yield the names of the properties that a schema declares."""
    if depth > 32:
        return
    if isinstance(schema, list):
        for part in schema:
            yield from property_names(part, depth + 1)
    elif isinstance(schema, dict):
        for part in schema.values():
            yield from property_names(part, depth + 1)
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()


def own_data_keys(
    objects: Sequence[JsonObject], words: Collection[str] = frozenset()
) -> frozenset[str]:
    """Return the keys of JSON objects that evidently are data, not names of fields.

    Such keys are ids or dates, for example. The result is used for a schema that only the owner of
    the responses sees.

    Args:
        objects: all objects at one response path.
        words: words and keys in the tool's document.
    """
    keys = _keys_of(objects)
    kinds = _kinds(objects)
    if _are_too_many(keys, kinds):
        return keys
    known = frozenset(key for key in keys if key in words or _is_spoken(key, words))
    data = frozenset(key for key in keys - known if not _is_written(key, words))
    unknown = keys - known - data
    are_mostly_data = len(data) > 1 and len(data) >= len(unknown)
    if are_mostly_data or (data and kinds == {"object"} and _are_alike(objects)):
        return data | unknown  # beside data, an unknown word is data, too
    if len(kinds) == 1 and _are_map_keys(objects, keys, known):
        return data | unknown
    return data


def _are_map_keys(
    objects: Sequence[JsonObject],
    keys: frozenset[str],
    known: frozenset[str],
) -> bool:
    """Return True if objects are maps: their keys are codes, or mostly unknown words.

    Args:
        objects: all objects at one response path. Their values have one type.
        keys: the keys of the objects.
        known: those of the keys that are known to be names of fields.
    """
    codes = [key for key in keys - known if _CAPITALS.fullmatch(key)]
    if len(codes) == len(keys) > 1:
        return True  # codes of currencies or countries
    has_objects = _kinds(objects) == {"object"}
    is_large = len(keys) > _MOST_OWN_FIELDS or (has_objects and len(keys) >= _RECORDS)
    return is_large and 2 * len(keys - known) > len(keys) and _are_alike(objects)


def shared_data_keys(
    objects: Sequence[JsonObject], words: Collection[str] = frozenset()
) -> frozenset[str]:
    """Return the keys of JSON objects that may be data, not names of fields.

    Such keys may be names of people, for example. The result is used for a schema that other people
    than the owner of the responses see.

    Args:
        objects: all objects at one response path.
        words: words and keys in the tool's document.
    """
    keys = _keys_of(objects)
    kinds = _kinds(objects)
    if _are_too_many(keys, kinds):
        return keys
    if (
        kinds == {"object"}
        and len(keys) > 1
        and not keys <= frozenset(words)
        and _are_alike(objects)
    ):
        return keys - frozenset(words)  # a map of records with one shape; its keys may be words
    counted = _find_counted_words(keys)
    data = frozenset(key for key in keys if _DATA.fullmatch(key))
    odd = frozenset(
        key for key in keys - data if key not in words and not _is_spoken(key, words, counted)
    )
    odd -= _find_shared_keys(objects, odd, known=len(keys - data - odd))
    if len(kinds) == 1 and 3 * len(odd | data) >= len(keys) > 1 and odd:
        return keys  # values of one type under many keys that are no field names: a map
    return data | odd


def shareable(schema: Any, words: Collection[str] = frozenset()) -> Any:
    """Return a copy of a schema for other people: keys that may be data are not named in it.

    `words` has the words and keys in the tool's document.
    """
    if isinstance(schema, list):
        return [shareable(part, words) for part in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {
        keyword: part if keyword == "properties" else shareable(part, words)
        for keyword, part in schema.items()
    }
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return changed
    data = shared_data_keys([{key: _sample(part) for key, part in properties.items()}], words)
    changed["properties"] = {
        key: shareable(part, words) for key, part in properties.items() if key not in data
    }
    if isinstance(required := schema.get("required"), list):
        changed["required"] = [key for key in required if key not in data]
    if data and schema.get("additionalProperties") is False:
        changed["additionalProperties"] = True
    return changed


def _sample(schema: Any) -> Json:
    """Return a value of the type that a schema describes. If it is an object, it has all keys.

    Return None if the schema names several types or none.
    """
    if not isinstance(schema, dict):
        return None
    if isinstance(properties := schema.get("properties"), dict):
        return dict.fromkeys(properties)
    kinds = [kind for kind in types(schema) if kind != "null"]
    return (
        {"string": "", "array": [], "object": {}, "boolean": True}.get(kinds[0], 0)
        if len(kinds) == 1
        else None
    )


def _keys_of(objects: Sequence[JsonObject]) -> frozenset[str]:
    return frozenset(key for record in objects for key in record)


def _kinds(objects: Sequence[JsonObject]) -> frozenset[str]:
    """Return the JSON types of all values in the objects. An integer counts as a number.

    Null values are ignored.
    """
    found = {
        type_name(part).replace("integer", "number") for one in objects for part in one.values()
    }
    return frozenset(found - {"null"})


def _are_too_many(keys: Collection[str], kinds: Collection[str]) -> bool:
    """Return True if objects have more keys than a record, and values of one type: they are maps.

    `keys` has the keys of all the objects, and `kinds` the JSON types of their values.
    """
    return len(kinds) == 1 and len(keys) >= max(
        _MOST_FIELDS.get(kind, _MOST_SCALARS) for kind in kinds
    )


def _are_alike(objects: Sequence[JsonObject]) -> bool:
    """Return True if those values in `objects` that are objects themselves all have the same keys.

    For example, `{"a": {"id": 1}, "b": {"id": 2}}` contains two objects with the key `id`. Return
    False if all values are empty objects.
    """
    shapes = {
        frozenset(part) if isinstance(part, dict) else None
        for one in objects
        for part in one.values()
    }
    return len(shapes - {None}) <= 1 and shapes != {frozenset()}


def _is_written(key: str, words: Collection[str]) -> bool:
    """Return True if a programmer may have chosen a key as the name of a field.

    Such a key is an identifier (`ship_date`) or the heading of a table column (`Ship Date`), and
    not a number, date, code or the like. `words` has the words in the tool's document.
    """
    if _DATA.fullmatch(key) or _CODE.fullmatch(key) or len(key) > _LONGEST_WRITTEN:
        return False
    if _OWN_IDENTIFIER.fullmatch(key):
        return True
    spoken = [_is_known(word) or singular(word) in words for word in snake(key).split("_")]
    # `Ship Date` is a heading, `Alice Miller` is not.
    return len(spoken) <= _MOST_HEADING and 2 * sum(spoken) >= len(spoken)


def _find_counted_words(keys: Collection[str]) -> frozenset[str]:
    """Return the words in keys that occur with different numbers, or with and without a number.

    For the keys `line1`, `line2` and `city`, these are `line1` and `line2`.
    """
    words = {word for key in keys for word in snake(key).split("_")}
    bare = Counter(word.rstrip("0123456789") for word in words)
    return frozenset(word for word in words if bare[word.rstrip("0123456789")] > 1)


def _is_spoken(key: str, words: Collection[str], counted: Collection[str] | None = None) -> bool:
    """Return True if a key is an identifier that consists of known words, such as `start_time`.

    A word is known if it is in `words` (those of the tool's document) or is usual in names of
    fields. A word that ends with a number may be a password: if `counted` is not None, such a word
    is known only if it is in `words` or `counted`, or is a usual one such as `last4`.
    """
    if not _IDENTIFIER.fullmatch(key):
        return False
    if _CAPITALS.fullmatch(key) and key not in _SPELLED_IN_CAPITALS:
        return singular(key.lower()) in words
    return all(
        singular(word) in words
        or (_is_known(word) and (counted is None or word in counted or _is_plain(word)))
        for word in snake(key).split("_")
    )


def _is_plain(word: str) -> bool:
    """Return True if a word in a key is surely no password.

    Such a word does not end with a number, or is short (`x1`), or is usual in names of fields
    (`last4`).
    """
    return not word[-1:].isdigit() or len(word) <= _SHORTEST_PART or word in _KNOWN


@lru_cache(maxsize=16_384)
def _is_known(word: str) -> bool:
    """Return True for a word that is usual in names of fields.

    It may have a number of one or two digits at its end, or be a compound of two such words.
    """
    bare = re.sub(r"\d{1,2}$", "", word)
    if len(bare) == 1 and bare != word:
        return bare in _COUNTED
    if bare in _KNOWN or singular(bare) in _KNOWN or (not bare and len(word) <= 2):
        return True
    ends = range(_SHORTEST_PART, len(bare) - 1)
    return any(bare[:end] in _KNOWN and _ends_compound(bare[end:]) for end in ends)


def _ends_compound(word: str) -> bool:
    long_enough = len(word) >= _SHORTEST_PART or word in ("id", "no")
    return long_enough and (word in _KNOWN or singular(word) in _KNOWN)


def _find_shared_keys(
    objects: Sequence[JsonObject], keys: Collection[str], *, known: int
) -> frozenset[str]:
    """Return those of `keys` that all objects have, since they are probably names of fields.

    The result is empty if fewer than three objects are different. It is also empty unless `known`,
    the number of other keys that are known to be names of fields, is greater than the number of
    `keys`. Otherwise the objects may be rows of a table in which most columns are data, for example
    one column for each person.
    """
    if known <= len(keys):
        return frozenset()
    spelled = [key for key in keys if _IDENTIFIER.fullmatch(key)]
    records = _drop_duplicates(objects) if spelled else []
    if len(records) < _RECORDS:
        return frozenset()
    return frozenset(spelled).intersection(*records)


def _drop_duplicates(objects: Sequence[JsonObject]) -> list[JsonObject]:
    """Return different JSON objects: each object that occurs more than once is kept once."""
    return list({json.dumps(one, sort_keys=True): one for one in objects[:_MOST_COMPARED]}.values())
