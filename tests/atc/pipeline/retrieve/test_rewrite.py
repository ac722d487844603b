"""Query expansion: what the model is asked, what is searched, and what becomes of replies that are of no use."""

import json
import threading

import pytest

from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.document import ToolDocument, words_text
from atc.pipeline.retrieve.lexical import Lexical
from atc.pipeline.retrieve.rewrite import REWRITERS, Rewriter
from protocols.errors import ModelUnavailable
from protocols.model import Completion, Powers
from tests.labs.patience import PATIENCE

DOCUMENTS = {
    document.name: document
    for document in (
        ToolDocument(name="bake", description="Recipes for bread and cake."),
        ToolDocument(
            name="forecast", description="Rain and wind of a city.", parameters={"city": "its name"}
        ),
        ToolDocument(name="ferry", description="Timetables of boats between islands."),
    )
}
QUERY = "Do I need an umbrella in Bergen?"
TOOL = {"name": "weather", "description": "Rain forecast.", "parameters": ["city"]}
SEARCH = {"search": ["rain forecast", "wind of a city"]}


class WordRanker:
    """Ranks by words; remembers the views."""

    def __init__(self):
        self.names, self.views = list(DOCUMENTS), []
        self._lexical = Lexical.build(self.names, map(words_text, DOCUMENTS.values()))

    def top(self, views, *, n):
        self.views += views
        return self._lexical.top(views, n=n)


def rewriter(method, *replies, **options):
    model = ScriptedModel(
        *(reply if isinstance(reply, str) else json.dumps(reply) for reply in replies)
    )
    ranker = WordRanker()
    return (
        Rewriter(ranker, model, method, documents=DOCUMENTS, text=words_text, **options),
        model,
        ranker,
    )


IMAGINED = words_text(
    ToolDocument(name="weather", description="Rain forecast.", parameters={"city": ""})
)
WRITTEN = "rain forecast, wind of a city"


@pytest.mark.parametrize(
    ("method", "reply", "view"),
    [
        ("hyde", TOOL, (QUERY, *[IMAGINED] * 5)),
        ("q2d", TOOL, (f"{QUERY}\n{IMAGINED}",) * 5),
        ("q2e", SEARCH, (f"{QUERY}\n{WRITTEN}",) * 5),
    ],
)
def test_searches_follow_the_rewriting_method(method, reply, view):
    tested, model, ranker = rewriter(method, *[reply] * REWRITERS[method].samples)
    found = tested.search(QUERY, k=1)
    assert ranker.views[-1] == view
    assert [hit.tool for hit in found.hits] == ["forecast"]
    assert found.usage.model_calls == REWRITERS[method].samples == len(model.prompts)
    assert found.usage.output_tokens > 0


def test_feedback_shows_only_the_querys_hits():
    query = "wind on the boats between islands"
    tested, model, ranker = rewriter("hyde-prf", *[TOOL] * 5, feedback=2)
    found = tested.search(query, k=1)
    assert ranker.views[0] == query
    asked = model.prompts[0][-1].content
    assert "- ferry: Timetables of boats" in asked
    assert "(parameters: city)" in asked
    assert "bake" not in asked
    assert found.transcript[0] == "shown to the model: ferry, forecast"
    assert len(found.hits) == 1


@pytest.mark.parametrize(
    ("useless", "why"),
    [
        ("I cannot help with that.", "empty or unreadable"),
        ({"name": "x", "description": " ", "parameters": []}, "empty or unreadable"),
        (
            {"name": "x", "description": "do i need an UMBRELLA in bergen", "parameters": []},
            "a copy of what",
        ),
        (
            {"name": "x", "description": "the tool " * 20, "parameters": []},
            "one phrase over and over",
        ),
        ('{"name": "x", "description": "cut off', "empty or unreadable"),
    ],
)
def test_a_useless_sample_is_left_out_and_said(useless, why):
    tested, _, ranker = rewriter("hyde", useless, *[TOOL] * 4)
    found = tested.search(QUERY, k=1)
    assert ranker.views[-1] == (QUERY, *[IMAGINED] * 4)
    assert found.transcript[0].startswith(f"tool 1: left out, it is {why}")
    assert "Rain forecast." in found.transcript[1]
    assert found.usage.model_calls == 5


class Crowd:
    """A model that answers nobody before `together` requests have come; the seed `down` is not answered."""

    name, prompt_tokens, powers = "crowd", 4000, Powers(parallel=True)

    def __init__(self, together, down=None):
        self._met, self._down = threading.Barrier(together), down

    def __call__(self, messages, *, seed, **_):
        self._met.wait(timeout=PATIENCE)
        if seed == self._down:
            raise ModelUnavailable("away")
        return Completion(text=json.dumps({"search": [f"tool {seed}"]}), model="m", output_tokens=1)


def test_samples_are_requested_side_by_side():
    found = Rewriter(WordRanker(), Crowd(5), "q2e", documents=DOCUMENTS).search("query", k=1)
    assert found.transcript == tuple(f"search {number + 1}: tool {number}" for number in range(5))
    assert found.usage.model_calls == 5
    with pytest.raises(ModelUnavailable, match="away"):
        Rewriter(WordRanker(), Crowd(5, down=3), "q2e", documents=DOCUMENTS).search("query", k=1)
