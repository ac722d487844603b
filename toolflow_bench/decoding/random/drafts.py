"""Random schemas of single values, each with a value that conforms to it, all from one seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from protocols.jsontypes import Json
from toolflow_bench.decoding.random.patterns import draw_pattern

T = TypeVar("T")

HOSTILE = (
    "",
    " ",
    '"',
    "'",
    "\\",
    '\\"',
    'a"b',
    "it's",
    "a\nb",
    "\t",
    "\r\n",
    "\x00",
    "\x7f",
    "\u2028",
    "{}",
    "]",
    ")",
    "/",
    "//",
    "%llguidance {}",
    "start: /.*/",
    "<T>",
    "</s>",
    "<|im_end|>",
    "null",
    "true",
    "None",
    "0",
    "-1",
    "1e5",
    "Flüge",
    "航空券",
    "🛫",
    "e\u0301",
    "\u202eabc",
    "a" * 60,
    "${x}",
    "%s",
    "\\u0041",
    "\\n",
)
"""Texts that break decoders, as names and as values."""

FORMATS = {
    "date": "2024-02-29",
    "time": "23:59:58Z",
    "date-time": "2013-01-31T06:07:08+01:00",
    "email": "ann@example.org",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "api.example.org",
    "uri": "https://example.org/a?b=c",
    "duration": "P1DT2H",
    "uri-reference": "/a/b",
    "json-pointer": "/a/0",
    "regex": "[a-z]+",
    "int64": "7",
}
"""Format → a text that has it; the last is none of JSON Schema's."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A schema and a value that is meant to conform to it."""

    schema: Any
    example: Json


@dataclass(slots=True)
class Draw:
    """What a random schema is drawn with: `kinds` gathers what it has, `definitions` what its references point to."""

    rng: random.Random
    kinds: set[str] = field(default_factory=set)
    definitions: dict[str, Any] = field(default_factory=dict)

    def one(self, *options: T) -> T:
        """One of them."""
        return self.rng.choice(options)

    def chance(self, share: float) -> bool:
        """True in so many of cases."""
        return self.rng.random() < share


def text(draw: Draw) -> Draft:
    """A string: free, of some length, of a pattern, of a format."""
    rng = draw.rng
    match rng.randrange(6):
        case 0 | 1:
            return Draft({"type": "string"}, rng.choice(HOSTILE))
        case 2:
            draw.kinds.add("length")
            least, more = rng.choice((0, 1, 2, 7)), rng.choice((0, 1, 5, 30))
            schema = {"type": "string", "minLength": least, "maxLength": least + more}
            dropped = rng.choice((None, "minLength", "maxLength"))
            return Draft(
                {key: value for key, value in schema.items() if key != dropped},
                rng.choice("aé\n🛫\\") * (least + more // 2),
            )
        case 3:
            draw.kinds.add("format")
            name = rng.choice(list(FORMATS))
            return Draft({"type": "string", "format": name}, FORMATS[name])
        case 4:
            draw.kinds.add("pattern")
            pattern, example = draw_pattern(rng)
            return Draft({"type": "string", "pattern": pattern}, example)
        case _:
            draw.kinds.update(("pattern", "length"))
            pattern, example = draw_pattern(rng)
            low, high = max(0, len(example) - rng.randrange(3)), len(example) + rng.randrange(4)
            return Draft({"type": "string", "pattern": pattern, "minLength": low, "maxLength": high}, example)


def number(draw: Draw) -> Draft:
    """An integer or a number, perhaps in a range, perhaps a multiple."""
    rng, whole = draw.rng, draw.chance(0.6)
    kind = "integer" if whole else "number"
    match rng.randrange(4):
        case 0:
            return Draft({"type": kind}, rng.choice((0, -1, 7, 10**9) if whole else (0.5, -2.25, 3, 1e-7, 1e20)))
        case 1 | 2:
            draw.kinds.add("range")
            return _ranged(draw, kind)
        case _:
            draw.kinds.add("multiple")
            step = rng.choice((1, 2, 3, 5, 10, 100, 7) if whole else (0.5, 0.25, 0.01, 1, 5))
            top = step * rng.randrange(1, 50)
            bounds = rng.choice(({}, {"minimum": 0, "maximum": top}, {"minimum": -top}))
            return Draft({"type": kind, "multipleOf": step, **bounds}, rng.choice((0, step)))


def _ranged(draw: Draw, kind: str) -> Draft:
    rng = draw.rng
    base: Any = rng.choice((0, 1, -3, 10, 99, 1000, -1000, 2013, 10**9, -(10**12)))
    width: Any = rng.choice((0, 1, 2, 8, 95, 1234, 10**6))
    if kind == "number" and draw.chance(0.5):
        base, width = base + rng.choice((0.5, 0.001, 0.125)), width + rng.choice((0.25, 0.0001))
    low, high = base, base + width
    example = low if draw.chance(0.5) else high
    schema: dict[str, Any] = {"type": kind}
    open_low, open_high = draw.chance(0.25), draw.chance(0.25)
    if draw.chance(0.8):
        # An open end moves out, so that the example stays inside.
        schema |= {"exclusiveMinimum": low - 1} if open_low else {"minimum": low}
    if draw.chance(0.8):
        schema |= {"exclusiveMaximum": high + 1} if open_high else {"maximum": high}
    return Draft(schema, example)


def choice(draw: Draw) -> Draft:
    """An enumeration or a constant, of any types."""
    rng = draw.rng
    values: tuple[Json, ...] = (*HOSTILE, 0, 1, -1, 1.5, 1e300, True, False, None, [], [1, "a"], {}, {"a b": [None]})
    if draw.chance(0.3):
        draw.kinds.add("const")
        value = rng.choice(values)
        return Draft({"const": value}, value)
    draw.kinds.add("enum")
    strings = draw.chance(0.6)
    some = rng.sample([value for value in values if isinstance(value, str)] if strings else values, rng.randrange(1, 7))
    # 1 and true are equal to Python, not to JSON Schema; what is left stays distinct for both.
    some = [value for place, value in enumerate(some) if value not in some[:place]]
    return Draft({"type": "string", "enum": some} if strings and draw.chance(0.5) else {"enum": some}, rng.choice(some))


def plain(draw: Draw) -> Draft:
    """A boolean, a null, or anything."""
    draw.kinds.add("plain")
    return draw.one(
        Draft({"type": "boolean"}, True),
        Draft({"type": "null"}, None),
        Draft({}, "anything"),
        Draft(True, [1]),
        Draft({"description": 'Say "anything".', "title": "%"}, {"a": 1}),
        Draft({"type": ["string", "null"]}, None),
        Draft({"type": ["integer", "boolean", "array"]}, False),
        Draft({"type": "string", "nullable": True}, "x"),
    )


SCALARS: tuple[Callable[[Draw], Draft], ...] = (text, text, number, number, choice, plain)
