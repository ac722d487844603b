"""A model's vocabulary: which bytes each token stands for. Masks are about these."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atc.decode.errors import Undecodable
from atc.decode.token_tree import TokenTree

if TYPE_CHECKING:
    from llguidance import LLTokenizer

Encode = Callable[[str], list[int]]

_BITS = 32  # of one word of a mask
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\n"
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_PLAIN_TEXT = tuple(rf"[^\"'\\`{{}}\x00-\x1F\x7F]{{1,{most}}}" for most in (10, 30))
"""Tokens that any text within quotation marks may hold, of Python too: llguidance masks those of such a slice at once.

Its own slices hold more, which Python's strings and f-strings do not, so that for them each token would be looked at.
"""


class Vocabulary:
    """Tokens as bytes. Immutable.

    `tokens[i]` is empty where token `i` stands for no text: special tokens, `eos` among them, and places that are not
    used. `encode` is the model's own way to split a text, where it is known.

    Raises:
        Undecodable: no token ends a text, an id is out of range, or a printable character has no token of its own, so
            that calls could not be written to their end.
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        *,
        eos: Sequence[int],
        special: Iterable[int] = (),
        encode: Encode | None = None,
    ) -> None:
        self.size = len(tokens)
        self.eos = tuple(dict.fromkeys(eos))
        self.special = frozenset(special) | frozenset(self.eos)
        if not self.eos:
            raise Undecodable("the vocabulary names no token that ends a text; say which one does (`eos`).")
        if bad := [token for token in self.special if not 0 <= token < self.size]:
            raise Undecodable(f"the special token {bad[0]} is none of the vocabulary's {self.size}.")
        self.tokens = tuple(b"" if token in self.special else text for token, text in enumerate(tokens))
        self.words = -(-self.size // _BITS)
        """Length of a mask, in words of 32 bits."""
        self._own_encode = encode
        if missing := [chr(byte) for byte in _PRINTABLE if bytes([byte]) not in self.ids]:
            raise Undecodable(f"the vocabulary has no token for {missing[0]!r} alone; calls need each ASCII character.")
        if any(bytes([byte]) not in self.ids for byte in _CONTINUATIONS):
            self._forget_partial_characters()

    def _forget_partial_characters(self) -> None:
        """Without a token for each byte, a token that ends amid a character may have none that goes on."""
        self.tokens = tuple(text if _is_whole(text) else b"" for text in self.tokens)
        del self.ids

    @classmethod
    def byte_level(cls) -> Vocabulary:
        """The 256 bytes, and 256 as the end of a text."""
        return cls([*(bytes([byte]) for byte in range(256)), b""], eos=(256,))

    @classmethod
    def from_gguf(cls, path: str | Path) -> Vocabulary:
        """The vocabulary of a llama.cpp model. Raises Undecodable: damaged, or of a kind whose tokens are no text."""
        from atc.decode.tokenizer_files import gguf_tokenizer

        return cls(**gguf_tokenizer(Path(path)))

    @classmethod
    def from_tokenizer_json(cls, path: str | Path, *, eos: Sequence[str] = ()) -> Vocabulary:
        """That of a Hugging Face `tokenizer.json`. `eos` names tokens that end a text, where the file's do not tell.

        Raises:
            Undecodable: damaged, of a kind whose tokens are no text, or nothing is known to end a text.
        """
        from atc.decode.tokenizer_files import json_tokenizer

        return cls(**json_tokenizer(Path(path), eos))

    @classmethod
    def from_tiktoken(cls, encoding: Any) -> Vocabulary:
        """That of a `tiktoken.Encoding`."""
        from atc.decode.tokenizer_files import tiktoken_tokenizer

        return cls(**tiktoken_tokenizer(encoding))

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """Text → the first token that stands for it."""
        return {text: token for token, text in reversed(list(enumerate(self.tokens))) if text}

    @cached_property
    def twins(self) -> dict[bytes, list[int]]:
        """Texts of which several tokens stand, with all of these."""
        found: dict[bytes, list[int]] = {}
        for token, text in enumerate(self.tokens):
            if text and self.ids[text] != token:
                found.setdefault(text, [self.ids[text]]).append(token)
        return found

    def with_twins(self, tokens: list[int]) -> list[int]:
        """`tokens`, and those that stand for the same texts."""
        if not self.twins:
            return tokens
        return [twin for token in tokens for twin in self.twins.get(self.tokens[token], (token,))]

    @cached_property
    def ordered(self) -> list[bytes]:
        """The texts, sorted, each once."""
        return sorted(self.ids)

    @cached_property
    def tree(self) -> TokenTree:
        """The texts as a tree of bytes."""
        return TokenTree(self.ordered, map(self.ids.__getitem__, self.ordered))

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest token."""
        return max(map(len, self.ordered))

    def beginning_with(self, prefix: bytes, low: int = 0, high: int | None = None) -> tuple[int, int]:
        """The range of `ordered`, within `low` to `high`, whose texts begin with `prefix` (no 0xff at its end)."""
        texts = self.ordered
        high = len(texts) if high is None else high
        if not prefix:
            return low, high
        low = bisect_left(texts, prefix, low, high)
        return low, bisect_left(texts, prefix[:-1] + bytes((prefix[-1] + 1,)), low, high)

    def encode(self, text: str | bytes) -> list[int]:
        """Tokens that spell `text`: the model's own split where it is known, else always the longest token that fits.

        Raises:
            ValueError: a byte has no token.
        """
        data = text.encode() if isinstance(text, str) else text
        if self._own_encode is not None and isinstance(text, str):
            tokens = self._own_encode(text)
            if self.decode(tokens) == data:  # an encoder may normalise, or add a space of its own
                return tokens
        return self._greedy(data)

    def _greedy(self, data: bytes) -> list[int]:
        tokens, at = [], 0
        while at < len(data):
            fitting = self.tree.beginnings(data[at : at + self.longest])
            if not fitting:
                raise ValueError(f"no token of the vocabulary stands for the byte {data[at]:#04x}")
            tokens.append(fitting[-1])
            at += len(self.tokens[fitting[-1]])
        return tokens

    def decode(self, tokens: Iterable[int]) -> bytes:
        """What `tokens` spell; special ones spell nothing."""
        return b"".join(self.tokens[token] for token in tokens)

    @cached_property
    def bytes_from(self) -> int:
        """In `lltokenizer`, the token of byte 0; those of the other bytes follow."""
        return self.words * _BITS

    @cached_property
    def lltokenizer(self) -> LLTokenizer:
        """Tables of llguidance, made once (about 0.3 s for 49,152 tokens).

        Behind the vocabulary's tokens stand 256 more, one a byte: so any text can be fed, wherever a token was cut.

        Raises:
            Undecodable: llguidance is not installed.
        """
        try:
            from llguidance import LLTokenizer, TokenizerWrapper
        except ImportError as error:
            raise Undecodable(
                "decoding needs 'llguidance', which is not installed: pip install \"automatic-tool-chain[decode]\"."
            ) from error
        slices = [*_PLAIN_TEXT, *LLTokenizer.general_slices()]
        return LLTokenizer(TokenizerWrapper(_Guide(self)), eos_token=list(self.eos), slices=slices)


def _is_whole(text: bytes) -> bool:
    """Whether `text` is UTF-8 from its first to its last character."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Guide:
    """A vocabulary as llguidance asks for it."""

    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        start = self._start = vocabulary.bytes_from
        names = [
            b"<|%d|>" % token if token in vocabulary.special else text for token, text in enumerate(vocabulary.tokens)
        ]
        self.tokens = [*names, *[b""] * (start - vocabulary.size), *(bytes([byte]) for byte in range(256))]
        self.special_token_ids = sorted(vocabulary.special)
        self.eos_token_id = vocabulary.eos[0]

    def __call__(self, text: bytes | str) -> list[int]:
        return [self._start + byte for byte in (text if isinstance(text, bytes) else text.encode())]
