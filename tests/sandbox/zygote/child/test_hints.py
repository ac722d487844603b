"""What a sandbox says of a failing expression: its columns, and where its values stand in the responses."""

from __future__ import annotations

import pytest

from protocols.toolbox import Toolbox
from sandbox import frames
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.testing import make_tool
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))

ITEM = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}


def get_rows(page=1):
    rows = [
        {"id": f"r{page}-{n}", "score": 1000 * page + n, "who": {"name": f"Name {n}"}, "tags": []}
        for n in range(6)
    ]
    del rows[5]["score"]
    return {"rows": rows}


def get_person(name):
    return {"name": name.title(), "size": 12.5, "age": None}


TOOLS = Toolbox(
    [
        make_tool("get_rows", {"page": {"type": "integer"}}, get_rows, required=(), output=ITEM),
        make_tool("get_person", {"name": {"type": "string"}}, get_person, required=("name",)),
    ]
)


def failure(sandbox, source):
    return sandbox.run(source, TOOLS, limits=Limits(), journal=Journal()).failure


def hinted(sandbox, source):
    """Each hinted expression's text with its call and path."""
    lines = source.split("\n")
    told = failure(sandbox, source).hints
    return {
        (lines[h.line - 1].encode()[h.column : h.end_column].decode(), h.call, h.path) for h in told
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('for row in get_rows():\n    print("é", row["score"] + 1)', {("row", 0, ("rows", 5))}),
        ('print(max(get_rows(), key=lambda r: r["score"]))', {("r", 0, ("rows", 5))}),
        (
            'rows = get_rows()\nprint(sum(r["score"] for r in rows))',
            {("rows", 0, ("rows",)), ("r", 0, ("rows", 5))},
        ),
        (
            'held = {r["id"]: [r] for r in get_rows(page=2)}\nprint(held["r2-3"][0]["who"]["x"])',
            {
                ('held["r2-3"][0]', 0, ("rows", 3)),
                ('held["r2-3"][0]["who"]', 0, ("rows", 3, "who")),
            },
        ),
        (
            'rows = get_rows()\nrows.extend(get_rows(page=2))\nprint(rows[11]["score"])',
            {
                ("rows[11]", 1, ("rows", 5))
            },  # nothing is said of `rows`, which is no longer what the record has
        ),
        (
            'p = get_person(name="a b")\nprint([].index(p["size"]))',
            {("p", 0, ()), ('p["size"]', 0, ("size",))},
        ),
        (
            'def show(who):\n    return who["nme"]\nprint(show(get_rows()[2].get("who")))',
            {("who", 0, ("rows", 2, "who"))},
        ),
        ('p = get_person(name="a b")\np["more"] = 1\nprint(p["nme"])', set()),
    ],
)
def test_values_are_found_in_the_responses(sandbox, source, expected):
    assert hinted(sandbox, source) == expected


def test_columns_are_those_of_the_failing_expression(sandbox):
    frames = failure(sandbox, 'def f(x):\n    return 1 + x["é"]["b"]\n\nf(\n  {"é": {}})').frames
    assert [(f.line, f.column, f.end_line, f.end_column) for f in frames] == [
        (4, 0, 5, 13),
        (2, 15, 2, 27),
    ]


def test_what_programs_change_says_nothing_and_breaks_nothing(sandbox):
    source = 'import ast\nast.walk = ast.parse = None\nprint(get_person(name="a b")["nme"])'
    assert failure(sandbox, source).type == "KeyError"
    many = (
        "x = [get_rows(page=n)[0] for n in range(80)]\n"
        "print(" + ", ".join(f"x[{n}]" for n in range(80)) + ", x[0]['a'])"
    )
    assert len(failure(sandbox, many).hints) <= frames.MOST_HINTS
