"""Synthetic queries: what is asked of the model, which replies are taken, and that none is asked for twice."""

import hashlib
import json
import threading

import pytest

from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.expand import SYNTHETIC, expand_all
from benchmarks.retrieval.data import FACETS, Contrast
from protocols.errors import ModelUnavailable
from protocols.model import Completion

RENT = ToolDocument(
    name="HouseRenting", description="Finds flats to rent.", parameters={"city": "where"}
)
BUY = ToolDocument(name="HousePurchasing", description="Finds houses for sale.")
SHIPS = ToolDocument(name="ferries", description="When ferries leave.")
ALL = [RENT, BUY, SHIPS]


class Writer:
    """Writes another text for each seed, notes what it is asked, fails at the calls whose numbers are in `fails`."""

    name = "writer"
    prompt_tokens = 4000

    def __init__(self, fails=()):
        self.asked, self._fails, self._lock = [], fails, threading.Lock()

    def __call__(
        self, messages, *, schema=None, grammar=None, temperature=0.0, seed=0, max_tokens=1024
    ):
        with self._lock:
            number = len(self.asked)
            self.asked.append((messages[-1].content, seed, temperature))
        if number in self._fails:
            raise ModelUnavailable("the endpoint is down")
        said = {}
        for key in schema["properties"]:
            digest = hashlib.sha256(f"{messages[-1].content} {key} {seed}".encode()).hexdigest()
            said[key] = f"please {digest[:8]} {digest[8:16]} {digest[16:24]}"
        return Completion(text=json.dumps(said), model=self.name, input_tokens=10, output_tokens=5)


def said(**texts):
    return json.dumps(texts)


@pytest.fixture
def kept():
    return DocumentStore()


def test_tools_get_the_number_of_queries_wanted(kept):
    model = Writer()
    usage = expand_all([RENT], kept, lambda: model, queries=10)
    assert len(set(kept.texts(RENT))) == 10
    assert usage.model_calls == 10
    assert usage.output_tokens == 50
    assert {temperature for _, _, temperature in model.asked} == {0.7}
    assert len({seed for _, seed, _ in model.asked}) == 10


def test_only_missing_queries_are_asked_for(kept):
    expand_all(ALL, kept, Writer, queries=3)
    few = kept.texts(RENT)
    again = Writer()
    assert expand_all(ALL, kept, lambda: again, queries=3).model_calls == 0
    expand_all(ALL, kept, lambda: again, queries=5)
    assert len(again.asked) == 2 * len(ALL)
    assert kept.texts(RENT)[:3] == few
    assert kept.texts(RENT, most=2) == few[:2]


def test_an_outage_loses_no_queries(kept):
    broken = Writer(fails={7})
    with pytest.raises(
        ModelUnavailable, match=r"when 2 of 3 tools were expanded \(the endpoint is down\)"
    ) as told:
        expand_all(ALL, kept, lambda: broken, queries=3)
    assert "run it again" in str(told.value)
    assert [len(kept.texts(document)) for document in ALL] == [3, 3, 1]
    again = Writer()
    expand_all(ALL, kept, lambda: again, queries=3)
    assert len(again.asked) == 2


@pytest.mark.parametrize(
    "bad",
    ["", "no JSON at all", said(query=", , ,"), said(query=""), said(query=RENT.description), said(other="hello there"),
     said(query="flats flats flats " * 9), '["a", "b"]'],
)  # fmt: skip
def test_a_useless_reply_is_asked_again(kept, bad):
    model = ScriptedModel(bad, said(query="a room in Graz under 500 euros"))
    expand_all([RENT], kept, lambda: model, queries=1)
    assert kept.texts(RENT) == ("a room in Graz under 500 euros",)
    first, second = (options["seed"] for options in model.options)
    assert first != second


def test_contrast_shows_the_nearest_others(kept):
    model = Writer()
    expand_all([RENT], kept, lambda: model, kind=Contrast(near=lambda document: [BUY]))
    (prompt, _, _) = model.asked[0]
    assert "houses for sale" in prompt
    assert "ferries" not in prompt


def test_what_was_written_is_kept_under_these_versions():
    """A prompt, example or schema that changes has every tool expanded anew: change these only with intent."""
    versions = {kind.name: kind.version for kind in (SYNTHETIC, FACETS, Contrast())}
    assert versions == {
        "queries": "618c462431de",
        "facets": "171b6ddf7e9e",
        "contrast": "8855a96b4ff4",
    }
