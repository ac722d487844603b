"""Listwise re-ranking: a language model chooses among what was found."""

import pytest

from atc.core.types import Usage
from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.listwise import Listwise
from tests.labs.rankers import Fixed

DOCUMENTS = {name: ToolDocument(name=name, description=f"About {name}.") for name in "abcdefgh"}


def test_a_language_model_chooses():
    model = ScriptedModel('{"best": ["C", "A"]}')
    retriever = Fixed(*"hgfed", usage=Usage(model_calls=2, output_tokens=5))
    found = Listwise(retriever=retriever, documents=DOCUMENTS, ask=model).search("what for?", k=4)
    assert [hit.tool for hit in found.hits] == ["f", "h", "g", "e"]
    assert [hit.score for hit in found.hits] == [hit.score for hit in retriever.hits[:4]]
    assert found.transcript == ("looked", "the model chose f, h")
    assert found.usage == Usage(
        model_calls=3, input_tokens=found.usage.input_tokens, output_tokens=8
    )
    assert model.options[0]["schema"]["properties"]["best"]["items"]["enum"] == list("ABCDE")
    assert model.prompts[0][-1].content.endswith("E. d: About d.\n\nRequest: what for?")


@pytest.mark.parametrize(
    "reply", ["", "[]", '{"best": null}', '{"best": ["Z", 4]}', '{"worst": ["A"]}', "3"]
)
def test_a_choice_of_nothing_keeps_the_order(reply):
    found = Listwise(retriever=Fixed(*"cab"), documents=DOCUMENTS, ask=ScriptedModel(reply)).search(
        "q", k=3
    )
    assert [hit.tool for hit in found.hits] == ["c", "a", "b"]
    assert found.transcript[-1] == "the model chose none: order kept"
