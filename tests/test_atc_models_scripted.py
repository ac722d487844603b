"""The scripted model says what it was told to, and remembers what it was asked."""

import json

import pytest

from atc.models.scripted import ScriptedModel, ScriptEnded
from protocols.ask import Message, Powers, powers
from protocols.errors import ModelUnavailable

ASK = [Message("system", "Be brief."), Message("user", "Name a city.")]


def test_replies_come_in_order_and_may_be_computed_or_raised():
    model = ScriptedModel("Lima", lambda messages: messages[-1].content.upper(), ModelUnavailable("down"), "Rome")
    assert [model(ASK).text, model(ASK).text] == ["Lima", "NAME A CITY."]
    with pytest.raises(ModelUnavailable, match="down"):
        model(ASK)
    reply = model(ASK)
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("Rome", "scripted", 5, 1)


def test_what_it_was_asked_is_remembered_as_it_was():
    model = ScriptedModel("a", "b", name="double")
    messages = list(ASK)
    model(messages, temperature=0.7, seed=2, schema={"type": "object"})
    messages.append(Message("assistant", "a"))
    model(messages)
    assert [len(prompt) for prompt in model.prompts] == [2, 3]
    assert model.options[0] == {
        "schema": {"type": "object"},
        "grammar": None,
        "temperature": 0.7,
        "seed": 2,
        "max_tokens": 1024,
    }


def test_one_question_too_many_is_the_scripts_fault():
    model = ScriptedModel("Lima")
    model(ASK)
    with pytest.raises(ScriptEnded, match="'scripted' has 1 replies, and was asked 2 times"):
        model(ASK)


def test_a_script_can_be_a_file(tmp_path):
    path = tmp_path / "script.json"
    path.write_text(json.dumps(["Lima", "Rome"]))
    model = ScriptedModel.load(path)
    assert [model(ASK).text, model(ASK).text] == ["Lima", "Rome"]


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read"), ("[", "cannot be read"), ("[1]", "a JSON array of texts")]
)
def test_a_file_that_is_no_script_is_named(tmp_path, content, words):
    path = tmp_path / "script.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ModelUnavailable, match=rf"the script '.*script\.json' .*{words}"):
        ScriptedModel.load(path)


def test_it_pretends_to_the_powers_that_it_is_given():
    assert powers(ScriptedModel("x")) == Powers()
    assert powers(ScriptedModel("x", powers=Powers(continues=True))) == Powers(continues=True)
