"""Embeddings from endpoints on loopback that behave, misbehave or are not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="the retrieval extra is not installed")

from atc.retrieve.base import RetrievalUnavailable  # noqa: E402
from atc.retrieve.embedders.openai import OpenAIEmbedder  # noqa: E402
from tests.loopback import Reply, Seen, Server, closed_port, serving  # noqa: E402

VECTORS = {"east": [2.0, 0.0], "north": [0.0, 5.0]}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def given(vectors: list[Any]) -> Reply:
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return Reply(body={"object": "list", "model": "m", "data": data[::-1], "usage": {}})


def honest(body: dict[str, Any]) -> Reply:
    return given([VECTORS.get(text, [3.0, 4.0]) for text in body["input"]])


@contextmanager
def endpoint(
    *replies: Reply | Callable[[dict[str, Any]], Reply], **options: Any
) -> Iterator[tuple[OpenAIEmbedder, Server]]:
    """An embedder at an endpoint that gives its replies in turn, the last one for ever."""
    turn = iter(range(10**6))

    def answer(seen: Seen) -> Reply:
        reply = replies[min(next(turn), len(replies) - 1)]
        return reply if isinstance(reply, Reply) else reply(json.loads(seen.body))

    with serving(answer) as server:
        settings = {"api_key": "sk-secret-123", "base_url": f"{server.url}/v1"}
        embedder = OpenAIEmbedder("m", **(settings | options))
        try:
            yield embedder, server
        finally:
            embedder.close()


def bodies(server: Server) -> list[dict[str, Any]]:
    return [json.loads(seen.body) for seen in server.seen]


def test_rows_are_of_length_one_and_follow_the_index_not_the_order_of_the_reply():
    with endpoint(honest) as (embedder, server):
        vectors = embedder.documents(["east", "north", "else", "east"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == pytest.approx(np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0]]))
    assert server.last.path == "/v1/embeddings"
    assert bodies(server) == [{"model": "m", "input": ["east", "north", "else"], "encoding_format": "float"}]


def test_many_texts_go_in_several_requests_and_come_back_in_order():
    def numbered(body: dict[str, Any]) -> Reply:
        return given([[float(text), 1.0] for text in body["input"]])

    with endpoint(numbered) as (embedder, server):
        vectors = embedder.queries([str(number) for number in range(300)])
    assert (vectors[:, 0] / vectors[:, 1]).tolist() == pytest.approx(list(range(300)))
    assert [len(body["input"]) for body in bodies(server)] == [128, 128, 44]


def test_blank_texts_are_not_sent_and_odd_and_long_ones_are_made_fit():
    with endpoint(honest) as (embedder, server):
        vectors = embedder.documents(["", "east", " ", "\ud800", "long " * 20_000])
        assert embedder.documents([" "]).tolist() == [[0, 0]]
    assert [row.any() for row in vectors] == [False, True, False, True, True]
    sent = bodies(server)[0]["input"]
    assert sent[:2] == ["east", "?"]
    assert len(sent[2]) == 24_000


def test_the_length_of_vectors_is_asked_for_once_or_given():
    with endpoint(honest) as (embedder, server):
        assert [embedder.dimensions, embedder.dimensions] == [2, 2]
        assert len(server.seen) == 1
    with endpoint(honest, dimensions=2) as (embedder, server):
        assert embedder.dimensions == 2
        assert server.seen == []
        embedder.queries(["east"])
        assert bodies(server)[0]["dimensions"] == 2


def test_a_passing_failure_is_tried_again():
    busy = Reply(429, {"error": {"message": "busy"}}, {"retry-after-ms": "1"})
    with endpoint(busy, honest) as (embedder, server):
        assert embedder.queries(["east"]).tolist() == [[1, 0]]
        assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (
            Reply(401, {"error": {"message": "no such key sk-secret-123"}}),
            r"refuses the key \(HTTP 401: no such key …\)",
        ),
        (Reply(404, {"error": {"message": "unknown"}}), r"has no model 'm' or is no such API"),
        (Reply(400, {"error": {"message": "too long"}}), r"refuses the request to 'm' \(HTTP 400: too long\)"),
        (Reply(503, {"error": {"message": "down"}}), r"still fails .* or use the embedder 'minilm'\.$"),
        (Reply(200, b"<html>", {"Content-Type": "text/html"}), r"something that is not the embeddings API"),
        (Reply(200, {"data": "none"}), r"something that is not the embeddings API"),
        (Reply(200, {"choices": []}), r"something that is not the embeddings API"),
        (given([[1.0, 2.0]]), r"1 vectors for 2 texts"),
        (given([[1.0, 2.0], [1.0]]), r"something that is not the embeddings API"),
        (given([[1.0, None], [1.0, 2.0]]), r"(finite numbers|not the embeddings API)"),
        (given([[1.0, float("inf")], [1.0, 2.0]]), r"vectors that hold no finite numbers"),
        (given([[], []]), r"vectors that hold no finite numbers"),
        (given([[1.0, 2.0, 3.0]] * 2), r"vectors of length 3, expected 2"),
    ],
)
def test_a_failure_is_one_sentence_with_the_next_step_and_no_key(reply: Reply, sentence: str):
    with (
        endpoint(reply, dimensions=2, max_retries=0) as (embedder, _),
        pytest.raises(RetrievalUnavailable, match=sentence) as caught,
    ):
        embedder.documents(["east", "north"])
    assert "sk-secret" not in str(caught.value)
    assert "--model" not in str(caught.value) or "HTTP 404" in str(caught.value)


def test_an_endpoint_that_is_down_is_named():
    embedder = OpenAIEmbedder("m", base_url=f"http://127.0.0.1:{closed_port()}/v1", max_retries=0)
    with pytest.raises(RetrievalUnavailable, match=r"127\.0\.0\.1.* cannot be reached .*or use the embedder 'minilm'"):
        embedder.queries(["east"])
    embedder.close()


def test_without_key_and_url_it_says_what_to_set():
    with pytest.raises(RetrievalUnavailable, match=r"'openai:m' needs an endpoint: set OPENAI_API_KEY"):
        OpenAIEmbedder("m")
