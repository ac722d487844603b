"""The tokenizer of a GGUF file, for llguidance. Only the metadata at the file's beginning is read."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llguidance import LLTokenizer, TokenizerWrapper

from atc.decode.errors import Undecodable

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_UNKNOWN, _CONTROL, _USER, _UNUSED = 2, 3, 4, 5  # kinds of token


def gguf_tokenizer(path: Path) -> LLTokenizer:
    """The tokenizer of a llama.cpp model.

    Raises:
        Undecodable: the file cannot be read, is damaged, or has a tokenizer of another kind than GPT-2's and
            SentencePiece's.
    """
    fields = _metadata(path)
    kind = fields.get("tokenizer.ggml.model")
    text_of = {b"gpt2": _of_letters, b"llama": _of_sentencepiece, b"t5": _of_sentencepiece}.get(kind or b"")
    pieces, kinds = fields.get("tokenizer.ggml.tokens"), fields.get("tokenizer.ggml.token_type")
    if text_of is None or not isinstance(pieces, list) or not isinstance(kinds, list) or len(kinds) != len(pieces):
        raise Undecodable(
            f"the tokenizer of {str(path)!r} is of the kind {kind!r}, whose tokens are not known as text."
        )
    named = (fields.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    ends = list(dict.fromkeys(token for token in named if isinstance(token, int)))
    if not ends:
        raise Undecodable(f"the model file {str(path)!r} names no token that ends a text.")
    tokens = [_text(piece, one, text_of) for piece, one in zip(pieces, kinds, strict=True)]
    special = [token for token, one in enumerate(kinds) if one in (_UNKNOWN, _CONTROL)]
    return LLTokenizer(TokenizerWrapper(_Guide(tokens, special, ends[0])), eos_token=ends)


class _Guide:
    """A vocabulary as llguidance asks for it. `tokens` of special ones are names that no text contains."""

    bos_token_id = None

    def __init__(self, tokens: list[bytes], special: list[int], eos: int) -> None:
        marked = set(special) | {eos}
        self.tokens = [b"<|%d|>" % place if place in marked else token for place, token in enumerate(tokens)]
        self.special_token_ids, self.eos_token_id = sorted(marked), eos
        self._ids = {token: place for place, token in enumerate(tokens) if token and place not in marked}
        self._longest = max(map(len, self._ids))

    def __call__(self, text: bytes | str) -> list[int]:
        """The text in the longest tokens that fit, which is not always the model's own split."""
        data, found = text if isinstance(text, bytes) else text.encode(), []
        at = 0
        while at < len(data):
            size = next((n for n in range(self._longest, 0, -1) if data[at : at + n] in self._ids), 0)
            if not size:
                raise ValueError(f"no token stands for the byte {data[at]:#04x}")
            found.append(self._ids[data[at : at + size]])
            at += min(size, len(data) - at)
        return found


def _text(piece: bytes, kind: int, text_of: Callable[[str], bytes]) -> bytes:
    if kind in (_UNKNOWN, _CONTROL, _UNUSED):
        return b""
    return piece if kind == _USER else text_of(piece.decode("utf-8", "replace"))


def _byte_letters() -> dict[str, int]:
    """The character that stands for each byte in GPT-2's vocabulary and those after it."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


_LETTERS = _byte_letters()


def _of_letters(piece: str) -> bytes:
    known = [_LETTERS.get(letter) for letter in piece]
    return bytes(byte for byte in known if byte is not None) if None not in known else piece.encode()


def _of_sentencepiece(piece: str) -> bytes:
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()


def _metadata(path: Path) -> dict[str, Any]:
    """The `tokenizer.*` fields; strings are bytes, arrays are lists."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise Undecodable(f"{str(path)!r} is not a GGUF model; name a .gguf file.")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Reader(data).fields("tokenizer.")
    except OSError as error:
        raise Undecodable(f"the model file {str(path)!r} cannot be read ({error.strerror}).") from error
    except (struct.error, ValueError, KeyError) as error:
        raise Undecodable(f"the model file {str(path)!r} is damaged: {error}; fetch it again.") from error


class _Reader:
    """Values one after the other, little-endian; a length that leaves the file is a ValueError."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data, self._at = data, 4  # behind the magic

    def fields(self, prefix: str) -> dict[str, Any]:
        """All fields whose names begin with `prefix`."""
        if (version := self._scalar("I")) not in (2, 3):
            raise ValueError(f"its version is {version}")
        self._scalar("Q")  # how many tensors
        found: dict[str, Any] = {}
        for _ in range(self._scalar("Q")):
            key, kind = self._string().decode("utf-8", "replace"), self._scalar("I")
            value = self._array() if kind == _ARRAY else self._one(kind)
            if key.startswith(prefix):
                found[key] = value
        return found

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(f"<{code}")
        return value

    def _string(self) -> bytes:
        length = self._scalar("Q")
        text = self._data[self._at : self._at + length]
        if len(text) < length:
            raise ValueError(f"a text at byte {self._at} would have {length} bytes")
        self._at += length
        return text

    def _one(self, kind: int) -> Any:
        return self._string() if kind == _STRING else self._scalar(_SCALARS[kind])

    def _array(self) -> list[Any]:
        kind, count = self._scalar("I"), self._scalar("Q")
        if count > len(self._data) - self._at:
            raise ValueError(f"a list at byte {self._at} would have {count} items")
        if kind == _STRING:
            return [self._string() for _ in range(count)]
        values = struct.unpack_from(f"<{count}{_SCALARS[kind]}", self._data, self._at)
        self._at += struct.calcsize(f"<{count}{_SCALARS[kind]}")
        return list(values)
