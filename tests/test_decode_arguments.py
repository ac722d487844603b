"""Grammars of arguments: what they accept and refuse of JSON, of positional and of keyword arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("llguidance")

from atc.decode.arguments import arguments_grammar, call_grammar, names_grammar, value_grammar
from atc.decode.arguments.build import VARIADIC
from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.errors import Undecodable
from atc.decode.formats import FUNCTION, JSON_CALL, REACT
from atc.decode.held import lead_of, whole_call
from atc.decode.holding import ONE_GRAMMAR_TOOLS
from atc.decode.lark import lark
from atc.decode.matcher import Matcher
from atc.decode.vocabulary import Vocabulary
from protocols.ask import Powers
from protocols.toolbox import Toolbox
from tests.decode_schema_lab import accepts, takes, tool
from toolflow_bench.decoding.random.samplers import unpack

FLIGHT = tool(
    {
        "from": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9},
        "cabin": {"enum": ["economy", "business", None]},
        "notes": {"type": ["string", "null"]},
        "bags": {"type": "array", "items": {"type": "number"}},
        "direct": {"type": "boolean"},
    },
    ["from", "seats"],
    name="book_flight",
)


@pytest.mark.parametrize(
    "text",
    [
        '{"from_": "ZRH", "seats": 1}',
        '{"seats":9,"from_":"ZRH"}',
        '{"direct": true, "bags": [1, 2.5, -3e2], "from_": "ZRH", "cabin": null, "seats": 2}',
        '{"notes": "a \\"b\\" \\u00e9", "from_": "ZRH", "seats": 2}',
        '{"from_": "ZRH", "seats": 1, "bags": []}',
    ],
)
def test_objects_in_any_order_with_any_of_the_optional_keys(text: str) -> None:
    assert accepts(FLIGHT, text)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"from_": "ZRH"}',
        '{"from": "ZRH", "seats": 1}',
        '{"from_": "ZRH", "seats": 1,}',
        '{"from_": "ZRH", "seats": 1, "seats": 2}',
        '{"from_": "ZRH", "seats": 1, "meal": "x"}',
        '{"from_": "zrh", "seats": 1}',
        '{"from_": "ZRHX", "seats": 1}',
        '{"from_": "ZRH", "seats": 0}',
        '{"from_": "ZRH", "seats": 10}',
        '{"from_": "ZRH", "seats": 1.0}',
        '{"from_": "ZRH", "seats": "1"}',
        '{"from_": "ZRH", "seats": 01}',
        '{"from_": "ZRH", "seats": 1, "cabin": "first"}',
        '{"from_": "ZRH", "seats": 1, "direct": True}',
        '{"from_": "ZRH", "seats": 1, "bags": [1 2]}',
        '{"from_": "ZRH", "seats": 1, "notes": "a\nb"}',
        '{"from_": "ZRH", "seats": 1} ',
    ],
)
def test_objects_that_do_not_conform(text: str) -> None:
    assert not accepts(FLIGHT, text)


def test_positional_arguments_are_literals_in_declared_order() -> None:
    for text in ("'ZRH', 1", '"ZRH",9, None', "\"ZRH\", 2, 'economy', None, [1, 4/3], True"):
        assert accepts(FLIGHT, text, "positional"), text
    for text in ("", "'ZRH'", "1, 'ZRH'", "'ZRH', 1, 'first'", "'ZRH', 1/2", "from_='ZRH', seats=1", "'ZRH', 1, "):
        assert not accepts(FLIGHT, text, "positional"), text


def test_numbers_by_position_may_be_quotients_where_nothing_bounds_them() -> None:
    power = tool({"base": {"type": "number"}, "exponent": {"type": "number"}}, ["base", "exponent"], name="power")
    for text in ("12, 30", "12,30", "2, 39/3", "-0.5, 1e-3", "1.5/0.25".replace("0.25", "2.5") + ", 1"):
        assert accepts(power, text, "positional"), text
    for text in ("12, 30, 1", "12", "2, 1/0", "+1, 2", ".5, 2", "1,234, 5", "10-3, 1", "1., 2"):
        assert not accepts(power, text, "positional"), text
    half = tool({"share": {"type": "number", "maximum": 1}}, ["share"])
    assert accepts(half, "0.5", "positional")
    assert not accepts(half, "1/2", "positional")


def test_an_array_marked_variadic_stands_as_arguments_of_its_own() -> None:
    numbers = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3, VARIADIC: True}
    add = tool({"numbers": numbers}, ["numbers"], name="add")
    assert [accepts(add, text, "positional") for text in ("1", "1, 2", "1,2,3", "1,2,3,4", "[1, 2]")] == [
        *(False, True, True, False, False)
    ]
    assert accepts(add, '{"numbers": [1, 2]}')
    scaled = tool({"by": {"type": "integer"}, "numbers": numbers}, ["by"], name="scaled")
    assert [accepts(scaled, text, "positional") for text in ("2", "2, 1", "2, 1, 1", "2, 1, 1, 1")] == [
        *(True, False, True, True)
    ]


def test_keyword_arguments_in_any_order_and_in_python() -> None:
    for text in (
        "from_='ZRH', seats=1",
        'seats = 1, from_ = "ZRH",direct=False',
        "seats=1, from_='ZRH', notes='it\\'s'",
    ):
        assert accepts(FLIGHT, text, "keywords"), text
    for text in ("'ZRH', seats=1", "from_='ZRH', seats=1, direct=false", "from_='ZRH', seats=1, seats=1", "seats=1"):
        assert not accepts(FLIGHT, text, "keywords"), text


@pytest.mark.parametrize("form", ["json", "positional", "keywords"])
def test_a_tool_without_arguments_is_called_with_none(form: Any) -> None:
    now = tool({}, name="now")
    assert accepts(now, "{}" if form == "json" else "", form)
    assert not accepts(now, '{"a": 1}' if form == "json" else "1", form)


ONE = [
    ({"type": "number"}, [0, -1, 1.5, 1e10, 12345678901234], ["1", True, None]),
    ({"type": "number", "minimum": -1.5, "exclusiveMaximum": 2}, [-1.5, -1, 0, 1.999], [-1.51, 2, 2.0, 3]),
    ({"type": "integer", "exclusiveMinimum": 3, "maximum": 1000}, [4, 999, 1000], [3, 1001, -4, 4.5]),
    ({"type": "integer", "multipleOf": 25}, [0, 25, -50, 1000075], [1, 24, 30]),
    ({"type": "number", "multipleOf": 0.01}, [0.25, 3, 1.5, 19.99], [0.001, 1.555]),
    ({"type": "integer", "multipleOf": 7, "minimum": 10, "maximum": 40}, [14, 21, 35], [7, 15, 42]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "äöü", "😀😀"], ["a", "abcd", ""]),
    ({"type": "string", "pattern": "b+"}, ["b", "abc", "bb"], ["", "ac"]),
    ({"type": "string", "pattern": "^a|b$"}, ["a", "ax", "xb"], ["xax", "bx"]),
    ({"type": "string", "pattern": "^\\d{2,3}(-[x-z]+)?$"}, ["12", "123-xyz"], ["1", "1234", "12-", "12-a"]),
    ({"type": "string", "pattern": '^["\\\\\\n/]+$'}, ['"', "\\", "\n", '"/\\'], ["a", ""]),
    ({"type": "string", "pattern": "^[^a]+$", "maxLength": 4}, ["b", "bcde", "\té"], ["a", "bca", "bcdef"]),
    ({"type": "string", "format": "date"}, ["2024-02-29", "1999-12-31"], ["2023-02-29", "2024-13-01", "today"]),
    ({"type": "string", "format": "date-time"}, ["2024-05-01T10:00:00Z"], ["2024-05-01", "2024-05-01T25:00:00Z"]),
    ({"type": "string", "format": "email"}, ["ann@example.org"], ["ann", "ann@"]),
    ({"type": "string", "format": "uuid"}, ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
    ({"type": "string", "format": "ipv4"}, ["192.0.2.1"], ["192.0.2.256", "1.2.3"]),
    ({"type": "string", "format": "uri"}, ["https://example.org/a?b=c#d", "mailto:a@b.org"], ["not a uri"]),
    ({"type": "string", "format": "no such format"}, ["anything"], [1]),
    (
        {"enum": ["a", 1, 2.5, None, True, [1, "x"], {"k": []}]},
        ["a", 1, 2.5, None, True, [1, "x"], {"k": []}],
        ["b", 2, False],
    ),
    ({"const": {"a": [1, {"b": None}]}}, [{"a": [1, {"b": None}]}], [{"a": [1]}]),
    ({"type": ["string", "null", "integer"]}, ["x", None, 3], [1.5, True, []]),
    ({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}, [1, [], [1, 2]], ["1", ["1"]]),
    (
        {"anyOf": [{"const": [1, 2]}, {"type": "array", "items": {"const": 1}}]},
        [[1, 2], [1, 1, 1], [1]],
        [[2], [1, 2, 1]],
    ),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, [1.5, -0.25], [1, 2]),
    ({"oneOf": [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 3}]}, ["a", "abcd"], ["abc"]),
    ({"allOf": [{"minimum": 1}, {"maximum": 3}], "type": "integer"}, [1, 2, 3], [0, 4]),
    ({"type": "integer", "not": {"enum": [2, 3]}, "minimum": 1, "maximum": 4}, [1, 4], [2, 3, 5]),
    ({"type": "string", "not": {"const": "root"}}, ["rooted", "roo", ""], ["root"]),
    (
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        [["a"], ["a", "b"]],
        [[], ["a", "b", "c"]],
    ),
    (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        [[], [1], [1, "a"]],
        [["a"], [1, "a", 2]],
    ),
    (
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 1},
        [["c"], ["b", "a"]],
        [[], ["a", "a"]],
    ),
    ({"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}}, [[7], [1, 7], [7, 7, 1]], [[], [1, 2]]),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        [{"a": 1}],
        [{}, {"a": "1"}, {"b": 1}],
    ),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"x": 1}, {"x": 1, "Yz": 2}], [{"x": "1"}]),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
        [{"a": 1, "b": "x"}, {"b": "x"}],
        [{"a": "x"}, {"b": 1}],
    ),
    (
        {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False},
        [{}, {"x-a": 1}],
        [{"x-a": "1"}, {"y": 1}],
    ),
    ({"type": "object", "propertyNames": {"enum": ["a", "b"]}}, [{}, {"a": 1}, {"b": "x", "a": None}], [{"c": 1}]),
    (
        {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 2, "maxProperties": 2},
        [{"a": 1, "c": 2}],
        [{"a": 1}, {"a": 1, "b": 2, "c": 3}],
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "dependentRequired": {"a": ["b"]},
        },
        [{}, {"b": 1}, {"a": 1, "b": 2}],
        [{"a": 1}],
    ),
    (
        {
            "type": "object",
            "properties": {"k": {"enum": ["x", "y"]}, "n": {"type": "integer"}},
            "required": ["k"],
            "if": {"properties": {"k": {"const": "x"}}},
            "then": {"required": ["n"]},
        },
        [{"k": "x", "n": 1}, {"k": "y"}],
        [{"k": "x"}],
    ),
    ({}, [1, "x", None, [], [1, {"a": [True]}], {"a": 1, "b": {"c": "d"}}], []),
    (True, [1, "x", {"a": []}], []),
]


@pytest.mark.parametrize(("schema", "good", "bad"), ONE, ids=lambda part: json.dumps(part)[:60])
def test_values_of_a_schema(schema: Any, good: list[Any], bad: list[Any]) -> None:
    one = tool({"v": schema}, ["v"])
    for value in good:
        assert accepts(one, json.dumps({"v": value})), value
        assert accepts(one, json.dumps({"v": value}, ensure_ascii=False, separators=(",", ":"))), value
        assert accepts(one, f"v={value!r}", "keywords"), value
        assert accepts(one, repr(value), "positional"), value
    for value in bad:
        assert not accepts(one, json.dumps({"v": value})), value
        assert not accepts(one, f"v={value!r}", "keywords"), value


def test_what_recurs_is_nested_no_deeper_than_the_bound() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
        "required": ["next"],
    }
    one = tool({"n": {"$ref": "#/$defs/n"}}, ["n"], definitions={"n": node})

    def nested(depth: int) -> str:
        return '{"n": ' + '{"next": ' * depth + "null" + "}" * depth + "}"

    assert all(accepts(one, nested(depth)) for depth in (1, 2, BOUNDS.depth))
    assert not accepts(one, nested(0))
    assert not accepts(one, nested(BOUNDS.depth + 2))


def test_every_part_is_bounded_and_what_a_schema_demands_widens_a_bound() -> None:
    bounds = Bounds(characters=5, digits=2, items=2)
    one = tool(
        {"s": {"type": "string"}, "n": {"type": "integer"}, "a": {"type": "array", "items": {"type": "integer"}}}
    )
    grammar = lark(arguments_grammar(one, "json", bounds=bounds))
    for text in ('{"s": "abcde"}', '{"n": 99}', '{"a": [1, 2]}'):
        assert takes(grammar, text), text
    for text in ('{"s": "abcdef"}', '{"n": 100}', '{"a": [1, 2, 3]}'):
        assert not takes(grammar, text), text
    demanding = tool(
        {"s": {"type": "string", "minLength": 8}, "a": {"type": "array", "items": {"const": 1}, "minItems": 4}},
        ["s", "a"],
    )
    assert takes(lark(arguments_grammar(demanding, "json", bounds=bounds)), '{"s": "abcdefgh", "a": [1,1,1,1]}')


def test_a_call_shares_its_characters_over_its_parts() -> None:
    parts = {f"text{i}": {"type": "string"} for i in range(4)}
    one = tool(parts, list(parts))

    def longest(bounds: Bounds) -> int:
        grammar = lark(arguments_grammar(one, "json", bounds=bounds))
        told = '{{"text0": "{}", "text1": "", "text2": "", "text3": ""}}'
        return max(n for n in range(0, 500, 4) if takes(grammar, told.format("x" * n)))

    assert longest(Bounds()) == 400
    assert longest(Bounds(call_characters=400)) == 100
    assert longest(Bounds(call_characters=4)) == 32, "a string may always be a few words"


def test_hostile_names_and_values_stay_what_they_are() -> None:
    names = ['a"b', "a\\b", "a\nb", "%llguidance {}", "start: /.*/", "</s>", "日本", "\u2028", "", "/x/", "\U0001f6eb"]
    one = tool({"v": {"type": "object", "properties": {name: {"const": name} for name in names}}}, ["v"])
    for name in names:
        for ascii_only in (True, False):
            assert accepts(one, json.dumps({"v": {name: name}}, ensure_ascii=ascii_only)), name
        assert accepts(one, f"v={ {name: name}!r}", "keywords"), name
        assert not accepts(one, json.dumps({"v": {name + "x": name}})), name
    assert accepts(one, json.dumps({"v": {name: name for name in names}}))


def test_many_keys_come_in_any_order_and_too_many_in_their_own() -> None:
    forty = tool({f"k{i}": {"type": "integer"} for i in range(40)}, ["k39", "k0"])
    assert accepts(forty, '{"k39": 1, "k7": 2, "k0": 3}')
    assert not accepts(forty, '{"k39": 1, "k7": 2}')
    hundred = tool({f"k{i}": {"type": "integer"} for i in range(100)}, ["k99"])
    assert accepts(hundred, '{"k3": 1, "k7": 2, "k99": 3}')
    assert not accepts(hundred, '{"k7": 1, "k3": 2, "k99": 3}')
    assert not accepts(hundred, '{"k3": 1}')
    assert accepts(hundred, "k3=1, k99=2", "keywords")


def test_what_no_grammar_holds_is_said() -> None:
    tags = tool({"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}})
    assert arguments_grammar(tags, "json").unheld == ("/properties/tags: uniqueItems",)
    assert arguments_grammar(FLIGHT, "json").unheld == ()
    assert call_grammar(Toolbox([tags]), JSON_CALL).unheld == ("book/properties/tags: uniqueItems",)


def test_an_optional_part_to_which_nothing_conforms_is_left_out_and_said() -> None:
    one = tool({"a": {"type": "integer"}, "b": {"type": "integer", "minimum": 5, "maximum": 3}}, ["a"])
    assert arguments_grammar(one, "json").left_out == (
        "/properties/b/minimum: the minimum 5 leaves nothing below the maximum 3",
    )
    assert accepts(one, '{"a": 1}')
    assert not accepts(one, '{"a": 1, "b": 4}')


def test_one_value_for_programs() -> None:
    root = {"$defs": {"code": {"type": "string", "pattern": "^[A-Z]{3}$"}}}
    grammar = lark(value_grammar({"type": "array", "items": {"$ref": "#/$defs/code"}}, root, "python"))
    assert takes(grammar, "['ZRH', \"GVA\"]")
    assert not takes(grammar, "['zrh']")
    assert takes(lark(value_grammar({"type": ["boolean", "null"]}, {}, "python")), "None")
    assert not takes(lark(value_grammar({"type": ["boolean", "null"]}, {}, "python")), "null")


def test_whole_calls_tell_a_name_from_one_that_begins_with_it() -> None:
    number = {"a": {"type": "number"}}
    tools = Toolbox([tool(number, ["a"], name=name) for name in ("maxi", "maximum", "maximum_of")])
    grammar = lark(call_grammar(tools, FUNCTION))
    for text in ("maxi(1)", "maximum(2.5)", "maximum_of(-3)"):
        assert takes(grammar, text), text
    for text in ("max(1)", "maximum_(1)", "maxi(1", "maxi(1)x"):
        assert not takes(grammar, text), text
    assert takes(lark(call_grammar(tools, JSON_CALL)), '{"name": "maximum", "arguments": {"a": 1}}')


def test_many_arguments_by_position_may_be_left_out() -> None:
    many = tool({f"k{i}": {"type": "integer"} for i in range(45)}, ["k0"])
    assert accepts(many, "7", "positional")
    assert accepts(many, ", ".join(map(str, range(45))), "positional")
    assert not accepts(many, ", ".join(map(str, range(46))), "positional")
    assert not accepts(many, "", "positional")


def test_a_thought_before_many_tools_may_end_in_any_of_many_tokens() -> None:
    """Real vocabularies have hundreds of tokens that end a line; llguidance bounds what they lead to together."""
    whole = tuple(bytes([byte]) for byte in range(256))
    ends = tuple(f"{chr(97 + i % 26) * (i // 26 + 1)}{end}\n".encode() for i in range(1500) for end in ".);")
    vocabulary = Vocabulary([*whole, *ends, b""], eos=(256 + len(ends),))
    tools = Toolbox([tool({"a": {"type": "number"}}, ["a"], name=f"get_{i}") for i in range(ONE_GRAMMAR_TOOLS)])
    lead = lead_of(REACT, thought=True, characters=300)
    text = whole_call(tools, REACT, lead, BOUNDS, Powers(grammars=frozenset({"lark"}))).text
    assert text is not None
    matcher = Matcher(vocabulary, text)
    matcher.feed(b"Thought: I ask")
    assert set(range(256, 256 + len(ends))) <= set(unpack(matcher.mask(), vocabulary.size))


def test_names_alone_are_one_terminal_however_many() -> None:
    names = [f"tool_{i}" for i in range(3000)] + ["a", "ab", 'x"y', "x\ny", "検索", "a/b.c*"]
    grammar = lark(names_grammar(names))
    assert all(takes(grammar, name) for name in names[::97] + names[-6:])
    assert not any(takes(grammar, text) for text in ("", "tool_", "tool_3000", "abc", "xzy", "a/bxc*"))


def test_grammars_are_the_same_each_time_and_join_by_their_prefix() -> None:
    one, two = (tool(FLIGHT.protocol.parameters, ["from", "seats"]) for _ in range(2))
    assert arguments_grammar(one, "json") == arguments_grammar(two, "json")
    assert arguments_grammar(one, "json") is arguments_grammar(one, "json")
    assert lark(arguments_grammar(one, "json")) == lark(arguments_grammar(two, "json"))
    rules = arguments_grammar(one, "json", prefix="p_").rules
    assert rules
    assert all(name.startswith("p_") for name in rules)


def test_no_tools_and_no_names_cannot_be_decoded() -> None:
    with pytest.raises(Undecodable, match="no tool"):
        call_grammar(Toolbox(), FUNCTION)
    for names in ([], ["a", ""]):
        with pytest.raises(Undecodable, match="name"):
            names_grammar(names)
