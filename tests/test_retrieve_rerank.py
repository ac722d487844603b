"""Re-ranking: by a cross-encoder in process, behind an endpoint, and by a language model's choice."""

import json

import numpy as np
import pytest

from atc.models.scripted import ScriptedModel
from atc.retrieve.base import Hit, Retrieval, RetrievalUnavailable
from atc.retrieve.document import ToolDocument
from atc.retrieve.rerank import EndpointReranker, Listwise, OnnxCrossEncoder, Reranked, cross_encoder
from atc.types import Usage
from protocols.errors import ModelUnavailable
from tests.loopback import Reply, serving

DOCUMENTS = {name: ToolDocument(name=name, description=f"About {name}.") for name in "abcdefgh"}


class Fixed:
    """Finds the same tools whatever is asked, best first."""

    def __init__(self, names, usage=None):
        self.hits = tuple(Hit(name, 1.0 - 0.1 * place) for place, name in enumerate(names))
        self.usage = usage or Usage()
        self.asked = []

    def search(self, query, *, k):
        self.asked.append(k)
        return Retrieval(hits=self.hits[:k], transcript=("found",), usage=self.usage)


class Encoder:
    name = "fixed-encoder"

    def __init__(self, **scores):
        self.known, self.texts = scores, []

    def scores(self, query, texts):
        self.texts = list(texts)
        names = [json.loads(text)["name"] for text in texts]
        return np.array([self.known.get(name, 0.0) for name in names], np.float32)


def test_the_model_orders_the_candidates_and_ties_go_by_name():
    model = Encoder(c=2.0, a=0.5)
    found = Reranked(retriever=Fixed("ahgfc"), documents=DOCUMENTS, model=model).search("q", k=4)
    assert [(hit.tool, hit.score) for hit in found.hits] == [("c", 2.0), ("a", 0.5), ("f", 0.0), ("g", 0.0)]
    assert found.transcript == ("found", "5 tools scored again by fixed-encoder")


@pytest.mark.parametrize(("k", "looked_at"), [(1, 3), (3, 3), (6, 6)])
def test_as_many_are_scored_as_are_candidates_or_asked_for(k, looked_at):
    retriever, model = Fixed("abcdefgh"), Encoder(h=9.0)
    found = Reranked(retriever=retriever, documents=DOCUMENTS, model=model, candidates=3).search("q", k=k)
    assert retriever.asked == [looked_at]
    assert len(model.texts) == looked_at
    assert len(found.hits) == k


def test_nothing_found_asks_no_model():
    model = Encoder()
    assert Reranked(retriever=Fixed(""), documents=DOCUMENTS, model=model).search("q", k=5).hits == ()
    assert model.texts == []


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(RetrievalUnavailable, match="'fixed-encoder' gave a score that is no number"):
        Reranked(retriever=Fixed("ab"), documents=DOCUMENTS, model=Encoder(a=float("nan"))).search("q", k=1)


def rerank_reply(seen):
    asked = json.loads(seen.body)
    results = [{"index": place, "relevance_score": len(text)} for place, text in enumerate(asked["documents"])]
    return Reply(body={"results": results[::-1]})  # as servers do: best first, not in the order sent


def test_an_endpoint_scores():
    with serving(rerank_reply) as server:
        model = EndpointReranker(f"{server.url}/v1/", model="reader", api_key="s3cret")
        assert model.scores("which?", ["aa", "a", "aaa"]).tolist() == [2.0, 1.0, 3.0]
        assert model.scores("which?", []).tolist() == []
        assert len(server.seen) == 1
        assert server.last.path == "/v1/rerank"
        assert server.last.headers["authorization"] == "Bearer s3cret"
        sent = {"query": "which?", "documents": ["aa", "a", "aaa"], "top_n": 3, "model": "reader"}
        assert json.loads(server.last.body) == sent


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(status=501, body={"error": "not a reranking model"}), "HTTP 501 .*not a reranking model"),
        (Reply(body={"data": []}), "another form"),
        (Reply(body={"results": [{"index": 0}]}), "another form"),
        (Reply(body=b"<html>"), "another form"),
        (Reply(body=[]), "another form"),
        (Reply(body={"results": [{"index": 0, "relevance_score": 1.0}]}), "scored 1 of 2 documents"),
        (Reply(body={"results": [{"index": 7, "relevance_score": 1.0}]}), "scored 0 of 2 documents"),
    ],
)
def test_an_endpoint_that_does_not_score_is_said(reply, why):
    with serving(lambda _: reply) as server, pytest.raises(RetrievalUnavailable, match=why) as raised:
        EndpointReranker(server.url).scores("q", ["a", "b"])
    assert "check that a reranking model is served there" in str(raised.value)


def test_an_endpoint_that_is_not_there_is_said():
    with serving() as server:
        gone = server.url
    with pytest.raises(RetrievalUnavailable, match="gave no answer"):
        EndpointReranker(gone, timeout_seconds=2.0).scores("q", ["a"])


def test_a_language_model_chooses():
    model = ScriptedModel('{"best": ["C", "A"]}')
    retriever = Fixed("hgfed", usage=Usage(model_calls=2, output_tokens=5))
    found = Listwise(retriever=retriever, documents=DOCUMENTS, ask=model).search("what for?", k=4)
    assert [hit.tool for hit in found.hits] == ["f", "h", "g", "e"]
    assert [hit.score for hit in found.hits] == [hit.score for hit in retriever.hits[:4]]
    assert found.transcript == ("found", "the model chose f, h")
    assert found.usage == Usage(model_calls=3, input_tokens=found.usage.input_tokens, output_tokens=8)
    assert model.options[0]["schema"]["properties"]["best"]["items"]["enum"] == list("ABCDE")
    system, asked = model.prompts[0]
    assert system.content == (
        "You are given a user's request and a list of tools, each with a letter. Choose the tools that the request "
        'needs: one, or up to three where it asks for several things. Reply with a JSON object: "best" is the list '
        "of their letters, the most important first."
    )
    assert asked.content == (
        "Tools:\nA. h: About h.\nB. g: About g.\nC. f: About f.\nD. e: About e.\nE. d: About d.\n\nRequest: what for?"
    )


@pytest.mark.parametrize("reply", ["", "[]", '{"best": null}', '{"best": ["Z", 4]}', '{"worst": ["A"]}', "3"])
def test_a_choice_of_nothing_keeps_the_order(reply):
    found = Listwise(retriever=Fixed("cab"), documents=DOCUMENTS, ask=ScriptedModel(reply)).search("q", k=3)
    assert [hit.tool for hit in found.hits] == ["c", "a", "b"]
    assert found.transcript[-1] == "the model chose none: order kept"


def test_a_letter_given_twice_counts_once():
    model = ScriptedModel('{"best": ["B", "B", "A"]}')
    found = Listwise(retriever=Fixed("cab"), documents=DOCUMENTS, ask=model).search("q", k=3)
    assert [hit.tool for hit in found.hits] == ["a", "c", "b"]


def test_only_the_first_candidates_are_offered_and_the_rest_follows():
    model = ScriptedModel('{"best": ["B"]}')
    found = Listwise(retriever=Fixed("abcdefgh"), documents=DOCUMENTS, ask=model, candidates=2).search("q", k=5)
    assert [hit.tool for hit in found.hits] == ["b", "a", "c", "d", "e"]
    assert "C." not in model.prompts[0][-1].content


@pytest.mark.parametrize("names", ["", "a"])
def test_one_tool_needs_no_choice(names):
    found = Listwise(retriever=Fixed(names), documents=DOCUMENTS, ask=ScriptedModel()).search("q", k=3)
    assert [hit.tool for hit in found.hits] == list(names)


def test_an_outage_passes():
    model = ScriptedModel(ModelUnavailable("gone"))
    with pytest.raises(ModelUnavailable, match="gone"):
        Listwise(retriever=Fixed("ab"), documents=DOCUMENTS, ask=model).search("q", k=1)


def test_a_cross_encoder_is_named_by_url_or_folder(tmp_path):
    served = cross_encoder("http://127.0.0.1:8080/v1#reader")
    assert isinstance(served, EndpointReranker)
    assert (served.url, served.name) == ("http://127.0.0.1:8080/v1/rerank", "reader")
    own = cross_encoder(str(tmp_path))
    assert isinstance(own, OnnxCrossEncoder)
    assert own.folder == tmp_path
    with pytest.raises(RetrievalUnavailable, match="none comes with atc; name the folder of one"):
        cross_encoder("")
