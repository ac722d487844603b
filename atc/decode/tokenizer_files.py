"""Tokenizers as they are stored, read into what `Vocabulary` takes; refused where tokens do not join to a text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from atc.decode.errors import Undecodable
from atc.decode.gguf import tokenizer_metadata


class Tokenizer(TypedDict):
    """The arguments of `Vocabulary`."""

    tokens: list[bytes]
    eos: list[int]
    special: list[int]
    encode: Callable[[str], list[int]] | None


_ENDS = ("</s>", "<eos>", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<end_of_turn>")
"""What well-known models write to end a text or their turn."""
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "▁"  # SentencePiece's
_MOST_TOKENS = 4_000_000  # the largest vocabularies have 256,000


def _byte_letters() -> dict[str, int]:
    """The character that stands for each byte in GPT-2's vocabulary, and in all that follow it."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


_LETTERS = _byte_letters()


def _of_letters(piece: str) -> bytes:
    try:
        return bytes([_LETTERS[letter] for letter in piece])
    except KeyError:  # a token that was added as it is written
        return piece.encode()


def _of_sentencepiece(piece: str) -> bytes:
    byte = _BYTE.fullmatch(piece)
    return bytes([int(byte[1], 16)]) if byte else piece.replace(_SPACE, " ").encode()


_OF_GGUF = {b"gpt2": _of_letters, b"llama": _of_sentencepiece, b"t5": _of_sentencepiece}
_UNKNOWN, _CONTROL, _USER, _UNUSED = 2, 3, 4, 5  # kinds of token in a GGUF file


def gguf_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a GGUF file.

    Raises:
        Undecodable: no GGUF file, damaged, or a tokenizer of another kind than GPT-2's and SentencePiece's.
    """
    fields = tokenizer_metadata(path)
    model = fields.get("tokenizer.ggml.model")
    if model not in _OF_GGUF:
        raise Undecodable(
            f"the tokenizer of {str(path)!r} is of the kind {_shown(model)}, whose tokens are not known as text."
        )
    pieces, kinds = fields.get("tokenizer.ggml.tokens"), fields.get("tokenizer.ggml.token_type")
    if not isinstance(pieces, list) or not all(isinstance(piece, bytes) for piece in pieces):
        raise Undecodable(f"the model file {str(path)!r} holds no list of tokens; use its tokenizer.json.")
    if not isinstance(kinds, list) or len(kinds) != len(pieces):
        raise Undecodable(
            f"the model file {str(path)!r} does not tell its special tokens from others; use its tokenizer.json."
        )
    text_of = _OF_GGUF[model]
    tokens = [_gguf_text(piece, kind, text_of) for piece, kind in zip(pieces, kinds, strict=True)]
    named = (fields.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    ends = [token for token in named if isinstance(token, int)]
    special = [token for token, kind in enumerate(kinds) if kind in (_UNKNOWN, _CONTROL)]
    return Tokenizer(tokens=tokens, eos=ends, special=special, encode=None)


def _gguf_text(piece: bytes, kind: int, text_of: Callable[[str], bytes]) -> bytes:
    if kind in (_UNKNOWN, _CONTROL, _UNUSED):
        return b""
    return piece if kind == _USER else text_of(piece.decode("utf-8", "replace"))


def _shown(kind: bytes | None) -> str:
    return repr(kind.decode("utf-8", "replace")) if isinstance(kind, bytes) else "that no field names"


def json_tokenizer(path: Path, eos: Sequence[str]) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`; what ends a text is told by `eos`, the file beside it, or a well-known name.

    Raises:
        Undecodable: unreadable, of another kind, or nothing is known to end a text.
    """
    document = _document(path)
    pieces = _pieces(document, path)
    text_of = _text_of(document, path)
    added = _added(document, path)
    tokens = [b""] * (max([*pieces, *added], default=-1) + 1)
    for token, piece in pieces.items():
        tokens[token] = text_of(piece)
    for token, told in added.items():
        tokens[token] = b"" if told.get("special") else told["content"].encode()
    ids = {piece: token for token, piece in pieces.items()} | {told["content"]: token for token, told in added.items()}
    wanted = eos or _told_end(path) or [name for name in _ENDS if name in ids]
    if unknown := [name for name in wanted if name not in ids]:
        raise Undecodable(f"the vocabulary of {str(path)!r} has no token {unknown[0]!r} to end a text.")
    special = [token for token, told in added.items() if told.get("special")]
    return Tokenizer(tokens=tokens, eos=[ids[name] for name in wanted], special=special, encode=_encoder(path))


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Undecodable(f"the tokenizer {str(path)!r} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"the tokenizer {str(path)!r} is damaged ({error}); fetch it again.") from error
    if not isinstance(document, dict) or not isinstance(document.get("model"), dict):
        raise Undecodable(f"{str(path)!r} is no tokenizer.json: it has no 'model'.")
    return document


def _pieces(document: Mapping[str, Any], path: Path) -> dict[int, str]:
    """Token → how the file writes it."""
    match document["model"].get("vocab"):
        case dict() as vocabulary:
            pieces = {token: piece for piece, token in vocabulary.items()}
        case list() as pairs if all(isinstance(pair, list) and pair for pair in pairs):  # Unigram's, each with a score
            pieces = {token: pair[0] for token, pair in enumerate(pairs)}
        case _:
            raise Undecodable(f"the tokenizer {str(path)!r} holds no vocabulary; fetch it again.")
    _require_tokens(pieces, path)
    return pieces


def _added(document: Mapping[str, Any], path: Path) -> dict[int, Mapping[str, Any]]:
    """Token → what the file tells of one that was added to the model's own."""
    told = document.get("added_tokens") or []
    if not isinstance(told, list) or not all(isinstance(token, dict) for token in told):
        raise Undecodable(f"the tokenizer {str(path)!r} is damaged: its 'added_tokens' are none; fetch it again.")
    _require_tokens({token.get("id"): token.get("content") for token in told}, path)
    return {token["id"]: token for token in told}


def _require_tokens(pieces: Mapping[Any, Any], path: Path) -> None:
    for token, piece in pieces.items():
        if not isinstance(token, int) or not 0 <= token < _MOST_TOKENS or not isinstance(piece, str):
            raise Undecodable(
                f"the tokenizer {str(path)!r} is damaged: {token!r} is no token {piece!r}; fetch it again."
            )


def _text_of(document: Mapping[str, Any], path: Path) -> Callable[[str], bytes]:
    """How a piece stands for bytes, told by the parts of the file's decoder and pre-tokenizer."""
    parts = {part.get("type") for key in ("decoder", "pre_tokenizer") for part in _parts(document.get(key))}
    if "ByteLevel" in parts:
        return _of_letters
    replaces_space = any(part.get("content") == " " for part in _parts(document.get("decoder")))
    if "Metaspace" in parts or ("ByteFallback" in parts and replaces_space):
        return _of_sentencepiece
    kind = document["model"].get("type")
    raise Undecodable(f"the tokenizer of {str(path)!r} is of the kind {kind!r}, whose tokens are not known as text.")


def _parts(step: Any) -> Iterator[Mapping[str, Any]]:
    """A step of a tokenizer and all that it is made of."""
    if isinstance(step, dict):
        yield step
        for key in ("decoders", "pretokenizers"):
            for part in step.get(key) or ():
                yield from _parts(part)


def _told_end(path: Path) -> list[str]:
    """What `tokenizer_config.json` in the same folder says to end a text."""
    try:
        told = json.loads(path.with_name("tokenizer_config.json").read_text(encoding="utf-8")).get("eos_token")
    except (OSError, ValueError, AttributeError):
        return []
    name = told.get("content") if isinstance(told, dict) else told
    return [name] if isinstance(name, str) else []


def _encoder(path: Path) -> Callable[[str], list[int]] | None:
    """The model's own split, where the package `tokenizers` is installed to make it."""
    try:
        from tokenizers import Tokenizer as Fast
    except ImportError:
        return None
    try:
        fast = Fast.from_file(str(path))
    except Exception as error:  # the package raises bare exceptions
        raise Undecodable(f"the tokenizer {str(path)!r} is damaged ({error}); fetch it again.") from error
    return lambda text: list(fast.encode(text, add_special_tokens=False).ids)


def tiktoken_tokenizer(encoding: Any) -> Tokenizer:
    """The tokenizer of a `tiktoken.Encoding`."""
    special = {encoding.encode_single_token(name) for name in encoding.special_tokens_set}
    tokens = [b""] * encoding.n_vocab
    for token in set(range(encoding.n_vocab)) - special:
        try:
            tokens[token] = encoding.decode_single_token_bytes(token)
        except KeyError:  # a place that is not used
            continue
    return Tokenizer(tokens=tokens, eos=[encoding.eot_token], special=sorted(special), encode=encoding.encode_ordinary)
