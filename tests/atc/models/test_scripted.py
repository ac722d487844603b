"""A model that returns prepared replies."""

import json

import pytest

from atc.models.scripted import ScriptedModel, ScriptEnded
from protocols.model import Message

ASK = [Message("user", "Which city?")]


def test_replies_come_in_order_until_the_end(tmp_path):
    file = tmp_path / "script.json"
    file.write_text(json.dumps(["Oslo", "Rome"]))
    model = ScriptedModel.load(file)
    assert [model(ASK).text, model(ASK).text] == ["Oslo", "Rome"]
    with pytest.raises(ScriptEnded, match="has a script of 2 turns and was asked 3 times"):
        model(ASK)


def test_an_exception_in_the_script_is_raised():
    with pytest.raises(ValueError, match="down"):
        ScriptedModel(ValueError("down"))(ASK)


@pytest.mark.parametrize("reply", [["print(1)"], None, 7])
def test_a_list_of_replies_is_explained(reply):
    with pytest.raises(TypeError, match=r"reply 1 .* write ScriptedModel\(\*texts\)"):
        ScriptedModel(reply)
