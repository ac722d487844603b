"""Values made up for an argument: by its type and limits, else by its name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from probing.facts import ArgumentFacts
from probing.generate.limits import Limits, finite, limits_of
from probing.generate.names import dates, named, plural
from probing.generate.pattern import matching
from probing.naming import PAGING
from probing.naming import words_of as argument_word
from probing.sample import Origin, Value
from probing.shape import text_of
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, type_name, validator

IMPROBABLE = "qzx~!7w"
"""A word that no service knows, with characters that most patterns refuse."""

_TEXTS = ("test", "a", "example", "hello")
_ORIGIN = Origin(kind="generated")
_DEEPEST, _FIELDS = 3, 10
_MOST = 24
_FAR, _MANY = 987_654_321, 100_000
"""Numbers beyond most ranges; of records that a page may hold, fewer, lest a tool without a limit sends them all."""
_LONG = 300
_FINEST, _VAST = 1e-9, 1e15
_NUMERIC = frozenset({"integer", "number"})
_USUAL = (
    "12:00", "12:00:00", "2024-01-15", "2024-01", "2024-01-15T00:00:00Z", "10.00", "1", "10", "100", "10001", "a", "US",
    "USD", "user@example.com", "https://example.com/", "example.com", "8.8.8.8", "+12025550123", "1.0.0", "#ff0000",
    "en", "test", "123e4567-e89b-42d3-a456-426614174000",
)  # fmt: skip
"""Texts of many forms that mean something to somebody."""
_PLAIN: tuple[Json, ...] = (1, "test", True)


def typed(argument: ArgumentFacts, *, seed: int = 0, root: JsonObject | None = None) -> Iterator[Value]:
    """Values made up for an argument, best first, none twice; the same for the same facts and seed.

    Each fits the type, the limits, the pattern and the format that are declared or were told; where nothing is known of
    the type, the name decides, and what comes last is `1`, `"test"` and `true`. `root` is the schema that references
    of the declared one point into.
    """
    seen: set[str] = set()
    for value in islice(_values(argument.name, limits_of(argument, root), seed), 4 * _MOST):
        if argument.place == "path" and isinstance(value, list):
            continue  # one step of a path is one thing, whatever its name
        key = repr(value)
        if key not in seen and len(seen) < _MOST:
            seen.add(key)
            yield Value(value, _ORIGIN)


def sure(argument: ArgumentFacts) -> bool:
    """Whether what is made up is likely good: the name or a format says what it is."""
    limits = limits_of(argument)
    return bool(named(argument.name) or limits.format or limits.enum or limits.pattern)


def bogus(argument: ArgumentFacts) -> Value | None:
    """A value that a tool which checks anything refuses, so that its reply tells what it wants.

    `None` where no such reply is to be expected: the values that it takes are known, or the tool has answered one.
    """
    limits = limits_of(argument)
    if limits.enum or limits.types == ("boolean",) or limits.pattern or limits.format:
        return None
    tried = {text_of(v.value) for v in (*argument.accepted, *argument.refused, *argument.not_found)}
    return next((Value(v, _ORIGIN) for v in _wrong(argument, limits) if text_of(v) not in tried), None)


def _wrong(argument: ArgumentFacts, limits: Limits) -> Iterator[Json]:
    kinds = limits.types or tuple({type_name(held.value) for held in argument.accepted})
    if not limits.types or "string" in limits.types or not _NUMERIC & set(kinds):
        yield IMPROBABLE
    if limits.longest is None and "string" in kinds:
        yield "x" * _LONG
    if kinds and _NUMERIC.issuperset(kinds):
        far = _MANY if argument_word(argument.name) in PAGING else _FAR
        yield from [value for value, edge in ((far, limits.maximum), (-far, limits.minimum)) if edge is None]
    if argument.place in ("body", "value") and not limits.types:
        yield {IMPROBABLE: IMPROBABLE}


def _values(name: str, limits: Limits, seed: int, depth: int = _DEEPEST) -> Iterator[Json]:
    yield from limits.enum
    guesses = _turned(named(name), seed)
    if not limits.types:
        yield from (value for value in _strings(name, limits, seed) if limits.pattern or limits.format)
        yield from (guess for guess in guesses if _in_range(guess, limits))
        if limits.minimum is not None or limits.maximum is not None:
            yield from _numbers((), limits, whole=True)
        if plural(name):
            yield from ([value] for value in (*guesses, "test", 1))
        yield from _turned(_PLAIN, 0)
        return
    for kind in limits.types:
        match kind:
            case "integer" | "number":
                yield from _numbers(guesses, limits, whole=kind == "integer")
            case "boolean":
                yield from (False, True) if seed % 2 else (True, False)
            case "string":
                yield from _strings(name, limits, seed)
            case "array" if depth:
                yield from _lists(name, limits, seed, depth)
            case "object" if depth:
                yield from _objects(limits, seed, depth)
            case "null":
                yield None


def _numbers(guesses: Iterable[Json], limits: Limits, *, whole: bool) -> Iterator[Json]:
    low, high = limits.lowest(whole=whole), limits.highest(whole=whole)
    middle = low + (high - low) // 2 if low is not None and high is not None else None
    near = [value for value in (low, high, middle) if value is not None]
    step = finite(limits.schema.get("multipleOf")) or 0.0
    within = [value for value in (1, *near, 10 * step) if step > _FINEST and abs(value) < _VAST]
    steps = [step * math.ceil(value / step) for value in within]
    usual = chain((g for g in guesses if _is_number(g)), (1, 2, 10, 0, 100), near)
    for value in steps or usual:
        number = math.floor(value) if whole else value
        if _in_range(number, limits):
            yield number


def _strings(name: str, limits: Limits, seed: int) -> Iterator[str]:
    shortest = int(limits.shortest or 0)
    if limits.pattern:
        usual = _matched(limits.pattern, (*map(text_of, named(name)), *_USUAL))
        yield from chain(usual, matching(limits.pattern, seed=seed, shortest=shortest))
    by_format = _FORMATS.get(limits.format)
    if limits.format == "date":
        yield from dates(name)
    elif limits.format == "date-time":
        yield from (f"{day}T00:00:00Z" for day in dates(name))
    elif by_format:
        yield from by_format
    elif not limits.pattern:
        for text in (*map(text_of, named(name)), *_turned(_TEXTS, seed)):
            yield _fitted(text, limits)


def _matched(pattern: str, texts: Iterable[str]) -> Iterator[str]:
    """Those of `texts` that a pattern matches: one that means something is better than one that is drawn."""
    try:
        fits = validator({"pattern": pattern})
    except ValueError:
        return iter(())
    return (text for text in texts if fits.is_valid(text))


def _fitted(text: str, limits: Limits) -> str:
    """The text repeated or cut to the length wanted."""
    shortest, longest = int(limits.shortest or 0), limits.longest
    if 0 < shortest <= 10_000:
        text = text * (shortest // max(1, len(text)) + 1) if len(text) < shortest else text
        text = text[: max(shortest, len(text))] if longest is None else text
    return text[: int(longest)] if longest is not None else text


def _lists(name: str, limits: Limits, seed: int, depth: int) -> Iterator[Json]:
    items = resolve(limits.schema.get("items", {}), limits.root)
    least = min(int(limits.schema.get("minItems", limits.shortest or 0) or 0), 20)
    inner = Limits.of(items, limits.root)
    values = list(islice(_values(_one(name), inner, seed, depth - 1), max(4, least)))
    if least <= 1:
        yield from ([value] for value in values)
    else:
        yield (values * least)[:least] if values else []
    if least == 0:
        yield []


def _objects(limits: Limits, seed: int, depth: int) -> Iterator[Json]:
    properties: JsonObject = limits.schema.get("properties", {})
    needed = [name for name in limits.schema.get("required", ()) if name in properties]
    for names in (needed, list(properties)):
        made = {
            name: next(
                _values(name, Limits.of(resolve(properties[name], limits.root), limits.root), seed, depth - 1), 1
            )
            for name in names[:_FIELDS]
        }
        yield made


def _one(name: str) -> str:
    return name.removesuffix("_list").removesuffix("List").removesuffix("s")


def _in_range(value: Json, limits: Limits) -> bool:
    if not _is_number(value):
        return limits.minimum is None and limits.maximum is None
    return limits.allows(value)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _turned(values: Iterable[Json], seed: int) -> list[Json]:
    """The values, begun at another place for another seed."""
    listed = list(values)
    start = seed % len(listed) if listed else 0
    return listed[start:] + listed[:start]


_FORMATS: dict[str, tuple[str, ...]] = {
    "byte": ("dGVzdA==",),
    "duration": ("P1D",),
    "email": ("user@example.com",),
    "hostname": ("example.com",),
    "idn-email": ("user@example.com",),
    "ipv4": ("8.8.8.8",),
    "ipv6": ("2001:db8::1",),
    "iri": ("https://example.com/",),
    "time": ("12:00:00Z", "12:00:00"),
    "uri": ("https://example.com/",),
    "uri-reference": ("/", "https://example.com/"),
    "url": ("https://example.com/",),
    "uuid": ("123e4567-e89b-42d3-a456-426614174000",),
}
