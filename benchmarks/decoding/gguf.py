"""Reads the tokenizer from a GGUF file, the format in which llama.cpp stores a model."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, BinaryIO

from llguidance import LLTokenizer

from atc.models.decode.errors import Undecodable

_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""The `struct` format of each scalar type. A GGUF file identifies types by these numbers."""
_STRING = 8
_ARRAY = 9
_PLAIN = 1
"""The number of the token type for text. Tokens of other types are commands."""


def gguf_tokenizer(path: Path) -> LLTokenizer:
    """Read the tokenizer of a GGUF file.

    Raises:
        Undecodable: the tokenizer is not like GPT-2's.
    """
    with path.open("rb") as file:
        file.seek(16)  # skips the magic number, the version and the number of tensors
        fields = {
            _value(file, _STRING): _value(file, _many(file, "I")[0])
            for _ in range(_many(file, "Q")[0])
        }
    if fields.get("tokenizer.ggml.model") != "gpt2":
        raise Undecodable(
            f"the tokenizer of {str(path)!r} is not of GPT-2's kind; name another model."
        )
    tokens = fields["tokenizer.ggml.tokens"]
    kinds = fields["tokenizer.ggml.token_type"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    flags = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    commands = [number for number, kind in enumerate(kinds) if kind != _PLAIN]
    bytes_ = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    written = {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": tokens[number], **flags} for number in commands],
        "pre_tokenizer": bytes_,
        "decoder": bytes_,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": fields["tokenizer.ggml.merges"]},
    }
    return LLTokenizer(json.dumps(written), eos_token=fields["tokenizer.ggml.eos_token_id"])


def _many(file: BinaryIO, code: str, count: int = 1) -> list[Any]:
    """Read `count` numbers from a file.

    `code` is the format character of a number for the module `struct`, such as "I".
    """
    return list(struct.unpack(f"<{count}{code}", file.read(struct.calcsize(f"<{count}{code}"))))


def _value(file: BinaryIO, kind: int) -> Any:
    """Read a value from a GGUF file. `kind` is the number by which the file names the value's type.

    An array becomes a list.
    """
    if kind == _STRING:
        return file.read(_many(file, "Q")[0]).decode()
    if kind == _ARRAY:
        (inner,) = _many(file, "I")
        (count,) = _many(file, "Q")
        if inner == _STRING:
            return [_value(file, inner) for _ in range(count)]
        return _many(file, _SCALARS[inner], count)
    return _many(file, _SCALARS[kind])[0]
