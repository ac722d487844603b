"""The tokenizer of a GGUF file, for llguidance. Only the metadata at the file's beginning is read."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from llguidance import LLTokenizer, TokenizerWrapper

from atc.decode.errors import Undecodable

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_UNKNOWN, _CONTROL, _USER, _UNUSED = 2, 3, 4, 5  # kinds of token
_PLAIN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_LETTERS = {chr(byte): byte for byte in _PLAIN} | {
    chr(0x100 + place): byte for place, byte in enumerate(byte for byte in range(256) if byte not in _PLAIN)
}
"""The character that stands for each byte in GPT-2's vocabulary and those after it."""


def gguf_tokenizer(path: Path) -> LLTokenizer:
    """The tokenizer of a llama.cpp model whose vocabulary is of GPT-2's kind. Raises Undecodable: it is of another."""
    with path.open("rb") as file:
        file.seek(16)  # behind the magic, the version and the number of tensors
        fields = {_value(file, _STRING).decode(): _value(file, _many(file, "I")[0]) for _ in range(_many(file, "Q")[0])}
    if fields.get("tokenizer.ggml.model") != b"gpt2":
        raise Undecodable(f"the tokenizer of {str(path)!r} is not of GPT-2's kind; name another model.")
    kinds = fields["tokenizer.ggml.token_type"]
    tokens = [
        b"" if kind in (_UNKNOWN, _CONTROL, _UNUSED) else piece if kind == _USER else _bytes(piece.decode())
        for piece, kind in zip(fields["tokenizer.ggml.tokens"], kinds, strict=True)
    ]
    special = [token for token, kind in enumerate(kinds) if kind in (_UNKNOWN, _CONTROL)]
    return LLTokenizer(TokenizerWrapper(_Guide(tokens, special, fields["tokenizer.ggml.eos_token_id"])))


def _bytes(piece: str) -> bytes:
    known = [_LETTERS.get(letter) for letter in piece]
    return bytes(byte for byte in known if byte is not None) if None not in known else piece.encode()


def _many(file: BinaryIO, code: str, count: int = 1) -> list[Any]:
    return list(struct.unpack(f"<{count}{code}", file.read(struct.calcsize(f"<{count}{code}"))))


def _value(file: BinaryIO, kind: int) -> Any:
    """A field's value: strings are bytes, arrays are lists."""
    if kind == _STRING:
        return file.read(_many(file, "Q")[0])
    if kind == _ARRAY:
        (inner,), (count,) = _many(file, "I"), _many(file, "Q")
        return [_value(file, inner) for _ in range(count)] if inner == _STRING else _many(file, _SCALARS[inner], count)
    return _many(file, _SCALARS[kind])[0]


class _Guide:
    """A vocabulary as llguidance asks for it; the text of special tokens is a name that no text contains."""

    bos_token_id = None

    def __init__(self, tokens: list[bytes], special: list[int], eos: int) -> None:
        marked = {*special, eos}
        self.tokens = [b"<|%d|>" % place if place in marked else token for place, token in enumerate(tokens)]
        self.special_token_ids, self.eos_token_id = sorted(marked), eos
        self._ids = {token: place for place, token in enumerate(tokens) if token and place not in marked}
        self._longest = max(map(len, self._ids))

    def __call__(self, text: bytes | str) -> list[int]:
        """The text in the longest tokens that fit, which is not always the model's own split."""
        data, found, at = text if isinstance(text, bytes) else text.encode(), [], 0
        while at < len(data):
            size = next(n for n in range(self._longest, 0, -1) if data[at : at + n] in self._ids)
            found.append(self._ids[data[at : at + size]])
            at += min(size, len(data) - at)
        return found
