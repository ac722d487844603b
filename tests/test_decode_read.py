"""Replies as models write them, and what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.decode.formats import FORMATS, FUNCTION, JSON_CALL, PYTHON_CALL, REACT, TOOLDEC, CallFormat
from atc.decode.read import ReadCall, read_call, read_turn, write_as
from protocols.toolbox import Toolbox
from tests.decode_calls_lab import tool

NUMBER, TEXT = {"type": "number"}, {"type": "string"}
TOOLS = Toolbox(
    [
        tool("power", base=NUMBER, exponent=NUMBER),
        tool("add", ("a", "b"), a=NUMBER, b=NUMBER, c=NUMBER),
        tool("choose", n={"type": "integer", "minimum": 0}, k={"type": "integer"}),
        tool("find-person", ("name",), name=TEXT, sort={"enum": ["age", "name"]}, **{"max-rows": {"type": "integer"}}),
        tool("total", values={"type": "array", "items": NUMBER, "x-variadic": True}),
        tool("größe", ort=TEXT),
        tool("list_all"),
    ]
)


def read(text: str, form: CallFormat = JSON_CALL) -> ReadCall:
    return read_call(text, TOOLS, form)


def kind(call: ReadCall) -> str:
    return call.error.kind if call.error is not None else ""


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "power", "arguments": {"base": 2, "exponent": 3}}',
        'Sure!\n```json\n{\n  "name": "power",\n  "arguments": {"base": 2, "exponent": 3}\n}\n```\nDone.',
        '{"tool": "power", "parameters": {"base": 2, "exponent": 3}}',
        '[{"name": "power", "arguments": {"base": 2, "exponent": 3}}, {"name": "nope", "arguments": {}}]',
        '{"tool_calls": [{"function": {"name": "power", "arguments": "{\\"base\\": 2, \\"exponent\\": 3}"}}]}',
        "{'name': 'power', 'arguments': {'base': 2, 'exponent': 3}}",
        'The set {1, 2} is {small}. {"name": "power", "arguments": {"base": 2.0, "exponent": 3}} and more',
    ],
)
def test_a_json_call_is_read_as_a_good_agent_reads_it(text: str) -> None:
    call = read(text)
    assert (call.tool, call.arguments, kind(call)) == ("power", {"base": 2, "exponent": 3}, "")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I do not know.", "no-call"),
        ('{"name": "Bob"}', "no-call"),
        ('{"name": "product", "arguments": {"a": 2}}', "unknown-tool"),
        ('{"name": "power", "arguments": {"base": 2, "exponent": ', "malformed"),
        ('{"name": "power", "arguments": {"base": NaN, "exponent": 3}}', "malformed"),
        ('{"name": "power", "arguments": {"base": 1e999, "exponent": 3}}', "malformed"),
        ('{"name": "power", "arguments": {"base": 2}}', "missing-argument"),
        ('{"name": "power", "arguments": {"base": 2, "exponent": 3, "z": 1}}', "unknown-argument"),
        ('{"name": "power", "arguments": {"base": "2", "exponent": 3}}', "wrong-type"),
        ('{"name": "power", "arguments": {"base": null, "exponent": 3}}', "wrong-type"),
        ('{"name": "choose", "arguments": {"n": 2.5, "k": 1}}', "wrong-type"),
        ('{"name": "find_person", "arguments": {"name": "x", "sort": "height"}}', "wrong-type"),
        ('{"name": "total", "arguments": {"values": [1, "2"]}}', "wrong-type"),
    ],
)
def test_a_json_call_has_the_error_of_its_class(text: str, wanted: str) -> None:
    assert kind(read(text)) == wanted


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("power(0.89, 8)", "power", {"base": 0.89, "exponent": 8}),
        ("```python\npower(0.89, 8)\n```", "power", {"base": 0.89, "exponent": 8}),
        ("The value falls (each year). result = power(0.89, 8) gives it.", "power", {"base": 0.89, "exponent": 8}),
        ("print(power(2, -3e2))", "power", {"base": 2, "exponent": -300.0}),
        ("power(base=2, exponent=3)", "power", {"base": 2, "exponent": 3}),
        ("add(1, 2, 3,)", "add", {"a": 1, "b": 2, "c": 3}),
        ("add(4/3, 1)", "add", {"a": 4 / 3, "b": 1}),
        ("total(1, 4/2, 3)", "total", {"values": [1, 2.0, 3]}),
        ("find_person('O\\'Neil, Tip', \"age\")", "find_person", {"name": "O'Neil, Tip", "sort": "age"}),
        ('find-person("x)(")', "find_person", {"name": "x)("}),
        ("find_person(Schindler's List)", "find_person", {"name": "Schindler's List"}),
        ("find_person(name: Tip, sort: age)", "find_person", {"name": "Tip", "sort": "age"}),
        ('größe("Köln")', "größe", {"ort": "Köln"}),
        ("1. list_all ( )", "list_all", {}),
    ],
)
def test_a_call_written_as_a_function_is_read(text: str, name: str, arguments: dict[str, Any]) -> None:
    for form in (FUNCTION, PYTHON_CALL):
        call = read(text, form)
        assert (call.tool, dict(call.arguments), call.error) == (name, arguments, None)
        assert text[slice(*call.name_span)] == call.name


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The value (in euros) rises.", "no-call"),
        ("product(2, 3)", "unknown-tool"),
        ("result: math.product(2, 3)", "unknown-tool"),
        ("power(2)", "wrong-count"),
        ("power(2, base=3)", "malformed"),
        ("power(2, 3", "malformed"),
        ('find_person("x)', "malformed"),
        ("power(2, x)", "wrong-type"),
        ("power(2*3, 1/0)", "wrong-type"),
        ('power("2", "4/3")', "wrong-type"),
        ("power(multiply(2, 3), 1)", "wrong-type"),
    ],
)
def test_a_call_written_as_a_function_has_the_error_of_its_class(text: str, wanted: str) -> None:
    assert kind(read(text, FUNCTION)) == wanted


def test_in_text_only_what_follows_the_trigger_is_a_call() -> None:
    text = "By power(1, 1) it is <T>power(2, 3)=8, and <T>add(8, 1)=9."
    call = read(text, TOOLDEC)
    assert (call.tool, call.arguments) == ("power", {"base": 2, "exponent": 3})
    assert kind(read("It is power(2, 3).", TOOLDEC)) == "no-call"
    assert kind(read("It is <T>product(2, 3).", TOOLDEC)) == "unknown-tool"


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I need it.\nAction: power\nAction Input: {"base": 2, "exponent": 3}\n',
        'I need it.\n\n**Action:** `power`\n**Action Input:**\n```json\n{"base": 2,\n"exponent": 3}\n```\nOb: 9',
        "thought: I need it.\naction : power\naction input : {'base': 2, 'exponent': 3}",
        (
            'Thought: I need it.\nAction: power\nAction Input: {"base": 2, "exponent": 3}\nObservation: 8\n'
            "Thought: next\nAction: nope\nAction Input: {}"
        ),
    ],
)
def test_a_turn_of_react_is_thought_and_first_call(text: str) -> None:
    turn = read_turn(text, TOOLS)
    assert (turn.thought, turn.call.tool, turn.call.arguments, turn.call.error) == (
        "I need it.",
        "power",
        {"base": 2, "exponent": 3},
        None,
    )


def test_arguments_may_be_named_by_alias_or_by_original_name() -> None:
    for key in ("max-rows", "max_rows"):
        call = read(json.dumps({"name": "find-person", "arguments": {"name": "x", key: 3}}))
        assert (call.tool, call.arguments) == ("find_person", {"name": "x", "max_rows": 3})


def test_arguments_are_what_the_host_would_send() -> None:
    # `null` for an optional argument is left out and 3.0 is the integer 3, as in a program.
    call = read('{"name": "find_person", "arguments": {"name": "x", "sort": null, "max_rows": 3.0}}')
    assert call.arguments == {"name": "x", "max_rows": 3}
    assert isinstance(call.arguments["max_rows"], int)


def test_an_error_says_what_to_do() -> None:
    assert read('{"name": "powers", "arguments": {}}').error is not None
    messages = [
        read(text, FUNCTION).error.message  # type: ignore[union-attr]
        for text in ("powr(2, 3)", "power(2)", "power(2, x)", "choose(3, k=1, j=2)")
    ]
    assert messages == [
        "There is no tool 'powr'; did you mean power?",
        "power takes 2 arguments (base, exponent), and was given 1.",
        "power: argument 'exponent' must be a number, got 'x'.",
        "choose: no argument 'j'; it takes n, k.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{" * 20_000,
        "power(" * 3000,
        " " * 50_000,
        "{" * 6000 + '"name": "x"',
    ],
)
@pytest.mark.parametrize("form", list(FORMATS.values()), ids=lambda form: form.name)
def test_hostile_text_is_read_in_time(text: str, form: CallFormat) -> None:
    assert not read(text, form).valid


_values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(-(10**12), 10**12), st.just(0)
)


@settings(max_examples=20, deadline=None)
@given(name=st.text(max_size=40), sort=st.sampled_from(["age", "name", None]), number=_values)
def test_what_is_written_is_read_back(name: str, sort: str | None, number: float) -> None:
    given_ = {"name": name} | ({"sort": sort} if sort else {})
    for form in FORMATS.values():
        for alias, arguments in (("find_person", given_), ("power", {"base": number, "exponent": 1})):
            call = read_call("Thought: x\n" * (form is REACT) + write_as(TOOLS[alias], arguments, form), TOOLS, form)
            assert (call.tool, call.arguments, call.error) == (alias, arguments, None)
