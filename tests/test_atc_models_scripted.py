"""The scripted model says what it was told to, and remembers what it was asked."""

import pytest

from atc.models.scripted import ScriptedModel, ScriptEnded
from protocols.ask import Message
from protocols.errors import ModelUnavailable

ASK = [Message("system", "Be brief."), Message("user", "Name a city.")]


def test_replies_come_in_order_and_may_be_computed_or_raised():
    model = ScriptedModel("Lima", lambda messages: messages[-1].content.upper(), ModelUnavailable("down"), "Rome")
    assert [model(ASK).text, model(ASK).text] == ["Lima", "NAME A CITY."]
    with pytest.raises(ModelUnavailable, match="down"):
        model(ASK)
    reply = model(ASK)
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("Rome", "scripted", 5, 1)


def test_one_question_too_many_is_the_scripts_fault():
    model = ScriptedModel("Lima")
    model(ASK)
    with pytest.raises(ScriptEnded, match="'scripted' has 1 replies, and was asked 2 times"):
        model(ASK)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read"), ("[", "cannot be read"), ("[1]", "a JSON array of texts")]
)
def test_a_file_that_is_no_script_is_named(tmp_path, content, words):
    path = tmp_path / "script.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ModelUnavailable, match=rf"the script '.*script\.json' .*{words}"):
        ScriptedModel.load(path)
