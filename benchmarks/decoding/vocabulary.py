"""The tokenizer of a GGUF file, for llguidance. Only the metadata at the file's beginning is read."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

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
    fields = _metadata(path)
    pieces, kinds = fields.get("tokenizer.ggml.tokens"), fields.get("tokenizer.ggml.token_type")
    if fields.get("tokenizer.ggml.model") != b"gpt2" or not pieces or not kinds:
        raise Undecodable(f"the tokenizer of {str(path)!r} is not of GPT-2's kind; name another model.")
    tokens = [
        b"" if kind in (_UNKNOWN, _CONTROL, _UNUSED) else piece if kind == _USER else _bytes(piece.decode())
        for piece, kind in zip(pieces, kinds, strict=True)
    ]
    special = [token for token, kind in enumerate(kinds) if kind in (_UNKNOWN, _CONTROL)]
    return LLTokenizer(TokenizerWrapper(_Guide(tokens, special, fields["tokenizer.ggml.eos_token_id"])))


def _bytes(piece: str) -> bytes:
    known = [_LETTERS.get(letter) for letter in piece]
    return bytes(byte for byte in known if byte is not None) if None not in known else piece.encode()


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


def _metadata(path: Path) -> dict[str, Any]:
    """The `tokenizer.*` fields; strings are bytes, arrays are lists."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = 8  # behind the magic and the version

        def many(code: str, count: int) -> list[Any]:
            nonlocal at
            values = struct.unpack_from(f"<{count}{code}", data, at)
            at += struct.calcsize(f"<{count}{code}")
            return list(values)

        def value(kind: int) -> Any:
            nonlocal at
            if kind == _STRING:
                (size,) = many("Q", 1)
                at += size
                return data[at - size : at]
            if kind == _ARRAY:
                (inner,), (count,) = many("I", 1), many("Q", 1)
                return [value(inner) for _ in range(count)] if inner == _STRING else many(_SCALARS[inner], count)
            return many(_SCALARS[kind], 1)[0]

        try:
            many("Q", 1)  # how many tensors
            fields = {}
            for _ in range(many("Q", 1)[0]):
                key = value(_STRING).decode()
                fields[key] = value(many("I", 1)[0])
        except (struct.error, ValueError, KeyError) as error:
            raise Undecodable(f"{str(path)!r} is no GGUF model, or damaged ({error}).") from error
    return {key: found for key, found in fields.items() if key.startswith("tokenizer.")}
