"""What tools make and take: the noun, the records in a value, the ids in a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from probing.effects.words import is_verb
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.vocabulary import ID_WORDS, WRAPPERS
from protocols.words import singular, snake

_LINKS = frozenset({"at", "by", "for", "from", "in", "into", "of", "on", "to", "with"})


def noun_made(protocol: ToolProtocol) -> str:
    """What a tool is about: `comment` for `add_comment_to_note` and for `POST /notes/{id}/comments`."""
    if isinstance(protocol.binding, HttpBinding):
        fixed = [snake(part) for part in address(protocol.binding) if part and "{" not in part]
        for part in reversed(fixed):
            words = part.split("_")
            if words := words[is_verb(words[0]) :]:
                return singular("_".join(words))
        return singular(fixed[-1]) if fixed else ""
    return next(iter(words_of(protocol)[::-1]), "")


def words_of(protocol: ToolProtocol) -> list[str]:
    """The nouns of a tool's name up to the first preposition, singular."""
    words = snake(protocol.name).split("_")
    end = next((n for n, word in enumerate(words) if word in _LINKS and n), len(words))
    verb = next((n for n, word in enumerate(words[:end]) if is_verb(word)), -1)
    return [singular(word) for n, word in enumerate(words[:end]) if n != verb]


def alike(one: str, other: str) -> bool:
    """Whether two nouns mean the same: `alert` and `storm_alert`."""
    return bool(one and other) and (one == other or one.endswith(f"_{other}") or other.endswith(f"_{one}"))


def records(node: Json, around: str = "", *, top: bool = False) -> Iterator[tuple[JsonObject, str]]:
    """The objects in a value and the noun that each stands under, what a wrapper such as `data` holds with them.

    `top`: none of those in lists.
    """
    if isinstance(node, list):
        for part in node if not top or len(node) == 1 else ():
            yield from records(part, around, top=top)
    elif isinstance(node, Mapping):
        inner = [node[k] for k in ("attributes", "data", "fields", "properties") if isinstance(node.get(k), Mapping)]
        yield {k: v for part in [*inner, node] for k, v in part.items()}, around
        for name, part in node.items():
            if isinstance(part, Mapping | list):
                word = snake(str(name))
                yield from records(part, around if word in WRAPPERS else singular(word), top=top)


def id_fields(record: JsonObject) -> Iterator[tuple[str, str | int]]:
    """The fields of a record that hold ids."""
    for name, value in record.items():
        word = snake(str(name))
        if isinstance(value, str | int) and not isinstance(value, bool) and word.rpartition("_")[2] in ID_WORDS:
            yield word, value


def parts_of(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """The scalars in an argument, each with the name that is nearest to it."""
    if isinstance(value, Mapping):
        for inner, part in value.items():
            yield from parts_of(str(inner), part)
    elif isinstance(value, list):
        for part in value:
            yield from parts_of(name, part)
    else:
        yield name, value


def listed(schema: Json) -> list[Json]:
    """The values that a schema lists."""
    if not isinstance(schema, Mapping):
        return []
    return [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]


def has_list(node: Json) -> bool:
    """Whether there is a list in a value."""
    return isinstance(node, list) or (isinstance(node, Mapping) and any(map(has_list, node.values())))


def in_path(protocol: ToolProtocol, argument: str) -> bool:
    """Whether an argument stands in a URL, by its own name or its wire name."""
    if not isinstance(protocol.binding, HttpBinding):
        return False
    wire = protocol.binding.wire_names.get(argument, argument)
    return f"{{{wire}}}" in protocol.binding.url or f"{{{argument}}}" in protocol.binding.url


def address(http: HttpBinding) -> list[str]:
    """The parts of a URL's path."""
    return http.url.partition("?")[0].rstrip("/").split("/")[3:]
