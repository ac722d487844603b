"""Vocabularies, from whatever a model comes with; what cannot be read as text is refused."""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atc.decode.errors import Undecodable
from atc.decode.vocabulary import Vocabulary

LETTERS = {**{b: chr(b) for b in [*range(33, 127), *range(161, 173), *range(174, 256)]}}
LETTERS |= {b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in LETTERS)}  # GPT-2's, said anew
PRINTABLE = [chr(byte) for byte in range(0x20, 0x7F)]


def letters(text: str) -> str:
    """`text` as GPT-2's vocabulary writes it."""
    return "".join(LETTERS[byte] for byte in text.encode())


def gguf(path: Path, *, model: str = "gpt2", pieces: list[str], kinds: list[int] | None, **ids: int) -> Path:
    """A file with this tokenizer and some other fields."""
    fields: list[bytes] = []

    def text(value: str) -> bytes:
        data = value.encode()
        return struct.pack("<Q", len(data)) + data

    def field(key: str, kind: int, value: bytes) -> None:
        fields.append(text(key) + struct.pack("<I", kind) + value)

    field("general.name", 8, text("a model"))
    field("general.numbers", 9, struct.pack("<IQ3f", 6, 3, 1.0, 2.0, 3.0))
    field("tokenizer.ggml.model", 8, text(model))
    field("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, len(pieces)) + b"".join(map(text, pieces)))
    if kinds is not None:
        field("tokenizer.ggml.token_type", 9, struct.pack(f"<IQ{len(kinds)}i", 5, len(kinds), *kinds))
    for name, token in ids.items():
        field(f"tokenizer.ggml.{name}_token_id", 4, struct.pack("<I", token))
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields)) + b"".join(fields) + b"weights")
    return path


PIECES = [
    *(letters(char) for char in [*PRINTABLE, "\n", "é"]),
    letters(" the"),
    "<|end|>",
    "<|turn|>",
    "[PAD]",
    "<tool>",
    letters("\xe9")[:1],
]
KINDS = [*[1] * (len(PRINTABLE) + 3), 3, 3, 5, 4, 1]
END = PIECES.index("<|end|>")


def test_a_gguf_file_of_the_gpt_2_kind(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_gguf(gguf(tmp_path / "m.gguf", pieces=PIECES, kinds=KINDS, eos=END, eot=END + 1))
    assert vocabulary.size == len(PIECES)
    assert vocabulary.eos == (END, END + 1)
    assert vocabulary.special == {END, END + 1}
    assert vocabulary.tokens[END - 1] == b" the"
    assert vocabulary.tokens[END - 2] == "é".encode()
    assert vocabulary.tokens[END : END + 4] == (b"", b"", b"", b"<tool>")
    assert vocabulary.tokens[END + 4] == b""  # a part of a character that no token goes on with
    assert vocabulary.decode(vocabulary.encode("a the é\n<tool>")) == "a the é\n<tool>".encode()
    assert vocabulary.encode(" the") == [END - 1]


def test_a_gguf_file_of_the_sentencepiece_kind(tmp_path: Path) -> None:
    pieces = ["<unk>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁the", "▁", *PRINTABLE[1:]]
    kinds = [2, 3, *[6] * 256, *[1] * (len(pieces) - 258)]
    vocabulary = Vocabulary.from_gguf(gguf(tmp_path / "m.gguf", model="llama", pieces=pieces, kinds=kinds, eos=1))
    assert vocabulary.tokens[2 + 0xE9] == b"\xe9"
    assert vocabulary.tokens[258] == b" the"
    assert vocabulary.twins[b"a"] == [2 + 0x61, pieces.index("a")]
    assert vocabulary.decode(vocabulary.encode("the the\x00é")) == "the the\x00é".encode()


def test_gguf_files_that_tell_too_little(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    with pytest.raises(Undecodable, match="'bert', whose tokens are not known as text"):
        Vocabulary.from_gguf(gguf(path, model="bert", pieces=PIECES, kinds=KINDS, eos=END))
    with pytest.raises(Undecodable, match="does not tell its special tokens"):
        Vocabulary.from_gguf(gguf(path, pieces=PIECES, kinds=None, eos=END))
    with pytest.raises(Undecodable, match="no token that ends a text"):
        Vocabulary.from_gguf(gguf(path, pieces=PIECES, kinds=KINDS))
    with pytest.raises(Undecodable, match="special token 9999 is none"):
        Vocabulary.from_gguf(gguf(path, pieces=PIECES, kinds=KINDS, eos=9999))
    with pytest.raises(Undecodable, match="no token for '~' alone"):
        Vocabulary.from_gguf(gguf(path, pieces=[p for p in PIECES if p != "~"], kinds=KINDS[1:], eos=END - 1))
    path.write_bytes(b"GGML and more")
    with pytest.raises(Undecodable, match="is not a GGUF model"):
        Vocabulary.from_gguf(path)
    with pytest.raises(Undecodable, match="cannot be read"):
        Vocabulary.from_gguf(tmp_path / "absent.gguf")
    with pytest.raises(Undecodable, match="cannot be read"):
        Vocabulary.from_gguf(tmp_path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 1400), at=st.integers(0, 1400), byte=st.integers(0, 255))
def test_a_damaged_gguf_file_is_never_more_than_undecodable(tmp_path: Path, cut: int, at: int, byte: int) -> None:
    data = bytearray(gguf(tmp_path / "m.gguf", pieces=PIECES, kinds=KINDS, eos=END).read_bytes())
    data[at % len(data)] = byte
    (tmp_path / "m.gguf").write_bytes(data[: len(data) - cut] if cut % 3 else data)
    with contextlib.suppress(Undecodable):
        Vocabulary.from_gguf(tmp_path / "m.gguf")


def document(model: dict[str, Any], **parts: Any) -> str:
    return json.dumps({"version": "1.0", "model": model, **parts})


BYTE_LEVEL = {
    "model": {"type": "BPE", "vocab": {piece: place for place, piece in enumerate(PIECES[:END])}, "merges": []},
    "added_tokens": [
        {"id": END, "content": "<|endoftext|>", "special": True},
        {"id": END + 1, "content": "<tool>", "special": False},
        {"id": END + 4, "content": "<|turn|>", "special": True},
    ],
    "decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}]},
}


@pytest.fixture
def tokenizer_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)  # its own reader is stricter than ours
    (tmp_path / "tokenizer.json").write_text(document(**BYTE_LEVEL))
    return tmp_path / "tokenizer.json"


def test_a_tokenizer_json_of_bytes(tokenizer_json: Path) -> None:
    vocabulary = Vocabulary.from_tokenizer_json(tokenizer_json)
    assert vocabulary.size == END + 5
    assert vocabulary.eos == (END,)  # its name is well known
    assert vocabulary.special == {END, END + 4}
    assert vocabulary.tokens[END - 1 :] == (b" the", b"", b"<tool>", b"", b"", b"")
    assert Vocabulary.from_tokenizer_json(tokenizer_json, eos=["<|turn|>"]).eos == (END + 4,)
    tokenizer_json.with_name("tokenizer_config.json").write_text('{"eos_token": {"content": "<|turn|>"}}')
    assert Vocabulary.from_tokenizer_json(str(tokenizer_json)).eos == (END + 4,)
    with pytest.raises(Undecodable, match="no token '<stop>'"):
        Vocabulary.from_tokenizer_json(tokenizer_json, eos=["<stop>"])


def test_a_tokenizer_json_of_pieces(tokenizer_json: Path) -> None:
    pieces = [["<unk>", 0], ["</s>", 0], ["<0x0A>", 0], ["▁", -1], ["▁a", -2], *([char, -3] for char in PRINTABLE[1:])]
    added = [{"id": 1, "content": "</s>", "special": True}, {"id": 0, "content": "<unk>", "special": True}]
    decoder = {"type": "Metaspace"}
    tokenizer_json.write_text(document({"type": "Unigram", "vocab": pieces}, added_tokens=added, decoder=decoder))
    vocabulary = Vocabulary.from_tokenizer_json(tokenizer_json)
    assert vocabulary.eos == (1,)
    assert vocabulary.tokens[2:5] == (b"\n", b" ", b" a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged"),
        ("[" * 100_000, "is damaged"),
        ("[]", "no tokenizer.json"),
        (document({"type": "BPE"}, decoder=BYTE_LEVEL["decoder"]), "holds no vocabulary"),
        (
            document({"type": "WordPiece", "vocab": {"a": 0}}, decoder={"type": "WordPiece"}),
            "'WordPiece', whose tokens",
        ),
        (document({"type": "BPE", "vocab": {"a</w>": 0}}), "'BPE', whose tokens"),
        (document({"type": "BPE", "vocab": {"a": 0}}, decoder=BYTE_LEVEL["decoder"]), "no token that ends a text"),
        (document({"type": "BPE", "vocab": {"a": "x"}}, decoder=BYTE_LEVEL["decoder"]), "is damaged"),
        (document({"type": "Unigram", "vocab": [[]]}, decoder=BYTE_LEVEL["decoder"]), "holds no vocabulary"),
        (document({"type": "Unigram", "vocab": [[1, 2]]}, decoder=BYTE_LEVEL["decoder"]), "is damaged"),
        (document({"type": "BPE", "vocab": {}}, added_tokens=[3], decoder=BYTE_LEVEL["decoder"]), "is damaged"),
        (
            document(
                {"type": "BPE", "vocab": {}}, added_tokens=[{"id": -1, "content": "a"}], decoder=BYTE_LEVEL["decoder"]
            ),
            "is damaged",
        ),
        (document({"type": "BPE", "vocab": {"a": 10**12}}, decoder=BYTE_LEVEL["decoder"]), "is damaged"),
    ],
)
def test_a_tokenizer_json_that_is_none(tokenizer_json: Path, text: str, message: str) -> None:
    tokenizer_json.write_text(text)
    with pytest.raises(Undecodable, match=message):
        Vocabulary.from_tokenizer_json(tokenizer_json)


def test_a_tokenizer_json_splits_as_its_model_does(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    pieces = [*PIECES[:END], "aa", "aaa"]
    model = {"type": "BPE", "vocab": {piece: place for place, piece in enumerate(pieces)}, "merges": ["a a", "aa a"]}
    decoder = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    ends = {"id": len(pieces), "content": "<end>", "special": True, "single_word": False, "normalized": False}
    parts = {"pre_tokenizer": None, "normalizer": None, "post_processor": None, "truncation": None, "padding": None}
    added = [ends | {"lstrip": False, "rstrip": False}]
    (tmp_path / "tokenizer.json").write_text(document(model, added_tokens=added, decoder=decoder, **parts))
    vocabulary = Vocabulary.from_tokenizer_json(tmp_path / "tokenizer.json", eos=["<end>"])
    assert vocabulary.encode("aaaa") == [pieces.index("aa")] * 2  # the longest that fits would be `aaa`
    assert vocabulary.encode(b"aaaa") == [pieces.index("aaa"), pieces.index("a")]


class Encoding:
    """The part of a `tiktoken.Encoding` that is asked for."""

    special_tokens_set = frozenset({"<|endoftext|>"})
    n_vocab, eot_token = 130, 128

    def encode_single_token(self, name: str) -> int:
        return {"<|endoftext|>": 128}[name]

    def decode_single_token_bytes(self, token: int) -> bytes:
        if token == 129:
            raise KeyError(token)
        return bytes([token])

    def encode_ordinary(self, text: str) -> list[int]:
        return [*text.encode()]


def test_tiktoken() -> None:
    vocabulary = Vocabulary.from_tiktoken(Encoding())
    assert (vocabulary.eos, vocabulary.size, vocabulary.tokens[129]) == ((128,), 130, b"")
    assert vocabulary.encode("ab") == [97, 98]


def test_bytes_without_a_token_cannot_be_encoded() -> None:
    vocabulary = Vocabulary.from_tiktoken(Encoding())
    with pytest.raises(ValueError, match="0xc3"):
        vocabulary.encode("é".encode())


@given(st.binary(max_size=30))
def test_bytes_come_back(data: bytes) -> None:
    vocabulary = Vocabulary.byte_level()
    assert vocabulary.decode(vocabulary.encode(data)) == data


def test_texts_by_their_beginning() -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b"", b"ab", b"abc", b"ac", b"ab"], eos=(256,))
    low, high = vocabulary.beginning_with(b"ab")
    assert vocabulary.ordered[low:high] == [b"ab", b"abc"]
    assert vocabulary.longest == 3
    assert vocabulary.tree.beginnings(b"abcd") == [97, 257, 258]
    assert vocabulary.tree.beginnings(b"") == []
    assert vocabulary.twins == {b"ab": [257, 260]}


def test_llguidance_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "llguidance", None)
    with pytest.raises(Undecodable, match=r"pip install \"automatic-tool-chain\[decode\]\""):
        Vocabulary.byte_level().lltokenizer  # noqa: B018
