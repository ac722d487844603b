"""The tokenizer of a GGUF file, for llguidance. Only the metadata at the file's beginning is read."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, BinaryIO

from llguidance import LLTokenizer

from atc.decode.errors import Undecodable

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_PLAIN = 1
"""Kind of a token that is text; the others are commands."""


def gguf_tokenizer(path: Path) -> LLTokenizer:
    """The tokenizer of a llama.cpp model whose vocabulary is of GPT-2's kind. Raises Undecodable: it is of another."""
    with path.open("rb") as file:
        file.seek(16)  # behind the magic, the version and the number of tensors
        fields = {_value(file, _STRING): _value(file, _many(file, "I")[0]) for _ in range(_many(file, "Q")[0])}
    if fields.get("tokenizer.ggml.model") != "gpt2":
        raise Undecodable(f"the tokenizer of {str(path)!r} is not of GPT-2's kind; name another model.")
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    commands = [number for number, kind in enumerate(kinds) if kind != _PLAIN]
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    written = {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": tokens[number], **flags} for number in commands],
        "pre_tokenizer": bytes_,
        "decoder": bytes_,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": fields["tokenizer.ggml.merges"]},
    }
    return LLTokenizer(json.dumps(written), eos_token=fields["tokenizer.ggml.eos_token_id"])


def _many(file: BinaryIO, code: str, count: int = 1) -> list[Any]:
    return list(struct.unpack(f"<{count}{code}", file.read(struct.calcsize(f"<{count}{code}"))))


def _value(file: BinaryIO, kind: int) -> Any:
    """A field's value; arrays are lists."""
    if kind == _STRING:
        return file.read(_many(file, "Q")[0]).decode()
    if kind == _ARRAY:
        (inner,), (count,) = _many(file, "I"), _many(file, "Q")
        return [_value(file, inner) for _ in range(count)] if inner == _STRING else _many(file, _SCALARS[inner], count)
    return _many(file, _SCALARS[kind])[0]
