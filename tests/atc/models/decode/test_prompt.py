"""What models are told when they are to write calls."""

from __future__ import annotations

import pytest

from atc.models.decode.formats import FORMATS, FUNCTION, JSON_CALL, TOOLDEC, CallFormat
from atc.models.decode.parse import read_call
from atc.models.decode.prompt import call_prompt
from protocols.toolbox import Toolbox
from tests.labs.constrained_endpoint import NUMBER, TOOLS, tool

SMALL = TOOLS.only(["power", "maximum"])


def test_positional_arguments_are_not_documented_as_named_ones() -> None:
    assert (
        "def power(base: float, exponent: float)" in call_prompt("x", SMALL, FUNCTION)[-1].content
    )


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
@pytest.mark.parametrize("docs", ["full", "names"])
def test_the_examples_are_calls_of_their_own_form(form: CallFormat, docs: str) -> None:
    messages = call_prompt("x", SMALL, form, docs)  # type: ignore[arg-type]
    assert [message.role for message in messages] == ["system", *["user", "assistant"] * 3, "user"]
    drawn = Toolbox(
        [
            tool("exchange_rate", base={}, quote={}, year={}),
            tool("celsius", f=NUMBER),
            tool("inflation", of={}, year={}),
        ]
    )
    calls = [
        read_call(message.content, drawn, form)
        for message in messages
        if message.role == "assistant"
    ]
    assert [call.name for call in calls] == ["exchange_rate", "celsius", "inflation"]
    assert all(call.error is None or call.error.kind == "unknown-argument" for call in calls)


def test_amid_text_a_call_follows_its_trigger() -> None:
    messages = call_prompt("x", SMALL, TOOLDEC)
    assert "<T>NAME(VALUE, …)" in messages[0].content
    assert messages[2].content == 'A function gives it: <T>exchange_rate("CHF", "JPY", 2019)'


def test_the_prompt_drops_what_exceeds_its_budget() -> None:
    many = Toolbox(tool(f"tool_{i}", x=NUMBER) for i in range(500))
    assert "tool_499" in call_prompt("x", many, JSON_CALL, "names")[-1].content
    short = call_prompt("x", many, JSON_CALL, "names", budget=100)[-1].content
    assert "tool_0" in short
    assert "tool_499" not in short
