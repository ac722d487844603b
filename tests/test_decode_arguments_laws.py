"""Laws over random schemas: what a grammar derives conforms to its schema and ends; numbers, formats, patterns too."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atc.decode.arguments import arguments_grammar
from atc.decode.arguments.formats import FORMATS, format_tree
from atc.decode.arguments.numbers import integers, numbers
from atc.decode.arguments.spans import Span, beyond
from atc.decode.bounds import BOUNDS
from atc.decode.errors import Undecodable
from atc.decode.formats import ArgumentForm
from atc.decode.gbnf import NotExpressible, gbnf
from atc.decode.grammar import AnyOrder, Choice, Grammar, Node, Pattern, Ref, Repeat, Sequence, Text, optional
from atc.regex import (
    Alternatives,
    Chars,
    PatternError,
    Repeated,
    Row,
    Tree,
    found,
    lengths,
    literal,
    parse,
    searched,
)
from protocols.schema import violations
from tests.decode_schema_lab import Gbnf, accepts, of_schema

LIMIT = 40_000
"""Characters of one sentence; the bounds give far fewer."""


class Derived:
    """Random sentences of a grammar, derived from it without any lexer."""

    def __init__(self, grammar: Grammar, draw: random.Random) -> None:
        self._grammar, self._draw = grammar, draw

    def text(self) -> str:
        return self._of(self._grammar.start)

    def _of(self, node: Node) -> str:
        match node:
            case Text(text):
                return text
            case Pattern():
                return self._matching(node)
            case Ref(rule):
                return self._of(self._grammar.rules[rule])
            case Sequence(parts):
                return "".join(map(self._of, parts))
            case Choice(parts):
                return self._of(self._draw.choice(parts))
            case Repeat(part, least, most):
                return "".join(self._of(part) for _ in range(self._count(least, most)))
            case AnyOrder():
                return self._any_order(node)

    def _any_order(self, node: AnyOrder) -> str:
        must = [part for part, needed in node.items if needed]
        may = [part for part, needed in node.items if not needed]
        free = optional(node)
        chosen = must + self._draw.sample(may, self._count(free.start, free.stop - 1))
        self._draw.shuffle(chosen)
        return self._of(node.separator).join(map(self._of, chosen))

    def _count(self, least: int, most: int) -> int:
        return self._draw.choice([least, most, self._draw.randint(least, most), min(most, least + 1)])

    def _matching(self, pattern: Pattern) -> str:
        tree = parse(f"(?s:{pattern.regex})")
        if not pattern.also and not pattern.never:
            return drawn(tree, self._draw)
        also, never = (tuple(map(parse, regexes)) for regexes in (pattern.also, pattern.never))
        for _ in range(20):
            text = drawn(tree, self._draw)
            if len(text) < 60 and found([*also, literal(text)], never) is not None:
                return text
        shortest = found([tree, *also], never)
        assert shortest is not None
        return shortest


def drawn(tree: Tree, draw: random.Random) -> str:
    """A string that `tree` matches."""
    match tree:
        case Chars(ranges):
            low, high = draw.choice(ranges)
            char = draw.choice([low, high, draw.randint(low, high)])
            return chr(char) if not 0xD800 <= char < 0xE000 else "\ue000"
        case Row(parts):
            return "".join(drawn(part, draw) for part in parts)
        case Alternatives(parts):
            return drawn(draw.choice(parts), draw)
        case Repeated(part, least, most):
            top = least + 3 if most is None else most
            return "".join(
                drawn(part, draw) for _ in range(draw.choice([least, min(top, least + 1), draw.randint(least, top)]))
            )
    raise AssertionError(tree)


SCALARS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "minLength": 2, "maxLength": 4},
    {"type": "string", "pattern": "^[a-c]+-?$"},
    {"type": "string", "pattern": "x", "maxLength": 4},
    {"type": "string", "format": "date"},
    {"type": "integer"},
    {"type": "integer", "minimum": -5, "maximum": 30},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "number", "multipleOf": 0.5},
    {"type": "boolean"},
    {"type": "null"},
    {"enum": ["a", 1, None, {"k": [1]}]},
    {"type": ["integer", "null"]},
    {"not": {"type": "string"}, "type": ["string", "boolean"]},
    {},
]


def _composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "c d", 'e"', "é"])
    properties = st.dictionaries(names, inner, max_size=3)
    return st.one_of(
        st.builds(
            lambda p, required, extra: (
                {"type": "object", "properties": p, "required": [n for n in required if n in p]} | extra
            ),
            properties,
            st.lists(names, unique=True),
            st.sampled_from(
                [
                    {},
                    {"additionalProperties": False},
                    {"additionalProperties": {"type": "integer"}},
                    {"minProperties": 1},
                    {"maxProperties": 2},
                ]
            ),
        ),
        st.builds(
            lambda items, more: {"type": "array", "items": items} | more,
            inner,
            st.sampled_from([{}, {"minItems": 1}, {"maxItems": 2}, {"minItems": 2, "maxItems": 3}, {"contains": {}}]),
        ),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"oneOf": parts}, st.lists(inner, min_size=2, max_size=2)),
        st.builds(lambda one, two: {"allOf": [one, two]}, inner, inner),
        st.builds(lambda one, two: {"if": one, "then": two, "type": ["object", "string", "integer"]}, inner, inner),
    )


SCHEMAS = st.recursive(st.sampled_from(SCALARS), _composed, max_leaves=5)


@settings(max_examples=60, deadline=None)
@given(SCHEMAS, st.integers(0, 10**6))
def test_what_is_derived_conforms_and_ends(schema: Any, seed: int) -> None:
    tool = of_schema({"type": "object", "properties": {"v": schema, "w": {"type": "boolean"}}, "required": ["v"]})
    try:
        grammar = arguments_grammar(tool, "json")
    except Undecodable:
        return
    draw = random.Random(seed)
    for _ in range(3):
        text = Derived(grammar, draw).text()
        assert len(text) < LIMIT
        if not grammar.unheld:
            assert violations(tool.protocol.input_schema, json.loads(text)) == []


@settings(max_examples=40, deadline=None)
@given(SCHEMAS, st.integers(0, 10**6))
def test_what_is_derived_from_gbnf_is_what_the_grammar_derives(schema: Any, seed: int) -> None:
    tool = of_schema({"type": "object", "properties": {"v": schema}, "required": ["v"]})
    try:
        grammar = arguments_grammar(tool, "json")
        text = gbnf(grammar, exact=True)
    except (Undecodable, NotExpressible):
        return
    sentence = Derived(grammar, random.Random(seed)).text()
    if len(sentence) < 400:
        assert Gbnf(text).matches(sentence)


ENDS = st.one_of(
    st.integers(-(10**12), 10**12),
    st.floats(-1e6, 1e6).map(lambda x: round(x, 4)),
    st.sampled_from([0, 1, -1, 0.1, 1e-7, 1e15, 1e18, 0.3]),
)


@settings(max_examples=60, deadline=None)
@given(ENDS, ENDS, st.booleans(), st.booleans(), st.booleans(), st.integers(0, 10**6))
def test_numbers_lie_between_their_bounds(
    one: Any, two: Any, low_open: bool, high_open: bool, whole: bool, seed: int
) -> None:
    low, high = sorted((one, two))
    schema: dict[str, Any] = {"type": "integer" if whole else "number"}
    schema["exclusiveMinimum" if low_open else "minimum"] = low
    schema["exclusiveMaximum" if high_open else "maximum"] = high
    span = Span(**_end("low", low, low_open, up=True), **_end("high", high, high_open, up=False))
    if span.empty:
        return
    tree = integers(span, BOUNDS.digits) if whole else numbers(span, BOUNDS.digits, BOUNDS.places)
    draw = random.Random(seed)
    if lengths(tree, 60):
        for _ in range(5):
            assert violations(schema, json.loads(drawn(tree, draw))) == []
    for value in (low, high, (low + high) / 2, int((low + high) // 2)):
        text = repr(value)
        if (
            violations(schema, value) == []
            and "e" not in text
            and text != "-0.0"
            and len(text) < 14
            and not (whole and "." in text)
        ):
            assert found([tree, literal(text)]) is not None, text


NUMBERS = {kind: of_schema({"type": "object", "properties": {"v": {"type": kind}}}) for kind in ("number", "integer")}


@settings(max_examples=150, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15),
    st.sampled_from(("json", "positional", "keywords")),
)
@example(0.30000000000000004, "json")
@example(0.00012345678901234567, "positional")
@example(5e-324, "json")
@example(-999999999999999.9, "keywords")
def test_a_double_may_be_written_with_all_its_digits(value: float, form: ArgumentForm) -> None:
    text = repr(value)
    inside = {"json": f'{{"v": {text}}}', "positional": text, "keywords": f"v={text}"}[form]
    assert accepts(NUMBERS["number"], inside, form)


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_may_have_64_bits(value: int) -> None:
    assert accepts(NUMBERS["integer"], f'{{"v": {value}}}')


def _end(name: str, number: Any, is_open: bool, *, up: bool) -> dict[str, Any]:
    end, still_open = beyond(Decimal(repr(number)), up=up) if is_open else (Decimal(repr(number)), False)
    return {name: end, f"{name}_open": still_open}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_has_a_format_here_has_it_for_the_validator(name: str) -> None:
    draw = random.Random(name)
    for _ in range(60):
        assert violations({"format": name}, drawn(format_tree(name), draw)) == []


PATTERNS = [
    "^[a-z]+$",
    "foo",
    "^a|b$",
    "(^|,)x",
    "^$",
    "^\\s*$",
    "(ab)+c?",
    "^(?:[0-9]{1,3}\\.){3}\\d+$",
    "[^,]{2,}",
    "^.{3}$",
    "\\.(png|jpe?g)$",
]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PATTERNS), st.text(alphabet="abcfo,x.1 \n", max_size=8))
def test_a_pattern_is_searched_for_as_the_validator_does(pattern: str, text: str) -> None:
    matched = found([searched(parse(pattern)), literal(text)]) is not None
    assert matched == (violations({"pattern": pattern}, text) == [])


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab^$()[]|*+?{}d.-,1:", max_size=12))
def test_any_text_is_an_expression_or_an_error(text: str) -> None:
    try:
        tree = searched(parse(text))
    except PatternError:
        return
    sample = found([tree])
    if sample:
        try:
            assert violations({"pattern": text}, sample) == []
        except ValueError:
            pytest.fail(f"{text!r} is no expression for the validator")
