"""D2Q: a tool is found by the words of the queries that a model predicted for it."""

import json

import numpy as np
import pytest

from atc.models.scripted import ScriptedModel
from atc.retrieve.document import ToolDocument, json_text
from atc.retrieve.expand import Expansions, expand_all
from atc.retrieve.rewrite.d2q import d2q

DOCUMENTS = [
    ToolDocument(name="alpha", description="Meteorological data service."),
    ToolDocument(name="beta", description="Recipes for bread and cake."),
]
PREDICTED = {"alpha": "Shall I take an umbrella to Bergen", "beta": "How long must the dough rest"}


class Letters:
    """Counts the words of a text by their hash, and remembers the texts."""

    name, dimensions = "letters", 64

    def __init__(self):
        self.read = []

    def documents(self, texts):
        self.read += texts
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, sum(word.encode()) % self.dimensions] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    queries = documents


@pytest.fixture
def expansions():
    def reply(messages):
        name = next(name for name in PREDICTED if f'"name": "{name}"' in messages[-1].content)
        return json.dumps({"query": f"{PREDICTED[name]} {len(model.prompts)}?"})

    model = ScriptedModel(*[reply] * 6)
    with Expansions(None) as kept:
        expand_all(DOCUMENTS, kept, model, kinds=("queries",), queries=3)
        yield kept


def found(ranker, query):
    [ranked] = ranker.top([query], n=1)
    return [ranker.names[position] for position in ranked.positions]


def test_the_words_of_a_predicted_query_find_the_tool(expansions):
    ranker = d2q(DOCUMENTS, expansions)
    assert found(ranker, "umbrella for Bergen") == ["alpha"]
    assert found(ranker, "resting dough") == ["beta"]
    with Expansions(None) as none:
        assert found(d2q(DOCUMENTS, none), "umbrella for Bergen") == []


def test_by_meaning_a_document_and_its_queries_are_one_text(expansions):
    embedder = Letters()
    ranker = d2q(DOCUMENTS, expansions, embedder, queries=2)
    queries = expansions.texts(DOCUMENTS[0], most=2)
    assert len(queries) == 2
    assert embedder.read[0] == "\n".join([json_text(DOCUMENTS[0]), *queries])
    assert found(ranker, "Shall I take an umbrella to Bergen") == ["alpha"]


def test_without_queries_a_document_counts_as_it_stands():
    embedder = Letters()
    with Expansions(None) as none:
        d2q(DOCUMENTS, none, embedder)
    assert embedder.read == [json_text(document) for document in DOCUMENTS]
