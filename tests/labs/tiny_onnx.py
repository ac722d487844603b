"""ONNX files made by hand, some hundred bytes long, and a tokenizer of words: models whose answers can be told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

FLOAT, INT64 = 1, 7


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number: int, value: int | str | bytes) -> bytes:
    """A protobuf field: an integer, or bytes and text with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name: str, kind: int, *dimensions: str) -> bytes:
    shape = b"".join(field(1, field(2, dimension)) for dimension in dimensions)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(operator: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    names = b"".join(field(1, name) for name in inputs)
    return (
        names
        + field(2, output)
        + field(4, operator)
        + b"".join(field(5, attribute) for attribute in attributes)
    )


def tensor(name: str, values: Any) -> bytes:
    array = np.asarray(values, np.float32)
    return (
        b"".join(field(1, size) for size in array.shape)
        + field(2, FLOAT)
        + field(8, name)
        + field(9, array.tobytes())
    )


def model(*graph: bytes) -> bytes:
    return field(1, 6) + field(8, field(2, 11)) + field(7, b"".join(graph))


def encoder(table: Any) -> bytes:
    """A model whose hidden state at each token is that token's row of `table`, whatever stands around it."""
    inputs = [
        value_info(name, INT64, "texts", "tokens") for name in ("input_ids", "attention_mask")
    ]
    return model(
        field(1, node("Gather", ["table", "input_ids"], "last_hidden_state")),
        field(2, "encoder"),
        field(5, tensor("table", table)),
        *(field(11, one) for one in inputs),
        field(12, value_info("last_hidden_state", FLOAT, "texts", "tokens", "numbers")),
    )


def save_tokenizer(path: Path, vocabulary: Mapping[str, int]) -> None:
    """A tokenizer of whole words that puts [CLS] before a text, and was saved with padding and truncation on."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel(dict(vocabulary), unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", vocabulary["[CLS]"])]
    )
    made.enable_padding(length=128)
    made.enable_truncation(128)
    made.save(str(path))
