"""Random schemas, the samplers that stand for models, and the judge that knows no grammar."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("numpy")

import numpy as np

from atc.decode.formats import FORMATS, FUNCTION, JSON_CALL, PYTHON_CALL, REACT, TOOLDEC, CallFormat
from protocols.protocol import ToolProtocol
from protocols.schema import violations
from protocols.toolbox import Toolbox
from toolflow_bench.decoding.random.broken import CONTRADICTORY, ENDLESS
from toolflow_bench.decoding.random.judge import problems, without_unique_items
from toolflow_bench.decoding.random.patterns import draw_pattern
from toolflow_bench.decoding.random.samplers import SAMPLERS, Crowd, unpack
from toolflow_bench.decoding.random.schemas import draw_tool
from toolflow_bench.decoding.random.sources import idle
from toolflow_bench.decoding.random.values import conforming


def test_a_seed_always_draws_the_same_tool() -> None:
    assert [draw_tool(seed) for seed in range(50)] == [draw_tool(seed) for seed in range(50)]
    assert len({json.dumps(draw_tool(seed).protocol.input_schema) for seed in range(200)}) > 150


def test_random_schemas_have_every_clause() -> None:
    kinds = Counter(kind for seed in range(600) for kind in draw_tool(seed).kinds)
    wanted = "anyOf oneOf allOf $ref recursive pattern format enum const range length prefixItems uniqueItems not if"
    assert all(kinds[kind] > 3 for kind in [*wanted.split(), "items bounds", "contradictory", "unknowable"])


def test_examples_conform() -> None:
    drawn = [draw_tool(seed) for seed in range(300)]
    known = [one for one in drawn if one.example is not None]
    assert len(known) > 200
    for one in known:
        assert not violations(one.protocol.input_schema, one.example), one.seed


def test_patterns_match_their_examples() -> None:
    import random

    for seed in range(300):
        pattern, example = draw_pattern(random.Random(seed))
        assert not violations({"pattern": pattern}, example), (pattern, example)


@pytest.mark.parametrize("schema", [s for s in CONTRADICTORY if "$ref" not in json.dumps(s)], ids=json.dumps)
def test_nothing_conforms_to_what_is_called_contradictory(schema: Any) -> None:
    values: list[Any] = [None, True, 0, 1, 4, 5, 6, 12, 1.5, "", "a", "aaaaa", "A", [], [1], [1, 2], {}, {"a": 1}]
    assert all(violations({"allOf": [schema], "$defs": ENDLESS}, value) for value in values)


TOOLS = Toolbox(
    [
        idle(
            ToolProtocol(
                name="book",
                input_schema={
                    "type": "object",
                    "properties": {
                        "from": {"type": "string", "maxLength": 3},
                        "seats": {"type": "integer", "minimum": 1},
                        "tags": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["from", "seats"],
                },
            ),
            "s",
        )
    ]
)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (JSON_CALL, '{"name": "book", "arguments": {"seats": 2, "from_": "JFK"}}'),
        (FUNCTION, "book('JFK', 2)"),
        (FUNCTION, 'book("\\")\\"", 2, ["(", \')\'])'),
        (FUNCTION, 'book("a", 4/2)'),
        (TOOLDEC, 'first <T>book("a", 1) and <T>book("b", 2) then'),
        (PYTHON_CALL, "book(seats=1, from_='\\u00e9')"),
        (REACT, 'Action: book\nAction Input: {"from_": "a", "seats": 1}\n'),
        (REACT, 'Thought: a\nline\nAction: book\nAction Input: {"from_": "a", "seats": 1}\n'),
    ],
)
def test_the_judge_passes_what_is_right(form: CallFormat, text: str) -> None:
    assert problems(text, form, TOOLS) == []


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        (JSON_CALL, '{"name": "boo", "arguments": {}}', "no tool 'boo'"),
        (JSON_CALL, '{"name": "book", "arguments": {"from": "a", "seats": 1}}', "no argument 'from'"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "a"}}', "'seats' is missing"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "abcd", "seats": 1}}', "from"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "a", "seats": 0}}', "seats"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "a", "seats": 1, "seats": 2}}', "occurs twice"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "\\ud800", "seats": 1}}', "half a character"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "a", "seats": NaN}}', "NaN"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "a", "seats": 1}}}', "follows the call"),
        (JSON_CALL, '{"name": "book", "arguments": {"from_": "a\n", "seats": 1}}', "no JSON"),
        (FUNCTION, "book('JFK', 02)", "no Python"),
        (FUNCTION, "book('JFK', 2, [], 3)", "4 arguments"),
        (FUNCTION, "book('JFK', int('2'))", "no literal"),
        (FUNCTION, "book('JFK', 1/0)", "division"),
        (FUNCTION, "book('JFK', 2", "nowhere"),
        (FUNCTION, "book('JFK', 1e999)", "inf"),
        (FUNCTION, "book('JFK', True)", "seats"),
        (TOOLDEC, "nothing is called", "no '<T>'"),
        (TOOLDEC, 'one <T>book("a", 1) and <T>book("a")', "missing"),
        (PYTHON_CALL, "book(seats=1, seats=2, from_='')", "twice"),
        (PYTHON_CALL, "book('a', seats=1)", "no name"),
        (REACT, 'Action: book\nAction Input: {"from_": "a", "seats": 1}', "not '\\n'"),
    ],
)
def test_the_judge_finds_what_is_wrong(form: CallFormat, text: str, said: str) -> None:
    [found] = problems(text, form, TOOLS)
    assert said in found


@pytest.mark.parametrize(("schema", "taken"), [(True, True), ({}, True), (False, False)])
@pytest.mark.parametrize(
    ("form", "text"),
    [
        (FUNCTION, 'tag("a", 3)'),
        (PYTHON_CALL, "tag(a='a', more=[3])"),
        (JSON_CALL, '{"name": "tag", "arguments": {"a": "a", "more": {"b": null}}}'),
    ],
)
def test_the_judge_knows_schemas_that_are_true_or_false(form: CallFormat, text: str, schema: Any, taken: bool) -> None:
    properties = {"a": {"type": "string"}, "more": schema}
    tools = Toolbox([idle(ToolProtocol(name="tag", input_schema={"type": "object", "properties": properties}), "s")])
    found = problems(text, form, tools)
    assert (found == []) is taken
    assert taken or "more" in found[0]


def test_what_only_unique_items_forbids_is_told_apart_also_within_a_union() -> None:
    tags = {"anyOf": [{"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, {"type": "string"}]}
    named = {"type": "object", "properties": {"uniqueItems": {"type": "boolean"}}, "additionalProperties": False}
    schema = {"type": "object", "properties": {"tags": tags, "how": named}}
    tools = Toolbox([idle(ToolProtocol(name="book", description="", input_schema=schema), "test")])
    twice, other = 'book(tags=[1, 1], how={"uniqueItems": True})', 'book(tags=[1, "1"])'
    assert problems(twice, PYTHON_CALL, tools)
    assert problems(twice, PYTHON_CALL, without_unique_items(tools)) == []
    assert problems(other, PYTHON_CALL, without_unique_items(tools))


WORDS = [b"a", b"abc", b'"', b"}", b"\xc3", b" ", b"7", b"{", b"\\", b""]


def test_samplers_choose_among_the_allowed_only() -> None:
    crowd = Crowd(WORDS * 40, [9])
    allowed = np.array([3, 17, 120, 399])
    for name in SAMPLERS:
        sampler, again = crowd.make(name, 1, 2), crowd.make(name, 1, 2)
        drawn = [sampler(allowed) for _ in range(50)]
        assert set(drawn) <= set(allowed.tolist())
        assert drawn == [again(allowed) for _ in range(50)], name


@pytest.mark.parametrize(
    ("name", "token"),
    [("longest", 1), ("quotes", 2), ("opening", 7), ("backslashes", 8), ("partial", 4), ("digits", 6), ("blanks", 5)],
)
def test_adversaries_get_what_they_prefer(name: str, token: int) -> None:
    assert Crowd(WORDS, [9]).make(name, 0)(np.arange(10)) == token


def test_who_never_ends_takes_anything_before_the_end() -> None:
    sampler = Crowd(WORDS, [9]).make("never ending", 0)
    assert sampler(np.array([2, 9])) == 2
    assert sampler(np.array([0, 2, 9])) == 0
    assert sampler(np.array([9])) == 9


def test_low_temperatures_repeat_themselves_and_high_ones_do_not() -> None:
    crowd, allowed = Crowd([b"x"] * 1000, [999]), np.arange(1000)

    def different(name: str) -> int:
        sampler = crowd.make(name, 3)
        return len({sampler(allowed) for _ in range(300)})

    assert different("T=0.1") < 100 < different("T=5.0")


def test_a_mask_is_unpacked_lowest_bit_first() -> None:
    mask = np.array([0b101, 1 << 31, 1], dtype=np.uint32)
    assert unpack(mask, 65).tolist() == [0, 2, 63, 64]
    assert unpack(mask, 64).tolist() == [0, 2, 63]


def test_made_up_responses_conform() -> None:
    import random

    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}, "minItems": 2},
            "next": {"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]},
        },
        "required": ["rows"],
        "$defs": {"row": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 3, "maximum": 5}}}},
    }
    drawn = [conforming(schema, random.Random(seed)) for seed in range(50)]
    assert not any(violations(schema, value) for value in drawn)
    assert len({json.dumps(value) for value in drawn}) > 20


def test_an_array_that_nobody_can_write_is_given_up() -> None:
    import random

    drawn: Any = conforming({"type": "array", "minItems": 10**9}, random.Random(0))
    assert 0 < len(drawn) < 10_000


def test_every_format_is_judged() -> None:
    assert {form.name for form in FORMATS.values()} == {"json", "function", "tooldec", "python", "react"}
