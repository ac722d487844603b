"""Compares names of arguments with names of response fields, and recognises values that are ids."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from protocols.links import field_key, noun_of
from protocols.naming import ID_WORDS, SEARCHES, VAGUE, singular, snake
from protocols.protocol import ToolProtocol
from protocols.schema import Json, types
from protocols.secrets.names import secret_kind

_READ: dict[str, dict[str, Any]] = tomllib.loads(
    files("probing").joinpath("words.toml").read_text(encoding="utf-8")
)
VALUES: dict[str, tuple[Json, ...]] = {
    name: tuple(values) for names, values in _READ["values"].items() for name in names.split()
}
"""Likely values of an argument, best first, keyed by the argument's name."""
FORMATS: dict[str, tuple[str, ...]] = {
    name: tuple(values) for name, values in _READ["formats"].items()
}
"""Example texts, keyed by the JSON Schema format that they have."""
REPLIES: dict[str, tuple[str, ...]] = {
    name: tuple(words.split()) for name, words in _READ["replies"].items()
}
"""Names of fields in error replies, keyed by the kind of their content."""
NAMES: dict[str, frozenset[str]] = {
    kind: frozenset(words.split()) for kind, words in _READ["names"].items()
}
"""Words in names of arguments and fields, keyed by their meaning."""
REPLY_PATTERNS = {kind: re.compile("|".join(parts)) for kind, parts in _READ["said"].items()}
"""Patterns of sentences in error replies, keyed by their meaning."""
TYPE_WORDS: dict[str, str] = {
    word: kind for kind, words in _READ["types"].items() for word in words.split()
}
"""JSON types, keyed by the words that error replies use for them."""
FORMAT_PHRASES: dict[str, str] = _READ["told_formats"]
"""JSON Schema formats, keyed by patterns of phrases in error replies that require them."""
_SAME: dict[str, str] = _READ["same"]
"""Full words, keyed by their abbreviations."""

EQUAL = 0.0
"""Distance of two equal names."""
NEAR = 0.75
"""Distance of two names for the same kind of record, such as `database` and `database_name`, or of
two names of which one is the other with a prefix."""
NAMED_IN_TEXT = 1.5
"""Distance if the argument's description or a reply contains the noun of the response field."""
PAGING = NAMES["paging"]
_COMMON = NAMES["common"]
_LONGEST = 300
_VAGUE_ENDS = re.compile(rf"(_({'|'.join(ID_WORDS | VAGUE)}))+$")


@dataclass(frozen=True)
class NormalizedName:
    """The name of an argument or response field in snake case, with abbreviations written out."""

    own: str
    """The name itself, without the path before it: `code` for `airports[].code`."""
    key: str
    """The name, and before a vague name the noun of its record: `airport_code` for `code`."""

    @cached_property
    def thing(self) -> str:
        """The kind of record in the name: `airport` for `airport_code`, "" for `code`."""
        return re.sub(_VAGUE_ENDS, "", f"_{self.key}").strip("_")

    @cached_property
    def is_identifier(self) -> bool:
        """True if this is the name of an id or code."""
        return self.key.rpartition("_")[2] in ID_WORDS

    @cached_property
    def is_search_text(self) -> bool:
        """True if this is the name of a search text, such as `query`."""
        words = set(self.own.split("_"))
        return (
            bool(words & (SEARCHES | {"s", "phrase"}))
            and not words & {"id", "ids", "code"}
            and not self.is_identifier
        )

    @cached_property
    def secret(self) -> bool:
        """True if this is the name of a secret, such as a password."""
        return secret_kind(self.own) in ("text", "number")


@lru_cache(maxsize=8192)
def expand_name(name: str) -> str:
    """Return a name in snake case with abbreviations written out: `homeTz` → `home_time_zone`."""
    return "_".join(
        _SAME.get(word, word) for word in snake(name).replace("timezone", "time_zone").split("_")
    )


def argument_name(protocol: ToolProtocol, argument: str) -> NormalizedName:
    """Return the normalized name of an argument.

    A vague name such as `id` is completed by the kind of record that the tool is about.
    """
    own = expand_name(argument)
    declared = protocol.parameters.get(argument)
    listed = isinstance(declared, dict) and "array" in types(declared)
    if listed or own.rpartition("_")[2] in ("ids", "codes", "keys", "numbers"):
        own = singular(own)
    noun = noun_of(protocol, argument) if own in VAGUE and argument in protocol.parameters else None
    return NormalizedName(own, f"{noun}_{own}" if noun else own)


def field_name(protocol: ToolProtocol, path: str) -> NormalizedName:
    """Return the normalized name of a response field.

    A vague name such as `id` is completed by the kind of record that contains the field. The name
    of a list is in the singular. `path` is the response path of the field: `airports[].code`.
    """
    parts = path.split(".")
    own = expand_name(parts[-1].replace("[]", ""))
    if parts[-1].endswith("[]") or own in ("ids", "codes", "keys"):
        own = singular(own)
    key = field_key(protocol, path)
    return NormalizedName(own, expand_name(key) if key else own)


@lru_cache(maxsize=131_072)
def distance(
    wanted: NormalizedName, field: NormalizedName, text: frozenset[str] = frozenset()
) -> float | None:
    """Return how much the names of an argument and a response field differ; 0 if they are equal.

    Return None if the names do not match. `text` has the words in the argument's description and in
    replies about the argument.
    """
    if wanted.key == field.key or (wanted.own == field.own and field.own not in VAGUE):
        return NEAR if wanted.key in VAGUE else EQUAL  # `id`s of two kinds of record
    if wanted.key.replace("_", "") == field.key.replace("_", ""):
        return EQUAL
    if _ends(wanted.key, field.key) or _ends(field.key, wanted.key) or wanted.key == field.thing:
        return NEAR  # the last: `database` and `database_name`
    if field.thing and field.is_identifier and set(field.thing.split("_")) <= text:
        return NAMED_IN_TEXT - (0.5 if field.key.rpartition("_")[2] in text else 0.0)
    return None


def _ends(longer: str, shorter: str) -> bool:
    """Return True if `longer` is `shorter` with a prefix, as in `from_place_id` and `place_id`.

    A short or vague name such as `id` never counts, because it is the end of too many names.
    """
    particular = "_" in shorter or (len(shorter) >= 4 and shorter not in VAGUE)
    return particular and longer.endswith(f"_{shorter}")


@lru_cache(maxsize=8192)
def words_in(texts: tuple[str, ...]) -> frozenset[str]:
    """Return all words in the texts, each in the singular and in lower case."""
    return frozenset(
        singular(word) for text in texts for word in re.findall(r"[a-z]+", text[:2_000].lower())
    )


def url_text(value: Json) -> str:
    """Return a scalar as text, as it is written in a URL: `5` and `"5"` give the same text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def scalars(value: Json) -> list[Json]:
    """Return the scalars among the first 20 elements of a list, or [value] for a scalar.

    For an object or null, return an empty list.
    """
    items = value[:20] if isinstance(value, list | tuple) else [value]
    return [item for item in items if isinstance(item, str | int | float)]


def scalar_parts(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield (name, scalar) for each scalar in an argument's value.

    The name is the key of the innermost object that contains the scalar, or `name` (the name of the
    argument) outside of objects.
    """
    if isinstance(value, Mapping):
        for inner, part in value.items():
            yield from scalar_parts(str(inner), part)
    elif isinstance(value, list):
        for part in value:
            yield from scalar_parts(name, part)
    else:
        yield name, value


def is_identifying(value: Json) -> bool:
    """Return True if a value is distinctive: an id or code, not a count, date or text.

    Two fields that contain the same distinctive value most likely have the same meaning.
    """
    if isinstance(value, bool) or value is None:
        return False
    text = url_text(value).strip()
    if re.fullmatch(r"[-+]?\d+", text):
        return (
            abs(int(text[:_LONGEST])) >= 10_000
        )  # smaller numbers are often counts, years or positions
    if (
        len(text) < 2
        or len(text) > _LONGEST
        or text.lower() in _COMMON
        or re.fullmatch(r"[-+]?[\d.]+", text)
    ):
        return False
    return len(text.split()) <= 2 and not re.match(r"\d{4}-\d\d-\d\d", text)


def is_id(value: Json) -> bool:
    """Return True if a value looks like an id or code: it is distinctive, and not a plain word."""
    plain = (
        isinstance(value, str)
        and re.fullmatch(r"[^\W\d_]?[^\W\d_A-Z]*( [^\W\d_]+)*", value) is not None
    )
    return is_identifying(value) and not plain
