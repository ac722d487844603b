"""Where arguments come from: response paths of other tools, matched by name, type and format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import chain, count
from typing import Any

from protocols.id_names import argument_key, collections_of, field_key, holder_key, noun_at, noun_meant, wider_keys
from protocols.jsontypes import JsonObject
from protocols.protocol import Link, ToolProtocol
from protocols.schema import resolve, types
from protocols.vocabulary import ID_WORDS, SEARCHES
from protocols.words import snake

LINKS_PER_ARGUMENT = 3
"""Guesses for one argument at most: the simplest producers; more would only make prompts longer."""

_MAX_DEPTH, _MAX_PATHS, _MAX_STEPS = 8, 500, 5_000


@dataclass(frozen=True, slots=True)
class _Produced:
    """A place in a tool's response, ready to be matched."""

    tool: str
    path: str
    types: frozenset[str]
    format: str
    rank: tuple[bool, bool, int, bool, bool, int, int, str, str]
    """Reads first, then where the thing itself is and not another that refers to it (`films[].film_id`, not
    `ratings[].film_id`), then what needs no ids itself, searches, lists, few arguments."""
    needs: frozenset[str]
    """What is meant by the arguments without which the tool cannot be called: keys and nouns."""


class _Places:
    """Where the responses of a set of tools hold what could be an argument, reads and writes apart.

    By key, and by noun, without the places of tools that need that very thing themselves: they are no source of it, and
    a large API has one for every other (`get_film(film_id)` answers with a `film_id`).
    """

    def __init__(self, protocols: Sequence[ToolProtocol]) -> None:
        self._called: dict[tuple[str, bool], list[_Produced]] = {}
        objects: dict[tuple[str, bool, str, str], list[_Produced]] = {}
        collections = collections_of(protocols)
        for protocol in protocols:
            for key, noun, place in _produced(protocol, collections):
                called = self._called.setdefault((key, protocol.writes), [])
                if key not in place.needs:
                    called.append(place)
                if key.removeprefix(f"{noun}_") in ID_WORDS and noun not in place.needs:
                    parent = place.path.rpartition(".")[0]
                    objects.setdefault((noun, protocol.writes, protocol.name, parent), []).append(place)
        for places in self._called.values():
            places.sort(key=_rank)
        self._identifying: dict[tuple[str, bool], list[list[_Produced]]] = {}
        for (noun, writes, _, _), places in sorted(objects.items(), key=lambda item: min(map(_rank, item[1]))):
            self._identifying.setdefault((noun, writes), []).append(places)

    def of(self, protocol: ToolProtocol, argument: str) -> Iterator[_Produced]:
        """The places whose values may be an argument, by name, type and format; the best first."""
        key, noun = argument_key(protocol, argument), noun_meant(protocol, argument)
        holder = holder_key(protocol, argument)
        if (holder, False) in self._called:
            key = holder
        if key is None and noun is None:
            return
        fits = partial(_fits, *_wanted(protocol, argument))
        wider = wider_keys(key or "")
        same = {key, noun, *wider}
        for writes in (False, True):
            called = filter(fits, self._called.get((key or "", writes), ()))
            alone = _alone(self._identifying.get((noun or "", writes), ()), fits)
            with_role = (place for one in wider for place in self._called.get((one, writes), ()) if fits(place))
            for place in chain(merge(called, alone, key=_rank), with_role):
                if place.tool != protocol.name and place.needs.isdisjoint(same):
                    yield place


def response_paths(schema: JsonObject | None) -> Iterator[tuple[str, JsonObject]]:
    """Every path in a response (`airports[].code`) with its schema there, outer before inner.

    Alternatives are all followed, recursive schemas once around; the values of a map keyed by data stand at `*`
    (`rates.*.EUR`); the whole response has the path `""`.
    """
    if schema is not None:
        yield from _paths(schema, schema, "", (), count(1))


def guess_links(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols with guessed links added to arguments for which nothing is declared or observed.

    Precision comes first: an argument is matched only where its name says of what it is the id (`airport_code`, or
    `code` in `/airports/{code}`), or is required and has the same particular name as a response field; types and
    formats must agree. The result depends on the set of tools alone, not on their order.
    """
    places = _Places(protocols)
    return [_with_guesses(protocol, places) for protocol in protocols]


def _with_guesses(protocol: ToolProtocol, places: _Places) -> ToolProtocol:
    known = {link.argument for link in protocol.links}
    guesses: list[Link] = []
    for argument in protocol.parameters:
        if argument in known:
            continue
        found: dict[str, Link] = {}
        for place in places.of(protocol, argument):
            found.setdefault(place.tool, Link(argument=argument, tool=place.tool, path=place.path, support="guessed"))
            if len(found) == LINKS_PER_ARGUMENT:
                break
        guesses += found.values()
    return replace(protocol, links=(*protocol.links, *guesses)) if guesses else protocol


def _paths(
    schema: JsonObject | bool, root: JsonObject, path: str, above: tuple[str, ...], steps: Iterator[int]
) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(schema, bool) or next(steps) > _MAX_STEPS:
        return
    ref = schema.get("$ref")
    if len(above) > _MAX_DEPTH * 3 or (isinstance(ref, str) and ref in above):
        return
    above = (*above, ref if isinstance(ref, str) else "")
    here = resolve(schema, root)
    if not any(part in here for part in ("allOf", "anyOf", "oneOf")) or types(here):
        yield path, here
    for name, part in here.get("properties", {}).items():
        yield from _paths(part, root, f"{path}.{name}" if path else name, above, steps)
    if isinstance(items := here.get("items"), dict):
        yield from _paths(items, root, f"{path}[]", above, steps)
    if isinstance(rest := here.get("additionalProperties"), dict):
        yield from _paths(rest, root, f"{path}.*" if path else "*", above, steps)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in here.get(keyword, ()):
            yield from _paths(part, root, path, above, steps)


def _produced(protocol: ToolProtocol, collections: Collection[str]) -> Iterator[tuple[str, str, _Produced]]:
    """Every place in a tool's response that has a key, with the key and the noun that it is of (empty: none)."""
    needs = frozenset(_called_elsewhere(protocol))
    searches = any(snake(name) in SEARCHES for name in protocol.parameters)
    seen: set[tuple[str, str]] = set()
    for number, (path, schema) in enumerate(response_paths(protocol.output_schema)):
        if number >= _MAX_PATHS:
            return
        kinds = frozenset(types(schema)) - {"null"}
        if "*" in path:  # no program can name such a place: the keys on the way are data
            continue
        if path.count(".") >= _MAX_DEPTH or (not kinds & {"string", "integer", "number"} and kinds):
            continue
        key = field_key(protocol, path, collections=collections)
        if key is not None and (key, path) not in seen:
            seen.add((key, path))
            noun = noun_at(protocol, path, collections=collections) or ""
            home = key.rpartition("_")[0] == noun
            effort = (len(needs), not searches, "[]" not in path, len(protocol.required))
            rank = (protocol.writes, not home, *effort, path.count("."), protocol.name, path)
            yield key, noun, _Produced(protocol.name, path, kinds, str(schema.get("format", "")), rank, needs)


def _called_elsewhere(protocol: ToolProtocol) -> Iterator[str]:
    """What the values of a tool's required arguments are called in other tools' responses."""
    for name in protocol.required:
        yield from filter(None, (argument_key(protocol, name), noun_meant(protocol, name)))


def _rank(place: _Produced) -> tuple[Any, ...]:
    return place.rank


def _alone(objects: Iterable[Sequence[_Produced]], fits: Callable[[_Produced], bool]) -> Iterator[_Produced]:
    """Those that fit alone in their object: of a `code` and a `slug` beside each other either may be meant."""
    for places in objects:
        fitting = [place for place in places if fits(place)]
        if len(fitting) == 1:
            yield fitting[0]


def _wanted(protocol: ToolProtocol, argument: str) -> tuple[frozenset[str], str]:
    schema = resolve(protocol.parameters[argument], protocol.input_schema)
    if "array" in types(schema) and isinstance(items := schema.get("items"), dict):
        schema = resolve(items, protocol.input_schema)
    kinds: set[str] = set(types(schema))
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        kinds |= set(types(resolve(part, protocol.input_schema)))
    return frozenset(kinds) - {"null"}, str(schema.get("format", ""))


def _fits(wanted: frozenset[str], wanted_format: str, place: _Produced) -> bool:
    if place.format and wanted_format and place.format != wanted_format:
        return False
    given = place.types
    return not given or not wanted or bool(given & wanted) or ("number" in wanted and "integer" in given)
