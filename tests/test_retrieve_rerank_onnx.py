"""A cross-encoder as ONNX file, made by hand: the score of a pair is the sum of the document's token numbers."""

import json
import sys

import numpy as np
import pytest

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.rerank.onnx import OnnxCrossEncoder

pytest.importorskip("onnxruntime", reason="the retrieval extra is not installed")
pytest.importorskip("tokenizers", reason="the retrieval extra is not installed")

VOCABULARY = {"[UNK]": 0, "[SEP]": 1, "good": 10, "better": 100, "what": 3}
INT, INTS = 2, 7
INT64, FLOAT = 7, 1


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number, value):
    """A protobuf field: an integer, or bytes and text with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name, kind, *dimensions):
    shape = b"".join(field(1, field(2, dimension)) for dimension in dimensions)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(operator, inputs, output, *attributes):
    names = b"".join(field(1, name) for name in inputs)
    return names + field(2, output) + field(4, operator) + b"".join(field(5, attribute) for attribute in attributes)


def attribute(name, kind, value):
    return field(1, name) + field(3 if kind == INT else 8, value) + field(20, kind)


def model(inputs=("input_ids", "token_type_ids")):
    """ReduceSum(Cast(input × input)) over the tokens, float (pairs, 1)."""
    graph = [
        field(1, node("Mul", inputs, "product")),
        field(1, node("Cast", ["product"], "numbers", attribute("to", INT, FLOAT))),
        field(1, node("ReduceSum", ["numbers"], "logits", attribute("axes", INTS, 1), attribute("keepdims", INT, 1))),
        field(2, "pairs"),
        *(field(11, value_info(name, INT64, "pairs", "tokens")) for name in inputs),
        field(12, value_info("logits", FLOAT, "pairs", "one")),
    ]
    return field(1, 6) + field(8, field(2, 11)) + field(7, b"".join(graph))


def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="$A [SEP]", pair="$A:0 [SEP]:0 $B:1", special_tokens=[("[SEP]", 1)]
    )
    return made


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.onnx").write_bytes(model())
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_each_document_is_read_with_the_query(folder):
    scores = OnnxCrossEncoder(folder, threads=1).scores("what better", ["good", "better good", "nothing"])
    assert scores.tolist() == [10.0, 110.0, 0.0]
    assert scores.dtype == np.float32


def test_many_documents_are_scored_in_their_order(folder):
    texts = [" ".join(["good"] * (number % 7)) for number in range(100)]
    assert OnnxCrossEncoder(folder, threads=1).scores("what", texts).tolist() == [10.0 * (n % 7) for n in range(100)]


def test_nothing_to_score(folder):
    assert OnnxCrossEncoder(folder, threads=1).scores("what", []).shape == (0,)


def test_long_and_odd_texts_are_scored(folder):
    reranker = OnnxCrossEncoder(folder, threads=1)
    assert reranker.scores("what " * 20_000, ["good"]).tolist() == [10.0]
    assert reranker.scores("what", ["good " * 20_000, "\ud800 good", ""])[1:].tolist() == [10.0, 0.0]


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_said(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(RetrievalUnavailable, match=r"it must be a folder with a cross-encoder as model.onnx"):
        OnnxCrossEncoder(folder).scores("what", ["good"])


def test_a_damaged_file_is_said(folder):
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(RetrievalUnavailable, match="cannot be used"):
        OnnxCrossEncoder(folder).scores("what", ["good"])
    (folder / "model.onnx").write_bytes(model())
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0"}))
    with pytest.raises(RetrievalUnavailable, match="cannot be used"):
        OnnxCrossEncoder(folder).scores("what", ["good"])


def test_a_model_of_another_kind_is_said(folder):
    (folder / "model.onnx").write_bytes(model(("input_ids", "pixel_values")))
    with pytest.raises(RetrievalUnavailable, match="the model wants pixel_values too"):
        OnnxCrossEncoder(folder).scores("what", ["good"])


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_said(folder, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(RetrievalUnavailable, match=rf"needs '{package}'; install it with pip install"):
        OnnxCrossEncoder(folder).scores("what", ["good"])
