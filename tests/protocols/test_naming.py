"""Aliases are valid and unique identifiers in any order, and a toolbox finds its tools by either name."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.compact import compact_lines
from protocols.errors import UnknownTool
from protocols.naming import argument_aliases, closest_meanings, identifier, tool_aliases
from protocols.protocol import ToolProtocol
from protocols.render import DETAILS, stubs
from protocols.tool import Tool
from protocols.toolbox import Toolbox

tools = st.lists(
    st.tuples(
        st.text(max_size=6)
        | st.sampled_from(
            ["a-b", "a_b", "a b", "list", "from", "ＡＢ", "AB", "", "_", "2", "a_b_2"]
        ),
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
        ("from", "from_"),
        ("type", "type"),
        ("2fa", "_2fa"),
        ("", "unnamed"),
        ("__init__", "_init"),
        ("ﬁle", "file"),
        ("vote_average.gte", "vote_average_gte"),
        ("DateSent＞=", "DateSent_gte"),
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
def test_argument_aliases_are_unique_in_any_order(names, random):
    aliases = argument_aliases(names)
    assert list(aliases.values()) == names
    assert all(map(is_usable, aliases))
    shuffled = list(names)
    random.shuffle(shuffled)
    assert argument_aliases(shuffled) == aliases


@pytest.mark.parametrize(
    ("names", "aliases"),
    [
        (["DateSent>", "DateSent", "DateSent<"], ["DateSent_gt", "DateSent", "DateSent_lt"]),
        (["page[size]", "page_size", "page.size"], ["page_size_3", "page_size", "page_size_2"]),
        (["+1", "-1"], ["plus_1", "minus_1"]),
        (["x²", "x2"], ["x2_2", "x2"]),
    ],
)
def test_names_stay_apart(names, aliases):
    assert list(argument_aliases(names)) == aliases


def test_stubs_tell_names_that_aliases_lose():
    one = tool("a", input_schema={"properties": {"page[size]": {}, "page_size": {}}})
    box = Toolbox([one])
    for text in (stubs(box, detail=DETAILS[-1]), "\n".join(compact_lines(box))):
        assert 'page_size_2: sent as "page[size]"' in text
        assert text.count("sent as") == 1
    signed = tool("b", input_schema={"properties": {"-sort": {}, "sort": {}, "$top": {}}})
    assert argument_aliases(["-sort", "sort"]) == {"_sort": "-sort", "sort": "sort"}
    text = stubs(Toolbox([signed]), detail=DETAILS[-1])
    assert '_sort: sent as "-sort"' in text
    assert text.count("sent as") == 1


def test_stubs_tell_names_of_similar_tools():
    box = Toolbox([tool("list files"), tool("list_files"), tool("list-all")])
    for text in (stubs(box, detail=DETAILS[-1]), "\n".join(compact_lines(box))):
        assert text.count("its name") == 1
        assert '"list files"' in text


def test_an_unchanged_tool_name_needs_no_number():
    given_tools = [("a-b", "one"), ("a_b", "one"), ("a_b", "two")]
    assert tool_aliases(given_tools) == ["one_a_b_2", "one_a_b", "two_a_b"]


@pytest.mark.parametrize("name", ["ToolError", "json"])
def test_what_every_program_has_is_not_shadowed(name):
    assert tool_aliases([(name, "files")]) == [f"files_{name}"]


# Tools by alias: immutable, found by either name, unwrapped by their protocol.


def tool(name, source="s", **parts):
    return Tool(ToolProtocol(name=name, **parts), lambda arguments: arguments, source=source)


BOX = Toolbox([tool("read-file"), tool("list"), tool("search", "books"), tool("search", "films")])


@pytest.mark.parametrize("name", ["read_file", "read-file"])
def test_find_takes_either_name(name):
    assert BOX.find(name).protocol.name == "read-file"


def test_ambiguous_names_suggest_both_tools():
    with pytest.raises(UnknownTool) as caught:
        BOX.find("search")
    assert set(caught.value.suggestions) == {"books_search", "films_search"}


def test_only_keeps_aliases_and_order():
    chosen = BOX.only(["films_search", "read-file"])
    assert list(chosen) == ["films_search", "read_file"]
    assert len(BOX) == 4


def test_arguments_by_alias_and_back():
    one = tool(
        "a",
        input_schema={
            "properties": {"from": {}, "air-port": {}, "n": {}},
            "required": ["from", "n"],
        },
    )
    assert dict(one.arguments) == {"from_": "from", "air_port": "air-port", "n": "n"}
    assert one.required == {"from_", "n"}
    assert one.original_arguments({"from_": 1, "air_port": 2, "other": 3}) == {
        "from": 1,
        "air-port": 2,
        "other": 3,
    }


@pytest.mark.parametrize(
    ("schema", "response", "seen"),
    [
        (
            {"type": "object", "properties": {"rows": {}}, "required": ["rows"]},
            {"rows": [1], "new": 2},
            [1],
        ),
        (
            {"type": "object", "properties": {"rows": {}}, "required": ["rows"]},
            {"other": 1},
            {"other": 1},
        ),
        ({"type": "object", "properties": {"rows": {}}}, {"rows": [1]}, {"rows": [1]}),
        (
            {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]},
            {"a": 1},
            {"a": 1},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {}},
                "required": ["a"],
                "additionalProperties": True,
            },
            {"a": 1},
            {"a": 1},
        ),
        (
            {"$ref": "#/$defs/R", "$defs": {"R": {"properties": {"a": {}}, "required": ["a"]}}},
            {"a": 1},
            1,
        ),
    ],
)
def test_only_sole_required_fields_are_unwrapped(schema, response, seen):
    assert tool("a", output_schema=schema).unwrap(response) == seen


def test_nouns_matter_more_than_letters():
    assert (
        closest_meanings("fetch_order", ["fetch_other", "get_order", "fetch_user"])[0]
        == "get_order"
    )
    # FastAPI calls `get_item` at `/items/{item_id}` `get_item_items__item_id__get`.
    names = [
        "get_time",
        "get_items_items_get",
        "get_item_items__item_id__get",
        "create_item_items_post",
    ]
    assert [
        closest_meanings(name, names)[0] for name in ("get_items", "get_item", "create_item")
    ] == names[1:]
