"""Embedders of the table, with a model of four words in place of the real one; and the choice among embedders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="the retrieval extra is not installed")
pytest.importorskip("onnxruntime", reason="the retrieval extra is not installed")
pytest.importorskip("tokenizers", reason="the retrieval extra is not installed")

from atc.models.fetch import fetch  # noqa: E402
from atc.models.model_files import ModelFile  # noqa: E402
from atc.pipeline.retrieve import base, embedders  # noqa: E402
from atc.pipeline.retrieve.base import RetrievalUnavailable  # noqa: E402
from atc.pipeline.retrieve.embed import OnnxEmbedder, OpenAIEmbedder, choose_embedder  # noqa: E402
from atc.pipeline.retrieve.embedders import MODELS, Encoder  # noqa: E402
from tests.labs import tiny_onnx  # noqa: E402
from tests.labs.loopback import Reply, Seen, Server, serving  # noqa: E402

WORDS = {"[CLS]": 0, "[UNK]": 1, "east": 2, "north": 3, "query": 4}
TABLE = [[0, 0, 1], [0, 0, 5], [1, 0, 0], [0, 1, 0], [0, 0, -1]]


def pinned(path: Path, name: str) -> ModelFile:
    """A model file that is in its cache already, where it only has to be verified."""
    content = path.read_bytes()
    file = ModelFile(
        name,
        len(content),
        hashlib.sha256(content).hexdigest(),
        suffix=path.suffix,
        fallback_advice="walk",
    )
    path.rename(path.with_name(file.file_name))
    return file


@pytest.fixture
def tiny(tmp_path: Path) -> Encoder:
    (tmp_path / "weights.onnx").write_bytes(tiny_onnx.encoder(TABLE))
    tiny_onnx.save_tokenizer(tmp_path / "words.json", WORDS)
    return Encoder(
        name="tiny",
        dimensions=3,
        weights=pinned(tmp_path / "weights.onnx", "weights"),
        tokenizer=pinned(tmp_path / "words.json", "words"),
        max_tokens=6,
    )


def embedder(model: Encoder, folder: Path, **changes: object) -> OnnxEmbedder:
    return OnnxEmbedder(replace(model, **changes), folder=folder)  # type: ignore[arg-type]


def unit(*numbers: float):
    return pytest.approx(np.array(numbers) / np.linalg.norm(numbers), abs=1e-6)


def test_a_vector_is_the_normalized_token_mean(tiny, tmp_path):
    vectors = embedder(tiny, tmp_path).embed(["east east north", "north"])
    assert vectors.shape == (2, 3)
    assert vectors.dtype == np.float32
    assert vectors[0] == unit(2, 1, 1)
    assert vectors[1] == unit(0, 1, 1)


def test_a_mix_has_the_mean_cosine(tiny, tmp_path, monkeypatch):
    other = replace(tiny, name="other", max_tokens=3)
    monkeypatch.setitem(MODELS, "mix", ((tiny, 0.75), (other, 0.25)))
    mix = choose_embedder("mix", folder=tmp_path)
    texts = ["east", "north north", "", "east"]
    vectors = mix.embed(texts)
    assert mix.name == "mix"
    assert vectors.shape == (4, mix.dimensions) == (4, 6)
    parts = [embedder(model, tmp_path).embed(texts) for model in (tiny, other)]
    cosines = [part @ part.T for part in parts]
    assert vectors @ vectors.T == pytest.approx(0.75 * cosines[0] + 0.25 * cosines[1], abs=1e-6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0, 1])


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_blank_text_has_the_zero_vector(tiny, tmp_path, text):
    vectors = embedder(tiny, tmp_path).embed([text, "east"])
    assert not vectors[0].any()
    assert vectors[1].any()
    assert not embedder(tiny, tmp_path).embed([text]).any()
    assert embedder(tiny, tmp_path).embed([]).shape == (0, 3)


def test_long_and_odd_texts_are_embedded(tiny, tmp_path):
    made = embedder(tiny, tmp_path)
    vectors = made.embed(["east " * 20_000, "\ud800 east", "東 🙂"])
    assert vectors[0] == unit(5, 0, 1)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])


def test_unpinned_weights_are_refused(tiny, tmp_path):
    path = tmp_path / tiny.weights.file_name
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(
        RetrievalUnavailable, match=r"has SHA-256 .* damaged or altered, and is deleted"
    ):
        embedder(tiny, tmp_path).embed(["east"])


def test_ready_says_whether_a_first_query_would_fetch(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(MODELS, "tiny", ((tiny, 1.0),))
    assert not embedders.is_ready("tiny", folder=tmp_path)  # never verified
    for file in embedders.files("tiny"):
        fetch(file, folder=tmp_path)
    assert embedders.is_ready("tiny", folder=tmp_path)
    assert not embedders.is_ready("tiny", folder=tmp_path / "elsewhere")
    assert not embedders.is_ready("nobody", folder=tmp_path)
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    assert not embedders.is_ready("tiny", folder=tmp_path)


def test_an_embedder_is_found_by_its_name(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    for name in [
        "minilm",
        "paraphrase",
        "minilm+paraphrase",
        "openai:text-embedding-3-small",
        "openai:owner/m@latest",
    ]:
        assert choose_embedder(name, folder=tmp_path).name == name
    assert choose_embedder().name == "minilm+paraphrase" == embedders.DEFAULT


def test_missing_packages_are_named_with_the_command(monkeypatch):
    monkeypatch.setattr(base, "find_spec", lambda name: None if name == "onnxruntime" else object())
    with pytest.raises(
        RetrievalUnavailable, match=r"'minilm' needs 'onnxruntime'; install it with pip install"
    ):
        choose_embedder("minilm")


VECTORS = {"east": [2.0, 0.0], "north": [0.0, 5.0]}


def given(vectors: list[Any]) -> Reply:
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    return Reply(body={"object": "list", "model": "m", "data": data[::-1], "usage": {}})


def honest(body: dict[str, Any]) -> Reply:
    return given([VECTORS.get(text, [3.0, 4.0]) for text in body["input"]])


@pytest.fixture
def endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., tuple[OpenAIEmbedder, Server]]]:
    """Opens an embedder at an endpoint that gives its replies in turn, the last one for ever."""
    monkeypatch.setattr("atc.pipeline.retrieve.embed._RETRIES", 0)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    with ExitStack() as stack:

        def opened(
            *replies: Reply | Callable[[dict[str, Any]], Reply],
        ) -> tuple[OpenAIEmbedder, Server]:
            turn = iter(range(10**6))

            def answer(seen: Seen) -> Reply:
                reply = replies[min(next(turn), len(replies) - 1)]
                return reply if isinstance(reply, Reply) else reply(json.loads(seen.body))

            server = stack.enter_context(serving(answer))
            monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
            return OpenAIEmbedder("m"), server

        yield opened


def bodies(server: Server) -> list[dict[str, Any]]:
    return [json.loads(seen.body) for seen in server.seen]


def test_rows_follow_the_replys_indices(endpoint):
    embedder, server = endpoint(honest)
    vectors = embedder.embed(["east", "north", "else", "east"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == pytest.approx(np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0]]))
    assert server.last.path == "/v1/embeddings"
    assert bodies(server) == [
        {"model": "m", "input": ["east", "north", "else"], "encoding_format": "float"}
    ]


def test_blank_and_long_texts_are_made_to_fit(endpoint):
    embedder, server = endpoint(honest)
    vectors = embedder.embed(["", "east", " ", "\ud800", "long " * 20_000])
    assert embedder.embed([" "]).tolist() == [[0, 0]]
    assert [row.any() for row in vectors] == [False, True, False, True, True]
    sent = bodies(server)[0]["input"]
    assert sent[:2] == ["east", "?"]
    assert len(sent[2]) == 24_000


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (
            Reply(401, {"error": {"message": "no such key sk-secret-123"}}),
            r"refuses the key \(HTTP 401: no such key …\)",
        ),
        (
            Reply(400, {"error": {"message": "too long"}}),
            r"refuses the request to 'm' \(HTTP 400: too long\)",
        ),
        (Reply(503, {"error": {"message": "down"}}), r"fails .* or use the embedder 'minilm'\.$"),
        (
            Reply(200, b"<html>", {"Content-Type": "text/html"}),
            r"answered with no JSON object, so it is not the OpenAI API",
        ),
        (
            Reply(200, {"data": "none"}),
            r"answered 'm' with what are no vectors of numbers, one for each index; name an",
        ),
        (
            given([[1.0, 2.0]]),
            r"1 vectors of 2 numbers for 2 texts; name an embedding model that it has",
        ),
        (given([[1.0, float("inf")], [1.0, 2.0]]), r"no JSON object"),
    ],
)
def test_an_embedding_failure_shows_no_key(endpoint, reply: Reply, sentence: str):
    embedder, _ = endpoint(given([[1.0, 2.0]]), reply)
    assert embedder.dimensions == 2
    with pytest.raises(RetrievalUnavailable, match=sentence) as caught:
        embedder.embed(["east", "north"])
    assert "sk-secret" not in str(caught.value)
    assert "--model" not in str(caught.value) or "HTTP 404" in str(caught.value)


def test_an_unknown_embedder_lists_the_known():
    for name in ["minilmm", ""]:
        with pytest.raises(RetrievalUnavailable, match=r"no embedder .*minilm.*'openai:MODEL'"):
            choose_embedder(name)
