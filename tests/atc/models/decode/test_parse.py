"""Replies as models write them, and what is read."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.models.decode.formats import (
    FORMATS,
    FUNCTION,
    JSON_CALL,
    PYTHON_CALL,
    REACT,
    TOOLDEC,
    CallFormat,
)
from atc.models.decode.parse import ReadCall, read_call, write_as
from protocols.toolbox import Toolbox
from tests.labs.constrained_endpoint import NUMBER, TEXT, tool
from tests.labs.paths import DATA

TOOLS = Toolbox(
    [
        tool("power", base=NUMBER, exponent=NUMBER),
        tool("add", ("a", "b"), a=NUMBER, b=NUMBER, c=NUMBER),
        tool("choose", n={"type": "integer", "minimum": 0}, k={"type": "integer"}),
        tool(
            "find-person",
            ("name",),
            name=TEXT,
            sort={"enum": ["age", "name"]},
            **{"max-rows": {"type": "integer"}},
        ),
        tool("total", values={"type": "array", "items": NUMBER}),
        tool("größe", ort=TEXT),
        tool("list_all"),
    ]
)


def read(text: str, form: CallFormat = JSON_CALL) -> ReadCall:
    return read_call(text, TOOLS, form)


def kind(call: ReadCall) -> str:
    return call.error.kind if call.error is not None else ""


TABLE = yaml.safe_load((DATA / "decode_read.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["text"][:40])
def test_replies_are_read_or_classed_as_errors(
    row: dict[str, Any],
) -> None:
    forms = {
        "json": [JSON_CALL],
        "function": [FUNCTION] if "error" in row else [FUNCTION, PYTHON_CALL],
    }[row["form"]]
    for form in forms:
        call = read(row["text"], form)
        if "error" in row:
            assert kind(call) == row["error"]
            continue
        assert (call.tool, dict(call.arguments), kind(call)) == (row["tool"], row["arguments"], "")
        assert call.name in row["text"][slice(*call.span)]


def test_only_text_after_the_trigger_is_a_call() -> None:
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
def test_the_first_call_of_react_turns_counts(text: str) -> None:
    call = read(text, REACT)
    assert (call.tool, call.arguments, call.error) == ("power", {"base": 2, "exponent": 3}, None)
    assert text[: call.span[0]].strip().endswith("I need it.")


def test_arguments_are_what_the_host_would_send() -> None:
    # `null` for an optional argument is left out and 3.0 is the integer 3, as in a program.
    call = read(
        '{"name": "find_person", "arguments": {"name": "x", "sort": null, "max_rows": 3.0}}'
    )
    assert call.arguments == {"name": "x", "max_rows": 3}
    assert isinstance(call.arguments["max_rows"], int)


def test_an_error_says_what_to_do() -> None:
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
    "text", ["{" * 20_000, "power(" * 3000, " " * 50_000, "{" * 6000 + '"name": "x"']
)
@pytest.mark.parametrize("form", list(FORMATS.values()), ids=lambda form: form.name)
def test_hostile_text_is_read_in_time(text: str, form: CallFormat) -> None:
    assert not read(text, form).is_valid


_values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.integers(-(10**12), 10**12),
    st.just(0),
)


@settings(max_examples=20, deadline=None)
@given(name=st.text(max_size=40), sort=st.sampled_from(["age", "name", None]), number=_values)
def test_what_is_written_is_read_back(name: str, sort: str | None, number: float) -> None:
    given_ = {"name": name} | ({"sort": sort} if sort else {})
    for form in FORMATS.values():
        for alias, arguments in (
            ("find_person", given_),
            ("power", {"base": number, "exponent": 1}),
        ):
            call = read_call(
                "Thought: x\n" * (form is REACT) + write_as(TOOLS[alias], arguments, form),
                TOOLS,
                form,
            )
            assert (call.tool, call.arguments, call.error) == (alias, arguments, None)
