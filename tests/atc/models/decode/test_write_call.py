"""One call or turn from a model, by whatever its endpoint offers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from atc.models.decode.formats import (
    FORMATS,
    FUNCTION,
    JSON_CALL,
    PYTHON_CALL,
    REACT,
    TOOLDEC,
    CallFormat,
)
from atc.models.decode.write_call import ONE_GRAMMAR_TOOLS, Sampling, WrittenCall, write_call
from atc.models.scripted import ScriptedModel
from protocols.errors import ModelUnavailable
from protocols.model import Message, Powers
from protocols.toolbox import Toolbox
from protocols.validate import find_violation
from tests.labs.constrained_endpoint import NUMBER, TEXT, TOOLS, HoldingModel, tool

GOOD = '{"name": "power", "arguments": {"base": 2, "exponent": 3}}'
BAD = '{"name": "pow", "arguments": {"base": 2}}'
ASKED = [Message("user", "What is 2 to the power of 3?")]
MANY = Toolbox(
    [*TOOLS.values(), *(tool(f"get_item_{i}", id=NUMBER) for i in range(ONE_GRAMMAR_TOOLS))]
)
LARK = Powers(lark=True)
SCHEMA = Powers(schema=True)


def kind(written: WrittenCall) -> str:
    return written.call.error.kind if written.call.error is not None else ""


# --- free ------------------------------------------------------------------------------------------------------------


def test_off_is_one_free_reply_right_or_wrong() -> None:
    model = ScriptedModel(f"Sure. {BAD} Bye.", powers=LARK)
    written = write_call(model, ASKED, TOOLS, decoding="off")
    assert (written.how, written.tries, len(model.prompts), written.enforced) == (
        "free",
        1,
        1,
        None,
    )
    assert (written.text, kind(written)) == (f"Sure. {BAD}", "unknown-tool")
    assert model.options[0]["grammar"] is None
    assert model.options[0]["schema"] is None


# --- check and resample ----------------------------------------------------------------------------------------------


def test_unconstrained_replies_are_checked_and_sampled_again() -> None:
    model = ScriptedModel(BAD, "no idea", GOOD)
    written = write_call(model, ASKED, TOOLS, sampling=Sampling(seed=7))
    assert (written.how, written.tries, len(model.prompts), written.is_valid) == (
        "resampled",
        3,
        3,
        True,
    )
    assert written.enforced is None
    assert [(o["temperature"], o["seed"]) for o in model.options] == [(0.0, 7), (0.7, 8), (0.7, 9)]


def test_the_model_hears_its_error_once_after_samples() -> None:
    model = ScriptedModel("no idea", BAD, GOOD)
    written = write_call(model, ASKED, TOOLS, sampling=Sampling(tries=2))
    assert (written.tries, written.is_valid) == (3, True)
    roles = [message.role for message in model.prompts[-1]]
    assert roles == ["user", "assistant", "user"]
    assert model.prompts[-1][1].content == BAD
    assert "There is no tool 'pow'; did you mean power" in model.prompts[-1][2].content


def test_an_outage_is_no_verdict_on_the_call() -> None:
    for model in (
        ScriptedModel(BAD, ModelUnavailable("down")),
        ScriptedModel(ModelUnavailable("down"), powers=LARK),
    ):
        with pytest.raises(ModelUnavailable, match="down"):
            write_call(model, ASKED, TOOLS)


# --- a JSON schema ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (JSON_CALL, GOOD),
        (FUNCTION, "power(2, 3)"),
        (PYTHON_CALL, "power(base=2, exponent=3)"),
        (TOOLDEC, "it is <T>power(2, 3)"),
        (REACT, 'Action: power\nAction Input: {"base": 2, "exponent": 3}'),
    ],
    ids=lambda value: value.name if isinstance(value, CallFormat) else "",
)
def test_a_schema_reply_is_returned_in_the_format(form: CallFormat, text: str) -> None:
    reply = {"call": json.loads(GOOD)} | ({"thought": "it\nis<T>"} if form is TOOLDEC else {})
    model = ScriptedModel(json.dumps(reply), powers=SCHEMA)
    written = write_call(model, ASKED, TOOLS, form=form)
    assert (written.text, written.how, written.enforced, written.is_valid) == (
        text,
        "schema",
        True,
        True,
    )
    assert not find_violation(model.options[0]["schema"], reply)


def test_the_schema_keeps_aliases_and_references() -> None:
    size = {
        "$defs": {"size": {"type": "integer", "minimum": 1}},
        "type": "object",
        "required": ["max-size", "again"],
    }
    size["properties"] = {
        "max-size": {"$ref": "#/$defs/size"},
        "again": {"$ref": "#/properties/max-size"},
    }
    two = tool("two")
    box = Toolbox(
        [tool("one", x=NUMBER), replace(two, protocol=replace(two.protocol, input_schema=size))]
    )
    model = ScriptedModel("{}", *["nothing"] * 3, powers=SCHEMA)
    write_call(model, ASKED, box)
    schema = model.options[0]["schema"]
    good = {"call": {"name": "two", "arguments": {"max_size": 3, "again": 1}}}
    assert not find_violation(schema, good)
    for arguments in (
        {"max_size": 0, "again": 1},
        {"max_size": 1, "again": 0},
        {"max-size": 1, "again": 1},
    ):
        assert find_violation(schema, {"call": {"name": "two", "arguments": arguments}})
    assert find_violation(schema, {"call": {"name": "one", "arguments": {"x": 1, "y": 1}}})


def test_many_tools_are_chosen_by_name_first() -> None:
    model = ScriptedModel(
        '{"name": "power"}', json.dumps({"call": json.loads(GOOD)}), powers=SCHEMA
    )
    written = write_call(model, ASKED, MANY)
    assert (written.how, written.tries, len(model.prompts), written.is_valid) == (
        "schema",
        1,
        2,
        True,
    )
    assert model.options[0]["schema"]["properties"]["name"]["enum"] == list(MANY)
    assert len(model.options[1]["schema"]["properties"]["call"]["anyOf"]) == 1


# --- a grammar -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
@pytest.mark.parametrize("tools", [TOOLS, MANY], ids=["few", "many"])
@pytest.mark.parametrize("continues", [True, False])
def test_whatever_the_model_prefers_its_call_is_valid(
    form: CallFormat, tools: Toolbox, continues: bool
) -> None:
    for seed in range(4):
        powers = Powers(lark=True, continues=continues)
        model = HoldingModel("I think that", powers=powers)
        written = write_call(
            model, ASKED, tools, form=form, sampling=Sampling(seed=seed, max_tokens=4000)
        )
        assert written.call.error is None
        assert (written.enforced, written.tries) == (True, 1)
        assert (written.how, len(model.prompts)) == (
            ("grammar", 1) if tools is TOOLS else ("two-stage", 2)
        )


@pytest.mark.parametrize("tools", [TOOLS, MANY], ids=["few", "many"])
@pytest.mark.parametrize(
    ("form", "text"),
    [
        (JSON_CALL, GOOD),
        (FUNCTION, "power(2, 3)"),
        (FUNCTION, 'maximum("max(")'),
        (PYTHON_CALL, "add(b=1, a=2)"),
        (FUNCTION, 'größe("Åse")'),
        (TOOLDEC, "It is <T>power(2, 3)"),
    ],
)
def test_conforming_calls_keep_the_models_form(tools: Toolbox, form: CallFormat, text: str) -> None:
    name, between, _ = text.partition("(" if form.arguments != "json" else '"arguments": ')
    model = HoldingModel(text, text if tools is TOOLS else text[len(name + between) :])
    written = write_call(model, ASKED, tools, form=form)
    assert (written.text, written.call.error) == (text, None)


def test_the_second_stage_continues_the_first() -> None:
    model = HoldingModel("power(", "2, 3)")
    written = write_call(model, [*ASKED, Message("assistant", "It is ")], MANY, form=FUNCTION)
    assert written.text == "power(2, 3)"
    assert [prompt[-1].content for prompt in model.prompts] == ["It is ", "It is power("]
    assert ["item_" in option["grammar"] for option in model.options] == [True, False]


@pytest.mark.parametrize("tools", [TOOLS, MANY], ids=["few", "many"])
def test_a_react_turn_bounds_its_thought(tools: Toolbox) -> None:
    wish = "Thought: So " + "very " * 200 + "long"
    held = {"form": REACT, "thought": True, "characters": 40, "sampling": Sampling(max_tokens=4000)}
    written = write_call(HoldingModel(wish, "{"), ASKED, tools, **held)
    assert written.call.error is None
    assert written.text.startswith("Thought: So very very")
    assert len(written.text.partition("\n")[0]) <= len("Thought: ") + 40


@pytest.mark.parametrize("tools", [TOOLS, MANY], ids=["few", "many"])
@pytest.mark.parametrize(
    ("powers", "reply"),
    [
        (LARK, BAD),
        (LARK, "I do not know."),
        (LARK, '{"name": "power", "arguments": {}}'),
        (SCHEMA, f"Here: {BAD}"),
    ],
)
def test_an_ignored_grammar_causes_another_sample(
    tools: Toolbox, powers: Powers, reply: str
) -> None:
    model = ScriptedModel(reply, GOOD, powers=powers)
    written = write_call(model, ASKED, tools)
    assert (written.how, written.enforced, written.tries, written.is_valid) == (
        "resampled",
        False,
        2,
        True,
    )
    assert model.options[1]["grammar"] is model.options[1]["schema"] is None


def test_what_no_grammar_holds_is_checked() -> None:
    tags = {"type": "array", "items": TEXT, "uniqueItems": True, "minItems": 2, "maxItems": 2}
    tools = Toolbox(
        [tool("mark", ("tags",), tags=tags, never={"type": "integer", "minimum": 5, "maximum": 3})]
    )
    twice = '{"name": "mark", "arguments": {"tags": ["a", "a"]}}'
    written = write_call(HoldingModel(twice, twice.replace('"a"]', '"b"]')), ASKED, tools)
    assert (written.how, written.enforced, written.tries, written.is_valid) == (
        "grammar",
        True,
        2,
        True,
    )


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
def test_hostile_names_stay_inside_the_grammar(form: CallFormat, many: bool) -> None:
    names = [
        'a"b',
        "c\nstart: /.*/",
        "d(e)",
        "f]]",
        "%ignore /./",
        "\\",
        "ü/ß",
        "工具",
        "🦊",
        "g" * 300,
    ]
    filler = (tool(f"t{i}") for i in range(ONE_GRAMMAR_TOOLS if many else 0))
    tools = Toolbox([*(tool(name, **{name: TEXT, '"}': NUMBER}) for name in names), *filler])
    for seed in range(3):
        model = HoldingModel("%", powers=LARK)
        written = write_call(
            model, ASKED, tools, form=form, sampling=Sampling(seed=seed, max_tokens=5000)
        )
        assert (written.enforced, written.call.error) == (True, None)


def test_sixteen_thousand_tools_need_no_common_grammar() -> None:
    tools = Toolbox(
        [*TOOLS.values(), *(tool(f"service_{i}_get_{i % 97}", id=TEXT) for i in range(16_000))]
    )
    model = HoldingModel('{"name": "service_15999_get_91", "arguments": ', '{"id": "x"}}')
    written = write_call(model, ASKED, tools)
    assert (written.text, written.is_valid) == (
        '{"name": "service_15999_get_91", "arguments": {"id": "x"}}',
        True,
    )
    assert len(model.options[1]["grammar"]) < 4000
