"""Keys of JSON objects: which are names of fields, and which are data.

A map may have names of people, codes or passwords as keys. A key is a field only on evidence: it is spelled like an
identifier, and its words are those of field names or of the tool's own document; or several different records have it,
as only fields are shared. All other keys are data.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, type_name
from protocols.words import WORDS, singular, snake

_DATA = re.compile(
    r"-?\d+(\.\d+)?|\d{4}-\d\d(-\d\d.*)?|\d{1,2}:\d\d(:\d\d)?|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}|[A-Za-z]{1,5}[_-]?\d{4,}|[^@\s]+@[^@\s]+\.[^@\s]+"
    r"|\d{1,3}(\.\d{1,3}){3}([:/]\d+)?|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|[A-Za-z][\w+.-]*://\S+|/\S*"
    r"|([A-Za-z0-9-]+\.)+(com|dev|example|io|local|net|org|test)(:\d+)?|[^\s/]+\.(csv|html|js|json|log|md|py|txt|ya?ml)"
)
"""Keys that are data by their form: numbers, dates, ids, hashes, addresses, paths, hosts, files."""
_IDENTIFIER = re.compile(r"[@$]?[^\W\d][\w.$:@-]{0,79}")
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


def words_of(protocol: ToolProtocol) -> frozenset[str]:
    """Return the words of a tool's document, which everybody may see: its fields may be named by them."""
    texts = [protocol.name, protocol.title, protocol.description]
    for name, schema in protocol.parameters.items():
        texts += [name, str(schema.get("description", "")) if isinstance(schema, dict) else ""]
    return frozenset(singular(word) for text in texts for word in snake(text[:10_000]).split("_")) | frozenset(
        property_names(protocol.output_schema)
    )


def property_names(schema: Any, depth: int = 0) -> Iterable[str]:
    """Yield the names of the properties that a schema declares."""
    if depth > 32:
        return
    for part in schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ():
        yield from property_names(part, depth + 1)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    yield from properties if isinstance(properties, dict) else ()


def data_keys(objects: Sequence[JsonObject], words: Collection[str] = frozenset()) -> frozenset[str]:
    """Return the keys of objects at one place that are data. `words` are those of the tool's document, and its keys."""
    keys = frozenset(key for one in objects for key in one)
    kinds = {type_name(part).replace("integer", "number") for one in objects for part in one.values()} - {"null"}
    if len(kinds) == 1 and len(keys) >= max(_MOST_FIELDS.get(kind, _MOST_SCALARS) for kind in kinds):
        return keys
    data = frozenset(key for key in keys if _DATA.fullmatch(key))
    odd = frozenset(key for key in keys - data if key not in words and not _is_spoken(key, words))
    odd -= _shared(objects, odd, known=len(keys - data - odd))
    if len(kinds) == 1 and 3 * len(odd | data) >= len(keys) > 1 and odd:
        return keys  # values of one kind under keys that nobody would give fields: a map, all of it
    return data | odd


def _is_spoken(key: str, words: Collection[str]) -> bool:
    """True if a key is spelled like an identifier, and its words are those of field names or stand in `words`."""
    if not _IDENTIFIER.fullmatch(key):
        return False
    if _CAPITALS.fullmatch(key) and key not in _SPELLED_IN_CAPITALS:
        return singular(key.lower()) in words
    return all(_is_known(word) or singular(word) in words for word in snake(key).split("_"))


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


def _shared(objects: Sequence[JsonObject], keys: Collection[str], *, known: int) -> frozenset[str]:
    """Return those of `keys` that several different records have, all of them.

    A table may have data in its heading, too, such as a column for each person. So what is not a text that differs from
    record to record counts only beside at least as many `known` fields.
    """
    spelled = [key for key in keys if _IDENTIFIER.fullmatch(key)]
    records = _different(objects) if spelled else []
    if len(records) < _RECORDS:
        return frozenset()
    steady = [key for key in spelled if all(key in record for record in records)]
    telling = frozenset(key for key in steady if _differs([record[key] for record in records]))
    others = frozenset(steady) - telling
    return telling | others if len(others) <= known else telling


def _different(objects: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the objects without repetitions."""
    return list({json.dumps(one, sort_keys=True): one for one in objects[:_MOST_COMPARED]}.values())


def _differs(values: Sequence[Json]) -> bool:
    """True for texts of which hardly any comes twice."""
    texts = Counter(value for value in values if isinstance(value, str))
    return texts.total() == len(values) and len(texts) >= max(_RECORDS, 0.8 * len(values))
