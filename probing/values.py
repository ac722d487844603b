"""Values that tools gave and took, by place, and which of them an argument is given, best first (ATC paper, §4).

Candidates come from the tool's description, from responses, from replies, from a model, and at last made up; arguments
of one call are best taken from one record.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import chain, islice, zip_longest
from typing import Any

from probing.facts import TEXT_PLACES, ArgumentFacts, ToolFacts, says_something
from probing.invent import limits_of, made_up, named, sure
from probing.kinds import kind_of
from probing.names import (
    EQUAL,
    KEYS,
    NEAR,
    PAGING,
    TITLES,
    TOLD,
    Name,
    alike,
    argument_name,
    common_format,
    distance,
    distinctive,
    ends_range,
    field_name,
    format_of,
    is_id,
    nouns_of,
    scalars,
    text_of,
    words_in,
    words_of,
)
from probing.samples import Origin, OriginKind, Sample, Value
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import resolve, types, validator
from protocols.secrets import covered
from protocols.words import snake

MOST_CANDIDATES = 60
"""Values of one argument that are looked at."""
_DEEPEST, _LONGEST_LIST, _MOST, _LONGEST_TEXT, _MOST_VALUES = 8, 100, 4_000, 2_000, 500
"""What is looked at of a response: levels, elements of a list, scalars, characters of one; values kept of a place."""
_KNOWN, _SHAPED, _LISTED, _ANY, _LAST = 0.5, 2.5, 2.0, 3.6, 4.2
"""Distances of places without a name in common: they hold a value known to be good; values like one; a list's scalars,
for a path; ids of any kind, for an argument that is one, or for any other."""
_MOST_STRANGERS, _STRANGERS_TRIED = 8, 2
_KEY_FORM = re.compile(
    r"-?\d[\d.:/-]*|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|\d{4}-\d\d-\d\d.*|(?=[a-f]*\d)[0-9a-f]{8,}|[^@\s]+@[^@\s]+|/\S*"
)
"""Keys that are data: of a map, not of a record."""
_SIZES = re.compile(r"(^|_)(limit|size|per_?page|count|rows|take|top|(max|num)_?(results|items|records))$")
_SAMPLE = re.compile(r"\b(?:e\.?g\.?,?|such as|for example|examples?(?: is| are)?|like)[:,]?\s+", re.IGNORECASE)
_QUOTED = re.compile(
    r"\s*+(?:(?:,|or|and)\s*+)?"
    r"(?:'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`|([\w.:+-]*\d[\w.:+-]*)|([A-Z][A-Z0-9_]+)\b)"
)


@dataclass(eq=False)
class Place:
    """The different values of one path of one tool's responses, or of one argument with which it answered.

    `values` are by their text, in the order in which they came. `echoes` while every value was also an argument of the
    very call. `secret` where any was judged so. `first` are its first values, four at most.
    """

    tool: str
    path: str
    name: Name
    argument: bool = False
    values: dict[str, Value] = field(default_factory=dict)
    echoes: bool = True
    secret: bool = False
    first: list[Json] = field(default_factory=list)

    def keep(self, value: Value, *, secret: bool = False, sent: Collection[str] = ()) -> None:
        """Take in one value; `sent` are the texts of the call's arguments, in small letters."""
        text = text_of(value.value)
        self.secret = self.secret or secret
        self.echoes = self.echoes and text.lower() in sent
        if len(self.values) < _MOST_VALUES and text not in self.values:
            self.values[text] = value
            self.first += [value.value] if len(self.first) < 4 else []


class Secret:
    """A value that is a secret, while a response is walked."""

    def __init__(self, value: Json) -> None:
        self.value = value


def harvest(response: Json, schema: JsonObject | None = None) -> Iterator[tuple[str, Json, bool]]:
    """Path (`airports[].code`), value and whether it is a secret, of each scalar; bounded in depth and number."""
    return islice(_walk(covered(_pruned(response, _DEEPEST), schema, Secret), ""), _MOST)


def _walk(node: Any, path: str) -> Iterator[tuple[str, Json, bool]]:
    if isinstance(node, Secret):
        yield path, node.value, True
    elif isinstance(node, Mapping):
        is_map = bool(node) and all(_KEY_FORM.fullmatch(key) for key in islice(node, 50))
        for key, part in islice(node.items(), 50):
            if is_map:
                yield f"{path}.{KEYS}".lstrip("."), key, False
            if is_map or not set(key) & set(".[]{}*"):
                yield from _walk(part, f"{path}.{'*' if is_map else key}".lstrip("."))
    elif isinstance(node, list):
        for part in node:
            yield from _walk(part, f"{path}[]")
    elif node is not None and not (isinstance(node, str) and len(node) > _LONGEST_TEXT):
        yield path, node, False


def _pruned(node: Json, depth: int) -> Json:
    if isinstance(node, Mapping):
        return {str(k): _pruned(v, depth - 1) for k, v in islice(node.items(), _LONGEST_LIST)} if depth else None
    if isinstance(node, list | tuple):
        return [_pruned(part, depth - 1) for part in node[:_LONGEST_LIST]] if depth else None
    return node


class Pools:
    """All values of the responses so far, each with the place that it came from."""

    def __init__(self, protocols: Iterable[ToolProtocol]) -> None:
        self.protocols: Mapping[str, ToolProtocol] = {protocol.name: protocol for protocol in protocols}
        self._places: dict[tuple[str, str], Place] = {}
        self._where: dict[str, set[Place]] = {}
        self._by_name: dict[Name, list[Place]] = {}
        self._keys: dict[str, dict[str, Value]] = {}
        self._added: set[int] = set()
        self.records: list[Record] = []

    @property
    def places(self) -> list[Place]:
        """The places in responses."""
        return [place for place in self._places.values() if not place.argument]

    @property
    def taken(self) -> list[Place]:
        """The arguments with which tools answered."""
        return [place for place in self._places.values() if place.argument]

    def add(self, sample: Sample) -> None:
        """Take the values of a call that is done; a second time changes nothing."""
        protocol = self.protocols.get(sample.tool)
        if not sample.done or protocol is None or sample.number in self._added:
            return
        self._added.add(sample.number)
        given = [(value, part) for value in sample.arguments.values() for part in scalars(value.value)]
        sent = {text_of(part).lower() for _, part in given}
        invented = {text_of(part) for value, part in given if value.made_up}
        for path, value, secret in harvest(sample.response, protocol.output_schema):
            if not (isinstance(value, str) and value in invented):  # what was made up is nobody's where it comes back
                place = self._kept((sample.tool, path), protocol)
                place.keep(Value(value, _origin(sample, path)), secret=secret, sent=sent)
                self._where.setdefault(text_of(value), set()).add(place)
        # What a tool made may be asked for by what it was given, although it answered nothing.
        told = says_something(sample.response) or kind_of(protocol)[0] == "create"
        for name, argument in sample.arguments.items() if told and sample.purpose != "refuse" else ():
            key = (sample.tool, f"({name})")
            for part in scalars(argument.value):
                self._kept(key, protocol, argument=name).keep(Value(part, _origin(sample, key[1])))
        self.records += records_of(sample)
        if isinstance(protocol.binding, HttpBinding) and isinstance(sample.response, Mapping):
            keys = self._keys.setdefault(protocol.binding.url, {})
            for name in islice(map(str, sample.response), 100):
                keys.setdefault(name, Value(name, _origin(sample, KEYS)))

    def ranked(self, protocol: ToolProtocol, argument: ArgumentFacts) -> list[tuple[float, Value]]:
        """Values that may suit an argument with how far each is from a sure one: 0 is a place of the same name."""
        wanted = argument_name(protocol, argument.name)
        searches = is_date(argument) or wanted.searches
        places = [
            place for place in self._near(argument, wanted, every=searches)
            if (wanted.secret or not place.secret) and not (place.argument and place.tool == protocol.name)
        ]  # fmt: skip
        found: list[tuple[float, Value]] = []
        about = nouns_of(protocol)
        for apart, group in _groups(places, protocol, argument, wanted):
            near = sorted(group, key=lambda place: (not place.argument, -len(about & _words_of(place))))
            ordered = [
                heapq.nlargest(MOST_CANDIDATES, _spread(list(place.values.values())), key=self.popularity)
                for place in near
            ]
            row = [held for row in zip_longest(*ordered) for held in row if held is not None]
            once = {text_of(held.value): held for held in reversed(row)}  # of several places, where the last has it
            found += [(apart + 0.75 * n, value) for n, value in enumerate(reversed(once.values()))]
        if is_date(argument):
            found += _dates(argument, places)
        elif wanted.searches:
            found += _searches(protocol, places, about)
        return sorted(found, key=lambda pair: pair[0])

    def above(self, protocol: ToolProtocol, argument: ArgumentFacts) -> list[Value]:
        """The keys of what is one step above: `/config` answers `{"cpu": …}`, so `/config/{section}` may take `cpu`."""
        if not isinstance(protocol.binding, HttpBinding):
            return []
        step = f"/{{{protocol.binding.wire_names.get(argument.name, argument.name)}}}"
        url = protocol.binding.url
        return list(self._keys.get(url.removesuffix(step), {}).values()) if url.endswith(step) else []

    def where(self, value: Json) -> set[Place]:
        """The places in responses that held a value; `5` and `"5"` are one."""
        return self._where.get(text_of(value), set())

    def popularity(self, held: Value) -> int:
        """How many places yield a value by themselves: what many tools know of, a tool is more likely to answer for."""
        return sum(not place.echoes for place in self.where(held.value))

    def _near(self, argument: ArgumentFacts, wanted: Name, *, every: bool) -> Iterator[Place]:
        """The places whose names are near, those that hold a value known to be good, and two of any other name."""
        text = said_of(argument)
        held = {place for value in _telling(argument) for place in self.where(value)}
        for name, places in self._by_name.items():
            if wanted.secret or not _is_secret(name):
                close = every or distance(wanted, name, text) is not None
                yield from places if close else (*places[:2], *(place for place in places[2:] if place in held))

    def _kept(self, key: tuple[str, str], protocol: ToolProtocol, *, argument: str = "") -> Place:
        """The place of a tool and a path, made where there is none."""
        place = self._places.get(key)
        if place is None:
            name = argument_name(protocol, argument) if argument else field_name(protocol, key[1])
            place = self._places[key] = Place(*key, name, argument=bool(argument))
            self._by_name.setdefault(name, []).append(place)
        return place


@lru_cache(maxsize=16_384)
def _is_secret(name: Name) -> bool:
    return name.secret


def _words_of(place: Place) -> frozenset[str]:
    return words_in((words_of(f"{place.tool}_{place.path}").replace("_", " "),))


def _origin(sample: Sample, path: str) -> Origin:
    return Origin(kind="response", tool=sample.tool, path=path, sample=sample.number)


def _spread(values: Sequence[Value]) -> list[Value]:
    """The first, the last, the middle one, and so on between: neighbours are often alike."""
    order = [0, len(values) - 1]
    step = 1 << max(0, len(values) - 1).bit_length()
    while step > 1:
        step //= 2
        order += range(step, len(values), step)
    return [values[place] for place in dict.fromkeys(order) if 0 <= place < len(values)]


def _groups(
    places: Iterable[Place], protocol: ToolProtocol, argument: ArgumentFacts, wanted: Name
) -> Iterator[tuple[float, list[Place]]]:
    """Places of one name together, with their distance from the argument; of strangers the nearest few, behind."""
    good = [part for value in good_values(argument) for part in scalars(value)]
    telling, text = _telling(argument), said_of(argument)
    accepted, refused, lost = (
        {text_of(part) for held in values for part in scalars(held.value)}
        for values in (argument.accepted, argument.refused, argument.not_found)
    )
    of_ids = any(map(distinctive, accepted)) or wanted.identifies
    told = any(hint.kind in ("type", "range", "enum", "length", "pattern", "format") for hint in argument.hints)
    tried = sum(v.origin.kind == "response" for v in (*argument.refused, *argument.not_found))
    hopeless = good or (named(argument.name) and not wanted.identifies) or tried >= _STRANGERS_TRIED
    lookup = None if hopeless else _ANY if wanted.identifies or argument.place == "path" else _LAST
    named_groups: dict[str, tuple[float, list[Place]]] = {}
    strangers: dict[str, tuple[float, list[Place]]] = {}
    for place in places:
        apart = distance(wanted, place.name, text)
        aside = apart is None or (apart > NEAR and wanted.of_another(place.name))
        if apart is None and not (wanted.searches or wanted.secret):
            apart = _stranger(place, telling, lookup, in_path=argument.place == "path")
        elif apart is not None and place.tool == protocol.name:
            apart += 0.5
        if apart is None or (wanted.own in PAGING and not (apart == EQUAL and place.argument)):
            continue
        if accepted & place.values.keys():
            apart -= 0.75 if of_ids else 0.0
        else:  # a refusal is about the form of a value, which others of the same place have too
            bad = len(refused & place.values.keys())
            if bad > (not aside and apart <= NEAR) and not told:
                continue
            apart += min(3, bad) + 0.4 * min(3, len(lost & place.values.keys())) + (0.75 if accepted and of_ids else 0)
        if good and not any(alike(value, good) for value in place.first[:3]):
            apart += 1.0
        key = f"{place.name.key} {place.argument} {round(apart, 1)}"
        (strangers if aside else named_groups).setdefault(key, (apart, []))[1].append(place)
    far = 4.0 if any(apart < TOLD for apart, _ in named_groups.values()) else 0.0
    yield from named_groups.values()
    nearest = sorted(strangers.values(), key=lambda pair: pair[0])[:_MOST_STRANGERS]
    yield from ((apart + far, group) for apart, group in nearest)


def _telling(argument: ArgumentFacts) -> list[Json]:
    """Some values that are good for an argument, and by which a place is known that holds the same thing."""
    return [part for value in good_values(argument) for part in scalars(value) if distinctive(part)][:6]


def _stranger(place: Place, telling: Sequence[Json], lookup: float | None, *, in_path: bool) -> float | None:
    """How far a place is whose name says nothing: by values and their look; else by `lookup`, where it holds ids."""
    if place.argument or (lookup is None and not telling) or place.name.own in PAGING:
        return None
    if any("\n" in text_of(value) for value in place.first):
        return None
    if any(text_of(value) in place.values for value in telling):
        return _KNOWN
    if telling and any(alike(value, telling) for value in place.first):
        return _SHAPED - (0.5 if place.name.identifies else 0.0)
    if lookup is None:
        return None
    words = all(isinstance(value, str) and len(value.split()) == 1 for value in place.first)
    if in_path and place.path.endswith("[]") and words and len(place.values) > 1:
        return _LISTED  # a list of names is what one looks up by name
    if place.name.identifies or place.path.endswith("[]"):
        return lookup
    return lookup + 0.5 if all(map(is_id, place.first)) else None


def said_of(argument: ArgumentFacts) -> frozenset[str]:
    """The words, in the singular, that the description of an argument and the replies about it use."""
    texts = [str(argument.declared.get(key, "")) for key in ("title", "description")]
    return words_in((*texts, *(hint.text for hint in argument.hints)))


def good_values(argument: ArgumentFacts) -> Iterator[Json]:
    """Values that are known to be good for an argument, or are called so."""
    yield from (held.value for held in argument.accepted)
    yield from (value for h in argument.hints if h.kind in ("enum", "example", "default") for value in h.values)
    for key in ("examples", "enum"):
        yield from values if isinstance(values := argument.declared.get(key), list) else ()
    yield from (argument.declared[key] for key in ("example", "default", "const") if key in argument.declared)


def is_date(argument: ArgumentFacts) -> bool:
    """Whether an argument is a date, by what was said of it or, where nothing was, by its name."""
    forms = {str(argument.declared.get("format", "")), *(hint.format for hint in argument.hints)} - {""}
    if forms:
        return bool(forms & {"date", "date-time"})
    given = list(good_values(argument))
    if given or set(argument.types) & {"integer", "number", "boolean"}:
        return any(isinstance(value, str) and format_of(value) in ("date", "date-time") for value in given)
    return bool(set(words_of(argument.name).split("_")) & {"date", "datetime", "dob", "birthday"})


def _dates(argument: ArgumentFacts, places: Sequence[Place]) -> Iterator[tuple[float, Value]]:
    """Dates that responses held: a start takes the earliest of each place, an end the day after it, then the latest."""
    timed = "date-time" in {argument.declared.get("format"), *(hint.format for hint in argument.hints)}
    for place in places:
        texts = {
            str(v.value)[:10]: v.origin for v in place.values.values() if common_format([str(v.value)[:10]]) == "date"
        }
        days = sorted(texts)[:30]
        if days and ends_range(argument.name):
            days = [str(date.fromisoformat(days[0]) + timedelta(days=1)), *sorted(texts, reverse=True)[:30]]
        for number, day in enumerate(dict.fromkeys(days)):
            text = f"{day}T00:00:00Z" if timed else day
            made = Value(text, replace(next(iter(texts.values())), kind="generated"))
            yield 1.5 + 0.5 * number, place.values.get(text) or made


def _searches(protocol: ToolProtocol, places: Sequence[Place], about: Collection[str]) -> Iterator[tuple[float, Value]]:
    """Words to search with: of the names and titles that responses held; those of what the tool is about come first."""
    for place in places:
        if place.argument or place.name.own.rpartition("_")[2] not in TITLES or place.name.identifies:
            continue
        near = 0.5 if set(place.name.key.split("_")) & set(about) or place.tool == protocol.name else 1.5
        texts = (held for held in place.values.values() if isinstance(held.value, str))
        for number, held in enumerate(islice(texts, 4)):
            words = re.findall(r"[^\W\d_]{4,}", str(held.value))
            if words and words[0] != held.value:
                word = Value(max(words[:3], key=len), replace(held.origin, kind="generated"))
                yield near + 0.75 * number, word
            yield near + 0.75 * number + 0.4, held


class Fits:
    """What is known to be excluded for one argument, ready to be asked about many values."""

    def __init__(self, tool: ToolFacts, argument: ArgumentFacts) -> None:
        self._argument, self._as_text = argument, argument.place in TEXT_PLACES
        root = tool.protocol.input_schema
        self._wanted = set(types(resolve(argument.declared, root)) or argument.types)
        told = limits_of(replace(argument, declared={}))
        self._listed = {text_of(v) for v in told.pop("enum", ()) if isinstance(v, str | int | float)}
        texts = ("minLength", "maxLength", "pattern", "format")
        of_text: dict[str, Any] = {key: told.pop(key) for key in texts if key in told}
        beside = {key: root[key] for key in ("$defs", "definitions", "properties") if key in root}
        declared = {**beside, "allOf": [dict(argument.declared)]} if argument.declared else {}
        if of_text.keys() & {"pattern", "format"}:
            of_text["type"] = "string"
        if told.get("type") == ["number"]:
            told["type"] = ["number", "integer"]
        self._plain = [check for schema in (declared, told) if schema and (check := _check(schema))]
        self._text = _check(of_text) if of_text else None
        self._gone = {self.key(held.value) for held in argument.refused}
        self._gone |= {self.key(held.value) for held in argument.not_found if _to_blame(tool, argument.name, held)}

    def key(self, value: Json) -> str:
        """The same for values that are the same when they are sent."""
        return text_of(value) if self._as_text and isinstance(value, str | int | float) else repr(value)

    def adapted(self, value: Value) -> Value | None:
        """The value as the argument can take it (`5` for `"5"`, `["x"]` for `"x"`), or None where it is excluded."""
        forms = [value.value]
        if isinstance(value.value, str) and {"integer", "number"} & self._wanted:
            if re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", value.value):
                forms.append(float(value.value) if "." in value.value else int(value.value))
        elif "string" in self._wanted and isinstance(value.value, int | float) and not isinstance(value.value, bool):
            forms.append(text_of(value.value))
        if "array" in self._wanted and not isinstance(value.value, list):
            forms += [[form] for form in forms]
        form = next((form for form in forms if self.allows(form)), None)
        return value if form is value.value else None if form is None else Value(form, value.origin)

    def allows(self, value: Json) -> bool:
        """Whether nothing that is known excludes a value."""
        if self._argument.unknown or self.key(value) in self._gone or not _sendable(value):
            return False
        if self._argument.place == "path" and value in ("", ".", ".."):
            return False
        parts = value if isinstance(value, list) and "array" in self._wanted else [value]
        if self._listed and any(isinstance(p, list | dict) or text_of(p) not in self._listed for p in parts):
            return False
        sent = text_of(value) if self._as_text and isinstance(value, str | int | float) else value
        return all(check.is_valid(value) for check in self._plain) and (self._text is None or self._text.is_valid(sent))


def _check(schema: JsonObject) -> Any:
    try:
        return validator(schema)
    except (ValueError, RecursionError):  # a schema or a pattern that is none excludes nothing
        return None


def _sendable(value: Json) -> bool:
    """Whether a value can be written as JSON in UTF-8: not half a character, not infinity."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _to_blame(tool: ToolFacts, name: str, held: Value) -> bool:
    """Whether a value leads nowhere by itself: alone, or beside others that are good elsewhere."""
    good = {(one.name, repr(value.value)) for one in tool.arguments.values() for value in one.accepted}
    where = [s for s in tool.samples if not s.done and name in s.arguments and s.arguments[name].value == held.value]
    beside = [[(n, repr(v.value)) for n, v in sample.arguments.items() if n != name] for sample in where]
    return not where or any(all(one in good for one in others) for others in beside)


def candidates(
    tool: ToolFacts, argument: ArgumentFacts, *, pools: Pools | None, suggested: Sequence[Json] = ()
) -> list[Value]:
    """Values for an argument, best first, each with its origin; none twice, none excluded by what is known.

    The sources stand in the paper's order, one behind the other but interleaved: the first few values come from
    different places. `pools` holds the values of other tools (None: the tool is probed alone).
    """
    fits = Fits(tool, argument)
    full = {sample.number for sample in tool.fruitful}
    good = {fits.key(s.arguments[argument.name].value) for s in tool.fruitful if argument.name in s.arguments}
    vain = set()
    for sample in tool.samples:  # a refusal that names other arguments alone says nothing against this one's value
        said = tool.said.get(sample.number, ())
        blamed = not said or any(hint.argument == argument.name for hint in said)
        if blamed and argument.name in sample.arguments and sample.number not in full:
            vain.add(fits.key(sample.arguments[argument.name].value))
    kinds = {_kind(held.value) for held in argument.accepted if not held.made_up}
    ids = [held.value for held in argument.accepted if held.origin.kind == "response" and distinctive(held.value)]
    invented = [v for v in made_up(argument, tool.protocol.input_schema)
                if not kinds or (_kind(v.value) in kinds and (not ids or alike(v.value, ids)))]  # fmt: skip
    listed = argument.declared.get("enum")
    told = [v for kind in ("example", "default", "enum") for h in argument.hints if h.kind == kind for v in h.values]
    sources: list[tuple[float, float, Iterable[Value]]] = [
        (0.0, 0.4, _as(_described(tool, argument), "given")),
        (0.4, 0.6, _as(listed if isinstance(listed, list) else [], "enum")),
        (1.4, 0.6, _as(told, "error")),
        (2.6, 0.6, _as(suggested, "model")),
        (3.4 if sure(argument) else 4.6, 0.6, invented),
        (1.8, 0.6, pools.above(tool.protocol, argument) if pools else []),
    ]
    found = [(start + step * n, v) for start, step, values in sources for n, v in enumerate(values)]
    found += [(1.0 + far, value) for far, value in pools.ranked(tool.protocol, argument)] if pools else []
    found.sort(key=lambda pair: pair[0])
    adapted = ((rank, value) for rank, raw in found[: 4 * MOST_CANDIDATES] if (value := fits.adapted(raw)))
    ranked = [(rank + (3.0 if fits.key(value.value) in vain - good else 0.0), value) for rank, value in adapted]
    once: dict[str, Value] = {}
    for _, value in sorted(ranked, key=lambda pair: pair[0]):
        once.setdefault(fits.key(value.value), value)
    return list(once.values())[:MOST_CANDIDATES]


def _described(tool: ToolFacts, argument: ArgumentFacts) -> Iterator[Json]:
    """What the description of the tool gives as examples or defaults."""
    declared = argument.declared
    yield from examples if isinstance(examples := declared.get("examples"), list) else ()
    yield from (declared[key] for key in ("example", "const", "default") if key in declared)
    yield from (e.arguments[argument.name] for e in tool.protocol.examples if argument.name in e.arguments)
    text = str(declared.get("description", ""))[:4_000]
    for start in _SAMPLE.finditer(text):
        here = start.end()
        while (match := _QUOTED.match(text, here)) is not None:
            yield next(group for group in match.groups() if group is not None).rstrip(".:,")
            here = match.end()


def _as(values: Iterable[Json], kind: OriginKind) -> Iterator[Value]:
    return (Value(value, Origin(kind=kind)) for value in values)


def _kind(value: Json) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def sizes_pages(argument: str) -> bool:
    """Whether an argument's name says that it is how many records a page may have."""
    return _SIZES.search(snake(argument)) is not None


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a response: each of its scalars, those of the objects around it, and the arguments of its call."""

    tool: str
    sample: int
    values: Mapping[tuple[str, str], Value]
    names: frozenset[str]
    """The last names of their paths."""


def records_of(sample: Sample) -> list[Record]:
    """The records in a response, outer before inner."""
    given = {(sample.tool, f"({name})"): value for name, value in sample.arguments.items()}
    found: list[Record] = []
    _collect(sample.response, "", given, sample, found)
    return found


def _collect(
    node: Json, path: str, around: Mapping[tuple[str, str], Value], sample: Sample, found: list[Record]
) -> None:
    inner: list[tuple[str, Json]] = []
    if isinstance(node, list):
        inner = [(f"{path}[]", item) for item in node[:40]]
    elif isinstance(node, Mapping):
        inner = [(f"{path}.{key}".lstrip("."), value) for key, value in islice(node.items(), 100)]
    own = {(sample.tool, here): Value(value, _origin(sample, here)) for here, value in inner
           if isinstance(value, str | int | float)}  # fmt: skip
    records = [own] if isinstance(node, Mapping) and own else [{key: value} for key, value in own.items()]
    inside = {**around, **own} if isinstance(node, Mapping) else around
    for record in records:
        if len(found) <= 300:
            held = {**around, **record}
            found.append(Record(sample.tool, sample.number, held, frozenset(_last(path) for _, path in held)))
    for here, value in inner:
        if isinstance(value, Mapping | list) and len(found) <= 300:
            _collect(value, here, inside, sample, found)


@lru_cache(maxsize=65_536)
def _last(path: str) -> str:
    return path.rpartition(".")[2].strip("[]()")


def combinations(
    offered: Mapping[str, Sequence[Value]],
    records: Sequence[Record],
    *,
    apart: bool = False,
    held: Collection[str] = (),
) -> Iterator[dict[str, Value]]:
    """Values for all arguments at once, best first, none twice.

    First those that a record holds together, then each argument's best value, then each one's candidates in turn.
    `apart`: what a record holds together is not wanted, since what it describes is there already. `held` are the
    arguments whose best candidate is known to be good: the others are varied before them.
    """
    if any(not values for values in offered.values()):
        return
    seen: set[str] = set()
    first = {name: values[0] for name, values in offered.items()}
    depth = max((len(values) for values in offered.values()), default=0)
    spread = ({n: v[(d + k) % len(v)] for k, (n, v) in enumerate(offered.items())} for d in range(depth))
    together = spread if apart else _together(offered, records) if len(offered) > 1 else iter(())
    for chosen in chain(islice(together, 12), [first], _in_turn(offered, first, held)):
        key = repr([(name, chosen[name].value) for name in offered])
        if key not in seen:
            seen.add(key)
            yield {name: chosen[name] for name in offered}


def _together(offered: Mapping[str, Sequence[Value]], records: Sequence[Record]) -> Iterator[dict[str, Value]]:
    """Values that one record holds, of the records that hold most and take the better candidates."""
    ranks = {}
    for name, values in offered.items():
        places = dict.fromkeys((v.origin.tool, v.origin.path) for v in values if v.origin.kind == "response")
        ranks[name] = {place: rank for rank, place in enumerate(places)}
    allowed = {name: {repr(value.value) for value in values} for name, values in offered.items()}
    scored: dict[float, dict[int, list[dict[str, Value]]]] = {}
    known = set().union(*ranks.values())
    for record in records:
        if len(record.names & offered.keys()) + len(known & record.values.keys()) < 2:
            continue
        chosen: dict[str, Value] = {}
        used: set[tuple[str, str]] = set()  # a field stands for one argument: the player's id is not the team's as well
        cost = 0.0
        for name in offered:
            fits = []
            for place, value in record.values.items():
                rank = 0.5 if _last(place[1]) == name else ranks[name].get(place)
                full = len(offered[name]) >= MOST_CANDIDATES  # a long list may hold the value further down
                if rank is not None and place not in used and (full or repr(value.value) in allowed[name]):
                    fits.append((rank, place))
            cost += 3.0 if not fits else min(fits)[0]
            if fits:
                chosen[name] = record.values[min(fits)[1]]
                used.add(min(fits)[1])
        if len(chosen) > 1:
            scored.setdefault(cost, {}).setdefault(record.sample, []).append(chosen)
    for cost, by_response in sorted(scored.items()):
        if cost > 3.0 * (len(offered) - 1):
            return  # each argument's best value, wherever it is from, is as good
        for row in zip_longest(*by_response.values()):  # neighbours in one list teach the same
            yield from ({n: one.get(n, values[0]) for n, values in offered.items()} for one in row if one is not None)


def _in_turn(
    offered: Mapping[str, Sequence[Value]], first: Mapping[str, Value], held: Collection[str]
) -> Iterator[dict[str, Value]]:
    varied = {name: values for name, values in offered.items() if name not in held}
    if varied and len(varied) < len(offered):
        yield from ({**first, **chosen} for chosen in _in_turn(varied, first, ()))
    for depth in range(1, max(map(len, offered.values()), default=0)):
        yield {**first, **{name: values[min(depth, len(values) - 1)] for name, values in offered.items()}}
        yield from ({**first, name: values[depth]} for name, values in offered.items() if depth < len(values))
