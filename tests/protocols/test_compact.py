"""Compact descriptions: one line for each tool."""

import pytest

from protocols.compact import NOTATION, compact_lines
from protocols.render import describe_within_budget, token_estimate
from protocols.toolbox import Toolbox
from tests.labs.tools import tool


def schema(kind, *, nullable=False, **more):
    return {"type": [kind, "null"] if nullable else kind, **more}


def record(name=None, required=None, **properties):
    named = {"title": name} if name else {}
    required = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": required, **named}


def pages(name, item):
    return record(**{name: {"type": "array", "items": item}}, page=schema("integer"))


TEXT = schema("string")
AUTHOR = record("Author", author_id=TEXT, full_name=TEXT, birth_place=TEXT)
BOOK = record(
    "Book",
    title=TEXT,
    published=schema("string", description="Date, YYYY-MM-DD."),
    length=schema("integer", nullable=True),
    binding=schema("string", enum=["hard", "soft"]),
    required=["title", "published", "length"],
)
LIBRARY = Toolbox(
    [
        tool("search_authors", None, {"name": TEXT}, {"type": "array", "items": AUTHOR}),
        tool("get_author", None, {"author_id": TEXT}, AUTHOR, description="The author by id."),
        tool(
            "list_books",
            None,
            {
                "author_id": schema("string", description="As search_authors gives it."),
                "page": schema("integer", default=1, description="Number of the page."),
                "before": schema("string", description="Only older ones. At most 2030."),
            },
            pages("books", BOOK),
            description="Books of an author by date. Drafts are left out.",
            optional=["before"],
        ),
    ]
)


def test_describes_each_tool_in_one_line() -> None:
    assert compact_lines(LIBRARY) == [
        NOTATION,
        "Author = {author_id, full_name, birth_place}",
        "search_authors(*, name) -> list[Author]",
        "get_author(*, author_id) -> Author",
        (
            "list_books(*, author_id, page: int=1, before=...) -> {books: list[{title, published:"
            " YYYY-MM-DD, length?: int, binding?: 'hard'|'soft'}], page}"
            "  # Drafts are left out."
        ),
        "# author_id: As search_authors gives it.",
        "# before: At most 2030.",
    ]


def test_a_type_may_contain_itself() -> None:
    node = record("Node", label=TEXT, children={"type": "array", "items": {"$ref": "#"}})
    assert compact_lines(Toolbox([tool("get_tree", None, {}, node)]))[1:] == [
        "Node = {label, children: list[Node]}",
        "get_tree() -> Node",
    ]


@pytest.mark.parametrize("key", ["first name", "it's"])
def test_odd_keys_stand_in_quotes(key: str) -> None:
    lines = compact_lines(Toolbox([tool("get", None, {}, record(**{key: TEXT, "b": TEXT}))]))
    assert lines[-1] == f"get() -> {{{key!r}, b}}"


def test_drops_descriptions_before_tools() -> None:
    whole = "\n".join(compact_lines(LIBRARY))
    bare = "\n".join(compact_lines(LIBRARY, described=False))
    assert "Drafts" not in bare
    for budget, text, left in [
        (token_estimate(whole), whole, 3),
        (token_estimate(whole) - 1, bare, 3),
        (1, "\n".join(compact_lines(LIBRARY.only(["search_authors"]))), 1),
    ]:
        described, tools = describe_within_budget(LIBRARY, budget=budget, docs="compact")
        assert (described, len(tools)) == (text, left)
