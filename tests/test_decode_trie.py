"""Names as a trie: which tokens keep to one of them."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.decode.errors import Undecodable
from atc.decode.trie import NameTrie
from tests.decode_automaton_lab import small_vocabulary

WORDS = [
    "a",
    "b",
    "ab",
    "aba",
    "abab",
    "ba",
    "_",
    "é",
    "bé",
    "a(",
    "a(x",
    "b(",
    "(",
    "((",
    "ab((",
    "xab",
    'x"a',
    "x",
    '"a',
]
VOCABULARY = small_vocabulary(WORDS)
NAMES = st.lists(st.text("abé_", min_size=1, max_size=6), min_size=1, max_size=12, unique=True)


@settings(max_examples=150, deadline=None)
@given(
    names=NAMES, between=st.sampled_from(["(", "((", '", "x']), lead=st.sampled_from(["", "x", 'xx"']), data=st.data()
)
def test_the_tokens_are_those_that_some_name_begins_with(
    names: list[str], between: str, lead: str, data: st.DataObject
) -> None:
    trie = NameTrie(names, VOCABULARY, between=between)
    name = data.draw(st.sampled_from(names)).encode() + between.encode()
    written = name[: data.draw(st.integers(0, len(name) - 1))]
    place = trie.narrow(trie.start, written)
    assert place is not None
    found = trie.steps(place, lead.encode())
    rests = [key[len(written) :] for key in trie.keys if key.startswith(written)]
    texts = [lead.encode() + rest for rest in rests]
    within = {text for text in VOCABULARY.ids if any(whole.startswith(text) for whole in texts)}
    beyond = {
        (rest, text)
        for rest, whole in zip(rests, texts, strict=True)
        for text in VOCABULARY.ids
        if _longer(text, whole)
    }
    assert sorted(VOCABULARY.tokens[token] for token in found.tokens) == sorted(within)
    assert {(trie.keys[key][len(written) :], VOCABULARY.tokens[token]) for key, token, _ in found.beyond} == beyond
    for key, token, own in found.beyond:
        assert own == len(lead.encode()) + len(trie.keys[key]) - len(written)
        assert len(VOCABULARY.tokens[token]) > own


def _longer(text: bytes, whole: bytes) -> bool:
    return text.startswith(whole) and text != whole


@settings(max_examples=100, deadline=None)
@given(names=NAMES, data=st.data())
def test_a_name_is_found_piece_by_piece(names: list[str], data: st.DataObject) -> None:
    trie = NameTrie(names, VOCABULARY, between="(")
    name = data.draw(st.sampled_from(names))
    place = trie.start
    for byte in name.encode():
        next_place = trie.narrow(place, bytes([byte]))
        assert next_place is not None
        place = next_place
    index = trie.passed(place, b"(12")
    assert index is not None
    assert trie.name(index) == name
    assert trie.passed(place, b"") is None
    assert trie.narrow(place, b"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9") is None


def test_what_is_shared_by_all_names_left_is_forced() -> None:
    trie = NameTrie(["get_user", "get_users", "get_item"], VOCABULARY, between="(")
    assert trie.forced(trie.start) == b"get_"
    place = trie.narrow(trie.start, b"get_u")
    assert place is not None
    assert trie.forced(place) == b"ser"


@pytest.mark.parametrize(
    ("names", "between", "message"),
    [
        ([], "(", "no tools"),
        (["a", "b", "a"], "(", "a: two tools have this name"),
        (["b", ""], "(", "empty name"),
        (["a", "a_b"], "_", "cannot be told from 'a_b'"),
        (["a", "ab"], "", "cannot be told from 'ab'"),
    ],
)
def test_names_that_no_trie_can_hold(names: list[str], between: str, message: str) -> None:
    with pytest.raises(Undecodable, match=message):
        NameTrie(names, VOCABULARY, between=between)


def test_a_name_that_no_tokens_spell() -> None:
    vocabulary = small_vocabulary()
    ascii_only = type(vocabulary)([text if text < b"\x80" else b"" for text in vocabulary.tokens], eos=vocabulary.eos)
    with pytest.raises(Undecodable, match=r"größe: .*0x9f"):
        NameTrie(["size", "größe"], ascii_only, between="(")


def test_sixteen_thousand_names_take_little() -> None:
    names = [
        f"{verb}_{thing}_{number}"
        for verb in ("get", "list", "put", "find")
        for thing in "abcdefgh"
        for number in range(500)
    ]
    assert len(names) == 16_000
    VOCABULARY.tree, VOCABULARY.longest  # noqa: B018 - theirs is not the names'
    tracemalloc.start()
    trie = NameTrie(names, VOCABULARY, between='", "arguments": ')
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 5e6
    assert len(trie.keys) == 16_000
