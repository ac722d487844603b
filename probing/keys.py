"""Keys of JSON objects: which are names of fields, and which are data.

A map may have names of people, codes or passwords as keys. Two rules say which they are:

- `own_data_keys`, for shapes that nobody but their owner is shown: a key is a field if a programmer may have
  written it, and a map is only what evidently is one.
- `shared_data_keys`, for shapes that others are shown: a key is a field only on evidence. It is spelled like an
  identifier, and its words are those of field names or of the tool's own document; or several different records have
  it, most of whose keys are such fields. All other keys are data.
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
    r"-?\d+(\.\d+)?|\d{4}-\d\d(-\d\d.*)?|\d{1,2}:\d\d(:\d\d)?|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}|[A-Za-z]{1,5}[_-]?\d{4,}|[^@\s]+@[^@\s]+\.[^@\s]+"
    r"|\d{1,3}(\.\d{1,3}){3}([:/]\d+)?|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|[A-Za-z][\w+.-]*://\S+|/\S*"
    r"|([A-Za-z0-9-]+\.)+(com|dev|example|io|local|net|org|test)(:\d+)?|[^\s/]+\.(csv|html|js|json|log|md|py|txt|ya?ml)"
)
"""Keys that are data by their form: numbers, dates, ids, hashes, addresses, paths, hosts, files."""
_IDENTIFIER = re.compile(r"[@$]?[^\W\d][\w.$:@-]{0,79}")
_OWN_IDENTIFIER = re.compile(r"[@$_]*[^\W\d][\w.$:@-]*")
_CODE = re.compile(
    r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]{3,}(-[A-Z0-9]+)+|(?=[A-Z]*\d)[A-Z]*\d+[A-Z]+[A-Z0-9]{4,}|[A-Z]{1,4}\d{4,}[A-Z0-9]*"
    r"|(?=.*[a-z])(?=.*[A-Z])(\w*?\d+[A-Za-z_-]+){2,}\d+\w*"
)
"""Keys that are codes: capitals and digits in groups or mixed, and letters of both cases with digits all over."""
_LONGEST_WRITTEN = 60
_MOST_HEADING = 6
"""Characters of a key that a programmer may have written, and words of the heading of a column."""
_MOST_OWN_FIELDS = 20
"""Keys of values of one shape. Of more, most of them unknown words, the unknown ones are data."""
_CAPITALS = re.compile(r"[A-Z]{1,4}")
"""A word in capitals is a code, such as a country's, unless it stands in the next list."""
_SPELLED_IN_CAPITALS = frozenset({"ID", "IP", "URI", "URL", "UUID"})
_COUNTED = frozenset("hpqxyz")
"""Letters that have a number behind them in names of fields (`x1`, `q3`, `p95`). Others are codes (`f32`, `k7`)."""
_SHORTEST_PART = 3
_KNOWN = WORDS["fields"]["known"]

_MOST_FIELDS = {"object": 40, "array": 40}
_MOST_SCALARS = 100
"""Keys of a record. More of them, above values of one type, are those of a map."""
_RECORDS = 3
"""So many different records must have a key, for it to count as shared by records."""
_MOST_COMPARED = 1_000


def document_words(protocol: ToolProtocol) -> frozenset[str]:
    """Return the words of a tool's document, which everybody may see: its fields may be named by them."""
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
    for part in (
        schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ()
    ):
        yield from property_names(part, depth + 1)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    yield from properties if isinstance(properties, dict) else ()


def own_data_keys(
    objects: Sequence[JsonObject], words: Collection[str] = frozenset()
) -> frozenset[str]:
    """Return the keys of objects at one place that evidently are data, for shapes that their owner alone is shown.

    `words` are those of the tool's document, and its keys.
    """
    keys = frozenset(key for one in objects for key in one)
    kinds = _kinds(objects)
    if _are_too_many(keys, kinds):
        return keys
    known = frozenset(key for key in keys if key in words or _is_spoken(key, words))
    data = frozenset(key for key in keys - known if not _is_written(key, words))
    unknown = keys - known - data
    if len(data) > 1 and len(data) >= len(unknown):
        return data | unknown  # beside so many keys that are data, an unknown word is one, too
    if data and kinds == {"object"} and _are_alike(objects):
        return data | unknown
    codes = frozenset(key for key in keys - known if _CAPITALS.fullmatch(key))
    if len(kinds) == 1 and len(codes) == len(keys) > 1:
        return keys  # of currencies, countries
    mapped = len(keys) > _MOST_OWN_FIELDS or (kinds == {"object"} and len(keys) >= _RECORDS)
    if mapped and 2 * len(unknown | data) > len(keys) and len(kinds) == 1 and _are_alike(objects):
        return data | unknown
    return data


def shared_data_keys(
    objects: Sequence[JsonObject], words: Collection[str] = frozenset()
) -> frozenset[str]:
    """Return the keys of objects at one place that may be data, for shapes that others are shown.

    `words` are those of the tool's document, and its keys.
    """
    keys = frozenset(key for one in objects for key in one)
    kinds = _kinds(objects)
    if _are_too_many(keys, kinds):
        return keys
    if (
        kinds == {"object"}
        and len(keys) > 1
        and not keys <= frozenset(words)
        and _are_alike(objects)
    ):
        return keys - frozenset(words)  # names may be words: records of one shape stand in a map
    counted = _find_counted_words(keys)
    data = frozenset(key for key in keys if _DATA.fullmatch(key))
    odd = frozenset(
        key for key in keys - data if key not in words and not _is_spoken(key, words, counted)
    )
    odd -= _find_shared_keys(objects, odd, known=len(keys - data - odd))
    if len(kinds) == 1 and 3 * len(odd | data) >= len(keys) > 1 and odd:
        return keys  # values of one kind under keys that nobody would give fields: a map, all of it
    return data | odd


def shareable(schema: Any, words: Collection[str] = frozenset()) -> Any:
    """Return the schema of one's own responses as others may be shown it: without keys that may be data."""
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
    """Return a value of the kind that a schema describes, an object with its keys."""
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


def _kinds(objects: Sequence[JsonObject]) -> frozenset[str]:
    """Return the JSON types of all values, but for null."""
    found = {
        type_name(part).replace("integer", "number") for one in objects for part in one.values()
    }
    return frozenset(found - {"null"})


def _are_too_many(keys: Collection[str], kinds: Collection[str]) -> bool:
    return len(kinds) == 1 and len(keys) >= max(
        _MOST_FIELDS.get(kind, _MOST_SCALARS) for kind in kinds
    )


def _are_alike(objects: Sequence[JsonObject]) -> bool:
    """True if all values are of one shape: objects of the same keys, or none of them an object."""
    shapes = {
        frozenset(part) if isinstance(part, dict) else None
        for one in objects
        for part in one.values()
    }
    return len(shapes - {None}) <= 1 and shapes != {frozenset()}


def _is_written(key: str, words: Collection[str]) -> bool:
    """True if a programmer may have written a key: it looks like an identifier, or heads a column, and is no code."""
    if _DATA.fullmatch(key) or _CODE.fullmatch(key) or len(key) > _LONGEST_WRITTEN:
        return False
    if _OWN_IDENTIFIER.fullmatch(key):
        return True
    spoken = [_is_known(word) or singular(word) in words for word in snake(key).split("_")]
    return len(spoken) <= _MOST_HEADING and 2 * sum(spoken) >= len(
        spoken
    )  # `Ship Date`, and not `Alice Miller`


def _find_counted_words(keys: Collection[str]) -> frozenset[str]:
    """Return the words with a number behind them that come with another number, or without: `line1`, `line2`."""
    words = {word for key in keys for word in snake(key).split("_")}
    bare = Counter(word.rstrip("0123456789") for word in words)
    return frozenset(word for word in words if bare[word.rstrip("0123456789")] > 1)


def _is_spoken(key: str, words: Collection[str], counted: Collection[str] | None = None) -> bool:
    """True if a key is spelled like an identifier, and its words are those of field names or stand in `words`.

    With `counted`, only the words in it may have a number behind them: alone, such a word may be a password.
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
    """True for a word without a number behind it, or of which the number is a part: `q3`, `last4`."""
    return not word[-1:].isdigit() or len(word) <= _SHORTEST_PART or word in _KNOWN


@lru_cache(maxsize=16_384)
def _is_known(word: str) -> bool:
    """True for a word of field names: also with a short number behind it, and made of two such words."""
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
    """Return those of `keys` that several different records have, all of them, beside more `known` fields.

    A table may have data in its heading, too, such as a column for each person, so others count for nothing.
    """
    if known <= len(keys):
        return frozenset()
    spelled = [key for key in keys if _IDENTIFIER.fullmatch(key)]
    records = _drop_duplicates(objects) if spelled else []
    if len(records) < _RECORDS:
        return frozenset()
    return frozenset(key for key in spelled if all(key in record for record in records))


def _drop_duplicates(objects: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the objects without repetitions."""
    return list({json.dumps(one, sort_keys=True): one for one in objects[:_MOST_COMPARED]}.values())
