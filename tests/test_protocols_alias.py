"""Aliases are valid, unique identifiers, and the same for the same tools in any order."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.alias import argument_aliases, identifier, tool_aliases

tools = st.lists(
    st.tuples(
        st.text(max_size=6)
        | st.sampled_from(["a-b", "a_b", "a b", "list", "from", "ＡＢ", "AB", "", "_", "2", "a_b_2"]),
        st.sampled_from(["", "one", "two", "o-ne"]),
    ),
    max_size=8,
    unique=True,
)


def is_usable(alias: str) -> bool:
    return alias.isidentifier() and not keyword.iskeyword(alias) and not alias.startswith("__")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("read-file", "read_file"),
        ("match", "match_"),
        ("2fa", "_2fa"),
        ("", "unnamed"),
        ("__init__", "_init"),
        ("ﬁle", "file"),
        ("vote_average.gte", "vote_average_gte"),
    ],
)
def test_the_nearest_identifier(name, expected):
    assert identifier(name) == expected


@given(st.text())
def test_every_text_gives_an_identifier(name):
    alias = identifier(name)
    assert is_usable(alias)
    assert identifier(alias) == alias


@given(tools, st.randoms())
def test_tool_aliases_do_not_depend_on_order(given_tools, random):
    before = dict(zip(given_tools, tool_aliases(given_tools), strict=True))
    assert len({*before.values()}) == len(given_tools)
    assert all(map(is_usable, before.values()))
    shuffled = list(given_tools)
    random.shuffle(shuffled)
    assert dict(zip(shuffled, tool_aliases(shuffled), strict=True)) == before


@given(st.lists(st.text(max_size=5), unique=True, max_size=8), st.randoms())
def test_argument_aliases_name_each_argument_once_in_any_order(names, random):
    aliases = argument_aliases(names)
    assert list(aliases.values()) == names
    assert all(map(is_usable, aliases))
    shuffled = list(names)
    random.shuffle(shuffled)
    assert argument_aliases(shuffled) == aliases


@pytest.mark.parametrize("name", ["ToolError", "json"])
def test_what_every_program_has_is_not_shadowed(name):
    assert tool_aliases([(name, "files")]) == [f"files_{name}"]
